# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What recording costs the traced program.

pages=${PAGES:-100000}

# section NAME COMMAND...: the seconds that the workload itself needed for its touches.
section()
{
	local name=$1

	shift
	"$@" >"$T/out" 2>"$T/err" || { cat "$T/err" >&2; exit 1; }
	awk -F= '/^t0_ns/ { t0 = $2 } /^t1_ns/ { t1 = $2 } END { print (t1 - t0) / 1e9 }' "$T/out" >>"$T/$name"
}

# The floor: the two events enabled for this process, and nobody reading.
bare_tracepoint()
{
	local status

	mkdir "$instance" || return
	echo 65536 >"$instance/buffer_size_kb"
	bash -c 'echo $$ >"$1/set_event_pid"; echo 1 >"$1/events/exceptions/enable"; shift; exec "$@"' - \
		"$instance" "$touch" "$pages" write anon
	status=$?
	echo 0 >"$instance/events/enable"
	rmdir "$instance"
	return $status
}

record_once()
{
	section untraced "$touch" "$pages" write anon
	section bare bare_tracepoint
	section run "$dir/pfscope" run --no-bars -- "$touch" "$pages" write anon
	section file "$dir/pfscope" run --no-bars -o "$T/one.dat" -- "$touch" "$pages" write anon
	section text "$dir/pfscope" run --no-bars --via text -- "$touch" "$pages" write anon
}

cost()
{
	awk -v s="$(median "$T/$1")" -v bare="$(median "$T/bare")" -v none="$(median "$T/untraced")" \
		-v n="$pages" -v what="$2" 'BEGIN {
		printf "%-42s %8.3f %12.2f %10.2f\n", what, s / n * 1e6, s / none, s / bare }'
}

for ((i = 0; i < rounds; i++)); do
	record_once
done
echo
echo "Cost of recording $pages first touches of anonymous memory, median of $rounds"
printf '%-42s %8s %12s %10s\n' '' 'us/fault' 'x untraced' 'x bare'
cost untraced 'untraced'
cost bare 'bare tracepoint, nobody reading'
cost run 'pfscope run'
cost file 'pfscope run -o'
cost text 'pfscope run --via text'
