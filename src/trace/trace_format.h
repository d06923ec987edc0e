/* SPDX-License-Identifier: MIT */
/* The chunks of a trace of tally; doc/format/trace.md says what is in each. */
#ifndef TALLY_TRACE_TRACE_FORMAT_H
#define TALLY_TRACE_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_ring.h"

enum trace_chunk {
    TRACE_CHUNK_HEAD = 0x44414548, /* "HEAD": first */
    TRACE_CHUNK_BODY = 0x59444f42, /* "BODY": what the program did */
    TRACE_CHUNK_RUN = 0x204e5552,  /* "RUN ": last */
};

/* Of HEAD. It rises when an old reader would guess otherwise. What tally trace
 * import writes is of a schema of its own, whose blocks have no code. */
#define TRACE_SCHEMA_OBJECTS 2 /* the first one with objects and parts */
#define TRACE_SCHEMA_IMPORTED 3
#define TRACE_SCHEMA 4 /* with threads: what tally trace record writes */

/* What an imported trace has, a bit each; a recorded one has all. */
enum trace_holds {
    TRACE_HOLDS_DATA = 1 << 0,         /* addresses of loads and stores */
    TRACE_HOLDS_SIZES = 1 << 1,        /* their bytes */
    TRACE_HOLDS_FETCHES = 1 << 2,      /* addresses of code */
    TRACE_HOLDS_INSTRUCTIONS = 1 << 3, /* where each instruction begins */
    TRACE_HOLDS_BRANCHES = 1 << 4,     /* which are branches, of which kind */
    TRACE_HOLDS_END = 1 << 5,
};

/* The parts of a BODY chunk, in their order. */
enum trace_section {
    TRACE_MADE,        /* blocks, images, the start */
    TRACE_RUNS,        /* how many blocks ran as guessed */
    TRACE_KINDS,       /* what of the next block was not, enum trace_kind */
    TRACE_NUMBERS,     /* of blocks */
    TRACE_PATTERNS_OF, /* which instructions made accesses */
    TRACE_SYMBOLS,     /* how each address was found, enum trace_symbol */
    TRACE_LOW,         /* the lowest byte of what was added to an address */
    TRACE_MIDDLE,      /* the next byte */
    TRACE_HIGH,        /* further bytes */
    TRACE_EVENTS,      /* system calls */
    TRACE_SECTIONS
};

/* Of a block that ran otherwise than guessed: a sum of the first four; or one
 * of the others. */
enum trace_kind {
    TRACE_KIND_OTHER = 1,     /* it is the second guess */
    TRACE_KIND_NUMBER = 2,    /* its number is in TRACE_NUMBERS */
    TRACE_KIND_PATTERN = 4,   /* its pattern is in TRACE_PATTERNS_OF */
    TRACE_KIND_ADDRESSES = 8, /* its addresses are in TRACE_SYMBOLS */
    TRACE_KIND_EVENT = 64,    /* no block: an event */
    TRACE_KIND_END = 65,      /* no block: the chunk's end */
};

/* How an address was found. */
enum trace_symbol {
    TRACE_SYMBOL_GUESSED,   /* by the mode that the site has */
    TRACE_SYMBOL_MODE,      /* this and the next: by another mode, which it has
                               from now on */
    TRACE_SYMBOL_ADDED = 5, /* this and the next seven: 1 to 8 bytes are added
                               to the last address, zigzag */
    TRACE_SYMBOL_END = 13,
};

/* In TRACE_MADE. */
enum trace_made {
    TRACE_MADE_START = 1,
    TRACE_MADE_BLOCK = 2,
    TRACE_MADE_IMAGE = 3,
};

/* In TRACE_EVENTS. */
enum trace_event {
    TRACE_EVENT_CALL = 1,
    TRACE_EVENT_RETURN = 2,
    TRACE_EVENT_STRAY = 3,  /* an access of a block that does not run */
    TRACE_EVENT_MAP = 4,    /* what is mapped somewhere from now on */
    TRACE_EVENT_THREAD = 5, /* this and the next two: enum trace_thread */
};

/* Blocks of a BODY chunk that run as guessed one after another. */
#define TRACE_RUN_MOST (UINT64_C(1) << 27)

#define TRACE_CALL_WORDS 8u /* arguments of a system call */
#define TRACE_PIECES 4u     /* of memory, of a system call */
#define TRACE_PIECE_MOST 4096u

/* What a trace says of the program. */
struct trace_head {
    const char *version; /* of tally */
    const char *isa;
    const char *cpu;                       /* the guest's CPU model, or "" */
    const char *path;                      /* of the program's file */
    uint64_t code, code_offset, code_size; /* as in struct program */
    char *const *argv;                     /* ends with NULL */
    /* The library that the program had preloaded so that the trace has what its
     * allocator gave, or "". The trace has what was mapped then. */
    const char *allocations;
    const char *loader; /* of the program's shared libraries; "": it has none */
    const char *part; /* the options that asked for a part of the run, or "" */
    uint64_t quantum; /* of the turns of its threads; 0: they took none */
    bool by_cycles; /* `quantum` is of modelled cycles, else of instructions */
    const char *source; /* of an imported trace: the format's name; or NULL */
    uint64_t holds;     /* enum trace_holds; of a recorded trace 0 */
};

/* What a trace says of the run. */
struct trace_run {
    uint64_t end;          /* enum trace_end */
    uint64_t status;       /* of the program, as waitpid() gives it */
    uint64_t instructions; /* of the blocks that ran */
    uint64_t blocks, accesses, calls;
    uint64_t counted; /* instructions that the live run counted; 0: not known */
    uint64_t threads; /* that the program had, with the first */
};

#endif
