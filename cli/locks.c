/* SPDX-License-Identifier: MIT */
/* tally locks: what the threads of a program wait for. Runs a program under
 * tally record --locks, or reads such a record. */
#include "cli/record_report.h"
#include "record/locks.h"
#include "record/locks_page.h"
#include "version.h"

static const struct option_row options[] = {
    [REPORT_INPUT] = {'i', "input", "FILE",
                      "report a record of tally record --locks, - for standard "
                      "input (default without a program: tally.data)"},
    [REPORT_FORMAT] = {0, "format", "FORM",
                       "text, csv (a row for each lock) or json"},
    [REPORT_FROM] = {0, "from", "FUNCTION",
                     "count time only from where this function is entered"},
    [REPORT_SKIP] = {0, "skip", "N",
                     "count time after the first N instructions"},
    [REPORT_FILTER] =
        {0, "filter", "code=WHERE",
         "count time only in a FUNCTION, or FIRST-LAST addresses"},
    REPORT_OPTION_ROWS,
    MODEL_TURN_ROWS(REPORT_MODEL, "500"),
    {0},
};

static const struct other_option others[] = {
    {.name = "parallel",
     .advice = "threads that run at once have no turns to tell waits by"},
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

    if (r->page != NULL)
        return locks_page(report, "tally " TALLY_VERSION, out);
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
               "  # When each thread ran and waited, as a page for a browser.\n"
               "  tally locks --html locks.html ./program\n"
               "  # Everything that a record says, for a script.\n"
               "  tally locks -i locks.data --json",
    .options = options,
    .others = others,
    .run = run_locks,
};
