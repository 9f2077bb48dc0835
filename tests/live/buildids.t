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

# ---- the vdso: a copy of it and its symbols, as readelf has them, are the witness ----

cat >clock.c <<'END'
#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
int main(void)
{
	char *memory = mmap(NULL, 50 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)vdso;
	FILE *copy = fopen("vdso.elf", "w");

	/* All of it: the sections' headers are its end. */
	fwrite(vdso, 1, header->e_shoff + header->e_shnum * header->e_shentsize, copy);
	fclose(copy);
	printf("%lx\n", (unsigned long)vdso);
	for (int i = 0; i < 50; i++)
		clock_gettime(CLOCK_MONOTONIC, (void *)(memory + i * 4096));
	return 0;
}
END
gcc -O1 -o clock clock.c
# table [OPTION...]: faults of the functions in the vdso.
table()
{
	"$PFSCOPE" report --csv --by function "$@" "$file" |
		awk -F, '$1 == "function" && $(NF - 1) == "[vdso]" && $NF !~ /^\(/ { print $NF, $2 }'
}
for source in ftrace perf; do
	file=$source.rec
	"$PFSCOPE" run --source "$source" --no-bars -o "$file" -- ./clock >base 2>out
	readelf -Ws vdso.elf | awk '$4 == "FUNC" && $NF ~ /^__(vdso|kernel)_/ { sub(/@.*/, "", $NF); print $2, $3, $NF }' >symbols
	"$PFSCOPE" events "$file" | grep ' fault ' | sed -nE 's/.* ip=([0-9a-f]+) .*/\1/p' >ips
	perl -e 'my $base = hex shift; my %n; open my $f, "<", "symbols"; my @s = map { [split] } <$f>; open my $i, "<", "ips";
		while (<$i>) { my $at = hex($_) - $base;
			for (@s) { $n{$_->[2]}++ if $at >= hex $_->[0] && $at < hex($_->[0]) + $_->[1] } }
		print "$_ $n{$_}\n" for sort keys %n' "$(cat base)" 2>log | sort -u >want
	table | sort >got
	[ "$(awk '{ n += $2 } END { print n + 0 }' want)" -ge 50 ] || diag "faults in the vdso: $(cat want)"
	same got want "$source: functions of the vdso"
	# On another machine, whose vdso is another one.
	id=$(readelf -n vdso.elf 2>/dev/null | awk '/Build ID/ { print $3; exit }')
	other=$(tr 0-9a-f 1-9a-f0 <<<"$id")
	is "$("$PFSCOPE" events "$file" | grep -c "value=\"dev=00:00 ino=0 id=$id\"")" 1 "$source: its build-id is noted"
	mkdir -p "there/$other"
	perl -0pe 'BEGIN { $from = pack "H*", shift; $to = pack "H*", shift } s/\Q$from\E/$to/' "$id" "$other" <vdso.elf >"there/$other/elf"
	"$PFSCOPE" events "$file" | sed "s/id=$id/id=$other/" >elsewhere.ev
	file=elsewhere.ev
	is "$(table)" '' "$source: the vdso of another kernel gives no names"
	is "$("$PFSCOPE" report --by function "$file" | grep -c 'no names of \[vdso\]: another build-id now')" "$([ -s want ] && echo 1 || echo 0)" \
		"$source: and one line says so"
	table --symbols there | sort >got
	same got want "$source: an archive has the names"
	file=$source.rec
	"$PFSCOPE" archive -o packed "$file" >out 2>&1
	[ ! -s want ] || tar -xOf packed "$id/elf" | cmp -n "$(stat -c %s vdso.elf)" - vdso.elf
	is $? 0 "$source: it is packed as it is in memory"
done
done_testing
