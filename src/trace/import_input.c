/* SPDX-License-Identifier: MIT */
#include "trace/import_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
input_init(struct import_input *in, int fd, const char *name,
           const struct tally_log *log)
{
    *in = (struct import_input){.fd = fd, .name = name, .log = log};
    in->buffer = malloc(INPUT_BUFFER);
    return in->buffer != NULL
               ? 0
               : tally_fail(log, TALLY_ENOMEM, "no memory for %s", name);
}

void
input_finish(struct import_input *in)
{
    free(in->buffer);
}

int
input_fill(struct import_input *in, size_t size)
{
    if (in->end - in->begin >= size)
        return (int)(in->end - in->begin);
    memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    while (!in->ended && in->end < size) {
        const ssize_t n =
            read(in->fd, in->buffer + in->end, INPUT_BUFFER - in->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tally_fail(in->log, TALLY_EIO, "%s: %s", in->name,
                              strerror(errno));
        in->ended = n == 0;
        in->end += (size_t)n;
    }
    return (int)(in->end - in->begin);
}

int
input_line(struct import_input *in, const char **text, size_t *size)
{
    const uint8_t *end =
        memchr(in->buffer + in->begin, '\n', in->end - in->begin);

    if (end == NULL) {
        const int there = input_fill(in, INPUT_LINE + 1);
        if (there <= 0)
            return there;
        end = memchr(in->buffer + in->begin, '\n', (size_t)there);
    }
    in->line++;
    const bool whole = end != NULL;
    if (!whole)
        end = in->buffer + in->end;
    *text = (const char *)in->buffer + in->begin;
    *size = (size_t)(end - (in->buffer + in->begin));
    in->begin += *size + whole;
    in->at += *size + whole;
    if (*size > INPUT_LINE)
        return input_bad_line(in,
                              "has more than %u characters: no line of a "
                              "trace has",
                              INPUT_LINE);
    if (*size > 0 && (*text)[*size - 1] == '\r')
        --*size;
    return 1;
}

int
input_record(struct import_input *in, size_t size, const uint8_t **bytes)
{
    int there = (int)(in->end - in->begin);

    if ((size_t)there < size)
        there = input_fill(in, size);
    if (there <= 0)
        return there;
    if ((size_t)there < size)
        return tally_fail(in->log, TALLY_ESYNTAX,
                          "%s: byte %" PRIu64
                          ": the file ends in the middle of a record: %d of "
                          "%zu bytes are there",
                          in->name, in->at, there, size);
    *bytes = in->buffer + in->begin;
    in->begin += size;
    in->at += size;
    return 1;
}

int
input_bad_line(const struct import_input *in, const char *format, ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return tally_fail(in->log, TALLY_ESYNTAX, "%s: line %" PRIu64 " %s",
                      in->name, in->line, text);
}

int
input_bad_record(const struct import_input *in, size_t size, const char *format,
                 ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return tally_fail(in->log, TALLY_ESYNTAX,
                      "%s: the record at byte %" PRIu64 " %s", in->name,
                      in->at - size, text);
}
