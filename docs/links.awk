# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v installed='README.md bars.md ...' -f docs/links.awk PAGE: the page as it is installed, beside the others. A link
# to one of them leads there; of any other to a file the text remains.
BEGIN {
	nr = split(installed, names, " ")
	for (i = 1; i <= nr; i++)
		is_there[names[i]] = 1
}
{ page = page $0 "\n" }
END {
	rest = page
	while (match(rest, /!?\[[^][]*\]\([^)]*\)/)) {
		link = substr(rest, RSTART, RLENGTH)
		printf "%s", substr(rest, 1, RSTART - 1)
		rest = substr(rest, RSTART + RLENGTH)
		at = index(link, "](")
		target = substr(link, at + 2, length(link) - at - 2)
		text = substr(link, 1, at)
		if (target ~ /^(#|[a-z]+:)/) {
			printf "%s", link
			continue
		}
		anchor = match(target, /#/) ? substr(target, RSTART) : ""
		sub(/#.*/, "", target)
		name = target
		sub(/^(\.\.\/)?(docs\/)?/, "", name)
		if (name in is_there)
			printf "%s(%s%s)", text, name, anchor
		else
			printf "%s", substr(text, index(text, "[") + 1, length(text) - index(text, "[") - 1)
	}
	printf "%s", rest
}
