/* SPDX-License-Identifier: MIT */
/* tally memory: why data miss the L1 data cache. Runs a program under tally
 * record --why, or reads such a record. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record_report.h"
#include "cli/source_moves.h"
#include "record/memory.h"
#include "record/memory_page.h"
#include "version.h"

#define TRIALS_MOST 8u /* of --what-if */

/* Why a finding is not tried. */
#define MANY "only the first 8 findings are"
#define UNENDED "the program did not end by itself"
#define ELSEWHERE "only the L1 data cache of host-model sees moved data"

static_assert(TRIALS_MOST == 8, "as MANY says");

enum { OPT_LEVEL = REPORT_OWN, OPT_WHAT_IF, OPT_SOURCE };

static const struct option_row options[] = {
    [REPORT_INPUT] = {'i', "input", "FILE",
                      "report a record of tally record --why, - for standard "
                      "input (default without a program: tally.data)"},
    [REPORT_FORMAT] = {0, "format", "FORM",
                       "text, csv (a row for each object) or json"},
    [REPORT_FROM] = {0, "from", "FUNCTION",
                     "look only from where this function is entered"},
    [REPORT_SKIP] = {0, "skip", "N",
                     "begin to look after the first N instructions"},
    [REPORT_FILTER] = {0, "filter", "code=WHERE",
                       "look only at a FUNCTION, or FIRST-LAST addresses"},
    REPORT_OPTION_ROWS,
    MODEL_OPTION_ROWS(REPORT_MODEL),
    [OPT_LEVEL] = {0, "level", "LEVEL",
                   "the level of caches: l1d (the default), l2, l3 and so on"},
    [OPT_WHAT_IF] = {0, "what-if", NULL,
                     "run the program once more for each finding of conflict "
                     "misses or false sharing, with gaps between its data, and "
                     "say how many misses are left"},
    [OPT_SOURCE] = {0, "source", "OLD=NEW",
                    "with --html: sources whose path begins with OLD are now "
                    "in NEW"},
    {0},
};

/* What tally memory alone is asked. */
struct memory_request {
    struct source_moves moves;
    const char *level; /* or NULL: the L1D */
    bool what_if;
};

static int
take_option(struct report_request *r, int option, const char *value)
{
    struct memory_request *const own = r->own;

    switch (option) {
    case OPT_LEVEL:
        own->level = value;
        return report_add_option(r, option, value);
    case OPT_WHAT_IF:
        own->what_if = true;
        r->run = options[option].name;
        return 0;
    default:
        return source_moves_add(&own->moves, "memory", "source", value);
    }
}

/* Refuses options that do not go together. */
static int
check_options(const struct report_request *r)
{
    const struct memory_request *const own = r->own;

    if (own->what_if && own->level != NULL && strcmp(own->level, "l1d") != 0) {
        fprintf(stderr, "tally memory: --what-if tries the L1 data cache "
                        "alone: leave --level away\n");
        return EXIT_USAGE;
    }
    if (r->page == NULL && own->moves.count > 0) {
        fprintf(stderr, "tally memory: --source goes with --html; tally "
                        "annotate --source shows sources as text\n");
        return EXIT_USAGE;
    }
    return 0;
}

static int
create(const struct record *record, struct resolver *resolver,
       const struct tally_log *log, void **report)
{
    return memory_create(record, resolver, log, (struct memory **)report);
}

static void
destroy(void *report)
{
    memory_destroy(report);
}

static int
write_report(const struct report_request *r, const void *report,
             const struct breakdown_look *look, FILE *out)
{
    const struct memory_request *const own = r->own;
    const struct memory_page_options page = {
        .creator = "tally " TALLY_VERSION,
        .moves = own->moves.rows,
        .move_count = own->moves.count,
    };

    if (r->page != NULL)
        return memory_page(report, &page, out);
    switch (r->rows.form) {
    case REPORT_TEXT:
        return memory_text(report, r->rows.breakdown.top, look, out);
    case REPORT_CSV:
        return memory_csv(report, r->rows.separator, out);
    default:
        return memory_json(report, out);
    }
}

/* Returns what tally record takes as --move, for the caller to free; NULL: no
 * memory. */
static char *
move_word(const struct moves *moves)
{
    char *const text = moves_text(moves);
    char *word = NULL;

    if (text != NULL && asprintf(&word, "--move=%s", text) < 0)
        word = NULL;
    free(text);
    return word;
}

/* Returns whether a program that ran again did something else: it makes other
 * accesses than a few more or less, as where its output is no terminal. */
static bool
differs(const uint64_t a[MEMORY_COUNTS], const uint64_t b[MEMORY_COUNTS])
{
    const uint64_t before = a[MEMORY_LOADS] + a[MEMORY_STORES];
    const uint64_t after = b[MEMORY_LOADS] + b[MEMORY_STORES];
    const uint64_t more = after > before ? after - before : before - after;

    return more > before / 1000 + 100;
}

/* Returns whether the program ended by itself, so that it does the same again.
 */
static bool
ended(const struct record *record)
{
    return !record->cut && !record->interrupted && !WIFSIGNALED(record->status);
}

/* Runs the program again with data of a finding moved, and finds how many
 * misses it has then. `base`: of a run like that without moves. Returns whether
 * the program ended by itself. */
static bool
try_finding(struct report_request *r, const struct memory *base,
            struct memory_trial *trial)
{
    char *const word = move_word(&trial->moves);
    struct record *const record =
        word != NULL ? report_run_again(r, word) : NULL;
    uint64_t counts[MEMORY_COUNTS];

    trial->end = MEMORY_DIFFERS;
    if (record != NULL && memory_count(record, counts)) {
        trial->before = memory_misses(base->counts);
        trial->after = memory_misses(counts);
        trial->shared_before = base->counts[MEMORY_COHERENCE];
        trial->shared_after = counts[MEMORY_COHERENCE];
        if (counts[MEMORY_LOADS] == base->counts[MEMORY_LOADS] &&
            counts[MEMORY_STORES] == base->counts[MEMORY_STORES])
            trial->end = MEMORY_TRIED;
    }
    const bool goes_on = record != NULL && ended(record);
    record_close(record);
    free(word);
    return goes_on;
}

/* Finds in another run of the program what may be tried against a finding. */
static bool
propose(const struct memory *m, const struct memory_finding *f,
        const struct memory *base, struct moves *moves)
{
    const char *const name = m->objects[f->object].name->text;
    struct memory_finding found = *f;

    for (found.object = 0; found.object < base->object_count; found.object++) {
        if (strcmp(base->objects[found.object].name->text, name) == 0)
            return memory_propose(base, &found, moves) == NULL;
    }
    return false;
}

/* Notes that a finding is not tried, and why. */
static void
refuse(struct memory_finding *f, const char *reason)
{
    f->trial.end = MEMORY_REFUSED;
    f->trial.reason = reason;
}

/* Refuses the findings from one on that might be tried: a gap may help, and
 * nothing is known yet against it. */
static void
refuse_from(struct memory *m, size_t first, const char *reason)
{
    for (size_t i = first; i < m->finding_count; i++) {
        struct memory_finding *const f = &m->findings[i];
        if (memory_may_move(f) && f->trial.end == MEMORY_UNTRIED)
            refuse(f, reason);
    }
}

/* Tries what may help against the first findings. `base`: of a run whose output
 * goes nowhere, as that of the trials, so that all is the same but for the
 * moves. */
static void
try_findings(struct report_request *r, struct memory *m,
             const struct memory *base)
{
    const bool tell = isatty(STDERR_FILENO);
    unsigned tried = 0;

    for (size_t i = 0; i < m->finding_count; i++) {
        struct memory_finding *const f = &m->findings[i];
        if (!memory_may_move(f) || f->trial.end != MEMORY_UNTRIED)
            continue;
        if (tried++ == TRIALS_MOST) {
            refuse_from(m, i, MANY);
            break;
        }
        if (base == NULL || differs(m->counts, base->counts) ||
            !propose(m, f, base, &f->trial.moves)) {
            f->trial.end = MEMORY_DIFFERS;
            continue;
        }
        if (tell)
            fprintf(stderr,
                    "\r tally: the program runs again, for finding %zu\033[K",
                    i + 1);
        if (!try_finding(r, base, &f->trial)) {
            refuse_from(m, i + 1, UNENDED);
            break;
        }
    }
    if (tell && tried > 0)
        fprintf(stderr, "\r\033[K");
}

/* Refuses the findings of which it is known before any trial that nothing can
 * be tried. Returns whether one is left. */
static bool
may_try(struct memory *m)
{
    bool any = false;

    for (size_t i = 0; i < m->finding_count; i++) {
        struct memory_finding *const f = &m->findings[i];
        if (!memory_may_move(f))
            continue;
        const char *const reason = memory_propose(m, f, &f->trial.moves);
        any |= reason == NULL;
        if (reason != NULL)
            refuse(f, reason);
    }
    return any;
}

/* Finds what changes would save, where that was asked for. */
static void
ask_what_if(struct report_request *r, void *report,
            const struct resolver_options *names)
{
    const struct memory_request *const own = r->own;
    struct memory *const m = report;
    struct resolver *resolver = NULL;
    struct memory *base = NULL;

    if (!own->what_if || !may_try(m))
        return;
    if (m->any_machine) {
        refuse_from(m, 0, ELSEWHERE);
        return;
    }
    if (!ended(m->record)) {
        fprintf(stderr, "tally memory: the program did not end by itself: "
                        "--what-if tries nothing\n");
        refuse_from(m, 0, UNENDED);
        return;
    }
    struct record *const record = report_run_again(r, NULL);
    if (record != NULL &&
        resolver_create(record, names, &command_log, &resolver) == 0 &&
        memory_create(record, resolver, &command_log, &base) != 0)
        base = NULL;
    if (record == NULL || ended(record))
        try_findings(r, m, base);
    else
        refuse_from(m, 0, UNENDED);
    memory_destroy(base);
    resolver_destroy(resolver);
    record_close(record);
}

static int
run_memory(int argc, char **argv)
{
    static const struct record_report kind = {.command = &command_memory,
                                              .option = "why",
                                              .take = take_option,
                                              .check = check_options,
                                              .create = create,
                                              .destroy = destroy,
                                              .refine = ask_what_if,
                                              .write = write_report};
    struct memory_request own = {.what_if = false};
    const int status = record_report_run(&kind, &own, argc, argv);

    source_moves_finish(&own.moves);
    return status;
}

const struct command command_memory = {
    .name = "memory",
    .summary = "show why a program's data miss the cache, and who shares them",
    .synopsis = "[OPTIONS] [--] [PROGRAM [ARGUMENTS]]",
    .example =
        "  # Run a program, and say what stands out.\n"
        "  tally memory ./program\n"
        "  # Keep the record, and look at the lines of source.\n"
        "  tally memory --record why.data ./program && tally annotate -i "
        "why.data\n"
        "  # The same as a page for a browser.\n"
        "  tally memory --html why.html ./program\n"
        "  # Everything that a record says, for a script.\n"
        "  tally memory -i why.data --json",
    .options = options,
    .run = run_memory,
};
