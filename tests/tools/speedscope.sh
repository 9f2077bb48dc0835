#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unpacks speedscope into DIR, for tests/cli/viewers.t: a package of npm of 0.3 MB, of a known checksum. `make deps-tests' calls
# it. Debian's npm needs hundreds of packages, so it is not installed for this; without it the test is skipped.
#
#     speedscope.sh DIR

version=1.25.0
sum=2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03

[ ! -f "$1/$version" ] || exit 0
command -v npm >/dev/null || { echo 'No speedscope: npm is missing'; exit 0; }
rm -rf "$1"
mkdir -p "$1" && cd "$1" || exit 1
timeout 60 npm pack --silent --prefer-offline speedscope@$version >/dev/null 2>&1 || { echo 'No speedscope: npm cannot get it'; exit 0; }
echo "$sum  speedscope-$version.tgz" | sha256sum -c --status || { echo 'speedscope: another checksum' >&2; exit 1; }
tar -xzf speedscope-$version.tgz --strip-components=3 package/dist/release && touch "$version"
