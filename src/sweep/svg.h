/* SPDX-License-Identifier: MIT */
/* What the plots of sweeps, curves and phases share. */
#ifndef TALLY_SWEEP_SVG_H
#define TALLY_SWEEP_SVG_H

#include <stdio.h>

#define SVG_LEFT 92.0     /* where a plot begins */
#define SVG_RIGHT 620.0   /* where it ends, and what stands beside begins */
#define SVG_CHARACTER 6.6 /* of text */
#define SVG_TICKS 4       /* of an axis of numbers */
#define SVG_COLOURS 7u

/* Colours that people with any sight tell apart (Okabe and Ito, 2008), without
 * the palest. */
extern const char *const svg_colours[SVG_COLOURS];

/* Begins a picture, whose first line is the text. */
void svg_begin(double width, double height, const char *text, FILE *out);
void svg_end(FILE *out);

/* Writes a name of foreign origin. */
void svg_text(const char *text, FILE *out);

/* Returns the least number of the form 1, 2, 2.5 or 5 times a power of ten
 * whose SVG_TICKS-fold reaches `count`. */
double svg_step(double count);

/* Writes a number in units of 1,000. */
void svg_number(double number, FILE *out);

#endif
