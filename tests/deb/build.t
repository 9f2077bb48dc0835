#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1800
#
# Debian's package: dpkg-buildpackage makes it from a copy of the tree in a minimal Debian 12, where nothing but the
# Build-Depends is installed; lintian and blhc find nothing, and it has what `make install` installs. In a second one apt
# installs it, and its own tests (debian/tests) pass, as autopkgtest would run them.

. "${0%/*}/../tap.sh"
. "${0%/*}/../root.sh"
need_programs lintian blhc xz git
need_root_folder
cd "$ROOT" || exit 1

# ---- built ----

make_root "$T/build" || { done_testing; exit; }
cp -a "$T/build" "$T/use"
mkdir -p "$T/build/root/source"
# What git has or would take, without what was removed.
git ls-files -z --cached --others --exclude-standard | perl -0ne 'chomp; print "$_\0" if -e' |
	xargs -0 cp --parents -t "$T/build/root/source"
try in_root "$T/build" bash -c 'cd /root/source && apt-get -q update && apt-get -q build-dep -y --no-install-recommends ./'
is "$status" 0 'apt installs what building needs' || diag "$(tail -n 20 "$T/out" "$T/err")"
in_root "$T/build" bash -c 'cd /root/source && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc "-j$(nproc)"' >"$T/log" 2>&1
is $? 0 'the package is built' || diag "$(tail -n 20 "$T/log")"
changes=$(echo "$T"/build/root/pfscope_*.changes)
deb=$(echo "$T"/build/root/pfscope_*.deb)
if ! [ -s "$deb" ]; then
	done_testing
	exit
fi
is "$(lintian --fail-on none "$changes" 2>"$T/lintian.err")" '' 'lintian finds neither errors nor warnings'
is "$(blhc --all "$T/log" 2>&1)" '' 'blhc finds all hardening flags'

dpkg-deb -x "$deb" "$T/root"
(cd "$T/root/usr" && find . -type f -not -path './share/doc/*' | sed 's|^\./||; s|\.gz$||' | sort) >"$T/there"
env -u MAKEFLAGS -u MAKELEVEL make -s O="$BUILD" -o "$BUILD/pfscope" DESTDIR="$T/installed" prefix=/usr install
(cd "$T/installed/usr" && find . -type f -not -path './share/doc/*' |
	sed 's|^\./||; s|zsh/site-functions|zsh/vendor-completions|' | sort) >"$T/wanted"
same "$T/there" "$T/wanted" 'it has what make install installs'
is "$(cd "$T/root/usr/share/doc/pfscope" && perl -0ne '
	while (/\]\(([^)#]*)[^)]*\)/g) { print "$ARGV: $1\n" if $1 ne "" && $1 !~ /^[a-z]+:/ && !-e $1 }' -- *.md)" '' \
	'no link in its documents leads to a file that is not there'
is "$(zcat "$T"/root/usr/share/man/man*/* | grep -c /usr/local)" 0 'its manual names its own places'

# ---- installed, and used ----

cp "$deb" "$T/use/root"
cp -r --parents debian/tests examples "$T/use/root"
try in_root "$T/use" bash -c 'apt-get -q update && apt-get -q install -y --no-install-recommends "$0"' "/root/${deb##*/}"
is "$status" 0 'apt installs it' || diag "$(tail -n 20 "$T/out" "$T/err")"
for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
	try in_root "$T/use" bash -c 'cd /root && mkdir -p /tmp/test && AUTOPKGTEST_TMP=/tmp/test exec "debian/tests/$0"' "$test"
	case $status,$test in
	77,record) skip "$out" "debian/tests/$test" ;;
	*) is "$status" 0 "debian/tests/$test" || diag "$out" "$err" ;;
	esac
done
try in_root "$T/use" apt-get -q purge -y pfscope
is "$status|$(find "$T/use/usr" "$T/use/etc" -name '*pfscope*')" '0|' 'purged, nothing of it is left'

done_testing
