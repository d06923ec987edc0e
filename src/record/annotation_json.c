/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "record/annotation_report.h"
#include "report/json_text.h"

static json_t *
values_of(const struct annotation_look *look, const int64_t *values)
{
    json_t *object = json_object();

    for (size_t e = 0; e < look->event_count; e++)
        report_json_set(object, look->record->events[look->events[e]].asked,
                        json_integer(values[e]));
    return object;
}

static json_t *
name_of(const struct annotation_look *look, uint32_t number)
{
    return number != 0 ? report_json_text(resolver_text(look->resolver, number))
                       : json_null();
}

static json_t *
lines_of(const struct annotation *a, const struct annotation_look *look)
{
    json_t *lines = json_array();
    struct source_text source = {0};

    for (size_t i = 0; i < a->line_count; i++) {
        const struct annotated_line *line = &a->lines[i];
        if (i == 0 || line->file != a->lines[i - 1].file) {
            source_text_finish(&source);
            source_text_read(resolver_text(look->resolver, line->file),
                             look->moves, look->move_count, &source);
        }
        const char *text = source_text_line(&source, line->line);
        json_array_append_new(
            lines,
            json_pack("{s:o, s:i, s:o, s:o}", "file", name_of(look, line->file),
                      "line", line->line, "text",
                      text != NULL ? report_json_text(text) : json_null(),
                      "values", values_of(look, line->values)));
    }
    source_text_finish(&source);
    return lines;
}

/* The lines of a file that have code of which none ran. */
struct unrun {
    const struct annotation *a;
    uint32_t file;
    json_t *all;   /* of all files */
    json_t *known; /* object: the lines of this file that are in `all` */
    json_t *name;  /* of the file */
};

static void
take_unrun(void *user, unsigned line)
{
    struct unrun *u = user;
    char key[16];

    snprintf(key, sizeof(key), "%u", line);
    if (line == 0 || annotation_line(u->a, u->file, line) != NULL ||
        json_object_get(u->known, key) != NULL)
        return;
    json_object_set_new(u->known, key, json_true());
    json_array_append_new(
        u->all, json_pack("{s:O, s:i}", "file", u->name, "line", (int)line));
}

/* Returns the lines with code of which none ran, of the files of which some
 * did. */
static json_t *
unrun_of(const struct annotation *a, const struct annotation_look *look)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->line_count; i++) {
        const uint32_t file = a->lines[i].file;
        if (file == 0 || (i != 0 && a->lines[i - 1].file == file))
            continue;
        struct unrun u = {a, file, all, json_object(), name_of(look, file)};
        annotation_each_code_line(a, look->record, look->resolver, file,
                                  take_unrun, &u);
        json_decref(u.known);
        json_decref(u.name);
    }
    return all;
}

static json_t *
insns_of(const struct annotation *a, const struct annotation_look *look)
{
    json_t *insns = json_array();

    for (size_t i = 0; i < a->insn_count; i++) {
        const struct annotated_insn *insn = &a->insns[i];
        char address[24], text[160];
        snprintf(address, sizeof(address), "0x%" PRIx64, insn->address);
        disassembly_text(look->disassembly, insn->code, insn->size,
                         insn->address, text, sizeof(text));
        json_array_append_new(
            insns,
            json_pack("{s:s, s:i, s:o, s:i, s:o, s:o}", "address", address,
                      "size", insn->size, "file", name_of(look, insn->file),
                      "line", insn->line, "text", report_json_text(text),
                      "values", values_of(look, insn->values)));
    }
    return insns;
}

int
annotation_json(struct annotation *const *annotations, size_t count,
                const struct annotation_look *look, FILE *out)
{
    static const char *const kinds[] = {
        [ANNOTATE_FUNCTION] = "function",
        [ANNOTATE_FILE] = "file",
        [ANNOTATE_IMAGE] = "image",
    };
    json_t *rows = json_array();
    int error = 0;

    for (size_t i = 0; i < count; i++) {
        const struct annotation *a = annotations[i];
        json_t *row = json_pack(
            "{s:o, s:s, s:o, s:o, s:o}", "name", name_of(look, a->name), "kind",
            kinds[a->kind], "totals", values_of(look, a->totals), "lines",
            lines_of(a, look), "never_ran", unrun_of(a, look));
        if (look->assembly)
            json_object_set_new(row, "instructions", insns_of(a, look));
        json_array_append_new(rows, row);
    }
    json_t *document =
        json_pack("{s:i, s:o, s:o}", "schema", 1, "machine",
                  report_json_text(look->record->machine), "annotations", rows);
    if (document == NULL)
        return TALLY_ENOMEM;
    if (json_dumpf(document, out, JSON_INDENT(2)) != 0 ||
        fputc('\n', out) == EOF)
        error = TALLY_EIO;
    json_decref(document);
    return error;
}
