/* SPDX-License-Identifier: MIT */
/* Reading "REGISTER=VALUE"; see decode.h. */
#include <stdio.h>
#include <string.h>

#include "table/decode.h"
#include "table/near.h"
#include "table/text.h"

#define NAME_SIZE 128 /* an alias of 96, and more */

int
register_unknown(const struct machine_row *machine, const char *name,
                 const struct tally_log *log)
{
    const struct shown word = shown(name, strlen(name));
    char text[256];
    struct near n;

    if (machine->register_count == 0)
        return tally_fail(log, TALLY_EUNKNOWN, "%s has no registers",
                          machine->name);
    near_init(&n, name, 3);
    for (size_t i = 0; i < machine->register_count; i++)
        near_add(&n, machine->registers[i].name, machine->registers[i].aliases);
    near_text(&n, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown register '%s' on %s: did you mean %s?",
                          word.text, machine->name, text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "unknown register '%s' on %s; tally list registers -m "
                      "%s shows them",
                      word.text, machine->name, machine->name);
}

static const char *
trim(const char *text, size_t *length)
{
    while (*length > 0 && *text == ' ') {
        text++;
        (*length)--;
    }
    while (*length > 0 && text[*length - 1] == ' ')
        (*length)--;
    return text;
}

/* Decimal, 0x hexadecimal (with '_' between digits) or 0b binary. */
static int
read_value(const char *text, size_t length, uint64_t *value)
{
    unsigned base = 10;
    uint64_t result = 0;
    size_t digits = 0;

    if (length > 2 && text[0] == '0' && ascii_lower(text[1]) == 'x')
        base = 16;
    else if (length > 2 && text[0] == '0' && ascii_lower(text[1]) == 'b')
        base = 2;
    for (size_t i = base == 10 ? 0 : 2; i < length; i++) {
        const char c = ascii_lower(text[i]);
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 16;
        if (c == '_' && digits > 0)
            continue;
        if (digit >= base)
            return TALLY_ESYNTAX;
        if (result > (UINT64_MAX - digit) / base)
            return TALLY_ERANGE;
        result = result * base + digit;
        digits++;
    }
    if (digits == 0)
        return TALLY_ESYNTAX;
    *value = result;
    return 0;
}

/* Returns the first register of the machine, which has some, that selects what
 * a counter counts; if none does, its first register. */
static const char *
example_register(const struct machine_row *machine)
{
    for (size_t i = 0; i < machine->counter_count; i++)
        if (machine->counters[i].select != NULL)
            return machine->registers[machine->counters[i].select[0]].name;
    return machine->registers[0].name;
}

int
decode_parse(const struct machine_row *machine, const char *text,
             const struct tally_log *log, const struct register_row **row,
             uint64_t *value)
{
    const char *equals = strchr(text, '=');
    const struct shown word = shown(text, strlen(text));
    char name[NAME_SIZE];
    size_t length;
    uint64_t result = 0;
    int error;

    if (equals == NULL && machine->register_count == 0)
        return register_unknown(machine, text, log);
    if (equals == NULL)
        return tally_fail(log, TALLY_ESYNTAX,
                          "'%s': write REGISTER=VALUE, such as %s=0x1a00",
                          word.text, example_register(machine));
    length = (size_t)(equals - text);
    text = trim(text, &length);
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    const struct register_row *found = register_find(machine, name);
    if (found == NULL)
        return register_unknown(machine, name, log);
    length = strlen(equals + 1);
    text = trim(equals + 1, &length);
    error = read_value(text, length, &result);
    if (error == TALLY_ESYNTAX)
        return tally_fail(log, error,
                          "'%s': the value must be a number, such as 0x1a00",
                          word.text);
    if (error != 0 || (found->width < 64 && result >> found->width != 0))
        return tally_fail(log, TALLY_ERANGE,
                          "'%s': %s has %u bits; the value is larger",
                          word.text, found->name, found->width);
    *row = found;
    *value = result;
    return 0;
}
