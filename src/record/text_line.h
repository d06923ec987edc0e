/* SPDX-License-Identifier: MIT */
/* Lines of text for a terminal: how wide they are, and where they are cut. */
#ifndef TALLY_RECORD_TEXT_LINE_H
#define TALLY_RECORD_TEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns how many columns of a terminal a text takes, if each character takes
 * one. */
int text_width(const char *text);

/* Makes `*width` at least as large as `wanted`. */
void text_widen(int *width, int wanted);

/* Writes the rest of a line that has `used` columns so far, cut where a
 * terminal of `width` columns ends (0: not cut), and ends the line. */
void text_end_line(const char *text, int used, size_t width, FILE *out);

/* The same of a name that may hold any bytes, which is written as short as
 * short_name() makes it. */
void text_end_name(const char *name, int used, size_t width, FILE *out);

/* Writes the heading of a table, behind an empty line; bold with `color`. */
void text_heading(const char *text, bool color, FILE *out);

/* Writes a number with its digits in groups, in at least `width` columns. */
void text_number(uint64_t number, int width, FILE *out);

/* Writes `part` of `all` in whole per cent, as "50 %"; of what would round to
 * 0 and is not, "less than 1 %". */
void text_percent(double part, double all, FILE *out);

/* Writes how many of `count` rows a table lacks that has `shown`, if any. */
void text_more(size_t count, size_t shown, FILE *out);

/* Writes a text in lines of `width` columns, or of 80 where that is 0, and ends
 * the last line. The first stands behind `indent` columns that are written
 * already, the others begin with as many spaces. */
void text_wrap(const char *text, size_t indent, size_t width, FILE *out);

#endif
