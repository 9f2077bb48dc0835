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

/* Others are named by their indexes. */
struct node {
	const char *func;		       /* interned */
	uint32_t parent, first_child, sibling; /* 0: the root, or none */
	uint64_t sum;			       /* faults, those of all that it called included */
	struct pfs_code_counts *self;	       /* of stacks that end here; NULL: none do */
};

struct tree {
	struct pfs_code_view *view;
	struct node *nodes; /* nodes[0] is the root */
	uint32_t nr_nodes, max_nodes;
	struct pfs_index index;
	const char **names; /* by the numbers of places; NULL: not known yet */
	size_t max_names;
	uint64_t least; /* faults of a node that is shown */
};

/* ---- the tree ---- */

static bool is_node(const void *ctx, uint32_t nr, const void *key)
{
	const struct tree *tree = ctx;
	const struct node *a = &tree->nodes[nr], *b = key;

	return a->parent == b->parent && a->func == b->func;
}

/* The index of the node of that function whose parent is *at: *at. 0 or -ENOMEM. */
static int child_of(struct tree *tree, uint32_t *at, const char *func)
{
	struct node node = { .func = func, .parent = *at }, *added;
	uint64_t hash = pfs_index_hash(pfs_index_hash(0, (uintptr_t)func), *at);
	uint32_t *nr = pfs_index_find(&tree->index, hash, is_node, tree, &node);

	if (!nr)
		return -ENOMEM;
	if (!*nr) {
		added = pfs_array_add(tree->nodes, tree->nr_nodes, tree->max_nodes);
		if (!added)
			return -ENOMEM;
		node.sibling = tree->nodes[*at].first_child;
		*added = node;
		*nr = tree->nodes[*at].first_child = tree->nr_nodes - 1;
	}
	*at = *nr;
	return 0;
}

/* The names of an origin's functions, inlined ones included, the innermost first. */
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
static const char *text_of(struct pfs_code_view *view, const struct pfs_place *place)
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

/* NULL: no memory. */
static const char *name_of(struct tree *tree, const struct pfs_place *place)
{
	const char **known;

	if (!pfs_array_extend(tree->names, tree->max_names, (size_t)place->nr + 1))
		return NULL;
	known = &tree->names[place->nr];
	if (!*known)
		*known = text_of(tree->view, place);
	return *known;
}

/* 0 or -ENOMEM. */
static int name_frames(struct tree *tree, struct names *names, const struct pfs_code_origin *origin)
{
	struct pfs_code_view *view = tree->view;
	struct pfs_code_frames stack = pfs_code_frames(view->code, origin);
	int err = 0;

	names->nr = 0;
	if (!stack.nr)
		return add_name(names, pfs_code_func_text(&view->strings, &pfs_code_no_frames));
	for (uint32_t i = 0; !err && i < stack.nr; i++) {
		uint32_t nr;
		const struct pfs_place *places =
			pfs_symbolizer_frame(view->symbolizer, stack.frames[i], stack.ts_ns, &nr);

		for (uint32_t k = 0; places && !err && k < nr; k++)
			err = add_name(names, name_of(tree, &places[k]));
		if (!places)
			err = -ENOMEM;
	}
	if (!err && stack.cut)
		err = add_name(names, pfs_intern(&view->strings, "..."));
	return err;
}

static int add_origin(struct tree *tree, struct names *names, const struct pfs_code_origin *origin)
{
	struct pfs_code_counts **self;
	uint32_t at = 0;
	int err = name_frames(tree, names, origin);

	for (size_t i = 0; !err && i < names->nr; i++) {
		err = child_of(tree, &at, names->names[tree->view->how->inverted ? i : names->nr - 1 - i]);
		if (!err)
			tree->nodes[at].sum += origin->counts.faults;
	}
	if (err)
		return err;
	self = &tree->nodes[at].self;
	if (!*self)
		*self = calloc(1, sizeof(**self));
	if (!*self)
		return -ENOMEM;
	pfs_code_add(*self, &origin->counts);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	return pfs_order(y->sum, x->sum) ?: strcmp(x->func, y->func);
}

static void free_tree(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->nr_nodes; i++)
		free(tree->nodes[i].self);
	free(tree->nodes);
	free(tree->index.slots);
	free(tree->names);
}

/* ---- text ---- */

static int compare_counts(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* So that no more than `lines` nodes are shown, unless several have as many faults. */
static int choose_least(struct tree *tree, size_t lines)
{
	size_t nr = tree->nr_nodes - 1;
	uint64_t *counts = calloc(nr + 1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		counts[i] = tree->nodes[i + 1].sum;
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
	pfs_fit_head(fitted, sizeof(fitted), node->func, width > 22 + indent ? width - 22 - indent : 1, "..");
	fprintf(options->out, "%10" PRIu64 "  %6s  %*s%s\n", node->sum, share, indent, "", fitted);
	(*left)--;
}

/* The only one that it calls; NULL: it calls others or none, or faults itself. */
static const struct node *only_child(const struct tree *tree, const struct node *node)
{
	const struct node *child = &tree->nodes[node->first_child];

	return node->first_child && !child->sibling && !node->self ? child : NULL;
}

/* A function's callees, in the order of their faults; the caller frees them. NULL: no memory. */
static const struct node **children_of(const struct tree *tree, const struct node *parent, size_t *nr)
{
	const struct node **children = NULL, **added;

	*nr = 0;
	for (uint32_t i = parent->first_child; i; i = tree->nodes[i].sibling) {
		added = pfs_array_append(children, *nr);
		if (!added) {
			free(children);
			return NULL;
		}
		*added = &tree->nodes[i];
	}
	if (*nr)
		qsort(children, *nr, sizeof(*children), compare);
	return children;
}

/*
 * A function that is the only one that another calls is not indented. Each level is a step of a loop or a recursion. 0 or
 * -ENOMEM.
 */
static int put_children(const struct tree *tree, const struct node *parent, unsigned int indent, size_t *left)
{
	uint64_t hidden = 0, nr_hidden = 0;
	size_t nr;
	const struct node **children = children_of(tree, parent, &nr);
	int err = parent->first_child && !children ? -ENOMEM : 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct node *node = children[i], *next;

		if (node->sum < tree->least || !*left) {
			hidden += node->sum;
			nr_hidden++;
			continue;
		}
		put_node(tree, node, indent, left);
		while (*left && (next = only_child(tree, node))) {
			node = next;
			put_node(tree, node, indent, left);
		}
		err = put_children(tree, node, indent + 2, left);
	}
	free(children);
	if (nr_hidden && parent == tree->nodes && !err)
		fprintf(tree->view->options->out, "%10" PRIu64 "  %6s  %" PRIu64 " more\n", hidden, "", nr_hidden);
	return err;
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
	err = put_children(tree, tree->nodes, 0, &left);
	fprintf(options->out, "%10" PRIu64 "  %6s  total\n\n", tree->view->total.faults, "");
	return err;
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

	for (const struct node *n = node; n != tree->nodes; n = &tree->nodes[n->parent])
		len += strlen(n->func) + 1;
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	end = text + len;
	*--end = '\0';
	for (const struct node *n = node; n != tree->nodes; n = &tree->nodes[n->parent]) {
		if (*end)
			*--end = ';';
		end -= strlen(n->func);
		memcpy(end, n->func, strlen(n->func));
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
	const struct node **sorted = calloc(tree->nr_nodes, sizeof(*sorted));
	struct pfs_table *table = pfs_table_new(columns);
	int err = sorted && table ? 0 : -ENOMEM;
	size_t nr = 0;

	for (uint32_t i = 1; !err && i < tree->nr_nodes; i++)
		if (tree->nodes[i].self)
			sorted[nr++] = &tree->nodes[i];
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
	struct node *root = pfs_array_add(tree.nodes, tree.nr_nodes, tree.max_nodes);
	int err = root ? 0 : -ENOMEM;

	if (root)
		*root = (struct node){ 0 };
	for (uint32_t i = 0; !err && i < view->code->nr_origins; i++)
		err = add_origin(&tree, &names, view->code->origins[i]);
	if (!err)
		err = view->options->format == PFS_VIEW_TEXT ? put_tree(&tree) : put_rows(&tree);
	free(names.names);
	free_tree(&tree);
	return err;
}
