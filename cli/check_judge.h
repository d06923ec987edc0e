/* SPDX-License-Identifier: MIT */
/* What the runs of tally check come to. */
#ifndef TALLY_CLI_CHECK_JUDGE_H
#define TALLY_CLI_CHECK_JUDGE_H

#include "check/baseline.h"
#include "check/result.h"
#include "cli/check_plan.h"

/* What the runs are held to; all is the caller's. */
struct check_standard {
    const struct check_baseline *baseline;
    const char *path; /* of the baseline */
    bool strict;      /* a soft limit counts as a hard one */
};

/* Judges each benchmark of a plan whose runs have ended, into a zeroed report.
 * `counted` gets the counts of each benchmark that ran and repeats; NULL: they
 * are not kept.
 * *failure becomes the exit status where tally failed or a benchmark was asked
 * for wrongly; else it is left. Returns 0 or TALLY_ENOMEM;
 * check_report_finish() in any case. */
int check_judge(const struct check_plan *plan,
                const struct check_standard *standard,
                struct check_baseline *counted, struct check_report *report,
                int *failure);

#endif
