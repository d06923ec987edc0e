/* SPDX-License-Identifier: MIT */
/*
 * What virtual counters stand on in the test against their twin: narrow
 * counters, or emulated processors. An occurrence is of an event by index on a
 * CPU, in the CPU's mode.
 */
#ifndef TALLY_TEST_VIRTUAL_MACHINE_H
#define TALLY_TEST_VIRTUAL_MACHINE_H

#include "ref/virtual_mips.h"
#include "ref/virtual_mock.h"

enum machine_kind { MACHINE_NARROW, MACHINE_MIPS };

struct machine {
    enum machine_kind kind;
    struct mock mock;
    struct virtual_mips mips;
    struct tally_pmu *monitors[MOCK_CPUS]; /* owned; of MACHINE_MIPS */
};

/* `name` of an emulated processor, `limit` of narrow counters. False: no such
 * processor, or no memory; machine_finish() accepts what is then there. */
bool machine_make(struct machine *m, enum machine_kind kind, const char *name,
                  uint64_t limit, unsigned cpus);
void machine_finish(struct machine *m);

/* What virtual_init() wants of it. */
void *machine_monitor(struct machine *m);

/* One of the four bits, or 0: a mode in which nothing counts. */
void machine_set_mode(struct machine *m, unsigned cpu, unsigned mode);
void machine_occurs(struct machine *m, unsigned cpu, unsigned index);
bool machine_pending(const struct machine *m, unsigned cpu);

#endif
