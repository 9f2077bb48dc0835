/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hist triggers on page-fault events, see hist.h. Written as text: libtracefs's calls for them need a tep_handle, which
 * parses the formats of all events: 120 to 260 ms.
 */
#include "tracefs/hist.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "trigger" or "hist" of the event. */
static const char *file_of(const struct pfs_hist *hist, const char *name, char file[128])
{
	snprintf(file, 128, "events/exceptions/%s/%s", hist->event, name);
	return file;
}

static int write_trigger(const struct pfs_hist *hist, struct pfs_instance *instance, const char *command,
			 struct pfs_err *err)
{
	char text[sizeof(hist->trigger) + 8], file[128];

	snprintf(text, sizeof(text), "%s:%s", hist->trigger, command);
	return pfs_instance_write(instance, file_of(hist, "trigger", file), text, err);
}

int pfs_hist_create(struct pfs_hist *hist, struct pfs_instance *instance, const char *event, unsigned long page_size,
		    unsigned int entries, struct pfs_err *err)
{
	char file[128];
	int ret;

	hist->event = event;
	snprintf(hist->trigger, sizeof(hist->trigger),
		 "hist:keys=common_pid,address.buckets=%lu,error_code.hex:size=%u", page_size, entries);
	if (pfs_instance_hold(instance, file_of(hist, "hist", file), O_RDONLY, NULL))
		return pfs_err_set(err, -ENOTSUP, "this kernel has no hist triggers");
	ret = pfs_instance_hold(instance, file_of(hist, "trigger", file), O_WRONLY, err)
		      ?: write_trigger(hist, instance, "pause", err);
	if (ret == -EINVAL)
		pfs_err_set(err, ret,
			    "this kernel cannot count by page (hist triggers with "
			    ".buckets came with 5.18)");
	return ret;
}

int pfs_hist_count(const struct pfs_hist *hist, struct pfs_instance *instance, bool on, struct pfs_err *err)
{
	return write_trigger(hist, instance, on ? "cont" : "pause", err);
}

/* The filter is needed although the instance traces the thread alone: triggers without one react to every thread. */
int pfs_hist_count_from_exec(const struct pfs_hist *hist, struct pfs_instance *instance, pid_t tid, struct pfs_err *err)
{
	char text[128];

	snprintf(text, sizeof(text), "enable_hist:exceptions:%s if common_pid == %d", hist->event, tid);
	return pfs_instance_write(instance, "events/mmap/exit_mmap/trigger", text, err);
}

/* "NAME:   123," of a key; digits behind "~ " if it is a range. NULL: not there. */
static const char *key_value(const char *line, const char *name)
{
	const char *p = strstr(line, name);

	return p ? p + strlen(name) + strspn(p + strlen(name), " ~") : NULL;
}

/* { common_pid:    125, address: ~ 139732268941312-139732268945407, error_code: 14 } hitcount:          1 */
int pfs_hist_line(const char *line, unsigned long page_size, struct pfs_hist_entry *entry)
{
	const char *pid = key_value(line, "common_pid:"), *address = key_value(line, " address:");
	const char *code = key_value(line, " error_code:"), *count = key_value(line, " hitcount:");
	uint64_t tid;

	if (line[0] != '{' || !pid || !address || !count || !pfs_take_dec(&pid, INT32_MAX, &tid) ||
	    pfs_any_number(address, 10, &entry->page) == address || !pfs_take_dec(&count, UINT64_MAX, &entry->count))
		return 0;
	entry->tid = tid;
	entry->page -= entry->page % page_size;
	entry->code = UINT64_MAX;
	if (code)
		pfs_take_hex(&code, UINT64_MAX, &entry->code);
	return entry->count > 0;
}

int pfs_hist_read(const struct pfs_hist *hist, struct pfs_instance *instance,
		  int (*fn)(void *ctx, const struct pfs_hist_entry *entry), void *ctx, uint64_t *dropped,
		  struct pfs_err *err)
{
	unsigned long page_size = sysconf(_SC_PAGESIZE);
	struct pfs_hist_entry entry;
	char file[128], line[512];
	int ret = 0, fd;
	FILE *f;

	fd = pfs_instance_open(instance, file_of(hist, "hist", file), O_RDONLY, err);
	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	*dropped = 0;
	while (!ret && fgets(line, sizeof(line), f)) {
		if (pfs_hist_line(line, page_size, &entry))
			ret = fn(ctx, &entry);
		else
			pfs_number_behind(line, "Dropped:", dropped);
	}
	if (!ret && ferror(f))
		ret = pfs_err_set(err, -EIO, "%s: cannot be read", file);
	fclose(f);
	return ret;
}
