#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1500
#
# What may happen to a recording on a machine of its own only: machine.guest has the tests. And pfscope as process 1 of
# the machine, to which all orphans come, its own helpers among them.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"
in_guests 800 bash tests/vm/machine.guest

cat >"$T/share/command" <<'END'
printf '%s %s\n' $$ $PPID >pids
(sh -c 'sleep 1; echo late >late' &)
exit 5
END
boot_args=(-i)
cd "$T/share" || exit
for kernel in $KERNELS; do
	rm -f pids late rec
	boot "$kernel" 300 "$PFSCOPE" run --count --no-bars -o rec -- sh command
	is "$(<"$T/$kernel.status")" 5 "$kernel: process 1: it ends, with the status of the command" || diag "$(<"$T/$kernel.err")"
	is "$(cat late)" late '... when the last process has ended'
	unlike "$(cat pids)" ' 1$' '... and waits for it in another process'
	pfscope report --check rec
	is "$status" 0 '... the recording is kept, with all faults' || diag "$out$err"
done
done_testing
