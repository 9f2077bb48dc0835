/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "print/print.h"

#include "base/array.h"
#include "base/number.h"
#include "os/nobody.h"

#include <errno.h>
#include <event-parse.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <trace-seq.h>
#include <unistd.h>

enum {
	CHILD_FD = 3,
	TIMEOUT_MS = 10000, /* for one record: a child that needs longer hangs */
	MAX_TEXT = 1 << 16, /* bytes of text of one record */
	MAX_FIELDS = 4096,  /* zeroes behind a record that is shorter than its format */
};

struct format {
	char *system, *name; /* name: "SYSTEM:EVENT" */
	char *text;
	size_t len;
	bool parsed;  /* by this child */
	bool crashed; /* a child died of it */
};

struct request {
	uint32_t format; /* index */
	uint32_t len;	 /* bytes of the record, which follow */
	int32_t cpu;
	uint64_t ts_ns;
};

struct pfs_printer {
	struct format *formats;
	size_t nr_formats, max_formats;
	uint32_t format_of[UINT16_MAX + 1]; /* by event id: index + 1; 0: none */
	char *symbols;
	bool big_endian;
	unsigned int long_size;
	pid_t child; /* 0: none is running */
	int fd;	     /* the socket to it */
	char text[MAX_TEXT + 1];
};

struct pfs_printer *pfs_printer_new(bool big_endian, unsigned int long_size)
{
	struct pfs_printer *p = calloc(1, sizeof(*p));

	if (p) {
		p->big_endian = big_endian;
		p->long_size = long_size;
	}
	return p;
}

static void end_child(struct pfs_printer *p)
{
	if (!p->child)
		return;
	close(p->fd);
	kill(p->child, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(p->child, NULL, 0));
	p->child = 0;
}

void pfs_printer_free(struct pfs_printer *p)
{
	if (!p)
		return;
	end_child(p);
	for (size_t i = 0; i < p->nr_formats; i++) {
		free(p->formats[i].system);
		free(p->formats[i].name);
		free(p->formats[i].text);
	}
	free(p->formats);
	free(p->symbols);
	free(p);
}

/* "name: sched_switch\nID: 317\n..." */
static bool parse_head(const char *text, char name[128], unsigned int *id)
{
	uint64_t number;

	if (sscanf(text, "name: %127[^\n]", name) != 1 || !pfs_number_behind(text, "\nID:", &number))
		return false;
	*id = number;
	return number <= UINT16_MAX;
}

int pfs_printer_add(struct pfs_printer *p, const char *system, const char *text, size_t len)
{
	char name[128], *copy = strndup(text, len);
	struct format *format;
	unsigned int id;

	if (!copy)
		return -ENOMEM;
	if (!parse_head(copy, name, &id)) {
		free(copy);
		return 0;
	}
	format = pfs_array_add(p->formats, p->nr_formats, p->max_formats);
	if (!format) {
		free(copy);
		return -ENOMEM;
	}
	*format = (struct format){ .system = strdup(system), .text = copy, .len = strlen(copy) };
	if (asprintf(&format->name, "%s:%s", system, name) < 0)
		format->name = NULL;
	p->format_of[id] = p->nr_formats;
	return format->system && format->name ? 0 : -ENOMEM;
}

int pfs_printer_symbols(struct pfs_printer *p, const char *text, size_t len)
{
	char *symbols = strndup(text, len);

	if (!symbols)
		return -ENOMEM;
	free(p->symbols);
	p->symbols = symbols;
	return 0;
}

/* ---- both ends of the socket ---- */

static bool send_all(int fd, const void *bytes, size_t len)
{
	while (len) {
		ssize_t sent = TEMP_FAILURE_RETRY(send(fd, bytes, len, MSG_NOSIGNAL));

		if (sent <= 0)
			return false;
		bytes = (const char *)bytes + sent;
		len -= sent;
	}
	return true;
}

/* False: the other end is gone, or sends nothing for timeout_ms (-1: waits for ever). */
static bool receive_all(int fd, void *bytes, size_t len, int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	while (len) {
		ssize_t got = TEMP_FAILURE_RETRY(poll(&ready, 1, timeout_ms));

		if (got > 0)
			got = TEMP_FAILURE_RETRY(recv(fd, bytes, len, 0));
		if (got <= 0)
			return false;
		bytes = (char *)bytes + got;
		len -= got;
	}
	return true;
}

/* ---- the child ---- */

/* Whatever the formats make libtraceevent do, it is done without privileges, files or output. */
static void confine(int fd)
{
	const struct rlimit none = { 0, 0 };
	int null = open("/dev/null", O_RDWR);

	setrlimit(RLIMIT_CORE, &none);
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(fd, CHILD_FD) < 0)
		_exit(1);
	close_range(CHILD_FD + 1, ~0U, 0);
	if (!pfs_become_nobody())
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the account would reset it */
}

static struct tep_handle *new_parser(const struct pfs_printer *p)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		_exit(1);
	tep_set_file_bigendian(tep, p->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, p->long_size);
	if (p->symbols)
		tep_parse_kallsyms(tep, p->symbols);
	return tep;
}

static void serve(struct pfs_printer *p)
{
	struct tep_handle *tep = new_parser(p);
	struct request request;
	struct trace_seq seq;
	uint32_t len;

	while (receive_all(CHILD_FD, &request, sizeof(request), -1)) {
		struct format *format = &p->formats[request.format];
		struct tep_record record = {
			.ts = request.ts_ns,
			.cpu = request.cpu,
			.size = request.len,
			.record_size = request.len,
			.data = calloc(1, request.len + MAX_FIELDS),
		};

		if (!record.data || !receive_all(CHILD_FD, record.data, request.len, -1))
			return;
		if (!format->parsed)
			tep_parse_event(tep, format->text, format->len, format->system);
		format->parsed = true;
		trace_seq_init(&seq);
		tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
		len = seq.len < MAX_TEXT ? seq.len : MAX_TEXT;
		if (!send_all(CHILD_FD, &len, sizeof(len)) || !send_all(CHILD_FD, seq.buffer, len))
			return;
		trace_seq_destroy(&seq);
		free(record.data);
	}
}

static int start_child(struct pfs_printer *p)
{
	int fds[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	p->child = fork();
	if (!p->child) {
		confine(fds[1]);
		serve(p);
		_exit(0);
	}
	err = p->child < 0 ? -errno : 0;
	close(fds[1]);
	if (err) {
		close(fds[0]);
		p->child = 0;
		return err;
	}
	p->fd = fds[0];
	return 0;
}

/* ---- the parent ---- */

static bool ask(struct pfs_printer *p, const struct request *request, const void *record)
{
	uint32_t len;

	if (!send_all(p->fd, request, sizeof(*request)) || !send_all(p->fd, record, request->len) ||
	    !receive_all(p->fd, &len, sizeof(len), TIMEOUT_MS) || len > MAX_TEXT ||
	    !receive_all(p->fd, p->text, len, TIMEOUT_MS))
		return false;
	while (len && (p->text[len - 1] == '\n' || p->text[len - 1] == ' '))
		len--;
	p->text[len] = 0;
	return true;
}

int pfs_printer_print(struct pfs_printer *p, unsigned int id, const void *record, uint32_t len, int32_t cpu,
		      uint64_t ts_ns, const char **name, const char **text)
{
	uint32_t at = id <= UINT16_MAX ? p->format_of[id] : 0;
	struct format *format = at ? &p->formats[at - 1] : NULL;
	struct request request = { .format = at - 1, .len = len, .cpu = cpu, .ts_ns = ts_ns };
	int err;

	*name = format ? format->name : NULL;
	*text = "(no format in the recording)";
	if (!format)
		return 0;
	*text = "(cannot be printed: libtraceevent crashed on the format of this event)";
	if (format->crashed)
		return 0;
	err = p->child ? 0 : start_child(p);
	if (err)
		return err;
	if (ask(p, &request, record)) {
		*text = p->text;
		return 0;
	}
	format->crashed = true;
	end_child(p);
	return 0;
}
