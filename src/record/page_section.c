/* SPDX-License-Identifier: MIT */
#include "record/page_section.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "record/run_note.h"
#include "report/json_text.h"

#define SCHEMA 1
#define PLACE "@DATA@"

/* Bytes that become one line of 96 letters. */
#define LINE 72u

/* Writes three bytes as four letters; of fewer bytes `=` fills the end. */
static void
write_three(const uint8_t *from, size_t count, char *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)from[0] << 16 |
                          (count > 1 ? (uint32_t)from[1] << 8 : 0) |
                          (count > 2 ? from[2] : 0);

    to[0] = letters[bits >> 18];
    to[1] = letters[bits >> 12 & 63];
    to[2] = count > 1 ? letters[bits >> 6 & 63] : '=';
    to[3] = count > 2 ? letters[bits & 63] : '=';
}

/* Writes bytes as lines of base64. */
static void
write_base64(const uint8_t *data, size_t size, FILE *out)
{
    char line[LINE / 3 * 4 + 1];

    for (size_t at = 0; at < size; at += LINE) {
        const size_t end = size - at < LINE ? size : at + LINE;
        size_t length = 0;
        for (size_t i = at; i < end; i += 3, length += 4)
            write_three(data + i, end - i < 3 ? end - i : 3, line + length);
        line[length++] = '\n';
        fwrite(line, 1, length, out);
    }
}

int
page_section_write(const char *name, const struct bytes *data, FILE *out)
{
    uLongf size = compressBound(data->size);
    uint8_t *packed = data->failed ? NULL : malloc(size);
    static const uint8_t none[1];
    const uint8_t *from = data->size > 0 ? data->data : none;

    if (packed == NULL || compress2(packed, &size, from, data->size,
                                    Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(packed);
        return TALLY_ENOMEM;
    }
    fprintf(out, "<script type=\"text/plain\" id=\"data-%s\">\n", name);
    write_base64(packed, size, out);
    fputs("</script>\n", out);
    free(packed);
    return ferror(out) ? TALLY_EIO : 0;
}

/* Writes a document as a section. */
static int
write_data(const char *name, const json_t *data, FILE *out)
{
    char *const text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
    struct bytes bytes = {0};

    if (text == NULL)
        return TALLY_ENOMEM;
    bytes_append(&bytes, text, strlen(text));
    free(text);
    const int error = page_section_write(name, &bytes, out);
    bytes_finish(&bytes);
    return error;
}

int
page_head_write(json_t *head, FILE *out)
{
    fputs("<script type=\"application/json\" id=\"head\">", out);
    const int error = report_json_script(head, JSON_COMPACT, out);
    fputs("</script>\n", out);
    json_decref(head);
    return error;
}

int
page_fill(const char *text, json_t *head, const char *name, json_t *data,
          FILE *out)
{
    const char *const place = strstr(text, PLACE);
    int error = data != NULL ? 0 : TALLY_ENOMEM;

    if (error == 0)
        fwrite(text, 1, (size_t)(place - text), out);
    if (error == 0 && head != NULL) {
        error = page_head_write(head, out);
        head = NULL;
    }
    if (error == 0)
        error = write_data(name, data, out);
    if (error == 0) {
        fputs(place + strlen(PLACE), out);
        error = fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
    }
    json_decref(head);
    json_decref(data);
    return error;
}

json_t *
page_head(const struct record *record, const char *creator)
{
    json_t *const command = json_array(), *const o = json_object();

    for (char **word = record->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_line(*word));
    json_object_set_new(o, "schema", json_integer(SCHEMA));
    json_object_set_new(o, "creator", report_json_line(creator));
    json_object_set_new(o, "machine", report_json_line(record->machine));
    json_object_set_new(o, "isa", report_json_line(record->isa));
    json_object_set_new(o, "command", command);
    json_object_set_new(o, "cut", json_boolean(record->cut));
    json_object_set_new(o, "partial", json_boolean(record->partial));
    json_object_set_new(o, "interrupted", json_boolean(record->interrupted));
    run_note_set(o, record->varies);
    return o;
}
