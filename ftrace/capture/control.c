/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of objects is paused, resumed and cleared while it runs.
 *
 * A pause switches off the events of objects, not the instance: which processes are started meanwhile, and by whom, has to
 * be known when it is resumed. To clear it means to write the spools anew: what the processes did before remains, and all
 * that is of the time since.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "base/write_all.h"
#include "record/page_source.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Dated before the first free that may be missed. */
static int pause_objects(struct pfs_capture *c, struct pfs_control_result *result, struct pfs_err *err)
{
	struct capture_pauses *p = &c->pauses;

	if (p->since_ns)
		return 0;
	result->changed = true;
	p->since_ns = pfs_now_ns();
	p->nr++;
	return capture_fact(c, PFS_FACT(PAUSED, .text = "yes"), err) ?: capture_switch_objects(c, false, err);
}

/* Dated after the last one. */
static int resume_objects(struct pfs_capture *c, struct pfs_control_result *result, struct pfs_err *err)
{
	struct capture_pauses *p = &c->pauses;
	int ret;

	if (!p->since_ns)
		return 0;
	ret = capture_switch_objects(c, true, err) ?: capture_fact(c, PFS_FACT(RESUMED, .text = "yes"), err);
	result->changed = true;
	result->pause_ns = pfs_now_ns() - p->since_ns;
	p->before_ns += result->pause_ns;
	p->since_ns = 0;
	return ret;
}

/* ---- cleared ---- */

struct cut {
	const struct pfs_formats *formats;
	struct pfs_ringwrite *to;
	int fd; /* of the new spool */
	uint64_t ts_ns;
	uint64_t dropped;
};

static bool is_of_process(const struct cut *cut, const uint8_t *record, uint32_t len)
{
	char scratch[PFS_RECORD_STR];
	struct raw_event ev;

	return raw_is_of_process(pfs_record_decode(cut->formats, record, len, scratch, &ev));
}

static int keep_records(struct cut *cut, struct pfs_ring_page *page)
{
	const uint8_t *record;
	uint32_t len;
	int ret = 0;

	while (!ret && pfs_ring_page_next(page, &record, &len) > 0) {
		if (page->ts >= cut->ts_ns || is_of_process(cut, record, len))
			ret = pfs_ringwrite_append(cut->to, page->ts, record, len);
		else
			cut->dropped++;
	}
	return ret;
}

/* A later page stays as it is, with what it says of losses. */
static int keep_page(struct cut *cut, const uint8_t *bytes, uint32_t size)
{
	struct pfs_ring_page page;
	int ret = pfs_ring_page_load(&page, &cut->formats->ring, bytes, size);

	if (ret || page.ts < cut->ts_ns)
		return ret ?: keep_records(cut, &page);
	return pfs_ringwrite_flush(cut->to) ?: pfs_write_all(cut->fd, bytes, size);
}

static int keep_pages(struct pfs_capture *c, struct capture_cpu *cpu, struct cut *cut, struct pfs_err *err)
{
	struct pfs_page_source *from = pfs_page_source_file(cpu->spool_fd, 0, cpu->bytes, c->drain.page_size);
	const uint8_t *page;
	uint32_t size;
	int ret = from ? 1 : -ENOMEM;

	while (ret > 0) {
		ret = from->next(from, &page, &size, err);
		if (ret > 0)
			ret = keep_page(cut, page, size) ?: 1;
	}
	pfs_page_source_free(from);
	return ret ?: pfs_ringwrite_flush(cut->to);
}

/* In place of the spool a new one. */
static int cut_spool(struct pfs_capture *c, struct capture_cpu *cpu, uint64_t ts_ns, uint64_t *dropped,
		     struct pfs_err *err)
{
	struct cut cut = { .formats = c->formats, .ts_ns = ts_ns, .fd = pfs_temp_open(err) };
	int ret;

	if (cut.fd < 0)
		return cut.fd;
	cut.to = pfs_ringwrite_new(cut.fd, &c->formats->ring, c->drain.page_size);
	ret = cut.to ? keep_pages(c, cpu, &cut, err) : -errno;
	pfs_ringwrite_free(cut.to);
	if (ret) {
		close(cut.fd);
		return pfs_err_set(err, ret, "cannot write the spool anew: %s", strerror(-ret));
	}
	close(cpu->spool_fd);
	cpu->spool_fd = cut.fd;
	cpu->bytes = lseek(cut.fd, 0, SEEK_CUR);
	cpu->dropped += cut.dropped;
	*dropped += cut.dropped;
	return 0;
}

/* What was lost before that time belongs to what is dropped. */
static int count_lost(struct pfs_capture *c)
{
	struct capture_counts counts;
	int ret = 0;

	for (int cpu = 0; !ret && cpu < c->drain.nr_cpus; cpu++) {
		ret = capture_count(c, cpu, &counts);
		if (!ret)
			c->drain.cpus[cpu].lost_before = counts.lost;
	}
	return ret;
}

static int clear_objects(struct pfs_capture *c, struct pfs_control_result *result, struct pfs_err *err)
{
	const struct timespec margin = { .tv_nsec = CAPTURE_MARGIN_NS };
	struct capture_pauses *p = &c->pauses;
	uint64_t now = pfs_now_ns();
	int ret = count_lost(c);

	if (c->drain.live)
		return pfs_err_set(err, -ENOTSUP, "events that are printed as they come cannot be dropped");
	if (!ret)
		ret = capture_fact(c, PFS_FACT(CLEARED, .text = "yes"), err);
	if (ret)
		return ret;
	nanosleep(&margin, NULL);
	ret = capture_drain(c, err);
	for (int cpu = 0; !ret && cpu < c->drain.nr_cpus; cpu++)
		if (c->drain.cpus[cpu].spool_fd >= 0)
			ret = cut_spool(c, &c->drain.cpus[cpu], now, &result->dropped, err);
	result->changed = true;
	p->start_ns = now;
	p->since_ns = p->since_ns ? now : 0;
	p->before_ns = 0;
	p->nr = !!p->since_ns;
	return ret;
}

/* ---- what it has ---- */

static int count_all(struct pfs_capture *c, struct pfs_control_result *result)
{
	int ret = 0;

	for (int cpu = 0; !ret && cpu < c->drain.nr_cpus; cpu++) {
		const struct capture_cpu *from = &c->drain.cpus[cpu];
		struct capture_counts counts;

		if (from->spool_fd < 0)
			continue;
		ret = capture_count(c, cpu, &counts);
		if (ret)
			break;
		result->events += counts.events - from->dropped;
		result->bytes += counts.bytes + from->bytes;
		result->lost += counts.lost - from->lost_before;
	}
	return ret;
}

int capture_control(struct pfs_live *live, enum pfs_control what, struct pfs_control_result *result,
		    struct pfs_err *err)
{
	static int (*const controls[])(struct pfs_capture * c, struct pfs_control_result * result,
				       struct pfs_err * err) = {
		[PFS_CONTROL_PAUSE] = pause_objects,
		[PFS_CONTROL_RESUME] = resume_objects,
		[PFS_CONTROL_CLEAR] = clear_objects,
	};
	struct pfs_capture *c = capture_of(live);
	const struct capture_pauses *p = &c->pauses;
	uint64_t now;
	int ret;

	*result = (struct pfs_control_result){ 0 };
	ret = (controls[what] ? controls[what](c, result, err) : 0) ?: count_all(c, result);
	now = pfs_now_ns();
	result->paused = p->since_ns;
	result->nr_pauses = p->nr;
	result->whole_ns = now - p->start_ns;
	result->paused_ns = p->before_ns + (p->since_ns ? now - p->since_ns : 0);
	return ret && !*err->msg ? pfs_err_set(err, ret, "no memory to answer") : ret;
}
