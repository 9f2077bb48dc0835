#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
#
# README's first command in a minimal Debian 12, where neither make nor a compiler is installed: it installs them,
# builds pfscope and shows bars. The root file system comes from debootstrap and lasts as long as the test; packages
# come from where this machine's apt has them.

. "${0%/*}/../tap.sh"
. "${0%/*}/../root.sh"
need_programs git
need_root_folder
cd "$ROOT" || exit 1
root=$T/root
make_root "$root" || { done_testing; exit; }
ok 'make is not there' test ! -e "$root/usr/bin/make"
mkdir -m 700 "$root/root/pfscope"
git ls-files -z | grep -zv '^tests/data' | xargs -0 cp --parents -t "$root/root/pfscope"

command=$(sed -n '/^## Try it/,/^## /s/^    \$ //p' README.md | head -n 1)
is "$command" ./bootstrap 'README begins with the script'
# shellcheck disable=SC2016 # the inner shell's
try in_root "$root" bash -c 'cd /root/pfscope && eval "$0"' "$command"
is "$status" 0 "$command succeeds" || diag "$(tail -n 30 "$T/out" "$T/err")"
like "$out" 'pfscope run -- ls -l /' 'it shows the command that it runs'
like "$err" $'\nls -l /: [1-9][0-9]* faults .*\npid [0-9]+ ls ' 'and prints the bars of ls'
try in_root "$root" bash -c 'cd /root/pfscope && ./bootstrap'
is "$status" 0 'a second time it has nothing to install' || diag "$(tail -n 30 "$T/out" "$T/err")"
unlike "$out" 'Installing' '... and installs nothing'
ok 'unshare works in that root' in_root "$root" unshare -m true
done_testing
