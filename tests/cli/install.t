#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install into a DESTDIR: what is there afterwards, that the manual is well-formed, that uninstall
# leaves nothing. And the Makefile's own promises: help lists every target that is meant to be called.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1

# What is under test is built already; -o keeps make from building it again with other flags.
make_it()
{
	env -u MAKEFLAGS -u MAKELEVEL make -s O="$BUILD" -o "$BUILD/pfscope" DESTDIR="$T/root" "$@"
}

ok 'make install' make_it install
cat >"$T/wanted" <<EOF_FILES
bin/pfscope
share/bash-completion/completions/pfscope
share/doc/pfscope/LICENSE
share/doc/pfscope/README.md
$(cd docs && ls -- *.md | sed 's|^|share/doc/pfscope/|')
$(cd docs/man && ls -- *.1 | sed 's|^|share/man/man1/|')
$(cd docs/man && ls -- *.5 | sed 's|^|share/man/man5/|')
EOF_FILES
sort -o "$T/wanted" "$T/wanted"
(cd "$T/root/usr/local" && find . -type f | sed 's|^\./||' | sort) >"$T/there"
same "$T/there" "$T/wanted" 'the files are there, and no others'
is "$(find "$T/root" -type f -perm /022)" '' 'nobody else can write them'
is "$(find "$T/root" -type f -perm /111)" "$T/root/usr/local/bin/pfscope" 'only the program is executable'
try "$T/root/usr/local/bin/pfscope" --version
like "$status|$out" '^0\|pfscope ' 'the program runs from there'
ok 'make uninstall' make_it uninstall
is "$(find "$T/root" -type f)" '' 'and nothing is left'
ok 'make install prefix=/usr' make_it prefix=/usr install
ok '... goes there' test -x "$T/root/usr/bin/pfscope"
is "$(grep -l /usr/local -r "$T/root/usr/share/man")" '' '... and the manual says so'

# ---- the manual ----

for page in docs/man/*; do
	name=${page##*/}
	if command -v mandoc >/dev/null; then
		is "$(mandoc -Tlint -W warning "$page" 2>&1 | grep -v 'mandoc.db')" '' "$name: mandoc finds no fault"
	elif command -v man >/dev/null; then
		is "$(man --warnings -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" '' "$name: man finds no fault"
	else
		skip 'neither mandoc nor man' "$name"
	fi
done
is "$(grep -ohE '^\.Xr pfscope[a-z-]* [15]' docs/man/* | sort -u | while read -r _ name section; do
	[ -f "docs/man/$name.$section" ] || echo "$name($section)"
done)" '' 'every page that another refers to is there'

# ---- the Makefile ----

help=$(make -s help)
for target in all try check check-unit check-cli check-live check-fuzz fuzz bench deps install uninstall clean help; do
	like "$help" "(^|"$'\n'")$target " "make help tells of $target"
done
for variable in O= V= SAN= prefix= DESTDIR=; do
	like "$help" "$variable" "make help tells of $variable"
done
like "$(make -n O="$T/elsewhere" all)" "$T/elsewhere/lib/" 'O= is heeded'
like "$(make -n O="$T/elsewhere" SAN=address all)" '-fsanitize=address' 'SAN= is heeded'
like "$(make -n -B V=1 O="$T/elsewhere" all)" '(^|'$'\n'')gcc |(^|'$'\n'')[^@ ]*cc ' 'V=1 shows the commands'
# A machine on which nothing is installed: reading the Makefile must not fail.
mkdir "$T/bin"
for tool in make sh bash grep sed expand find id nproc uname rm mkdir touch cat env; do
	ln -s "$(command -v $tool)" "$T/bin/$tool"
done
try env -i PATH="$T/bin" make -n deps O="$T/elsewhere"
like "$status|$out" '^0\|.*apt-get' 'deps can be made where there is neither compiler nor pkg-config'
try env -i PATH="$T/bin" make O="$T/elsewhere" all
like "$status|$err" 'make deps' 'without the libraries make says what to do'

done_testing
