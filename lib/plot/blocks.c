/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a plot, one for each of the busiest process images, and their labels.
 */
#include "plot/layout_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least number of touches with which an image gets a block of its own. */
static uint64_t least_of_block(const struct plot_layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint64_t busiest[PLOT_MAX_BLOCKS] = { 0 }; /* in falling order */

	if (data->nr_images <= l->max_blocks)
		return 1;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		uint64_t count = data->images[i].count;

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

char *pfs_plot_image_label(const struct pfs_plot_data *data, uint32_t nr)
{
	char comm[256], number[32], *label = NULL;

	for (const struct pfs_proc *proc = data->model->procs; proc; proc = proc->next) {
		for (unsigned int i = 0; i < proc->nr_epochs; i++) {
			const struct pfs_epoch *epoch = &proc->epochs[i];

			if (epoch->space != data->images[nr].space || epoch->shared)
				continue;
			pfs_plot_escape(comm, sizeof(comm), epoch_comm(proc, i));
			return asprintf(&label, "%s (%s %" PRId32 "%s)", comm, proc->pid_known ? "pid" : "tid",
					proc->pid, image_number(number, data, proc, i)) < 0
				       ? NULL
				       : label;
		}
	}
	return strdup("a process");
}

int plot_blocks_make(struct plot_layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	struct pfs_plot *plot = l->plot;
	uint32_t others = 0;
	uint64_t least = least_of_block(l);

	plot->blocks = calloc(PLOT_MAX_BLOCKS + 1, sizeof(*plot->blocks));
	l->block_of = calloc(data->nr_images + 1, sizeof(*l->block_of));
	if (!plot->blocks || !l->block_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		l->block_of[i] = UINT32_MAX;
		others += data->images[i].count && data->images[i].count < least;
		if (data->images[i].count < least)
			continue;
		l->block_of[i] = plot->nr_blocks++;
		plot->blocks[l->block_of[i]].label = pfs_plot_image_label(data, i);
		if (!plot->blocks[l->block_of[i]].label)
			return -ENOMEM;
	}
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
