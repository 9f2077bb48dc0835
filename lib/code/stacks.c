/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table by stack: in text a tree of functions, in which each has the faults of all that it called, and in CSV and JSON a row
 * for each stack of functions, as flame graphs take it.
 */
#include "code/code_priv.h"

#include "base/array.h"
#include "base/escape.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct node {
	struct node_key {
		struct node *parent;
		const char *func; /* interned */
	} key;
	UT_hash_handle hh;
	uint64_t sum;		      /* faults, those of all that it called included */
	struct pfs_code_counts *self; /* of stacks that end here; NULL: none do */
	struct node **children;
	size_t nr_children;
};

struct tree {
	struct pfs_code_view *view;
	struct node *nodes;
	struct node root;
	uint64_t least; /* faults of a node that is shown */
};

/* ---- the tree ---- */

static struct node *child_of(struct tree *tree, struct node *parent, const char *func)
{
	struct node_key key = { parent, func };
	struct node *node, **slot;

	HASH_FIND(hh, tree->nodes, &key, sizeof(key), node);
	if (node)
		return node;
	node = PFS_HASH_GET(tree->nodes, key, key);
	slot = node ? pfs_array_append(parent->children, parent->nr_children) : NULL;
	if (!slot)
		return NULL;
	return *slot = node;
}

/* The names of an origin's functions, inlined ones included, the innermost first. 0 or -ENOMEM. */
struct names {
	const char **names;
	size_t nr, max;
};

static int add_name(struct names *names, const char *name)
{
	const char **slot = name ? pfs_array_add(names->names, names->nr, names->max) : NULL;

	if (slot)
		*slot = name;
	return slot ? 0 : -ENOMEM;
}

/* The function; of an unknown one "[libc.so.6]", "[anon]", "(no known region)". */
static const char *name_of(struct pfs_code_view *view, const struct pfs_place *place)
{
	const char *module = pfs_code_module_text(place);
	char text[300];

	if (place->func)
		return pfs_intern(&view->strings, place->func);
	if (*module == '[' || *module == '(')
		return pfs_intern(&view->strings, module);
	snprintf(text, sizeof(text), "[%s]", module);
	return pfs_intern(&view->strings, text);
}

static int name_frames(struct pfs_code_view *view, struct names *names, const struct pfs_code_origin *origin)
{
	struct pfs_code_frames stack = pfs_code_frames(view->code, origin);
	int err = 0;

	names->nr = 0;
	if (!stack.nr)
		return add_name(names, pfs_code_func_text(&view->strings, &pfs_code_no_frames));
	for (uint32_t i = 0; !err && i < stack.nr; i++) {
		uint32_t nr;
		const struct pfs_place *places =
			pfs_symbolizer_frame(view->symbolizer, &stack.frames[i], stack.ts_ns, &nr);

		for (uint32_t k = 0; places && !err && k < nr; k++)
			err = add_name(names, name_of(view, &places[k]));
		if (!places)
			err = -ENOMEM;
	}
	if (!err && stack.cut)
		err = add_name(names, pfs_intern(&view->strings, "..."));
	return err;
}

static int add_origin(struct tree *tree, struct names *names, const struct pfs_code_origin *origin)
{
	struct node *node = &tree->root;
	int err = name_frames(tree->view, names, origin);

	for (size_t i = 0; !err && i < names->nr; i++) {
		node = child_of(tree, node, names->names[tree->view->how->inverted ? i : names->nr - 1 - i]);
		if (node)
			node->sum += origin->counts.faults;
		else
			err = -ENOMEM;
	}
	if (!err && !node->self)
		node->self = calloc(1, sizeof(*node->self));
	if (err || !node->self)
		return -ENOMEM;
	pfs_code_add(node->self, &origin->counts);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	return pfs_order(y->sum, x->sum) ?: strcmp(x->key.func, y->key.func);
}

static void free_tree(struct tree *tree)
{
	free(tree->root.children);
	free(tree->root.self);
	for (struct node *node = tree->nodes; node; node = node->hh.next) {
		free(node->children);
		free(node->self);
	}
	PFS_HASH_FREE(tree->nodes);
}

/* ---- text ---- */

static int compare_counts(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* So that no more than `lines` nodes are shown, unless several have as many faults. */
static int choose_least(struct tree *tree, size_t lines)
{
	size_t nr = HASH_COUNT(tree->nodes), at = 0;
	uint64_t *counts = calloc(nr + 1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (struct node *node = tree->nodes; node; node = node->hh.next)
		counts[at++] = node->sum;
	qsort(counts, nr, sizeof(*counts), compare_counts);
	tree->least = nr > lines ? counts[lines - 1] : 1;
	free(counts);
	return 0;
}

static void put_node(const struct tree *tree, const struct node *node, unsigned int indent, size_t *left)
{
	const struct pfs_view_options *options = tree->view->options;
	unsigned int width = options->wide ? 4096 : options->width ? options->width : 80;
	char fitted[4200], share[32];

	pfs_fixed_text(share, pfs_code_share(node->sum, tree->view->total.faults), 1);
	if (indent > width / 3)
		indent = width / 3;
	pfs_fit_head(fitted, sizeof(fitted), node->key.func, width > 22 + indent ? width - 22 - indent : 1, "..");
	fprintf(options->out, "%10" PRIu64 "  %6s  %*s%s\n", node->sum, share, indent, "", fitted);
	(*left)--;
}

/* A function that is the only one that another calls is not indented. Each level is a step of a loop or a recursion. */
static void put_children(const struct tree *tree, struct node *parent, unsigned int indent, size_t *left)
{
	uint64_t hidden = 0, nr_hidden = 0;

	if (parent->nr_children)
		qsort(parent->children, parent->nr_children, sizeof(*parent->children), compare);
	for (size_t i = 0; i < parent->nr_children; i++) {
		struct node *node = parent->children[i];

		if (node->sum < tree->least || !*left) {
			hidden += node->sum;
			nr_hidden++;
			continue;
		}
		put_node(tree, node, indent, left);
		while (node->nr_children == 1 && !node->self && *left) {
			node = node->children[0];
			put_node(tree, node, indent, left);
		}
		put_children(tree, node, indent + 2, left);
	}
	if (nr_hidden && parent == &tree->root)
		fprintf(tree->view->options->out, "%10" PRIu64 "  %6s  %" PRIu64 " more\n", hidden, "", nr_hidden);
}

static int put_tree(struct tree *tree)
{
	const struct pfs_view_options *options = tree->view->options;
	size_t left = options->top ? options->top : PFS_CODE_LINES;
	bool inverted = tree->view->how->inverted;
	int err = choose_least(tree, left);

	if (err)
		return err;
	fprintf(options->out, "%s%s%s\n", pfs_color_on(options->color, "\033[1m"),
		inverted ? "By stack, the innermost function first" : "By stack", pfs_color_off(options->color));
	if (!tree->view->stacks)
		fprintf(options->out, "  no stacks were recorded: these are the functions of the faults themselves\n");
	fprintf(options->out, "%10s  %6s  function\n", "faults", "%");
	put_children(tree, &tree->root, 0, &left);
	fprintf(options->out, "%10" PRIu64 "  %6s  total\n\n", tree->view->total.faults, "");
	return 0;
}

/* ---- rows ---- */

static const struct pfs_column columns[] = {
	{ "faults", "", 0 },
	{ "percent", "", PFS_COLUMN_TENTHS },
	{ "pages", "", 0 },
	{ "major", "", 0 },
	{ "latency_ns", "", 0 },
	{ "major_ns", "", 0 },
	{ "stack", "", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static int put_row(const struct tree *tree, struct pfs_table *table, const struct node *node)
{
	const struct pfs_code_counts *c = node->self;
	size_t len = 1;
	char *text, *end;

	for (const struct node *n = node; n != &tree->root; n = n->key.parent)
		len += strlen(n->key.func) + 1;
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	end = text + len;
	*--end = '\0';
	for (const struct node *n = node; n != &tree->root; n = n->key.parent) {
		if (*end)
			*--end = ';';
		end -= strlen(n->key.func);
		memcpy(end, n->key.func, strlen(n->key.func));
	}
	pfs_table_numbers(table, c->faults, pfs_code_share(c->faults, tree->view->total.faults), c->pages, c->major);
	pfs_table_known(table, tree->view->total.nr_timed, c->latency_ns);
	pfs_table_known(table, tree->view->total.nr_timed, c->major_ns);
	pfs_table_word(table, end);
	free(text);
	return 0;
}

static int compare_self(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	return pfs_order(y->self->faults, x->self->faults);
}

static int put_rows(struct tree *tree)
{
	const struct pfs_view_options *options = tree->view->options;
	struct node **sorted = calloc(HASH_COUNT(tree->nodes) + 1, sizeof(*sorted));
	struct pfs_table *table = pfs_table_new(columns);
	int err = sorted && table ? 0 : -ENOMEM;
	size_t nr = 0;

	for (struct node *node = tree->nodes; !err && node; node = node->hh.next)
		if (node->self)
			sorted[nr++] = node;
	if (nr)
		qsort(sorted, nr, sizeof(*sorted), compare_self);
	for (size_t i = 0; !err && i < nr && (i < options->top || !options->top); i++)
		err = put_row(tree, table, sorted[i]);
	free(sorted);
	if (err) {
		pfs_table_free(table);
		return err;
	}
	return pfs_output_table(options, tree->view->json, table, pfs_code_tables[PFS_CODE_STACK], "");
}

int pfs_code_put_stacks(struct pfs_code_view *view)
{
	struct tree tree = { .view = view };
	struct names names = { 0 };
	int err = 0;

	for (struct pfs_code_origin *origin = view->code->origins; !err && origin; origin = origin->hh.next)
		err = add_origin(&tree, &names, origin);
	if (!err)
		err = view->options->format == PFS_VIEW_TEXT ? put_tree(&tree) : put_rows(&tree);
	free(names.names);
	free_tree(&tree);
	return err;
}
