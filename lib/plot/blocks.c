/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The busiest process images, a block each, and its label: see layout_priv.h. */
#include "plot/layout_priv.h"

#include "base/escape.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLE_COLUMNS = 60 }; /* of a command line in a label */

static bool is_second(const struct pfs_plot_image *image)
{
	return image->side && image->pair != PFS_PLOT_NO_PAIR;
}

/*
 * Its touches and those of its counterpart, with which it shares a block; an image without any is shown if that is not
 * known.
 */
static uint64_t weight(const struct pfs_plot_data *data, const struct pfs_plot_image *image)
{
	const struct pfs_plot_image *other = image->pair == PFS_PLOT_NO_PAIR ? NULL : &data->images[image->pair];

	if (is_second(image))
		return 0;
	return image->count + (other ? other->count : 0) ?: image->unobserved || (other && other->unobserved);
}

/* The least number of touches with which an image gets a block of its own. */
static uint64_t least_of_block(const struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint64_t busiest[MAX_BLOCKS] = { 0 }; /* in falling order */

	if (data->nr_images <= l->max_blocks)
		return 1;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		uint64_t count = weight(data, &data->images[i]);

		for (uint32_t k = 0; k < l->max_blocks; k++) {
			uint64_t other = busiest[k];

			busiest[k] = count > other ? count : other;
			count = count > other ? other : count;
		}
	}
	return busiest[l->max_blocks - 1] + 1;
}

static const char *epoch_comm(const struct pfs_proc *proc, unsigned int nr)
{
	const char *comm = proc->epochs[nr].comm ? proc->epochs[nr].comm : proc->comm;

	return comm ? comm : "?";
}

static bool is_shown(const struct pfs_plot_data *data, const struct pfs_epoch *epoch)
{
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (data->images[i].space == epoch->space && data->images[i].count)
			return !epoch->shared;
	return false;
}

/* ", image 2": the second one of that name in a process of which several are in the picture. */
static const char *image_number(char buf[32], const struct pfs_plot_data *data, const struct pfs_proc *proc,
				unsigned int nr)
{
	unsigned int all = 0, before = 0;

	for (unsigned int i = 0; i < proc->nr_epochs; i++) {
		if (strcmp(epoch_comm(proc, i), epoch_comm(proc, nr)) || !is_shown(data, &proc->epochs[i]))
			continue;
		all++;
		before += i < nr;
	}
	buf[0] = '\0';
	if (all > 1)
		snprintf(buf, 32, ", image %u", before + 1);
	return buf;
}

/* Does another process in the picture have that name, too? */
static bool is_ambiguous(const struct pfs_plot_data *data, const struct pfs_model *model, const struct pfs_proc *proc,
			 unsigned int nr)
{
	for (const struct pfs_proc *other = model->procs; other; other = other->next)
		for (unsigned int i = 0; other != proc && i < other->nr_epochs; i++)
			if (!strcmp(epoch_comm(other, i), epoch_comm(proc, nr)) && is_shown(data, &other->epochs[i]))
				return true;
	return false;
}

/*
 * ", ls -l /tmp" or, where the command line is unknown, ", child of sh 14246, from 3.19 ms": what tells the image from others
 * of its name. "": nothing has to.
 */
static void role_text(char *buf, size_t size, const struct pfs_plot_data *data, const struct pfs_model *model,
		      const struct pfs_proc *proc, unsigned int nr)
{
	const struct pfs_epochs at = { .model = model, .proc = proc, .epoch = &proc->epochs[nr] };
	const struct pfs_proc *parent = proc->ppid ? pfs_model_proc(model, proc->ppid) : NULL;
	uint64_t base = pfs_model_base_ns(model), start = proc->epochs[nr].start_ns;
	char comm[256] = "", since[32], args[PFS_LABEL_MAX];
	int len = 0;

	buf[0] = '\0';
	if (!is_ambiguous(data, model, proc, nr))
		return;
	if (pfs_epoch_role(&at, args, sizeof(args))) {
		strcpy(buf, ", ");
		pfs_fit_head(buf + 2, size - 2, args, ROLE_COLUMNS, "..");
		return;
	}
	if (parent)
		pfs_plot_escape(comm, sizeof(comm), parent->comm ? parent->comm : "");
	if (proc->ppid)
		len = snprintf(buf, size, ", child of %s%s%" PRId32, comm, *comm ? " " : "", proc->ppid);
	if (start > base)
		snprintf(buf + len, size - len, ", from %s", pfs_duration_text(since, start - base, 3));
}

char *pfs_plot_image_label(const struct pfs_plot_data *data, uint32_t nr)
{
	const struct pfs_model *model = data->side[data->images[nr].side].model;
	char comm[256], number[32], role[400], *label = NULL;

	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next) {
		for (unsigned int i = 0; i < proc->nr_epochs; i++) {
			const struct pfs_epoch *epoch = &proc->epochs[i];

			if (epoch->space != data->images[nr].space || epoch->shared)
				continue;
			pfs_plot_escape(comm, sizeof(comm), epoch_comm(proc, i));
			role_text(role, sizeof(role), data, model, proc, i);
			return asprintf(&label, "%s (%s %" PRId32 "%s)%s", comm, proc->pid_known ? "pid" : "tid",
					proc->pid, image_number(number, data, proc, i), role) < 0
				       ? NULL
				       : label;
		}
	}
	return strdup("a process");
}

/* Of two recordings: "A cc1 (pid 4711), B cc1 (pid 4720)". Allocated; NULL: no memory. */
static char *block_label(const struct pfs_plot_data *data, uint32_t nr)
{
	const struct pfs_plot_image *image = &data->images[nr];
	char *mine = pfs_plot_image_label(data, nr), *other = NULL, *label = NULL;

	if (data->nr_sides == 1 || !mine)
		return mine;
	if (image->pair != PFS_PLOT_NO_PAIR)
		other = pfs_plot_image_label(data, image->pair);
	if (asprintf(&label, "%s%s%s%s%s", image->pair == PFS_PLOT_NO_PAIR ? "only " : "",
		     pfs_plot_side_text(data, image->side), mine, other ? ", B " : "", other ? other : "") < 0)
		label = NULL;
	free(mine);
	free(other);
	return label;
}

int layout_blocks(struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	struct pfs_plot *plot = l->plot;
	uint32_t others = 0;
	uint64_t least = least_of_block(l);

	plot->blocks = calloc(MAX_BLOCKS + 1, sizeof(*plot->blocks));
	l->block_of = calloc(data->nr_images + 1, sizeof(*l->block_of));
	if (!plot->blocks || !l->block_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		uint64_t count = weight(data, &data->images[i]);

		l->block_of[i] = UINT32_MAX;
		others += count && count < least;
		if (count < least)
			continue;
		l->block_of[i] = plot->nr_blocks++;
		plot->blocks[l->block_of[i]].label = block_label(data, i);
		if (!plot->blocks[l->block_of[i]].label)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (is_second(&data->images[i]))
			l->block_of[i] = l->block_of[data->images[i].pair];
	if (!others)
		return 0;
	if (asprintf(&plot->blocks[plot->nr_blocks].label, "%" PRIu32 " %sprocess images", others,
		     plot->nr_blocks ? "other " : "") < 0) {
		plot->blocks[plot->nr_blocks].label = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (l->block_of[i] == UINT32_MAX)
			l->block_of[i] = plot->nr_blocks;
	plot->nr_blocks++;
	return 0;
}
