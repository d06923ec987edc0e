/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/own_region.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/reach.h"

/*
 * The session's file is open only while something is mapped: the guest shares
 * our table of descriptors, and must find the table as it would be without us.
 * The file cannot be opened if that table is full, or if tally has died: then
 * regions are mapped from the header's memory, which stays mapped.
 */
void
own_region_open(struct plugin *p)
{
    p->region.fd = reach_open(p);
    p->region.session = p->session;
}

void
own_region_close(struct plugin *p)
{
    if (p->region.fd >= 0)
        close(p->region.fd);
    p->region.fd = -1;
}

void
raise_to(atomic_uint *value, unsigned least)
{
    unsigned seen = atomic_load(value);

    while (seen < least && !atomic_compare_exchange_weak(value, &seen, least))
        ;
}

static unsigned
claim_region(struct plugin *p)
{
    return atomic_fetch_add(&p->session->regions, 1);
}

/* Returns whether nobody has the region. A number of regions that another
 * process forged may lead to one that a process has. */
static bool
is_free(const struct region *region)
{
    return atomic_load(&region->head->state) == REGION_FREE &&
           region->head->pid == 0;
}

int
own_region_attach(struct plugin *p, const char *place, const char *inherited,
                  const struct tally_log *log)
{
    if (place == NULL || strlen(place) >= sizeof(p->session_place))
        return tally_fail(log, TALLY_ESYNTAX,
                          "this plugin is started by `tally count`");
    strcpy(p->session_place, place);
    p->region.fd = reach_begin(p, inherited);
    const int error =
        session_attach(place, log, p->region.fd, &p->session, &p->request);
    if (error != 0)
        return error;
    p->region_index = claim_region(p);
    if (p->region_index >= SESSION_REGIONS ||
        region_map(p->region.fd, p->region_index, &p->region) != 0)
        return TALLY_ESYSTEM;
    if (!is_free(&p->region)) {
        region_unmap(&p->region);
        session_note_uncounted(p->session,
                               "a program that cannot reach the session");
        return TALLY_ESYSTEM;
    }
    return 0;
}

/* Sums the seals of a process that executed: another of its threads may have
 * died while it added its record. */
static void
sum_seals(struct region *region)
{
    const unsigned ended = atomic_load(&region->head->threads);
    uint64_t seals = 0;

    for (unsigned i = 0; i < ended && i < REGION_THREADS; i++)
        seals += region->threads[i].seal;
    region->head->seals = seals;
}

int
own_region_end_previous(struct plugin *p, unsigned index)
{
    struct region previous;

    if (region_map(p->region.fd, index, &previous) != 0)
        return 0;
    const int parent = previous.head->parent;
    atomic_store(&p->region.head->children,
                 atomic_load(&previous.head->children));
    region_release(&previous, atomic_load(&previous.head->strands));
    sum_seals(&previous);
    region_end(&previous);
    region_unmap(&previous);
    return parent;
}

static struct region_strand *
private_counts(void)
{
    void *memory =
        mmap(NULL, sizeof(struct region_strand), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

struct region_strand *
own_region_map_counts(struct plugin *p, unsigned slot)
{
    struct region_strand *counts = NULL;

    if (slot != 0 && p->spare == NULL)
        p->spare = private_counts();
    if (slot < REGION_STRANDS) {
        own_region_open(p);
        counts = region_map_strand(&p->region, slot, NULL);
        own_region_close(p);
    }
    if (counts != NULL) {
        raise_to(&p->region.head->strands, slot + 1);
        return counts;
    }
    counts = private_counts();
    if (counts != NULL) {
        counts->apart = 1;
        atomic_fetch_add(&p->region.head->apart, 1);
    } else if (p->spare != NULL) {
        atomic_fetch_add(&p->region.head->lost, 1);
        counts = p->spare;
    }
    return counts;
}

void
own_region_free_counts(struct plugin *p, unsigned slot)
{
    if (p->counts[slot] != p->spare)
        region_unmap_strand(p->counts[slot]);
    p->counts[slot] = NULL;
}

void
own_region_end_counts(struct plugin *p, unsigned slot)
{
    struct region_strand *counts = p->counts[slot];

    if (counts != p->spare) {
        region_fold(&p->region, counts);
        atomic_store(&counts->live, 0);
        if (counts->apart)
            atomic_fetch_sub(&p->region.head->apart, 1);
    }
    own_region_free_counts(p, slot);
}

/* Moves to region `index`, which starts with what the parent knows. */
static bool
move_region(struct plugin *p, unsigned index, unsigned slot)
{
    struct region fresh;
    bool moved = false;

    if (index >= SESSION_REGIONS)
        return false;
    own_region_open(p);
    if (region_map_session(p->session, p->region.fd, index, &fresh) == 0) {
        if (!is_free(&fresh)) {
            region_unmap(&fresh);
            own_region_close(p);
            return false;
        }
        memcpy(fresh.infos, p->region.infos,
               p->info_count * sizeof(struct block_info));
        const unsigned noted = atomic_load(&p->region.head->files);
        const unsigned files = noted < REGION_FILES ? noted : REGION_FILES;
        memcpy(fresh.head->file, p->region.head->file,
               files * sizeof(struct region_file));
        atomic_store(&fresh.head->files, files);
        region_unmap(&fresh);
        /* No other thread takes the first area: QEMU numbers those that come
         * after the highest number of a live thread. */
        const unsigned area = slot < REGION_STRANDS ? slot : 0;
        moved = region_remap(&p->region, index) == 0 &&
                region_map_strand(&p->region, area, p->counts[slot]) != NULL;
        if (moved)
            raise_to(&p->region.head->strands, area + 1);
    }
    own_region_close(p);
    return moved;
}

void
own_region_adopt(struct plugin *p, unsigned slot, char *program)
{
    memcpy(program, p->region.head->program, REGION_NAME);
    p->region_index = claim_region(p);
    if (p->counts[slot] == p->spare)
        p->spare = NULL;
    if (!move_region(p, p->region_index, slot)) {
        session_note_uncounted(p->session,
                               "a forked child that cannot reach the session");
        if (region_detach(&p->region, p->counts[slot]) != 0)
            plugin_no_memory("a forked child");
    }
}

/* Without /proc, as in another root, it is taken to be the one before. */
static void
note_pid_space(struct plugin *p)
{
    struct stat st;

    if (stat("/proc/self/ns/pid", &st) == 0)
        p->pid_space = (uint64_t)st.st_ino;
    p->region.head->pid_space = p->pid_space;
}

void
own_region_name(struct plugin *p, const char *program, enum region_begin begin,
                int parent)
{
    struct region_head *head = p->region.head;

    head->pid = (int32_t)getpid();
    head->parent = (int32_t)parent;
    note_pid_space(p);
    head->begin = begin;
    head->turns = p->request.turns << p->data_filter;
    head->own_turns = p->request.turns;
    head->load_bias = p->load_bias;
    head->components = p->components;
    snprintf(head->program, sizeof(head->program), "%s", program);
    atomic_store(&head->blocks, p->info_count);
    atomic_store(&head->state, REGION_RUNNING);
}
