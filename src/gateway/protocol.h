/* SPDX-License-Identifier: MIT */
/*
 * The protocol between a guest program and the plugin that runs it.
 *
 * The guest rings: it makes a system call that no kernel has, with an operation
 * and the address of a struct in the guest's memory. The plugin sees the call
 * before QEMU refuses it, and answers in that struct, in the guest's byte
 * order. The first ring is a prctl() that kernels refuse, so that a program may
 * try it in any sandbox.
 *
 * The guest looks up: it does a GATEWAY_READ without a system call. It puts the
 * address of the struct into its thread's page and executes an instruction that
 * does nothing on any processor. The plugin answers before that instruction.
 *
 * The guest loads: it reads counts that the plugin keeps current in memory that
 * both share. These counts are in the host's byte order, little endian.
 */
#ifndef TALLY_GATEWAY_PROTOCOL_H
#define TALLY_GATEWAY_PROTOCOL_H

#include <stdint.h>

#define GATEWAY_VERSION 6
#define GATEWAY_PRCTL 0x74616c79 /* its option; the struct is argument 2 */
#define GATEWAY_CALL 31249       /* its number; operation, struct */

enum gateway_operation {
    GATEWAY_WAIT,     /* does nothing; see gateway_page.epoch */
    GATEWAY_EVENTS,   /* struct gateway_events */
    GATEWAY_READ,     /* struct gateway_read */
    GATEWAY_REGISTER, /* struct gateway_register */
    GATEWAY_WATCH,    /* struct gateway_watch */
    GATEWAY_VIRTUAL,  /* struct gateway_virtual */
    /* No struct: an allocator (enum gateway_allocator) has given memory at an
     * address, so many bytes, in place of what it gave at another address
     * before; an address of 0: it has given none, or none is taken back. */
    GATEWAY_ALLOCATION,
};

enum gateway_allocator {
    GATEWAY_FREE,
    GATEWAY_MALLOC,
    GATEWAY_CALLOC,
    GATEWAY_REALLOC,
    GATEWAY_ALIGNED_ALLOC, /* and memalign(), valloc(), pvalloc() */
    GATEWAY_POSIX_MEMALIGN,
    GATEWAY_ALLOCATORS,
};

#define GATEWAY_SLOTS 124
#define GATEWAY_THREADS 65536u

/* The page of the process. */
struct gateway_page {
    uint64_t generation; /* one more in each child of a fork */
    uint64_t epoch;      /* of the last events that count by now */
    uint64_t reserved[62];
};

/* The page of a thread. The pages of threads follow that of the process, by
 * number, and stay when their thread has ended. */
struct gateway_live {
    uint64_t value[GATEWAY_SLOTS]; /* by fixed signal */
    uint32_t maker, strand;
    uint64_t lookup; /* address of a struct gateway_read; the guest writes it */
    uint64_t reserved[2];
};

/* The overflows of a thread. The rings follow the pages of threads, by number.
 */
#define GATEWAY_OVERFLOWS 60
struct gateway_ring {
    uint64_t head; /* number of rows ever written */
    uint64_t reserved[7];
    struct gateway_overflow {
        uint64_t ip, time_ns;
    } rows[GATEWAY_OVERFLOWS];
};

struct gateway_hello {
    uint64_t version; /* the guest's; then the plugin's */
    uint64_t page;    /* address; 0: nobody answered, or another version */
    uint64_t live;    /* address, of the thread that rings */
    uint64_t ring;    /* address, of that thread */
    uint64_t thread;
    uint64_t generation;
    /* Nanoseconds of the machine's clock = instructions * rate >> 20. */
    uint64_t rate;
    uint64_t slot;    /* in `value`, of instructions */
    uint64_t strands; /* of the machine */
    char machine[40];
};

#define GATEWAY_LIST 64 /* events that one list names, at most */
#define GATEWAY_TEXT 512
#define GATEWAY_NAME 64
#define GATEWAY_SUMMANDS 6

struct gateway_event {
    uint64_t id;
    /* The event is the sum of so many live values; 0: it must be read. */
    uint64_t summands;
    uint64_t slots[GATEWAY_SUMMANDS];
    char name[GATEWAY_NAME];
};

/* Finds the events that a list names. They count when the page's epoch has
 * reached `epoch`. */
struct gateway_events {
    uint64_t text;  /* address, of a string */
    uint64_t room;  /* of `rows`, in events */
    uint64_t rows;  /* address, of struct gateway_event */
    uint64_t count; /* from here on: the answer */
    uint64_t epoch;
    uint64_t error; /* enum tally_error as a signed number */
    char message[GATEWAY_TEXT];
};

enum gateway_scope {
    GATEWAY_THREAD,      /* `thread` alone */
    GATEWAY_DESCENDANTS, /* and the threads it made, from number `since` on */
    GATEWAY_PROCESS,     /* all threads, also those that have ended */
    GATEWAY_STRAND,      /* the threads on strand `thread` of the machine */
};

/* Instructions retired, as an id. */
#define GATEWAY_INSTRUCTIONS UINT64_MAX

/* Reads events of some threads. */
struct gateway_read {
    uint64_t scope, thread, since;
    uint64_t count;   /* of ids */
    uint64_t ids;     /* address, of 64-bit numbers */
    uint64_t values;  /* address, of 64-bit numbers */
    uint64_t threads; /* answer: number of threads made so far */
};

/* Calls for the PMU of the strand that the calling thread runs on. */
enum gateway_access {
    GATEWAY_FIND, /* returns the id of register `text`, or TALLY_EUNKNOWN */
    GATEWAY_GET,
    GATEWAY_SET,
    GATEWAY_PENDING, /* sets `value` to the pending traps */
    GATEWAY_TAKE,    /* takes trap `value`; results: counters, executed */
    GATEWAY_SUN4V,   /* calls trap `id`, function `value`, with `args` */
};

struct gateway_register {
    uint64_t access;
    uint64_t text; /* address, of a string */
    uint64_t id, level, value;
    uint64_t args[5];
    uint64_t results[2];
    uint64_t status; /* what the call of tally/pmu.h returns, a signed number */
    uint64_t epoch;  /* of the page when all chosen events count */
};

/* Sends the thread that rings a signal after each `period` occurrences of an
 * event. A thread watches one event; a period of 0 stops the watch. */
struct gateway_watch {
    uint64_t summands; /* of the event, at least 1 */
    uint64_t slots[GATEWAY_SUMMANDS];
    uint64_t period;
    uint64_t left;   /* until the first; a stop answers: until the next */
    uint64_t signal; /* the host's number; 0: none */
    uint64_t epoch;  /* answer: of the page when the watch has begun */
    uint64_t busy;   /* answer: 1: the thread watches an event already */
};

/* Calls for the virtual counters (counter/virtual.h) of process `target` of the
 * session. */
enum gateway_virtual_call {
    GATEWAY_OPEN,    /* checks whether the caller may use `target` */
    GATEWAY_PREPARE, /* for a start, for which all is ready at `epoch` */
    GATEWAY_START,
    GATEWAY_COUNTS,
    GATEWAY_USAGE,
    GATEWAY_CONTROL,
    GATEWAY_CHANGE,
    GATEWAY_RELEASE,
    GATEWAY_SAVE,
    GATEWAY_PROFILE, /* with `ranges` */
    GATEWAY_SYSTEM_START,
    GATEWAY_SYSTEM_COUNTS,
    GATEWAY_SYSTEM_CPU, /* counts of `cpu` */
    GATEWAY_SYSTEM_CONTROL,
    GATEWAY_SYSTEM_CHANGE,
    GATEWAY_SYSTEM_RELEASE,
};

#define GATEWAY_VIRTUALS 32

struct gateway_virtual {
    uint64_t call, target, cpu;
    uint64_t spec[GATEWAY_VIRTUALS]; /* the request, or the answer */
    uint64_t threshold[GATEWAY_VIRTUALS];
    uint64_t signal, host_signal; /* by the guest's number and the host's */
    uint64_t range_count, ranges; /* address, of struct gateway_range */
    uint64_t result;              /* of the call of virtual.h, or -errno */
    uint64_t epoch;
    uint64_t value[GATEWAY_VIRTUALS], enabled[GATEWAY_VIRTUALS];
    uint64_t running[GATEWAY_VIRTUALS];
    uint64_t calls, reads, writes; /* system calls of the target */
};

/* A struct virtual_range; the buckets have 16 bits, in the guest's byte order.
 */
struct gateway_range {
    uint64_t offset, scale, count;
    uint64_t buckets; /* address */
};

#endif
