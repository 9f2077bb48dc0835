# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What tests/vm/*.t have in common beyond tests/tap.sh, which it reads in. They run on the host and
# boot guests (tests/vm/boot); a test begins with
#
#     . "${0%/*}/vm.sh"
#     in_guests 300 bash tests/live/run.t	# its TAP, once a kernel, becomes this test's
#
# KERNELS="6.1" runs just those. What takes long has one kernel by itself; `make soak` runs it on both.

. "${0%/*}/../tap.sh"
KERNELS=${KERNELS:-6.1 6.12}
reason=$("$ROOT/tests/vm/boot" --why-not) || skip_all "$reason"
export BUILD PFSCOPE TOOLS WORK
cd "$ROOT" || exit 1

# share: a folder of the test's that guests can write to, at the same path; $T/share on the host.
mkdir "$T/share"

# boot KERNEL SECONDS COMMAND [ARG...]: its output goes to $T/KERNEL.out, what boot says to
# $T/KERNEL.err, the status to $T/KERNEL.status. More for boot(1) in the array `boot_args`.
boot_args=()
boot()
{
	local kernel=$1 limit=$2

	shift 2
	"$ROOT/tests/vm/boot" -k "$kernel" -t "$limit" -w "$T/share" ${boot_args[@]+"${boot_args[@]}"} \
		-- "$@" >"$T/$kernel.out" 2>"$T/$kernel.err"
	echo $? >"$T/$kernel.status"
}

# boot_all SECONDS COMMAND [ARG...]: in a guest of each kernel, side by side. $KERNEL there names it.
boot_all()
{
	local kernel pids=() saved=(${boot_args[@]+"${boot_args[@]}"})

	for kernel in $KERNELS; do
		boot_args=(${saved[@]+"${saved[@]}"} -e "KERNEL=$kernel")
		boot "$kernel" "$@" &
		pids+=($!)
	done
	wait "${pids[@]}"
	boot_args=(${saved[@]+"${saved[@]}"})
}

# relay KERNEL: the guest's TAP, numbered anew. No plan, another number of tests than planned or a
# guest that died is a failure.
relay()
{
	local kernel=$1 line status nr=0 plan=''

	while IFS= read -r line; do
		case $line in
		'ok '*) nr=$((nr + 1)) tap_nr=$((tap_nr + 1)); echo "ok $tap_nr - $kernel: ${line#* - }" ;;
		'not ok '*) nr=$((nr + 1)); fail "$kernel: ${line#* - }" ;;
		'1..0 # SKIP '*) plan=${plan:-0}; skip "${line#*SKIP }" "$kernel" ;;
		'1..'*) plan=$((${plan:-0} + ${line#1..})) ;;
		'Bail out!'*) fail "$kernel: $line" ;;
		*) diag "$kernel: ${line#\# }" ;;
		esac
	done <"$T/$kernel.out"
	status=$(<"$T/$kernel.status")
	if [ "$status" -gt 1 ] || [ "$plan" != $nr ]; then
		fail "$kernel: the guest ran to its end"
		diag "status $status, planned ${plan:-nothing}, ran $nr"
		diag "$(<"$T/$kernel.err")"
	fi
}

# in_guests SECONDS COMMAND [ARG...]: a command that writes TAP.
in_guests()
{
	local kernel

	boot_all "$@"
	for kernel in $KERNELS; do
		relay "$kernel"
	done
}

# compile_module KERNEL dwarf|symbols|objects FILE: the probe module for that kernel, from the cache that all tests
# share. What it says goes to stdout.
compile_module()
{
	local release options=()

	release=$("$ROOT/tests/vm/kernel" -n "$1" 2>&1) || { echo "$release"; return 1; }
	[ "$2" = symbols ] && options=(--no-dwarf)
	[ "$2" = objects ] && options=(--objects)
	PFSCOPE_CACHE=$BUILD/stap-cache "$PFSCOPE" stap build -r "$release" \
		${options[@]+"${options[@]}"} -o "$3" 2>&1
}

# build_module KERNEL dwarf|symbols FILE: the same; a failure is told once, and there is no file then.
build_module()
{
	local said

	said=$(compile_module "$@") && return
	fail "$1: the probe module is built ($2)"
	diag "$said"
	return 1
}

# build_probes: $T/share/KERNEL/probe.ko for each kernel, placed by symbols.
build_probes()
{
	local kernel wanted=()

	for kernel in $KERNELS; do
		mkdir -p "$T/share/$kernel"
		wanted+=("$kernel symbols $T/share/$kernel/probe.ko")
	done
	build_modules "${wanted[@]}"
}

# build_modules 'KERNEL MODE FILE'...: side by side. Fails if one cannot be built.
build_modules()
{
	local what failed=0

	# shellcheck disable=SC2086 # words are meant
	for what; do
		compile_module $what >/dev/null &
	done
	wait
	# shellcheck disable=SC2086
	for what; do
		build_module $what || failed=1
	done
	return $failed
}
