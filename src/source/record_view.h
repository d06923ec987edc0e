/* SPDX-License-Identifier: MIT */
/*
 * A process's recording as its reader sees it: checked copies of what a guest
 * process wrote, as counts_view.h has it of the counts.
 */
#ifndef TALLY_SOURCE_RECORD_VIEW_H
#define TALLY_SOURCE_RECORD_VIEW_H

#include "source/counts_view.h"
#include "source/record_counts.h"

struct record_view {
    struct record_place *places; /* owned, of each block */
    unsigned place_count;
    uint8_t *code; /* owned */
    uint32_t code_size;
    struct counts_file *files; /* owned */
    unsigned file_count;
    /* Where objects are recorded: what leads to them, and their names, each
     * with its NUL; owned. */
    struct record_call *calls;
    unsigned call_count;
    struct record_object *objects;
    unsigned object_count;
    char *text;
    struct record_use *uses; /* [object_count + 1] by number, of all threads */
    /* Where it is recorded why data miss; owned. Instructions are of blocks
     * that there are, objects too; 0: of one that is not known. */
    struct record_reason *reasons;
    unsigned reason_count;
    struct record_stride *strides;
    unsigned stride_count;
    /* Where it is recorded what threads wait for; owned. Calls, objects and
     * blocks are some that there are. */
    struct record_wait *waits;
    unsigned wait_count;
    struct record_begin *begins;
    unsigned begin_count;
    struct record_stretch *stretches; /* of waits: RECORD_UNKNOWN, or some that
                                         there are */
    unsigned stretch_count;
    struct record_unended *unended; /* waits that threads are in */
    unsigned unended_count;
    bool waits_lost;                 /* some found no room */
    unsigned ended;                  /* records of ended threads in all, */
    unsigned read;                   /* and those that were read */
    unsigned strand;                 /* the next live thread's area */
    struct counts_view_strand *live; /* owned; memory to read a live thread */
    uint32_t thread; /* the thread that record_view_next() has read: */
    struct record_site *sites; /* owned; by cell */
    size_t site_count, site_room;
    /* Where callers are recorded, else NULL: the cells of number 1 on; owned.
     * A caller's number is less than its cells'. A cell on an object is on one
     * of another cell that is on none; object 0 is none that is known. */
    struct record_cell *cells;
    uint32_t cell_count;
};

/* Reads where the blocks of a process are. 0 or TALLY_ENOMEM; a recording that
 * no process of tally writes sets view->wrong. The caller calls
 * record_view_close() in any case. */
int record_view_open(struct counts_view *view, struct record_view *record);

/*
 * Reads the sites of the next thread. A thread whose counts were handed over in
 * pieces comes as often. `live`: also of threads that have not ended. Returns
 * 1, 0 at the end or where the recording proves inconsistent, or TALLY_ENOMEM.
 */
int record_view_next(struct counts_view *view, struct record_view *record,
                     bool live);
void record_view_close(struct record_view *record);

#endif
