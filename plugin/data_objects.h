/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of a recording: what the program's data are parts of. Memory that
 * an allocator gave is told by the path of calls to the allocator, other memory
 * by variable, stack or mapping. Allocators report through the library that is
 * preloaded in the guest (src/lib/allocations.c), whose own code is not
 * counted.
 *
 * A lock of its own: the model asks while it holds its locks.
 */
#ifndef TALLY_PLUGIN_DATA_OBJECTS_H
#define TALLY_PLUGIN_DATA_OBJECTS_H

#include <pthread.h>

#include "base/numbering.h"
#include "isa/isa.h"
#include "machine/callers.h"
#include "machine/objects.h"
#include "machine/recorder.h"
#include "plugin/variables.h"

/* A range of addresses; last < first: none. */
struct data_range {
    uint64_t first, last;
};

/* A file with code that is mapped. */
struct data_image {
    char *path;    /* owned */
    uint64_t bias; /* of addresses in memory over those in the file */
    struct variables variables;
    uint32_t object; /* its RECORD_IMAGE */
    bool is_gone;    /* it is no longer mapped */
};

/* Memory that the program asked the system for. */
struct data_region {
    struct data_range at;
    uint32_t object;
};

/* Memory that an allocator has given. */
struct data_block {
    uint64_t first, size; /* size 0: a free place */
    bool took_over;       /* it was given where we had another block */
};

struct data_objects {
    struct record_process *process; /* NULL: objects are not recorded */
    struct recorder_objects finder;
    pthread_mutex_t lock;
    struct objects map;
    struct numbering calls, objects; /* less 1 */
    struct data_image *images;       /* owned */
    size_t image_count;
    struct data_region *regions; /* owned; no two overlap */
    size_t region_count, region_room;
    struct data_block *blocks; /* owned; a hash table by address */
    size_t block_count, block_mask;
    struct data_range stack, heap; /* of the first thread; of brk() */
    /* The objects of frames, by the number of a block of the function; 0: not
     * made yet. [COUNTS_BLOCKS + 1] */
    uint32_t *frames;
};

/* Begins to record objects in `process`. 0 or TALLY_ENOMEM. */
int data_objects_begin(struct data_objects *d, struct record_process *process);

/* QEMU has loaded the program, so many bytes above its addresses in the file,
 * perhaps by copying it. */
void data_objects_program(struct data_objects *d, const char *program,
                          uint64_t bias);

/* Before a fork, and after it in the parent: no other thread is at work. */
void data_objects_lock(struct data_objects *d);
void data_objects_unlock(struct data_objects *d);

/* In the child of a fork: goes on in other memory, to which it copies what was
 * recorded. */
void data_objects_fork(struct data_objects *d, struct record_process *process);
void data_objects_end(struct data_objects *d);

/* The thread's allocator has given `size` bytes at `address`, in place of those
 * at `old`; see GATEWAY_ALLOCATION. */
void data_objects_allocation(struct data_objects *d, struct callers *c,
                             const uint64_t args[4]);

/* A system call has returned; `c` is the thread's. */
void data_objects_call(struct data_objects *d, struct callers *c,
                       const struct isa *isa, int64_t number,
                       const uint64_t args[6], int64_t result);

/* Returns the number of the last call of the path that the thread is on, or
 * what stands in its place (struct record_cell). */
uint32_t data_objects_path(struct data_objects *d, struct callers *c);

/* Returns the number of the object at an address; 0: none is known. */
uint32_t data_objects_find(struct data_objects *d, uint64_t address);

/* The program's own allocator `name` has given a block on the path that the
 * thread is on: returns its object, for data_objects_give(). 0: there is no
 * room. */
uint32_t
data_objects_site(struct data_objects *d, struct callers *c, const char *name);

/* An allocator has given a block of an object in place of the one at `old`; an
 * address of 0: it has given none, or none is taken back. */
void data_objects_give(struct data_objects *d, uint32_t object,
                       uint64_t address, uint64_t size, uint64_t old);

/* The address is on the stack of the thread that runs, the first one. */
void data_objects_stack(struct data_objects *d, uint64_t address);

/* A thread makes another, whose stack is below the address. */
void data_objects_thread(struct data_objects *d, uint64_t stack);

#endif
