#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope archive: with the archive the views are those of the machine of the recording, although its files are gone, or
# others are there. tar is the witness of what is in it. A damaged archive costs names and one line.

. "${0%/*}/../tap.sh"
need_programs gcc nm objcopy perl readelf strip tar
cd "$T" || exit 1

cat >program.c <<'END_OF_C'
__attribute__((noinline)) int leaf(volatile char *p) { return p[0]; }
static inline __attribute__((always_inline)) int inlined(volatile char *p)
{
	return p[1] + leaf(p + 1);
}
__attribute__((noinline)) int branch(volatile char *p) { return inlined(p); }
int main(int argc, char **argv) { return branch(argv[0]) + N; }
END_OF_C
# One has everything in itself, one a debug file, of one there is no build-id, one is replaced before it is packed.
mkdir bin
nr=0
for name in whole apart without replaced; do
	id=--build-id
	[ $name != without ] || id=--build-id=none
	gcc -O1 -g -fno-pie -no-pie -DN=$((nr += 1)) -Wl,$id -o bin/$name program.c || exit 1
	cp bin/$name $name.all
done
cp bin/apart apart.whole
objcopy --only-keep-debug bin/apart bin/apart.debug
strip bin/apart
objcopy --add-gnu-debuglink=bin/apart.debug bin/apart

build_id() { readelf -n "$1" | awk '/Build ID/ { print $3 }'; }
device() { stat -c '%Hd %Ld' "$1" | { read -r major minor; printf '%02x:%02x' "$major" "$minor"; }; }

# events: faults at instructions of each program, with stacks, and the build-ids as notes.
events()
{
	local name at=1 start off addr i=0 pid

	echo '# pfscope-events 2'
	for name in whole apart without replaced; do
		pid=$((100 + i++))
		read -r off addr < <(readelf -lW "$name.all" | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
		printf '0.%09d comm pid=%d tid=%d comm="%s"\n' $((at++)) $pid $pid "$name"
		printf '0.%09d map pid=%d tid=%d start=%x end=%x id=1 perms=r-xp off=%d dev=%s ino=%d name="%s"\n' $((at++)) \
			$pid $pid "$addr" $((addr + 0x1000)) "$off" "$(device bin/$name)" "$(stat -c %i bin/$name)" "$T/bin/$name"
		printf '0.%09d map pid=%d tid=%d start=10000000 end=20000000 id=2 perms=rw-p name=""\n' $((at++)) $pid $pid
		printf '0.%09d frames pid=%d tid=%d stack=%d frames="%s"\n' $((at++)) $pid $pid $i \
			"$(for f in leaf branch main; do
				echo "0x$(printf %x $((0x$(nm $name.all | awk -v f=$f '$3 == f { print $1 }') + 4)))"
			done | paste -sd';')"
		for page in 1 2 3; do
			printf '0.%09d fault pid=%d tid=%d addr=%x ip=%s access=write mode=user stack=%d\n' $((at++)) $pid $pid \
				$((0x10000000 + 4096 * page * i)) "$(nm $name.all | awk '$3 == "leaf" { print $1 }')" $i
		done
		[ $name = without ] || printf '0.%09d note key="build_id" value="dev=%s ino=%d id=%s"\n' $((at++)) \
			"$(device bin/$name)" "$(stat -c %i bin/$name)" "$(build_id $name.all)"
	done
}
# ---- what JIT compilers write: a perf map and a jitdump ----

mapped=$((2000000000 + $$)) # no process has this number
map=/tmp/perf-$mapped.map
dump=$T/jit-301.dump
at_exit rm -f "$map"
printf '7f0000001000 100 mapped_outer\n7f0000002000 80 mapped_inner\n' >"$map"
# Of version 1, for x86-64: code that was replaced at its address after 0.00000019 s.
perl -e '
	sub code { my ($ns, $nr, $name) = @_;
		my $body = pack("LLQQQQ", 301, 301, 0x7f0000002000, 0x7f0000002000, 8, $nr) . "$name\0" . "\x90" x 8;
		print pack("LLQ", 0, 16 + length $body, $ns), $body }
	print pack("LLLLLLQQ", 0x4a695444, 1, 40, 62, 0, 301, 1, 0);
	code(100, 1, "dumped_first"); code(190, 2, "dumped_second")' >"$dump"

# content FILE: its size and what identifies it, computed by what lib/jit/content.h says.
content()
{
	perl -e 'local $/; my $b = <STDIN>; my $h = length $b;
		for my $word (unpack "Q<*", $b . "\0" x (-(length $b) & 7)) {
			{ use integer; $h = ($h ^ $word) * -7046029254386353131; }
			$h = ($h ^ $h >> 29);
		}
		printf "size=%d id=%016x", length $b, $h' <"$1"
}

jit_events()
{
	local at=100 pid name

	for pid in $mapped 301; do
		name=mapped
		[ $pid != 301 ] || name=dumped
		printf '0.%09d comm pid=%d tid=%d comm="%s"\n' $((at++)) $pid $pid $name
		printf '0.%09d map pid=%d tid=%d start=7f0000000000 end=7f0000010000 id=1 perms=r-xp name=""\n' $((at++)) $pid $pid
		printf '0.%09d map pid=%d tid=%d start=10000000 end=20000000 id=2 perms=rw-p name=""\n' $((at++)) $pid $pid
		[ $pid != 301 ] ||
			printf '0.%09d map pid=301 tid=301 start=7e0000000000 end=7e0000001000 id=3 perms=r-xp off=0 dev=%s ino=%d name="%s"\n' \
				$((at++)) "$(device "$dump")" "$(stat -c %i "$dump")" "$dump"
		printf '0.%09d frames pid=%d tid=%d stack=%d frames="0x7f0000002004;0x7f0000001010"\n' $((at++)) $pid $pid $pid
		for page in 1 2; do
			printf '0.%09d fault pid=%d tid=%d addr=%x ip=7f0000002004 access=write mode=user\n' $((at++)) $pid $pid \
				$((0x10000000 + 4096 * page))
			at=$((at + 90))
			printf '0.%09d fault pid=%d tid=%d addr=%x ip=7f0000002004 access=write mode=user stack=%d\n' $((at++)) $pid $pid \
				$((0x10010000 + 4096 * page)) $pid
		done
		at=100
	done | sort -s -k1,1n
	printf '0.%09d note key="jit_file" value="pid=%d %s"\n' 900 $mapped "$(content "$map")"
	printf '0.%09d note key="jit_file" value="dev=%s ino=%d %s"\n' 901 "$(device "$dump")" "$(stat -c %i "$dump")" \
		"$(content "$dump")"
}

{
	events
	printf '0.%09d note key="clock" value="mono"\n' 99
	jit_events
} >rec.ev
id_of() { content "$1" | sed 's/.*id=//'; }
gcc -O1 -g -fno-pie -no-pie -DN=77 -Wl,--build-id -o other program.c

# views [OPTION...]: what there is to see of functions and lines of the two that can be packed.
views()
{
	local view

	for view in 'report --csv --by function,line,stack --inlines' 'render --by-function' 'export --to folded' \
		'export --to speedscope' 'plot --format html'; do
		"$PFSCOPE" $view --comm whole --comm apart --comm mapped --comm dumped "$@" rec.ev || echo "status $?"
	done
}

# symbols_of FILE: the functions in the data of a plot's page
symbols_of() { sed -n 's/^"symbols":\[\(.*\)\],$/\1/p' "$1"; }

views >before 2>err
is "$(cat err)" '' 'the views, with the files in their places'
[ "$(grep -c program.c before)" -gt 10 ] && grep -q 'whole;main;branch;inlined;leaf 3' before &&
	[ "$(symbols_of before)" = '"","leaf"' ]
is $? 0 'they have names and lines'
is "$(grep -E -o '^(mapped|dumped);.* [0-9]+$' before | sort)" "$(printf '%s\n' 'dumped;[anon] 0x7f0000001010;dumped_second 2' \
	'mapped;mapped_inner 2' 'mapped;mapped_outer;mapped_inner 2' 'dumped;dumped_first 1' 'dumped;dumped_second 1' | sort)" \
	'... those of JIT compilers, too'

# ---- packed ----

mv other bin/new && mv bin/new bin/replaced
pfscope archive rec.ev
like "$out" '^rec\.ev\.symbols: 4 files, 1 of them with a debug file, 2 of JIT compilers, [0-9.]+K$' 'archive: the files and their size'
is "$status|$err" "0|pfscope: not packed: $T/bin/replaced: another build-id now
pfscope: 1 mapped file has no recorded build-id, and cannot be packed" 'what is not packed is told, with the reason'
is "$(tar -tf rec.ev.symbols | sort)" "$({
	echo "$(build_id bin/apart)/debug"
	echo "$(build_id bin/apart)/elf"
	echo "$(build_id bin/whole)/elf"
	echo "$(id_of "$map")/jit"
	echo "$(id_of "$dump")/jit"
} | sort)" 'tar lists the files by their build-ids'
is "$(tar -xOf rec.ev.symbols "$(build_id bin/whole)/elf" | cmp - bin/whole && \
	tar -xOf rec.ev.symbols "$(build_id bin/apart)/debug" | cmp - bin/apart.debug)" '' 'and extracts them as they are'
cp rec.ev.symbols again
pfscope archive -o again rec.ev
is "$status|$(cmp again rec.ev.symbols)" '0|' '-o of a file that exists: replaced, by the same bytes'

# ---- on another machine ----

mv bin elsewhere
mv "$map" the.map
mv "$dump" the.dump
views >after 2>err
is "$(grep -c -e program.c -e leaf -e mapped_ -e dumped_ after)" 0 'without the files there are no names'
is "$(symbols_of after)" '""' '... and none in a plot'
mkdir bin
cp elsewhere/replaced bin/whole # another build
sed 's/mapped/wrong/' the.map >"$map"
sed 's/dumped/wrong_/' the.dump >"$dump"
views --symbols rec.ev.symbols >after 2>err
is "$(cat err)" '' 'report, render, export --symbols: no complaint'
same after before '... and the functions, lines and stacks of the machine of the recording'
mkdir folder && tar -xf rec.ev.symbols -C folder
views --symbols folder >after
same after before 'a folder of the extracted files is as good'
for view in 'export --to folded' 'report --csv --by function'; do
	"$PFSCOPE" $view --symbols rec.ev.symbols rec.ev >wanted
	grep -v note rec.ev | cat - <(grep note rec.ev) | "$PFSCOPE" $view --symbols rec.ev.symbols >after
	same after wanted "$view --symbols: of a pipe, the build-ids at its end"
	"$PFSCOPE" $view --symbols rec.ev.symbols --to @0.000000010 rec.ev | grep -q leaf
	is $? 0 '... and of a part that ends before them'
done

# ---- archives of others ----

report() { "$PFSCOPE" report --csv --by function --comm whole --comm apart --symbols "$1" rec.ev >after 2>err; }
size=$(stat -c %s rec.ev.symbols)
broken=
for part in 1 2 3 4 5 6 7 8 9; do
	head -c $((size * part / 10)) rec.ev.symbols >cut
	report cut && [ "$(wc -l <err)" = 1 ] && grep -q '^pfscope: cut: damaged at byte [0-9]*: ' err || broken+=" $part"
done
is "$broken" '' 'a truncated archive: the view, and one line'
broken=
for seed in {1..30}; do
	perl -e 'srand shift; local $/; my $b = <STDIN>; substr($b, int rand length $b, 1) = chr int rand 256 for 1 .. 400; print $b' \
		"$seed" <rec.ev.symbols >changed
	report changed && [ "$(wc -l <err)" -le 1 ] || broken+=" $seed"
done
is "$broken" '' 'a changed archive: the view, and at most one line'
report rec.ev
is "$?|$(cat err)|$(grep -c '^function' after)" "0|pfscope: rec.ev: is no archive of \`pfscope archive', and gives no names|2" \
	'a file that is no archive: the same'
report nothing
is "$?|$(cat err)" '1|pfscope: nothing: No such file or directory' 'an archive that is not there'

mkdir -p "swapped/$(build_id elsewhere/whole)"
cp elsewhere/replaced "swapped/$(build_id elsewhere/whole)/elf"
tar -C swapped --format=ustar -cf swapped.tar .
report swapped.tar
is "$?|$(cat err)|$(grep -c leaf after)" '0||0' 'a file with another build-id gives no names'
cp elsewhere/whole "swapped/$(build_id elsewhere/whole)/elf"
tar -C swapped --format=ustar -cf swapped.tar .
report swapped.tar
is "$(grep -c ',leaf' after)" 1 'the right one does, in an archive of tar, too'

# jitted OPTION...: the functions that JIT compilers named, and what the report says of these files.
jitted()
{
	"$PFSCOPE" report --by function --comm mapped --comm dumped "$@" rec.ev >after 2>err
	grep -o -E '(mapped|dumped|wrong)_[a-z_]*' after | sort -u | paste -sd' '
	grep -E '^no names of .*(perf-|jit-)' after
}
complaints="no names of perf-$mapped.map: another file now
no names of $dump: another file now"
is "$(jitted)" "
$complaints" 'other perf maps and jitdumps give no names, and a line says so'
rm "$map" "$dump"
is "$(jitted)" "
${complaints//another file now/no such file here}" '... nor do those that are gone'
for member in folder/*/jit; do
	cp "$member" as.packed
	for change in 's/_/-/' 's/^./x/; s/_/=/' 's/[^\n]//g'; do
		perl -0pi -e "$change" "$member"
		jitted --symbols folder >said
		grep -qc '^no names of .*: no such file here$' said
		is "$(grep -c '^no names' said)|$(wc -w <<<"$(head -n 1 said)")" '1|2' "archived, and changed by $change: no names, one line"
	done
	cp as.packed "$member"
	printf '7f0000002000 80 later_added\n' >>"$member" # as if it were packed while the compiler went on
	is "$(jitted --symbols folder)" 'dumped_first dumped_second mapped_inner mapped_outer' '... with more at its end: as recorded'
	cp as.packed "$member"
done
is "$(jitted --symbols folder)" 'dumped_first dumped_second mapped_inner mapped_outer' 'the right ones have the names'

mkdir -p deep/a/b
sed 's|id=[0-9a-f]*"|id=../../escape"|' rec.ev >escape.ev
pfscope report --by function --symbols deep/a/b escape.ev
is "$status" 0 'a build-id that is a path leads nowhere'
pfscope archive -o escaped escape.ev
is "$status|$(ls escaped 2>/dev/null)" '1|' '... and is not packed'

# ---- what cannot be packed, or written ----

pfscope archive -o new rec.ev
is "$status|$out|$(tail -n 1 <<<"$err")" '1||pfscope: nothing to pack: no file with a recorded build-id is here' \
	'nothing to pack: a failure'
is "$(ls -A | grep -c new)" 0 '... that leaves no file'
rm -r bin && mv elsewhere bin
mv the.map "$map"
mv the.dump "$dump"
echo old >kept
(ulimit -f 8 && "$PFSCOPE" archive -o kept rec.ev >out 2>err)
is "$?|$(cat kept)" '1|old' 'a full disk: what was there before is still there'
is "$(ls -A | grep -c kept)" 1 '... and nothing else'
pfscope archive -o no/where rec.ev
is "$status" 1 'a folder that is not there'
"$PFSCOPE" archive <rec.ev >out 2>err
is "$?|$(cat err)" "1|pfscope: the recording has no name: give the archive's with -o" 'of a pipe the name is needed'
"$PFSCOPE" archive -o piped <rec.ev >out 2>err
is "$?" 0 '... and then it is packed'
pfscope report --symbols rec.ev.symbols rec.ev
is "$status" 2 'report --symbols without a table of code: wrong usage'
pfscope render --symbols rec.ev.symbols rec.ev
is "$status" 2 'render --symbols without --by-function: wrong usage'
pfscope plot --symbols rec.ev.symbols rec.ev
is "$status" 2 'plot --symbols of text: wrong usage'
for options in '' '--symbols rec.ev.symbols'; do
	"$PFSCOPE" plot --format html --comm replaced $options rec.ev >page
	is "$(symbols_of page)|$(grep -c 'another build-id now' page)" '""|1' "plot $options: a file of another build gives no names"
done
cp bin/whole bin/whole.new && mv bin/whole.new bin/whole && touch -d '+1 hour' bin/whole
"$PFSCOPE" plot --format html --comm whole rec.ev >page
is "$(symbols_of page)" '"","leaf"' 'plot: the same build, copied later, has them'

# ---- a debuginfod server ----

# LeakSanitizer itself crashes at the end of a program that has used libdebuginfod (`Tracer caught signal 11').
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# What debuginfod answers, in so far as it is asked here: a file by its build-id. It prints its port.
cat >server.pl <<'END_OF_PERL'
use IO::Socket;
my $listen = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 9) or die;
$| = 1;
print $listen->sockport, "\n";
while (my $client = $listen->accept) {
	my ($id, $what) = (<$client> // "") =~ m{^GET /buildid/([0-9a-f]+)/(executable|debuginfo) } or next;
	while ((<$client> // "\r\n") ne "\r\n") { }
	my $body = "";
	if (open(my $file, "<:raw", "served/$id.$what")) {
		local $/;
		$body = <$file>;
	}
	print $client "HTTP/1.1 ", $body eq "" ? "404 Not Found" : "200 OK",
		"\r\nContent-Length: ", length $body, "\r\nConnection: close\r\n\r\n", $body;
}
END_OF_PERL
mkdir served
cp bin/whole "served/$(build_id bin/whole).executable"
cp bin/apart "served/$(build_id bin/apart).executable"
cp bin/apart.debug "served/$(build_id bin/apart).debuginfo"
exec 3< <(exec perl server.pl)
server=$!
at_exit eval 'kill $server 2>/dev/null'
read -r port <&3
mv bin elsewhere
export DEBUGINFOD_CACHE_PATH=$T/cache DEBUGINFOD_TIMEOUT=5
unset DEBUGINFOD_URLS
pfscope report --by function --debuginfod rec.ev
is "$status|$out|$err" '1||pfscope: --debuginfod: no server is named in DEBUGINFOD_URLS' '--debuginfod without a server: one line'
DEBUGINFOD_URLS=http://127.0.0.1:$port views >after 2>err
is "$(cat err)|$(grep -c -e program.c -e leaf after)" '|0' 'a server that nobody asks for is not asked'
DEBUGINFOD_URLS=http://127.0.0.1:$port views --debuginfod >after 2>err
is "$(cat err)" '' 'report, render, export --debuginfod: no complaint'
same after before '... and the functions, lines and stacks of the machine of the recording'
DEBUGINFOD_URLS=http://127.0.0.1:$port pfscope archive --debuginfod -o fetched rec.ev
is "$status|$(cmp fetched rec.ev.symbols)" '0|' 'archive --debuginfod packs the same files'
for file in served/*; do
	cp elsewhere/replaced "$file"
done
DEBUGINFOD_CACHE_PATH=$T/other DEBUGINFOD_URLS=http://127.0.0.1:$port views --debuginfod >after 2>err
is "$(cat err)|$(grep -c -e program.c -e leaf after)" '|0' 'files of other build-ids give no names'
kill $server
DEBUGINFOD_CACHE_PATH=$T/empty DEBUGINFOD_URLS=http://127.0.0.1:$port views --debuginfod >after 2>err
is "$(cat err)|$(grep -c -e program.c -e leaf after)" '|0' 'a server that does not answer gives no names'
pfscope report --debuginfod rec.ev
is "$status|$(head -n 1 <<<"$err")" '2|pfscope report: --debuginfod: only with --by function, line, stack, module or instruction' \
	'--debuginfod without code'

# A stripped program has the names of its dynamic symbols.
mkdir -p bin
for name in whole apart without replaced; do
	cp $name.all bin/$name
done
gcc -O1 -fno-pie -no-pie -rdynamic -DN=9 -Wl,--build-id -o bin/apart program.c && strip bin/apart
nm bin/apart >out 2>&1
cp bin/apart apart.all
events | sed 's/ ip=[0-9a-f]*/ ip='"$(nm -D bin/apart | awk '$3 == "branch" { print $1 }')/" >dynamic.ev
"$PFSCOPE" plot --format html --comm apart dynamic.ev >page
is "$(grep -c 'no symbols' out)|$(symbols_of page)" '1|"","branch"' 'plot: a stripped program has the names of its dynamic symbols'

done_testing
