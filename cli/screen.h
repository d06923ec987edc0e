/* SPDX-License-Identifier: MIT */
/*
 * What a person reads: gathered first, then shown on stdout, through a pager
 * where stdout is a terminal that it does not fit on. Lines are cut at the
 * terminal's width; what goes into a file or a pipe is not cut.
 */
#ifndef TALLY_CLI_SCREEN_H
#define TALLY_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct screen {
    FILE *out;    /* what to write to */
    size_t width; /* lines are cut here; 0: they are not */
    size_t fold;  /* prose is broken here */
    bool color;
    size_t rows; /* of the terminal, 0: stdout is none */
    char *text;
    size_t size;
};

/* Opens a screen. `color`: the value of --color, or NULL. Returns 0, or a
 * status after telling why. */
int screen_open(struct screen *s, const char *color);

/* Shows what was written and frees it. Returns a status. */
int screen_close(struct screen *s);

/* Writes a line in bold; empty lines may stand before it. */
__attribute__((format(printf, 2, 3))) void
screen_heading(struct screen *s, const char *format, ...);

/*
 * Writes the rest of a line of which `used` columns are written, cut if need
 * be, and ends the line.
 */
void screen_rest(struct screen *s, size_t used, const char *text);

/* Writes a text broken into lines; `used` columns of the first line are
 * written. */
void
screen_prose(struct screen *s, size_t used, size_t indent, const char *text);

/* Writes "  label      text", broken into lines that begin where the text does.
 */
#define SCREEN_LABEL 15
void screen_item(struct screen *s, const char *label, const char *text);

/* Does what screen_item() does with a formatted text of at most 2,047 bytes. */
__attribute__((format(printf, 3, 4))) void
screen_itemf(struct screen *s, const char *label, const char *format, ...);

#endif
