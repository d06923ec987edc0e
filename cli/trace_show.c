/* SPDX-License-Identifier: MIT */
#include "cli/trace_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/trace_words.h"
#include "report/json_text.h"
#include "trace/trace_reader.h"

/* Reads a trace to its end. Returns 0 or a status after saying why. */
static int
read_whole(struct trace_reader *reader)
{
    struct trace_step step;
    int next;

    while ((next = trace_reader_next(reader, &step)) > 0)
        ;
    return next == 0 ? 0 : EXIT_OURS;
}

int
trace_verify(const char *path)
{
    struct trace_reader *reader = NULL;

    if (trace_reader_open(path, &command_log, &reader) != 0)
        return EXIT_OURS;
    int status = read_whole(reader);
    const struct trace_run *const run = trace_reader_run(reader);
    const struct trace_run *const so_far = trace_reader_so_far(reader);
    if (status == 0 && run == NULL) {
        status = EXIT_OURS; /* the reader said that the file is cut */
    } else if (status == 0 && (run->instructions != so_far->instructions ||
                               run->blocks != so_far->blocks ||
                               run->accesses != so_far->accesses ||
                               run->threads != so_far->threads ||
                               run->calls != so_far->calls)) {
        escape_printf(stderr,
                      "tally trace: %s is damaged: it says that %" PRIu64
                      " instructions ran, and has %" PRIu64 "\n",
                      path, run->instructions, so_far->instructions);
        status = EXIT_OURS;
    }
    printf("%" PRIu64 " instructions, %" PRIu64 " blocks, %" PRIu64
           " accesses and %" PRIu64 " system calls can be replayed\n",
           so_far->instructions, so_far->blocks, so_far->accesses,
           so_far->calls);
    trace_reader_close(&reader);
    return fflush(stdout) != 0 && status == 0 ? command_unwritten("output")
                                              : status;
}

static json_t *
images_document(const struct trace_reader *reader)
{
    json_t *const list = json_array();
    size_t count;
    const struct trace_image *const images =
        trace_reader_images(reader, &count);

    for (size_t i = 0; i < count; i++) {
        char id[2 * 64 + 1] = "";
        for (size_t k = 0; k < images[i].build_id_size && k < 64; k++)
            snprintf(id + 2 * k, 3, "%02x", images[i].build_id[k]);
        json_array_append_new(
            list, json_pack("{s:o, s:I, s:I, s:I, s:s}", "path",
                            report_json_text(images[i].path), "first",
                            (json_int_t)images[i].first, "last",
                            (json_int_t)images[i].last, "offset",
                            (json_int_t)images[i].offset, "build_id", id));
    }
    return list;
}

/* What an imported trace has, in words, by the bits of enum trace_holds. */
static const char *const holds_words[] = {
    "loads and stores", "their sizes", "fetches of code",
    "each instruction", "branches",
};

static json_t *
holds_document(uint64_t holds)
{
    json_t *const list = json_array();

    for (size_t i = 0; i < sizeof(holds_words) / sizeof(holds_words[0]); i++)
        if ((holds >> i & 1) != 0)
            json_array_append_new(list, json_string(holds_words[i]));
    return list;
}

/* Writes what an imported trace is of, in place of its program. */
static void
write_imported_text(const struct trace_head *h)
{
    const char *comma = "";

    escape_printf(stdout, "imported from %s, of %s\n", h->source, h->path);
    printf("has           ");
    for (size_t i = 0; i < sizeof(holds_words) / sizeof(holds_words[0]); i++) {
        if ((h->holds >> i & 1) == 0)
            continue;
        printf("%s%s", comma, holds_words[i]);
        comma = ", ";
    }
    putchar('\n');
    escape_printf(stdout, "imported by   tally %s\n", h->version);
}

static void
write_info_json(const struct trace_reader *reader, uint64_t size, bool whole,
                const struct trace_run *run)
{
    const struct trace_head *const h = trace_reader_head(reader);
    json_t *const command = json_array();
    char words[TRACE_WORDS];

    for (char *const *word = h->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_text(*word));
    json_t *const document = json_pack(
        "{s:i, s:s, s:s, s:o, s:o, s:o, s:b, s:s, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:b, s:o, s:o}",
        "schema", 1, "tally", h->version, "isa", h->isa, "cpu",
        h->cpu[0] != '\0' ? report_json_text(h->cpu) : json_null(), "program",
        report_json_text(h->path), "command", command, "whole", whole, "end",
        whole ? trace_end_words(run, words) : "the trace is cut", "status",
        (json_int_t)run->status, "instructions",
        (json_int_t)trace_instructions(run), "blocks_run",
        (json_int_t)run->blocks, "blocks",
        (json_int_t)trace_reader_model(reader)->block_count, "accesses",
        (json_int_t)run->accesses, "system_calls", (json_int_t)run->calls,
        "threads", (json_int_t)run->threads, "bytes", (json_int_t)size,
        "objects", h->allocations[0] != '\0', "part",
        h->part[0] != '\0' ? report_json_text(h->part) : json_null(), "images",
        images_document(reader));
    if (document != NULL && h->source != NULL) {
        json_object_set_new(document, "imported", report_json_text(h->source));
        json_object_set_new(document, "holds", holds_document(h->holds));
    }
    char *const text =
        document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    if (text != NULL)
        puts(text);
    free(text);
    json_decref(document);
}

static void
write_info_text(const struct trace_reader *reader, uint64_t size, bool whole,
                const struct trace_run *run)
{
    const struct trace_head *const h = trace_reader_head(reader);
    char *const command = command_text(h->argv);
    char words[TRACE_WORDS];
    size_t count;
    const struct trace_image *const images =
        trace_reader_images(reader, &count);

    const bool instructions =
        h->source == NULL || (h->holds & TRACE_HOLDS_INSTRUCTIONS) != 0;
    const uint64_t units =
        instructions ? trace_instructions(run) : run->accesses;

    if (h->source != NULL) {
        write_imported_text(h);
        if (!whole)
            puts("ends          cut short");
    } else {
        escape_printf(stdout, "program       %s\n", h->path);
        escape_printf(stdout, "command       %s\n",
                      command != NULL ? command : "");
        escape_printf(stdout, "architecture  %s%s%s\n", h->isa,
                      h->cpu[0] != '\0' ? ", " : "", h->cpu);
        escape_printf(stdout, "recorded by   tally %s\n", h->version);
        escape_printf(stdout, "ends          %s\n",
                      whole ? trace_end_words(run, words) : "cut short");
    }
    if (h->part[0] != '\0')
        escape_printf(stdout, "part          %s\n", h->part);
    if (instructions)
        printf("instructions  %" PRIu64 "\n", trace_instructions(run));
    printf("blocks        %" PRIu64 ", which ran %" PRIu64 " times\n",
           (uint64_t)trace_reader_model(reader)->block_count, run->blocks);
    printf("accesses      %" PRIu64 "\n", run->accesses);
    if (h->source == NULL) {
        printf("system calls  %" PRIu64 "\n", run->calls);
        if (run->threads > 1)
            printf("threads       %" PRIu64 ", in turns of %" PRIu64 " %s\n",
                   run->threads, h->quantum,
                   h->by_cycles ? "modelled cycles" : "instructions");
        printf("objects       %s\n",
               h->allocations[0] == '\0' ? "none: recorded without --objects"
               : h->loader[0] == '\0'
                   ? "variables and stacks; no blocks: the program is static"
                   : "variables, stacks, and blocks that its allocator gave");
    }
    printf("bytes         %" PRIu64 ", %.3f an %s\n", size,
           units != 0 ? (double)size / (double)units : 0.0,
           instructions ? "instruction" : "access");
    for (size_t i = 0; i < count; i++) {
        escape_printf(stdout, "image         %s",
                      images[i].path[0] != '\0' ? images[i].path
                                                : "(of no file)");
        printf(" at 0x%" PRIx64 "-0x%" PRIx64, images[i].first, images[i].last);
        if (images[i].build_id_size != 0)
            printf(", build id ");
        for (size_t k = 0; k < images[i].build_id_size; k++)
            printf("%02x", images[i].build_id[k]);
        putchar('\n');
    }
    free(command);
}

int
trace_show(const char *path, bool json)
{
    struct trace_reader *reader = NULL;
    struct stat st = {0};

    if (trace_reader_open(path, &command_log, &reader) != 0)
        return EXIT_OURS;
    const int status = read_whole(reader);
    stat(path, &st);
    const struct trace_run *const run = trace_reader_run(reader);
    (json ? write_info_json
          : write_info_text)(reader, (uint64_t)st.st_size, run != NULL,
                             run != NULL ? run : trace_reader_so_far(reader));
    trace_reader_close(&reader);
    return fflush(stdout) != 0 && status == 0 ? command_unwritten("output")
                                              : status;
}
