#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run --stack: the chain of each fault is what the program says, through ftrace and perf, static, at fixed and at random
# addresses and in C++; as perf's own; of programs without frame pointers no fault is counted that is not theirs; stacks in
# recordings of trace-cmd.

. "${0%/*}/live.sh"
chmod 755 "$T"
cp "$PFSCOPE" "$WORK/chains" "$T"
cd "$T" || exit 1

# chains_of FILE PROGRAM ADDRESSES: "ADDRESS FUNCTION ..." of the faults at these addresses, as chains prints them. Functions are
# named by addr2line: the one that faulted at its instruction, the others before where their call returns.
chains_of()
{
	"$PFSCOPE" events "$1" | perl -e '
		my ($program, $wanted) = @ARGV;
		my %want = map { (split)[0] => 1 } split /\n/, $wanted;
		my $fixed = `readelf -hW $program` =~ /Type:\s+EXEC/;
		my ($base, %frames, %name);
		sub name {
			my ($addr) = @_;
			my $at = sprintf "%x", $addr - ($fixed ? 0 : $base);
			return $name{$at} //= `addr2line -fC -e $program 0x$at` =~ s/[(\n].*//sr;
		}
		while (<STDIN>) {
			my %f = /(\w+)=("(?:[^"\\]|\\.)*"|\S+)/g;
			s/^"|"$//g for values %f;
			my ($kind) = /^\S+ (\w+)/;
			if ($kind eq "map" && ($f{name} // "") =~ m{/\Q$program\E$}) {
				my $start = hex $f{start};
				$base = $start if !defined $base || $start < $base;
			}
			$frames{$f{stack}} = $f{frames} if $kind eq "frames";
			next unless $kind eq "fault" && $want{$f{addr}};
			my (@chain, $call);
			for (split /;/, $frames{$f{stack} // 0} // "none") {
				if ($_ eq "...") { push @chain, "..."; last; }
				my $addr = /^0x/ ? hex : undef;
				if (defined $addr && $addr < 1 << 56) {
					push @chain, name($addr - ($call ? 1 : 0));
					last if $chain[-1] eq "main";
				}
				$call = 1;
			}
			print "$f{addr} @chain\n";
		}' "$2" "$3"
}

# cut_at N: chains of at most N functions.
cut_at()
{
	awk -v n="$1" '{ if (NF > n + 1) { NF = n + 1; $0 = $0 " ..." } print }'
}

# right_chains NAME PROGRAM SOURCE [OPTION...]
right_chains()
{
	local name=$1 program=$2 source=$3 depth=127

	shift 3
	[ "$source" = ftrace ] && depth=8
	"$PFSCOPE" run --source="$source" --stack=fp "$@" --no-bars -o rec -- "./$program" >said 2>err
	is "$? $(<err)" '0 ' "$name: recorded"
	cut_at $depth <said >want
	chains_of rec "$program" "$(<said)" >got
	same got want "$name: each chain"
	[ "$source" = ftrace ] || return 0 # perf never sees the kernel's own
	"$PFSCOPE" report --check rec >check 2>&1
	is "$?" 0 "$name: each fault is counted once" || diag "$(<check)"
}

programs=(chains)
# variant NAME COMPILER OPTION...: if there is a compiler.
variant()
{
	local name=$1

	if ! command -v "$2" >/dev/null || ! "${@:2}" -O1 -g -fno-omit-frame-pointer \
		-fno-shrink-wrap -o "$name" "$OLDPWD/tests/workload/chains.c" 2>log; then
		diag "not built: $name ($2)"
		return
	fi
	programs+=("$name")
}
variant fixed cc -no-pie
variant static cc -static
variant cxx g++ -x c++

for program in "${programs[@]}"; do
	right_chains "$program, ftrace" "$program" ftrace
	right_chains "$program, perf" "$program" perf
done

# ---- through ftrace ----

"$PFSCOPE" run --stack --no-bars -o rec -- ./chains 500 >said
is "$("$PFSCOPE" events rec | grep -c ' frames .*read_zero')" 2 'each stack is in the recording once'
"$PFSCOPE" run --source=perf --stack=fp --no-bars -o p.ev -- ./chains >said
like "$("$PFSCOPE" events p.ev | grep ' frames .*read_zero')" 'frames="(clear_user\w*\+0x[0-9a-f]+;)?read_zero\+0x[0-9a-f]+;.*entry_SYSCALL_64[^;]*;0x' \
	'perf: the functions of the kernel, too'
is "$("$PFSCOPE" events rec | awk '/ frames / { for (i = 3; i <= NF; i++) if ($i ~ /^stack=/) { if (seen[$i]++) print; known[$i] } }
	/ fault / { for (i = 3; i <= NF; i++) if ($i ~ /^stack=/ && !($i in known)) print }')" '' 'defined once, and before it is used'
"$PFSCOPE" report --check rec >check
is "$?" 0 'each fault is counted once' || diag "$(<check)"
like "$("$PFSCOPE" events rec | grep ' frames .*read_zero')" 'frames="(clear_user\w*\+0x[0-9a-f]+;)?read_zero\+0x[0-9a-f]+;.*entry_SYSCALL_64[^;]*;0x' \
	'of a fault in kernel mode: the kernel, from the instruction on, then the program'
# Most programs have no frame pointers: nearly each walk over their stacks faults.
"$PFSCOPE" run --stack=fp --no-bars -o plain -- sh -c 'ls -lR /etc >/dev/null 2>&1; perl -e "print 1" >/dev/null'
"$PFSCOPE" report --check plain >check
is "$? $(tail -n 1 check)" '0 every fault is accounted for' 'programs without frame pointers: each fault is counted once' ||
	diag "$(<check)"
"$PFSCOPE" run --stack --events --no-bars -- ./chains >both
is "$(grep ' fault ' both | grep -v ' space=exec ' | grep -vc ' stack=')" 0 'events as they come: each fault has its stack'
# Execs: a fault in one has no stack of the image before.
is "$("$PFSCOPE" events plain | awk '/ frames / { for (i = 3; i <= NF; i++) if ($i ~ /^stack=/) user[$i] = /[";]0x[0-9a-f]{4,14}[";]/ }
	/ fault / && / space=exec/ { for (i = 3; i <= NF; i++) if ($i ~ /^stack=/ && user[$i]) print }')" '' \
	'in an exec there is none of the image before'

# ---- as others have it ----

if command -v perf >/dev/null; then
	setarch -R perf record -q -e page-faults -c 1 -g -d -o perf.data ./chains >said 2>log
	perf script -i perf.data -F addr,ip,sym 2>log | perl -e '
		my %want = map { (split)[0] => 1 } split /\n/, $ARGV[0];
		$/ = "";
		while (<STDIN>) {
			my ($addr, @lines) = split /\n/;
			$addr = (split " ", $addr)[0];
			next unless $want{$addr};
			my @chain;
			for (@lines) {
				my ($ip, $sym) = /^\s*(\S+) (\S+)/ or next;
				next if hex($ip) >= 1 << 56;
				push @chain, $sym;
				last if $sym eq "main";
			}
			print "$addr @chain\n";
		}' "$(<said)" >theirs
	"$PFSCOPE" run --source=perf --stack --no-aslr --no-bars -o rec -- ./chains >again
	same again said 'perf: the same run'
	chains_of rec chains "$(<said)" >ours
	same ours theirs 'perf script -F ip,sym has the same chains'
	"$PFSCOPE" run --stack --no-aslr --no-bars -o rec -- ./chains >again
	chains_of rec chains "$(<said)" >ours
	cut_at 8 <theirs >cut
	same ours cut 'and of ftrace, as far as they go'
else
	diag 'there is no perf'
fi

# An ordinary account.
if command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	mkdir -m 777 own
	setpriv --reuid 65534 --regid 65534 --clear-groups ./pfscope run --stack=fp --no-bars -o own/rec -- ./chains >said 2>err
	is "$?" 0 'an ordinary account records stacks' || diag "$(<err)"
	chains_of own/rec chains "$(<said)" >got
	grep -v kernel_reads said >want # in kernel mode
	same got want 'an ordinary account: each chain of user mode'
else
	diag 'no ordinary account may record'
fi

# trace_cmd OPTION...: chains through trace-cmd, which sees an instance in place of tracefs
trace_cmd()
{
	local instance=$TRACING/instances/pfscope-test-$$ status

	mkdir "$instance" || return
	unshare -m --propagation private bash -c 'mount --bind "$1" "$2" || exit
		for file in /proc/sys/kernel/ftrace_enabled "$2"/set_ftrace_*; do
			[ ! -e "$file" ] || mount --bind /dev/null "$file" || exit
		done
		shift 2
		exec trace-cmd record -q -o tc.dat -e exceptions -e sched "$@" -F ./chains 200' - "$instance" "$TRACING" "$@" >said 2>log
	status=$?
	rmdir "$instance"
	return $status
}
# said_by_trace_cmd NAME OPTION...
said_by_trace_cmd()
{
	local name=$1

	if ! trace_cmd "${@:2}"; then
		diag "$name: cannot record: $(<log)"
		return
	fi
	chains_of tc.dat none "$(<said)" 2>log | cut -d' ' -f1 | sort >got
	cut -d' ' -f1 said | sort >want
	same got want "$name: each fault once"
	"$PFSCOPE" events tc.dat >events
	is "$(grep -c ' fault .* mode=user' events) $(grep ' fault .* mode=user' events | grep -vc ' stack=')" \
		"$(grep -c ' fault .* mode=user' events) 0" "$name: each in user mode has its stack"
	is "$(grep ' fault .* addr=1 ' events)" '' "$name: none is of the walk"
}
if command -v trace-cmd >/dev/null; then
	said_by_trace_cmd 'trace-cmd -O userstacktrace' -O userstacktrace
	is "$(grep -c ' frames .*entry_SYSCALL' events)" 0 'without stacks of the kernel'
	said_by_trace_cmd 'trace-cmd -T -O userstacktrace' -T -O userstacktrace
	is "$(grep ' frames .*read_zero' events | grep -vcE ' frames=.(clear_user\w*\+\w+;)?read_zero\+')" 0 'the stack of the kernel begins where it faulted'
fi

# Text has as many faults: a copy of the lines that the kernel prints of one run, and pages of the same.
instance=$TRACING/instances/pfscope-test-$$
if mkdir "$instance"; then
	echo 1 >"$instance/options/userstacktrace"
	echo 1 >"$instance/events/exceptions/enable"
	bash -c 'echo $$ >"$1/set_event_pid"; exec ./chains' - "$instance" >said
	echo 0 >"$instance/tracing_on"
	cat "$instance/trace" >text
	echo 0 >"$instance/events/enable"
	rmdir "$instance"
	pid=$(sed -nE 's/^ +chains-([0-9]+) .*/\1/p' text | tail -n 1)
	wanted=$(grep -c -- "-$pid .*: page_fault_" text)
	walked=$(grep -c -- "-$pid .*: page_fault_kernel: .* ip=__get_user_nocheck_8" text)
	is "$walked $("$PFSCOPE" events text | grep -c " fault .* tid=$pid ")" "$walked $((wanted - walked))" \
		'text: faults of the walk are not counted'
	[ "$walked" -gt 0 ] || diag 'this kernel has another function for the walk'
fi

# ---- what cannot be had ----

"$PFSCOPE" run --stack --no-bars -- ./chains >said 2>err
like "$(<err)" '^pfscope: --stack=fp: ([0-9]+) of [0-9]+ functions of ./chains have frame pointers$' \
	'without a word: how, and that the program has frame pointers'
cp "$(command -v sh)" plainly
if [ "$(objdump -d --no-show-raw-insn plainly | grep -c 'mov *%rsp,%rbp')" -lt 20 ]; then
	"$PFSCOPE" run --source=ftrace --stack --no-bars -- ./plainly -c : 2>err
	like "$(<err)" '^pfscope: --stack=dwarf: [0-9]+ of [0-9]+ functions of ./plainly have frame pointers$' \
		'... or has none'
fi
# Programs of Go have frame pointers, and no unwinding rules where they are looked for. The witness is a program with Go's note,
# and one of Go itself where there is its compiler.
cat >noted.c <<'END'
__asm__(".pushsection .note.go.buildid,\"a\",@note; .balign 4; .long 4, 4, 4; .asciz \"Go\"; .byte 0; .ascii \"abcd\"; .popsection");
int main(void) { return 0; }
END
if "${CC:-cc}" -O2 -o noted noted.c 2>/dev/null; then
	"$PFSCOPE" run --stack --no-bars -- ./noted 2>err
	is "$?|$(<err)" '0|pfscope: --stack=fp: ./noted is of Go, whose functions have frame pointers' 'a program of Go'
else
	diag 'no compiler'
fi
cat >go.go <<'END'
package main

//go:noinline
func touches(n int) []byte {
	b := make([]byte, n*4096)
	for i := 0; i < n; i++ {
		b[i*4096] = 1
	}
	return b
}

//go:noinline
func outer(n int) int { return len(touches(n)) }

func main() { println(outer(500)) }
END
if go build -o go go.go 2>/dev/null; then
	"$PFSCOPE" run --stack --no-bars -o rec -- ./go 2>err
	ok '... whose stacks are complete' eval '"$PFSCOPE" export --to folded rec | grep -q "main.main;main.outer;main.touches"'
else
	diag 'there is no Go'
fi
"$PFSCOPE" run --stack=lbr -- true 2>err
is "$? $(head -n 1 err)" "2 pfscope run: --stack=lbr: the CPU's branch records come with samples of its own counters only, not with page faults" \
	'lbr: why not'
done_testing
