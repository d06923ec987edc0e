/* SPDX-License-Identifier: MIT */
/*
 * The costs of events, for estimates of time: the least, typical and most
 * cycles of each. A machine's own costs come from
 * data/machines/NAME/costs.toml, others from a file as `tally perfex -t` prints
 * it: a line has EVENT TYPICAL MINIMUM MAXIMUM; text behind # is skipped.
 */
#ifndef TALLY_TABLE_COST_H
#define TALLY_TABLE_COST_H

#include "table/table.h"

struct cost {
    double minimum, typical, maximum; /* cycles */
    const char *source;               /* NULL: of a file */
    bool known, assumed;
};

/* Returns a cost for each event of the machine, also for those made for generic
 * names; the caller frees the rows. NULL: no memory. */
struct cost *
cost_table(const struct machine_row *machine, const uint64_t *params);

/* Reads a file, whose rows replace those in `costs`. 0 or an error, logged with
 * file and line. */
int cost_table_read(const struct machine_row *machine, const char *path,
                    const struct tally_log *log, struct cost *costs);

#endif
