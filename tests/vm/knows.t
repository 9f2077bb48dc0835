#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# The table of docs/sources.md is what the sources really told, on Debian's 6.1 and 6.12 kernels
# (tests/vm/knows). UPDATE=1 writes it anew.

. "${0%/*}/vm.sh"
page=docs/sources.md
columns=()

# In the guest: a file of facts for each way of recording that this kernel has a module for.
cat >"$T/share/look" <<'EOS'
tests/vm/knows run >"$SHARE/$KERNEL.ftrace"
tests/vm/knows run --probes --latency --classify >"$SHARE/$KERNEL.more"
for module in "$SHARE/$KERNEL"/*.ko; do
	[ -e "$module" ] || continue
	tests/vm/knows run --source stap --module "$module" >"${module%.ko}"
done
EOS

modules=()
for kernel in $KERNELS; do
	mkdir "$T/share/$kernel"
	modules+=("$kernel symbols $T/share/$kernel/symbols.ko")
done
modules+=("6.1 dwarf $T/share/6.1/dwarf.ko")	# debuginfo of 6.12 is a download of its own
build_modules "${modules[@]}"
boot_args=(-e "SHARE=$T/share")
boot_all 600 bash "$T/share/look"

for kernel in $KERNELS; do
	is "$(<"$T/$kernel.status")" 0 "$kernel: the guest ran to its end" || diag "$(<"$T/$kernel.err")"
	columns+=("ftrace, $kernel=$T/share/$kernel.ftrace")
	columns+=("ftrace with probes, $kernel=$T/share/$kernel.more")
done
same "$T/share/6.1/dwarf" "$T/share/6.1/symbols" "6.1: SystemTap tells the same with debuginfo and without"
for kernel in $KERNELS; do
	columns+=("SystemTap, $kernel=$T/share/$kernel/symbols")
done

"$ROOT/tests/vm/knows" table "${columns[@]}" >"$T/table"
if [ "${UPDATE:-}" ]; then
	awk -v table="$T/table" '
	/<!-- table/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
	/<!-- end/ { skip = 0 }
	!skip { print }' $page >"$T/page" && cp "$T/page" $page
fi
sed -n '/<!-- table/,/<!-- end/{/<!--/d;p}' $page >"$T/said"
same "$T/said" "$T/table" "$page says what they told"
done_testing
