#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# completion/pfscope as bash uses it: the words of a command line in, the offers out. That it knows
# every option is agree.t's.

. "${0%/*}/../tap.sh"

# complete WORD... CURRENT: the offers for the last word, sorted, in one line.
complete_words()
{
	env -i PATH="$PATH" bash --norc -c '
		source "$1"
		shift
		COMP_WORDS=(pfscope "$@") COMP_CWORD=$#
		_pfscope pfscope "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' - "$ROOT/completion/pfscope" "$@"
}

is "$(complete_words r)" 'render report run ' 'commands by their beginning'
is "$(complete_words '')" '--help --version attach clean diff doctor events help maps mrc pages plot render report run stap tape ' 'all commands'
is "$(complete_words help e)" 'events ' 'commands behind help'
is "$(complete_words render --co)" '--color --comm ' 'options of render'
is "$(complete_words plot --format p)" 'pdf png ' 'formats of plot'
is "$(complete_words report --by p)" 'process ' 'tables of report'
is "$(complete_words plot --theme '')" 'dark light ' 'themes of plot'
is "$(complete_words plot --sort '')" 'address faults ' 'orders of plot'
is "$(complete_words plot --color-by =  t)" 'thread ' 'what colours of plot go by'
is "$(complete_words doctor --)" '--fix --help --json --usage --user --version ' 'options of doctor'
is "$(complete_words clean --)" '--help --usage --version ' 'clean has no options of its own'
is "$(complete_words render --color = '')" 'always auto never ' 'values behind ='
is "$(complete_words render --color =)" 'always auto never ' 'values when the word is ='
is "$(complete_words run --via t)" 'text ' 'values in a word of their own'
is "$(complete_words run --via = b)" 'binary ' 'or behind ='
is "$(complete_words attach --events = j)" 'json ' 'forms of events'
is "$(complete_words run --source = s)" 'stap ' 'sources'
is "$(complete_words stap '')" 'build check print ' 'steps of stap'
is "$(complete_words run -u roo)" 'root ' 'users'
like " $(complete_words run sha256s)" ' sha256sum ' 'commands to run'
like " $(complete_words run -o x.dat -- sha256s)" ' sha256sum ' 'commands to run behind --'
like " $(complete_words run --width = 80 sha256s)" ' sha256sum ' 'commands to run behind a value'
unlike " $(complete_words run ls --co)" '--color' 'options behind the command are its own'
cd "$T" && mkdir sub && : >sub/a.dat && : >sub/b.dat
is "$(complete_words render sub/)" 'sub/a.dat sub/b.dat ' 'files'
is "$(complete_words run --output-file sub/a)" 'sub/a.dat ' 'files for an option'
like " $(complete_words attach $$)" " $$ " 'processes'
is "$(complete_words render --width '')" ' ' 'nothing where nothing is known'

done_testing
