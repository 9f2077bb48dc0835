#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/run itself: its verdict on a file that passes, fails, dies, skips or exceeds its time, and its last line.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1
mkdir "$T/cli" "$T/live" "$T/vm"

# file GROUP/NAME <SCRIPT: a test script of that group.
file()
{
	cat - >"$T/$1.t"
}

# run_tests GROUP/NAME...: sets $status, $out, $err and $last, the last line of the output.
run_tests()
{
	local files=("${@/#/$T/}")

	try env CI="${ci-}" tests/run ${again-} -O "${plain:-$BUILD}" -S "$BUILD" "${files[@]/%/.t}"
	last=$(tail -n 1 "$T/out")
}
plain=${TOOLS%/tests/tools}

# verdict GROUP/NAME STATUS LAST NAME...: of one file.
verdict()
{
	run_tests "$1"
	is "$status $last" "$2 $3" "${@:4}" || diag "$out$err"
}

file cli/good <<<'echo "1..2"; echo "ok 1 - one"; echo "ok 2 - two"; echo "# a remark"'
verdict cli/good 0 '2 passed, 0 failed, 0 skipped' 'a file that passes'
unlike "$out" 'a remark' '... whose output is not shown'

file cli/late_plan <<<'echo "ok 1 - one"; echo "1..1"'
verdict cli/late_plan 0 '1 passed, 0 failed, 0 skipped' 'a plan at the end'

file cli/bad <<<'echo "1..2"; echo "ok 1 - one"; echo "not ok 2 - two"; echo "# got: 3"; exit 1'
verdict cli/bad 1 '1 passed, 1 failed, 0 skipped' 'a file that fails'
like "$out" $'not ok 2 - two\n *# got: 3' '... whose failure is shown with its remark'

file cli/bad_status <<<'echo "1..1"; echo "ok 1 - one"; exit 1'
verdict cli/bad_status 1 '1 passed, 1 failed, 0 skipped' 'an exit status of its own is a failure'

file cli/short <<<'echo "1..3"; echo "ok 1 - one"'
verdict cli/short 1 '1 passed, 1 failed, 0 skipped' 'fewer tests than planned'

file cli/no_plan <<<'echo "ok 1 - one"'
verdict cli/no_plan 1 '1 passed, 1 failed, 0 skipped' 'no plan'

file cli/silent <<<':'
verdict cli/silent 1 '0 passed, 1 failed, 0 skipped' 'no output'

file cli/dies <<<'echo "1..1"; echo "ok 1 - one"; kill -SEGV $$'
verdict cli/dies 1 '1 passed, 1 failed, 0 skipped' 'a file that dies by a signal'

file cli/tap <<EOF_TAP
. "$ROOT/tests/tap.sh"
pass one
exit 0
EOF_TAP
verdict cli/tap 1 '1 passed, 1 failed, 0 skipped' 'a file that ends before done_testing'

printf '#!/bin/bash\n# timeout: 1\necho "1..1"; sleep 30; echo "ok 1 - slept"\n' | file cli/slow
begun=$SECONDS
verdict cli/slow 1 '0 passed, 1 failed, 0 skipped' 'a file that exceeds its time'
like "$out" 'time limit exceeded: 1 s' '... and the limit is shown'
ok '... and is ended then' test $((SECONDS - begun)) -lt 20

file cli/leaves <<<'sleep 30 & echo "1..1"; echo "ok 1 - one"'
begun=$SECONDS
verdict cli/leaves 0 '1 passed, 0 failed, 0 skipped' 'a file that leaves a process behind'
ok '... is not waited for longer than it runs' test $((SECONDS - begun)) -lt 20

for group in cli live; do
	file $group/skip_one <<<'echo "1..2"; echo "ok 1 - one # SKIP no means"; echo "ok 2 - two"'
	file $group/skip_all <<<'echo "1..0 # SKIP no means at all"'
done
verdict cli/skip_one 0 '1 passed, 0 failed, 1 skipped' 'one test is skipped'
like "$out" 'skipped: one: no means' '... with its reason'
verdict cli/skip_all 0 '0 passed, 0 failed, 1 skipped' 'a file is skipped'
like "$out" 'no means at all' '... with its reason'
verdict live/skip_one 0 '1 passed, 0 failed, 1 skipped' 'a live test may be skipped'
ci=true
verdict cli/skip_one 0 '1 passed, 0 failed, 1 skipped' 'CI: a cli test may be skipped'
verdict live/skip_one 1 '1 passed, 1 failed, 0 skipped' 'CI: a skipped live test is a failure'
like "$out" 'skipped in CI: no means' '... with the reason'
verdict live/skip_all 1 '0 passed, 1 failed, 0 skipped' 'CI: a skipped live file is a failure'
like "$out" 'skipped in CI: no means at all' '... with the reason'
ci=

run_tests cli/good cli/bad cli/skip_one live/skip_all
is "$status $last" '1 4 passed, 1 failed, 2 skipped' 'the last line sums up several files'

# Once more: a file that fails at first, one that always fails, and more files than are repeated.
file live/shaky <<EOF_SHAKY
echo 1..2; echo "ok 1 - one"
test -e $T/ran && echo "ok 2 - two" || echo "not ok 2 - two"
touch $T/ran
EOF_SHAKY
verdict live/shaky 1 '1 passed, 1 failed, 0 skipped' 'a file that fails is not repeated by itself'
again=-r
rm "$T/ran"
verdict live/shaky 0 '2 passed, 0 failed, 0 skipped' '-r: its second result counts'
like "$out" 'not ok 2 - two' '... the first failure is shown'
like "$out" $'\npassed only when it ran again: '"$T/live/shaky.t" '... and the file is named'
verdict cli/bad 1 '1 passed, 1 failed, 0 skipped' '-r: a file that fails twice has failed'
unlike "$out" 'passed only' '... and nothing else is printed of it'
rm "$T/ran"
for nr in 1 2 3 4 5 6 7 8; do
	file cli/bad$nr <<<'echo "1..1"; echo "not ok 1"'
done
run_tests live/shaky cli/bad{1..8}
is "$status $last" '1 1 passed, 9 failed, 0 skipped' '-r: if many files fail none is repeated'
again=

# Sanitizers: unit and cli tests run the build of -S, all others that of -O. Fake builds show which one it was.
mkdir "$T/plain" "$T/san"
printf '#!/bin/sh\n' | tee "$T/plain/pfscope" >"$T/san/pfscope"
chmod +x "$T"/{plain,san}/pfscope
for group in cli live; do
	file $group/which <<<'echo "1..1"; echo "not ok 1 - ${PFSCOPE%/*} ${BUILD##*/} ${TOOLS%/tests/tools}"'
done
for pair in cli:san live:plain; do
	try tests/run -O "$T/plain" -S "$T/san" "$T/${pair%:*}/which.t"
	like "$out" "not ok 1 - $T/${pair#*:} ${pair#*:} $T/plain" "${pair%:*} tests run the program in ${pair#*:}"
done
printf '#!/bin/sh\necho "1..1"; echo "ok 1 - $CMOCKA_MESSAGE_OUTPUT"\n' >"$T/san/unit"
chmod +x "$T/san/unit"
try tests/run -O "$T/plain" -S "$T/san" "$T/san/unit"
is "$status $(tail -n 1 <<<"$out")" '0 1 passed, 0 failed, 0 skipped' 'a program is a unit test'
rm "$T/san/pfscope"
try tests/run -O "$T/plain" -S "$T/san" "$T/cli/good.t"
like "$status $err" "^[1-9].*$T/san/pfscope is missing" 'nothing runs without a build'

# vm: three at a time, those with the longest limit first.
for nr in 1 2 3 4; do
	printf '# timeout: %s\nnow=${EPOCHREALTIME/./}; sleep 1; echo "%s $now ${EPOCHREALTIME/./}" >>%s\necho "1..1"; echo "ok 1"\n' \
		$((nr * 10)) $nr "$T/order" | file vm/$nr
done
run_tests vm/1 vm/2 vm/3 vm/4
is "$status $last" '0 4 passed, 0 failed, 0 skipped' 'vm files'
is "$(sort -k2n "$T/order" | tail -n 1 | cut -d' ' -f1)" 1 'the one with the shortest limit starts last'
is "$(awk '{ print $2, 1; print $3, -1 }' "$T/order" | sort -n |
	awk '{ n += $2; if (n > most) most = n } END { print most }')" 3 'three of them run at a time'
done_testing
