/* SPDX-License-Identifier: MIT */
/*
 * Writes a sweep for people, scripts and spreadsheets, and as a plot. Each
 * returns 0, TALLY_ENOMEM, or TALLY_EIO with errno.
 */
#ifndef TALLY_SWEEP_SWEEP_REPORT_H
#define TALLY_SWEEP_SWEEP_REPORT_H

#include <stdio.h>

#include "sweep/sweep.h"

/* Writes where each event is least and most, and then the points as a table. */
int sweep_write_text(const struct sweep *s, FILE *out);

/* Writes a row for each point: its values, its counts with their standings, the
 * status of the program, and why it has no counts. */
int sweep_write_csv(const struct sweep *s, FILE *out);

/* Writes one document, which doc/sweep.md describes. */
int sweep_write_json(const struct sweep *s, FILE *out);

/* Writes a picture for a browser: a plot for each event, over the longest axis
 * of numbers, with a line for each combination of the other values. */
int sweep_write_svg(const struct sweep *s, FILE *out);

/* Returns the axis that plots go along: the longest of numbers, or else the
 * longest. */
size_t sweep_plot_axis(const struct sweep *s);

/* Returns the points from one value of an axis to the next. */
size_t sweep_stride(const struct sweep *s, size_t axis);

#endif
