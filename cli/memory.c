/* SPDX-License-Identifier: MIT */
/* tally memory: why data miss the L1 data cache. Runs a program under tally
 * record --why, or reads such a record. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "cli/rows_request.h"
#include "cli/source_moves.h"
#include "record/memory.h"
#include "record/memory_page.h"
#include "version.h"

#define ROWS_SHOWN 10u
#define TRIALS_MOST 8u /* of --what-if */

enum {
    OPT_INPUT,
    OPT_RECORD,
    OPT_TOP,
    OPT_DEBUG_DIR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_SEPARATOR,
    OPT_COLOR,
    OPT_WHAT_IF,
    OPT_HTML,
    OPT_SOURCE,
    OPT_MACHINE, /* from here on: of tally record */
    OPT_ALLOCATOR,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_FILTER,
    OPT_MODEL,
};

static const struct option_row options[] = {
    [OPT_INPUT] = {'i', "input", "FILE",
                   "report a record of tally record --why, - for standard "
                   "input (default without a program: tally.data)"},
    [OPT_RECORD] = {0, "record", "FILE",
                    "keep the record of the program there, for tally report "
                    "and tally annotate"},
    [OPT_TOP] = {0, "top", "N",
                 "at most N rows of each table; 0: all (default 10)"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard error, of a "
                    "record standard output)"},
    [OPT_FORMAT] = {0, "format", "FORM",
                    "text, csv (a row for each object) or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_SEPARATOR] = {'x', "field-separator", "CHAR",
                       "CSV with this separator"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    [OPT_WHAT_IF] = {0, "what-if", NULL,
                     "run the program once more for each finding of conflict "
                     "misses or false sharing, with gaps between its data, and "
                     "say how many misses are left"},
    [OPT_HTML] = {0, "html", "FILE",
                  "write all of the report as one page for a browser"},
    [OPT_SOURCE] = {0, "source", "OLD=NEW",
                    "with --html: sources whose path begins with OLD are now "
                    "in NEW"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be (default: host-model)"},
    [OPT_ALLOCATOR] = {0, "allocator", "FUNCTION:SIZE_ARG",
                       "this function of the program gives memory; its "
                       "argument SIZE_ARG, from 1 on, is the size"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "look only from where this function is entered"},
    [OPT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"},
    [OPT_SKIP] = {0, "skip", "N",
                  "begin to look after the first N instructions"},
    [OPT_FILTER] = {0, "filter", "code=WHERE",
                    "look only at a FUNCTION, or FIRST-LAST addresses"},
    MODEL_OPTION_ROWS(OPT_MODEL),
    {0},
};

enum memory_form { FORM_TEXT, FORM_CSV, FORM_JSON };

static const char *const forms[] = {
    [FORM_TEXT] = "text", [FORM_CSV] = "csv", [FORM_JSON] = "json", NULL};

struct memory_request {
    struct rows_request rows; /* of which only some options are offered */
    const char *input, *kept, *html;
    const char *other; /* an option that a page has no use for; or NULL */
    struct source_moves moves;
    bool topped; /* --top was given */
    bool chosen; /* --machine was given */
    bool what_if;
    char **program;     /* that runs; NULL: a record is read */
    off_t input_offset; /* where its standard input begins; -1: a stream */
    char **record;     /* words for tally record, owned, as the last ones are */
    size_t word_count; /* of `record` */
    const char *run;   /* an option that needs a program; or NULL */
};

/* Adds a word for tally record, which the request owns from now on, or frees
 * where there is no memory; NULL: there was none for the word. */
static int
add_word(struct memory_request *r, char *word)
{
    char **const words =
        word != NULL
            ? reallocarray(r->record, r->word_count + 2, sizeof(*words))
            : NULL;

    if (words == NULL) {
        free(word);
        return command_no_memory();
    }
    r->record = words;
    words[r->word_count++] = word;
    words[r->word_count] = NULL;
    return 0;
}

/* Adds an option for tally record. */
static int
add_option(struct memory_request *r, int option, const char *value)
{
    const char *const name = options[option].name;
    char *word = NULL;

    r->run = name;
    if (asprintf(&word, "--%s%s%s", name, value != NULL ? "=" : "",
                 value != NULL ? value : "") < 0)
        word = NULL;
    return add_word(r, word);
}

static int
take_option(struct memory_request *r, int option, const char *value)
{
    static const int rows[] = {
        [OPT_TOP] = ROWS_TOP,       [OPT_DEBUG_DIR] = ROWS_DEBUG_DIR,
        [OPT_OUTPUT] = ROWS_OUTPUT, [OPT_FORMAT] = ROWS_FORMAT,
        [OPT_JSON] = ROWS_JSON,     [OPT_SEPARATOR] = ROWS_SEPARATOR,
        [OPT_COLOR] = ROWS_COLOR,
    };

    switch (option) {
    case OPT_INPUT:
        return open_record_take("memory", &r->input, value);
    case OPT_RECORD:
        if (*value == '\0')
            return rows_request_bad(
                &r->rows, "--record takes a file's name, not ", value);
        r->kept = value;
        r->run = options[option].name;
        return 0;
    case OPT_MACHINE:
        r->chosen = true;
        break;
    case OPT_TOP:
        r->topped = true;
        break;
    case OPT_WHAT_IF:
        r->what_if = true;
        r->run = options[option].name;
        return 0;
    case OPT_HTML:
        r->html = value;
        return *value != '\0'
                   ? 0
                   : rows_request_bad(&r->rows,
                                      "--html takes a file's name, not ", "");
    case OPT_SOURCE:
        return source_moves_add(&r->moves, "memory", "source", value);
    default:
        break;
    }
    if (option < OPT_MACHINE && option != OPT_DEBUG_DIR)
        r->other = options[option].name;
    return option < OPT_MACHINE
               ? rows_request_take(&r->rows, rows[option], value)
               : add_option(r, option, value);
}

/* Returns whether a path is of a stream or a device: what was written to such a
 * file cannot be read from there again. */
static bool
is_stream_file(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
            !S_ISDIR(st.st_mode));
}

/* Returns the folder of a file's path, which the caller frees; NULL: no memory.
 */
static char *
folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? strndup(path, (size_t)(slash - path) + 1)
                         : strdup(".");
}

/* Returns whether both paths give one folder the same name, of a file that need
 * not be there yet. */
static bool
is_same_place(const char *a, const char *b)
{
    const char *const x = strrchr(a, '/'), *const y = strrchr(b, '/');
    char *const p = folder_of(a), *const q = folder_of(b);
    const bool same = p != NULL && q != NULL && same_file(p, q) &&
                      strcmp(x != NULL ? x + 1 : a, y != NULL ? y + 1 : b) == 0;

    free(p);
    free(q);
    return same;
}

/* Returns where the report goes; NULL: to a stream. */
static const char *
output_path(const struct memory_request *r)
{
    return r->html != NULL ? r->html : r->rows.output;
}

/* Refuses options that do not go with a page, or that only a page has. */
static int
check_page(const struct memory_request *r)
{
    if (r->html != NULL && r->other != NULL) {
        fprintf(stderr,
                "tally memory: --%s does not go with --html: the page has all "
                "rows of all tables, and FILE says where it goes\n",
                r->other);
        return EXIT_USAGE;
    }
    if (r->html == NULL && r->moves.count > 0) {
        fprintf(stderr, "tally memory: --source goes with --html; tally "
                        "annotate --source shows sources as text\n");
        return EXIT_USAGE;
    }
    return 0;
}

/* Returns whether -o or --html names the record that is read, or that a
 * program's run is to leave. */
static bool
replaces_record(const struct memory_request *r, bool runs)
{
    const char *const output = output_path(r);

    if (output == NULL || strcmp(output, "-") == 0)
        return false;
    if (!runs)
        return open_record_is(r->input, output);
    return r->kept != NULL &&
           (is_same_place(r->kept, output) || open_record_is(r->kept, output));
}

/* Reads the options. Returns 0, an exit status, or COMMAND_HELP; the program
 * begins at argv[*operand], if there is one. */
static int
read_options(struct memory_request *r, int argc, char **argv, int *operand)
{
    struct option_walk walk = {&command_memory, argc, argv, 1, NULL};
    const char *value;
    int option;

    while ((option = command_option(&walk, &value)) >= 0) {
        const int status = take_option(r, option, value);
        if (status != 0)
            return status;
    }
    *operand = walk.next;
    if (option == COMMAND_HELP)
        return COMMAND_HELP;
    if (option == COMMAND_BAD)
        return EXIT_USAGE;
    if (!r->topped)
        r->rows.breakdown.top = ROWS_SHOWN;
    if (argv[*operand] != NULL && r->input != NULL) {
        escape_printf(stderr,
                      "tally memory: -i %s reports that record, and runs no "
                      "program: leave %s away\n",
                      r->input, argv[*operand]);
        return EXIT_USAGE;
    }
    if (argv[*operand] == NULL && r->run != NULL) {
        fprintf(stderr,
                "tally memory: --%s needs a program to run, as in tally memory "
                "-- ./program\n",
                r->run);
        return EXIT_USAGE;
    }
    if (r->kept != NULL && is_stream_file(r->kept)) {
        escape_printf(
            stderr,
            "tally memory: --record takes a regular file, which %s is "
            "not; tally record --why -o writes to pipes too\n",
            r->kept);
        return EXIT_USAGE;
    }
    if (replaces_record(r, argv[*operand] != NULL)) {
        escape_printf(stderr,
                      "tally memory: %s %s would replace the record itself\n",
                      r->html != NULL ? "--html" : "-o", output_path(r));
        return EXIT_USAGE;
    }
    if (check_page(r) != 0)
        return EXIT_USAGE;
    return rows_request_color(&r->rows);
}

/* Opens a file, and takes its name away: for file systems where no file is
 * opened without a name. Returns its descriptor, or -1 with errno. */
static int
open_unlinked(const char *folder)
{
    char *path = NULL;

    if (asprintf(&path, "%s/tally-XXXXXX", folder) < 0)
        return -1;
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    const int reason = errno;
    free(path);
    errno = reason;
    return fd;
}

static const char *
scratch_folder(void)
{
    const char *const folder = getenv("TMPDIR");

    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

/* Opens a file without a name, for a record that is not kept. Returns its
 * descriptor, or -1 after saying why. */
static int
open_scratch(void)
{
    const char *const folder = scratch_folder();
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        fd = open_unlinked(folder);
    if (fd < 0)
        escape_printf(stderr,
                      "tally memory: cannot write the record of the program to "
                      "the folder %s: %s; TMPDIR names another\n",
                      folder, strerror(errno));
    return fd;
}

/* Says, of a record without a name that was given up, that its folder is full.
 */
static void
say_full(int fd)
{
    struct statvfs system;

    if (fd >= 0 && fstatvfs(fd, &system) == 0 && system.f_bavail == 0)
        escape_printf(stderr,
                      "tally memory: the folder %s, for the record of the "
                      "program, is full; TMPDIR names another, or --record a "
                      "file elsewhere\n",
                      scratch_folder());
}

/* Adds what tally record takes as --move. */
static int
add_move(struct memory_request *r, const struct moves *moves)
{
    char *word = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&word, &size);

    if (out == NULL)
        return command_no_memory();
    fprintf(out, "--move=%" PRIu64 ":%" PRIu64, moves->every, moves->gap);
    for (uint32_t i = 0; i < moves->count; i++)
        fprintf(out, "%c%" PRIu32, i == 0 ? ':' : ',', moves->objects[i]);
    if (fclose(out) == 0)
        return add_word(r, word);
    free(word);
    return command_no_memory();
}

/* Runs the program under tally record, into the file `kept` or, where that is
 * NULL, into `fd`. `moves`: what the caches see elsewhere, or NULL. Returns its
 * exit status. */
static int
run_recorded(struct memory_request *r, const char *kept, int fd,
             const struct moves *moves)
{
    const size_t first = r->word_count;
    char *output = NULL;
    const int written = kept != NULL
                            ? asprintf(&output, "--output=%s", kept)
                            : asprintf(&output, "--output=/dev/fd/%d", fd);
    int status = add_word(r, written < 0 ? NULL : output);

    if (status == 0 && moves != NULL)
        status = add_move(r, moves);
    if (status == 0 && !r->chosen)
        status = add_word(r, strdup("--machine=host-model"));
    for (char **word = r->program; status == 0 && *word != NULL; word++)
        status = add_word(r, strdup(*word));
    if (status == 0)
        status = command_record.run((int)r->word_count, r->record);
    while (r->word_count > first)
        free(r->record[--r->word_count]);
    r->record[first] = NULL;
    return status;
}

/* The standard files while a program runs again. */
struct quiet {
    int saved[3]; /* -1: it was closed */
};

/* Has a program that runs again write nothing, and read what it has read
 * before, from `offset` on; -1: nothing, since that cannot be read again. */
static void
be_quiet(struct quiet *q, off_t offset)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        q->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (fd != STDIN_FILENO || offset < 0)
            dup2(null, fd);
    }
    if (offset >= 0)
        lseek(STDIN_FILENO, offset, SEEK_SET);
    close(null);
}

static void
be_loud(const struct quiet *q)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (q->saved[fd] < 0) {
            close(fd);
            continue;
        }
        dup2(q->saved[fd], fd);
        close(q->saved[fd]);
    }
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

/* Runs the program again without its output. `moves`: what the caches see
 * elsewhere, or NULL. Returns the record, or NULL: there is none. */
static struct record *
record_again(struct memory_request *r, const struct moves *moves)
{
    const int fd = open_scratch();
    struct record *record = NULL;
    struct quiet quiet;

    if (fd < 0)
        return NULL;
    be_quiet(&quiet, r->input_offset);
    const int status = run_recorded(r, NULL, fd, moves);
    be_loud(&quiet);
    lseek(fd, 0, SEEK_SET);
    if (status != EXIT_OURS &&
        record_open_fd(dup(fd), "the record of the program", NULL, &record) !=
            0)
        record = NULL;
    close(fd);
    return record;
}

/* Runs the program again with data of a finding moved, and finds how many
 * misses it has then. `base`: of a run like that without moves. */
static void
try_finding(struct memory_request *r, const struct memory *base,
            struct memory_trial *trial)
{
    struct record *const record = record_again(r, &trial->moves);
    uint64_t counts[MEMORY_COUNTS];

    if (record != NULL && memory_count(record, counts)) {
        trial->before = memory_misses(base->counts);
        trial->after = memory_misses(counts);
        trial->ran = counts[MEMORY_LOADS] == base->counts[MEMORY_LOADS] &&
                     counts[MEMORY_STORES] == base->counts[MEMORY_STORES];
    }
    trial->differs = !trial->ran;
    record_close(record);
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
            return memory_propose(base, &found, moves);
    }
    return false;
}

/* Tries what may help against the first findings. `base`: of a run whose output
 * goes nowhere, as that of the trials, so that all is the same but for the
 * moves. */
static void
try_findings(struct memory_request *r, struct memory *m,
             const struct memory *base)
{
    const bool tell = isatty(STDERR_FILENO);
    unsigned tried = 0;

    for (size_t i = 0; i < m->finding_count && tried < TRIALS_MOST; i++) {
        struct memory_finding *const f = &m->findings[i];
        if (!memory_propose(m, f, &f->trial.moves))
            continue;
        tried++;
        if (base == NULL || differs(m->counts, base->counts) ||
            !propose(m, f, base, &f->trial.moves)) {
            f->trial.differs = true;
            continue;
        }
        if (tell)
            fprintf(stderr,
                    "\r tally: the program runs again, for finding %zu\033[K",
                    i + 1);
        try_finding(r, base, &f->trial);
    }
    if (tell && tried > 0)
        fprintf(stderr, "\r\033[K");
}

/* Returns whether there is something to try against a finding. */
static bool
may_try(const struct memory *m)
{
    struct moves moves;

    for (size_t i = 0; i < m->finding_count; i++) {
        if (memory_propose(m, &m->findings[i], &moves))
            return true;
    }
    return false;
}

/* Finds what changes would save, where that was asked for. */
static void
ask_what_if(struct memory_request *r, struct memory *m,
            const struct resolver_options *names)
{
    struct resolver *resolver = NULL;
    struct memory *base = NULL;

    if (!r->what_if || !may_try(m))
        return;
    struct record *const record = record_again(r, NULL);
    if (record != NULL &&
        resolver_create(record, names, &command_log, &resolver) == 0 &&
        memory_create(record, resolver, &command_log, &base) != 0)
        base = NULL;
    try_findings(r, m, base);
    memory_destroy(base);
    resolver_destroy(resolver);
    record_close(record);
}

/* What is written. */
struct memory_report {
    const struct memory_request *request;
    const struct memory *memory;
};

static int
write_form(void *user, const struct breakdown_look *look, FILE *out)
{
    const struct memory_report *const report = user;
    const struct rows_request *const rows = &report->request->rows;
    const struct memory_page_options page = {
        .creator = "tally " TALLY_VERSION,
        .moves = report->request->moves.rows,
        .move_count = report->request->moves.count,
    };

    if (report->request->html != NULL)
        return memory_page(report->memory, &page, out);
    switch (rows->form) {
    case FORM_TEXT:
        return memory_text(report->memory, rows->breakdown.top, look, out);
    case FORM_CSV:
        return memory_csv(report->memory, rows->separator, out);
    default:
        return memory_json(report->memory, out);
    }
}

/* Writes the report to `out`, which is closed. Returns an exit status. */
static int
write_beside(const struct memory_request *r, struct memory_report *report,
             struct output *out)
{
    const struct breakdown_look look = {
        .color = r->rows.color != NULL
                     ? strcmp(r->rows.color, "always") == 0
                     : r->rows.output == NULL && isatty(STDERR_FILENO) &&
                           getenv("NO_COLOR") == NULL};
    int error = write_form(report, &look, out->file);

    if (error == 0 && fflush(out->file) != 0)
        error = TALLY_EIO;
    const int cause = errno;
    const int unwritten = output_close(out, error == 0);
    *out = (struct output){.file = NULL};
    if (error != 0)
        errno = cause;
    else
        error = unwritten;
    return error == 0           ? 0
           : error != TALLY_EIO ? command_no_memory()
           : r->html != NULL    ? output_unwritten(r->html)
                                : command_unwritten("report");
}

/* Reports a record. `beside`: where the report goes, of a program that has run
 * just now; else NULL. Returns an exit status. */
static int
report_record(struct memory_request *r, const struct record *record,
              struct output *beside)
{
    const struct resolver_options names = {
        .debug_dirs = r->rows.debug_dirs,
        .debug_dir_count = r->rows.debug_dir_count,
    };
    struct resolver *resolver = NULL;
    struct memory *memory = NULL;
    int status = EXIT_OURS;

    if (resolver_create(record, &names, &command_log, &resolver) == 0) {
        const int error =
            memory_create(record, resolver, &command_log, &memory);
        if (error == TALLY_EUNKNOWN)
            status = EXIT_USAGE;
        else if (error == 0) {
            struct memory_report report = {r, memory};
            struct output page;
            ask_what_if(r, memory, &names);
            status = 0;
            if (beside == NULL && r->html != NULL) {
                status = output_open(r->html, REPLACE_WHOLE, &page);
                beside = &page;
            }
            if (status == 0)
                status = beside != NULL
                             ? write_beside(r, &report, beside)
                             : rows_request_write(&r->rows,
                                                  r->rows.form == FORM_TEXT,
                                                  write_form, &report);
        }
    }
    memory_destroy(memory);
    resolver_destroy(resolver);
    return status;
}

/* Returns the state of a file, by which was_written() knows whether the file
 * was written since; zeroes where there is none. */
static struct stat
state_of(const char *path)
{
    struct stat st;

    if (path == NULL || stat(path, &st) != 0)
        memset(&st, 0, sizeof(st));
    return st;
}

static bool
was_written(const struct stat *before, const struct stat *now)
{
    return now->st_nlink != 0 &&
           (now->st_ino != before->st_ino || now->st_dev != before->st_dev ||
            now->st_mtim.tv_sec != before->st_mtim.tv_sec ||
            now->st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Runs the program and reports why its data missed to `out`. Returns an exit
 * status. */
static int
report_program(struct memory_request *r, struct output *out)
{
    const int fd = r->kept == NULL ? open_scratch() : -1;
    struct record *record = NULL;

    if (r->kept == NULL && fd < 0)
        return EXIT_OURS;
    const struct stat before = state_of(r->kept);
    r->input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    const int status = run_recorded(r, r->kept, fd, NULL);
    const struct stat now = state_of(r->kept);
    if (status == EXIT_OURS)
        say_full(fd);
    /* tally record has said why it has written nothing. */
    const bool any =
        fd >= 0 ? lseek(fd, 0, SEEK_END) > 0 : was_written(&before, &now);
    int reported = 0;
    if (any && fd >= 0) {
        lseek(fd, 0, SEEK_SET);
        /* Of a record that tally record gave up it has said why. */
        reported = record_open_fd(dup(fd), "the record of the program",
                                  status == EXIT_OURS ? NULL : &command_log,
                                  &record) == 0
                       ? 0
                       : EXIT_OURS;
    } else if (any) {
        reported = open_record("memory", r->kept, &record);
    }
    if (record != NULL)
        reported = report_record(r, record, out);
    record_close(record);
    if (fd >= 0)
        close(fd);
    return status != 0 ? status : reported;
}

/* Opens where the report goes before the program runs, so that the program
 * does not run for nothing. Returns an exit status. */
static int
run_program(struct memory_request *r)
{
    struct output out;
    int status = output_open(output_path(r), REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    status = report_program(r, &out);
    output_close(&out, false);
    return status;
}

static int
run_memory(int argc, char **argv)
{
    static const char *const begin[] = {"record", "--why", "--quiet"};
    struct memory_request r = {0};
    struct record *record = NULL;
    int operand = 0;
    int status = rows_request_init(&r.rows, &command_memory, forms, argc);

    r.rows.zero_is_all = true;
    for (size_t i = 0; status == 0 && i < sizeof(begin) / sizeof(begin[0]); i++)
        status = add_word(&r, strdup(begin[i]));
    if (status == 0)
        status = read_options(&r, argc, argv, &operand);
    if (status == COMMAND_HELP) {
        command_help(&command_memory, stdout);
        status = 0;
    } else if (status == 0 && argv[operand] != NULL) {
        r.program = argv + operand;
        status = run_program(&r);
    } else if (status == 0) {
        status = open_record("memory", r.input, &record);
        if (status == 0)
            status = report_record(&r, record, NULL);
        record_close(record);
    }
    for (size_t i = 0; i < r.word_count; i++)
        free(r.record[i]);
    free(r.record);
    rows_request_finish(&r.rows);
    source_moves_finish(&r.moves);
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
