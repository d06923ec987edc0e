/* SPDX-License-Identifier: MIT */
#include "cli/record_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "cli/record.h"
#include "cli/scratch.h"

#define ROWS_SHOWN 10u

/* Adds a word for tally record, which the request owns from now on, or frees
 * where there is no memory; NULL: there was none for the word. */
static int
add_word(struct report_request *r, char *word)
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

int
report_add_option(struct report_request *r, int option, const char *value)
{
    const char *const name = r->kind->command->options[option].name;
    char *word = NULL;

    r->run = name;
    if (asprintf(&word, "--%s%s%s", name, value != NULL ? "=" : "",
                 value != NULL ? value : "") < 0)
        word = NULL;
    return add_word(r, word);
}

static int
take_option(void *user, int option, const char *value)
{
    struct report_request *const r = user;
    static const int rows[] = {
        [REPORT_TOP] = ROWS_TOP,       [REPORT_DEBUG_DIR] = ROWS_DEBUG_DIR,
        [REPORT_OUTPUT] = ROWS_OUTPUT, [REPORT_FORMAT] = ROWS_FORMAT,
        [REPORT_JSON] = ROWS_JSON,     [REPORT_SEPARATOR] = ROWS_SEPARATOR,
        [REPORT_COLOR] = ROWS_COLOR,
    };

    switch (option) {
    case REPORT_INPUT:
        return open_record_take(r->kind->command->name, &r->input, value);
    case REPORT_RECORD:
        if (*value == '\0')
            return rows_request_bad(
                &r->rows, "--record takes a file's name, not ", value);
        r->kept = value;
        r->run = r->kind->command->options[option].name;
        return 0;
    case REPORT_MACHINE:
        r->chosen = true;
        break;
    case REPORT_TOP:
        r->topped = true;
        break;
    case REPORT_HTML:
        r->page = value;
        return *value != '\0'
                   ? 0
                   : rows_request_bad(&r->rows,
                                      "--html takes a file's name, not ", "");
    default:
        if (option >= REPORT_OWN)
            return r->kind->take(r, option, value);
        break;
    }
    if (option < REPORT_MACHINE && option != REPORT_DEBUG_DIR)
        r->form = r->kind->command->options[option].name;
    return option < REPORT_MACHINE
               ? rows_request_take(&r->rows, rows[option], value)
               : report_add_option(r, option, value);
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

/* Returns where the report goes; NULL: to a standard file. */
static const char *
output_path(const struct report_request *r)
{
    return r->page != NULL ? r->page : r->rows.output;
}

/* Returns whether the report's file is the record that is read, or that a
 * program's run is to leave. */
static bool
replaces_record(const struct report_request *r, bool runs)
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
read_options(struct report_request *r, int argc, char **argv, int *operand)
{
    const int status = command_read_options(r->kind->command, argc, argv,
                                            take_option, r, operand);

    if (status != 0)
        return status;
    if (!r->topped)
        r->rows.breakdown.top = ROWS_SHOWN;
    if (argv[*operand] != NULL && r->input != NULL) {
        escape_printf(stderr,
                      "tally %s: -i %s reports that record, and runs no "
                      "program: leave %s away\n",
                      r->kind->command->name, r->input, argv[*operand]);
        return EXIT_USAGE;
    }
    if (argv[*operand] == NULL && r->run != NULL) {
        fprintf(stderr,
                "tally %s: --%s needs a program to run, as in tally %s "
                "-- ./program\n",
                r->kind->command->name, r->run, r->kind->command->name);
        return EXIT_USAGE;
    }
    if (r->kept != NULL && is_stream_file(r->kept)) {
        escape_printf(stderr,
                      "tally %s: --record takes a regular file, which %s is "
                      "not; tally record --%s -o writes to pipes too\n",
                      r->kind->command->name, r->kept, r->kind->option);
        return EXIT_USAGE;
    }
    if (command_page_alone(r->kind->command, r->page, r->form,
                           "all rows of all tables, and FILE says where it "
                           "goes") != 0)
        return EXIT_USAGE;
    if (replaces_record(r, argv[*operand] != NULL)) {
        escape_printf(stderr,
                      "tally %s: %s %s would replace the record itself\n",
                      r->kind->command->name, r->page != NULL ? "--html" : "-o",
                      output_path(r));
        return EXIT_USAGE;
    }
    if (output_spares_program(r->kind->command->name,
                              r->page != NULL ? "--html" : "-o", output_path(r),
                              argv[*operand]) != 0 ||
        output_spares_program(r->kind->command->name, "--record", r->kept,
                              argv[*operand]) != 0)
        return EXIT_USAGE;
    if (r->kind->check != NULL && r->kind->check(r) != 0)
        return EXIT_USAGE;
    return rows_request_color(&r->rows);
}

/* What is written. */
struct written_report {
    const struct report_request *request;
    const void *report;
};

static int
write_form(void *user, const struct breakdown_look *look, FILE *out)
{
    const struct written_report *const w = user;

    return w->request->kind->write(w->request, w->report, look, out);
}

/* Writes the report of a program that ran to `out`, which is closed. Returns an
 * exit status. */
static int
write_beside(const struct report_request *r, struct written_report *report,
             struct output *out)
{
    const struct breakdown_look look = {
        .color = r->rows.color != NULL
                     ? strcmp(r->rows.color, "always") == 0
                     : r->rows.output == NULL && isatty(STDERR_FILENO) &&
                           getenv("NO_COLOR") == NULL};
    const int error = output_end(out, write_form(report, &look, out->file));

    return error == 0           ? 0
           : error != TALLY_EIO ? command_no_memory()
           : r->page != NULL    ? output_unwritten(r->page)
                                : command_unwritten("report");
}

/* Reports a record. `beside`: where the report goes, of a program that has run
 * just now; else NULL. Returns an exit status. */
static int
report_record(struct report_request *r, const struct record *record,
              struct output *beside)
{
    const struct resolver_options names = {
        .debug_dirs = r->rows.debug_dirs,
        .debug_dir_count = r->rows.debug_dir_count,
    };
    struct resolver *resolver = NULL;
    void *report = NULL;
    int status = EXIT_OURS;

    if (resolver_create(record, &names, &command_log, &resolver) == 0) {
        const int error =
            r->kind->create(record, resolver, &command_log, &report);
        if (error == TALLY_EUNKNOWN)
            status = EXIT_USAGE;
        else if (error == 0) {
            struct written_report w = {r, report};
            struct output page;
            if (r->kind->refine != NULL)
                r->kind->refine(r, report, &names);
            status = 0;
            if (beside == NULL && r->page != NULL) {
                status = output_open(r->page, REPLACE_WHOLE, &page);
                beside = &page;
            }
            if (status == 0)
                status = beside != NULL
                             ? write_beside(r, &w, beside)
                             : rows_request_write(&r->rows,
                                                  r->rows.form == REPORT_TEXT,
                                                  write_form, &w);
        }
    }
    r->kind->destroy(report);
    resolver_destroy(resolver);
    return status;
}

/* Says, of a record without a name that was given up, that its folder is full.
 */
static void
say_full(const struct report_request *r, int fd)
{
    struct statvfs system;

    if (fd >= 0 && fstatvfs(fd, &system) == 0 && system.f_bavail == 0)
        escape_printf(stderr,
                      "tally %s: the folder %s, for the record of the "
                      "program, is full; TMPDIR names another, or --record a "
                      "file elsewhere\n",
                      r->kind->command->name, path_scratch());
}

/* Runs the program under tally record, into the file `kept` or, where that is
 * NULL, into `fd`. `word`: one more for tally record, or NULL. Returns its exit
 * status. */
static int
run_recorded(struct report_request *r, const char *kept, int fd,
             const char *word)
{
    const size_t first = r->word_count;
    char *output = NULL;
    const int written = kept != NULL
                            ? asprintf(&output, "--output=%s", kept)
                            : asprintf(&output, "--output=/dev/fd/%d", fd);
    int status = add_word(r, written < 0 ? NULL : output);

    if (status == 0 && word != NULL)
        status = add_word(r, strdup(word));
    if (status == 0 && !r->chosen)
        status = add_word(r, strdup("--machine=host-model"));
    for (char **w = r->program; status == 0 && *w != NULL; w++)
        status = add_word(r, strdup(*w));
    if (status == 0)
        status = record_for(r->kind->command, (int)r->word_count, r->record);
    while (r->word_count > first)
        free(r->record[--r->word_count]);
    r->record[first] = NULL;
    return status;
}

/* The standard files while a program runs again. */
struct quiet {
    int saved[3]; /* -1: it was closed */
};

/* Sends what a program writes from now on to /dev/null, and sets standard input
 * back to `offset`; where that is -1, standard input is empty. */
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

struct record *
report_run_again(struct report_request *r, const char *word)
{
    const int fd = scratch_record(r->kind->command->name);
    struct record *record = NULL;
    struct quiet quiet;

    if (fd < 0)
        return NULL;
    be_quiet(&quiet, r->input_offset);
    const int status = run_recorded(r, NULL, fd, word);
    be_loud(&quiet);
    lseek(fd, 0, SEEK_SET);
    if (status != EXIT_OURS &&
        record_open_fd(dup(fd), "the record of the program", NULL, &record) !=
            0)
        record = NULL;
    close(fd);
    return record;
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

/* Runs the program, and writes the report of its record to `out`. Returns an
 * exit status. */
static int
report_program(struct report_request *r, struct output *out)
{
    const int fd =
        r->kept == NULL ? scratch_record(r->kind->command->name) : -1;
    struct record *record = NULL;

    if (r->kept == NULL && fd < 0)
        return EXIT_OURS;
    const struct stat before = state_of(r->kept);
    r->input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    const int status = run_recorded(r, r->kept, fd, NULL);
    const struct stat now = state_of(r->kept);
    if (status == EXIT_OURS)
        say_full(r, fd);
    /* tally record has said why it has written nothing. */
    const bool any =
        fd >= 0 ? lseek(fd, 0, SEEK_END) > 0 : was_written(&before, &now);
    int reported = 0;
    if (any && fd >= 0) {
        lseek(fd, 0, SEEK_SET);
        /* tally record has said why it gave a record up. */
        const bool said = status == EXIT_OURS || status == EXIT_USAGE;
        reported = record_open_fd(dup(fd), "the record of the program",
                                  said ? NULL : &command_log, &record) == 0
                       ? 0
                       : EXIT_OURS;
    } else if (any) {
        reported = open_record(r->kind->command->name, r->kept, &record);
    }
    /* Of a program that did not run, what is wrong has been said. */
    if (record != NULL && (status == 0 || record->process_count > 0))
        reported = report_record(r, record, out);
    record_close(record);
    if (fd >= 0)
        close(fd);
    return status != 0 ? status : reported;
}

/* Opens where the report goes before the program runs, so that the program
 * does not run for nothing. Returns an exit status. */
static int
run_program(struct report_request *r)
{
    struct output out;
    int status = output_open(output_path(r), REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    status = report_program(r, &out);
    output_close(&out, false);
    return status;
}

int
record_report_run(const struct record_report *kind, void *own, int argc,
                  char **argv)
{
    static const char *const forms[] = {[REPORT_TEXT] = "text",
                                        [REPORT_CSV] = "csv",
                                        [REPORT_JSON_FORM] = "json",
                                        NULL};
    struct report_request r = {.kind = kind, .own = own};
    struct record *record = NULL;
    char *option = NULL;
    int operand = 0;
    int status = rows_request_init(&r.rows, kind->command, forms, argc);

    r.rows.zero_is_all = true;
    if (asprintf(&option, "--%s", kind->option) < 0)
        option = NULL;
    if (status == 0)
        status = add_word(&r, strdup("record"));
    if (status == 0)
        status = add_word(&r, option);
    else
        free(option);
    if (status == 0)
        status = add_word(&r, strdup("--quiet"));
    if (status == 0)
        status = read_options(&r, argc, argv, &operand);
    if (status == COMMAND_HELP) {
        command_help(kind->command, stdout);
        status = 0;
    } else if (status == 0 && argv[operand] != NULL) {
        r.program = argv + operand;
        status = run_program(&r);
    } else if (status == 0) {
        status = open_record(kind->command->name, r.input, &record);
        if (status == 0)
            status = report_record(&r, record, NULL);
        record_close(record);
    }
    for (size_t i = 0; i < r.word_count; i++)
        free(r.record[i]);
    free(r.record);
    rows_request_finish(&r.rows);
    return status;
}
