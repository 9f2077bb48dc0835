# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For failing*.t: each allocation of a command fails in turn. pfscope reports it in one line, does not crash or hang, and gives no
# partial output its final name. (A failure without effect does not count: libc works without some buffers.)

# The plain program: a sanitizer has an allocator of its own, and cannot be traced.
PFSCOPE=${TOOLS%/tests/tools}/pfscope
preload=${TOOLS%/tools}/preload/fail_alloc.so
mkdir "$T/room"

# render and pictures go into a file, the others print.
into_file()
{
	[ "${words[0]}" = render ] || [ "${words[0]}" = archive ] || [[ ${words[*]} = plot\ --format=* ]]
}

# run_one [NAME=VALUE...] [COMMAND...]: with that in its environment, by that command. $target: what comes out of it. No more
# processes than that: there are thousands of runs.
run_one()
{
	if into_file; then target=$T/room/picture; else target=$T/output; fi
	(
		ulimit -t 20
		while [[ ${1-} = [A-Z]*=* ]]; do
			export "${1?}"
			shift
		done
		if into_file; then
			exec "$@" "$PFSCOPE" "${words[@]}" --output "$target" "$file" >"$T/printed" 2>"$T/err"
		else
			exec "$@" "$PFSCOPE" "${words[@]}" "$file" >"$target" 2>"$T/err"
		fi
	)
}

# judge STATUS NUMBER: of a run in which one thing failed.
judge()
{
	local lines left

	mapfile lines <"$T/err"
	shopt -s nullglob dotglob
	left=("$T"/room/*)
	shopt -u nullglob dotglob
	if [ "$1" = 0 ]; then
		cmp -s "$target" "$T/whole" || echo "number $2: status 0, but another output"
	elif [ "$1" -gt 2 ]; then
		echo "number $2: status $1: ${lines[*]: -1}"
	elif [[ ${#lines[@]} != 1 || ! ${lines[0]} =~ ^pfscope[\ a-z]*:\ .+$'\n' ]]; then
		echo "number $2: ${#lines[@]} lines: ${lines[*]:0:3}"
	elif [ ${#left[@]} != 0 ]; then
		echo "number $2: status $1, but left behind: ${left[*]}"
	else
		failed=$((failed + 1))
	fi
	[ ${#left[@]} = 0 ] || rm -f "${left[@]}"
}

# verdict NAME LEAST: $T/wrong has the errors; at least LEAST runs must have failed.
verdict()
{
	local wrong

	wrong=$(head -n 5 "$T/wrong")
	ok "$1: $failed failures, one line each" test -z "$wrong" || diag "$wrong"
	ok "$1: there were some" test "$failed" -ge "$2"
}

# FAIL_ALLOC_IN limits the failures to the callers in these objects. Of each EVERY allocations one fails (each).
EVERY=${EVERY:-1}
each_allocation()
{
	local nr

	run_one FAIL_ALLOC=0 FAIL_ALLOC_COUNT="$T/nr" LD_PRELOAD="$preload"
	cmp -s "$target" "$T/whole" || fail "${words[*]} of ${file##*/}: the same with the allocator watched"
	rm -f "$target"
	failed=0
	for ((nr = 1; nr <= $(<"$T/nr"); nr += EVERY)); do
		run_one FAIL_ALLOC=$nr LD_PRELOAD="$preload"
		judge $? $nr
	done >"$T/wrong"
	verdict "${words[*]} of ${file##*/}, allocations" $((50 / EVERY))
}

# each_command COMMAND...: all its allocations, of $file.
each_command()
{
	local command

	for command in "$@"; do
		read -ra words <<<"$command"
		run_one
		is "$?" 0 "$command of ${file##*/}: nothing fails by itself" || diag "$(<"$T/err")"
		mv "$target" "$T/whole"
		each_allocation
	done
}
