#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unpacks what `go tool pprof' runs, of Debian's Go, into DIR, for tests/cli/export.t. `make deps-tests' calls it. Go itself is not
# installed for this (450 MB); without pprof those tests are left out.
#
#     go_pprof.sh DIR

[ ! -x "$1/pprof" ] || exit 0
package=$(apt-cache depends golang-go 2>/dev/null | sed -n 's/.*Depends: \(golang-[0-9.]*-go\)$/\1/p' | head -n 1)
[ "$package" ] || { echo 'No pprof: apt knows no golang-go'; exit 0; }
rm -rf "$1"
mkdir -p "$1" && cd "$1" || exit 1
apt-get -q download "$package" >/dev/null 2>&1 || { echo "No pprof: $package cannot be downloaded"; exit 0; }
dpkg-deb --fsys-tarfile "$package"_*.deb | tar -xf - --wildcards --transform='s|.*/||' './usr/lib/go-*/pkg/tool/*/pprof'
rm -f "$package"_*.deb
[ -x pprof ] || echo "No pprof: $package has none"
