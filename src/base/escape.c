/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define SHOWN_MOST 16 /* bytes of what stands for one character */
#define SPEC_MOST 64  /* bytes of one conversion of a format */

/* Reads the character of UTF-8 that the text begins with. Returns its bytes;
 * 0: there is none (Unicode 15, table 3-7). */
static size_t
take_character(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *const bytes = (const unsigned char *)text;
    const size_t size = bytes[0] < 0x80   ? 1
                        : bytes[0] < 0xc2 ? 0
                        : bytes[0] < 0xe0 ? 2
                        : bytes[0] < 0xf0 ? 3
                        : bytes[0] < 0xf5 ? 4
                                          : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (size == 0 || size > length)
        return 0;
    *code = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (bytes[i] & 0x3f);
    }
    if (*code < least[size] || *code > 0x10ffff ||
        (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return size;
}

/* Returns whether the character turns the direction of the text around it. */
static bool
turns_text(uint32_t code)
{
    return code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static bool
can_show(enum escape_form form, uint32_t code)
{
    const bool control = code < ' ' || (code >= 0x7f && code < 0xa0);

    switch (form) {
    case ESCAPE_LINE:
        return !control && code != 0x2028 && code != 0x2029 &&
               !turns_text(code);
    case ESCAPE_CELL:
        return (!control || code == '\t' || code == '\n') && code != 0xfffe &&
               code != 0xffff;
    case ESCAPE_JSON:
        break;
    }
    return true;
}

/* Returns whether the text begins as what stands for a byte or character. */
static bool
looks_escaped(const char *text, size_t length)
{
    if (length >= 4 && memcmp(text, "\\x", 2) == 0)
        return isxdigit((unsigned char)text[2]) &&
               isxdigit((unsigned char)text[3]);
    return length >= 3 && memcmp(text, "\\u{", 3) == 0;
}

/* Returns whether the form can show all of the name as it is. */
static bool
is_plain(const char *name, size_t length, enum escape_form form)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t size = take_character(name + i, length - i, &code);
        if (size == 0 || !can_show(form, code) ||
            looks_escaped(name + i, length - i))
            return false;
        i += size;
    }
    return true;
}

/* Writes what stands for the first character, or byte, of a name that is not
 * plain. Returns how many bytes of the name that was. */
static size_t
show_first(const char *name, size_t length, enum escape_form form,
           char shown[SHOWN_MOST])
{
    uint32_t code = 0;
    const size_t size = take_character(name, length, &code);

    if (size == 0)
        snprintf(shown, SHOWN_MOST, "\\x%02x", (unsigned char)*name);
    else if (code == '\\')
        snprintf(shown, SHOWN_MOST, "\\\\");
    else if (can_show(form, code))
        snprintf(shown, SHOWN_MOST, "%.*s", (int)size, name);
    else if (code < 0x80)
        snprintf(shown, SHOWN_MOST, "\\x%02x", (unsigned)code);
    else
        snprintf(shown, SHOWN_MOST, "\\u{%x}", (unsigned)code);
    return size > 0 ? size : 1;
}

/* Writes the name as the form shows it and a NUL; nothing to a NULL. Returns
 * the bytes without the NUL. */
static size_t
show(const char *name, size_t length, enum escape_form form, char *to)
{
    const bool plain = is_plain(name, length, form);
    size_t used = plain ? length : 0;

    if (plain && to != NULL)
        memcpy(to, name, length);
    for (size_t i = 0; i < length && !plain;) {
        char shown[SHOWN_MOST];
        i += show_first(name + i, length - i, form, shown);
        const size_t size = strlen(shown);
        if (to != NULL)
            memcpy(to + used, shown, size);
        used += size;
    }
    if (to != NULL)
        to[used] = '\0';
    return used;
}

static char *
copy(const char *name, size_t length, enum escape_form form)
{
    char *const text = malloc(show(name, length, form, NULL) + 1);

    if (text != NULL)
        show(name, length, form, text);
    return text;
}

bool
escape_is_plain(const char *name, enum escape_form form)
{
    return is_plain(name, strlen(name), form);
}

char *
escape_copy(const char *name, enum escape_form form)
{
    return copy(name, strlen(name), form);
}

/* Returns how many of at most `most` bytes of the name are whole characters. */
static size_t
cut(const char *name, size_t most)
{
    const size_t length = strnlen(name, most);
    size_t kept = length;
    uint32_t code;

    if (length < most || name[length] == '\0')
        return length;
    while (kept > 0 && length - kept < 3 && (name[kept] & 0xc0) == 0x80)
        kept--;
    return kept + take_character(name + kept, strnlen(name + kept, 4), &code) >
                   length
               ? kept
               : length;
}

/* A conversion of a format: its text, with the numbers of its stars. */
struct spec {
    char text[SPEC_MOST];
    size_t used;
    int width;   /* below 0: to the left */
    long most;   /* the precision, or -1 */
    char length; /* the modifier; 'H' for hh, 'q' for ll; or 0 */
    char kind;
};

static void
add_text(struct spec *s, const char *format, size_t length)
{
    assert(s->used + length < sizeof(s->text));
    memcpy(s->text + s->used, format, length);
    s->used += length;
    s->text[s->used] = '\0';
}

/* The arguments in a struct, so that functions that take some of them can be
 * called one after the other (C17 7.16). */
struct arguments {
    va_list list;
};

/* Reads a number of the format, or takes the argument of a star. */
static const char *
take_number(const char *format, struct arguments *args, int *number)
{
    char *end;

    if (*format == '*') {
        *number = va_arg(args->list, int);
        return format + 1;
    }
    *number = (int)strtol(format, &end, 10);
    return end;
}

/* Reads the conversion that `format` begins with. Returns where it ends. */
static const char *
take_spec(const char *format, struct arguments *args, struct spec *s)
{
    const size_t flags = strspn(format + 1, "-+ #0'") + 1;
    char number[16];

    *s = (struct spec){.most = -1};
    add_text(s, format, flags);
    const bool left = memchr(format, '-', flags) != NULL;
    format = take_number(format + flags, args, &s->width);
    snprintf(number, sizeof(number), "%d", s->width);
    add_text(s, number, s->width != 0 ? strlen(number) : 0);
    if (left && s->width > 0)
        s->width = -s->width;
    if (*format == '.') {
        int most;
        format = take_number(format + 1, args, &most);
        snprintf(number, sizeof(number), ".%d", most);
        add_text(s, number, most >= 0 ? strlen(number) : 0);
        s->most = most >= 0 ? most : -1;
    }
    const size_t length = strspn(format, "hljzt");
    if (length > 0)
        s->length = length == 1 ? *format : *format == 'h' ? 'H' : 'q';
    s->kind = format[length];
    add_text(s, format, length + 1);
    return format + length + 1;
}

/* Writes the name as a line shows it; takes no memory, so that a report without
 * memory lacks no name. */
static void
put_shown(FILE *out, const char *name, size_t length)
{
    if (is_plain(name, length, ESCAPE_LINE)) {
        fwrite(name, 1, length, out);
        return;
    }
    for (size_t i = 0; i < length;) {
        char shown[SHOWN_MOST];
        i += show_first(name + i, length - i, ESCAPE_LINE, shown);
        fputs(shown, out);
    }
}

static void
put_name(FILE *out, const struct spec *s, const char *name)
{
    if (name == NULL)
        name = "(null)";
    const size_t length =
        s->most >= 0 ? cut(name, (size_t)s->most) : strlen(name);
    const long used = (long)show(name, length, ESCAPE_LINE, NULL);
    if (used < s->width)
        fprintf(out, "%*s", (int)(s->width - used), "");
    put_shown(out, name, length);
    if (used < -(long)s->width)
        fprintf(out, "%*s", (int)(-(long)s->width - used), "");
}

static void
put_signed(FILE *out, const struct spec *s, struct arguments *args)
{
    switch (s->length) {
    case 'l':
        fprintf(out, s->text, va_arg(args->list, long));
        break;
    case 'q':
        fprintf(out, s->text, va_arg(args->list, long long));
        break;
    case 'j':
        fprintf(out, s->text, va_arg(args->list, intmax_t));
        break;
    case 'z':
        fprintf(out, s->text, va_arg(args->list, ssize_t));
        break;
    case 't':
        fprintf(out, s->text, va_arg(args->list, ptrdiff_t));
        break;
    default:
        fprintf(out, s->text, va_arg(args->list, int));
        break;
    }
}

static void
put_unsigned(FILE *out, const struct spec *s, struct arguments *args)
{
    switch (s->length) {
    case 'l':
        fprintf(out, s->text, va_arg(args->list, unsigned long));
        break;
    case 'q':
        fprintf(out, s->text, va_arg(args->list, unsigned long long));
        break;
    case 'j':
        fprintf(out, s->text, va_arg(args->list, uintmax_t));
        break;
    case 'z':
        fprintf(out, s->text, va_arg(args->list, size_t));
        break;
    default:
        fprintf(out, s->text, va_arg(args->list, unsigned));
        break;
    }
}

static void
put(FILE *out, const struct spec *s, struct arguments *args)
{
    switch (s->kind) {
    case 's':
        put_name(out, s, va_arg(args->list, const char *));
        break;
    case 'd':
    case 'i':
    case 'c':
        put_signed(out, s, args);
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_unsigned(out, s, args);
        break;
    case 'p':
        fprintf(out, s->text, va_arg(args->list, void *));
        break;
    case '%':
        fputc('%', out);
        break;
    default:
        assert(strchr("aAeEfFgG", s->kind) != NULL);
        fprintf(out, s->text, va_arg(args->list, double));
        break;
    }
}

void
escape_markup(const char *name, enum escape_form form, FILE *out)
{
    char *const shown = escape_copy(name, form);

    for (const char *c = shown != NULL ? shown : "?"; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\t':
        case '\n':
            /* An attribute would have a blank in place of the character. */
            fprintf(out, "&#%d;", *c);
            break;
        default:
            fputc(*c, out);
        }
    }
    free(shown);
}

void
escape_printf(FILE *out, const char *format, ...)
{
    struct arguments args;
    struct spec spec;

    va_start(args.list, format);
    while (*format != '\0') {
        const size_t length = strcspn(format, "%");
        fwrite(format, 1, length, out);
        format += length;
        if (*format == '%') {
            format = take_spec(format, &args, &spec);
            put(out, &spec, &args);
        }
    }
    va_end(args.list);
}
