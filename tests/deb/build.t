#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1800
#
# Debian's package: dpkg-buildpackage makes it from a copy of the tree, lintian and blhc find nothing, it has what `make
# install` installs, and its own tests (debian/tests) pass with what is in it. Nothing is installed here.

. "${0%/*}/../tap.sh"
need_programs dpkg-buildpackage dh fakeroot lintian blhc xz
cd "$ROOT" || exit 1
dpkg-checkbuilddeps >"$T/lacks" 2>&1 || skip_all "$(cat "$T/lacks")"

mkdir "$T/source"
tar -c --exclude='./build*' --exclude=./.git --exclude=./pfscope --exclude='*.o' . | tar -x -C "$T/source"
# What the caller's make was given is not for this one.
(cd "$T/source" && env -u MAKEFLAGS -u MAKELEVEL -u O -u CC -u CFLAGS -u LDFLAGS -u CPPFLAGS DEB_BUILD_OPTIONS=noautodbgsym \
	dpkg-buildpackage -us -uc "-j$(nproc)") >"$T/log" 2>&1
is $? 0 'the package is built' || diag "$(tail -n 20 "$T/log")"
changes=$(echo "$T"/pfscope_*.changes)
deb=$(echo "$T"/pfscope_*.deb)
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

# ---- debian/tests, as autopkgtest would run them ----

mkdir "$T/tmp"
for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
	PATH=$T/root/usr/bin:$PATH AUTOPKGTEST_TMP=$T/tmp "debian/tests/$test" >"$T/out" 2>&1
	status=$?
	case $status,$test in
	77,record) skip "$(cat "$T/out")" "debian/tests/$test" ;;
	*) is $status 0 "debian/tests/$test" || diag "$(cat "$T/out")" ;;
	esac
done

done_testing
