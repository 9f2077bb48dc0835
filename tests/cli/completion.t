#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completions of bash, zsh and fish as the shells use them: the words of a command line in, the offers out. That
# they know every option is agree.t's, for they are generated.

. "${0%/*}/../tap.sh"
ok 'the completions are made' "$ROOT/completion/generate" "$PFSCOPE" "$T/made"
commands=$("$PFSCOPE" --help=table | cut -f1)

# ---- bash ----

# complete WORD... CURRENT: the offers for the last word, sorted, in one line.
complete_words()
{
	env -i PATH="$PATH" bash --norc -c '
		source "$1"
		shift
		COMP_WORDS=(pfscope "$@") COMP_CWORD=$#
		_pfscope pfscope "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' - "$T/made/pfscope" "$@"
}

is "$(complete_words r)" 'render report run ' 'commands by their beginning'
is "$(complete_words '')" "$(sort <<<"$commands"$'\n'help$'\n--help\n--version\n--no-pager' | tr '\n' ' ')" 'all commands'
is "$(complete_words help ev)" 'events ' 'commands behind help'
is "$(complete_words render --co)" '--color --comm ' 'options of render'
is "$(complete_words plot --format p)" 'pdf png ' 'formats of plot'
is "$(complete_words report --by p)" 'page-size process ' 'tables of report'
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
is "$(complete_words top --sp)" '--speed ' 'options of top'
is "$(complete_words top sub/)" 'sub/a.dat sub/b.dat ' 'recordings for top'
like " $(complete_words top $$)" " $$ " '... and processes'
like " $(complete_words top -o x.dat -- sha256s)" ' sha256sum ' '... and commands'
like " $(complete_words attach $$)" " $$ " 'processes'
is "$(complete_words render --width '')" ' ' 'nothing where nothing is known'

like "$(complete_words run --refault-by '')" 'auto hide idle numa pageout soft-dirty ' 'the words that the program names'
is "$(complete_words run --refault-by = a)" 'auto ' '... behind ='
is "$(complete_words run -- '' | tr ' ' '\n' | grep -x sha256sum | uniq)" sha256sum 'commands right behind --'

# Each command that there is has its options; each option that has words has them in all shells.
for command in $commands; do
	like " $(complete_words $command --he)" ' --help ' "bash: options of $command"
done

# ---- zsh and fish: what they offer ----

# In a terminal of its own, with a compadd that prints what is offered instead; from LINE to the offers, one a line.
zsh_offers()
{
	env -i PATH="$PATH" TERM=dumb HOME="$T" ZDOTDIR="$T" zsh -f -c '
		zmodload zsh/zpty
		zpty z zsh -f -i
		local ready line
		zpty -w z "PROMPT= RPROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; compdef _pfscope pfscope
			unset zle_bracketed_paste; stty -echo
			compadd() {
				if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
				local -a offers; builtin compadd -A offers \"\$@\"; print -l -- \"<\"\${^offers}\">\"
				builtin compadd \"\$@\"
			}
			zstyle \":completion:*\" list-prompt \"\"; zstyle \":completion:*\" menu no
			LISTMAX=100000; setopt no_list_ambiguous no_beep
			over() { print -- OVER; zle .kill-buffer }; zle -N over; bindkey \"^X\" over; bindkey \"^I\" complete-word
			cd \$2"
		zpty -w z "print REA\"\"DY"
		zpty -r z ready "*READY*"
		zpty -n -w z "$2"$'"'\t\x18'"'
		zpty -r z line "*OVER*"
		print -r -- "$line"
		zpty -d z' - "$T/made" "$1" "$PWD" </dev/null 2>&1 | tr -d '\r' | grep -oE '<[^<>]*>' | tr -d '<>' | sort -u | tr '\n' ' '
}

fish_offers()
{
	env -i PATH="$PATH" TERM=dumb HOME="$T" fish --no-config -c '
		source $argv[1]
		complete -C $argv[2]' "$T/made/pfscope.fish" "$1" 2>&1 | cut -f1 | sort -u | tr '\n' ' '
}

# offers SHELL LINE WANTED NAME: these are offered, among others perhaps.
offers()
{
	local shell=$1 line=$2 wanted=$3 got word

	shift 3
	got=$("${shell}_offers" "$line")
	for word in $wanted; do
		[[ " $got" = *" $word "* ]] || { fail "$shell: $*"; diag "no $word for: $line"; diag "got: $got"; return; }
	done
	pass "$shell: $*"
}

offers_not()
{
	local shell=$1 line=$2 word=$3

	shift 3
	unlike " $("${shell}_offers" "$line")" " $word " "$shell: $*"
}

: >sub/c.dat
for shell in zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell is not installed" "completion of $shell"
		continue
	fi
	offers $shell 'pfscope ' "$(tr '\n' ' ' <<<"$commands")help" 'all commands'
	offers $shell 'pfscope re' 'render report' 'commands by their beginning'
	offers $shell 'pfscope help ev' events 'commands behind help'
	for command in $([ $shell = zsh ] && echo run plot clean || echo "$commands"); do # zsh takes a second to start
		mapfile -t options < <("$PFSCOPE" $command --help=table | cut -f1 | grep .)
		offers $shell "pfscope $command --" "${options[*]/#/--}" "all options of $command"
	done
	offers_not $shell 'pfscope clean --' --count 'and no others'
	offers $shell 'pfscope plot --color-by ' 'access class thread' 'words in a word of their own'
	offers $shell 'pfscope run --via ' 'binary text' 'words of run'
	offers $shell 'pfscope stap ' 'build check print' 'steps of stap'
	offers $shell 'pfscope run --user roo' root 'users'
	offers $shell 'pfscope run -u roo' root 'users behind the short option'
	offers $shell "pfscope attach ${$%?}" $$ 'processes'
	offers $shell 'pfscope run sha256s' sha256sum 'commands to run'
	offers $shell 'pfscope run -- sha256s' sha256sum 'commands to run behind --'
	offers_not $shell 'pfscope run -- ls --co' --color 'options behind the command are its own'
done
if command -v fish >/dev/null; then
	like "$(fish_offers 'pfscope render sub/')" 'sub/a.dat sub/b.dat sub/c.dat ' 'fish: files'
	like "$(fish_offers 'pfscope run --output-file sub/a')" 'sub/a.dat ' 'fish: files for an option'
	like "$(fish_offers 'pfscope run --color=')" '--color=always ' 'fish: words behind ='
fi
if command -v zsh >/dev/null; then
	like "$(zsh_offers 'pfscope render sub/')" 'a.dat b.dat c.dat ' 'zsh: files'
	like "$(zsh_offers 'pfscope run --color=')" 'always auto never ' 'zsh: words behind ='
fi

done_testing
