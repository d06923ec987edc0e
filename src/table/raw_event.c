/* SPDX-License-Identifier: MIT */
#include "table/raw_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/text.h"

#define HEX "0123456789abcdefABCDEF"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define CODE_MOST 0xfffffff /* of an event: seven digits */
#define CODES_SHOWN 8
#define CODE_TEXT 80 /* "0x4f2e (cache-references)" */

/* The codes that events of the machine's first unit have, where they are few:
 * "0xc0 (instructions)". */
static void
known_codes(const struct machine_row *machine, char *text, size_t size)
{
    char codes[CODES_SHOWN][CODE_TEXT];
    const char *words[CODES_SHOWN];
    size_t count = 0;

    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *e = &machine->events[i];
        if (e->code < 0)
            continue;
        if (count == CODES_SHOWN) {
            snprintf(text, size, "the codes of tally list events -m %s",
                     machine->name);
            return;
        }
        snprintf(codes[count], CODE_TEXT, "0x%x (%s)", (unsigned)e->code,
                 e->name);
        words[count] = codes[count];
        count++;
    }
    join_words(words, count, text, size);
}

/* Writes the code's spelling, if an event has the code. */
static int
write_code(const struct machine_row *machine, const char *word, uint64_t code,
           const char *letters, const struct tally_log *log, char *plain,
           size_t size)
{
    char name[16], known[CODES_SHOWN * CODE_TEXT];

    snprintf(name, sizeof(name), "0x%llx", (unsigned long long)code);
    if (code <= CODE_MOST && event_find(machine, name) != NULL) {
        snprintf(plain, size, "%s%s%s", name, *letters != '\0' ? ":" : "",
                 letters);
        return 1;
    }
    known_codes(machine, known, sizeof(known));
    return tally_fail(log, TALLY_EUNKNOWN,
                      "'%s': %s has no event of this code; it has %s",
                      shown(word, strlen(word)).text, machine->name, known);
}

/* A number behind "=", as perf reads it; one that is left out is 1. */
static bool
read_number(const char *text, size_t length, uint64_t *value)
{
    char copy[32], *end;

    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtoull(copy, &end, 0);
    return errno == 0 && *end == '\0' && copy[0] != '-';
}

/* "event=0xc0,umask=0": the code. Another term must be 0, as if left out. */
static int
read_terms(const struct machine_row *machine, const char *word,
           const char *terms, size_t length, const struct tally_log *log,
           uint64_t *code)
{
    static const struct {
        const char *name;
        unsigned shift;
        uint64_t most;
    } known[] = {
        {"event", 0, 0xff}, {"umask", 8, 0xff}, {"config", 0, CODE_MOST}};
    const struct shown s = shown(word, strlen(word));

    *code = 0;
    for (const char *p = terms; p < terms + length;) {
        const size_t term = strcspn(p, ",/");
        const size_t name = strcspn(p, "=,/");
        const struct shown given = shown(p, term);
        uint64_t value = 0, most = 0;
        unsigned shift = 0;
        if (name + 1 > term ||
            !read_number(p + name + 1, term - name - 1, &value))
            return tally_fail(log, TALLY_ESYNTAX,
                              "'%s': '%s' must be a term as event=0xc0 or "
                              "umask=0x0",
                              s.text, given.text);
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strlen(known[i].name) == name &&
                strncmp(known[i].name, p, name) == 0) {
                shift = known[i].shift;
                most = known[i].most;
            }
        if (value > most)
            return tally_fail(log, TALLY_EUNKNOWN,
                              "'%s': %s counts by event and umask alone, of 8 "
                              "bits each, not by %s",
                              s.text, machine->name, given.text);
        *code |= value << shift;
        p += term + 1;
    }
    return 0;
}

/* Returns whether the text is "r" and the digits of a code. */
static bool
is_raw(const char *text, size_t length)
{
    return length > 1 && length <= 17 && text[0] == 'r' &&
           strspn(text + 1, HEX) >= length - 1;
}

/* Reads PMU/rNNN/letters, PMU/terms/letters or PMU/NAME/letters. */
static int
slashed(const struct machine_row *machine, const char *word, const char *first,
        const char *last, const struct tally_log *log, char *plain, size_t size)
{
    const struct shown s = shown(word, strlen(word));
    const size_t length = (size_t)(last - first - 1);
    uint64_t code;

    if (first - word != 3 || strncmp(word, "cpu", 3) != 0)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': %s has no PMU '%s'; its events have names, "
                          "as tally list events -m %s shows them",
                          s.text, machine->name,
                          shown(word, (size_t)(first - word)).text,
                          machine->name);
    if (is_raw(first + 1, length))
        return write_code(machine, word, strtoull(first + 2, NULL, 16),
                          last + 1, log, plain, size);
    if (memchr(first + 1, '=', length) == NULL) {
        snprintf(plain, size, "%.*s%s%s", (int)length, first + 1,
                 last[1] != '\0' ? ":" : "", last + 1);
        return 1;
    }
    if (machine->isas[0] == NULL || strcmp(machine->isas[0], "x86_64") != 0)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': such terms are of x86; %s has events by name, "
                          "and by the codes of tally list events -m %s",
                          s.text, machine->name, machine->name);
    const int error = read_terms(machine, word, first + 1, length, log, &code);
    return error != 0
               ? error
               : write_code(machine, word, code, last + 1, log, plain, size);
}

int
raw_event_plain(const struct machine_row *machine, const char *word,
                const struct tally_log *log, char *plain, size_t size)
{
    const char *const first = strchr(word, '/');
    const char *const last = strrchr(word, '/');

    if (first != NULL)
        return last == first || strspn(last + 1, LETTERS) < strlen(last + 1)
                   ? 0
                   : slashed(machine, word, first, last, log, plain, size);
    const size_t digits = word[0] == 'r' ? strspn(word + 1, HEX) : 0;
    const char *const behind = word + 1 + digits;
    if (digits == 0 || digits > 16 || (*behind != '\0' && *behind != ':') ||
        event_find(machine, word) != NULL)
        return 0;
    return write_code(machine, word, strtoull(word + 1, NULL, 16),
                      *behind == ':' ? behind + 1 : "", log, plain, size);
}
