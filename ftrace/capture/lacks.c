/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a recording is possible here, and what it would lack: the notes of captures that are set up and not started.
 */
#include "capture/capture_priv.h"

#include "os/owner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int capture_usable(struct pfs_err *err)
{
	const char *dir = pfs_tracing_dir(err);
	char path[PATH_MAX];

	if (!dir)
		return -errno;
	snprintf(path, sizeof(path), "%s/instances", dir);
	if (access(path, W_OK | X_OK))
		return pfs_err_set(err, -errno, "%s: %s: this needs root (try sudo)", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/events/exceptions/page_fault_user", dir);
	if (access(path, F_OK))
		return pfs_err_set(err, -ENOTSUP,
				   "this kernel has no event exceptions:page_fault_user; the ftrace source needs it");
	return 0;
}

struct lacks {
	int (*fn)(void *ctx, const struct pfs_fact *lack);
	void *ctx;
};

static int pass_on(void *ctx, const struct raw_event *ev)
{
	struct lacks *lacks = ctx;
	char text[1024], *value;
	struct pfs_fact fact;

	if (ev->kind != RAW_PFS_NOTE || !ev->str)
		return 0;
	snprintf(text, sizeof(text), "%s", ev->str);
	value = strchr(text, '=');
	if (!value)
		return 0;
	*value++ = '\0';
	return pfs_note_read(&fact, text, value) && fact.key == PFS_NOTE_LACKS ? lacks->fn(lacks->ctx, &fact) : 0;
}

/* The reasons are in the notes. */
static void ignore(void *ctx, const char *line)
{
}

static int look(const struct ftrace_options *options, struct lacks *lacks, struct pfs_err *err)
{
	struct pfs_source_config config = { .options = options, .report = ignore };
	struct pfs_owner owner;
	struct pfs_live *live;
	struct pfs_capture *c;
	int ret, closed;

	pfs_owner_open(&owner); /* one for each: their instances have its name */
	config.owner = owner.id;
	live = capture_open(&config, err);
	c = live ? capture_of(live) : NULL;
	ret = live ? capture_settle(c, err) ?: capture_enable_later(c, false, err) : -errno;
	if (!ret)
		ret = pfs_sideband_flush(c->sideband, 0, UINT64_MAX, pass_on, lacks);
	closed = capture_close(live, ret ? NULL : err);
	pfs_owner_close(&owner);
	return ret ? ret : closed;
}

int pfs_capture_lacks(int (*fn)(void *ctx, const struct pfs_fact *lack), void *ctx, struct pfs_err *err)
{
	static const struct ftrace_options events = { .probes = true, .latency = true, .classify = true };
	static const struct ftrace_options counts = { .histogram = true };
	struct lacks lacks = { fn, ctx };

	return look(&events, &lacks, err) ?: look(&counts, &lacks, err);
}
