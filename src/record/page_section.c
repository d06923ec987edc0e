/* SPDX-License-Identifier: MIT */
#include "record/page_section.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/error.h"

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
