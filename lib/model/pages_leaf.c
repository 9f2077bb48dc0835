/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes a page of a leaf, in any of its forms (enum leaf_form). */
#include "model/pages_priv.h"

#include <string.h>

/* Can this page be stored losslessly as a struct brief? */
static bool to_brief(struct brief *brief, const struct pfs_page *page)
{
	struct pfs_page back;

	*brief = (struct brief){ page->first_ns, page->first_tid, page->flags };
	from_brief(&back, brief);
	return !memcmp(&back, page, sizeof(back));
}

const struct pfs_page *pages_in(const struct leaf *leaf, unsigned int i, struct pfs_page *room)
{
	struct brief alike = { leaf->first_ns, leaf->tid, leaf->flags };

	switch (leaf->form) {
	case LEAF_ALIKE:
		alike.ns += leaf->since[i];
		from_brief(room, &alike);
		return room;
	case LEAF_BRIEF:
		from_brief(room, &leaf->brief[i]);
		return room;
	default:
		return &leaf->page[i];
	}
}

void pages_write(struct leaf *leaf, unsigned int i, const struct pfs_page *page)
{
	switch (leaf->form) {
	case LEAF_ALIKE:
		leaf->since[i] = page->first_ns - leaf->first_ns;
		break;
	case LEAF_BRIEF:
		leaf->brief[i] = (struct brief){ page->first_ns, page->first_tid, page->flags };
		break;
	default:
		leaf->page[i] = *page;
	}
}

enum leaf_form pages_form_for(const struct leaf *leaf, const struct pfs_page *page)
{
	struct brief brief;

	if (!to_brief(&brief, page))
		return LEAF_LONG;
	return is_alike(leaf, brief.ns, brief.tid, brief.flags) ? LEAF_ALIKE : LEAF_BRIEF;
}

void pages_begin_leaf(struct leaf *leaf, const struct pfs_page *page)
{
	begin_leaf(leaf, page->first_ns, page->first_tid, page->flags);
}
