/* SPDX-License-Identifier: MIT */
#include "table/selection.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/generic.h"
#include "table/items.h"
#include "table/modifier.h"
#include "table/near.h"
#include "table/text.h"
#include "table/umask.h"

#define WHY_SIZE 160
#define NEAR_SHOWN 3
#define NEAR_SIZE 256

/* Sets the unit mask of the selection. */
static void
take_umask(struct selection *s, const struct umask_row *umask)
{
    s->umask = umask;
    s->umask_value = umask->value;
    s->umask_care = umask->care;
}

/* Refuses a unit mask with which the event counts nothing that is defined. */
static int
check_umask(const struct selection_reader *r)
{
    static const char *const whys[] = {
        [UMASK_NOTHING] = "counts nothing",
        [UMASK_ILLEGAL] = "is an illegal selection",
        [UMASK_UNDEFINED] = "leaves the count undefined",
    };
    const struct umask_row *u = r->s->umask;
    char names[NEAR_SIZE] = "";

    if (u == NULL || u->counts == UMASK_YES)
        return 0;
    umask_names(r->s->event, names, sizeof(names));
    return tally_fail(r->log, TALLY_ERANGE,
                      "'%s': this unit mask (%s) %s; %s has %s", r->text,
                      u->pattern, whys[u->counts], r->s->event->name, names);
}

/* Returns the width, in bits, of the narrowest field that takes a mask for a
 * counter of `unit`. */
static unsigned
mask_width(const struct machine_row *m, uint8_t unit)
{
    unsigned width = 8;

    for (size_t i = 0; i < m->counter_count; i++) {
        const struct counter_row *c = &m->counters[i];
        if (c->unit != unit || c->select == NULL || c->mask_field < 0)
            continue;
        const struct register_row *r = &m->registers[c->select[0]];
        if (r->fields[c->mask_field].width < width)
            width = r->fields[c->mask_field].width;
    }
    return width;
}

/* Sets sl and mask of a code without a row. Returns false if no group has a
 * line of the code. */
static bool
take_raw(struct selection *s, int32_t code)
{
    const bool t4 = s->machine->family == FAMILY_SPARC_T4;
    const int32_t sl = t4 ? code >> 6 : code & 15;
    const int32_t mask = t4 ? code & 63 : code >> 4;

    for (size_t i = 0; i < s->machine->group_count; i++) {
        const struct group_row *g = &s->machine->groups[i];
        if (g->sl != sl || g->reserved || (g->mask & mask) == 0)
            continue;
        s->sl = (int16_t)sl;
        s->mask = (int16_t)mask;
        s->unit = g->unit;
        return mask >> mask_width(s->machine, g->unit) == 0;
    }
    return false;
}

/* Sets the event of the selection, and the unit mask that its bare name means.
 */
static void
take_event(struct selection *s, const struct event_row *event)
{
    const int unit = unit_find(s->machine, event->unit);

    assert(unit >= 0);
    s->event = event;
    s->sl = event->sl;
    s->mask = event->mask;
    s->unit = (uint8_t)unit;
    if (event->umask_count > 0 && umask_default(event) != NULL)
        take_umask(s, umask_default(event));
}

/* Looks up "EVENT" or "EVENT.UMASK". Returns 1 if the name has neither form. */
static int
take_name(const struct selection_reader *r, char *name)
{
    const struct event_row *event = event_find(r->machine, name);
    char *end;

    if (event != NULL) {
        take_event(r->s, event);
        return 0;
    }
    if (name[0] == '0' && ascii_lower(name[1]) == 'x') {
        const unsigned long code = strtoul(name, &end, 16);
        if (*end == '\0' && code < 1u << 16 && take_raw(r->s, (int32_t)code))
            return 0;
    }
    for (char *p = name + strcspn(name, ".:"); *p != '\0';
         p += 1 + strcspn(p + 1, ".:")) {
        const char separator = *p;
        if (separator == ':' && modifier_is(r->machine, p + 1))
            continue;
        *p = '\0';
        event = event_find(r->machine, name);
        const struct umask_row *umask =
            event != NULL ? umask_find(event, p + 1) : NULL;
        *p = separator;
        if (umask == NULL)
            continue;
        take_event(r->s, event);
        take_umask(r->s, umask);
        unsigned value;
        if (umask_value(p + 1, &value)) {
            r->s->umask_value = (uint8_t)value;
            r->s->umask_care = 15;
        }
        return 0;
    }
    return 1;
}

bool
selection_takes(const struct selection *s, const struct modifier_row *m)
{
    if ((m->units >> s->unit & 1) == 0 || (m->sl >= 0 && m->sl != s->sl))
        return false;
    if (m->needs == NEEDS_MESI)
        return s->event != NULL && s->event->mesi;
    if (m->needs == NEEDS_ALL)
        return s->event != NULL &&
               (s->umask != NULL ? s->umask->all : s->event->all) == 1;
    return true;
}

uint32_t
selection_value(const struct selection *s, const char *modifier)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (strcmp(s->machine->modifiers[i].name, modifier) == 0)
            return s->values[i];
    return 0;
}

bool
selection_has_modes(const struct selection *s)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (s->machine->modifiers[i].kind == MODIFIER_PRIVILEGE &&
            selection_takes(s, &s->machine->modifiers[i]))
            return true;
    return false;
}

void
selection_default_privilege(struct selection *s)
{
    if (s->off)
        return;
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (s->machine->modifiers[i].kind == MODIFIER_PRIVILEGE &&
            (s->given >> i & 1) != 0)
            return;
    for (size_t i = 0; i < s->machine->modifier_count; i++) {
        const struct modifier_row *m = &s->machine->modifiers[i];
        if (m->kind == MODIFIER_PRIVILEGE && m->by_default &&
            selection_takes(s, m))
            s->values[i] = m->value;
    }
}

/* Returns a selection of nothing. */
static struct selection
selection_empty(const struct machine_row *machine)
{
    struct selection s = {
        .machine = machine, .sl = -1, .mask = -1, .instance = -1, .group = -1};

    assert(machine->modifier_count <= MODIFIERS_MAX);
    return s;
}

/* Sets the default value of each modifier that the selection takes. */
static void
take_defaults(struct selection *s)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (selection_takes(s, &s->machine->modifiers[i]))
            s->values[i] = s->machine->modifiers[i].default_value;
}

struct selection
selection_of(const struct machine_row *machine, const struct event_row *event,
             int umask)
{
    struct selection s = selection_empty(machine);

    take_event(&s, event);
    if (umask >= 0)
        take_umask(&s, &event->umasks[umask]);
    take_defaults(&s);
    selection_default_privilege(&s);
    return s;
}

/* Logs that the event is unknown, or that no unit mask has the text behind the
 * event. */
static int
name_unknown(const struct selection_reader *r, char *name)
{
    char *p = name + strcspn(name, ".:");
    const char separator = *p;

    *p = '\0';
    const struct event_row *event = event_find(r->machine, name);
    if (event == NULL) {
        *p = separator;
        return event_unknown(r->machine, name, r->log);
    }
    return umask_unknown(r->text, event, p + 1, r->log);
}

/* Reads the longest start of the text that is a name, and modifiers behind the
 * name. */
static int
read_selection(const struct selection_reader *r, char *name)
{
    char *end = name + strlen(name);
    char *cut = end;
    char *words = NULL;

    while (take_name(r, name) != 0) {
        do
            cut--;
        while (cut > name && *cut != ':');
        if (words != NULL)
            words[-1] = ':';
        if (cut <= name)
            return name_unknown(r, name);
        *cut = '\0';
        words = cut + 1;
    }
    take_defaults(r->s);
    const int error = modifiers_read(r, words);
    if (error != 0)
        return error;
    selection_default_privilege(r->s);
    if (r->s->event != NULL && r->s->event->umask_count > 0 &&
        r->s->umask == NULL)
        return umask_unknown(r->text, r->s->event, "", r->log);
    return check_umask(r);
}

int
selection_parse(const struct machine_row *machine, const char *text,
                size_t length, const struct tally_log *log,
                struct selection *selection)
{
    const struct shown word = shown(text, length);
    struct selection s = selection_empty(machine);
    const struct selection_reader r = {machine, log, word.text, &s};
    char copy[ITEM_SIZE], own[ITEM_SIZE];
    char *name;
    int error = item_name(machine, text, length, log, copy, &name);

    if (error == 0 && !generic_expand(machine, name, own, sizeof(own)))
        error = event_unknown(machine, name, log);
    if (error == 0)
        error = read_selection(&r, own);
    if (error == 0)
        *selection = s;
    return error;
}

struct selection_list {
    const struct machine_row *machine;
    const struct tally_log *log;
    struct selection *rows;
    size_t count, room;
};

/* Appends one selection. */
static int
add_word(void *user, const char *word, size_t length, int group)
{
    struct selection_list *l = user;
    struct selection s;
    int error = selection_parse(l->machine, word, length, l->log, &s);

    if (error != 0)
        return error;
    if (l->count == l->room) {
        const size_t room = l->room == 0 ? 16 : 2 * l->room;
        void *rows = reallocarray(l->rows, room, sizeof(*l->rows));
        if (rows == NULL)
            return tally_fail(l->log, TALLY_ENOMEM,
                              "no memory for a list of %zu events", room);
        l->rows = rows;
        l->room = room;
    }
    s.group = (int16_t)group;
    l->rows[l->count++] = s;
    return 0;
}

/* Takes back what selection_default_privilege() filled in. */
static void
drop_default_privilege(struct selection *s)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (s->machine->modifiers[i].kind == MODIFIER_PRIVILEGE &&
            (s->given >> i & 1) == 0)
            s->values[i] = s->machine->modifiers[i].default_value;
}

/* Applies the modifiers behind a group's brace to each event of the group. */
static int
close_group(void *user, const char *letters, size_t length, int group)
{
    struct selection_list *l = user;
    char copy[ITEM_SIZE];

    if (letters == NULL)
        return 0;
    const struct shown word = shown(letters, length);
    if (length >= sizeof(copy))
        return tally_fail(l->log, TALLY_ESYNTAX,
                          "'{...}:%s': no modifier is this long", word.text);
    for (size_t i = 0; i < l->count; i++) {
        const struct selection_reader r = {l->machine, l->log, word.text,
                                           &l->rows[i]};
        if (l->rows[i].group != group)
            continue;
        memcpy(copy, letters, length);
        copy[length] = '\0';
        drop_default_privilege(r.s);
        const int error = modifiers_read(&r, copy);
        if (error != 0)
            return error;
        selection_default_privilege(r.s);
    }
    return 0;
}

/* Warns of each selection that cannot count anything. */
static void
warn_never(const struct selection_list *l)
{
    char text[SELECTION_TEXT], why[WHY_SIZE];

    for (size_t i = 0; i < l->count; i++) {
        if (!selection_never(&l->rows[i], why, sizeof(why)))
            continue;
        selection_text(&l->rows[i], text, sizeof(text));
        tally_logf(l->log, TALLY_LOG_WARNING, "'%s': %s", text, why);
    }
}

int
selection_list_parse(const struct machine_row *machine, const char *text,
                     const struct tally_log *log, struct selection **list,
                     size_t *count)
{
    struct selection_list l = {.machine = machine, .log = log};
    const struct items items = {add_word, close_group, &l, log, false};
    const int error = items_parse(&items, text);

    if (error != 0) {
        free(l.rows);
        return error;
    }
    warn_never(&l);
    *list = l.rows;
    *count = l.count;
    return 0;
}

/* Returns whether the row's name says the whole value, with no other bit set.
 */
static bool
umask_has_name(const struct selection *s)
{
    return s->umask->name[0] != '\0' && s->umask->value == s->umask_value;
}

/* Text that grows in a buffer of the caller. Unlike a stream, the text needs no
 * memory of its own, so a name is never lost. */
struct line {
    char *text;
    size_t size, length;
};

/* Appends to the line, cut at the end of its buffer. */
__attribute__((format(printf, 2, 3))) static void
append(struct line *l, const char *format, ...)
{
    const size_t room = l->size - l->length;
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(l->text + l->length, room, format, args);
    va_end(args);
    if (length > 0)
        l->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Appends a modifier and its value, ":thr=2". */
static void
append_modifier(struct line *l, const struct selection *s, size_t index)
{
    const struct modifier_row *m = &s->machine->modifiers[index];
    const uint32_t value = s->values[index];

    append(l, ":%s", m->name);
    if (m->kind == MODIFIER_NUMBER)
        append(l, "=%u", value);
    else if (m->kind == MODIFIER_WORDS)
        append(l, "=%s", m->words[value]);
    else if (m->kind == MODIFIER_LETTERS) {
        append(l, "=");
        for (size_t i = 0; m->words[i] != NULL; i++)
            if ((value & m->letters[i]) != 0)
                append(l, "%s", m->words[i]);
    }
}

void
selection_text(const struct selection *s, char *text, size_t text_size)
{
    struct line l = {text, text_size, 0};

    if (s->event == NULL)
        append(&l, "0x%x",
               s->machine->family == FAMILY_SPARC_T4
                   ? (unsigned)(s->sl << 6 | s->mask)
                   : (unsigned)(s->mask << 4 | s->sl));
    else if (event_find(s->machine, s->event->name) != s->event)
        /* The bare name means the event of another unit, or none. */
        append(&l, "%s/%s", s->event->unit, s->event->name);
    else
        append(&l, "%s", s->event->name);
    if (s->umask != NULL && umask_has_name(s))
        append(&l, ".%s", s->umask->name);
    else if (s->umask != NULL)
        append(&l, ".0x%x", s->umask_value);
    if (s->off)
        append(&l, ":" MODIFIER_OFF);
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if ((s->given >> i & 1) != 0)
            append_modifier(&l, s, i);
    if (s->instance >= 0)
        append(&l, ":at=%s", s->machine->units[s->unit].instances[s->instance]);
}
