/* SPDX-License-Identifier: MIT */
#include "cli/rows_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
access_name(enum field_access access)
{
    static const char *const names[] = {
        [ACCESS_RW] = "RW",   [ACCESS_RO] = "RO",   [ACCESS_WO] = "WO",
        [ACCESS_RW0] = "RW0", [ACCESS_IGN] = "IGN", [ACCESS_RSVD] = "RSVD",
    };

    return names[access];
}

void
bits_text(const struct field_row *f, char *text, size_t text_size)
{
    snprintf(text, text_size, f->width > 1 ? "%u:%u" : "%u",
             f->low + f->width - 1u, (unsigned)f->low);
}

const char *
umask_why(const struct umask_row *u)
{
    static const char *const whys[] = {
        [UMASK_YES] = NULL,
        [UMASK_NOTHING] = "nothing",
        [UMASK_ILLEGAL] = "illegal",
        [UMASK_UNDEFINED] = "undefined",
    };

    return whys[u->counts];
}

/* Prints the last column; nothing follows the column before where the text is
 * empty. */
static void
print_text(struct screen *s, size_t used, const char *text, bool fold)
{
    used += 2;
    fprintf(s->out, "%s", *text != '\0' ? "  " : "");
    if (fold)
        screen_prose(s, used, used, text);
    else
        screen_rest(s, used, text);
}

void
fields_print(struct screen *s, size_t indent, const struct register_row *row,
             bool fold)
{
    size_t width = 0, reset_width = 0;
    char bits[BITS_TEXT], reset[24];

    for (size_t i = 0; i < row->field_count; i++) {
        const struct field_row *f = &row->fields[i];
        const int digits = snprintf(reset, sizeof(reset), "0x%" PRIx64,
                                    f->has_reset ? f->reset : 0);
        if (strlen(f->name) > width)
            width = strlen(f->name);
        if ((size_t)digits > reset_width)
            reset_width = (size_t)digits;
    }
    for (size_t i = 0; i < row->field_count; i++) {
        const struct field_row *f = &row->fields[i];
        bits_text(f, bits, sizeof(bits));
        snprintf(reset, sizeof(reset), "0x%" PRIx64, f->reset);
        const int used =
            fprintf(s->out, "%*s%5s  %-*s  %-4s  %-*s", (int)indent, "", bits,
                    (int)width, f->name, access_name(f->access),
                    f->brief != NULL ? (int)reset_width : 0,
                    f->has_reset ? reset : "-");
        print_text(s, (size_t)used, f->brief != NULL ? f->brief : "", fold);
    }
}

size_t
umask_width(const struct event_row *event)
{
    size_t width = 1;

    for (size_t i = 0; i < event->umask_count; i++) {
        const size_t length = strlen(event->umasks[i].name);
        if (length > width)
            width = length;
    }
    return width;
}

void
umask_print(struct screen *s, size_t indent, size_t width,
            const struct umask_row *u, const char *idle, bool fold)
{
    char brief[512];
    const char *why = umask_why(u);
    const int used = fprintf(s->out, "%*s%-*s  %s", (int)indent, "", (int)width,
                             u->name[0] != '\0' ? u->name : "-", u->pattern);

    snprintf(brief, sizeof(brief), "%s%s%s%s%s%s",
             u->counts == UMASK_NOTHING ? "counts " : "",
             why != NULL ? why : "",
             why != NULL && u->brief[0] != '\0' ? ": " : "", u->brief,
             idle != NULL ? "; idle: " : "", idle != NULL ? idle : "");
    print_text(s, (size_t)used, brief, fold);
}

/* Returns whether `b` is named as `a` with the next number. */
static bool
follows(const char *a, const char *b)
{
    size_t same = 0;

    while (a[same] != '\0' && !isdigit((unsigned char)a[same]))
        same++;
    return a[same] != '\0' && strncmp(a, b, same) == 0 &&
           atoi(b + same) == atoi(a + same) + 1;
}

void
counters_text(const struct machine_row *machine, uint32_t bits, char *text,
              size_t text_size)
{
    const struct counter_row *c = machine->counters;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < machine->counter_count && used < text_size; i++) {
        size_t last = i;
        if ((bits >> i & 1) == 0)
            continue;
        while (last + 1 < machine->counter_count &&
               (bits >> (last + 1) & 1) != 0 &&
               follows(c[last].name, c[last + 1].name))
            last++;
        used += (size_t)snprintf(text + used, text_size - used, "%s%s%s%s",
                                 used > 0 ? ", " : "", c[i].name,
                                 last > i + 1 ? "-"
                                 : last > i   ? ", "
                                              : "",
                                 last > i ? c[last].name : "");
        i = last;
    }
}
