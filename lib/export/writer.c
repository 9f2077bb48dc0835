/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes items on to a format: see walk_priv.h. */
#include "export/walk_priv.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

enum { BATCH = 1024 };

struct viewer_writer {
	struct pfs_viewer *viewer;
	struct batch {
		size_t nr;
		struct item items[BATCH];
	} batches[2], *next; /* the one that is filled */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct batch *work; /* what the thread passes on; NULL: nothing */
	bool stop;
	int ret;
};

/* ---- charts over time: a table of limited size, whose bins grow ---- */

static void widen(struct pfs_viewer *v)
{
	for (uint32_t i = 0; i < v->nr_procs; i++) {
		struct viewer_bin *bins = v->procs[i]->bins;

		for (unsigned int k = 0; k < VIEWER_BINS; k++) {
			struct viewer_bin a = { 0 }, b = { 0 };

			if (2 * k < VIEWER_BINS) {
				a = bins[2 * k];
				b = bins[2 * k + 1];
			}
			bins[k] = (struct viewer_bin){ a.faults + b.faults, a.pages + b.pages };
		}
	}
	v->bin_shift++;
}

static struct viewer_bin *bin_at(struct pfs_viewer *v, uint32_t proc, uint64_t ts_ns)
{
	uint64_t ns = viewer_ns(v, ts_ns);
	struct viewer_proc *p = v->procs[proc];

	while (ns >> v->bin_shift >= VIEWER_BINS)
		widen(v);
	p->first_ns = ts_ns < p->first_ns ? ts_ns : p->first_ns;
	p->last_ns = ts_ns > p->last_ns ? ts_ns : p->last_ns;
	return &p->bins[ns >> v->bin_shift];
}

/* ---- an item ---- */

static int put_page(struct pfs_viewer *v, const struct viewer_page *page)
{
	bin_at(v, page->proc, page->ts_ns)->pages += page->came ? 1 : -1;
	v->nr_pages += page->came ? 1 : -1;
	return v->format->page ? v->format->page(v, page) : 0;
}

static int put_fault(struct pfs_viewer *v, const struct viewer_fault *fault)
{
	struct viewer_thread *thread = &v->threads[fault->thread];
	struct viewer_page page = {
		.ts_ns = fault->ts_ns,
		.addr = fault->addr >> v->page_shift << v->page_shift,
		.region = fault->region,
		.proc = thread->proc,
		.thread = fault->thread,
		.call = fault->call,
		.space = fault->space,
		.came = true,
		.by_fault = true,
	};
	int ret;

	bin_at(v, thread->proc, fault->ts_ns)->faults++;
	thread->nr_faults++;
	v->nr_faults++;
	ret = v->format->fault ? v->format->fault(v, fault) : 0;
	return ret || !fault->came ? ret : put_page(v, &page);
}

/* Who wants the tables meanwhile gets them between two items. */
static int put_batch(struct pfs_viewer *v, struct batch *batch)
{
	int ret = 0;

	pthread_mutex_lock(&v->calls.lock);
	for (size_t i = 0; !ret && i < batch->nr; i++) {
		const struct item *item = &batch->items[i];

		if (atomic_load(&v->calls.wanted)) {
			pthread_mutex_unlock(&v->calls.lock);
			while (atomic_load(&v->calls.wanted))
				sched_yield();
			pthread_mutex_lock(&v->calls.lock);
		}
		ret = item->is_page ? put_page(v, &item->page) : put_fault(v, &item->fault);
	}
	pthread_mutex_unlock(&v->calls.lock);
	batch->nr = 0;
	return ret;
}

/* ---- the thread ---- */

static void *pass_on(void *ctx)
{
	struct viewer_writer *w = ctx;
	int ret;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->work && !w->stop)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->work)
			break;
		pthread_mutex_unlock(&w->lock);
		ret = put_batch(w->viewer, w->work);
		pthread_mutex_lock(&w->lock);
		w->ret = w->ret ? w->ret : ret;
		w->work = NULL;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are the main thread's, but that of a closed pipe, which is of who writes to it. */
static bool start(struct viewer_writer *w)
{
	sigset_t most, before;

	sigfillset(&most);
	sigdelset(&most, SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &most, &before);
	w->started = !pthread_create(&w->thread, NULL, pass_on, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return w->started;
}

/* Until the thread has nothing to pass on. What came of it so far. */
static int wait_idle(struct viewer_writer *w)
{
	int ret;

	pthread_mutex_lock(&w->lock);
	while (w->work)
		pthread_cond_wait(&w->changed, &w->lock);
	ret = w->ret;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

static int hand_over(struct viewer_writer *w)
{
	int ret;

	if (!w->started && !start(w))
		return put_batch(w->viewer, w->next);
	ret = wait_idle(w);
	if (ret)
		return ret;
	pthread_mutex_lock(&w->lock);
	w->work = w->next;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	w->next = w->next == w->batches ? w->batches + 1 : w->batches;
	return 0;
}

int viewer_writer_wait(struct viewer_writer *writer)
{
	return wait_idle(writer) ?: put_batch(writer->viewer, writer->next);
}

int viewer_writer_put(struct viewer_writer *writer, const struct item *item)
{
	int ret = writer->next->nr == BATCH ? hand_over(writer) : 0;

	if (!ret)
		writer->next->items[writer->next->nr++] = *item;
	return ret;
}

void viewer_writer_stop(struct viewer_writer *writer)
{
	if (!writer->started)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stop = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	writer->started = writer->stop = false;
}

int viewer_writer_end(struct viewer_writer *writer)
{
	viewer_writer_stop(writer);
	if (!writer->ret)
		writer->ret = put_batch(writer->viewer, writer->next);
	return writer->ret;
}

struct viewer_writer *viewer_writer_new(struct pfs_viewer *viewer)
{
	struct viewer_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->viewer = viewer;
	w->next = w->batches;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	return w;
}

void viewer_writer_free(struct viewer_writer *writer)
{
	if (!writer)
		return;
	viewer_writer_stop(writer);
	pthread_cond_destroy(&writer->changed);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}
