/* SPDX-License-Identifier: MIT */
#include "cli/pmu_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "table/text.h"

bool
pmu_says_nothing(const char *text)
{
    text += strspn(text, PMU_BLANKS);
    return *text == '\0' || *text == '#';
}

bool
pmu_word_begins(const char *text, size_t at)
{
    return at == 0 || strchr(PMU_BLANKS ";", text[at - 1]) != NULL;
}

bool
pmu_begins_with(const char *text, const char *word)
{
    char first[8];

    text += strspn(text, PMU_BLANKS);
    const size_t length = strcspn(text, PMU_BLANKS ";");
    if (length >= sizeof(first))
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    return same_name(first, word);
}

static int
cut_words(struct pmu_line *l, const struct tally_log *log)
{
    char *rest = NULL;

    for (char *word = strtok_r(l->text, PMU_BLANKS, &rest);
         word != NULL && word[0] != '#';
         word = strtok_r(NULL, PMU_BLANKS, &rest)) {
        if (l->count == PMU_WORDS)
            return tally_fail(log, TALLY_ESYNTAX, "more than %d words",
                              PMU_WORDS);
        l->words[l->count++] = word;
    }
    return 0;
}

/* Moves the text after = to `wanted`, with unprintable bytes as '?': no result
 * has such bytes. */
static int
cut_wanted(struct pmu_line *l, const struct tally_log *log)
{
    size_t equals = 0;
    size_t used = 0;

    while (equals < l->count && strcmp(l->words[equals], "=") != 0)
        equals++;
    if (equals == l->count)
        return 0;
    if (equals == 0 || equals + 1 == l->count)
        return tally_fail(log, TALLY_ESYNTAX,
                          "= stands between a command and "
                          "its result");
    for (size_t i = equals + 1; i < l->count; i++)
        used += (size_t)snprintf(l->wanted + used, sizeof(l->wanted) - used,
                                 "%s%s", used > 0 ? " " : "", l->words[i]);
    for (char *c = l->wanted; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
    l->count = equals;
    return 0;
}

int
pmu_line_split(struct pmu_line *l, const char *text,
               const struct tally_log *log)
{
    l->count = 0;
    l->wanted[0] = '\0';
    if (strlen(text) >= sizeof(l->text))
        return tally_fail(log, TALLY_ESYNTAX, "longer than %d characters",
                          PMU_LINE - 1);
    strcpy(l->text, text);
    const int error = cut_words(l, log);

    return error != 0 ? error : cut_wanted(l, log);
}

int
pmu_line_results(struct pmu_line *l, const char *wanted,
                 const struct tally_log *log)
{
    const char *const between = strchr(wanted, ',') != NULL ? "," : PMU_BLANKS;
    char *rest = NULL;

    l->count = 0;
    snprintf(l->text, sizeof(l->text), "%s", wanted);
    for (char *word = strtok_r(l->text, between, &rest); word != NULL;
         word = strtok_r(NULL, between, &rest)) {
        word += strspn(word, PMU_BLANKS);
        if (*word == '\0')
            continue;
        if (l->count == PMU_WORDS)
            return tally_fail(log, TALLY_ESYNTAX, "more than %d results",
                              PMU_WORDS);
        l->words[l->count++] = word;
    }
    return 0;
}

void
pmu_line_drop(struct pmu_line *l, size_t first, size_t count)
{
    memmove(l->words + first, l->words + first + count,
            (l->count - first - count) * sizeof(l->words[0]));
    l->count -= count;
}

/* Reads digits of `base` that end where the number or a sign does. */
static bool
digits(const char **text, unsigned base, uint64_t *value)
{
    const char *const start = *text;
    uint64_t sum = 0;

    for (; **text != '\0' && strchr("+-^", **text) == NULL; ++*text) {
        const char c = ascii_lower(**text);
        unsigned digit = 16;

        if (c == '_' && *text != start)
            continue;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        if (digit >= base || sum > (UINT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return *text != start;
}

static bool
plain(const char **text, uint64_t *value)
{
    if ((*text)[0] == '0' && ascii_lower((*text)[1]) == 'x') {
        *text += 2;
        return digits(text, 16, value);
    }
    if ((*text)[0] == '0' && ascii_lower((*text)[1]) == 'b') {
        *text += 2;
        return digits(text, 2, value);
    }
    return digits(text, 10, value);
}

/* NUMBER or 2^NUMBER; 2^64 is 0. */
static bool
power(const char **text, uint64_t *value)
{
    if (!plain(text, value))
        return false;
    if (**text != '^')
        return true;
    if (*value != 2)
        return false;
    ++*text;
    uint64_t exponent;
    if (!plain(text, &exponent) || **text == '^' || exponent > 64)
        return false;
    *value = exponent == 64 ? 0 : UINT64_C(1) << exponent;
    return true;
}

/* Reads a number or a power, or the complement of one (~). */
static bool
term(const char **text, uint64_t *value)
{
    const bool complement = **text == '~';

    *text += complement;
    if (!power(text, value))
        return false;
    *value = complement ? ~*value : *value;
    return true;
}

bool
pmu_number(const char *text, uint64_t *value)
{
    uint64_t sum = 0;

    for (bool first = true; first || *text != '\0'; first = false) {
        const bool minus = *text == '-';
        uint64_t part;

        if (minus || (!first && *text == '+'))
            text++;
        if (!term(&text, &part))
            return false;
        sum = minus ? sum - part : sum + part;
    }
    *value = sum;
    return true;
}

int
pmu_number_word(const char *word, const char *what, uint64_t max,
                const struct tally_log *log, uint64_t *value)
{
    uint64_t number;

    if (!pmu_number(word, &number))
        return tally_fail(log, TALLY_ESYNTAX, "%s is a number, not '%s'", what,
                          shown(word, strlen(word)).text);
    if (number > max)
        return tally_fail(log, TALLY_ERANGE, "%s is at most %llu, not '%s'",
                          what, (unsigned long long)max,
                          shown(word, strlen(word)).text);
    *value = number;
    return 0;
}

static size_t
take_part(const char **text, char *part, size_t size)
{
    *text += strspn(*text, ", ");
    const size_t length = strcspn(*text, ", ");

    snprintf(part, size, "%.*s", (int)length, *text);
    *text += length;
    return length;
}

bool
pmu_same_result(const char *got, const char *wanted)
{
    const bool part = wanted[0] == 'E';

    for (;;) {
        char a[PMU_LINE], b[PMU_LINE];
        const size_t got_length = take_part(&got, a, sizeof(a));
        const size_t wanted_length = take_part(&wanted, b, sizeof(b));
        uint64_t x, y;

        if (wanted_length == 0)
            return got_length == 0 || part;
        if (!same_name(a, b) &&
            !(pmu_number(a, &x) && pmu_number(b, &y) && x == y))
            return false;
    }
}

static int
unknown_word(const struct pmu_word *table, const char *word, const char *what,
             const struct tally_log *log)
{
    const char *names[64];
    size_t count = 0;
    char near[256];

    while (table[count].name != NULL) {
        names[count] = table[count].name;
        count++;
    }
    near_names(word, names, count, 3, near, sizeof(near));
    const bool none = near[0] == '\0';
    if (none && count <= 12)
        join_words(names, count, near, sizeof(near));
    return tally_fail(log, TALLY_EUNKNOWN, "unknown %s '%s'%s%s%s", what,
                      shown(word, strlen(word)).text,
                      *near == '\0' ? ""
                      : none        ? "; there is "
                                    : "; did you mean ",
                      near, *near != '\0' && !none ? "?" : "");
}

int
pmu_word_value(const struct pmu_word *table, const char *word, const char *what,
               const struct tally_log *log, uint64_t *value)
{
    for (const struct pmu_word *row = table; row->name != NULL; row++) {
        if (same_name(row->name, word)) {
            *value = row->value;
            return 0;
        }
    }
    return pmu_number(word, value) ? 0 : unknown_word(table, word, what, log);
}

int
pmu_word_bits(const struct pmu_word *table, char *words, const char *what,
              const struct tally_log *log, uint64_t *value)
{
    char *rest = NULL;
    uint64_t bits = 0;

    for (char *word = strtok_r(words, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        uint64_t one;
        const int error = pmu_word_value(table, word, what, log, &one);

        if (error != 0)
            return error;
        bits |= one;
    }
    *value = bits;
    return 0;
}
