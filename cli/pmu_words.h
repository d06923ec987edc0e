/* SPDX-License-Identifier: MIT */
/* The words of a line of tally-pmu(1). Nothing here prints or exits. */
#ifndef TALLY_CLI_PMU_WORDS_H
#define TALLY_CLI_PMU_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PMU_LINE 1024
#define PMU_WORDS 64

#define PMU_BLANKS " \t\r\n\v\f"

/* Returns whether there is nothing in the line, or a comment only. */
bool pmu_says_nothing(const char *text);

/* Returns whether a word would begin at `at`, where a # begins a comment. */
bool pmu_word_begins(const char *text, size_t at);

/* Returns whether the first word of the line is `word`. */
bool pmu_begins_with(const char *text, const char *word);

struct pmu_line {
    char text[PMU_LINE]; /* cut into words */
    char *words[PMU_WORDS];
    size_t count;
    char wanted[PMU_LINE]; /* what stands after =, "" if there is no = */
};

/*
 * Cuts a line at blanks, and off at a # that begins a word. 0, or
 * TALLY_ESYNTAX, logged.
 */
int pmu_line_split(struct pmu_line *line, const char *text,
                   const struct tally_log *log);

/*
 * Cuts the text after = into the results of several registers: at commas, or at
 * blanks where there is no comma. Moves the results to `words` of `line`.
 */
int pmu_line_results(struct pmu_line *line, const char *wanted,
                     const struct tally_log *log);

/* Takes words out of the line, from `first` on. */
void pmu_line_drop(struct pmu_line *line, size_t first, size_t count);

/*
 * Reads a number: decimal, 0x or 0b, 2^N, the sum or difference of several of
 * these, with a sign before it; modulo 2^64. Returns whether the text is one.
 */
bool pmu_number(const char *text, uint64_t *value);

/* Reads a word that must be a number of at most `max`. Returns 0, or
 * TALLY_ESYNTAX or TALLY_ERANGE, logged with `what`. */
int pmu_number_word(const char *word, const char *what, uint64_t max,
                    const struct tally_log *log, uint64_t *value);

/* Returns whether two results are the same: word by word, numbers by their
 * value. Of a call, whose status begins with E, what was not wanted is not
 * compared. */
bool pmu_same_result(const char *got, const char *wanted);

struct pmu_word {
    const char *name;
    uint64_t value;
};

/*
 * Reads a word of a table that ends with a NULL name, or else a number. Returns
 * 0, or TALLY_EUNKNOWN, logged with near names.
 */
int
pmu_word_value(const struct pmu_word *table, const char *word, const char *what,
               const struct tally_log *log, uint64_t *value);

/* Reads several such words, separated by commas; the value is their OR. */
int pmu_word_bits(const struct pmu_word *table, char *words, const char *what,
                  const struct tally_log *log, uint64_t *value);

#endif
