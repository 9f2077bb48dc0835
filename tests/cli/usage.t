#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Wrong usage and bad input: the exit status (0, 1 failure, 2 usage), one line on standard error that
# says what and where, nothing on standard output, no sanitizer's complaint. What needs a recording to
# be made (a command that is not found, ...) is under tests/live.

. "${0%/*}/../tap.sh"

good=$DATA/dat/v6.dat

# refused STATUS REGEX NAME PFSCOPE_ARG...: as said above.
refused()
{
	local wanted=$1 regex=$2 name=$3 lines

	shift 3
	pfscope "$@" </dev/null
	lines=$(wc -l <"$T/err")
	# argp adds a line that says where help is
	[ "$wanted" = 2 ] && [[ $err = *'--help'* ]] && [ "$lines" = 2 ] && lines=1
	like "$status|$(wc -c <"$T/out")|$lines|$err" "^$wanted\|0\|1\|pfscope[^|]*$regex" "$name"
}

# ---- usage ----

pfscope
like "$status|$out|$err" '^2\|\|Usage: pfscope' 'without a command: usage, on standard error'
for help in --help -h help; do
	pfscope $help
	like "$status|$err|$out" '^0\|\|Usage: pfscope.*Examples' "$help: on standard output"
done
pfscope help render
like "$status|$out" '^0\|Usage: pfscope render' 'help COMMAND'
for version in --version -V; do
	pfscope $version
	like "$status|$out" '^0\|pfscope [0-9]+\.[0-9]+\.[0-9]+$' "$version"
done
is "$("$PFSCOPE" run --help | sed -nE 's/^ +-., (--[a-z-]+).*/\1/p' | head -n 1)" --output-file 'run --help begins with what is used most'
is "$("$PFSCOPE" attach --help | sed -nE 's/^ +-., (--[a-z-]+).*/\1/p' | head -n 1)" --duration 'attach --help, too'
refused 2 'frob: no such command' 'unknown command' frob
refused 2 'rednr: no such command; did you mean .render.\?' 'a command that is nearly one' rednr
refused 2 'full and --classic: only one' 'two forms of bars' render --full --classic x
refused 2 'full and --names: only one' '... with names' render --full --names x
refused 2 'top and --by-address: only one of them' 'a number of rows for what draws all' render --top=5 --by-address x
refused 2 'classic and --sort: only one of them' 'an order for what has one' render --classic --sort=faults x
refused 2 'top and --all: only one of them' 'a number of rows and all' render --top=5 --all x
refused 2 'check: prints lines of text' 'report --check --json' report --check --json x
refused 2 'check: prints lines of text' 'report --check --by' report --check --by file x
refused 2 'check: prints lines of text' 'report --check --top' report --top 3 --check x
for command in events maps pages diff; do
	refused 2 'json, --csv and --format: only one' "$command: two formats" $command --json --csv x y
done
refused 2 'json, --csv and --format: only one' 'two formats' report --json --csv x
refused 2 'json, --csv and --format: only one' '... one by its name' mrc --json --format csv x
refused 2 '--by: pages: must be file, process, region, thread, class, page-size, node, function, line, stack, module or instruction' 'report --by pages' report --by file,pages x
refused 2 '--top: 0: must be a number of lines' 'report --top 0' report --top 0 x
refused 2 '--format: xml: must be text, json or csv' 'events --format=xml' events --format=xml x
for command in events maps report pages mrc; do
	for format in json csv; do
		is "$("$PFSCOPE" $command --format=$format "$good" 2>&1)" "$("$PFSCOPE" $command --$format "$good" 2>&1)" "$command --format=$format is --$format"
	done
done
for command in run attach top render events maps pages report diff tape mrc plot kmap clean doctor stap; do
	is "$("$PFSCOPE" $command -h 2>&1)" "$("$PFSCOPE" $command --help)" "$command -h is --help"
done
refused 2 'no such command' 'a command with control characters' $'fr\e[31mob'
unlike "$err" $'\e' '... which are escaped'
refused 2 'no such command' 'help for an unknown command' help frob
for command in run attach top render events maps pages report diff tape mrc plot kmap clean doctor stap; do
	refused 2 "unrecognized option '--frob'" "$command: unknown option" $command --frob
done
refused 2 "'--regoin=x'; did you mean --region\?" 'an option that is nearly one' render --regoin=x
refused 2 "'--zram2'; did you mean --zram\?" 'also of a source or a child' run --refault 1s --zram2 1G -- true
unlike "$(pfscope render --smoke; echo "$err")" 'did you mean' 'one that is not gets no guess'
refused 2 'no command given' 'run without a command' run
refused 2 'no process, command or recording given' 'top without anything' top
refused 2 'only one of them' 'top of a process and a command' top 1 -- true
refused 2 'only one of them' 'top of a user and a process' top --user root 1
refused 2 '/b: only one recording' 'top of two recordings' top /a /b
refused 2 'speed: only with a recording' 'top --speed of a process' top --speed 2 1
for speed in 0 -1 x 1s; do
	refused 2 "--speed: $speed: must be a number" "top --speed $speed" top --speed="$speed" /a
done
refused 2 'output-file: not with a recording' 'top -o of a recording' top -o x /a
refused 2 'standard input has the keys' 'top -' top -
refused 2 'standard input and output must be a terminal' 'top without a terminal' top /a
refused 2 'record: no command, --pid or --all given' 'kmap record of nothing' kmap record
refused 2 'record: --pid: not with a command or --all' 'kmap record of two things' kmap record --pid 1 -- true
refused 2 'only with .kmap record' 'an option of the recorder without it' kmap --all "$good"
refused 2 'are of printing' 'an option of printing while recording' kmap record --stats -- true
refused 2 'only one recording' 'two recordings' kmap "$good" "$good"
for size in x '' - 128-64 1x -1-2; do
	refused 2 '--size: ' "--size '$size'" kmap --size="$size" "$good"
done
for pid in x '' 0 1, ,1 -5 4294967297; do
	refused 2 '--pid: ' "kmap --pid '$pid'" kmap --pid="$pid" "$good"
done
refused 2 'attach: no process given' 'attach without a process' attach
for pid in 0 -- -1 1x '' 4294967296 99999999999999999999; do
	[ "$pid" = -- ] && continue
	refused 2 'not a process ID' "attach to '$pid'" attach -- "$pid"
done
for width in 39 0 -1 x '' 80x 10001; do
	refused 2 '--width: .*columns' "--width '$width'" render --width "$width" "$good"
done
for time in x '' . @ 1m 1e3 0x10 -1 1.2.3 99999999999999999999; do
	refused 2 "--at: '.*' is no time" "--at '$time'" render --at "$time" "$good"
done
for pid in x '' 0 1, ,1 -5 4294967297; do
	refused 2 '--pid: ' "--pid '$pid'" render --pid "$pid" "$good"
done
refused 2 '--color: ' '--color=green' render --color=green "$good"
refused 2 '--via: ' 'run --via smoke' run --via smoke -- true
refused 2 '--compress: no file given' 'run --compress without -o' run --compress -- true
refused 2 '--compress: --via=text writes text' 'run --compress --via=text' run --compress --via=text -o x -- true
for interval in 0 1us x 0.0001 -1ms ''; do
	refused 2 '--refault: ' "run --refault=$interval" run --refault="$interval" -- true
done
for size in 5 0 x 1K 99999999999T -1G; do
	refused 2 '--zram: ' "run --zram $size" run --refault 1s --zram="$size" -- true
done
for n in 1 2 x -2 '' 99999999999; do
	refused 2 '--refault-quiet: ' "run --refault-quiet=$n" run --refault 1s --refault-quiet="$n" -- true
done
refused 2 '--refault-by: ' 'run --refault-by smoke' run --refault 1s --refault-by smoke -- true
for option in --zram=1G --refault-by=pageout --refault-quiet=3; do
	refused 2 '--refault INTERVAL' "run $option alone" run $option -- true
done
for method in hide numa idle soft-dirty; do
	refused 2 '--zram: only with --refault-by=pageout' "run --zram --refault-by=$method" run --refault 1s --zram 1G --refault-by=$method -- true
done
for method in numa idle; do
	refused 2 '--refault-quiet: only with --refault-by=hide, pageout or soft-dirty' "run --refault-quiet --refault-by=$method" run --refault 1s --refault-quiet 3 \
		--refault-by=$method -- true
done
refused 2 '--refault: no process given .--source=stap needs PIDs' 'attach --source=stap --refault --user' attach --source=stap --refault 1s --user root
refused 2 '--compress: only with --source=ftrace' 'attach --compress --source=stap' attach --compress --source=stap -o x 1
refused 2 '--events: ' 'run --events=xml' run --events=xml -- true
for kb in 0 7 4K 17G 64MB x 8k 99999999999; do
	refused 2 '--buffer-size: ' "run -b $kb" run -b $kb -- true
done
for seconds in 0 -1 x inf nan ''; do
	refused 2 '--duration: ' "attach -d '$seconds'" attach -d "$seconds" 1
done
refused 2 'only one recording' 'two files' render "$good" "$good"
refused 2 'x: unexpected argument' 'clean with a name' clean x
refused 2 'x: unexpected argument' 'doctor with a name' doctor x
refused 2 'json and --fix: only one' 'doctor with two forms' doctor --json --fix
refused 1 'nobody-here: no such user' 'doctor for an unknown account' doctor --user nobody-here

# ---- files that are no recording ----

for command in render events maps report; do
	refused 1 'none: No such file' "$command: a missing file" $command "$T/none"
	refused 1 'directory' "$command: a directory" $command "$T"
	: >"$T/empty"
	refused 1 'empty' "$command: an empty file" $command "$T/empty"
	refused 1 'offset 0: not a recording' "$command: a program" $command /bin/ls
done
refused 1 'standard input: is empty' 'nothing on standard input' render -
head -c 300000 /dev/zero >"$T/zeroes"
refused 1 'not a recording' 'zeroes' render "$T/zeroes"
printf '\x17\x08\x44' >"$T/magic"
refused 1 'not a recording|offset' 'half a magic number' render "$T/magic"
echo 'hello world' >"$T/prose"
refused 1 'not a recording' 'prose' render "$T/prose"
: >"$T/secret"
chmod 0 "$T/secret"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T"
	try setpriv --reuid 65534 --regid 65534 --clear-groups cat "$PFSCOPE"
	if [ "$status" = 0 ]; then
		try setpriv --reuid 65534 --regid 65534 --clear-groups "$PFSCOPE" render "$T/secret"
		like "$status|$out|$err" '^1\|\|pfscope: .*secret: Permission denied: it belongs to root' 'an unreadable file'
		for command in "attach $$" clean; do
			# libtracefs does not free the path of tracefs
			ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 \
				try setpriv --reuid 65534 --regid 65534 --clear-groups "$PFSCOPE" $command
			like "$status|$err" '^1\|pfscope: .*(needs root \(try sudo\)|: try sudo, or )' "${command% *} without root: what to do"
		done
	else
		skip 'the program lies where only root can read' 'an unreadable file'
	fi
elif [ "$(id -u)" != 0 ]; then
	refused 1 'secret: Permission denied' 'an unreadable file' render "$T/secret"
else
	skip 'no setpriv(1)' 'an unreadable file'
fi
printf '# pfscope events 99\n1.0 note key="a" value="b"\n' >"$T/newer"
refused 1 'version' 'event lines of a newer version' render "$T/newer"

# ---- truncated and damaged recordings ----

# cut FILE LENGTH: its beginning.
cut_at()
{
	head -c "$2" "$1" >"$T/cut"
}

for name in v6 v7-none v7-zstd pfs-v6; do
	file=$DATA/dat/$name.dat
	size=$(stat -c %s "$file")
	for length in 11 37 900 2600 $((size / 3)) $((size / 2)) $((size - 4097)); do
		[ "$length" -lt "$size" ] || continue
		cut_at "$file" $length
		pfscope render "$T/cut"
		if [ "$status" = 0 ]; then	# what is missing need not matter: only unused space at the end
			like "$out" 'faults?,' "$name.dat cut at $length: whole all the same"
			continue
		fi
		like "$status|$out|$err" '^1\|\|pfscope: [^|]*cut: offset [0-9]+: ' "$name.dat cut at $length: the offset is named"
		pfscope render --salvage "$T/cut"
		like "$status" '^[01]$' "... and --salvage does not fall over it"
		[ "$status" = 1 ] || like "$err" 'damaged in [0-9]+ place' '... but says what is missing'
	done
done
# While it is read. (The plain program: a sanitizer has a handler of its own.)
mkdir "$T/room"
truncated()
{
	rm -f "$T/room/out"
	cp "$DATA/text/small.dat" "$T/cut"
	eval "WHEN=$1 TRUNCATE='$T/cut' LD_PRELOAD='${TOOLS%/tools}/preload/truncate.so' '${TOOLS%/tests/tools}/pfscope' \
		${2/ / '$T/cut' } '$T/room/out'" 2>"$T/err"
	status=$?
	err=$(<"$T/err")
}
for command in 'render --output' 'plot --format=svg --output' 'tape --output' 'report --salvage >'; do
	truncated populated "$command"
	is "$status|$err" '1|pfscope: a file was truncated while it was being read, or cannot be read' \
		"$command: truncated while it is read"
	[ "$command" != "${command%>}" ] || is "$(ls -A "$T/room")" '' '... no output is left'
done
truncated mapped 'tape --output'
like "$status|$err" '^1\|pfscope: .*/cut: offset [0-9]+: cannot read: the file became shorter$' 'before it is read: the offset is named'
is "$(ls -A "$T/room")" '' '... no output is left'
truncated mapped 'report --salvage >'
like "$status|$err" '^0\|pfscope: .*/cut: damaged in [0-9]+ places?, the rest is shown' '... and --salvage shows the rest'
rm -r "$T/room"
cut_at "$DATA/text/small.dat" 60000
pfscope render "$T/cut"
is "$status" 1 'a large recording, cut: refused'
pfscope render --salvage "$T/cut"
like "$status|$out" '^0\|.*faults? .*[0-9]+ pages? touched' '--salvage draws what is there'
pfscope events --salvage "$T/cut"
[ "$(grep -c ' fault ' "$T/out")" -gt 0 ]
is "$status$?" 00 'events --salvage: and prints it'

# Bytes changed at random places, the same in each run: no crash, and a failure is a message.
RANDOM=4711
crashes=
for ((i = 0; i < 150; i++)); do
	files=("$DATA"/dat/*.dat "$DATA"/text/report.txt "$DATA"/text/kernel-pipe.trace)
	file=${files[i % ${#files[@]}]}
	cp "$file" "$T/cut"
	size=$(stat -c %s "$file")
	for ((n = 0; n < 1 + i % 7; n++)); do
		at=$(((RANDOM * 32768 + RANDOM) % size))
		[ $((i % 2)) = 0 ] || at=$((at % 1500))		# heads have the interesting numbers
		printf "\\x$(printf %02x $((RANDOM % 256)))" |
			dd of="$T/cut" bs=1 seek=$at conv=notrunc status=none
	done
	for salvage in '' --salvage; do
		pfscope render $salvage "$T/cut"
		[[ $status$err =~ ^(0|1pfscope:) ]] && [ "$status" -lt 2 ] || {
			crashes="$crashes $i($status)"
			diag "damage $i of ${file##*/}: status $status: $(head -n 3 <<<"$err")"
		}
	done
done
is "$crashes" '' 'changed bytes: 300 readings, no crash'

# ---- text ----

{ echo 'not an event'; cat "$DATA/text/report.txt"; echo 'nor this'; } >"$T/garbage"
pfscope render "$T/garbage"
like "$status|$err" '^0\|pfscope: .*: lines that are not events: 2 .first: line 1.$' \
	'text: lines that are no event are counted and named'
mv "$T/out" "$T/a"
"$PFSCOPE" render "$DATA/text/report.txt" >"$T/b"
same "$T/a" "$T/b" '... and change nothing'
{ "$PFSCOPE" events "$good"; echo '12.5 fault addr=zero'; echo '12.6 frobnicate x=1'; } >"$T/garbage"
pfscope render "$T/garbage"
like "$status|$err" '^0\|.*lines that are not events: 1 .first: line [0-9]+, column [0-9]+: ' \
	'event lines: the same, with line and column'
like "$err" 'newer pfscope: 1 events' '... and unknown kinds are counted'

# ---- recordings without page-fault events ----

# without NAMES COMMAND STATUS FILE: one line names what it holds and what to record; status 1 prints nothing else.
without()
{
	local line="$4: no page-fault events${1:+, only $1} (\`pfscope events --needed\` prints how to record them)"

	# shellcheck disable=SC2086
	pfscope $2 "$4"
	is "$status|$err" "$3|pfscope: $line" "$2 of ${4##*/}: says so"
	like "$3${out:+-}" '^(0-|1)$' '... and shows the rest, or nothing'
}

# The same recordings with other names of the same length in the formats, or with other numbers of the events.
renamed() { LC_ALL=C sed "s/name: $2/name: $3/" "$DATA/$1"; }
renumbered() { LC_ALL=C sed '/name: page_fault_/{n;s/ID: 1/ID: 5/}' "$DATA/$1"; }
renamed text/small.dat page_fault page_error >"$T/layout.dat"
renamed text/small.dat . z >"$T/other.dat"
LC_ALL=C sed 's/: page_fault/: page_error/' "$DATA/text/report.txt" >"$T/layout.txt"
printf '  sh-12  [000] d..2.  5120.000%d00: sched_%s: pid=12\n' 1 switch 2 wakeup 3 switch >"$T/other.txt"
echo '# tracer: nop' >"$T/none.txt"
layout_dat='exceptions:page_error_user, exceptions:page_error_kernel, maple_tree:ma_write, filemap:mm_filemap_map_pages, ...'
other_dat='exceptions:zage_fault_user, exceptions:zage_fault_kernel, maple_tree:za_write, filemap:zm_filemap_map_pages, ...'
layout_txt='task_rename, ma_write, page_error_kernel, mm_filemap_fault, ...'
for command in render 'render --at 1' 'render --classic' report 'report --json' maps events 'events --json' mrc tape plot; do
	case $command in mrc | tape | plot) wanted=1 ;; *) wanted=0 ;; esac
	without "$layout_dat" "$command" $wanted "$T/layout.dat"
	without "$layout_txt" "$command" $wanted "$T/layout.txt"
	without "$other_dat" "$command" 1 "$T/other.dat"
	without 'sched_switch, sched_wakeup' "$command" 1 "$T/other.txt"
	without '' "$command" 1 "$T/none.txt"
done
without "$other_dat" 'events --all' 0 "$T/other.dat"
without 'sched_switch, sched_wakeup' 'events --all' 0 "$T/other.txt"
refused 1 'layout.dat: no page-fault events' 'tape -o: makes no file' tape -o "$T/tape" "$T/layout.dat"
[ -e "$T/tape" ]
is $? 1 '... none'
# Recorded, but none happened; recorded by pfscope, which writes down what it records.
renumbered dat/v6.dat >"$T/legal.dat"
renamed dat/pfs-v6.dat page_fault page_error >"$T/own.dat"
trace-cmd report "$T/own.dat" 2>/dev/null >"$T/own.txt"
[ -s "$T/own.txt" ] || rm "$T/own.txt"
for file in "$T/legal.dat" "$T"/own.*; do
	for command in render report events; do
		pfscope $command "$file"
		is "$status|$err" '0|' "$command of ${file##*/} without a fault: no complaint"
		unlike "$out" ' fault ' '... and without a fault it is'
	done
done

# ---- writing ----

for command in render events maps report; do
	"$PFSCOPE" $command "$good" >/dev/full 2>"$T/err"
	status=$?
	like "$status|$(cat "$T/err")" '^1\|pfscope: .*No space left' "$command: a full disk is noticed"
	err=$( (ulimit -f 0; exec "$PFSCOPE" $command "$good" >"$T/limited") 2>&1)
	like "$?|$err" '^1\|pfscope: .*File too large$' "$command: so is a limit on the size of files"
done
err=$( (ulimit -f 0; exec "$PFSCOPE" render --output "$T/limited" "$good") 2>&1)
is "$?|$err|$(ls "$T"/limited*)" "1|pfscope: writing the bars: File too large|$T/limited" \
	'--output: the same, and nothing is left'
refused 1 'x: cannot write: No such file' '--output into a missing folder' render --output "$T/no/x" "$good"
"$PFSCOPE" events "$DATA/text/small.dat" 2>"$T/err" | head -n 1 >/dev/null
is "$(grep -c Sanitizer "$T/err")" 0 'a reader that goes away is no accident'

done_testing
