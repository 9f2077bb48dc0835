#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --source=perf: an ordinary account records its own processes, with the faults that they have; the same run through perf
# and through ftrace has the same faults; each refusal is one line that names the setting.

. "${0%/*}/live.sh"
. "${0%/*}/pages.sh"
need_programs setpriv unshare setcap
[ -e /proc/sys/kernel/perf_event_paranoid ] || skip_all 'this kernel has no perf events'
chmod 755 "$T"
cp "$PFSCOPE" "$TOOLS/refuse" "$WORK/touch" "$WORK/threads" "$WORK/pages" "$T"
chmod 755 "$T"/*
cd "$T" || exit 1
mkdir -m 777 own
# libtracefs does not free the path of tracefs.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# faults_of PID FILE [MODE]: "TID ADDRESS INSTRUCTION" of each fault of the process's last program, in order of time;
# the kernel's own while it loads that are among them.
faults_of()
{
	"$PFSCOPE" events "$2" | awk -v pid="pid=$1" -v mode="mode=${3:-user}" '
		$2 == "exec" && $0 ~ " " pid " " { for (i = k = 0; i < n; i++) if (loads[i]) line[k++] = line[i]; n = k }
		$2 == "fault" && $0 ~ " " pid " " && $0 ~ " " mode {
			for (i = 3; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
			loads[n] = / space=exec/
			line[n++] = v["tid"] " " v["addr"] " " v["ip"]
		}
		END { for (i = 0; i < n; i++) print line[i] }'
}

# ---- the same run through both ----

# same_run NAME MODE COMMAND...
same_run()
{
	local name=$1 mode=$2 pid

	shift 2
	"$PFSCOPE" run --source=ftrace --no-bars -o f.dat -- "$PFSCOPE" run --source=perf --no-bars -o p.ev -- "$@" >out 2>err
	is "$? $(<err)" '0 ' "$name: recorded through both at once"
	pid=$(sed -nE 's/.* note .*key="launch" value="([0-9]+)".*/\1/p' p.ev)
	faults_of "$pid" f.dat "$mode" | sort >f.faults
	faults_of "$pid" p.ev "$mode" | sort >p.faults
	ok "$name: there are faults" test -s p.faults
	# The kernel also tries accesses for which it takes no page; perf counts only those that got one.
	if [ "$mode" = kernel ]; then
		is "$(comm -23 p.faults f.faults)" '' "$name: no fault that ftrace does not have"
		return
	fi
	same p.faults f.faults "$name: the same faults: thread, address, instruction"
}

same_run 'a program' user ./touch 300 write anon
same_run 'files' user ./touch 256 read file
same_run 'a shell' user sh -c 'ls / >/dev/null; i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
same_run 'threads' user ./threads 4 100
same_run 'major faults' user ./touch 64 read file cold
ok '... each of the 64 pages is one' test "$(grep -c ' fault .*class=major' p.ev)" -ge 64
same_run 'reads into new memory' kernel sh -c 'head -c 1000000 /dev/zero | tail -c 500000 | wc -c >/dev/null; read -r x </proc/version'

# ---- events as they come ----

"$PFSCOPE" run --source=perf --no-bars --events -o p.ev -- ./touch 100 write anon >out 2>err
is "$? $(<err)" '0 ' '--events'
events=$(grep -cE '^[0-9.]+ fault ' out)
is "$events" "$(grep -c ' fault ' p.ev)" '... prints the faults of the recording'
ok '... there are some' test "$events" -ge 100

# ---- threads and children ----

"$PFSCOPE" run --source=perf --no-bars --no-follow -o p.ev -- sh -c '/bin/ls / >/dev/null; :' >out 2>err
is "$? $(<err)" '0 ' '--no-follow'
is "$(grep -v ' note ' p.ev | grep -oE ' pid=[0-9]+' | sort -u | wc -l)" 1 '... records the first process alone'
"$PFSCOPE" run --source=perf --no-bars --no-follow -o p.ev -- "$WORK/threads" 4 100 >out 2>err
is "$?" 0 'threads'
ok '... are recorded' test "$(grep ' fault ' p.ev | grep -oE ' tid=[0-9]+' | sort -u | wc -l)" -gt 1
ok '... begin' grep -q ' thread ' p.ev
"$PFSCOPE" run --source=perf --no-bars -o p.ev -- sh -c '/bin/ls / >/dev/null; :' >out 2>err
ok 'children are recorded, too' grep -q ' exec .*name="[^"]*/ls"' p.ev

# ---- which pages are mapped ----

# looked NAME "STEP..." [COMMAND...]: of tests/workload/pages, which waits until pfscope has looked, and saves its page table
looked()
{
	local name=$1 steps=$2

	shift 2
	rm -rf own/saved own/l.ev
	mkdir -m 777 own/saved
	# shellcheck disable=SC2086 # words are meant
	SAVED=own/saved "$@" ./pfscope run --source=perf --no-bars -o own/l.ev -- ./pages save $steps >out 2>err
	is "$?" 0 "$name: recorded" || diag "$(<err)"
	rm -f own/saved/own.*.0.pages	# of before the first look, perhaps
	PFSCOPE=./pfscope verdict "$name" compare own/saved own/l.ev 5
}

if "$PFSCOPE" events p.ev | grep -q 'what=PAGEMAP_SCAN'; then
	pfscope pages p.ev
	like "$out" '^# [0-9]+ pages: 0 present, 0 absent, ' 'a kernel without PAGEMAP_SCAN: no page is called present or absent'
else
	looked 'first touches' 'disk:40 map:40:rw read:20 write:21 memory:100 map:100 write:3 write:7-20 map:50:P wait:700 save'
	looked 'pages that go' 'map:60 write:1-50 wait:500 advise:4:10-30 write:12 unmap:40-45 wait:700 save'
	looked 'given back, and nothing else' 'map:500 write:1-450 wait:600 advise:4:10-430 wait:900 save'
	looked 'more in each look' 'map:500 write:1-50 wait:300 save write:50-99 wait:500 save write:120-130 advise:4:1-9 write:3 wait:500 save'
	looked 'a move' 'map:60 write:1-50 wait:500 move write:55 wait:700 save'
	looked 'a file cut short' 'disk:60 map:60:rws write:1-50 wait:500 truncate:20 map:5 write:1 wait:700 save'
	looked 'an ordinary account' 'map:60 write:1-50 wait:500 advise:4:10-30 write:12 wait:700 save' "${nobody[@]}"
	like "$("$PFSCOPE" pages own/l.ev)" '^# [0-9]+ pages: [0-9]+ present, .*'$'\n''# As of [0-9.]+ s, the last look at the page table' \
		'the moment of which that is true'
	unlike "$("$PFSCOPE" pages own/l.ev)" Assumed '... nothing is assumed'
	like "$("$PFSCOPE" pages --csv own/l.ev)" '^table,[^'$'\n'']*,as_of'$'\n''pages,[^'$'\n'']*,[0-9.]+'$'\n' '... in data, too'
	SAVED=own ./pfscope run --source=perf --no-bars -o own/l.ev -- ./touch 1000 write anon >out 2>err
	unlike "$("$PFSCOPE" pages own/l.ev)" ' absent [^-]*touched' 'a page with a fault since the last look is not called absent'
fi

# ---- page frames and sizes ----

# frames PID: "PAGE PFN" of all of its pages that are present
frames()
{
	perl -e '
		open my $maps, "<", "/proc/$ARGV[0]/maps" or die; open my $map, "<", "/proc/$ARGV[0]/pagemap" or die;
		for (<$maps>) {
			my ($start, $end) = map hex, /^([0-9a-f]+)-([0-9a-f]+)/;
			next if $end > 1 << 47;
			for (my $page = $start >> 12; $page < $end >> 12; $page++) {
				sysseek $map, $page * 8, 0; sysread $map, my $entry, 8; $entry = unpack "Q", $entry;
				printf "%x %x\n", $page, $entry & (1 << 55) - 1 if $entry >> 63;
			}
		}' "$1"
}

"$PFSCOPE" run --source=perf --pfn --no-bars -o p.ev -- ./pages map:60 write:1-50 memory:30 map:30 write:1-20 wait:2000 2>err &
recorder=$!
wait_for 60 pgrep -P $recorder -x pages
sleep 1
frames "$(pgrep -P $recorder -x pages)" | sort >frames
wait $recorder
is $? 0 '--pfn' || diag "$(<err)"
"$PFSCOPE" events p.ev | awk '
	{ delete v }
	$2 == "exec" { delete pfn }
	$2 == "fault" { for (i = 3; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
		pfn[substr(v["addr"], 1, length(v["addr"]) - 3)] = v["pfn"] }
	END { for (page in pfn) if (pfn[page]) print page, pfn[page]; else without++; print without + 0 >"without" }' | sort >said
ok '... there are faults' test "$(wc -l <said)" -ge 69
is "$(join said frames | awk '$2 != $3')" '' '... each page has the page frame that pagemap shows, if it is still there'
ok '... most are' test "$(join said frames | wc -l)" -ge 69
ok '... none is without, but the zero page and those of the vdso' test "$(<without)" -le 4
"$PFSCOPE" run --source=perf --pfn --no-bars -o p.ev -- ./pages map:2048:rwT write:0 write:1 map:60 write:0 >out 2>err
is "$?" 0 '--pfn with huge pages' || diag "$(<err)"
if grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled; then
	skip 'no huge pages here' 'the size of a page'
else
	is "$(grep -c ' huge .*order=9' p.ev)" 1 '... the size of the page is in the recording'
	like "$("$PFSCOPE" report --csv --by region p.ev)" 'region,[^'$'\n'']*,512,' '... with all that it maps'
fi
"$PFSCOPE" run --source=perf --no-bars -o p.ev -- ./touch 3 write anon >out 2>err
is "$(grep -c 'pfn=' p.ev)" 0 'without --pfn there is none'

# ---- inside a PID namespace ----

try unshare -pfm --mount-proc ./pfscope run -o own/n.ev --no-bars -- ./touch 100 write anon
is "$status" 0 'inside a PID namespace perf is used'
like "$err" '^pfscope: recording through perf events, .*\(cannot record from inside a PID namespace.*\)$' '... and the reason is given'
is "$("$PFSCOPE" report --csv --by region own/n.ev | grep -cE '^region,[0-9]+,[0-9]+,[0-9a-f]+-[0-9a-f]+,rw-p,[01],[0-9]+,100,')" 1 \
	'... with the faults of the command'

# ---- an ordinary account ----

try "${nobody[@]}" "$T/pfscope" doctor --json
if ! grep -q '"name":"without root","state":"ok"' <<<"$out"; then
	skip 'perf events are refused to ordinary accounts here' 'an ordinary account'
else
	try "${nobody[@]}" ./pfscope run --no-bars -o own/a.ev -- ./touch 100 write anon
	is "$status" 0 'an ordinary account records its command'
	like "$err" '^pfscope: recording through perf events, without faults in kernel mode, .*\(.*Permission denied.*\)$' \
		'one line has what is not seen, and why'
	is "$(grep -c . <<<"$err")" 1 '... and no other'
	is "$("$PFSCOPE" report --csv --by region own/a.ev | grep -cE '^region,[0-9]+,[0-9]+,[0-9a-f]+-[0-9a-f]+,rw-p,[01],[0-9]+,100,')" 1 \
		'it has the 100 faults of one region'
	start=$(sed -n 's/^start=0x//p' <<<"$out")
	end=$(sed -n 's/^end=0x//p' <<<"$out")
	is "$(faults_of '[0-9]*' own/a.ev | awk '{ print $2 }' | sort | awk -v s="$start" -v e="$end" '$1 >= s && $1 < e' | sed 's/...$//' | uniq | wc -l)" \
		100 '... one of each page'
	is "$(grep ' fault ' own/a.ev | grep -cv ' mode=user class=m[a-z]*$')" 0 'each in user mode, with its class'
	like "$(grep 'what=exclude_kernel' own/a.ev)" 'tells=[0-9]+ faults in kernel mode or by get_user_pages"' 'faults in kernel mode are counted, not seen'
	pfscope report --check own/a.ev
	like "$status|$out|$err" '^1\|.* in kernel mode, which was not recorded, or made by the kernel .*\|.* may have been in kernel mode' \
		'... and report --check does not name another cause'
	try "${nobody[@]}" ./pfscope run --no-thp --no-bars -o own/k.ev -- dd if=/dev/zero of=/dev/null bs=1M count=1 status=none
	n=$(sed -nE 's/.*tells=([0-9]+) faults in kernel mode.*/\1/p' own/k.ev)
	ok '... those of reads into new memory, too' test "${n:-0}" -ge 256 || diag "$n"
	try "${nobody[@]}" ./pfscope run -- sh -c 'exit 7'
	is "$status" 7 'the status is that of the command'
	try "${nobody[@]}" ./pfscope run -- sh -c 'exit 7'
	like "$err" '  layout ~, read now and then' 'no layout is called exact'
	like "$err" 'faults in kernel mode' '... and the bars name what is missing'
	for space in -Ur "-Urpf --mount-proc"; do # inside user namespaces, as containers without root have them
		# shellcheck disable=SC2086 # words are meant
		try "${nobody[@]}" unshare $space ./pfscope run --no-bars -o own/u.ev -- ./touch 100 write anon
		is "$status|$(grep -c . <<<"$err")" '0|1' "unshare $space: it records there, too" || diag "$err"
		is "$("$PFSCOPE" report --csv --by region own/u.ev | grep -cE '^region,[0-9]+,[0-9]+,[0-9a-f]+-[0-9a-f]+,rw-p,[01],[0-9]+,100,')" 1 \
			'... the faults of the command'
		rm -f own/u.ev
	done
	"${nobody[@]}" sh -c 'echo $$ >own/pid; while [ ! -e own/go ]; do sleep 0.1; done; ls / >/dev/null; sleep 0.5' &
	child=$!
	wait_for 60 test -s own/pid
	"${nobody[@]}" ./pfscope attach --no-bars -o own/b.ev "$(<own/pid)" 2>own/err &
	recorder=$!
	wait_for 60 grep -qs 'recording through' own/err
	wait_for 60 eval 'grep -q poll /proc/'$recorder'/wchan'
	: >own/go
	wait $child
	wait $recorder
	is $? 0 'it attaches to its own process until that ends' || diag "$(<own/err)"
	like "$(<own/b.ev)" ' exec .*name="[^"]*/ls"' '... and records what that starts'
	like "$(<own/b.ev)" ' map .*start~[0-9a-f]+ end~' '... with the layout that it had'
	try "${nobody[@]}" ./pfscope attach -d 1 $$
	like "$status|$err" "^1\|pfscope: process $$: is root's: try sudo, or .*\`setcap cap_perfmon,cap_sys_ptrace=ep $T/pfscope' \(see \`pfscope doctor\`\)\$" \
		'another account'"'"'s process: whose it is, and what lets it be recorded'
	command=$(sed -n "s/.*\`\(setcap .*\)' (.*/\1/p" <<<"$err")
	cp pfscope able
	ok '... which can be done' ${command% *} able
	"$WORK/loop" 20 >own/loop &
	child=$!
	try "${nobody[@]}" ./able attach -d 1 --no-bars -o own/c.ev $child
	is "$status" 0 '... then it records that process' || diag "$err"
	ok '... with its faults' test "$(grep -c ' fault ' own/c.ev)" -ge 50
	kill $child
	rm able
fi

# ---- refusals ----

# refused ERROR LEVEL REGEX NAME
refused()
{
	try unshare -m sh -c 'mount --make-rprivate / && echo "$1" >"$2" && mount --bind "$2" /proc/sys/kernel/perf_event_paranoid &&
		shift 2 && exec "$@"' - "$2" "$T/paranoid" "${nobody[@]}" ./refuse "$1" ./pfscope run -- true
	like "$status|$err" "^1\|pfscope: [^"$'\n'"]*$3[^"$'\n'"]*\(see \`pfscope doctor\`\)\$" "$4"
}

refused EACCES 3 'kernel.perf_event_paranoid is 3: ' 'perf_event_paranoid 3: one line names it'
refused EACCES 4 'kernel.perf_event_paranoid is 4: ' 'perf_event_paranoid 4'
for error in EACCES EPERM ENOSYS; do
	refused $error 2 'seccomp filter' "a container's filter that returns $error"
done
done_testing
