/* SPDX-License-Identifier: MIT */
#include "table/modifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/text.h"

#define NEAR_SIZE 256

static int
take_at(const struct selection_reader *r, const char *value)
{
    const struct unit_row *unit = &r->machine->units[r->s->unit];
    char names[NEAR_SIZE] = "";

    for (size_t i = 0; i < unit->instance_count; i++)
        if (same_name(unit->instances[i], value)) {
            r->s->instance = (int8_t)i;
            return 0;
        }
    join_words(unit->instances, unit->instance_count, names, sizeof(names));
    if (unit->instance_count == 0)
        return tally_fail(r->log, TALLY_ERANGE,
                          "'%s': there is one unit %s only; leave :at= away",
                          r->text, unit->name);
    return tally_fail(r->log, TALLY_ERANGE,
                      "'%s': unit %s has no instance '%s'; it has %s", r->text,
                      unit->name, shown(value, strlen(value)).text, names);
}

static int
value_wrong(const struct selection_reader *r, const struct modifier_row *m,
            const char *what)
{
    return tally_fail(r->log, TALLY_ERANGE, "'%s': :%s= takes %s", r->text,
                      m->name, what);
}

static int
read_letters(const struct selection_reader *r, const struct modifier_row *m,
             const char *value, uint32_t *bits)
{
    char names[NEAR_SIZE] = "";
    size_t count = 0;

    while (m->words[count] != NULL)
        count++;
    for (; *value != '\0'; value++) {
        const char letter[2] = {*value, '\0'};
        size_t i = 0;
        while (i < count && !same_name(m->words[i], letter))
            i++;
        if (i == count) {
            char what[NEAR_SIZE + 16];
            join_words(m->words, count, names, sizeof(names));
            snprintf(what, sizeof(what), "letters of %s", names);
            return value_wrong(r, m, what);
        }
        *bits |= m->letters[i];
    }
    return 0;
}

static int
read_word(const struct selection_reader *r, const struct modifier_row *m,
          const char *value, uint32_t *number)
{
    char names[NEAR_SIZE] = "";
    size_t i = 0;

    for (; m->words[i] != NULL; i++)
        if (same_name(m->words[i], value)) {
            *number = (uint32_t)i;
            return 0;
        }
    join_words(m->words, i, names, sizeof(names));
    return value_wrong(r, m, names);
}

static int
read_number(const struct selection_reader *r, const struct modifier_row *m,
            const char *value, uint32_t *number)
{
    char what[64];
    char *end;
    const unsigned long n = strtoul(value, &end, 0);

    if (value[0] >= '0' && value[0] <= '9' && *end == '\0' && n >= m->low &&
        n <= m->high) {
        *number = (uint32_t)n;
        return 0;
    }
    snprintf(what, sizeof(what), "a number from %u to %u", m->low, m->high);
    return value_wrong(r, m, what);
}

static int
check_taken(const struct selection_reader *r, const struct modifier_row *m)
{
    const char *name =
        r->s->event != NULL ? r->s->event->name : "this selection";

    if (selection_takes(r->s, m))
        return 0;
    if (m->needs == NEEDS_MESI)
        return tally_fail(r->log, TALLY_ERANGE,
                          "'%s': %s is not filtered by cache line state; "
                          "leave :%s away",
                          r->text, name, m->name);
    if (m->needs == NEEDS_ALL)
        return tally_fail(r->log, TALLY_ERANGE,
                          "'%s': %s cannot count both threads; leave :%s away",
                          r->text, name, m->name);
    return tally_fail(r->log, TALLY_ERANGE, "'%s': :%s is not for %s", r->text,
                      m->name, name);
}

static int
take_valued(const struct selection_reader *r, size_t index, const char *value)
{
    const struct modifier_row *m = &r->machine->modifiers[index];
    uint32_t number = 0;
    int error = check_taken(r, m);

    if (error == 0 && m->kind == MODIFIER_NUMBER)
        error = read_number(r, m, value, &number);
    else if (error == 0 && m->kind == MODIFIER_LETTERS)
        error = read_letters(r, m, value, &number);
    else if (error == 0)
        error = read_word(r, m, value, &number);
    if (error != 0)
        return error;
    r->s->values[index] = number;
    r->s->given |= 1u << index;
    return 0;
}

static int
off_and_modes(const struct selection_reader *r)
{
    return tally_fail(r->log, TALLY_ESYNTAX,
                      "'%s': :" MODIFIER_OFF
                      " is no mode at all; leave it or the modes away",
                      r->text);
}

static int
take_flag(const struct selection_reader *r, size_t index)
{
    const struct modifier_row *m = &r->machine->modifiers[index];
    const int error = check_taken(r, m);

    if (error != 0)
        return error;
    if (r->s->off && m->kind == MODIFIER_PRIVILEGE)
        return off_and_modes(r);
    r->s->values[index] = m->value;
    r->s->given |= 1u << index;
    return 0;
}

bool
selection_never(const struct selection *s, char *why, size_t why_size)
{
    const uint32_t threshold = selection_value(s, "thr");
    const int most = s->event != NULL ? s->event->max_inc : -1;

    if (threshold > 0 && most > 0 && threshold >= (uint32_t)most) {
        snprintf(why, why_size,
                 "threshold %u is never exceeded, the event adds at most %d in "
                 "a cycle: it counts nothing",
                 threshold, most);
        return true;
    }
    for (size_t i = 0; i < s->machine->modifier_count; i++) {
        const struct modifier_row *m = &s->machine->modifiers[i];
        if (m->kind != MODIFIER_LETTERS || s->values[i] != 0 ||
            !selection_takes(s, m))
            continue;
        snprintf(why, why_size, ":%s= lets no line through: it counts nothing",
                 m->name);
        return true;
    }
    return false;
}

static int
modifier_find(const struct machine_row *machine, const char *name,
              size_t length)
{
    for (size_t i = 0; i < machine->modifier_count; i++)
        if (strlen(machine->modifiers[i].name) == length &&
            strncmp(machine->modifiers[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

bool
modifier_is(const struct machine_row *machine, const char *word)
{
    return strcmp(word, MODIFIER_OFF) == 0 ||
           modifier_find(machine, word, strlen(word)) >= 0;
}

static int
modifier_unknown(const struct selection_reader *r, const char *word)
{
    const char *names[MODIFIERS_MAX + 2] = {NULL};
    char text[NEAR_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < r->machine->modifier_count; i++)
        if (selection_takes(r->s, &r->machine->modifiers[i]))
            names[count++] = r->machine->modifiers[i].name;
    if (selection_has_modes(r->s))
        names[count++] = MODIFIER_OFF;
    if (r->machine->units[r->s->unit].instance_count > 0)
        names[count++] = "at";
    join_words(names, count, text, sizeof(text));
    return tally_fail(r->log, TALLY_ESYNTAX, "'%s': unknown modifier '%s'%s%s",
                      r->text, shown(word, strlen(word)).text,
                      count > 0 ? "; possible are " : "", text);
}

static int
take_off(const struct selection_reader *r)
{
    if (!selection_has_modes(r->s))
        return modifier_unknown(r, MODIFIER_OFF);
    for (size_t i = 0; i < r->machine->modifier_count; i++)
        if (r->machine->modifiers[i].kind == MODIFIER_PRIVILEGE &&
            (r->s->given >> i & 1) != 0)
            return off_and_modes(r);
    r->s->off = true;
    return 0;
}

/* "uk": one letter for each privilege modifier. */
static int
take_letters(const struct selection_reader *r, const char *word)
{
    for (const char *p = word; *p != '\0'; p++) {
        const int index = modifier_find(r->machine, p, 1);
        if (index < 0 ||
            r->machine->modifiers[index].kind != MODIFIER_PRIVILEGE)
            return modifier_unknown(r, word);
        const int error = take_flag(r, (size_t)index);
        if (error != 0)
            return error;
    }
    return 0;
}

static int
take_modifier(const struct selection_reader *r, const char *word)
{
    const char *equals = strchr(word, '=');
    const size_t length =
        equals != NULL ? (size_t)(equals - word) : strlen(word);
    const int index = modifier_find(r->machine, word, length);

    if (length == 2 && strncmp(word, "at", 2) == 0 && equals != NULL)
        return take_at(r, equals + 1);
    if (strcmp(word, MODIFIER_OFF) == 0)
        return take_off(r);
    if (index < 0 && equals == NULL && *word != '\0')
        return take_letters(r, word);
    if (index < 0)
        return modifier_unknown(r, word);
    const enum modifier_kind kind = r->machine->modifiers[index].kind;
    const bool plain = kind == MODIFIER_PRIVILEGE || kind == MODIFIER_FLAG;
    if (plain && equals == NULL)
        return take_flag(r, (size_t)index);
    if (!plain && equals != NULL)
        return take_valued(r, (size_t)index, equals + 1);
    return tally_fail(r->log, TALLY_ESYNTAX, "'%s': write :%s%s", r->text,
                      r->machine->modifiers[index].name,
                      plain ? ", without a value" : "=VALUE");
}

int
modifiers_read(const struct selection_reader *r, char *words)
{
    int error = 0;

    while (words != NULL && error == 0) {
        char *colon = strchr(words, ':');
        if (colon != NULL)
            *colon++ = '\0';
        error = take_modifier(r, words);
        words = colon;
    }
    return error;
}
