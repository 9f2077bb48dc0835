#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope stap and the options of --source=stap, without root and without SystemTap: what is printed and
# refused, what is missing, and the cache, with a stap that only pretends. Real modules: tests/vm.

. "${0%/*}/../tap.sh"

# refused STATUS REGEX NAME PFSCOPE_ARG...: one line on standard error, nothing on standard output. With
# $path as PATH, if that is set.
refused()
{
	local wanted=$1 regex=$2 name=$3 lines

	shift 3
	try env PATH="${path:-$PATH}" "$PFSCOPE" "$@" </dev/null
	lines=$(wc -l <"$T/err")
	[ "$wanted" = 2 ] && [[ $err = *'--help'* ]] && [ "$lines" = 2 ] && lines=1
	like "$status|$(wc -c <"$T/out")|$lines|$err" "^$wanted\|0\|1\|pfscope[^|]*$regex" "$name"
}

# ---- what makes no sense ----

refused 2 'no step given' 'stap alone' stap
refused 2 'frob: must be print, check or build' 'stap frob' stap frob
refused 2 'check: only one step can be given' 'two steps' stap print check
refused 2 'build: no file given' 'build without a file' stap build
refused 2 '-o: only with build' 'print with a file' stap print -o x.ko
for file in x.so X.ko a-b.ko .ko dir/.ko "$(printf 'x%.0s' {1..60}).ko"; do
	refused 1 'a module name must be' "build -o $file" stap build -o "$file"
done
if command -v stap >/dev/null; then
	refused 1 'not a kernel release' 'a release that is a path' stap build -r ../x -o x.ko
else
	skip 'no stap' 'a release that is a path'
fi
refused 2 '--source: kprobe: must be auto, ftrace, stap or perf' '--source of no source' run --source=kprobe -- true
refused 2 '--via: only with --source=ftrace' '--via with stap' run --source=stap --via=text -- true
for option in --probes --latency --classify --histogram --count; do
	refused 2 "$option: only with --source=ftrace" "$option with stap" run --source=stap $option -- true
done
refused 2 '--module: only with --source=stap' '--module with ftrace' run --source=ftrace --module=x.ko -- true
refused 2 '--no-dwarf: only with --source=stap' '--no-dwarf with ftrace' attach --source=ftrace --no-dwarf $$
refused 2 '--microset: 3: must be N' '--microset of too few pages' run --source=stap --microset=3 -- true
refused 2 '--microset: 8,cpu: must be N' '--microset of nobody' run --microset=8,cpu -- true
refused 2 '--microset-region: house: must be a list' '--microset-region of none' run --microset=8 --microset-region=house -- true
refused 2 '--microset-region: nothing is hidden' '--microset-region alone' run --microset-region=heap -- true
refused 2 '--microset: only with --source=stap' '--microset with perf' attach --source=perf --microset=8 $$
refused 2 'no such user' '--user of nobody there, with ftrace' attach --user=no-such-user
refused 2 'no process given .--comm without a PID: only with --source=stap' '--comm without a process, with ftrace' attach --comm=x
refused 2 'no such user' '--user of nobody there' attach --source=stap --user=no-such-user
refused 2 '--no-dwarf: applies to building' '--module and --no-dwarf' run --source=stap --module=x --no-dwarf -- true
refused 2 'no process given' 'nobody at all' attach --source=stap
refused 2 '--source=perf: does not record kernel objects: must be ftrace or stap' 'kernel objects with perf' kmap record --source=perf -- true
refused 2 '--source: kprobe: must be ftrace or stap' 'kernel objects with no source' kmap record --source=kprobe -- true
refused 2 '--module: only with --source=stap' 'kernel objects with ftrace: --module' kmap record --module=x.ko -- true
refused 2 '--all, .*--source, --module, .*: only with' 'kmap FILE --source' kmap --source=stap x
refused 1 '--cache: longer than 511 bytes' 'a cache whose name is longer than a string of SystemTap' \
	kmap record --source=stap --cache="$(printf 'x%.0s' {1..512})" -- true
refused 1 'process 4194303: no such process' 'a process that never existed: refused before anything is built' \
	attach --source=stap 4194303

# ---- the script ----

pfscope stap print
is "$status$err" 0 'print'
like "$out" '^// pfscope [0-9.]+; stap.s argument is "dwarf"' 'print: what it is'
for file in "$ROOT"/stap/tapset/*.stp "$ROOT/stap/tapset/wire.h"; do
	[[ $file = */@(objects|watch).stp || $out = *"$(cat "$file")"* ]] || fail "print: ${file##*/} is in it"
done
unlike "$out" 'pfs_objects' 'print: nothing of kernel objects is'
pfscope stap print --objects
like "$status$err$out" '^0// pfscope [0-9.]+; stap.s argument is "plain"' 'print --objects: what it is'
for file in "$ROOT"/stap/tapset/*.stp "$ROOT/stap/tapset/"{wire,objects}.h "$ROOT/lib/objects/slots.h"; do
	[[ $file = */pfscope.stp || $out = *"$(cat "$file")"* ]] || fail "print --objects: ${file##*/} is in it"
done
pfscope stap print --no-dwarf
like "$out" '^// [^'$'\n'']*"plain"' 'print --no-dwarf'

# ---- what is missing ----

# A PATH with these programs only.
only()
{
	rm -rf "${T:?}/bin" && mkdir "$T/bin"
	for program; do
		printf '#!/bin/sh\nexit 1\n' >"$T/bin/$program"
		chmod +x "$T/bin/$program"
	done
}
release=6.99.0-none
for missing in 'stap: stap, which --source=stap needs, is not' 'gcc: a C compiler, which --source=stap needs, is not' 'make: make, which --source=stap needs, is not'; do
	only stap gcc make
	rm "$T/bin/${missing%%:*}"
	path=$T/bin refused 1 "${missing#*: }.*--module" "without ${missing%%:*}" stap build -r $release -o x.ko
done
only stap gcc make
path=$T/bin refused 1 "headers of kernel $release, .*are not installed: install linux-headers-$release" 'without headers' \
	stap build -r $release -o x.ko

# ---- a kernel without loadable modules ----

# Where this kernel has them, a /proc without them stands in.
no_modules=(env)
[ ! -e /proc/modules ] || no_modules=(unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' -)
if "${no_modules[@]}" true 2>/dev/null; then
	for step in 'check' "build -o $T/x.ko" "build -r $(uname -r) -o $T/x.ko"; do
		# shellcheck disable=SC2086 # words
		try "${no_modules[@]}" "$PFSCOPE" stap $step
		is "$status|$err" \
			'1|pfscope: this kernel was built without loadable modules: SystemTap cannot work on it; --source=ftrace records without' \
			"stap ${step%% -o*} without loadable modules"
	done
else
	skip 'no namespaces' 'stap check and build without loadable modules'
fi

# ---- the cache, with a stap that only pretends ----

release=$(for dir in /lib/modules/*; do
	[ -r "$dir/build/.config" ] && grep -q '^CONFIG_KPROBES=y' "$dir/build/.config" && echo "${dir##*/}"
done | head -n 1)
if [ ! "$release" ]; then
	skip 'no kernel headers are installed' 'building and keeping'
	done_testing
	exit
fi

# What pfscope looks for in a module, and nothing else.
cat >"$T/m.c" <<'EOC'
__attribute__((section(".gnu.linkonce.this_module"), used))
struct { long state; void *list[2]; char name[56]; long rest[8]; } module = { 0, { 0, 0 }, "pfscope", { 0 } };
__attribute__((section(".modinfo"), used)) char info[] = "license=GPL\0pfscope=0";
EOC
gcc -c -o "$T/m.ko" "$T/m.c"
cat >"$T/stap" <<'EOC'
#!/bin/sh
[ "$1" = -V ] && { echo "Systemtap translator/driver (version 4.8/0.188)"; exit; }
echo "$PWD|$SYSTEMTAP_DIR|$SYSTEMTAP_RUNTIME|$*" >>"$FAKE/log"
[ -s "$FAKE/slow" ] && sleep "$(cat "$FAKE/slow")"
[ -s "$FAKE/hangs" ] && { sleep 1000 & echo "$$ $!" >"$FAKE/pids.new"; mv "$FAKE/pids.new" "$FAKE/pids"; wait; }
[ -s "$FAKE/words" ] && { cat "$FAKE/words" >&2; exit 1; }
cp "$FAKE/m.ko" pfscope.ko
EOC
only gcc make
cp "$T/stap" "$T/bin/stap"
chmod +x "$T/bin/stap"
export FAKE=$T PFSCOPE_CACHE=$T/cache PATH=$T/bin:$PATH
unset SYSTEMTAP_RUNTIME

pfscope stap build -r "$release" -o "$T/first.ko"
is "$status" 0 'a module is built' || diag "$err"
like "$err" 'compiling the probe module for kernel' 'and it says so'
like "$(cat "$T/log")" "/build-$release-[a-z]*\|$T/cache/systemtap\|[^|]*\|-g .*--suppress-time-limits .*probe.stp (dwarf|plain)" \
	'with our folders and options'
is "$(strings "$T/first.ko" | grep -x first)" first 'it is called what its file is called'
is "$(stat -c %a "$T/first.ko")" 600 'it is its owner'"'"'s alone'
is "$(find "$T/cache" -maxdepth 1 -name '*.ko' | wc -l)" 1 'it is kept'
ok 'nothing of the work is left' test -z "$(ls -d "$T"/cache/build* 2>/dev/null)"
pfscope stap build -r "$release" -o "$T/two.ko"
is "$status|$err|$(wc -l <"$T/log")" '0||1' 'the second time nothing is built, and nothing said'
touch -d '2020-01-01' "$T/bin/stap"
pfscope stap build -r "$release" -o "$T/two.ko"
is "$status|$(wc -l <"$T/log")" '0|2' 'another SystemTap: another module'
pfscope stap build -r "$release" --no-dwarf -o "$T/two.ko"
like "$status|$(tail -n 1 "$T/log")" '^0\|.* plain$' 'without debuginfo: another module'
pfscope stap build -r "$release" --objects -o "$T/two.ko"
like "$status|$(wc -l <"$T/log")|$(tail -n 1 "$T/log")" '^0\|4\|.* pfscope_objects=yes .* plain$' 'of kernel objects: another module'
pfscope stap build -r "$release" --objects -o "$T/two.ko"
is "$status|$(wc -l <"$T/log")" '0|4' '... which is kept, too'

# Two at once: one builds, the other waits and takes that.
rm -rf "$T/cache" "$T/log"
echo 1 >"$T/slow"
"$PFSCOPE" stap build -r "$release" -o "$T/a.ko" 2>"$T/err.a" &
first=$!
"$PFSCOPE" stap build -r "$release" -o "$T/b.ko" 2>"$T/err.b"
is $? 0 'two at once: one'
wait $first
is "$?|$(wc -l <"$T/log")" '0|1' 'two at once: the other, and it was built once'
like "$(cat "$T/err.a" "$T/err.b")" 'waiting for another pfscope that is compiling' 'two at once: who waits says so'

# Interrupted: all of it ends, nothing is left.
rm -rf "$T/cache"
echo 60 >"$T/slow"
"$PFSCOPE" stap build -r "$release" -o "$T/c.ko" 2>/dev/null &
pid=$!
for _ in {1..100}; do
	[ "$(wc -l <"$T/log")" = 2 ] && break
	sleep 0.05
done
kill -INT $pid
wait $pid
is $? 130 'SIGINT: status 130'
is "$(find "$T/cache" -name '*.ko')$(ls "$T"/c.ko* 2>/dev/null)" '' 'SIGINT: no module, whole or half'
: >"$T/slow"

# fake_began: its first line is in the log, and the compiler runs; $stap and $compiler are their numbers.
fake_began()
{
	wait_for 60 test -s "$T/pids" && read -r stap compiler <"$T/pids"
}

# both_ended NAME
both_ended()
{
	ok "$1" wait_for 60 eval 'ended $stap && ended $compiler' || kill -KILL "$stap" "$compiler"
}

# ended PID: it runs no more (it may not have been waited for yet).
ended()
{
	[[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) =~ ^[^ZX] ]] && return 1
	return 0
}

# Killed: stap and its compiler end with pfscope; and pfscope ends with stap, though the compiler holds its output.
: >"$T/slow"
echo 1 >"$T/hangs"
"$PFSCOPE" stap build -r "$release" -o "$T/c.ko" 2>/dev/null &
pid=$!
fake_began
kill -KILL $pid
{ wait $pid; } 2>/dev/null
both_ended 'pfscope is killed: stap and its compiler end'
rm -f "$T/pids"
"$PFSCOPE" stap build -r "$release" -o "$T/c.ko" 2>"$T/err" &
pid=$!
fake_began
kill -KILL "$stap"
ok 'stap is killed: pfscope ends' wait_for 60 ended $pid || kill -KILL $pid
wait $pid
like "$?|$(tail -n 1 "$T/err")" '^1\|pfscope: stap was killed by signal 9' 'stap is killed: and says so'
both_ended 'stap is killed: its compiler ends'
rm -f "$T/hangs"

# What stap says becomes one line.
echo 'Failed to get list of machine owner keys (MOK) for module signing: rc -1' >"$T/words"
pfscope stap build -r "$release" -o "$T/d.ko"
like "$status|$(tail -n 1 "$T/err")" '^1\|pfscope: this kernel accepts signed modules only' 'its failure is ours'
: >"$T/words"

# A failed build leaves nothing behind, on an overlay of two file systems neither: there files have another device
# than folders.
# shellcheck disable=SC2016 # the inner shell's
overlay=(unshare -rm sh -ec 'cd "$0"; mkdir -p lower upper merged; mount -t tmpfs none lower; mount -t tmpfs none upper
	mkdir upper/files upper/work
	mount -t overlay -o lowerdir=lower,upperdir=upper/files,workdir=upper/work none merged; exec "$@"' "$T")
echo 'semantic error: no such thing' >"$T/words"
if "${overlay[@]}" true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's
	try "${overlay[@]}" sh -c 'for n in 1 2; do PFSCOPE_CACHE=$PWD/merged/cache "$@" 2>&1; done; ls merged/cache' - \
		"$PFSCOPE" stap build -r "$release" --no-dwarf -o "$T/e.ko"
	is "$(grep -c 'pfscope: stap: .*no such thing' "$T/out")" 2 'a failed build does not make the next one fail otherwise' ||
		diag "$out"
	unlike "$out" $'\nbuild-' '... and leaves no folder'
else
	skip 'no overlay can be mounted' 'a failed build on an overlay'
fi
: >"$T/words"

# A vmlinux may hold types alone (.BTF), as in Debian's headers from 6.12 on: that is no debuginfo.
for other in /lib/modules/*; do
	other=${other##*/}
	[ -r "/lib/modules/$other/build/.config" ] || continue
	wanted='without debuginfo'
	for file in {/usr/lib/debug,}/boot/vmlinux-"$other" {/usr/lib/debug,}/lib/modules/"$other"/{,build/}vmlinux{,.debug}; do
		[ -r "$file" ] && readelf -S "$file" 2>/dev/null | grep -q '\.debug_info' && wanted='with its debuginfo'
	done
	rm -rf "$T/cache"
	pfscope stap build -r "$other" -o "$T/e.ko"
	like "$status|$err" "^0\|.*compiling the probe module for kernel ${other//+/\\+}, $wanted" "kernel $other: $wanted"
done

# Nothing is taken from where others can write.
pfscope stap build -r "$release" -o "$T/e.ko"
chmod 777 "$T/cache"
pfscope stap build -r "$release" -o "$T/f.ko"
like "$status|$err" '^1\|pfscope: [^ ]*: others can write to it' 'a cache that others can write to is not used'
chmod 755 "$T/cache"
chmod 666 "$T/cache/"*.ko
pfscope stap build -r "$release" -o "$T/f.ko"
like "$status|$err" '^1\|pfscope: [^ ]*: others can write to it' 'nor a module'
for file in "$T/cache/"*.ko; do
	mv "$file" "$T/g.ko" && chmod 600 "$T/g.ko" && ln -s "$T/g.ko" "$file"
done
pfscope stap build -r "$release" -o "$T/f.ko"
like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: [^ ]*: a symbolic link' 'nor a link'
rm "$T/cache/"*.ko
if [ "$(id -u)" = 0 ]; then
	chown 12345 "$T/cache"
	pfscope stap build -r "$release" -o "$T/f.ko"
	like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: [^ ]*: belongs to user 12345' "nor another user's cache"
	chown 0 "$T/cache"
	chmod 777 "$T/bin"
	pfscope stap build -r "$release" -o "$T/f.ko"
	like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: [^ ]*/bin/stap: not executed as root: others can write' \
		'root executes no stap from a folder that others can write to'
	chmod 755 "$T/bin"
fi

done_testing
