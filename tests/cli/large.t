#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The memory for rendering a large recording: none for its length, little for each page, region, process and thread.
# (tests/bench measures the time.)

. "${0%/*}/../tap.sh"

# The plain program: a sanitizer needs memory of its own.
PFSCOPE=${TOOLS%/tests/tools}/pfscope

# peak NAME SHAPE...: prints the KiB for rendering a recording of that shape; the output is in $T/NAME. The array
# `command` has another command.
command=(render --by-address)
peak()
{
	local name=$1

	shift
	"$TOOLS/dat_make" "$T/made.dat" "$@" &&
		"$TOOLS/spent" "$T/spent" "$PFSCOPE" "${command[@]}" "$T/made.dat" >"$T/$name" &&
		awk 'END { print $3 }' "$T/spent"
}

try env -C "$T" "$TOOLS/dat_make" --help
like "$status|$err|$(ls -A "$T")" $'^2\\|usage: dat_make [^\n]*\\|err\nout$' 'dat_make --help prints its usage and writes no file'

# within KIB LIMIT
within()
{
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}

small=$(peak small faults=100000 pages=1000)
long=$(peak long faults=3000000 pages=1000)
ok "thirty times as many faults need no more memory ($small KiB, $long KiB)" within "$long" $((small + 512))

# a page that was touched once takes little more than 4 bytes
wide=$(peak wide faults=1000000 pages=1000000)
ok "a million pages need 8 MiB at most (${wide} KiB)" within "$wide" $((small + 8192))
twice=$(peak twice faults=2000000 pages=1000000)
ok "a million pages that were touched again need 64 MiB at most (${twice} KiB)" within "$twice" $((small + 65536))
ok 'all of them are there' grep -q '977K/977K' "$T/twice"

regions=$(peak regions faults=300000 pages=100000 regions=100000 order=down)
ok "100,000 regions need 1 KiB each at most (${regions} KiB)" within "$regions" $((small + 100000))
is "$(grep -c ' rw-p ' "$T/regions")" 100000 'and are drawn'

procs=$(peak procs faults=300000 pages=300 procs=1000 regions=3)
ok "1,000 processes need 16 KiB each at most (${procs} KiB)" within "$procs" $((small + 16000))
is "$(grep -c '^pid ' "$T/procs")" 1000 'and are drawn'

# a window of the file is mapped for each CPU
few=$(peak few faults=300000 pages=1000 threads=8 cpus=8 burst=3)
threads=$(peak threads faults=300000 pages=1000 threads=500 cpus=8 burst=3)
ok "500 threads need 4 KiB each at most (${threads} KiB)" within "$threads" $((few + 2000))
ok "8 CPUs need 256 KiB each at most (${few} KiB)" within "$few" $((small + 2048))

command=(mrc --window 1ms,1s)
small=$(peak small faults=100000 pages=1000 order=random)
long=$(peak long faults=3000000 pages=1000 order=random)
ok "mrc: thirty times as many references need no more memory ($small KiB, $long KiB)" within "$long" $((small + 512))
wide=$(peak wide faults=2000000 pages=1000000)
ok "mrc: a million pages need 200 bytes each at most (${wide} KiB)" within "$wide" $((small + 200000))
command=(mrc --each-process)
procs=$(peak procs faults=300000 pages=300 procs=1000 regions=3 burst=300)
ok "mrc: 1,000 processes need 64 KiB each at most (${procs} KiB)" within "$procs" $((small + 64000))
is "$(grep -c '^pid ' "$T/procs")" 1000 'and each has its curve'

# Formats whose items are one a fault keep them in a temporary file.
for format in firefox perfetto pprof folded speedscope sqlite chrome html; do
	command=(export --to $format -o "$T/exported")
	small=$(peak small faults=50000 pages=1000)
	long=$(peak long faults=500000 pages=1000)
	ok "export --to $format: ten times as many faults need no more memory ($small KiB, $long KiB)" within "$long" $((small + 2048))
	# they are written by a second thread
	"$PFSCOPE" export --to $format "$T/made.dat" >"$T/again"
	ok "export --to $format: another time the same" cmp "$T/exported" "$T/again"
	case $format in
	folded) is "$(awk '{ n += $NF } END { print n }' "$T/again")" 500000 'folded: each fault is there' ;;
	chrome) is "$(grep -c '"name":"Fault"' "$T/again")" 500000 'chrome: each fault is there' ;;
	sqlite) is "$(sqlite3 "$T/again" 'select count(*) from fault')" 500000 'sqlite: each fault is there' ;;
	esac
done

done_testing
