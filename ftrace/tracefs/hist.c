/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hist triggers on page-fault events, see hist.h.
 */
#include "tracefs/hist.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "trigger" or "hist" of an event. */
static void file_of(const char *event, const char *name, char *file, size_t size)
{
	snprintf(file, size, "events/exceptions/%s/%s", event, name);
}

static int write_trigger(struct pfs_instance *instance, const char *event, const char *text, struct pfs_err *err)
{
	char file[128];

	file_of(event, "trigger", file, sizeof(file));
	return pfs_instance_write(instance, file, text, err);
}

int pfs_hist_create(struct pfs_hist *hist, struct pfs_instance *instance, const char *event, unsigned long page_size,
		    unsigned int entries, struct pfs_err *err)
{
	char path[PATH_MAX], text[sizeof(hist->trigger) + 8];
	int ret;

	hist->event = event;
	snprintf(path, sizeof(path), "%s/events/exceptions/%s/hist", pfs_instance_dir(instance), event);
	if (access(path, F_OK)) {
		hist->trigger[0] = '\0';
		return pfs_err_set(err, -ENOTSUP, "this kernel has no hist triggers");
	}
	snprintf(hist->trigger, sizeof(hist->trigger),
		 "hist:keys=common_pid,address.buckets=%lu,error_code.hex:size=%u", page_size, entries);
	snprintf(text, sizeof(text), "%s:pause", hist->trigger);
	ret = write_trigger(instance, event, text, err);
	if (ret)
		hist->trigger[0] = '\0';
	if (ret == -EINVAL)
		pfs_err_set(err, ret,
			    "this kernel cannot count by page (hist triggers with "
			    ".buckets came with 5.18)");
	return ret;
}

int pfs_hist_hold(const struct pfs_hist *hist, struct pfs_instance *instance, struct pfs_err *err)
{
	char file[128];
	int ret;

	file_of(hist->event, "trigger", file, sizeof(file));
	ret = pfs_instance_hold(instance, file, O_WRONLY, err);
	file_of(hist->event, "hist", file, sizeof(file));
	return ret ? ret : pfs_instance_hold(instance, file, O_RDONLY, err);
}

int pfs_hist_count(struct pfs_hist *hist, struct pfs_instance *instance, bool on, struct pfs_err *err)
{
	char text[sizeof(hist->trigger) + 8];

	snprintf(text, sizeof(text), "%s:%s", hist->trigger, on ? "cont" : "pause");
	return write_trigger(instance, hist->event, text, err);
}

/*
 * A filter is needed even so: without one, triggers heed no threads but answer to anybody's event.
 */
int pfs_hist_count_from_exec(struct pfs_hist *hist, struct pfs_instance *instance, pid_t tid, struct pfs_err *err)
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

/*
 * { common_pid:    125, address: ~ 139732268941312-139732268945407, error_code: 14 } hitcount:
 * 1
 */
int pfs_hist_line(const char *line, unsigned long page_size, struct pfs_hist_entry *entry)
{
	const char *pid = key_value(line, "common_pid:"), *address = key_value(line, " address:");
	const char *code = key_value(line, " error_code:"), *count = key_value(line, " hitcount:");
	char *end;

	if (line[0] != '{' || !pid || !address || !count)
		return 0;
	entry->tid = strtol(pid, &end, 10);
	if (end == pid)
		return 0;
	errno = 0;
	entry->page = strtoull(address, &end, 0);
	if (end == address || errno)
		return 0;
	entry->page -= entry->page % page_size;
	entry->code = code ? strtoull(code, NULL, 16) : UINT64_MAX;
	entry->count = strtoull(count, &end, 10);
	return end > count && entry->count;
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

	file_of(hist->event, "hist", file, sizeof(file));
	fd = pfs_instance_open(instance, file, O_RDONLY, err);
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
			sscanf(line, " Dropped: %" SCNu64, dropped);
	}
	if (!ret && ferror(f))
		ret = pfs_err_set(err, -EIO, "%s: cannot be read", file);
	fclose(f);
	return ret;
}
