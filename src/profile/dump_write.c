/* SPDX-License-Identifier: MIT */
#include "profile/dump.h"

#include <assert.h>
#include <string.h>

/* The end of the text so far; it never grows past DUMP_LINE_SIZE. */
struct line {
    char *end;
};

static void
put(struct line *l, const char *text)
{
    while (*text != '\0')
        *l->end++ = *text++;
}

static void
put_number(struct line *l, uint64_t value, unsigned base)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        *l->end++ = digits[--count];
}

static void
put_field(struct line *l, uint64_t value)
{
    *l->end++ = ',';
    put_number(l, value, 16);
}

static void
put_member(struct line *l, const char *name, uint64_t value)
{
    put(l, name);
    put_number(l, value, 10);
}

/* Puts a member that is a hexadecimal string: a code or an address. */
static void
put_hex_member(struct line *l, const char *name, uint64_t value)
{
    put(l, name);
    put(l, "\"0x");
    put_number(l, value, 16);
    put(l, "\"");
}

static void
put_table(struct line *l, const struct dump_record *r)
{
    const uint64_t fields[] = {r->caller, r->call, r->cycles, r->pc,
                               r->group,  r->hi,   r->lo};

    if (r->overrun)
        put(l, "-1,");
    put_number(l, r->cpu, 16);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        put_field(l, fields[i]);
    if (r->call == DUMP_CALL_START)
        return;
    put_field(l, r->overflow);
    for (size_t i = 0; i < r->word_count; i++)
        put_field(l, r->words[i]);
}

static void
put_json(struct line *l, const struct dump_record *r)
{
    const bool start = r->call == DUMP_CALL_START;

    put_member(l, "{\"cpu\": ", r->cpu);
    put_hex_member(l, ", \"id\": ", r->caller);
    put_member(l, ", \"type\": ", r->call);
    put_member(l, ", \"cycles\": ", r->cycles);
    put_hex_member(l, ", \"pc\": ", r->pc);
    put_member(l, ", \"group\": ", r->group);
    (start ? put_hex_member : put_member)(l, ", \"evt_hi\": ", r->hi);
    (start ? put_hex_member : put_member)(l, ", \"evt_lo\": ", r->lo);
    if (!start) {
        put_member(l, ", \"overflow\": ", r->overflow);
        put(l, ", \"user\": [");
        for (size_t i = 0; i < r->word_count; i++)
            put_member(l, i > 0 ? ", " : "", r->words[i]);
        put(l, "]");
    }
    put(l, r->overrun ? ", \"overrun\": true}" : "}");
}

static void
put_text_member(struct line *l, const char *name, const char *text)
{
    put(l, name);
    put(l, "\"");
    put(l, text);
    put(l, "\"");
}

static size_t
end_line(struct line *l, const char *text)
{
    put(l, "\n");
    assert(l->end - text <= DUMP_LINE_SIZE);
    return (size_t)(l->end - text);
}

size_t
dump_write_start(enum dump_form form, char *text)
{
    struct line l = {text};

    if (form == DUMP_FORM_JSON)
        put(&l, "{\"schema\": 1, \"dump\": \"start\", \"version\": "
                "\"" DUMP_VERSION "\"}");
    else
        put(&l, "TEJA_PROFILE_DUMP_START," DUMP_VERSION "\n"
                "CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data");
    return end_line(&l, text);
}

size_t
dump_write_record(enum dump_form form, const struct dump_record *record,
                  char *text)
{
    struct line l = {text};

    assert(record->word_count <= DUMP_WORDS);
    if (form == DUMP_FORM_JSON)
        put_json(&l, record);
    else
        put_table(&l, record);
    return end_line(&l, text);
}

uint64_t
dump_name_code(const char *name)
{
    uint32_t hash = 2166136261;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619;
    return (uint64_t)DUMP_NO_UNIT << 32 | hash;
}

bool
dump_name_is_plain(const char *name)
{
    size_t length = 0;

    for (; name[length] != '\0' && length < DUMP_NAME; length++)
        if (name[length] <= ' ' || name[length] > '~' || name[length] == '"' ||
            name[length] == '\\')
            return false;
    /* The marks of dumps contain this word. */
    return length > 0 && length < DUMP_NAME &&
           strstr(name, "_PROFILE_") == NULL;
}

size_t
dump_write_machine(enum dump_form form, const char *machine, char *text)
{
    struct line l = {text};

    if (!dump_name_is_plain(machine))
        return 0;
    if (form == DUMP_FORM_JSON) {
        put_text_member(&l, "{\"dump\": \"machine\", \"machine\": ", machine);
        put(&l, "}");
    } else {
        put(&l, DUMP_MACHINE_MARK);
        put(&l, machine);
    }
    return end_line(&l, text);
}

size_t
dump_write_event(enum dump_form form, const struct dump_event *e, char *text)
{
    struct line l = {text};

    if (!dump_name_is_plain(e->name))
        return 0;
    const bool asked = dump_name_is_plain(e->asked);
    if (form == DUMP_FORM_JSON) {
        put_member(&l, "{\"dump\": \"event\", \"group\": ", e->group);
        put_hex_member(&l, ", \"code\": ", e->code);
        put_text_member(&l, ", \"name\": ", e->name);
        if (asked)
            put_text_member(&l, ", \"asked\": ", e->asked);
        put(&l, "}");
    } else {
        put(&l, DUMP_EVENT_MARK);
        put_number(&l, e->group, 16);
        put_field(&l, e->code);
        put(&l, ",");
        put(&l, e->name);
        put(&l, asked ? " " : "");
        put(&l, asked ? e->asked : "");
    }
    return end_line(&l, text);
}

size_t
dump_write_end(enum dump_form form, char *text)
{
    struct line l = {text};

    put(&l, form == DUMP_FORM_JSON ? "{\"dump\": \"end\"}"
                                   : "TEJA_PROFILE_DUMP_END");
    return end_line(&l, text);
}
