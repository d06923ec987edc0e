/* SPDX-License-Identifier: MIT */
/*
 * One line of JSON: an object of numbers, strings, yes or no, and one list of
 * numbers. All 64 bits of a number count, which a general parser would not
 * keep. Members that are not known are passed over.
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

/* No escapes: nothing that is known needs one. */
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

static int
member_of(const char *name)
{
    static const char *const names[MEMBERS] = {
        "cpu",   "id",     "type",   "cycles",   "pc",
        "group", "evt_hi", "evt_lo", "overflow", "code",
    };

    for (int i = 0; i < MEMBERS; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* What an object said so far. */
struct object {
    uint64_t members[MEMBERS];
    unsigned seen;
    int mark; /* DUMP_JSON_START and so on, 0 */
};

/* Returns what a line is by its member "dump". */
static int
mark_of(const char *text)
{
    static const struct {
        const char *text;
        int mark;
    } rows[] = {
        {"start", DUMP_JSON_START},
        {"end", DUMP_JSON_END},
        {"machine", DUMP_JSON_MACHINE},
        {"event", DUMP_JSON_EVENT},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(text, rows[i].text) == 0)
            return rows[i].mark;
    return 0;
}

/* Keeps the text of a member that has one. */
static void
take_text_member(const char *name, const char *text, struct object *o,
                 struct dump_event *event)
{
    if (strcmp(name, "version") == 0 || strcmp(name, "name") == 0)
        memcpy(event->name, text, DUMP_NAME);
    else if (strcmp(name, "machine") == 0)
        memcpy(event->machine, text, DUMP_NAME);
    else if (strcmp(name, "asked") == 0)
        memcpy(event->asked, text, DUMP_NAME);
    else if (strcmp(name, "dump") == 0)
        o->mark = mark_of(text);
}

static bool
take_member(struct scan *s, struct object *o, struct dump_record *record,
            struct dump_event *event)
{
    struct value v;
    char name[32];

    if (!take_text(s, name, sizeof(name)) || !take(s, ':') ||
        !take_value(s, &v))
        return false;
    const int member = member_of(name);
    if (member >= 0) {
        o->members[member] = v.number;
        o->seen |= 1u << member;
        return v.is_number;
    }
    if (strcmp(name, "user") == 0) {
        record->word_count = v.word_count;
        memcpy(record->words, v.words, v.word_count * sizeof(*v.words));
        return v.is_list;
    }
    if (strcmp(name, "overrun") == 0)
        record->overrun = v.number != 0;
    else if (v.is_text)
        take_text_member(name, v.text, o, event);
    return true;
}

static int
fill_record(const struct object *o, struct dump_record *record)
{
    const uint64_t *m = o->members;

    if ((o->seen & NEEDED) != NEEDED)
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

/* Returns whether the line of a name is whole. */
static bool
is_named(const struct object *o, struct dump_event *event)
{
    const unsigned needed = 1u << MEMBER_GROUP | 1u << MEMBER_CODE;

    if (o->mark == DUMP_JSON_MACHINE)
        return dump_name_is_plain(event->machine);
    event->group = o->members[MEMBER_GROUP];
    event->code = o->members[MEMBER_CODE];
    return (o->seen & needed) == needed && dump_name_is_plain(event->name) &&
           (event->asked[0] == '\0' || dump_name_is_plain(event->asked));
}

int
dump_json_parse(const char *line, size_t length, struct dump_record *record,
                struct dump_event *event)
{
    struct scan s = {line, line + length};
    struct object o = {.mark = 0};

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
    if (o.mark == DUMP_JSON_MACHINE || o.mark == DUMP_JSON_EVENT)
        return is_named(&o, event) ? o.mark : 0;
    return o.mark != 0 ? o.mark : fill_record(&o, record);
}
