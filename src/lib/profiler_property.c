/* SPDX-License-Identifier: MIT */
#include "lib/profiler_state.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { NUMBER, TEXT, SWITCH, CLOCK };

static const struct property {
    const char *name;
    enum kind kind;
    size_t offset;
    uint64_t least, most; /* of a number; most bytes of a text, NUL included */
} rows[] = {
    {"profiler_log_table_size", NUMBER,
     offsetof(struct profiler_properties, log_table_size), 1,
     CALL_LOG_SIZE_MAX},
    {"profiler_buffer_size", NUMBER,
     offsetof(struct profiler_properties, log_table_size), 1,
     CALL_LOG_SIZE_MAX},
    {"profiler_user_data_size", NUMBER,
     offsetof(struct profiler_properties, user_data_size), 0, DUMP_WORDS},
    {"profiler_buffer_file", TEXT,
     offsetof(struct profiler_properties, buffer_file), 0, PATH_MAX},
    {"profiler_dump_file", TEXT,
     offsetof(struct profiler_properties, dump_file), 0, PATH_MAX},
    {"profiler_events", TEXT, offsetof(struct profiler_properties, events), 0,
     PROFILER_LIST},
    {"profiler_clock", CLOCK,
     offsetof(struct profiler_properties, instructions), 0, 0},
    {"profiler_counter_bits", NUMBER,
     offsetof(struct profiler_properties, counter_bits), 1, 64},
    {"profiler_rotate", SWITCH, offsetof(struct profiler_properties, rotate), 0,
     1},
};

static int
set_number(const struct property *row, const char *given, const char *value,
           void *to, const struct tally_log *log)
{
    char *end;

    errno = 0;
    const uint64_t number = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end != '\0')
        return tally_fail(log, TALLY_ESYNTAX, "%s takes a number, not '%s'",
                          given, value);
    if (errno != 0 || number < row->least || number > row->most)
        return tally_fail(log, TALLY_ERANGE,
                          "%s takes %" PRIu64 " to %" PRIu64 ", not %s", given,
                          row->least, row->most, value);
    if (row->kind == SWITCH)
        *(bool *)to = number != 0;
    else
        *(uint64_t *)to = number;
    return 0;
}

static int
set_clock(const char *given, const char *value, bool *instructions,
          const struct tally_log *log)
{
    const bool wanted = strcmp(value, "instructions") == 0;

    if (!wanted && strcmp(value, "cycles") != 0)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s takes cycles or instructions, not '%s'", given,
                          value);
    *instructions = wanted;
    return 0;
}

static int
set_text(const struct property *row, const char *given, const char *value,
         char *to, const struct tally_log *log)
{
    if (strlen(value) >= row->most)
        return tally_fail(log, TALLY_ERANGE,
                          "%s takes up to %" PRIu64 " bytes, not %zu", given,
                          row->most - 1, strlen(value));
    strcpy(to, value);
    return 0;
}

int
profiler_property(struct profiler_properties *properties, const char *name,
                  const char *given, const char *value,
                  const struct tally_log *log)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *const to = (char *)properties + rows[i].offset;
        if (strcmp(rows[i].name, name) != 0)
            continue;
        if (rows[i].kind == CLOCK)
            return set_clock(given, value, (bool *)to, log);
        return rows[i].kind == TEXT
                   ? set_text(&rows[i], given, value, to, log)
                   : set_number(&rows[i], given, value, to, log);
    }
    return tally_fail(log, TALLY_EUNKNOWN, "there is no property '%s'", given);
}

void
profiler_variable(const char *name, char variable[PROFILER_VARIABLE])
{
    size_t length = (size_t)snprintf(variable, PROFILER_VARIABLE, "TALLY_");

    for (; *name != '\0' && length < PROFILER_VARIABLE - 1; name++)
        variable[length++] = (char)toupper((unsigned char)*name);
    variable[length] = '\0';
}

int
profiler_environment(struct profiler_properties *properties,
                     const struct tally_log *log)
{
    int first = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char name[PROFILER_VARIABLE];
        profiler_variable(rows[i].name, name);
        const char *const value = getenv(name);
        const int error =
            value != NULL
                ? profiler_property(properties, rows[i].name, name, value, log)
                : 0;
        if (first == 0)
            first = error;
    }
    return first;
}

bool
profiler_path(const char *path, char *to, size_t size)
{
    const char *mark = strstr(path, "%p");
    int length;

    if (mark == NULL)
        length = snprintf(to, size, "%s", path);
    else
        length = snprintf(to, size, "%.*s%ld%s", (int)(mark - path), path,
                          (long)getpid(), mark + 2);
    return length >= 0 && (size_t)length < size;
}
