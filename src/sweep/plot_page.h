/* SPDX-License-Identifier: MIT */
/*
 * The page of a curve of misses, or of a sweep, for a browser: one plot with a
 * line for each part, and a table of the lines. One file without links; names
 * of the program are data that the script shows as text only. What the data
 * are, plot_page.js reads: see plot_page.c.
 */
#ifndef TALLY_SWEEP_PLOT_PAGE_H
#define TALLY_SWEEP_PLOT_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "sweep/curve_drawing.h"
#include "sweep/sweep.h"

/* Writes the page of a curve, with its parts. 0, TALLY_ENOMEM, or TALLY_EIO
 * with errno. */
int curve_write_page(const struct curve_drawing *d, FILE *out);

/* Writes the page of a sweep: a chart for each event, over the same axis as
 * sweep_write_svg(). Returns the same. */
int sweep_write_page(const struct sweep *s, FILE *out);

/* Adds a line of text to an array; a text that is no UTF-8 is escaped. */
void plot_page_say(json_t *array, const char *text);

/* Writes a page with its data, which is released; NULL: no memory. Returns as
 * the others. The data are an object:
 *
 *     title, about, words[], notes[]   texts
 *     x {name, bytes}                  the axis, and whether it is in bytes
 *     charts[] {name, xs[], labels[], ordered, own, units[], lines[]}
 *
 * Of a chart `xs` are numbers, or if not `ordered` places, `labels` their
 * texts, `own` is the machine's own number or null, and `units` {name, factor,
 * suffix} are what counts are shown in. A line is {name, ys[]}, with null where
 * a count is not known, and may have `whole` (the others are its parts),
 * `kind`, `first` (touches), `needs` (one of xs, or null), `lows` and `highs`.
 */
int plot_page_write(json_t *data, FILE *out);

#endif
