/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/tape_sim.h"

#include "base/array.h"
#include "base/put.h"
#include "base/units.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A request that waits to hear of the next one of its page. 12 bytes: there may be a hundred million. */
struct request {
	uint32_t frame;
	uint32_t seconds;
	uint32_t next; /* how many requests later; 0: never again */
};

struct pfs_sim {
	const struct pfs_model *model;
	enum pfs_sim_format format;
	FILE *out;
	struct request *requests;
	size_t nr, max;
	uint32_t nr_frames;
};

struct pfs_sim *pfs_sim_new(const struct pfs_model *model, enum pfs_sim_format format, FILE *out)
{
	struct pfs_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->model = model;
	sim->format = format;
	sim->out = out;
	if (format == PFS_SIM_CSV)
		fputs("time,object,size\n", out);
	return sim;
}

void pfs_sim_free(struct pfs_sim *sim)
{
	if (!sim)
		return;
	free(sim->requests);
	free(sim);
}

static uint64_t since_start(const struct pfs_sim *sim, const struct pfs_ref *ref)
{
	uint64_t start = pfs_model_base_ns(sim->model);

	return ref->ts_ns > start ? ref->ts_ns - start : 0;
}

static int keep(struct pfs_sim *sim, const struct pfs_ref *ref)
{
	struct request *request = pfs_array_add(sim->requests, sim->nr, sim->max);

	if (!request)
		return -ENOMEM;
	*request = (struct request){ .frame = ref->frame, .seconds = since_start(sim, ref) / PFS_NS_PER_S };
	if (ref->frame >= sim->nr_frames)
		sim->nr_frames = ref->frame + 1;
	return 0;
}

int pfs_sim_add(void *ctx, const struct pfs_ref *ref)
{
	/* An access of which nothing is known is a load: there is no letter for it. */
	static const char *const letters[] = { " L", " L", " S", "I " };
	struct pfs_sim *sim = ctx;
	uint64_t size = UINT64_C(1) << sim->model->page_shift, ns;
	char line[128], *p;

	if (sim->format == PFS_SIM_ORACLE)
		return keep(sim, ref);
	if (sim->format == PFS_SIM_LACKEY) {
		p = put_text(put_text(line, letters[ref->access]), " ");
		for (uint64_t least = UINT64_C(1) << 28; least > ref->addr && least > 1; least >>= 4)
			*p++ = '0'; /* eight digits at least */
		p = put_hex(p, ref->addr);
	} else {
		ns = since_start(sim, ref);
		p = put_text(put_dec(line, ns / PFS_NS_PER_S), ".");
		p = put_text(put_digits(p, ns % PFS_NS_PER_S, 9), ",");
		p = put_dec(p, ref->frame + (uint64_t)1);
	}
	p = put_dec(put_text(p, ","), size);
	*p++ = '\n';
	fwrite(line, 1, p - line, sim->out);
	return 0;
}

static void put_request(const struct pfs_sim *sim, size_t i)
{
	const struct request *r = &sim->requests[i];
	uint32_t time = htole32(r->seconds), size = htole32(1U << sim->model->page_shift);
	uint64_t object = htole64((uint64_t)r->frame + 1), next = htole64(r->next ? i + r->next + 1 : UINT64_MAX);
	uint8_t bytes[24];

	memcpy(bytes, &time, 4);
	memcpy(bytes + 4, &object, 8);
	memcpy(bytes + 12, &size, 4);
	memcpy(bytes + 16, &next, 8);
	fwrite(bytes, 1, sizeof(bytes), sim->out);
}

/* Backwards: of each page the request that came after it. */
static int find_next(struct pfs_sim *sim)
{
	size_t *next = calloc((size_t)sim->nr_frames + 1, sizeof(*next)); /* from 1; 0: none */

	if (!next)
		return -ENOMEM;
	for (size_t i = sim->nr; i-- > 0;) {
		struct request *r = &sim->requests[i];

		r->next = next[r->frame] ? next[r->frame] - 1 - i : 0;
		next[r->frame] = i + 1;
	}
	free(next);
	return 0;
}

int pfs_sim_finish(struct pfs_sim *sim)
{
	if (sim->format == PFS_SIM_ORACLE) {
		int ret = find_next(sim);

		if (ret)
			return ret;
		for (size_t i = 0; i < sim->nr && !ferror(sim->out); i++)
			put_request(sim, i);
	}
	return fflush(sim->out) || ferror(sim->out) ? -EIO : 0;
}
