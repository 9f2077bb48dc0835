#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report --by function, line, stack, module, instruction: each number against a naive program over the same events, with nm
# and addr2line for the names.

. "${0%/*}/../tap.sh"
need_programs gcc addr2line nm perl readelf
cd "$T" || exit 1

cat >program.c <<'END'
__attribute__((noinline)) int leaf(volatile char *p) { return p[0]; }
__attribute__((noinline)) int twig(volatile char *p) { return leaf(p) + 1; }
static inline __attribute__((always_inline)) int inlined(volatile char *p)
{
	return p[1] + leaf(p + 1);
}
__attribute__((noinline)) int branch(volatile char *p) { return inlined(p) + twig(p); }
int main(int argc, char **argv) { return branch(argv[0]) + twig(argv[0]); }
END
gcc -O1 -g -fno-pie -no-pie -o program program.c || exit 1

# The faults are made at random: of each the instruction, the stack if it has one (its functions from the innermost), and the
# time it took. What should come of them is written by the same program, which knows the code by nm.
read -r OFF ADDR < <(readelf -lW program | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
export OFF ADDR
perl -e '
	my ($path, @nm) = @ARGV;
	my %at = map { my ($addr, $type, $name) = split; ($name => hex $addr) } @nm;
	my ($dev, $ino) = (stat $path)[0, 1];
	my $device = sprintf "%02x:%02x", ($dev >> 8 & 0xfff), ($dev & 0xff) | ($dev >> 12 & 0xfff00);
	srand(5);
	print "# pfscope-events 2\n0.000000001 comm pid=7 tid=7 comm=\"program\"\n";
	my ($off, $addr) = (hex $ENV{OFF}, hex $ENV{ADDR});
	printf "0.000000002 map pid=7 tid=7 start=%x end=%x id=1 perms=r-xp off=%d dev=%s ino=%d name=\"%s\"\n",
		$addr, $addr + 0x1000, $off, $device, $ino, $path;
	print "0.000000003 map pid=7 tid=7 start=10000000 end=20000000 id=2 perms=rwxp name=\"\"\n";
	my @stacks = ([qw(leaf twig main)], [qw(leaf branch main)], [qw(leaf twig branch main)], [qw(branch main)]);
	my ($t, %self, %total, %folded, %seen) = (10);
	for my $i (0 .. $#stacks) {
		printf "0.%09d frames pid=7 tid=7 stack=%d frames=\"%s\"\n", $t++, $i + 1,
			join ";", map { sprintf "0x%x", $at{$_} + 4 } @{$stacks[$i]};
	}
	printf "0.%09d frames pid=7 tid=7 stack=9 frames=\"do_user_addr_fault+0x10;exc_page_fault+0x20;asm_exc_page_fault+0x30;filemap_read+0x1c;vfs_read+0x2;0x%x;...\"\n",
		$t++, $at{main} + 4;
	for my $i (1 .. 3000) {
		my $k = int rand 7;
		my @funcs = $k < 4 ? @{$stacks[$k]} : $k == 4 ? qw(filemap_read vfs_read main) :
			$k == 5 ? ("leaf") : ("(no file)");
		my $ip = $k == 6 ? 0x10000000 : $at{$funcs[0]} // 0xffffffff81000000;
		my $page = int rand 400;
		my $mode = $k == 4 ? "kernel" : "user";
		printf "0.%09d fault pid=7 tid=7 addr=%x ip=%x access=%s mode=%s%s latency=%d%s\n", $t += 10,
			0x18000000 + 4096 * $page, $ip, ("read", "write")[rand 2], $mode, $i % 3 ? "" : " class=major",
			100 + int(rand 50), $k < 4 ? " stack=" . ($k + 1) : $k == 4 ? " stack=9" : "";
		my $self = $k == 6 ? "(no file)" : $funcs[0];
		$self{$self}++;
		my @own = $k == 6 ? "(elsewhere)" : grep { defined $at{$_} } @funcs;
		$own{$own[0]}++;
		$with{$_}++ for @own;
		$new{$self} += !$seen{$page}++;
		$total{$_}++ for keys %{{map { $_ => 1 } @funcs}};
		my @names = $k == 6 ? ("[anon]") : (@funcs, $k == 4 ? "..." : ());
		$folded{join ";", reverse @names}++;
	}
	open my $f, ">", "expect.function"; printf $f "%d,%d,%d,%s\n", $self{$_} // 0, $total{$_}, $new{$_} // 0, $_ for sort keys %total;
	open $f, ">", "expect.own"; printf $f "%d,%d,%s\n", $own{$_} // 0, $with{$_}, $_ for sort keys %with;
	open $f, ">", "expect.stack"; printf $f "%d,%s\n", $folded{$_}, $_ for sort keys %folded;
' "$T/program" "$(nm program | awk '$3 == "leaf"')" "$(nm program | awk '$3 == "twig"')" \
	"$(nm program | awk '$3 == "branch"')" "$(nm program | awk '$3 == "main"')" >events

# csv TABLE COLUMN...: these columns of a table, sorted.
csv()
{
	local table=$1

	shift
	"$PFSCOPE" report --csv --by "$table" "${more[@]}" events | perl -F, -lane '
		BEGIN { $table = shift; @wanted = splice @ARGV, 0, scalar @ARGV }
		if ($F[0] eq "table") { @head = @F; next }
		next unless $F[0] eq $table;
		my %cell; @cell{@head} = @F;
		print join ",", map { s/^"|"$//gr } @cell{@wanted}' "$table" "$@" | sort
}
more=()

csv function faults total pages function >got
is "$(cat got)" "$(sort expect.function)" 'by function: faults, those of callees, new pages'
csv stack faults stack >got
is "$(cat got)" "$(sort expect.stack)" 'by stack, as flame graphs take it'
more=(--inverted)
csv stack faults stack >got
is "$(cat got)" "$(perl -F, -lane 'print "$F[0],", join ";", reverse split /;/, $F[1]' expect.stack | sort)" '... inverted'
more=()
for table in function line module instruction stack; do
	is "$(csv "$table" faults | awk '{ n += $1 } END { print n }')" 3000 "by $table: the sum is the number of faults"
done
is "$("$PFSCOPE" report --json --by function,stack,file events | "$TOOLS/well_formed" json 2>&1)" 1 'JSON is well-formed'
csv line faults source line | grep program.c | sed 's/,.*\//,/' >got
is "$(awk -F, '{ print $2 }' got | sort -u)" 'program.c' 'by line: the source file'
is "$(csv instruction function instruction | grep -c '^leaf,program+0x')" 2 'by instruction: offsets in the file'
is "$(csv module module | sort)" "[anon]
[kernel]
program" 'by module'

# ---- only the functions of one file ----
more=(--module 'prog?am')
csv function faults total function >got
is "$(cat got)" "$(sort expect.own)" '--module: each fault is counted for the innermost function of it'
for table in function line module instruction; do
	is "$(csv "$table" faults | awk '{ n += $1 } END { print n }')" 3000 "--module by $table: the sum is the number of faults"
done
is "$(csv line source line | grep -v '/program.c,')" '(elsewhere),' '... by line: its lines, and all that is elsewhere'
more=(--module nothing)
is "$(csv function faults function)" '3000,(elsewhere)' '--module of a file that is not there: all is elsewhere'
more=()
"$PFSCOPE" report --by function,line --module program events >out
is "$(grep -c 'elsewhere) *$' out)|$(awk 'length > 80' out)" '2|' '--module: the text'
is "$("$PFSCOPE" report --module x --by stack events 2>&1 >/dev/null | head -1)" \
	'pfscope report: --module: only with --by function, line, module or instruction' '--module without rows of functions'

# ---- text ----
"$PFSCOPE" report --by function --top 2 events >out
is "$(awk 'length > 80' out)" '' 'the text fits 80 columns'
is "$(head -1 out)" 'By function' 'the answer comes first'
is "$(grep -cE '^ +[0-9]+ .* [0-9]+ more$' out)" 1 'the remainder is a line'
is "$(awk '/total of/ { print $1 }' out)" 3000 'and so is the sum'
"$PFSCOPE" report --by stack events >out
is "$(awk 'length > 80' out)" '' 'the tree fits 80 columns'
is "$(grep -cE ' total$' out)" 1 'with its sum'
"$PFSCOPE" report --by function,process events >out
is "$(grep -E '^By ' out)" $'By function\nBy process' 'words combine'
ln -s program program-with-a-long-name.cpython-311-x86_64-linux-gnu.so
sed 's/program"$/program-with-a-long-name.cpython-311-x86_64-linux-gnu.so"/' events >long
"$PFSCOPE" report --by function long >out
is "$(awk 'length > 80' out)" '' 'a long module: the text fits 80 columns'
is "$(awk '$NF == "filemap_read" || $NF == "branch" { n++ } END { print n }' out)" 2 '... and the functions keep their names'

# ---- render --by-function ----
"$PFSCOPE" render --by-function --width 80 events >out
is "$(awk '/^  [a-z] / { print $2 "," $NF }' out | sed 's/,file)$/,(no file)/' | sort)" \
	"$(awk -F, '$3 { print $3 "," $4 }' expect.function | sort)" 'render --by-function: the pages that each touched first'
is "$(sed -n 1p out)" "anon rwxp 10000000 of pid 7: $(awk -F, '{ n += $3 } END { print n }' expect.function) pages, first touched by 4 functions" \
	'... of the region'
is "$(awk 'length > 80' out)" '' '... in 80 columns'
sed -E '/ map .*start=10000000 /s/name="[^"]*"/name="\/x\/a-file-of-a-quite-long-name.so.15.3.2"/' events >long
"$PFSCOPE" render --by-function --width 80 long >out
is "$(awk 'length > 80' out)|$(head -n 1 out | cut -d' ' -f1,2)" '|a-file-of-a-qu.. rwxp' '... of a region of a long name, too'

# ---- filters, and what cannot be ----
is "$("$PFSCOPE" report --csv --by function --pid 8 events | grep -c '^function')" 0 'a filter leaves nothing of others'
is "$("$PFSCOPE" report --inverted events 2>&1 >/dev/null | head -1)" \
	"pfscope report: --inverted: only with --by stack" '--inverted needs stacks'
is "$("$PFSCOPE" report --by stack --format html events | cksum)" "$("$PFSCOPE" export --to html events | cksum)" \
	'--format html is the flame graph of export --to html'
"$PFSCOPE" report --by stack --format html - < <(cat events; echo '9.000000000 lost cpu=1 count=3') 2>err >page
is "$?|$(<err)" '0|pfscope: 3 events are lost: --format=html does not show where' '... lost events are counted'
"$PFSCOPE" report --by stack --format html events 2>err >/dev/full
is "$?|$(<err)" '1|pfscope: standard output: No space left on device' '... a full disk is noticed'
for option in '' '--by function' '--by stack,region' '--by stack --inverted' '--by stack --top 3' '--check'; do
	# shellcheck disable=SC2086 # words are meant
	is "$("$PFSCOPE" report $option --format html events 2>&1 | head -1)" \
		'pfscope report: --format=html: is a flame graph: only with --by stack, and no other option of tables' "... not with '$option'"
done
"$PFSCOPE" report --by nonsense events >out 2>&1
is $? 2 'an unknown word is wrong usage'
grep -v ' frames ' events >without
is "$("$PFSCOPE" report --csv --by function without | grep -c 'its stack was not recorded')" 1 \
	'a stack that was not recorded is a row of its own'

# ---- the file is another one now ----
cp -p program other && mv other program
is "$("$PFSCOPE" report --by function events | grep -c 'no names of .*/program: another file now')" 1 \
	'another file gives no names, and one line says so'

done_testing
