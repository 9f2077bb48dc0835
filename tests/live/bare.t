#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
#
# README's first command in a minimal Debian 12, where neither make nor a compiler is installed: it installs them,
# builds pfscope and shows bars. The root file system comes from debootstrap and lasts as long as the test; packages
# come from where this machine's apt has them.

. "${0%/*}/live.sh"
[ "$slowness" = 1 ] || skip_all 'a guest has no network'
for tool in debootstrap unshare pivot_root git; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
cd "$ROOT" || exit 1
root=$T/root
mirror=$(apt-get indextargets --format '$(URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null |
	sed -n 's|/dists/bookworm/.*||p' | head -n 1)
[ "$mirror" ] || skip_all 'apt has no source of Debian 12'
/usr/lib/apt/apt-helper -qq download-file "$mirror/dists/bookworm/Release" "$T/release" 2>/dev/null ||
	skip_all 'the source of Debian 12 cannot be reached'

# in_root COMMAND [ARG...]: with pivot_root, not chroot, so that unshare works inside; not in a PID namespace, whose
# numbers are not those of set_event_pid.
in_root()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		TERM=dumb bash -c '
		mount --bind "$0" "$0" && cd "$0" && mkdir -p old &&
		mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys &&
		pivot_root . old && cd / && umount -l /old && exec "$@"' "$root" "$@"
}

ok 'debootstrap makes a minimal root' debootstrap --variant=minbase bookworm "$root" "$mirror" || { done_testing; exit; }
# This machine's apt configuration, certificates and name server.
rm -rf "$root"/etc/apt/sources.list*
cp -rL /etc/apt/. "$root/etc/apt"
cp -L /etc/resolv.conf /etc/hosts "$root/etc" 2>/dev/null
for dir in /usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs; do
	[ ! -d $dir ] || { mkdir -p "$root$dir" && cp -rL $dir/. "$root$dir"; }
done
ok 'make is not there' test ! -e "$root/usr/bin/make"
mkdir -m 700 "$root/root/pfscope"
git ls-files -z | grep -zv '^tests/data' | xargs -0 cp --parents -t "$root/root/pfscope"

command=$(sed -n '/^## Try it/,/^## /s/^    \$ //p' README.md | head -n 1)
is "$command" ./bootstrap 'README begins with the script'
# shellcheck disable=SC2016 # the inner shell's
try in_root bash -c 'cd /root/pfscope && eval "$0"' "$command"
is "$status" 0 "$command succeeds" || diag "$(tail -n 30 "$T/out" "$T/err")"
like "$out" 'pfscope run -- ls -l /' 'it shows the command that it runs'
like "$err" $'\nls -l /: [1-9][0-9]* faults .*\npid [0-9]+ ls ' 'and prints the bars of ls'
try in_root bash -c 'cd /root/pfscope && ./bootstrap'
is "$status" 0 'a second time it has nothing to install' || diag "$(tail -n 30 "$T/out" "$T/err")"
unlike "$out" 'Installing' '... and installs nothing'
ok 'unshare works in that root' in_root unshare -m true
done_testing
