/* SPDX-License-Identifier: MIT */
/* What is to be said of a run for people, a line each. */
#ifndef TALLY_REPORT_RUN_NOTE_H
#define TALLY_REPORT_RUN_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/session.h"

#define RUN_NOTE 384 /* room for any of the lines */

/* Says how many programs and processes a sum is of, and which three programs
 * have the most instructions of it; false: it is of one process. */
bool report_programs(const struct session_result *run, char *text, size_t size);

/* Says that threads ran side by side, so that counts vary, or in turns; false:
 * there was one thread at a time. */
bool report_threads(const struct session_result *run, char *text, size_t size);

/* Says which signals came from a timer or from outside, so that counts vary;
 * false: none did. */
bool report_signals(const struct session_result *run, char *text, size_t size);

/* Says that processes ran side by side, so that counts vary; false: none did so
 * in a way that counts may show. */
bool report_beside(const struct session_result *run, char *text, size_t size);

/* Says that the program's random bytes were fixed; false: it read none. */
bool
report_random_fixed(const struct session_result *run, char *text, size_t size);

/* Says that some of them could not be fixed; false: there were none. */
bool
report_random_left(const struct session_result *run, char *text, size_t size);

/* Says how many threads' counts are in no sum; false: all are. */
bool report_lost(const struct session_result *run, char *text, size_t size);

/* Says how many blocks were left before their end, and how far counts may be
 * off; false: none was. */
bool
report_left_early(const struct session_result *run, char *text, size_t size);

/* Says how many threads share one row; false: each has its own. */
bool report_heaped(const struct session_result *run, char *text, size_t size);

/* Says of how many processes counting ended before they did; false: of none. */
bool report_cut(const struct session_result *run, char *text, size_t size);

/* Says that the trace of the run is cut short or damaged, and so lacks a part
 * of the run; false: it is not, or there is no trace. */
bool report_trace(const struct session_result *run, char *text, size_t size);

#define RUN_NOTES 7 /* lines at most of run_notes_take() */

/* What reports without counts by event, such as curves, say of a run. */
struct run_notes {
    char text[RUN_NOTES][RUN_NOTE];
    const char *lines[RUN_NOTES + 1]; /* into `text`, NULL-terminated */
};

/* Fills in what is to be said of the run: its programs, threads, signals,
 * processes side by side, and what its sums lack. */
void run_notes_take(struct run_notes *notes, const struct session_result *run);

/* Says what the sum lacks: the program, process, threads or later parts with
 * this index. Returns false if there is no such index. */
bool report_left_out(const struct session_result *run, size_t index, char *text,
                     size_t size);

/* Says why the counts of `one` are in no sum. */
void report_inconsistent(const struct session_inconsistent *one, char *text,
                         size_t size);

#endif
