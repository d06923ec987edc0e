/* SPDX-License-Identifier: MIT */
/*
 * What a process has mapped, and which pieces of 2 MB of its memory may be huge
 * pages, by the rules of Linux's transparent huge pages
 * (Documentation/admin-guide/mm/transhuge.rst, mm/huge_memory.c):
 *
 * - A piece may be a huge page where one mapping that is private and of no file
 *   spans the piece. Neighbours that are alike are one mapping.
 * - With `asked`, the program must have advised so of this mapping.
 * - A huge page of which a part is mapped otherwise becomes small pages.
 * - Small pages stay small until nothing of their piece is mapped.
 *
 * Not here: khugepaged, which makes small pages huge as time passes, and the
 * copying of pages behind fork(). test/mappings.c has the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_MAPPINGS_H
#define TALLY_MACHINE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/huge.h"

/* Bits of what a mapping is. */
enum mapping_kind {
    MAPPING_RIGHTS = 7,     /* to read, write and execute */
    MAPPING_OTHER = 8,      /* of a file, or shared */
    MAPPING_ANONYMOUS = 16, /* private and of no file */
    MAPPING_HEAP = 32,      /* of brk(): stands apart from its neighbours */
    MAPPING_HUGETLB = 64,   /* of huge pages, whatever the other rules say */
    MAPPING_ADVISED = 128,  /* MADV_HUGEPAGE */
    MAPPING_AVOIDED = 256,  /* MADV_NOHUGEPAGE, or a stack of a thread */
};

struct mapping {
    uint64_t first, end;
    unsigned kind; /* not 0 */
};

struct mappings {
    struct huge *huge; /* owned */
    bool asked;        /* only memory with MAPPING_ADVISED may be huge pages */
    /* By address; owned. Neighbours that touch have other kinds. */
    struct mapping *rows;
    size_t count, room;
};

/* Sets up a process that has nothing mapped. Returns 0 or TALLY_ENOMEM;
 * mappings_finish() accepts a zeroed struct. */
int mappings_init(struct mappings *m, bool asked);
void mappings_finish(struct mappings *m);

/*
 * The functions below note what the process has done to `size` bytes of memory
 * from `first` on; the kernel takes whole pages of 4 KB. Those with a result
 * return 0 or TALLY_ENOMEM, with nothing changed.
 */

/* Notes that memory was mapped, in place of what was there. */
int
mappings_map(struct mappings *m, uint64_t first, uint64_t size, unsigned kind);

/* Notes that what is mapped before `first` has grown into the memory. */
int
mappings_grow(struct mappings *m, uint64_t first, uint64_t size, unsigned kind);

/* Notes that memory is mapped no longer. */
int mappings_unmap(struct mappings *m, uint64_t first, uint64_t size);

/* Notes that the kind of all that is mapped there has changed: `without` these
 * bits, and `with` those. */
int mappings_change(struct mappings *m, uint64_t first, uint64_t size,
                    unsigned without, unsigned with);

/* Notes that memory was moved to `to`, grown or shrunk to `new_size` bytes.
 * `stays`: the old place is still mapped, and empty. */
int mappings_move(struct mappings *m, uint64_t first, uint64_t size,
                  uint64_t to, uint64_t new_size, bool stays);

/* Notes that what is stored there was given up (MADV_DONTNEED; `later`:
 * MADV_FREE). */
void
mappings_empty(struct mappings *m, uint64_t first, uint64_t size, bool later);

/* Notes that the small pages of whole pieces were asked to become huge at once
 * (MADV_COLLAPSE). */
void mappings_collapse(struct mappings *m, uint64_t first, uint64_t size);

#endif
