/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a name, in each form: what is shown is UTF-8 without what the
 * form cannot show, the name can be had back, and a field of CSV is one field.
 */
#include "base/escape.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "report/csv.h"
#include "report/json_text.h"

/* Returns the bytes of the character, by the table of RFC 3629; 0: none. */
static size_t
character(const unsigned char *b, uint32_t *code)
{
    static const struct {
        unsigned char low[4], high[4];
        size_t size;
    } table[] = {
        {{0x01}, {0x7f}, 1},
        {{0xc2, 0x80}, {0xdf, 0xbf}, 2},
        {{0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}, 3},
        {{0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}, 3},
        {{0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}, 3},
        {{0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}, 3},
        {{0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}, 4},
        {{0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}, 4},
        {{0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}, 4},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        size_t k = 0;
        while (k < table[i].size && b[k] >= table[i].low[k] &&
               b[k] <= table[i].high[k])
            k++;
        if (k < table[i].size)
            continue;
        *code = k == 1 ? b[0] : b[0] & ((1u << (7 - k)) - 1);
        for (size_t n = 1; n < k; n++)
            *code = *code << 6 | (b[n] & 0x3f);
        return k;
    }
    return 0;
}

static bool
is_allowed(enum escape_form form, uint32_t c)
{
    if (form == ESCAPE_JSON)
        return true;
    if (form == ESCAPE_CELL)
        return c == '\t' || c == '\n' || (c >= 0x20 && c <= 0x7e) ||
               (c >= 0xa0 && c <= 0xfffd) || c >= 0x10000;
    return ((c >= 0x20 && c <= 0x7e) || c >= 0xa0) && c != 0x61c &&
           c != 0x200e && c != 0x200f && (c < 0x2028 || c > 0x202e) &&
           (c < 0x2066 || c > 0x2069);
}

static void
check_allowed(enum escape_form form, const char *shown)
{
    const unsigned char *at = (const unsigned char *)shown;

    while (*at != '\0') {
        uint32_t code = 0;
        const size_t size = character(at, &code);
        fuzz_check(size > 0);
        fuzz_check(is_allowed(form, code));
        at += size;
    }
}

/* Writes a character as UTF-8. Returns its bytes. */
static size_t
put_character(unsigned long c, char *to)
{
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 0x3f));
    to[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

static bool
is_escaped(const char *shown)
{
    for (const char *c = shown; (c = strchr(c, '\\')) != NULL; c++)
        if ((c[1] == 'x' && isxdigit((unsigned char)c[2]) &&
             isxdigit((unsigned char)c[3])) ||
            strncmp(c, "\\u{", 3) == 0)
            return true;
    return false;
}

/* Makes the name again of what is shown, in its place. */
static void
decode(char *shown)
{
    char *to = shown;

    if (!is_escaped(shown))
        return;
    for (const char *c = shown; *c != '\0';) {
        if (*c != '\\') {
            *to++ = *c++;
        } else if (c[1] == '\\') {
            *to++ = '\\';
            c += 2;
        } else if (c[1] == 'x') {
            const char digits[3] = {c[2], c[3], '\0'};
            *to++ = (char)strtoul(digits, NULL, 16);
            c += 4;
        } else {
            char *end;
            fuzz_check(strncmp(c, "\\u{", 3) == 0);
            to += put_character(strtoul(c + 3, &end, 16), to);
            fuzz_check(*end == '}');
            c = end + 1;
        }
    }
    *to = '\0';
}

static void
check_form(enum escape_form form, const char *name)
{
    char *const shown = escape_copy(name, form);

    fuzz_check(shown != NULL);
    check_allowed(form, shown);
    decode(shown);
    fuzz_check(strcmp(shown, name) == 0);
    free(shown);
}

/* Reads the only field of a line of CSV, in its place. */
static void
read_field(char *text, char separator)
{
    char *to = text;

    if (*text != '"') {
        fuzz_check(strchr(text, separator) == NULL);
        fuzz_check(strpbrk(text, "\"\r\n") == NULL);
        return;
    }
    const char *c = text + 1;
    for (; *c != '\0' && (*c != '"' || c[1] == '"'); c++) {
        c += *c == '"';
        *to++ = *c;
    }
    fuzz_check(strcmp(c, "\"") == 0);
    *to = '\0';
}

static void
check_csv(const char *name, char separator)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    report_csv_text(name, separator, out);
    fclose(out);
    check_allowed(ESCAPE_CELL, text);
    read_field(text, separator);
    fuzz_check(*text == '\0' || strchr("=+-@\t", *text) == NULL);
    const size_t marks = strspn(text, "'");
    const bool marked =
        marks > 0 && text[marks] != '\0' && strchr("=+-@\t", text[marks]);
    decode(text + marked);
    fuzz_check(strcmp(text + marked, name) == 0);
    free(text);
}

static void
check_json(const char *name)
{
    json_t *const string = report_json_text(name);

    fuzz_check(string != NULL);
    char *const text = json_dumps(string, JSON_ENCODE_ANY);
    fuzz_check(text != NULL);
    json_t *const again = json_loads(text, JSON_DECODE_ANY, NULL);
    fuzz_check(json_equal(string, again));
    json_decref(again);
    json_decref(string);
    free(text);
}

/* A precision cuts no character, and nothing else is shown than by the rule. */
static void
check_printf(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    escape_printf(out, "%s%*s%.7s", name, 9, name, name);
    fclose(out);
    check_allowed(ESCAPE_LINE, text);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const name = fuzz_text(data, size);

    check_form(ESCAPE_LINE, name);
    check_form(ESCAPE_JSON, name);
    check_form(ESCAPE_CELL, name);
    check_csv(name, ',');
    check_csv(name, '\t');
    check_json(name);
    check_printf(name);
    free(name);
    return 0;
}
