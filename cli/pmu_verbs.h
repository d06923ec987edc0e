/* SPDX-License-Identifier: MIT */
/* The commands of the console, as pmu_console.c calls them. */
#ifndef TALLY_CLI_PMU_VERBS_H
#define TALLY_CLI_PMU_VERBS_H

#include "cli/pmu_console.h"

/* A line on its way. */
struct pmu_call {
    struct pmu_line line; /* words[0] is the command */
    unsigned strand;
    enum tally_pmu_level level;
    const struct tally_log *log; /* to the result's message */
    struct pmu_result *result;
    bool told; /* results were told already */
    /* The library's error; a line is wrong that did not expect it. */
    int refused;
};

/* Each fills in the result; 0, or an error, logged: the line is wrong. */
int pmu_do_write(struct pmu_console *c, struct pmu_call *call);
int pmu_do_read(struct pmu_console *c, struct pmu_call *call);
int pmu_do_dump(struct pmu_console *c, struct pmu_call *call);
int pmu_do_mode(struct pmu_console *c, struct pmu_call *call);
int pmu_do_signal(struct pmu_console *c, struct pmu_call *call);
int pmu_do_retire(struct pmu_console *c, struct pmu_call *call);
int pmu_do_bundles(struct pmu_console *c, struct pmu_call *call);
int pmu_do_traps(struct pmu_console *c, struct pmu_call *call);
int pmu_do_take(struct pmu_console *c, struct pmu_call *call);
int pmu_do_hcall(struct pmu_console *c, struct pmu_call *call);
int pmu_do_api(struct pmu_console *c, struct pmu_call *call);
int pmu_do_contend(struct pmu_console *c, struct pmu_call *call);

/* The result of an access: "ok", a trap's name, or the library's error. */
void pmu_access_result(struct pmu_call *call, int got);

/* Carries out one line that is no part of a loop, or was filled in for a row of
 * one. */
enum pmu_verdict pmu_do_line(struct pmu_console *c, const char *text,
                             unsigned long number, const char *row);

/* Keeps the first message for a result, which is `user`; for a tally_log. */
void pmu_hear(void *user, enum tally_level level, const char *text);

/* Hands over one of several results of a line. */
void pmu_tell(struct pmu_console *c, struct pmu_call *call);

#endif
