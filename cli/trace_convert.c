/* SPDX-License-Identifier: MIT */
#include "cli/trace_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/output.h"
#include "table/table.h"
#include "table/text.h"
#include "trace/trace_export.h"
#include "trace/trace_import.h"
#include "version.h"

#define FORMATS_MOST 8

/* Says that there is no such format, or that one is expected. */
static int
say_format(const char *verb, const char *given, const char *const *names,
           size_t count)
{
    char near[128] = "", all[128];

    join_words(names, count, all, sizeof(all));
    if (given == NULL) {
        fprintf(stderr,
                "tally trace %s: a format is expected, as in tally trace %s "
                "--as %s; there are %s\n",
                verb, verb, names[0], all);
        return EXIT_USAGE;
    }
    near_names(given, names, count, 3, near, sizeof(near));
    escape_printf(stderr, "tally trace %s: unknown format '%s'; %s%s%s\n", verb,
                  shown(given, strlen(given)).text,
                  *near != '\0' ? "did you mean " : "there are ",
                  *near != '\0' ? near : all, *near != '\0' ? "?" : "");
    return EXIT_USAGE;
}

static const struct trace_export_format *
find_export(const char *name)
{
    const char *names[FORMATS_MOST] = {NULL};
    size_t count = 0;

    for (const struct trace_export_format *f = trace_export_formats;
         f->name != NULL; f++) {
        if (name != NULL && strcmp(f->name, name) == 0)
            return f;
        names[count++] = f->name;
    }
    say_format("export", name, names, count);
    return NULL;
}

/* Says what has no place in the format. */
static void
say_left(const struct trace_export_format *format,
         const struct trace_exported *x)
{
    if (x->accesses_left == 0 && x->registers_left == 0 && x->strays_left == 0)
        return;
    escape_printf(stderr,
                  "tally: %s has no place for %" PRIu64 " of %" PRIu64
                  " accesses, %" PRIu64 " of them of no instruction, and for "
                  "%" PRIu64 " registers, of %" PRIu64 " instructions\n",
                  format->name, x->accesses_left + x->strays_left,
                  x->accesses + x->accesses_left + x->strays_left,
                  x->strays_left, x->registers_left, x->instructions);
}

/* Writes the trace that is open. */
static int
export_trace(struct trace_reader *reader,
             const struct trace_export_format *format, const char *output,
             bool quiet)
{
    struct trace_exported exported;
    struct output out;
    const int status =
        output_open(output != NULL ? output : "-", REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    errno = 0;
    const int error = trace_export(reader, format, out.file, &exported);
    if (error == TALLY_ENOMEM)
        command_no_memory();
    const int ended = output_end(&out, error);
    if (error == TALLY_EPROGRAM) {
        fprintf(stderr,
                "tally trace export: the trace has several threads, and %s has "
                "one: lackey and din take all, in the order of their turns\n",
                format->name);
        return EXIT_USAGE;
    }
    if (ended == TALLY_EIO && (error == 0 || error == TALLY_EIO))
        return output_unwritten(output);
    if (ended == 0 && !quiet)
        say_left(format, &exported);
    return ended == 0 ? 0 : EXIT_OURS;
}

int
trace_convert_export(const char *path, const char *format, const char *output,
                     bool quiet)
{
    const struct trace_export_format *const f = find_export(format);
    const bool to_stdout = output == NULL || strcmp(output, "-") == 0;
    struct trace_reader *reader = NULL;

    if (f == NULL)
        return EXIT_USAGE;
    if (f->binary && to_stdout && isatty(STDOUT_FILENO)) {
        fprintf(stderr,
                "tally trace export: %s is no text for a terminal; -o FILE "
                "writes it to a file\n",
                f->name);
        return EXIT_USAGE;
    }
    if (!to_stdout && same_file(path, output)) {
        escape_printf(stderr,
                      "tally trace export: -o %s would replace the trace "
                      "itself\n",
                      output);
        return EXIT_USAGE;
    }
    if (trace_reader_open(path, &command_log, &reader) != 0)
        return EXIT_OURS;
    const char *const source = trace_reader_head(reader)->source;
    if (f->code && source != NULL) {
        escape_printf(stderr,
                      "tally trace export: %s was imported from %s, and has no "
                      "code, which %s asks for\n",
                      path, source, f->name);
        trace_reader_close(&reader);
        return EXIT_USAGE;
    }
    const int status = export_trace(reader, f, output, quiet);
    trace_reader_close(&reader);
    return status;
}

static const struct trace_import_format *
find_import(const char *name)
{
    const char *names[FORMATS_MOST] = {NULL};
    size_t count = 0;

    for (const struct trace_import_format *f = trace_import_formats;
         f->name != NULL; f++) {
        if (name != NULL && strcmp(f->name, name) == 0)
            return f;
        names[count++] = f->name;
    }
    say_format("import", name, names, count);
    return NULL;
}

/* Says what was imported. */
static void
say_imported(const char *output, const struct trace_import_format *format,
             uint64_t holds, const struct trace_run *run, uint64_t size,
             const struct trace_import_left *left)
{
    fputs("tally: ", stderr);
    if ((holds & TRACE_HOLDS_INSTRUCTIONS) != 0)
        fprintf(stderr, "%" PRIu64 " instructions and ", run->instructions);
    escape_printf(stderr, "%" PRIu64 " accesses in %" PRIu64 " bytes: %s\n",
                  run->accesses, size, output);
    if (left->records != 0)
        fprintf(stderr, "tally: left out: %" PRIu64 " %s\n", left->records,
                left->what);
    if (!format->tested)
        fprintf(stderr,
                "tally: %s is read by what is written of its layout; no file "
                "that it had written itself was tried\n",
                format->name);
}

/* Returns the exit status for an error that was logged. */
static int
import_status(int error)
{
    return error == 0 ? 0 : error == TALLY_ESYNTAX ? EXIT_USAGE : EXIT_OURS;
}

/* Writes the trace of what was begun to be read. */
static int
write_import(struct trace_import *import, const char *name,
             const struct trace_import_format *format, uint64_t holds,
             const char *output, bool quiet)
{
    char *const words[] = {(char *)(uintptr_t)name, NULL};
    const struct trace_head head = {
        .version = TALLY_VERSION,
        .isa = "imported",
        .cpu = "",
        .path = name,
        .argv = words,
        .source = format->name,
        .holds = holds,
    };
    struct trace_run run = {.end = TRACE_END_EXIT};
    struct trace_writer *writer = NULL;
    struct trace_import_left left;
    uint64_t size;

    errno = 0;
    const int opened =
        trace_writer_create(output, &head, 0, &command_log, &writer);
    if (opened != 0)
        return opened == TALLY_EIO ? output_status(errno) : EXIT_OURS;
    int error = trace_import_all(import, writer, &left);
    if (error != 0 && error != TALLY_ESYSTEM) {
        trace_writer_abandon(&writer);
        return import_status(error);
    }
    /* A writer that took no more says why once it ends. */
    error = trace_writer_end(&writer, &run, &run, &size);
    if (error == 0 && !quiet)
        say_imported(output, format, holds, &run, size, &left);
    return import_status(error);
}

int
trace_convert_import(const char *path, const char *format, const char *output,
                     bool quiet)
{
    const struct trace_import_format *const f = find_import(format);
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *const name = is_stdin ? "standard input" : path;
    struct trace_import *import = NULL;
    uint64_t holds;

    if (f == NULL)
        return EXIT_USAGE;
    if (!is_stdin && same_file(path, output)) {
        escape_printf(stderr,
                      "tally trace import: -o %s would replace the file that "
                      "is read\n",
                      output);
        return EXIT_USAGE;
    }
    const int fd =
        is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        escape_printf(stderr, "tally: %s: %s\n", path, strerror(errno));
        return EXIT_USAGE;
    }
    int status = import_status(
        trace_import_begin(fd, name, f, &command_log, &import, &holds));
    if (status == 0)
        status = write_import(import, name, f, holds, output, quiet);
    trace_import_end(&import);
    if (!is_stdin)
        close(fd);
    return status;
}
