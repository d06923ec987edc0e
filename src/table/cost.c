/* SPDX-License-Identifier: MIT */
#include "table/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"

#define MOST 1e6

struct cost *
cost_table(const struct machine_row *machine, const uint64_t *params)
{
    struct cost *costs =
        calloc(machine->event_count + machine->made_count + 1, sizeof(*costs));

    for (size_t i = 0; costs != NULL && i < machine->cost_count; i++) {
        const struct cost_row *row = &machine->costs[i];
        const double unit = row->per < 0 ? 1 : (double)params[row->per];
        costs[row->event] = (struct cost){
            .minimum = row->minimum * unit,
            .typical = row->typical * unit,
            .maximum = row->maximum * unit,
            .source = row->source,
            .known = true,
            .assumed = row->assumed,
        };
    }
    return costs;
}

/* The command never calls setlocale(): a point is a point. */
static bool
read_cycles(const char *word, double *cycles)
{
    char *end;

    *cycles = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*cycles) && *cycles >= 0 &&
           *cycles <= MOST;
}

static int
read_line(const struct machine_row *machine, char *line, const char *path,
          unsigned number, const struct tally_log *log, struct cost *costs)
{
    char *words[5], *rest = line;
    size_t count = 0;
    double typical, minimum, maximum;

    line[strcspn(line, "#")] = '\0';
    while (count < 5 && (words[count] = strtok_r(rest, " \t\r\n", &rest)))
        count++;
    if (count == 0)
        return 0;
    if (count != 4 || !read_cycles(words[1], &typical) ||
        !read_cycles(words[2], &minimum) || !read_cycles(words[3], &maximum))
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s:%u: a line is EVENT TYPICAL MINIMUM MAXIMUM, in "
                          "cycles from 0 to %.0f",
                          path, number, MOST);
    if (minimum > typical || typical > maximum)
        return tally_fail(log, TALLY_ERANGE,
                          "%s:%u: typical must be between minimum and maximum",
                          path, number);
    const struct event_row *event = event_find(machine, words[0]);
    if (event == NULL)
        return tally_fail(log, TALLY_EUNKNOWN, "%s:%u: no event '%s' on %s",
                          path, number, words[0], machine->name);
    costs[event - machine->events] = (struct cost){
        .minimum = minimum,
        .typical = typical,
        .maximum = maximum,
        .known = true,
    };
    return 0;
}

int
cost_table_read(const struct machine_row *machine, const char *path,
                const struct tally_log *log, struct cost *costs)
{
    FILE *file = input_stream(path);
    char *line = NULL;
    size_t size = 0;
    int error = 0;

    if (file == NULL)
        return tally_fail(log, TALLY_EIO, "cannot read %s: %s", path,
                          input_reason(errno));
    for (unsigned number = 1; error == 0 && getline(&line, &size, file) >= 0;
         number++)
        error = read_line(machine, line, path, number, log, costs);
    if (error == 0 && ferror(file))
        error = tally_fail(log, TALLY_EIO, "cannot read %s: %s", path,
                           strerror(errno));
    free(line);
    fclose(file);
    return error;
}
