#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Records the programs that examples/README.md has plots of, and draws them. Needs root, and what it records: gcc,
# python3, sort, sqlite3. What make has to build for it, it has built.
#
#     examples/plots.sh [NAME...]		compiler python compare matmul-ij matmul-ji sort again sqlite leak; all of
#					them without
#
# THEME: light (the default) or dark. PFSCOPE: the program (that of BUILD). TO: where pictures go (examples). BUILD: where make builds (build).

set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build} to=${TO:-examples}
pfscope=${PFSCOPE:-$build/pfscope}
[ "${PFSCOPE:-}" ] || make -s O="$build" "$build/pfscope" >/dev/null
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

# take NAME COMMAND...: records it.
take()
{
	local name=$1

	shift
	"$pfscope" run --no-bars "${record[@]}" -o "$T/$name.dat" -- "$@" >/dev/null
}

# draw NAME TITLE OPTION... RECORDING...
draw()
{
	local name=$1 title=$2

	shift 2
	"$pfscope" plot -o "$to/plot-$name.png" --theme "$theme" --title "$title" --size "$size" "$@"
	echo "$to/plot-$name.png"
}

# shot NAME TITLE OPTION... -- COMMAND...
shot()
{
	local name=$1 title=$2 options=()

	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	take "$name" "${@:2}"
	draw "$name" "$title" "${options[@]}" "$T/$name.dat"
}

record=()	# more options of run
size=1000x720 theme=${THEME:-light}

[ $# -gt 0 ] || set -- compiler python compare matmul-ij matmul-ji sort again sqlite leak
for name; do
	case $name in
	compiler) shot $name 'gcc -O2 -c: the compiler proper' --comm cc1 -- \
		gcc -O2 -std=gnu11 -D_GNU_SOURCE -Ilib -c -o "$T/escape.o" lib/base/escape.c ;;
	python) shot $name "python3 -c 'import json'" -- /usr/bin/python3 -c 'import json' ;;
	compare)
		take one /usr/bin/python3 -c 'import json'
		take two /usr/bin/python3 -c 'import json, decimal'
		size=1000x1300 draw $name 'python3: A import json, B import json, decimal' --compare "$T/one.dat" "$T/two.dat" ;;
	matmul-*) make -s O="$build" "$build/examples/matmul" >/dev/null ;;&
	matmul-ij) shot $name 'matmul ij: row by row' --region '?00000000-*' -- "$build/examples/matmul" ij ;;
	matmul-ji) shot $name 'matmul ji: column by column' --region '?00000000-*' -- "$build/examples/matmul" ji ;;
	sort)
		seq 300000 | awk '{ print $1 * 7919 % 300007 }' >"$T/numbers"
		shot $name 'sort of 300000 numbers' --color-by thread -- \
			sort -n -S 64M --parallel=2 -o "$T/sorted" "$T/numbers" ;;
	again)
		seq 2000000 | awk '{ print $1 * 7919 % 2000003 }' >"$T/numbers"
		record=(--refault 50ms --zram 512M)
		shot $name 'sort of 2,000,000 numbers: what it uses, again and again' --region anon,heap --heat -- \
			sort -n -S 256M --parallel=1 -o "$T/sorted" "$T/numbers"
		record=() ;;
	sqlite) shot $name 'sqlite3: a table of 100000 rows, an index, a query' --heat -- sqlite3 :memory: \
		"CREATE TABLE t (a INTEGER, b TEXT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
			INSERT INTO t SELECT i * 7919 % 100003, 'row ' || i FROM n;
		CREATE INDEX x ON t (a);
		SELECT count(*) FROM t WHERE a BETWEEN 1000 AND 50000;" ;;
	leak)	# recorded by examples/leak.sh
		"$pfscope" kmap --plot="$to/plot-$name.png" --theme "$theme" examples/leak.events
		echo "$to/plot-$name.png" ;;
	*)
		echo "$name: no such example" >&2
		exit 2 ;;
	esac
done
