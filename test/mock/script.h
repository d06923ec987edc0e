/* SPDX-License-Identifier: MIT */
/*
 * The machine that the mock plays, as a script of lines says it (README.md here
 * has the words). Lines that only the made-up /sys needs are passed over:
 * tree.py reads those.
 */
#ifndef MOCK_SCRIPT_H
#define MOCK_SCRIPT_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOCK_PMUS = 32, MOCK_RATES = 256, MOCK_FAULTS = 64 };

struct mock_pmu {
    char name[40];
    uint32_t type;
    bool core;     /* takes the generic hardware and cache events */
    bool uncore;   /* belongs to no task */
    bool software; /* goes into any group */
    bool topdown;  /* raw events with code 0 need no general counter */
    cpu_set_t cpus;
    unsigned counters; /* general ones; 0: as many as wanted */
    unsigned taken;    /* of them held by somebody else */
    uint64_t fixed;    /* generic events with a counter of their own, bits */
    unsigned share;    /* per cent of a task's time on these cpus */
    unsigned steal;    /* per cent of the time without counters */
    unsigned precise;  /* highest precise_ip */
};

/* A count per millisecond of running; 0: the counter is dead. */
struct mock_rate {
    uint32_t type;
    uint64_t config;
    uint64_t per_ms;
};

enum mock_call { MOCK_OPEN, MOCK_READ, MOCK_IOCTL, MOCK_MMAP };

/* What is not an errno: a read of 0 bytes; a counter that stands still. */
enum { MOCK_END = -1, MOCK_STOP = -2 };

struct mock_fault {
    enum mock_call call;
    int error;
    int64_t type, config, cpu; /* -2: any */
    unsigned after;            /* calls that go well before */
    unsigned times;            /* calls that fail; 0: all */
    unsigned seen;
};

struct mock_machine {
    unsigned cpu_count;
    cpu_set_t online;
    int paranoid;
    bool capable;
    bool without_exclude_guest, without_cloexec, without_lost;
    uint64_t step; /* ns an enabled event is aged by each read; 0: real time */
    struct mock_pmu pmus[MOCK_PMUS];
    unsigned pmu_count;
    struct mock_rate rates[MOCK_RATES];
    unsigned rate_count;
    struct mock_fault faults[MOCK_FAULTS];
    unsigned fault_count;
};

/* Exits with a line on stderr when the script is wrong: a test's own fault. */
void mock_script_read(const char *path, struct mock_machine *machine);

#endif
