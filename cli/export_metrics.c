/* SPDX-License-Identifier: MIT */
#include "cli/export_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/input.h"
#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "fleet/metrics.h"
#include "record/chunks.h"
#include "version.h"

#define REPORT_MOST ((size_t)64 << 20) /* bytes that are read */

/* Adds the report to the exposition. 0 or an error, logged. */
static int
add_report(const char *text, size_t size, const char *name,
           struct exposition *exposition)
{
    int error;

    if (fleet_document_kind(text, size) == FLEET_CHECK) {
        struct fleet_results results = {0};
        error =
            fleet_results_read_text(text, size, name, &command_log, &results);
        if (error == 0)
            fleet_add_results(exposition, &results);
        fleet_results_finish(&results);
        return error;
    }
    struct count_document *document = NULL;
    error = count_document_read(text, size, name, &command_log, &document);
    if (error == 0 && document->has_parts)
        error = tally_fail(&command_log, TALLY_ESYNTAX,
                           "%s: has counts of single cpus or threads; a report "
                           "of sums is exported",
                           name);
    if (error == 0)
        fleet_add_count(exposition, document);
    count_document_destroy(document);
    return error;
}

/* Writes the exposition where it shall be. Returns an exit status. */
static int
write_out(const struct exposition *exposition, const char *path)
{
    struct output out = {.file = stdout};
    int status = path != NULL ? output_open(path, REPLACE_WHOLE, &out) : 0;

    if (status != 0)
        return status;
    errno = 0;
    int error = exposition_write(exposition, EXPOSITION_OPENMETRICS, out.file);
    if (path != NULL)
        error = output_end(&out, error);
    else if (error == 0 && fflush(stdout) != 0)
        error = TALLY_EIO;
    return error == 0           ? 0
           : error == TALLY_EIO ? output_unwritten(path)
                                : command_no_memory();
}

int
export_metrics(const char *input, const char *output)
{
    const char *const name = is_stream(input) ? RECORD_STREAM : input;
    struct exposition *exposition = NULL;
    size_t size;
    char *const text =
        input_read(is_stream(input) ? "/dev/stdin" : input, REPORT_MOST, &size);
    int status = 0;

    if (text == NULL) {
        escape_printf(stderr, "tally export: cannot read %s: %s\n", name,
                      errno == EFBIG ? "it has more than 64 MiB"
                                     : input_reason(errno));
        return EXIT_OURS;
    }
    if (size >= sizeof(CHUNKS_MAGIC) - 1 &&
        memcmp(text, CHUNKS_MAGIC, sizeof(CHUNKS_MAGIC) - 1) == 0) {
        escape_printf(stderr,
                      "tally export: %s is a record; " EXPORT_METRICS
                      " takes a report of tally count -j or tally check "
                      "--format json\n",
                      name);
        status = EXIT_OURS;
    }
    if (status == 0 && fleet_metrics_create(TALLY_VERSION, &exposition) != 0)
        status = command_no_memory();
    if (status == 0 && add_report(text, size, name, exposition) != 0)
        status = EXIT_OURS;
    if (status == 0)
        status = write_out(exposition, output);
    exposition_destroy(exposition);
    free(text);
    return status;
}
