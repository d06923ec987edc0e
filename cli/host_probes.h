/* SPDX-License-Identifier: MIT */
/* --from and --to on the host: functions become places in the program's file.
 */
#ifndef TALLY_CLI_HOST_PROBES_H
#define TALLY_CLI_HOST_PROBES_H

#include "cli/count_request.h"
#include "host/count.h"
#include "source/program.h"

struct host_marks {
    struct program program;
    struct host_probes probes;
    bool wanted, opened;
};

/* Finds the places of --from and --to. Returns 0, or an exit status after
 * telling why. The caller calls host_marks_finish() in any case. */
int host_marks_find(const struct count_request *request, char *const *argv,
                    struct host_marks *marks);
void host_marks_finish(struct host_marks *marks);

/* Writes what people should know of a run with marks, without a newline at its
 * end. */
void
host_marks_note(const struct host_marks *marks,
                const struct host_count_result *run, char *text, size_t size);

#endif
