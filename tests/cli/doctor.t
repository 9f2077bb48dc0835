#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope doctor: the facilities of this machine, for root and for an ordinary account, and of machines that lack some, as
# mount namespaces and a filter of system calls make them.

. "${0%/*}/../tap.sh"

# libtracefs does not free the path of tracefs.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

# facilities: of the JSON in $out, lines "STATE NAME|TEXT|FIX", and "source NAME" or "why REASON".
facilities()
{
	perl -MJSON::PP -0777 -ne '
		my $d = decode_json($_);
		print "$_->{state} $_->{name}|$_->{text}|", $_->{fix} // "", "\n" for @{$d->{facilities}};
		print defined $d->{source} ? "source $d->{source}" : "why $d->{why}", "\n"' <<<"$out"
}

# row NAME: its line.
row()
{
	facilities | grep "^[a-z]* $1|"
}

pfscope doctor --json
here=$status json=$(facilities)
like "$err" '^$' 'nothing on standard error'
like "$json" '(ok|lacks|fix) tracefs\|' 'JSON has facilities'
is "$(grep -vE '^(ok|lacks) [^|]+\|[^|]+\|$|^fix [^|]+\|[^|]+\|.+$|^(source (ftrace|stap|perf)|why .+)$' <<<"$json")" '' \
	'each has a state and a text, those of state fix a command'
is "$here" "$(grep -c '^why' <<<"$json")" 'the status is whether run can record here'
COLUMNS=80 pfscope doctor
is "$status" "$here" 'the table has the same status'
is "$(grep -oE '^(ok|--|fix) +.{1,23}' <<<"$out" | sed -E 's/^(ok|--|fix) +//; s/ +$//; s/   .*//' | cut -c1-23 | sed 's/ *$//')" \
	"$(sed -nE 's/^(ok|lacks|fix) ([^|]*)\|.*/\2/p' <<<"$json")" '... and the same facilities'
is "$(grep -v ' cannot record here' <<<"$out" | awk 'length > 80')" '' '... in 80 columns'
pfscope doctor --fix
is "$(sed -n 1p <<<"$out")" '#!/bin/sh' '--fix prints a script'
ok '... that a shell can read' sh -n "$T/out"
is "$(grep -vE '^#|^$' <<<"$out")" "$(sed -nE 's/^fix [^|]*\|[^|]*\|//p' <<<"$json")" '... of the commands of the table'

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && unshare -m true 2>/dev/null ||
	{ skip 'not root, or no namespaces' 'other accounts and machines'; done_testing; exit; }
chmod 755 "$T"
cp "$PFSCOPE" "$TOOLS/refuse" "$T"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# elsewhere SETUP COMMAND [ARG...]: after those shell commands, in a mount namespace.
elsewhere()
{
	try unshare -m sh -c "mount --make-rprivate /; $1 && shift && exec \"\$@\"" - "$@"
}

# ---- another account ----

elsewhere 'mount -t tracefs nodev /sys/kernel/tracing; :' "${nobody[@]}" "$T/pfscope" doctor --json
if like "$(row tracefs)" 'tracefs.*Permission denied: this needs root \(try sudo\)' 'an ordinary account may not use tracefs'; then
	is "$(row 'page-fault tracepoints')" '' '... and what is in it is not known'
fi
elsewhere : "$T/pfscope" doctor --json --user nobody
like "$(row 'without root')" 'without root\|' 'root sees what an account gets'
elsewhere : env SUDO_UID=65534 SUDO_GID=65534 "$T/pfscope" doctor --json
like "$(row 'without root')" 'nobody: |perf_event' '... by default the one that invoked sudo'

# What other commands would record through is what they say when they are run. Process 1 is root's.
elsewhere 'mount -t tracefs nodev /sys/kernel/tracing; :' "${nobody[@]}" "$T/pfscope" doctor --json
commands=$(perl -MJSON::PP -0777 -ne 'my $c = decode_json($_)->{commands}; print "$_ ", $c->{$_} // "none", "\n" for sort keys %$c' "$T/out")
is "$(grep -c . <<<"$commands")" 7 'each command that records has its source'
is "$(grep -vE '^(run|attach|top) ' <<<"$commands" | grep -v ' none$')" '' '... what only ftrace records has none without root'
is "$(grep -E '^attach --user|^run --count|^run --refault' <<<"$commands" | wc -l)" 3 '... options that only ftrace has among them'
like "$(row 'other accounts')" '^lacks .*CAP_PERFMON and CAP_SYS_PTRACE; `setcap .* '"$T/pfscope"\'' as root lets every account record every process\|$' \
	'processes of others: what they need, how one program gets it, and what that opens'
like "$(row tracefs)" 'gid=GROUP\) could read what others trace, but record nothing\|$' 'a group for tracefs: what that opens'
own=$commands
try "${nobody[@]}" "$T/pfscope" attach -d 1 1
like "$status|$err" '^1\|pfscope: process 1: .*`setcap .*\(see `pfscope doctor`\)$' 'attach to such a process: the same, and it leads to doctor'
try "${nobody[@]}" "$T/pfscope" attach -d 1 --user=nobody
like "$status|$err" '^1\|pfscope: .*Permission denied.*\(see `pfscope doctor`\)$' 'attach --user: not without root'
try "${nobody[@]}" "$T/pfscope" run --no-bars -- true
is "$status" "$(grep -c '^run none' <<<"$own")" '... and run does as the table says'
elsewhere 'mount -t tracefs nodev /sys/kernel/tracing; :' "${nobody[@]}" "$T/pfscope" doctor --fix
[ "$(grep -vcE '^#' "$T/out")" != 0 ] || like "$out" '# Nothing: no command changes what is missing\.$' '--fix with nothing to change says so'

# ---- no tracefs ----

none='umount -l /sys/kernel/tracing 2>/dev/null; umount -l /sys/kernel/debug 2>/dev/null; :'
elsewhere "$none" "$T/pfscope" doctor --json
is "$(row tracefs)" 'fix tracefs|tracefs is not mounted|mount -t tracefs nodev /sys/kernel/tracing' \
	'tracefs is not mounted: the command that mounts it'
elsewhere "$none" "$T/pfscope" doctor --fix
like "$out" $'\n# tracefs: tracefs is not mounted\nmount -t tracefs nodev /sys/kernel/tracing' '... is in the script'
elsewhere "$none" "$T/pfscope" doctor
like "$out" 'fix   tracefs .*not mounted:'$'\n'' +mount -t tracefs nodev /sys/kernel/tracing' '... and in the table'
elsewhere "$none" "$T/pfscope" run --source=ftrace -- true
like "$status|$err" '^1\|pfscope: tracefs is not mounted.*\(see `pfscope doctor`\)$' 'run leads to doctor'
elsewhere "$none" "${nobody[@]}" "$T/pfscope" clean
like "$status|$err" '^1\|pfscope: tracefs is not mounted.*\(see `pfscope doctor`\)$' 'so does clean'

# ---- perf events are refused ----

paranoid()
{
	echo "$1" >"$T/paranoid"
	echo "mount --bind '$T/paranoid' /proc/sys/kernel/perf_event_paranoid"
}

elsewhere "$(paranoid 3)" true
[ "$status" = 0 ] || { skip 'no file can be mounted over another' 'perf events are refused'; done_testing; exit; }
for level in 3 4; do
	elsewhere "$(paranoid $level)" "${nobody[@]}" "$T/refuse" EACCES "$T/pfscope" doctor --json
	is "$(row 'without root')" "fix without root|kernel.perf_event_paranoid is $level: only root gets perf events|sysctl kernel.perf_event_paranoid=2" \
		"perf_event_paranoid $level: the setting, and the command"
done
for error in EACCES EPERM ENOSYS; do
	elsewhere "$(paranoid 2)" "${nobody[@]}" "$T/refuse" $error "$T/pfscope" doctor --json
	like "$(row 'without root')" 'lacks .*\|a seccomp filter.*--cap-add=PERFMON' "a filter that returns $error: the container's option"
done
done_testing
