/* SPDX-License-Identifier: MIT */
/* tally locks: what the threads of a program wait for. Runs a program under
 * tally record --locks, or reads such a record. */
#include "cli/record_report.h"
#include "record/locks.h"

static const struct option_row options[] = {
    [REPORT_INPUT] = {'i', "input", "FILE",
                      "report a record of tally record --locks, - for standard "
                      "input (default without a program: tally.data)"},
    [REPORT_RECORD] = {0, "record", "FILE",
                       "keep the record of the program there, for tally report "
                       "and tally annotate"},
    [REPORT_TOP] = {0, "top", "N",
                    "at most N rows of each table; 0: all (default 10)"},
    [REPORT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                          "look for separate debug files there too"},
    [REPORT_OUTPUT] = {'o', "output", "FILE",
                       "write the report there (default: standard error, of a "
                       "record standard output)"},
    [REPORT_FORMAT] = {0, "format", "FORM",
                       "text, csv (a row for each lock) or json"},
    [REPORT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [REPORT_SEPARATOR] = {'x', "field-separator", "CHAR",
                          "CSV with this separator"},
    [REPORT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    [REPORT_MACHINE] = {'m', "machine", "MACHINE",
                        "the machine to be (default: host-model)"},
    [REPORT_ALLOCATOR] = {0, "allocator", "FUNCTION:SIZE_ARG",
                          "this function of the program gives memory; its "
                          "argument SIZE_ARG, from 1 on, is the size"},
    [REPORT_FROM] = {0, "from", "FUNCTION",
                     "count time only from where this function is entered"},
    [REPORT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"},
    [REPORT_SKIP] = {0, "skip", "N",
                     "count time after the first N instructions"},
    [REPORT_FILTER] =
        {0, "filter", "code=WHERE",
         "count time only in a FUNCTION, or FIRST-LAST addresses"},
    MODEL_OPTION_ROWS(REPORT_MODEL),
    {0},
};

static int
create(const struct record *record, struct resolver *resolver,
       const struct tally_log *log, void **report)
{
    return locks_create(record, resolver, log, (struct locks **)report);
}

static void
destroy(void *report)
{
    locks_destroy(report);
}

static int
write_report(const struct report_request *r, const void *report,
             const struct breakdown_look *look, FILE *out)
{
    const struct rows_request *const rows = &r->rows;

    switch (rows->form) {
    case REPORT_TEXT:
        return locks_text(report, rows->breakdown.top, look, out);
    case REPORT_CSV:
        return locks_csv(report, rows->separator, out);
    default:
        return locks_json(report, out);
    }
}

static int
run_locks(int argc, char **argv)
{
    static const struct record_report kind = {.command = &command_locks,
                                              .option = "locks",
                                              .create = create,
                                              .destroy = destroy,
                                              .write = write_report};

    return record_report_run(&kind, NULL, argc, argv);
}

const struct command command_locks = {
    .name = "locks",
    .summary = "show what a program's threads wait for, and who held it",
    .synopsis = "[OPTIONS] [--] [PROGRAM [ARGUMENTS]]",
    .example = "  # Run a program of threads, and say what stands out.\n"
               "  tally locks ./program\n"
               "  # Keep the record, and look at where the cycles go.\n"
               "  tally locks --record locks.data ./program && tally report "
               "locks.data\n"
               "  # Everything that a record says, for a script.\n"
               "  tally locks -i locks.data --json",
    .options = options,
    .run = run_locks,
};
