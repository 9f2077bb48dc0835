# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests that need another Debian 12 than this machine's: a minimal one in a folder, which debootstrap makes. Packages
# come from where this machine's apt has them. Read in after tests/tap.sh:
#
#     . "${0%/*}/../root.sh"
#     make_root "$T/root"
#     in_root "$T/root" apt-get -q update

# need_root_folder: skips the file where such a folder cannot be made; sets $mirror.
need_root_folder()
{
	[ "$(id -u)" = 0 ] || skip_all 'debootstrap needs root'
	need_programs debootstrap unshare pivot_root
	mirror=$(apt-get indextargets --format '$(URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null |
		sed -n 's|/dists/bookworm/.*||p' | head -n 1)
	[ "$mirror" ] || skip_all 'apt has no source of Debian 12'
	/usr/lib/apt/apt-helper -qq download-file "$mirror/dists/bookworm/Release" "$T/release" 2>/dev/null ||
		skip_all 'the source of Debian 12 cannot be reached'
}

# make_root DIR: a minimal Debian 12 with this machine's apt configuration, certificates and name server. It is tested:
# returns 1 where it failed.
make_root()
{
	local root=$1 dir

	ok 'debootstrap makes a minimal root' debootstrap --variant=minbase bookworm "$root" "$mirror" || return 1
	rm -rf "$root"/etc/apt/sources.list*
	cp -rL /etc/apt/. "$root/etc/apt"
	cp -L /etc/resolv.conf /etc/hosts "$root/etc" 2>/dev/null
	for dir in /usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs; do
		[ ! -d $dir ] || { mkdir -p "$root$dir" && cp -rL $dir/. "$root$dir"; }
	done
}

# in_root DIR COMMAND [ARG...]: with pivot_root, not chroot, so that unshare works inside; not in a PID namespace, whose
# numbers are not those of set_event_pid.
in_root()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		TERM=dumb DEBIAN_FRONTEND=noninteractive bash -c '
		mount --bind "$0" "$0" && cd "$0" && mkdir -p old &&
		mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys &&
		pivot_root . old && cd / && umount -l /old && exec "$@"' "$@"
}
