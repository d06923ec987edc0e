/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/own_counts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/reach.h"

/*
 * Opens the session's file, which is open only while something is mapped: the
 * guest shares our table of descriptors, and must find the table as it would be
 * without us. If that table is full, or tally has died, the file cannot be
 * opened; then counts are mapped from the header's memory, which stays mapped.
 */
void
own_counts_open(struct plugin *p)
{
    p->process.fd = reach_open(&p->reach);
    p->process.session = p->session;
}

void
own_counts_close(struct plugin *p)
{
    if (p->process.fd >= 0)
        close(p->process.fd);
    p->process.fd = -1;
}

void
raise_to(atomic_uint *value, unsigned least)
{
    unsigned seen = atomic_load(value);

    while (seen < least && !atomic_compare_exchange_weak(value, &seen, least))
        ;
}

static unsigned
claim_counts(struct plugin *p)
{
    return atomic_fetch_add(&p->session->processes, 1);
}

/* Returns whether no process has these counts. The number of processes, which
 * another process can forge, may lead to counts that a process has. */
static bool
is_free(const struct process_counts *process)
{
    return atomic_load(&process->head->state) == COUNTS_FREE &&
           process->head->pid == 0;
}

int
own_counts_attach(struct plugin *p, const char *place, const char *inherited,
                  const struct tally_log *log)
{
    if (place == NULL || strlen(place) >= sizeof(p->session_place))
        return tally_fail(log, TALLY_ESYNTAX,
                          "this plugin is started by `tally count`");
    strcpy(p->session_place, place);
    p->process.fd = reach_begin(&p->reach, inherited);
    const int error =
        session_attach(place, log, p->process.fd, &p->session, &p->request);
    if (error != 0)
        return error;
    p->counts_index = claim_counts(p);
    if (p->counts_index >= SESSION_PROCESSES ||
        counts_map(p->process.fd, p->counts_index, &p->process) != 0)
        return TALLY_ESYSTEM;
    if (!is_free(&p->process)) {
        counts_unmap(&p->process);
        session_note_uncounted(p->session,
                               "a program that cannot reach the session");
        return TALLY_ESYSTEM;
    }
    return 0;
}

/* Sums the seals of a process that executed: another of its threads may have
 * died while it added its record. */
static void
sum_seals(struct process_counts *process)
{
    const unsigned ended = atomic_load(&process->head->threads);
    uint64_t seals = 0;

    for (unsigned i = 0; i < ended && i < COUNTS_THREADS; i++)
        seals += process->threads[i].seal;
    process->head->seals = seals;
}

int
own_counts_end_previous(struct plugin *p, unsigned index)
{
    struct process_counts previous;

    if (counts_map(p->process.fd, index, &previous) != 0)
        return 0;
    const int parent = previous.head->parent;
    atomic_store(&p->process.head->children,
                 atomic_load(&previous.head->children));
    counts_release(&previous, atomic_load(&previous.head->strands));
    sum_seals(&previous);
    counts_end(&previous);
    counts_unmap(&previous);
    return parent;
}

static struct counts_strand *
private_counts(void)
{
    void *memory =
        mmap(NULL, sizeof(struct counts_strand), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

struct counts_strand *
own_counts_map_counts(struct plugin *p, unsigned slot)
{
    struct counts_strand *counts = NULL;

    if (slot != 0 && p->spare == NULL)
        p->spare = private_counts();
    if (slot < COUNTS_STRANDS) {
        own_counts_open(p);
        counts = counts_map_strand(&p->process, slot, NULL);
        own_counts_close(p);
    }
    if (counts != NULL) {
        raise_to(&p->process.head->strands, slot + 1);
        return counts;
    }
    counts = private_counts();
    if (counts != NULL) {
        counts->apart = 1;
        atomic_fetch_add(&p->process.head->apart, 1);
    } else if (p->spare != NULL) {
        atomic_fetch_add(&p->process.head->lost, 1);
        counts = p->spare;
    }
    return counts;
}

void
own_counts_free_counts(struct plugin *p, unsigned slot)
{
    if (p->counts[slot] != p->spare)
        counts_unmap_strand(p->counts[slot]);
    p->counts[slot] = NULL;
}

void
own_counts_end_counts(struct plugin *p, unsigned slot)
{
    struct counts_strand *counts = p->counts[slot];

    if (counts != p->spare) {
        counts_fold(&p->process, counts);
        atomic_store(&counts->live, 0);
        if (counts->apart)
            atomic_fetch_sub(&p->process.head->apart, 1);
    }
    own_counts_free_counts(p, slot);
}

/* Moves to the counts of process `index`, which start with a copy of the
 * parent's facts. */
static bool
move_counts(struct plugin *p, unsigned index, unsigned slot)
{
    struct process_counts fresh;
    bool moved = false;

    if (index >= SESSION_PROCESSES)
        return false;
    own_counts_open(p);
    if (counts_map_session(p->session, p->process.fd, index, &fresh) == 0) {
        if (!is_free(&fresh)) {
            counts_unmap(&fresh);
            own_counts_close(p);
            return false;
        }
        memcpy(fresh.infos, p->process.infos,
               p->table.info_count * sizeof(struct block_info));
        if (p->table.apart)
            memcpy(fresh.kinds, p->process.kinds,
                   p->table.index_count * sizeof(*fresh.kinds));
        const unsigned noted = atomic_load(&p->process.head->files);
        const unsigned files = noted < COUNTS_FILES ? noted : COUNTS_FILES;
        memcpy(fresh.head->file, p->process.head->file,
               files * sizeof(struct counts_file));
        atomic_store(&fresh.head->files, files);
        counts_unmap(&fresh);
        /* No other thread takes the first area: QEMU numbers those that come
         * after the highest number of a live thread. */
        const unsigned area = slot < COUNTS_STRANDS ? slot : 0;
        moved = counts_remap(&p->process, index) == 0 &&
                counts_map_strand(&p->process, area, p->counts[slot]) != NULL;
        if (moved)
            raise_to(&p->process.head->strands, area + 1);
    }
    own_counts_close(p);
    return moved;
}

bool
own_counts_adopt(struct plugin *p, unsigned slot, char *program)
{
    memcpy(program, p->process.head->program, COUNTS_NAME);
    p->counts_index = claim_counts(p);
    if (p->counts[slot] == p->spare)
        p->spare = NULL;
    if (!move_counts(p, p->counts_index, slot)) {
        session_note_uncounted(p->session,
                               "a forked child that cannot reach the session");
        if (counts_detach(&p->process, p->counts[slot]) != 0)
            plugin_no_memory(p->process.head, "a forked child");
        return false;
    }
    return true;
}

/* Without /proc, as behind chroot, the PID namespace is taken to be the one
 * before. */
static void
note_pid_space(struct plugin *p)
{
    struct stat st;

    if (stat("/proc/self/ns/pid", &st) == 0)
        p->pid_space = (uint64_t)st.st_ino;
    p->process.head->pid_space = p->pid_space;
}

void
own_counts_name(struct plugin *p, const char *program, enum counts_begin begin,
                int parent)
{
    struct counts_head *head = p->process.head;

    head->pid = (int32_t)getpid();
    head->parent = (int32_t)parent;
    note_pid_space(p);
    head->begin = begin;
    head->slices = p->request.slices << p->data_filter;
    head->own_slices = p->request.slices;
    head->load_bias = p->load_bias;
    head->components = p->components;
    snprintf(head->program, sizeof(head->program), "%s", program);
    atomic_store(&head->blocks, p->table.index_count);
    atomic_store(&head->state, COUNTS_RUNNING);
}
