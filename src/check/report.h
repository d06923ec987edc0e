/* SPDX-License-Identifier: MIT */
/*
 * Writes what `tally check` found, in the forms that people and other programs
 * read. Each function writes a whole document and returns 0; TALLY_ENOMEM, or
 * TALLY_EIO with errno. Names that other programs read are escaped by their
 * rules.
 */
#ifndef TALLY_CHECK_REPORT_H
#define TALLY_CHECK_REPORT_H

#include <stdio.h>

#include "check/result.h"

/* For a terminal: what is wrong first. */
int check_write_text(const struct check_report *report, bool color, FILE *out);

/* For a comment on a change, in GitHub's kind of Markdown. */
int check_write_markdown(const struct check_report *report, FILE *out);

/* JUnit's XML, as Jenkins and GitLab read it: a case for each benchmark, of the
 * class "tally check". */
int check_write_junit(const struct check_report *report, FILE *out);

/* All that the report has; doc/check.md has the members. */
int check_write_json(const struct check_report *report, FILE *out);

/* The array of the form customSmallerIsBetter of github-action-benchmark: a
 * median for each measure of each benchmark that ran. */
int check_write_action(const struct check_report *report, FILE *out);

/* Bencher Metric Format: the medians with the least and most as bounds. */
int check_write_bencher(const struct check_report *report, FILE *out);

/* Returns how many benchmarks ended with the status. */
size_t check_count(const struct check_report *report, enum check_status status);

/* Functions that a report for people shows of a benchmark. */
#define CHECK_SHOWN 10u

/* Writes a change, "+1.25 %", or where it is infinite "from 0". `text` has
 * CHECK_CHANGE_TEXT bytes. */
#define CHECK_CHANGE_TEXT 32
void check_percent_text(double change, char *text);

/* The same of a measure; of one without a baseline "new". */
void check_change_text(const struct check_measure *measure, char *text);

/* The parts of a change of the cost: of `work` and `places`. */
#define CHECK_SPLIT "%+.2f %% other work, %+.2f %% misses and mispredictions"

/* Returns one sentence that says what the report comes to, for the caller to
 * free; NULL: no memory. */
char *check_summary(const struct check_report *report);

#endif
