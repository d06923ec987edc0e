/* SPDX-License-Identifier: MIT */
/* What the tests of tables share: rows that name their line when they fail. */
#ifndef TALLY_TEST_CHECK_H
#define TALLY_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "table/table.h"

#define TEXT_SIZE 1024
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONG_NAME \
    "a123456789b123456789c123456789d123456789e123456789f123456789g123456789"

/* Keeps the last line; of warnings their number too. */
struct heard {
    char text[TEXT_SIZE];
    int lines, warnings;
};

static inline void
hear(void *user, enum tally_level level, const char *text)
{
    struct heard *heard = user;

    assert_true(level == TALLY_LOG_ERROR || level == TALLY_LOG_WARNING);
    heard->warnings += level == TALLY_LOG_WARNING;
    snprintf(heard->text, sizeof(heard->text), "%s", text);
    heard->lines++;
}

static inline struct tally_log
listen(struct heard *heard)
{
    *heard = (struct heard){.lines = 0};
    return (struct tally_log){.write = hear, .user = heard};
}

static inline void
same_text(int line, const char *got, const char *wanted)
{
    if (strcmp(got, wanted) != 0)
        fail_msg("row at line %d:\n  got:    %s\n  wanted: %s", line, got,
                 wanted);
}

static inline void
same_number(int line, long long got, long long wanted)
{
    if (got != wanted)
        fail_msg("row at line %d: got %lld, wanted %lld", line, got, wanted);
}

/* One line was logged and the code is right. */
static inline void
same_error(int line, int got, int wanted, const struct heard *heard,
           const char *text)
{
    same_text(line, heard->text, text);
    same_number(line, got, wanted);
    same_number(line, heard->lines, 1);
}

/* Of all parameters, as the machine has them. */
static inline void
values_of(const struct machine_row *machine, uint64_t *values)
{
    for (size_t i = 0; i < PARAM_COUNT; i++)
        values[i] = machine->params[i].value;
}

static inline const struct machine_row *
machine_of(const char *name)
{
    const struct machine_row *machine = machine_find(name);

    if (machine == NULL)
        fail_msg("no machine %s", name);
    return machine;
}

/* The machines that a manual describes, which have counters; not the fake one.
 */
static inline bool
is_documented(const struct machine_row *machine)
{
    return !machine->hidden && !machine->native && machine->counter_count != 0;
}

/* The counter by name, or NULL. */
static inline const struct counter_row *
counter_find(const struct machine_row *machine, const char *name)
{
    for (size_t i = 0; i < machine->counter_count; i++)
        if (strcmp(machine->counters[i].name, name) == 0)
            return &machine->counters[i];
    return NULL;
}

/* Repeatable everywhere: xorshift64. */
static inline uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
