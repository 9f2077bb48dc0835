#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions, inlined functions and source lines of programs against nm and addr2line: linked in several ways, stripped with
# debug information elsewhere, of another build, and damaged.

. "${0%/*}/../tap.sh"
need_programs gcc g++ addr2line c++filt nm objcopy objdump readelf strip xz
cd "$T" || exit 1

cat >program.cc <<'END'
#include <vector>
namespace ns {
template <class T> struct box {
	T v;
	__attribute__((noinline)) int touch(volatile char *p) const { p[0] = 1; return p[1] + v; }
};
static inline __attribute__((always_inline)) int inner(volatile char *p)
{
	p[4096] = 2;
	return p[8192];
}
static inline __attribute__((always_inline)) int middle(volatile char *p)
{
	int x = inner(p);

	return x + 1;
}
__attribute__((noinline)) int outer(volatile char *p)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += middle(p + i);
	return sum;
}
}
extern "C" __attribute__((noinline)) int plain(volatile char *p) { return p[100] + 1; }
static char buf[1 << 16];
int main()
{
	ns::box<int> b{3};
	std::vector<int> v;
	auto lambda = [&](int x) __attribute__((noinline)) { buf[x] = 1; return x; };

	v.push_back(b.touch(buf));
	return ns::outer(buf) + v[0] + lambda(77) + plain(buf);
}
END

# code FILE: its segment of code: "OFFSET ADDRESS".
code()
{
	readelf -lW "$1" | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }'
}

# addresses FILE: all addresses of the functions of the program that are instructions' (of symbols of the file).
addresses()
{
	nm -S "$1" | awk '$3 ~ /[tTW]/ && $4 ~ /^(_ZNK?2ns|_ZZ4main|plain$)/ { print $1, $2 }' | while read -r start size; do
		objdump -d --no-show-raw-insn --start-address="0x$start" \
			--stop-address=$((0x$start + 0x$size)) "$1" | sed -nE 's/^ +([0-9a-f]+):.*/\1/p'
	done
}

# ours FILE [ARG...] <ADDRESSES: as `symbolize', a line per address: "SOURCE:LINE ... FUNCTION".
ours()
{
	local file=$1 offset address at

	read -r offset address < <(code "$file")
	while read -r at; do
		printf '%x\n' $((0x$at - address + offset))
	done | "$TOOLS/symbolize" "$@"
}

# chains <LINES OF symbolize: one line per address, in which the innermost inlined function has no name: addr2line and we
# choose differently among several names.
chains()
{
	awk -F'|' '{ inlined = /^ /; sub(/\+0x[0-9a-f]+$/, "", $1); sub(/^.*\//, "", $2)
		line = line $2 " "; if (!inlined) { print line $1; line = "" } }'
}

# theirs FILE <ADDRESSES: the same of addr2line.
theirs()
{
	addr2line -fiapC -e "$1" | sed 's/ (discriminator [0-9]*)//' | awk '
		function out() { if (line != "") print line name }
		!/^ \(inlined by\)/ { out(); line = ""; sub(/^0x[0-9a-f]+: /, "") }
		{ sub(/^ \(inlined by\) /, ""); split($0, part, " at "); name = part[1]; sub(/^.*\//, "", part[2])
		  line = line part[2] " " } END { out() }'
}

# equal NAME FILE WITNESS [ARG...]: the witness is the same program with everything in it.
equal()
{
	local name=$1 file=$2 witness=$3

	shift 3
	addresses "$witness" >addresses
	ours "$T/$file" "$@" <addresses >places
	chains <places >ours
	theirs "$witness" <addresses >theirs
	[ "$(wc -l <theirs)" -gt 10 ] || fail "$name: addr2line finds too little"
	is "$(diff ours theirs)" '' "$name: lines and functions are those of addr2line"
}

build()
{
	g++ -O2 -g -Wl,--build-id "$@" program.cc
}

build -o pie -fPIE -pie && build -o fixed -fno-pie -no-pie && build -o static -static && build -o packed -gz
for kind in pie fixed static packed; do
	equal "$kind" "$kind" "$kind"
done
equal pie pie pie
is "$(grep -A2 '^ inner|' places | sed -E 's/\+0x[0-9a-f]*//; s/\|.*:/ /' | head -3)" ' inner 9
 middle 14
ns::outer(char volatile*) 23' 'inlined functions have names, the innermost comes first'
is "$(grep -c -F 'ns::box<int>::touch(char volatile*) const+0x0|' places)" 1 'names of C++ are those of the source'

# ---- names for which one answer of the child that reads them has no room ----
long=$(printf 'x%.0s' {1..3000})
{
	for i in {1..30}; do
		echo "static inline __attribute__((always_inline)) int f$i$long(volatile char *p)"
		echo "{ return p[$i] + p[$i * 2]; }"
	done
	echo 'extern "C" __attribute__((noinline)) int plain(volatile char *p)'
	echo '{ return 0'
	for i in {1..30}; do
		echo "+ f$i$long(p)"
	done
	echo '; } int main(int argc, char **argv) { return plain(argv[0]); }'
} >long.cc
g++ -O2 -g -Wl,--build-id -o long long.cc
equal 'long names' long long
is "$(grep -oE '^ f[0-9]+x{3000}[|]' places | sort -u | wc -l)" 30 '... and each inlined function has its own'

# ---- names of compilers ----
# Names of C++, of Rust's newer scheme (RFC 2603) and of its older one, as symbols of a file, against c++filt.
cat >mangled <<'END'
_ZN2ns3boxIiE5touchEPVc
_ZNSt6vectorIiSaIiEE9push_backERKi
_ZN3foo3barEv.cold
_RNvC6_123foo3bar
_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE
_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_
_RINvCs6GmmlP4bgsG_1r5applyNCNvB2_4main0EB2_
_RNvXCs6GmmlP4bgsG_1rINtB2_6SquarehENtB2_5Shape4areaB2_
_RNvXs_Cs6GmmlP4bgsG_1rAhj2_NtB4_5Shape4areaB4_
_RNvMNtCsgEmfK2I1SDS_4core3stre3lenCs6GmmlP4bgsG_1r
_RNvYFEuINtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_onceCs6GmmlP4bgsG_1r
_RINvMs2_NtCsgEmfK2I1SDS_4core3fmtNtB6_9Arguments3newKjd_Kj4_ECs6GmmlP4bgsG_1r
_ZN4core3fmt5write17h05af221e174051e9E
_ZN4core3ptr13drop_in_place17h05af221e174051e9E.llvm.123
_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h9a4b23f0be2f4c11E
_Z1
_Roops
END
i=0
while read -r name; do
	echo "int f$((i += 1))(void) __asm__(\"$name\"); int f$i(void) { return $i; }"
done <mangled >mangled.c
gcc -shared -fPIC -O0 -o mangled.so mangled.c
sed 's/^/ /' mangled >names
nm mangled.so | grep -F -f names | sort | awk '{ print $1 }' >addresses
ours "$T/mangled.so" <addresses | sed 's/+0x0|.*//' | sort >ours
c++filt -i <mangled | sort >theirs
same ours theirs 'names of C++ and of both schemes of Rust are those of c++filt'
is "$(grep -c -e '^_ZN' -e '^_RN' ours)" 0 '... and none stays as it was'

# ---- stripped ----
objcopy --only-keep-debug pie pie.debug
mkdir -p apart debug/.build-id
strip -o linked pie
objcopy --add-gnu-debuglink=pie.debug linked
equal 'debug link' linked pie
mv pie.debug apart
is "$(ours "$T/linked" <addresses | grep -c program.cc)" 0 'without its file there are no lines'
mkdir .debug
cp apart/pie.debug .debug
equal 'debug link, in .debug' linked pie
echo >>.debug/pie.debug
is "$(ours "$T/linked" <addresses | grep -c program.cc)" 0 'a debug file with another checksum is not read'
rm -r .debug

id=$(readelf -n pie | awk '/Build ID/ { print $3 }')
mkdir "debug/.build-id/${id:0:2}"
cp apart/pie.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o stripped pie
equal 'debug file by build-id' stripped pie "$id" "$T/debug"
build -o other -fPIE -pie -DOTHER -Wl,--build-id=0x1122334455
objcopy --only-keep-debug other "debug/.build-id/${id:0:2}/${id:2}.debug"
is "$(ours "$T/stripped" "$id" "$T/debug" <addresses | grep -c program.cc)" 0 \
	'a debug file with another build-id is not read'

# ---- another build ----
is "$(ours "$T/other" "$id" <addresses | sort -u)" "another build-id now|??:0
problem: $T/other: another build-id now" 'a file with another build-id has no names, and one line says so'
mkdir -p "archive/$id"
cp pie "archive/$id/elf"
ours "$T/other" "$id" "" "$T/archive" <addresses | chains >ours
theirs pie <addresses >theirs
is "$(diff ours theirs)" '' 'an archive has the recorded one'
cp other "archive/$id/elf"
is "$(ours "$T/other" "$id" "" "$T/archive" <addresses | grep -c program.cc)" 0 '... unless it is another one'

# ---- minidebuginfo ----
objcopy -S --remove-section .gnu_debuglink --keep-symbols=<(nm --defined-only pie | awk '/ [tT] / { print $3 }') \
	--only-keep-debug pie mini 2>/dev/null || cp apart/pie.debug mini
objcopy --strip-debug mini
xz -k mini
cp stripped with_mini
objcopy --add-section .gnu_debugdata=mini.xz with_mini
is "$(ours "$T/with_mini" <addresses | sed 's/+0x.*//' | sort -u | grep -c -e plain -e 'ns::outer')" 2 \
	'minidebuginfo has the names of a stripped program'
head -c 200 mini.xz >broken.xz
cp stripped with_broken
objcopy --add-section .gnu_debugdata=broken.xz with_broken
is "$(ours "$T/with_broken" <addresses | sort -u)" 'no symbol there|??:0' 'damaged minidebuginfo has none'

# ---- damaged debug information costs lines, not names ----
sections=$(readelf -SW pie | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 ~ /^\.debug_(info|abbrev|line|str|rnglists)$/ { print $4, $5 }')
broken=0
for seed in {1..40}; do
	perl -e '
		my ($from, $to, $seed, @sections) = @ARGV;
		srand($seed);
		open my $f, "<:raw", $from or die;
		my $bytes = do { local $/; <$f> };
		for (1 .. 1 + int rand 60) {
			my $i = 2 * int rand(@sections / 2);
			substr($bytes, hex($sections[$i]) + int rand hex $sections[$i + 1], 1) = chr int rand 256;
		}
		open my $t, ">:raw", $to or die;
		print $t $bytes;
	' pie damaged "$seed" $sections
	ours "$T/damaged" <addresses >places || broken=$((broken + 1))
	grep -q '^plain+0x0|' places || broken=$((broken + 1))
done
is "$broken" 0 'damaged debug information costs no names'

done_testing
