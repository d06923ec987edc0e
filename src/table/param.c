/* SPDX-License-Identifier: MIT */
/*
 * Values of parameters as text: a number, K, M or G where the kind has them,
 * and the unit if one likes: "8K", "8 KiB", "1.4G", "1.4 GHz", "24 cycles".
 */
#include "table/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/near.h"
#include "table/param.h"
#include "table/text.h"

#define KEY_SIZE 64
#define DECIMALS_MAX 18 /* 10 to this power fits 64 bits */
#define NEAR_SHOWN 3

struct kind_row {
    uint64_t scale;           /* of K; 0: the kind has no K, M, G */
    const char *const *units; /* accepted behind the number */
    const char *what;         /* in an error line */
};

static const char *const no_units[] = {NULL};
static const char *const size_units[] = {"iB", "B", NULL};
static const char *const hertz_units[] = {"Hz", NULL};
static const char *const cycle_units[] = {"cycles", "cycle", NULL};

static const struct kind_row kinds[] = {
    [PARAM_KIND_COUNT] = {0, no_units, "a whole number"},
    [PARAM_KIND_SIZE] = {1024, size_units, "bytes, as 512, 8K or 1M"},
    [PARAM_KIND_HERTZ] = {1000, hertz_units, "hertz, as 1.4G"},
    [PARAM_KIND_CYCLES] = {0, cycle_units, "whole cycles"},
};

static const char prefixes[] = "kmg";

/* mantissa / divisor * scale. Saturates where it would not fit. */
struct number {
    uint64_t mantissa, divisor, scale;
};

/* One more decimal digit. */
static uint64_t
add_digit(uint64_t value, char digit)
{
    const uint64_t add = (uint64_t)(digit - '0');

    return value > (UINT64_MAX - add) / 10 ? UINT64_MAX : 10 * value + add;
}

static size_t
digits(const char *p)
{
    return strspn(p, "0123456789");
}

/* "12" or "1.25": at least one digit on both sides of the point. */
static bool
read_digits(const char **p, struct number *n)
{
    const char *end = *p + digits(*p);
    const char *decimals;
    size_t count;

    *n = (struct number){.divisor = 1, .scale = 1};
    if (end == *p)
        return false;
    for (; *p < end; (*p)++)
        n->mantissa = add_digit(n->mantissa, **p);
    if (**p != '.')
        return true;
    decimals = *p + 1;
    count = digits(decimals);
    *p = decimals + count;
    if (count == 0)
        return false;
    while (count > 0 && decimals[count - 1] == '0')
        count--;
    for (size_t i = 0; i < count && count <= DECIMALS_MAX; i++) {
        n->mantissa = add_digit(n->mantissa, decimals[i]);
        n->divisor *= 10;
    }
    return count <= DECIMALS_MAX;
}

static bool
starts_with(const char *text, const char *word)
{
    while (*word != '\0' && ascii_lower(*text) == ascii_lower(*word))
        text++, word++;
    return *word == '\0';
}

/* K, M, G and the unit; nothing may follow. */
static bool
read_unit(const char *p, const struct kind_row *kind, struct number *n)
{
    const char *prefix;

    if (*p == ' ' && p[1] != '\0')
        p++;
    prefix = *p == '\0' ? NULL : strchr(prefixes, ascii_lower(*p));
    if (kind->scale != 0 && prefix != NULL) {
        for (const char *k = prefixes; k <= prefix; k++)
            n->scale *= kind->scale;
        p++;
    }
    for (const char *const *unit = kind->units; *unit != NULL; unit++)
        if (starts_with(p, *unit))
            return p[strlen(*unit)] == '\0';
    return *p == '\0';
}

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* False if it is no whole number; saturates where it would not fit. */
static bool
number_value(const struct number *n, uint64_t *value)
{
    /* 60.817812187G: the digits times 10^9 would not fit, were they not
       to be divided by as much. */
    const uint64_t common = common_divisor(n->scale, n->divisor);
    uint64_t product;

    if (n->mantissa == UINT64_MAX ||
        __builtin_mul_overflow(n->mantissa, n->scale / common, &product)) {
        *value = UINT64_MAX;
        return true;
    }
    *value = product / (n->divisor / common);
    return product % (n->divisor / common) == 0;
}

static int
fail_value(int id, const char *text, const struct tally_log *log,
           enum tally_error error, const char *what)
{
    return tally_fail(log, error, "%s=%s: must be %s", tally_params[id].key,
                      shown(text, strlen(text)).text, what);
}

static int
fail_limits(int id, const char *text, const struct tally_log *log,
            enum tally_error error, const char *what)
{
    const struct param_row *param = &tally_params[id];
    char min[PARAM_TEXT_SIZE], max[PARAM_TEXT_SIZE];
    char all[3 * PARAM_TEXT_SIZE];

    param_text(id, param->min, min, sizeof(min));
    param_text(id, param->max, max, sizeof(max));
    snprintf(all, sizeof(all), "%s%s%s to %s", what, what[0] ? ", " : "", min,
             max);
    return fail_value(id, text, log, error, all);
}

static int
fail_power(int id, const char *text, const struct tally_log *log,
           uint64_t value)
{
    char low[PARAM_TEXT_SIZE], high[PARAM_TEXT_SIZE];
    char all[3 * PARAM_TEXT_SIZE];
    uint64_t power = 1;

    while (power < value / 2)
        power *= 2;
    param_text(id, power, low, sizeof(low));
    param_text(id, 2 * power, high, sizeof(high));
    snprintf(all, sizeof(all), "a power of two: %s or %s", low, high);
    return fail_value(id, text, log, TALLY_ERANGE, all);
}

static int
parse_choice(int id, const char *text, const struct tally_log *log,
             uint64_t *value)
{
    const char *const *choices = tally_params[id].choices;
    char all[2 * PARAM_TEXT_SIZE];
    size_t count = 0;

    for (; choices[count] != NULL; count++) {
        if (same_name(text, choices[count])) {
            *value = count;
            return 0;
        }
    }
    join_words(choices, count, all, sizeof(all));
    return fail_value(id, text, log, TALLY_ESYNTAX, all);
}

static int
check_limits(int id, const char *text, const struct tally_log *log,
             uint64_t value)
{
    const struct param_row *param = &tally_params[id];

    if (value < param->min || value > param->max)
        return fail_limits(id, text, log, TALLY_ERANGE, "");
    if (param->power_of_two && (value & (value - 1)) != 0)
        return fail_power(id, text, log, value);
    return 0;
}

int
param_parse(int id, const char *text, const struct tally_log *log,
            uint64_t *value)
{
    const struct param_row *param = &tally_params[id];
    const char *p = text;
    struct number n;
    uint64_t read;
    int error;

    assert(id >= 0 && id < PARAM_COUNT);
    if (param->kind == PARAM_KIND_CHOICE)
        return parse_choice(id, text, log, value);
    const struct kind_row *kind = &kinds[param->kind];
    if (!read_digits(&p, &n) || !read_unit(p, kind, &n) ||
        !number_value(&n, &read))
        return fail_limits(id, text, log, TALLY_ESYNTAX, kind->what);
    error = check_limits(id, text, log, read);
    if (error == 0)
        *value = read;
    return error;
}

int
param_check(int id, uint64_t value, const struct tally_log *log)
{
    char text[PARAM_TEXT_SIZE];

    param_text(id, value, text, sizeof(text));
    return check_limits(id, text, log, value);
}

static int
fail_key(const char *key, const struct tally_log *log)
{
    char text[256];
    struct near n;
    const struct shown word = shown(key, strlen(key));

    near_init(&n, key, NEAR_SHOWN);
    for (size_t i = 0; i < PARAM_COUNT; i++)
        near_add(&n, tally_params[i].key, NULL);
    near_text(&n, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s: unknown parameter; did you mean %s?", word.text,
                          text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "%s: unknown parameter; the form is that of l1d.size=8K",
                      word.text);
}

int
param_assigned(const char *assignment)
{
    const size_t length = strcspn(assignment, "=");
    char key[KEY_SIZE];

    if (assignment[length] == '\0' || length >= sizeof(key))
        return -1;
    memcpy(key, assignment, length);
    key[length] = '\0';
    return param_find(key);
}

int
param_set(const char *assignment, const struct tally_log *log, uint64_t *params)
{
    const char *equals = strchr(assignment, '=');
    const size_t length = strcspn(assignment, "=");
    const int id = param_assigned(assignment);

    if (equals == NULL || length == 0)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s: must be KEY=VALUE, as l1d.size=8K",
                          shown(assignment, strlen(assignment)).text);
    if (id < 0)
        return fail_key(shown(assignment, length).text, log);
    return param_parse(id, equals + 1, log, &params[id]);
}

/* The largest of K, M, G that divides the value without a rest. */
static void
size_text(uint64_t value, char *text, size_t text_size)
{
    static const char *const units[] = {"", "K", "M", "G"};
    size_t unit = 0;

    for (; unit < 3 && value != 0 && value % 1024 == 0; unit++)
        value /= 1024;
    snprintf(text, text_size, "%" PRIu64 "%s", value, units[unit]);
}

/* All digits: 1.333333333 GHz is not 1.33 GHz. */
static void
hertz_text(uint64_t value, char *text, size_t text_size)
{
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz"};
    uint64_t scale = 1;
    uint64_t rest;
    int unit = 0;

    for (; unit < 3 && value / scale >= 1000; unit++)
        scale *= 1000;
    rest = value % scale;
    if (rest == 0) {
        snprintf(text, text_size, "%" PRIu64 " %s", value / scale, units[unit]);
        return;
    }
    int width = 3 * unit;
    for (; rest % 10 == 0; rest /= 10)
        width--;
    snprintf(text, text_size, "%" PRIu64 ".%0*" PRIu64 " %s", value / scale,
             width, rest, units[unit]);
}

void
param_text(int id, uint64_t value, char *text, size_t text_size)
{
    const struct param_row *param = &tally_params[id];

    assert(id >= 0 && id < PARAM_COUNT);
    switch (param->kind) {
    case PARAM_KIND_SIZE:
        size_text(value, text, text_size);
        return;
    case PARAM_KIND_HERTZ:
        hertz_text(value, text, text_size);
        return;
    case PARAM_KIND_CYCLES:
        snprintf(text, text_size, "%" PRIu64 " cycle%s", value,
                 value == 1 ? "" : "s");
        return;
    case PARAM_KIND_CHOICE:
        if (value <= param->max) {
            snprintf(text, text_size, "%s", param->choices[value]);
            return;
        }
        break;
    case PARAM_KIND_COUNT:
        break;
    }
    snprintf(text, text_size, "%" PRIu64, value);
}
