#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build-ids that a recording notes: those that readelf finds in the files, and what they are for when a file was replaced since.

. "${0%/*}/live.sh"
need_programs gcc readelf strip
cd "$T" || exit 1

cat >program.c <<'END'
static char memory[100 * 4096];
__attribute__((noinline)) void touch_all(void)
{
	for (unsigned int i = 0; i < sizeof(memory); i += 4096)
		*(volatile char *)(memory + i) = 1;
}
int main(void) { touch_all(); return 0; }
END
gcc -O1 -g -Wl,--build-id -o program program.c
gcc -O1 -g -DOTHER -Wl,--build-id=0x0123456789 -o other program.c
id=$(readelf -n program | awk '/Build ID/ { print $3 }')
cp -p program kept

# faults_of_touch_all: in the table by function.
faults_of_touch_all()
{
	"$PFSCOPE" report --csv --by function "$file" | awk -F, '$1 == "function" && /touch_all/ { print $2 }'
}

for source in ftrace perf; do
	file=$source.rec
	cp -p kept program
	"$PFSCOPE" run --source "$source" --no-bars -o "$file" -- ./program >out 2>&1
	is $? 0 "$source: recorded" || diag "$(cat out)"
	is "$("$PFSCOPE" events "$file" | grep 'key="build_id"' | grep -c "ino=$(stat -c %i program) id=$id\"")" 1 \
		"$source: the build-id is the one that readelf finds"
	wanted=$(faults_of_touch_all)
	[ "${wanted:-0}" -ge 90 ]
	is $? 0 "$source: the function has its faults" || diag "$wanted"
	rm program
	cp kept program
	is "$(faults_of_touch_all)" "$wanted" "$source: a copy of the file, with another inode, has the names, too"
	rm program
	cp other program
	is "$(faults_of_touch_all)" '' "$source: another build of it has none"
	is "$("$PFSCOPE" report --by function "$file" | grep -c "no names of $T/program: another build-id now")" 1 \
		"$source: and one line says so"
	rm program
done
done_testing
