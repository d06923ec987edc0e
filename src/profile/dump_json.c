/* SPDX-License-Identifier: MIT */
/*
 * Reads one line of JSON: an object of numbers, strings, true, false, null, and
 * one list of numbers. Keeps all 64 bits of a number, which a general parser
 * would not. Skips members that are not known.
 */
#include "profile/dump.h"

#include <string.h>

struct scan {
    const char *p, *end;
};

struct value {
    char text[DUMP_NAME]; /* of a string */
    uint64_t number;
    bool is_number, is_text, is_list;
    uint64_t words[DUMP_WORDS];
    size_t word_count;
};

/* Takes the character, after blanks; false: another one follows. */
static bool
take(struct scan *s, char c)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
        s->p++;
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

/* Takes a string without escapes: no known member needs one. */
static bool
take_text(struct scan *s, char *text, size_t size)
{
    if (!take(s, '"'))
        return false;
    const char *const end = memchr(s->p, '"', (size_t)(s->end - s->p));
    if (end == NULL || (size_t)(end - s->p) >= size ||
        memchr(s->p, '\\', (size_t)(end - s->p)) != NULL ||
        memchr(s->p, '\0', (size_t)(end - s->p)) != NULL)
        return false;
    memcpy(text, s->p, (size_t)(end - s->p));
    text[end - s->p] = '\0';
    s->p = end + 1;
    return true;
}

/* Takes a decimal number of 64 bits. */
static bool
take_number(struct scan *s, uint64_t *number)
{
    const char *first;
    uint64_t value = 0;

    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
        s->p++;
    for (first = s->p; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s->p - '0'), &value))
            return false;
    *number = value;
    return s->p > first;
}

static bool
take_word(struct scan *s, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(s->end - s->p) < length || memcmp(s->p, word, length) != 0)
        return false;
    s->p += length;
    return true;
}

static bool
take_list(struct scan *s, struct value *v)
{
    v->is_list = true;
    if (take(s, ']'))
        return true;
    do {
        if (v->word_count == DUMP_WORDS ||
            !take_number(s, &v->words[v->word_count++]))
            return false;
    } while (take(s, ','));
    return take(s, ']');
}

/* Reads a string that is a number, "0x1f". */
static bool
hex_number(const char *text, uint64_t *number)
{
    uint64_t value = 0;

    if (strncmp(text, "0x", 2) != 0 || text[2] == '\0' || strlen(text) > 18)
        return false;
    for (text += 2; *text != '\0'; text++) {
        const char *const digits = "0123456789abcdef";
        const char *const found = strchr(digits, *text);
        if (found == NULL)
            return false;
        value = value << 4 | (uint64_t)(found - digits);
    }
    *number = value;
    return true;
}

/* Takes a value of any kind. */
static bool
take_value(struct scan *s, struct value *v)
{
    v->is_number = v->is_text = v->is_list = false;
    v->word_count = 0;
    v->number = 0;
    if (take(s, '['))
        return take_list(s, v);
    while (s->p < s->end && *s->p == ' ')
        s->p++;
    if (s->p < s->end && *s->p == '"') {
        v->is_text = take_text(s, v->text, sizeof(v->text));
        v->is_number = v->is_text && hex_number(v->text, &v->number);
        return v->is_text;
    }
    if (take_word(s, "false") || take_word(s, "null"))
        return true;
    if (take_word(s, "true")) {
        v->number = 1;
        return true;
    }
    v->is_number = take_number(s, &v->number);
    return v->is_number;
}

enum member {
    MEMBER_CPU,
    MEMBER_ID,
    MEMBER_TYPE,
    MEMBER_CYCLES,
    MEMBER_PC,
    MEMBER_GROUP,
    MEMBER_HI,
    MEMBER_LO,
    MEMBER_OVERFLOW,
    MEMBER_CODE,
    MEMBERS
};
#define NEEDED ((1u << MEMBER_OVERFLOW) - 1)

/* The members of an object so far. */
struct object {
    uint64_t members[MEMBERS];
    unsigned seen;
    int mark; /* DUMP_JSON_START and so on; 0: a record */
};

/* Takes a member and its value. */
static bool
take_member(struct scan *s, struct object *o, struct dump_record *record,
            struct dump_event *event)
{
    static const char *const names[MEMBERS] = {
        "cpu",   "id",     "type",   "cycles",   "pc",
        "group", "evt_hi", "evt_lo", "overflow", "code",
    };
    static const char *const marks[] = {
        [DUMP_JSON_START] = "start",
        [DUMP_JSON_END] = "end",
        [DUMP_JSON_MACHINE] = "machine",
        [DUMP_JSON_EVENT] = "event",
    };
    struct value v;
    char name[32];

    if (!take_text(s, name, sizeof(name)) || !take(s, ':') ||
        !take_value(s, &v))
        return false;
    for (unsigned i = 0; i < MEMBERS; i++)
        if (strcmp(name, names[i]) == 0) {
            o->members[i] = v.number;
            o->seen |= 1u << i;
            return v.is_number;
        }
    if (strcmp(name, "user") == 0) {
        record->word_count = v.word_count;
        memcpy(record->words, v.words, v.word_count * sizeof(*v.words));
        return v.is_list;
    }
    if (strcmp(name, "overrun") == 0)
        record->overrun = v.number != 0;
    else if (!v.is_text)
        return true;
    else if (strcmp(name, "version") == 0 || strcmp(name, "name") == 0)
        memcpy(event->name, v.text, DUMP_NAME);
    else if (strcmp(name, "machine") == 0)
        memcpy(event->machine, v.text, DUMP_NAME);
    else if (strcmp(name, "asked") == 0)
        memcpy(event->asked, v.text, DUMP_NAME);
    else if (strcmp(name, "dump") == 0) {
        o->mark = 0;
        for (int i = DUMP_JSON_START; i <= DUMP_JSON_EVENT; i++)
            if (strcmp(v.text, marks[i]) == 0)
                o->mark = i;
    }
    return true;
}

int
dump_json_parse(const char *line, size_t length, struct dump_record *record,
                struct dump_event *event)
{
    const unsigned named = 1u << MEMBER_GROUP | 1u << MEMBER_CODE;
    struct scan s = {line, line + length};
    struct object o = {.mark = 0};
    const uint64_t *const m = o.members;

    record->word_count = 0;
    record->overrun = false;
    *event = (struct dump_event){0};
    if (!take(&s, '{'))
        return 0;
    do {
        if (!take_member(&s, &o, record, event))
            return 0;
    } while (take(&s, ','));
    if (!take(&s, '}') || s.p != s.end)
        return 0;
    switch (o.mark) {
    case DUMP_JSON_MACHINE:
        return dump_name_is_plain(event->machine) ? o.mark : 0;
    case DUMP_JSON_EVENT:
        event->group = m[MEMBER_GROUP];
        event->code = m[MEMBER_CODE];
        return (o.seen & named) == named && dump_name_is_plain(event->name) &&
                       (event->asked[0] == '\0' ||
                        dump_name_is_plain(event->asked))
                   ? o.mark
                   : 0;
    case 0:
        if ((o.seen & NEEDED) != NEEDED)
            return 0;
        record->cpu = m[MEMBER_CPU];
        record->caller = m[MEMBER_ID];
        record->call = m[MEMBER_TYPE];
        record->cycles = m[MEMBER_CYCLES];
        record->pc = m[MEMBER_PC];
        record->group = m[MEMBER_GROUP];
        record->hi = m[MEMBER_HI];
        record->lo = m[MEMBER_LO];
        record->overflow = m[MEMBER_OVERFLOW];
        return DUMP_JSON_RECORD;
    }
    return o.mark;
}
