#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install into a DESTDIR: the installed files, a well-formed manual, and nothing left after uninstall. Then the
# Makefile itself: its help, its variables, a machine without compiler or libraries; and the hardening flags.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1

# The program under test is built already; -o keeps make from building it again with other flags.
make_it()
{
	env -u MAKEFLAGS -u MAKELEVEL make -s O="$BUILD" -o "$BUILD/pfscope" DESTDIR="$T/root" "$@"
}

ok 'make install' make_it install
cat >"$T/wanted" <<EOF_FILES
bin/pfscope
share/bash-completion/completions/pfscope
share/doc/pfscope/LICENSE
share/doc/pfscope/NEWS.md
share/doc/pfscope/README.md
share/fish/vendor_completions.d/pfscope.fish
share/zsh/site-functions/_pfscope
$(cd docs && ls -- *.md | sed 's|^|share/doc/pfscope/|')
$(cd docs/man && ls -- *.1 | sed 's|^|share/man/man1/|')
$(cd docs/man && ls -- *.5 | sed 's|^|share/man/man5/|')
EOF_FILES
sort -o "$T/wanted" "$T/wanted"
(cd "$T/root/usr/local" && find . -type f | sed 's|^\./||' | sort) >"$T/there"
same "$T/there" "$T/wanted" 'the files are there, and no others'
is "$(cd "$T/root/usr/local/share/doc/pfscope" && perl -0ne '
	while (/\]\(([^)#]*)[^)]*\)/g) { print "$ARGV: $1\n" if $1 ne "" && $1 !~ /^[a-z]+:/ && !-e $1 }' -- *)" '' \
	'no link in the documents leads to a file that is not there'
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
		is "$(mandoc -Tlint -W warning "$page" 2>&1 | grep -v 'mandoc.db')" '' "$name: mandoc finds no error"
	elif command -v man >/dev/null; then
		is "$(man --warnings -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" '' "$name: man finds no error"
	else
		skip 'neither mandoc nor man' "$name"
	fi
done
is "$(grep -ohE '^\.Xr pfscope[a-z-]* [15]' docs/man/* | sort -u | while read -r _ name section; do
	[ -f "docs/man/$name.$section" ] || echo "$name($section)"
done)" '' 'every page that another refers to is there'

# ---- Debian's package ----

# A list of the Makefile, one a line.
makefile_list()
{
	make -s --no-print-directory -f Makefile -f - print 2>/dev/null <<<"print: ; @printf '%s\\n' \$($1)" | sort
}

# What every build has is not listed in debian/control (build-essential), what only it has not in the Makefile.
is "$(sed -n '/^Build-Depends:/,/^[A-Z]/p' debian/control | grep -oE '(^| )[a-z][a-z0-9.+-]+( |,|$)' | tr -d ' ,' |
	grep -vx 'debhelper-compat' | sort)" "$(makefile_list BUILD_DEPS | grep -vx 'gcc\|make\|libc6-dev')" \
	'debian/control and the Makefile list the same packages for building'
is "$(dpkg-parsechangelog -S Version 2>/dev/null || sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" "$(makefile_list VERSION)" \
	'... and the same version'
for package in $(sed -n 's/^Recommends: //p' debian/control | tr -d ,); do
	[ "$package" = less ] || like "$(cat README.md)" "(^|[^a-z])$package," "the README names $package, which is recommended"
done

# ---- the Makefile ----

help=$(make -s help)
for target in all try test check check-unit check-cli check-live check-vm check-fuzz check-deb deb fuzz bench deps format \
	format-check lint coverage install uninstall clean help; do
	like "$help" "(^|"$'\n'")$target " "make help lists $target"
done
for variable in O= V= SAN= prefix= DESTDIR=; do
	like "$help" "$variable" "make help lists $variable"
done
like "$(make -n O="$T/elsewhere" all)" "$T/elsewhere/lib/" 'O= has its effect'
like "$(make -n O="$T/elsewhere" SAN=address all)" '-fsanitize=address' 'SAN= has its effect'
like "$(make -n -B V=1 O="$T/elsewhere" all)" '(^|'$'\n'')gcc |(^|'$'\n'')[^@ ]*cc ' 'V=1 shows the commands'
# On a machine without compiler and pkg-config make can still read the Makefile.
mkdir "$T/bin"
for tool in make sh bash grep sed expand find id nproc uname rm mkdir touch cat env; do
	ln -s "$(command -v $tool)" "$T/bin/$tool"
done
try env -i PATH="$T/bin" make -n deps O="$T/elsewhere"
like "$status|$out" '^0\|.*apt-get' 'make deps needs neither compiler nor pkg-config'
try env -i PATH="$T/bin" make O="$T/elsewhere" all
like "$status|$err" 'make deps' 'make without the libraries names make deps'

# ---- hardening ----

flags=$(env -u CFLAGS -u CPPFLAGS -u LDFLAGS make -n V=1 O="$T/elsewhere" all)
for flag in -fPIE -pie -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Werror=format-security -Wl,-z,relro,-z,now; do
	like "$flags" " $flag( |"$'\n'')' "$flag is a default flag"
done
like "$(make -n V=1 O="$T/elsewhere" CFLAGS=-Og all)" ' -Og ' 'CFLAGS= replaces them'
unlike "$(make -n V=1 O="$T/elsewhere" CFLAGS=-Og all)" stack-protector '... all of them'
unlike "$(make -n V=1 O="$T/elsewhere" SAN=address all)" FORTIFY 'not FORTIFY with a sanitizer'
plain=${TOOLS%/tests/tools}
if grep -q -e '-D_FORTIFY_SOURCE=2 .*-pie -Wl,-z,relro,-z,now' "$plain/.flags"; then
	elf=$(readelf -hldW "$plain/pfscope")
	symbols=$(nm -Du "$plain/pfscope")
	like "$elf" 'Type: *DYN.*Flags: [^\n]*PIE' 'the program is position-independent'
	like "$elf" 'GNU_RELRO' '... with read-only relocations'
	like "$elf" 'BIND_NOW' '... that are all bound at its start'
	like "$elf" 'GNU_STACK +[0-9a-fx ]+ RW ' '... with a stack that is not executable'
	like "$symbols" ' __stack_chk_fail' '... and guarded'
	like "$symbols" ' __[a-z]+_chk' '... and with checked library calls'
else
	skip 'built with other CFLAGS or LDFLAGS' 'the program is hardened'
fi

done_testing
