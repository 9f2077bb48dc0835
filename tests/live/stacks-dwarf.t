#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --stack=dwarf: the call chains of faults in programs without frame pointers, through perf and ftrace. The witnesses: the program's own account of its
# chains, and perf's of the same binary.

. "${0%/*}/live.sh"
cd "$T" || exit 1

# chains_of EVENTS SAID: "KIND=PAGE FUNCTION... [cut]" of the workload's pages, as they were recorded.
chains_of()
{
	perl -e '
		my (%function, @pages, %kind, %frames, %stack);
		open my $said, "<", $ARGV[1] or die;
		for (<$said>) {
			$function{$1} = [hex $2, hex $3] if /^function=(\w+) 0x(\w+) 0x(\w+)/;
			push @pages, $2 and $kind{$2} = $1 if /^(chain|cut)=0x(\w+)/;
		}
		open my $events, "<", $ARGV[0] or die;
		for (<$events>) {
			$frames{$1} = $2 if / frames .*stack=(\d+) frames="([^"]*)"/;
			$stack{$1} //= $2 if / fault .*addr=0?x?([0-9a-f]+) .*stack=(\d+)/;
		}
		for my $page (@pages) {
			my @names;
			my $nr = 0;
			for (split /;/, $frames{$stack{$page} // ""} // "") {
				my $addr = /^0x(\w+)/ ? hex($1) - ($nr++ > 0) : 0;
				for my $name (keys %function) {
					push @names, $name if $addr >= $function{$name}[0] && $addr < $function{$name}[1];
				}
				push @names, "cut" if $_ eq "...";
			}
			print "$kind{$page}=0x$page @names\n";
		}' "$1" "$2"
}

# chains_are NAME EVENTS SAID
chains_are()
{
	is "$(chains_of "$2" "$3")" "$(sed -n 's/^cut=.*/& cut/p; /^chain=/p' "$3")" "$1: each chain is the one of the program"
}

# complete EVENTS: how many of a hundred faults have a stack down to the function that nobody called.
complete()
{
	awk '{ stack = ""; for (i = 3; i <= NF; i++) if ($i ~ /^stack=/) stack = $i }
		$2 == "frames" && /\.\.\."/ { cut[stack] }
		$2 == "fault" && stack { n++; if (!(stack in cut)) whole++ }
		END { printf "%d\n", n ? 100 * whole / n : 0 }' "$1"
}

# pages_of EVENTS: the faults of the workload's mapping.
pages_of()
{
	grep -oE ' fault .*addr=10[0-9a-f]{7} ' "$1" | grep -oE 'addr=[^ ]*' | sort
}

for program in unwound unwound_static; do
	for source in perf ftrace; do
		options=()
		[ "$source" = perf ] || options=(--count)
		"$PFSCOPE" run --source="$source" --stack=dwarf "${options[@]}" --no-bars -o "$program" -- "$WORK/$program" >said 2>err
		is "$?|$(<err)" '0|' "$program, $source: recorded"
		"$PFSCOPE" events "$program" >events
		chains_are "$program, $source" events said
		is "$(grep -c ' fault ' events)" "$(grep -c ' fault .* stack=' events)" '... each fault has a stack'
		is "$(awk '$2 == "frames" || $2 == "fault" {
			for (i = 3; i <= NF; i++) if ($i ~ /^stack=/) { if ($2 == "frames") known[$i]; else if (!($i in known)) print } }' events)" \
			'' '... which is defined before'
		[ "$source" = perf ] && continue
		is "$("$PFSCOPE" report --check "$program" 2>&1 | tail -n 1)" 'every fault is accounted for' \
			'... and none is counted that the kernel did not count'
		is "$(grep -c 'lacks.*what=dumps tells' events)" 0 '... nor is said to lack one'
		"$PFSCOPE" run --source=ftrace --no-bars -o without -- "$WORK/$program" >/dev/null 2>err
		"$PFSCOPE" events without >events.without
		is "$(pages_of events)" "$(pages_of events.without)" '... faults of the mapping: as without --stack'
	done
done
reading=$(grep ' fault .*addr=100009000 .*mode=kernel' events | grep -oE 'stack=[0-9]+')
like "$(grep -E " frames .* $reading " events)" '="(0xffff[0-9a-f]+|[a-z_]+[^;]*\+0x[^;]*);(.*;)?0x[0-9a-f]{1,12}(;|")' \
	'a fault in kernel mode: first the frames of the kernel'

# ---- how it is chosen, and refused ----

"$PFSCOPE" run --source=perf --stack --no-bars -o plain -- "$WORK/unwound" >said 2>err
like "$?|$(<err)" '^0\|pfscope: --stack=dwarf: [0-9]+ of [0-9]+ functions of .*/unwound have frame pointers$' \
	'without a word it is chosen for a program without frame pointers, which one line says'
"$PFSCOPE" events plain >events
chains_are '... which has' events said
printf '#!/bin/sh\nexit 0\n' >script
chmod +x script
"$PFSCOPE" run --source=perf --stack --no-bars -o plain -- ./script 2>err
is "$?|$(<err)" '0|pfscope: --stack=dwarf: whether ./script has frame pointers is not known' '... and for a script, of which it is not known'
for how in '' =dwarf; do
	"$PFSCOPE" run --stack$how --no-bars -o plain -- "$WORK/unwound" >said 2>err
	is "$?|$(tail -n 1 err)" '0|pfscope: recording through perf events, without accesses and removals of regions (for --stack=dwarf)' \
		"--stack$how without a source: perf, which one line says"
	"$PFSCOPE" events plain >events
	chains_are '... and the chains are right' events said
done
"$PFSCOPE" run --stack --count --no-bars -- true 2>err
like "$?|$(<err)" '^0\|pfscope: --stack=dwarf: [0-9]+ of [0-9]+ functions of [^ ]* have frame pointers$' \
	'an option that perf has not keeps the source'
"$PFSCOPE" run --source=ftrace --stack --no-bars -o plain -- "$WORK/unwound" >said 2>err
like "$?|$(<err)" '^0\|pfscope: --stack=dwarf: [0-9]+ of [0-9]+ functions of .*/unwound have frame pointers$' \
	'ftrace without a word: chosen as with perf'
libdw=$(ldconfig -p | awk '$1 == "libdw.so.1" { print $NF; exit }')
unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$2" run --stack --no-bars -- "$3" >said 2>err' - \
	"$(readlink -f "$libdw")" "$PFSCOPE" "$WORK/unwound"
like "$?|$(<err)" '^0\|pfscope: --stack=fp: .*: its stacks end early; unwinding stacks needs libdw \(apt-get install libdw1\)$' \
	'without libdw: by frame pointers, and why'

# ---- through ftrace: with what ftrace alone records ----

"$PFSCOPE" run --source=ftrace --stack=dwarf --latency --classify --no-bars -o probes -- "$WORK/unwound" >said 2>err
is "$?" 0 '--latency --classify, too' || diag "$(<err)"
"$PFSCOPE" events probes >events
chains_are '... the chains' events said
is "$("$PFSCOPE" report --check probes 2>&1 | tail -n 1)" 'every fault is accounted for' '... and the counts'
reading=$(grep ' fault .*addr=100009000 .*mode=kernel' events | grep -oE 'stack=[0-9]+')
like "$(grep -E " frames .* $reading " events)" '="[a-z_]+[^;]*\+0x[^;]*;(.*;)?0x[0-9a-f]{1,12}(;|")' \
	'... of a fault in kernel mode: first the functions of the kernel'
"$PFSCOPE" run --source=ftrace --stack=dwarf --events --no-bars -o live -- "$WORK/unwound" >both 2>err
"$PFSCOPE" events live >events
is "$(grep -E ' (frames|fault) ' both)" "$(grep -E ' (frames|fault) ' events)" 'events as they come have the same stacks'
"$PFSCOPE" events live --format json >json
is "$(grep -c '"kind":"fault".*"stack":' json)" "$(grep -c ' fault ' events)" 'the file needs no option to show them'
like "$("$PFSCOPE" report --by stack live 2>&1)" 'through' 'report --by stack names the functions'

mkfifo begin
"$WORK/unwound" wait <begin >said &
target=$!
exec 7>begin
wait_for 60 eval 'grep -q ^chain.*worker said'
"$PFSCOPE" attach --source=ftrace --stack=dwarf --no-bars -o attached $target 2>err &
recorder=$!
wait_for 60 has_entered $recorder
echo >&7
wait $recorder
is "$?|$(<err)" '0|' 'attach: recorded'
exec 7>&-
wait $target
"$PFSCOPE" events attached >events
chains_are '... the chains' events said
is "$(grep -c ' fault ' events)" "$(grep -c ' fault .* stack=' events)" '... each fault has a stack'
is "$(grep -E ' fault .*addr=100(0[4-9a-f]|1[0-3])[0-9a-f]{4} ' events | grep -oE ' tid=[0-9]+' | sort -u | wc -l)" 4 '... of four threads'
is "$("$PFSCOPE" report --check attached 2>&1 | tail -n 1)" 'every fault is accounted for' '... and the counts'
! command -v trace-cmd >/dev/null ||
	is "$(trace-cmd report attached 2>/dev/null | grep -c ' pfs_stack: ')" "$(grep -c ' fault ' events)" \
		'trace-cmd reads the file'

# Of a 32-bit program only the instruction is known. A dump faults behind the top of its stack, which the program reads nowhere.
if runs_i386; then
	"$PFSCOPE" run --source=ftrace --stack=dwarf --no-bars -o small -- "$WORK/i386" >out 2>err
	"$PFSCOPE" events small >events
	is "$(grep ' fault ' events | grep -E 'access=read mode=kernel|^[^=]*addr=ff.* mode=user')" '' \
		'a 32-bit program: no fault is counted that a dump made'
	is "$(grep -c ' fault ' events)" "$(grep -c ' fault .* stack=' events)" '... and each has a stack'
fi

"$PFSCOPE" run --source=ftrace --stack=dwarf --no-follow --no-bars -o alone -- bash -c '/bin/true; /bin/true' 2>err
"$PFSCOPE" events alone >events
# A signal's frame is written with page faults disabled first: the kernel does not count such a fault, and perf has no sample of it.
is "$(perl -ne 'my ($page, $mode) = / fault .* addr=(\w+) .* mode=(\w+)/ or next;
	print $refused if $refused && $page ne $last;
	$refused = "", $last = $page;
	next if / stack=/;
	if ($mode eq "kernel") { $refused = $_ } else { print }
	END { print $refused }' events)" '' \
	'--no-follow: each fault of the process has a stack, but for one that the kernel refuses and handles next'
is "$(grep -c 'lacks.*what=dumps tells' events)" "$(grep ' fault ' events | grep -vqc ' stack=' && echo 1 || echo 0)" \
	'... and nothing is said of those of others'

# The ring is too small for what a loop of faults dumps. All of them have the same stack, but where there is none.
"$PFSCOPE" run --source=ftrace --stack=dwarf -b 512 --no-bars -o lossy -- "$WORK/touch" 60000 >out 2>err
"$PFSCOPE" events lossy >events
is "$(perl -e 'my ($start, $end) = map { hex } @ARGV;
	while (<STDIN>) { print "$2\n" if / fault .* addr=(\w+) .* (stack=\d+)/ && hex $1 >= $start && hex $1 < $end }' \
	"$(sed -n 's/^start=0x//p' out)" "$(sed -n 's/^end=0x//p' out)" <events | sort -u | wc -l)" 1 \
	'a ring that is too small: no fault has a stack of another'
without=$(($(grep -c ' fault ' events) - $(grep -c ' fault .* stack=' events)))
if [ "$without" -gt 0 ]; then
	like "$(grep 'lacks.*what=dumps tells' events)" "the stacks of $without of $(grep -c ' fault ' events) faults .[0-9]+ were lost, see --buffer-size." \
		'lost dumps are counted and said'
	grep -q ' lost ' events || # of a lost event the dump may be lost, too
		is "$(grep -oP 'key="dumps_lost" value="\K[0-9]+' events)" "$without" '... as many as faults have no stack'
	like "$("$PFSCOPE" report --check lossy 2>&1 | tail -n 1)" '^(every fault|.*lost)' '... and no fault is lost with them'
else
	diag 'no dump was lost'
fi

PFSCOPE_TEST=ftrace-dwarf-$$ "$PFSCOPE" run --source=ftrace --stack=dwarf --no-bars -o killed -- sleep 60 2>err &
recorder=$!
wait_for 60 has_entered $recorder
sleeper=$(pgrep -P $recorder -x sleep)
kill -KILL $recorder
wait $recorder 2>/dev/null
ok 'killed: no instance is left' no_instance_of $recorder
ok '... and no helper' wait_for 5 eval '[ -z "$(helpers_of pfscope-unwind ftrace-dwarf-'$$')" ]'
kill $sleeper

# ---- the helper ----

# A first recording of what the helper does for `true`, and then one in which it is killed in the middle.
PFSCOPE_TEST=dwarf-$$ "$PFSCOPE" run --source=perf --stack=dwarf --no-bars -o killed -- bash -c \
	"/bin/true; : >half; while [ ! -e go ]; do sleep 0.05; done; exec '$WORK/unwound'" >said 2>err &
recorder=$!
wait_for 60 test -e half
wait_for 60 eval '[ "$(helpers_of pfscope-unwind dwarf-'$$')" ]'
is "$(for pid in $(helpers_of pfscope-unwind dwarf-$$); do
	sed -n 's/^Uid:\t\([0-9]*\).*/\1/p' "/proc/$pid/status"
done | sort -n | tail -n 1)" 65534 'who reads the files is nobody'
for pid in $(helpers_of pfscope-unwind dwarf-$$); do
	grep -qP '^Uid:\t65534' "/proc/$pid/status" && kill -KILL "$pid"
done
: >go
wait $recorder
is "$?|$(<err)" '0|' 'the helper is killed: the recording goes on'
"$PFSCOPE" events killed >events
chains_are '... with another' events said

# ---- against perf ----

# perf_chains: "chain=PAGE FUNCTION..." of the workload's pages in perf.data
perf_chains()
{
	perf script -i perf.data -F addr,ip,sym 2>/dev/null | perl -ne '
		BEGIN { open my $said, "<", "said"; for (<$said>) { $own{$1} = 1 if /^function=(\w+)/ } }
		if (!$page && /^\s+([0-9a-f]+)/) { $page = $1; @names = () }
		elsif (/^\s+[0-9a-f]+ (\w+)/) { push @names, $1 if $own{$1} }
		elsif (/^$/ && $page) { $said{$page} //= "chain=0x$page @names"; $page = "" }
		END { print "$said{$_}\n" for grep { /^10000[1-9]000$/ } sort keys %said }'
}

if perf record -q -m 16M -c 1 -d -e page-faults --call-graph dwarf,8192 -o perf.data -- "$WORK/unwound" >said 2>out; then
	"$PFSCOPE" run --source=perf --stack=dwarf --no-bars -o unwound -- "$WORK/unwound" >said 2>err
	"$PFSCOPE" events unwound >events
	is "$(perf_chains)" "$(chains_of events said | grep '^chain=0x10000[1-9]000')" 'perf script has the same chains'
else
	diag "perf cannot record stacks: $(tail -n 1 out)"
fi

# ---- real programs ----

# real NAME LEAST COMMAND...
real()
{
	local name=$1 least=$2 percent

	shift 2
	"$PFSCOPE" run --source=perf --stack=dwarf --no-bars -o real -- "$@" >out 2>err
	"$PFSCOPE" events real >events
	percent=$(complete events)
	ok "$name: most stacks are whole" test "$percent" -ge "$least" || diag "$percent %"
	diag "$name: $percent % of the stacks end where nobody called"
}

real bash 80 bash -c 'for i in 1 2 3; do /bin/echo $i | cat; done'
real perl 80 perl -e 'my @a = map { $_ * 2 } 1 .. 100000;'
! command -v gcc >/dev/null || { echo 'int main(void) { return 0; }' >x.c; real gcc 80 gcc -O2 -c x.c -o x.o; }
! command -v python3 >/dev/null || real python3 60 python3 -c 'import json, re'

done_testing
