#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unpacks a package of npm, of a known checksum, into DIR: a viewer that a test runs. `make deps-tests' calls it. Debian's npm
# needs hundreds of packages, so it is not installed for this; without it the test is skipped.
#
#     npm_package.sh DIR NAME VERSION SUM FOLDER
#
# DIR gets what FOLDER contains in the package.

dir=$1 name=$2 version=$3 sum=$4 folder=$5

[ ! -f "$dir/$version" ] || exit 0
command -v npm >/dev/null || { echo "No $name: npm is missing"; exit 0; }
rm -rf "$dir"
mkdir -p "$dir" && cd "$dir" || exit 1
timeout 60 npm pack --silent --prefer-offline "$name@$version" >/dev/null 2>&1 || { echo "No $name: npm cannot get it"; exit 0; }
echo "$sum  $(ls)" | sha256sum -c --status || { echo "$name: another checksum" >&2; exit 1; }
tar -xzf ./*.tgz --strip-components="$(echo "$folder" | tr / '\n' | wc -l)" "$folder" && touch "$version"
