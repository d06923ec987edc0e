/* SPDX-License-Identifier: MIT */
/*
 * What a guest program and the plugin that runs it say to each other.
 *
 * The guest rings: a system call that no kernel has, with an operation and the
 * address of a struct in the guest's memory. The plugin sees the call before
 * QEMU refuses it and answers in that struct, in the guest's order of bytes.
 * The first ring is a prctl() that kernels refuse, so that a program may try
 * whatever sandbox it is in.
 *
 * Or the guest asks, which is GATEWAY_READ without a call: it puts the address
 * of the struct into its thread's page and executes a code that does nothing,
 * on any processor; the plugin answers before it.
 *
 * And the guest loads: counts that the plugin keeps current in memory of its
 * own, which the guest sees too, in the host's order of bytes, which is little
 * endian.
 */
#ifndef TALLY_GATEWAY_PROTOCOL_H
#define TALLY_GATEWAY_PROTOCOL_H

#include <stdint.h>

#define GATEWAY_VERSION 6
#define GATEWAY_PRCTL 0x74616c79 /* its option; the struct is argument 2 */
#define GATEWAY_CALL 31249       /* its number; operation, struct */

enum gateway_operation {
    GATEWAY_WAIT,     /* nothing; see gateway_page.epoch */
    GATEWAY_EVENTS,   /* struct gateway_events */
    GATEWAY_READ,     /* struct gateway_read */
    GATEWAY_REGISTER, /* struct gateway_register */
    GATEWAY_WATCH,    /* struct gateway_watch */
    GATEWAY_VIRTUAL,  /* struct gateway_virtual */
};

#define GATEWAY_SLOTS 124
#define GATEWAY_THREADS 65536u

/* Of the process. */
struct gateway_page {
    uint64_t generation; /* one more in each child of a fork */
    uint64_t epoch;      /* of the last events that are counted by now */
    uint64_t reserved[62];
};

/* Of a thread, by its number; they follow the page. It stays when the thread
 * has ended. */
struct gateway_live {
    uint64_t value[GATEWAY_SLOTS]; /* by signal that is fixed */
    uint32_t maker, strand;
    uint64_t ask; /* address of a struct gateway_read; the guest's word */
    uint64_t reserved[2];
};

/* The overflows of a thread, by its number; they follow the threads. */
#define GATEWAY_OVERFLOWS 60
struct gateway_ring {
    uint64_t head; /* ever written */
    uint64_t reserved[7];
    struct gateway_overflow {
        uint64_t ip, time_ns;
    } rows[GATEWAY_OVERFLOWS];
};

struct gateway_hello {
    uint64_t version; /* the guest's; then the plugin's */
    uint64_t page;    /* address; 0: nobody answered, or another version */
    uint64_t live;    /* address, of the thread that rings */
    uint64_t ring;    /* likewise */
    uint64_t thread;
    uint64_t generation;
    /* Nanoseconds of the machine's clock = instructions * rate >> 20. */
    uint64_t rate;
    uint64_t slot;    /* of instructions */
    uint64_t strands; /* of the machine */
    char machine[40];
};

#define GATEWAY_LIST 64 /* events that one list names, at most */
#define GATEWAY_TEXT 512
#define GATEWAY_NAME 64
#define GATEWAY_SUMMANDS 6

struct gateway_event {
    uint64_t id;
    /* It is the sum of so many live values; 0: ring. */
    uint64_t summands;
    uint64_t slots[GATEWAY_SUMMANDS];
    char name[GATEWAY_NAME];
};

/* Which events a list names. They count, once the page's epoch is there. */
struct gateway_events {
    uint64_t text;  /* address, of a string */
    uint64_t room;  /* in events */
    uint64_t rows;  /* address, of them */
    uint64_t count; /* from here on: the answer */
    uint64_t epoch;
    uint64_t error; /* enum tally_error as a signed number */
    char message[GATEWAY_TEXT];
};

enum gateway_scope {
    GATEWAY_THREAD,      /* `thread` alone */
    GATEWAY_DESCENDANTS, /* and what it made, from number `since` on */
    GATEWAY_PROCESS,     /* all, those that ended included */
    GATEWAY_STRAND,      /* those on strand `thread` of the machine */
};

/* Instructions retired, as an id. */
#define GATEWAY_INSTRUCTIONS UINT64_MAX

struct gateway_read {
    uint64_t scope, thread, since;
    uint64_t count;   /* of ids */
    uint64_t ids;     /* address, of 64-bit numbers */
    uint64_t values;  /* address, likewise */
    uint64_t threads; /* answer: made so far */
};

/* What software does with the monitor of the strand that it runs on. */
enum gateway_access {
    GATEWAY_FIND, /* `text` is a register's name; its id, or TALLY_EUNKNOWN */
    GATEWAY_GET,
    GATEWAY_SET,
    GATEWAY_PENDING, /* `value`: traps */
    GATEWAY_TAKE,    /* trap `value`; results: counters, executed */
    GATEWAY_SUN4V,   /* trap `id`, function `value`, args; results */
};

struct gateway_register {
    uint64_t access;
    uint64_t text; /* address, of a string */
    uint64_t id, level, value;
    uint64_t args[5];
    uint64_t results[2];
    uint64_t status; /* the answer of tally/pmu.h's call, as a signed number */
    uint64_t epoch;  /* of the page when all that is chosen counts */
};

/* The thread that rings is told each time an event has risen so often more; one
 * event a thread. It is stopped with period 0. */
struct gateway_watch {
    uint64_t summands; /* of the event, at least 1 */
    uint64_t slots[GATEWAY_SUMMANDS];
    uint64_t period;
    uint64_t left;   /* until the first; answer of a stop: until the next */
    uint64_t signal; /* the host's number; 0: none */
    uint64_t epoch;  /* answer: of the page, when it is watched */
    uint64_t busy;   /* answer: 1: the thread has a watch already */
};

/* Virtual counters (counter/virtual.h) of the processes that the session runs,
 * by their numbers. */
enum gateway_virtual_call {
    GATEWAY_OPEN,    /* can `target` be asked about? */
    GATEWAY_PREPARE, /* for a start: from `epoch` on the machine is ready */
    GATEWAY_START,
    GATEWAY_COUNTS,
    GATEWAY_USAGE,
    GATEWAY_CONTROL,
    GATEWAY_CHANGE,
    GATEWAY_RELEASE,
    GATEWAY_SAVE,
    GATEWAY_PROFILE, /* ranges */
    GATEWAY_SYSTEM_START,
    GATEWAY_SYSTEM_COUNTS,
    GATEWAY_SYSTEM_CPU, /* of `cpu` */
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
    uint64_t result;              /* as the core has it, or -errno */
    uint64_t epoch;
    uint64_t value[GATEWAY_VIRTUALS], enabled[GATEWAY_VIRTUALS];
    uint64_t running[GATEWAY_VIRTUALS];
    uint64_t calls, reads, writes; /* of the system by the target */
};

/* struct virtual_range; buckets of 16 bits in the guest's order. */
struct gateway_range {
    uint64_t offset, scale, count;
    uint64_t buckets; /* address */
};

#endif
