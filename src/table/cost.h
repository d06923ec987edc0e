/* SPDX-License-Identifier: MIT */
/*
 * What events cost, for estimates of time: at least, typically and at most so
 * many cycles each. The machine's own come from data/machines/NAME/costs.toml;
 * others from a file as `tally perfex -t` prints it: EVENT TYPICAL MINIMUM
 * MAXIMUM on a line, # before what is not read.
 */
#ifndef TALLY_TABLE_COST_H
#define TALLY_TABLE_COST_H

#include "table/table.h"

struct cost {
    double minimum, typical, maximum; /* cycles */
    const char *source;               /* NULL: of a file */
    bool known, assumed;
};

/* By the machine's events, made ones too; the caller frees the rows. NULL
 * without memory. */
struct cost *
cost_table(const struct machine_row *machine, const uint64_t *params);

/* Rows of a file take the place of those in `costs`. 0 or an error, logged with
 * file and line. */
int cost_table_read(const struct machine_row *machine, const char *path,
                    const struct tally_log *log, struct cost *costs);

#endif
