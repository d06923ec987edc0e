/* SPDX-License-Identifier: MIT */
/*
 * How names of foreign origin are shown: of programs, functions, files, events
 * and whatever else a stranger may have chosen.
 *
 * A name that a form can show stands as it is. In any other name each byte that
 * is not UTF-8 becomes \xNN, each character that the form cannot show becomes
 * \xNN (ASCII) or \u{NN}, and each backslash is doubled. A name that holds the
 * text \xNN or \u{ counts as one that cannot be shown, so that two different
 * names never look the same.
 */
#ifndef TALLY_BASE_ESCAPE_H
#define TALLY_BASE_ESCAPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum escape_form {
    /* A line on a terminal: no control characters (C0, DEL, C1), no ends of
     * lines (U+2028, U+2029), nothing that turns the direction of text. */
    ESCAPE_LINE,
    /* UTF-8, for a writer of JSON, which escapes control characters itself. */
    ESCAPE_JSON,
    /* A cell of a table: the characters of XML 1.0, but of the control
     * characters only the tab and the newline. */
    ESCAPE_CELL,
};

/* Returns whether the form shows the name as it is. */
bool escape_is_plain(const char *name, enum escape_form form);

/* Returns the name as the form shows it, for the caller to free; NULL: there is
 * no memory. */
char *escape_copy(const char *name, enum escape_form form);

/* Writes the name as the form shows it, for an element or an attribute of XML
 * or HTML: nothing in it is markup, and tabs and newlines stay what they are.
 */
void escape_markup(const char *name, enum escape_form form, FILE *out);

/* Prints as fprintf() does, but each %s by the rule of ESCAPE_LINE; a precision
 * counts bytes of the name, and cuts no character. Takes no %n, no %ls and no
 * long double. */
__attribute__((format(printf, 2, 3))) void
escape_printf(FILE *out, const char *format, ...);

#endif
