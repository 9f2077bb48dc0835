#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --stack=dwarf: the call chains of faults in programs without frame pointers. The witnesses: the program's own account of its
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

for program in unwound unwound_static; do
	for source in "${SOURCES[@]:-perf}"; do
		"$PFSCOPE" run --source="$source" --stack=dwarf --no-bars -o "$program" -- "$WORK/$program" >said 2>err
		is "$?|$(<err)" '0|' "$program, $source: recorded"
		"$PFSCOPE" events "$program" >events
		chains_are "$program, $source" events said
		is "$(grep -c ' fault ' events)" "$(grep -c ' fault .* stack=' events)" '... each fault has a stack'
		is "$(awk '$2 == "frames" || $2 == "fault" {
			for (i = 3; i <= NF; i++) if ($i ~ /^stack=/) { if ($2 == "frames") known[$i]; else if (!($i in known)) print } }' events)" \
			'' '... which is defined before'
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
"$PFSCOPE" run --source=ftrace --stack=dwarf -- true 2>err
like "$?|$(head -n 1 err)" '^[12]\|pfscope[^:]*: --stack=dwarf: only with --source=perf' 'ftrace: refused in one line'

for how in '' =dwarf; do
	"$PFSCOPE" run --stack$how --no-bars -o plain -- "$WORK/unwound" >said 2>err
	is "$?|$(tail -n 1 err)" '0|pfscope: recording through perf events, without accesses and removals of regions (for --stack=dwarf)' \
		"--stack$how without a source: perf, which one line says"
	"$PFSCOPE" events plain >events
	chains_are '... and the chains are right' events said
done
"$PFSCOPE" run --stack --count --no-bars -- true 2>err
like "$?|$(<err)" '^0\|pfscope: --stack=fp: .*: its stacks end early; with --source=perf they do not$' \
	'an option that perf has not keeps the source'
libdw=$(ldconfig -p | awk '$1 == "libdw.so.1" { print $NF; exit }')
unshare -m sh -c 'mount --bind /dev/null "$1" && exec "$2" run --stack --no-bars -- "$3" >said 2>err' - \
	"$(readlink -f "$libdw")" "$PFSCOPE" "$WORK/unwound"
like "$?|$(<err)" '^0\|pfscope: --stack=fp: .*: its stacks end early; unwinding stacks needs libdw \(apt-get install libdw1\)$' \
	'without libdw: by frame pointers, and why'

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
	is "$(perf_chains)" "$(chains_of events said | grep '^chain')" 'perf script has the same chains'
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
