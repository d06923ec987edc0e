/* SPDX-License-Identifier: MIT */
/*
 * The words of an event list that is counted:
 *
 *   event = [machine "::"] (name | alias | 0xCODE | all | default)
 *           [("." | ":") umask] [":" letters]
 *         | (name | alias) ":" modifier "=" word
 *         | a code as perf writes it (table/raw_event.h)
 *
 * event_list_wanted() takes two more kinds of names that the machine lacks: a
 * software event of the kernel, and a generic name for which nothing stands.
 *
 * The only letter that is possible is u. Modifiers with words are those of
 * machine_row.narrowed_events. An alias may have a colon of its own
 * (libpfm's unit:mask), so the parser looks a word up whole before it cuts the
 * word at a colon.
 */
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/generic.h"
#include "table/items.h"
#include "table/near.h"
#include "table/raw_event.h"
#include "table/software.h"
#include "table/text.h"
#include "table/umask.h"

#define NEAR_SHOWN 3             /* near names in an error line */
#define NARROWED_SHOWN 16        /* modifiers of an event in an error line */
#define UNIT_NAME_SIZE 80        /* a unit and an event of it */
#define NEAR_SIZE 256            /* the text of near names */
#define MODIFIERS "ukhIGHpPSDWe" /* perf's letters */

struct event_list {
    const struct machine_row *machine;
    const struct tally_log *log;
    const struct event_row **rows;
    size_t count, room;
    char **asked; /* the words of the rows, where `keeps_asked`; or NULL */
    /* The word that is read; NULL where the word stands for many events. */
    const char *word;
    size_t word_length;
    bool keeps_asked;
    /* What `all` and `default` leave out, or NULL; and how many `all` did. */
    event_unwanted_fn unwanted;
    size_t left_out;
    /* Takes the kernel's software events too, and generic names for which
     * nothing on the machine stands. */
    bool software;
    int group;          /* of the last word */
    size_t group_first; /* where the events of that group begin */
};

/* Logs that there is no memory for a list of `room` events. */
static int
no_room(const struct event_list *l, size_t room)
{
    return tally_fail(l->log, TALLY_ENOMEM,
                      "no memory for a list of %zu events", room);
}

/* Appends the event, and the word that asked for the event where the list keeps
 * such words. */
static int
list_add(struct event_list *l, const struct event_row *event)
{
    if (l->count == l->room) {
        const size_t room = l->room == 0 ? 16 : 2 * l->room;
        void *rows = reallocarray(l->rows, room, sizeof(*l->rows));
        if (rows == NULL)
            return no_room(l, room);
        l->rows = rows;
        void *asked = l->keeps_asked
                          ? reallocarray(l->asked, room, sizeof(*l->asked))
                          : NULL;
        if (l->keeps_asked && asked == NULL)
            return no_room(l, room);
        l->asked = asked;
        l->room = room;
    }
    if (l->keeps_asked) {
        char *asked = l->word != NULL ? strndup(l->word, l->word_length)
                                      : strdup(event->name);
        if (asked == NULL)
            return no_room(l, l->count + 1);
        l->asked[l->count] = asked;
    }
    l->rows[l->count++] = event;
    return 0;
}

void
event_list_free_asked(char **asked, size_t count)
{
    for (size_t i = 0; asked != NULL && i < count; i++)
        free(asked[i]);
    free(asked);
}

/* Appends the event with every unit mask that the model knows (`all`), or with
 * each that is counted by default. An event without such masks is appended with
 * the unit mask that its bare name means. */
static int
list_add_masks(struct event_list *l, const struct event_row *event, bool all)
{
    bool any = false;
    int error = 0;

    for (size_t i = 0; i < event->umask_count && error == 0; i++) {
        const struct umask_row *u = &event->umasks[i];
        const struct event_row *part = umask_counted(l->machine, event, u);
        if (u->counted < 0 || part->fidelity == FIDELITY_IDLE)
            continue;
        if (!all && !part->by_default)
            continue;
        any = true;
        if (l->unwanted == NULL || !l->unwanted(part))
            error = list_add(l, part);
        else
            l->left_out += all;
    }
    return any || error != 0
               ? error
               : list_add(l, umask_counted(l->machine, event, NULL));
}

/* Appends every event that has a model, or the events counted by default. */
static int
list_add_all(struct event_list *l, bool only_default)
{
    bool landed = false;
    int error = 0;

    l->word = NULL;
    for (size_t i = 0; i < l->machine->event_count && error == 0; i++) {
        const struct event_row *event = &l->machine->events[i];
        const bool wanted = event->by_default || !only_default;
        if (!wanted || l->machine->params == NULL || event_unmodelled(event))
            continue;
        landed = true;
        if (l->unwanted == NULL || !l->unwanted(event))
            error = list_add_masks(l, event, !only_default);
        else
            l->left_out += !only_default;
    }
    if (!landed)
        return tally_fail(l->log, TALLY_EIDLE,
                          "no event of %s can count: its model has not landed",
                          l->machine->name);
    return error;
}

/* Returns the machine's event of this name; else, where the list takes them,
 * the kernel's event or the row of a generic name that the machine lacks. */
static const struct event_row *
list_find(const struct event_list *l, const char *name)
{
    const struct event_row *event = event_find(l->machine, name);

    if (event == NULL && l->software)
        event = software_find(name);
    if (event == NULL && l->software)
        event = generic_lacking_event(l->machine, name);
    return event;
}

/* Returns whether the whole word is a name. */
static bool
list_has(const struct event_list *l, const char *name)
{
    return same_name(name, "all") || same_name(name, "default") ||
           list_find(l, name) != NULL;
}

/* Appends the event with this unit mask (NULL: that of its bare name), or logs
 * why the event cannot count. */
static int
list_add_counted(struct event_list *l, const struct event_row *event,
                 const struct umask_row *umask)
{
    const struct event_row *e = umask_counted(l->machine, event, umask);

    if (event_unmodelled(event))
        return tally_fail(l->log, TALLY_EIDLE, "'%s' of %s cannot count: %s",
                          event->name, l->machine->name, event->reason);
    if (e == event && event->umask_count > 0 &&
        event->fidelity != FIDELITY_IDLE)
        return umask == NULL
                   ? umask_unknown(event->name, event, "", l->log)
                   : tally_fail(l->log, TALLY_ERANGE,
                                "'%s': its unit mask %s counts nothing",
                                event->name, umask->pattern);
    return list_add(l, e);
}

/* Appends what the name stands for; list_has() is true of the name. */
static int
list_add_name(struct event_list *l, const char *name)
{
    if (same_name(name, "all") || same_name(name, "default"))
        return list_add_all(l, same_name(name, "default"));

    const struct event_row *event = list_find(l, name);
    return l->software && event_is_software(event)
               ? list_add(l, event)
               : list_add_counted(l, event, umask_default(event));
}

/* Writes names of events that are near `name`; names of software events are
 * among them where `software`. */
static void
near_events(const struct machine_row *machine, bool software, const char *name,
            char *text, size_t text_size)
{
    const struct machine_row *host = machine_find("host");
    struct near n;

    near_init(&n, name, NEAR_SHOWN);
    for (size_t i = 0; i < machine->event_count; i++)
        near_add(&n, machine->events[i].name, machine->events[i].aliases);
    for (size_t i = 0; software && i < host->event_count; i++)
        if (event_is_software(&host->events[i]))
            near_add(&n, host->events[i].name, host->events[i].aliases);
    near_generics(&n, machine);
    near_text(&n, text, text_size);
}

/* Returns whether a program can run on both machines. */
static bool
same_isa(const struct machine_row *a, const struct machine_row *b)
{
    for (const char *const *i = a->isas; *i != NULL; i++)
        for (const char *const *k = b->isas; *k != NULL; k++)
            if (strcmp(*i, *k) == 0)
                return true;
    return false;
}

/* Returns another machine that has an event of this name, or NULL. A machine
 * with counters that runs the same programs comes first. A code is no name. */
static const struct machine_row *
machine_with(const struct machine_row *lacks, const char *name)
{
    const struct machine_row *found = NULL;

    if (name[0] >= '0' && name[0] <= '9')
        return NULL;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (m == lacks || m->hidden || m->native || event_find(m, name) == NULL)
            continue;
        if (same_isa(m, lacks) && m->counter_count != 0)
            return m;
        if (found == NULL)
            found = m;
    }
    return found;
}

/* Writes "lpu/clock_cycles or asu/clock_cycles"; returns whether several units
 * have an event of this name. */
static bool
unit_names(const struct machine_row *machine, const char *name, char *text,
           size_t text_size)
{
    char full[NEAR_SHOWN][UNIT_NAME_SIZE];
    const char *words[NEAR_SHOWN];
    size_t count = 0;

    for (size_t i = 0; i < machine->event_count && count < NEAR_SHOWN; i++) {
        const struct event_row *e = &machine->events[i];
        if (!same_name(e->name, name))
            continue;
        snprintf(full[count], sizeof(full[count]), "%s/%s", e->unit, e->name);
        words[count] = full[count];
        count++;
    }
    join_words(words, count, text, text_size);
    return count > 1;
}

/* Names of perf that no modelled machine counts, each with the reason. */
static const struct {
    const char *name, *why;
} uncountable[] = {
    {"duration_time",
     "is no counter: the report ends with the seconds elapsed, "
     "user and sys"},
    {"user_time", "is no counter: the report ends with the seconds elapsed, "
                  "user and sys"},
    {"system_time", "is no counter: the report ends with the seconds elapsed, "
                    "user and sys"},
    {"ref-cycles", "counts a clock of the processor's bus, which no model has; "
                   "cycles counts the modelled clock"},
    {"bus-cycles", "counts a clock of the processor's bus, which no model has; "
                   "cycles counts the modelled clock"},
    {"stalled-cycles-frontend", "is not counted on models; tally count "
                                "--accounting says where cycles go"},
    {"stalled-cycles-backend", "is not counted on models; tally count "
                               "--accounting says where cycles go"},
};

/* Returns why a name of perf is not counted on models, or NULL. */
static const char *
why_uncountable(const char *name)
{
    for (size_t i = 0; i < sizeof(uncountable) / sizeof(uncountable[0]); i++)
        if (same_name(uncountable[i].name, name))
            return uncountable[i].why;
    return NULL;
}

/* Returns whether the name has the form of a tracepoint, "sched:sched_switch".
 */
static bool
is_like_tracepoint(const char *name)
{
    const size_t first = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    const size_t second =
        name[first] == ':'
            ? strspn(name + first + 1, "abcdefghijklmnopqrstuvwxyz0123456789_")
            : 0;

    return first > 1 && second > 3 && name[first + 1 + second] == '\0';
}

/* Logs that no event has this name, with the reason or with near names. Names
 * of software events are among the near names where `software`. */
static int
unknown_event(const struct machine_row *machine, bool software,
              const char *name, const struct tally_log *log)
{
    const struct machine_row *other = machine_with(machine, name);
    const struct shown word = shown(name, strlen(name));
    const int lacking = generic_lacking(machine, name, log);
    char text[NEAR_SIZE];

    if (lacking != 0)
        return lacking;
    if (metric_find(machine, name) != NULL || generic_metric_find(name) >= 0)
        return tally_fail(log, TALLY_EUNKNOWN, "'%s' is a metric: use -M %s",
                          word.text, word.text);
    if (software_find(name) != NULL)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "the kernel counts %s, and only tally count asks the "
                          "kernel beside a model; tally list events -m %s "
                          "shows the events of %s",
                          word.text, machine->name, machine->name);
    if (why_uncountable(name) != NULL)
        return tally_fail(log, TALLY_EUNKNOWN, "'%s' %s", word.text,
                          why_uncountable(name));
    if (is_like_tracepoint(name))
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s' is no event of %s; tracepoints are counted by "
                          "the kernel: tally count -m host -e %s PROGRAM",
                          word.text, machine->name, word.text);
    if (other != NULL)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s' is an event of %s; %s lacks it", word.text,
                          other->name, machine->name);
    if (unit_names(machine, name, text, sizeof(text)))
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s' is an event of several units of %s: write %s",
                          word.text, machine->name, text);
    near_events(machine, software, name, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown event '%s' on %s: did you mean %s?",
                          word.text, machine->name, text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "unknown event '%s' on %s; tally list events -m %s shows "
                      "its events",
                      word.text, machine->name, machine->name);
}

int
event_unknown(const struct machine_row *machine, const char *name,
              const struct tally_log *log)
{
    return unknown_event(machine, false, name, log);
}

/* Logs that no event of the list has this name. */
static int
list_unknown(const struct event_list *l, const char *name)
{
    return unknown_event(l->machine, l->software, name, l->log);
}

/* Refuses letters behind a software event: of an emulated program the kernel
 * counts all levels together. */
static int
refuse_level(const struct event_list *l, const char *name, const char *letters)
{
    return tally_fail(l->log, TALLY_EIDLE,
                      "'%s:%s': of an emulated program the kernel counts user "
                      "and kernel level together; use %s",
                      name, letters, name);
}

/* Refuses letters other than u; `word` is the text before the letters. */
static int
check_modifier(const struct event_list *l, const char *word,
               const char *letters, size_t length)
{
    const struct shown s = shown(letters, length);

    if (length == 1 && letters[0] == 'u')
        return 0;
    if (strcspn(s.text, "kh") < strlen(s.text) &&
        strspn(s.text, MODIFIERS) == strlen(s.text))
        return tally_fail(l->log, TALLY_EIDLE,
                          "'%s:%s': only user mode is seen here; use %s:u or "
                          "%s",
                          word, s.text, word, word);
    return tally_fail(l->log, TALLY_ESYNTAX,
                      "'%s:%s': unknown modifier; only :u is possible", word,
                      s.text);
}

/* Returns the modifier in the name of `part`, "EVENT:at=3" or, with a unit
 * mask, "EVENT.THIS:thr=1". Returns NULL if `part` is no part of the event. */
static const char *
modifier_of(const struct event_row *part, const struct event_row *event)
{
    const size_t length = strlen(event->name);

    if (strcmp(part->unit, event->unit) != 0 ||
        strncmp(part->name, event->name, length) != 0 ||
        (part->name[length] != ':' && part->name[length] != '.'))
        return NULL;
    const char *const colon = strchr(part->name + length, ':');
    return colon != NULL ? colon + 1 : NULL;
}

/* Returns the part of the event that `modifier` leaves, or NULL. */
static const struct event_row *
narrowed_find(const struct machine_row *machine, const struct event_row *event,
              const char *modifier)
{
    for (size_t i = 0; i < machine->narrowed_event_count; i++) {
        const struct event_row *e = &machine->narrowed_events[i];
        const char *const own = modifier_of(e, event);
        if (e->code == event->code && own != NULL && same_name(own, modifier))
            return e;
    }
    return NULL;
}

/* Logs that the event has no such modifier, and which modifiers it has. */
static int
narrowed_unknown(const struct event_list *l, const struct event_row *event,
                 const char *modifier)
{
    const struct shown word = shown(modifier, strlen(modifier));
    const char *words[NARROWED_SHOWN];
    char text[NEAR_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < l->machine->narrowed_event_count; i++) {
        const char *const own =
            modifier_of(&l->machine->narrowed_events[i], event);
        if (count < NARROWED_SHOWN && own != NULL)
            words[count++] = own;
    }
    join_words(words, count, text, sizeof(text));
    if (count == 0)
        return tally_fail(l->log, TALLY_ESYNTAX,
                          "'%s:%s': a count takes no part of %s", event->name,
                          word.text, event->name);
    return tally_fail(l->log, TALLY_ESYNTAX, "'%s:%s': %s takes %s",
                      event->name, word.text, event->name, text);
}

/* Returns the event of the name, "EVENT" or "EVENT.UMASK" where UMASK is the
 * unit mask that the bare name means; else NULL. */
static const struct event_row *
find_default(const struct machine_row *machine, char *name)
{
    const struct event_row *event = event_find(machine, name);
    char *dot = event == NULL ? strchr(name, '.') : NULL;

    if (dot == NULL)
        return event;
    *dot = '\0';
    event = event_find(machine, name);
    *dot = '.';
    return event != NULL && umask_default(event) != NULL &&
                   umask_find(event, dot + 1) == umask_default(event)
               ? event
               : NULL;
}

/* Appends the part of the event `name` that `modifier` leaves. */
static int
add_narrowed(struct event_list *l, char *name, const char *modifier)
{
    const struct event_row *event = find_default(l->machine, name);
    const struct event_row *software = l->software ? software_find(name) : NULL;

    if (event == NULL && software != NULL)
        return narrowed_unknown(l, software, modifier);
    if (event == NULL)
        return list_unknown(l, name);
    if (event_unmodelled(event))
        return list_add_name(l, name);
    const struct event_row *part = narrowed_find(l->machine, event, modifier);
    return part != NULL ? list_add(l, part)
                        : narrowed_unknown(l, event, modifier);
}

/* Appends the event with a unit mask. `text` names the mask; where its bits are
 * numbers, the text may join several masks, which a count does not take. */
static int
add_umask(struct event_list *l, const struct event_row *event,
          const struct umask_row *umask, const char *text)
{
    unsigned value;

    if (event->umask_bits && umask_value(text, &value) && value != umask->value)
        return tally_fail(l->log, TALLY_ESYNTAX,
                          "'%s.%s': a count takes one unit mask; those of its "
                          "bits add up",
                          event->name, text);
    return list_add_counted(l, event, umask);
}

/* Appends the event of "EVENT.UMASK" or "EVENT:UMASK". Returns 1 if the name
 * has neither form. */
static int
add_masked(struct event_list *l, char *name)
{
    for (char *p = name + strcspn(name, ".:"); *p != '\0';
         p += 1 + strcspn(p + 1, ".:")) {
        const char separator = *p;
        *p = '\0';
        const struct event_row *event = event_find(l->machine, name);
        const struct umask_row *umask =
            event != NULL ? umask_find(event, p + 1) : NULL;
        const bool names = event != NULL && event->umask_count > 0 &&
                           strspn(p + 1, MODIFIERS) < strlen(p + 1) &&
                           strpbrk(p + 1, ":=") == NULL;
        const int error = umask != NULL ? add_umask(l, event, umask, p + 1)
                          : names ? umask_unknown(name, event, p + 1, l->log)
                                  : 1;
        *p = separator;
        if (error <= 0)
            return error;
    }
    return 1;
}

/* Appends the event of a word without "machine::", with what stands behind the
 * event's name. */
static int
add_event(struct event_list *l, char *name)
{
    char *colon = strrchr(name, ':');
    int error;

    if (list_has(l, name))
        return list_add_name(l, name);
    error = add_masked(l, name);
    if (error <= 0)
        return error;
    if (colon != NULL && strchr(colon, '=') != NULL) {
        *colon = '\0';
        return add_narrowed(l, name, colon + 1);
    }
    /* Without letters behind the colon, the colon is part of an unknown name.
     */
    if (colon == NULL || strspn(colon + 1, MODIFIERS) < strlen(colon + 1))
        return list_unknown(l, name);
    *colon = '\0';
    if (l->software && event_find(l->machine, name) == NULL &&
        software_find(name) != NULL)
        return refuse_level(l, name, shown(colon + 1, strlen(colon + 1)).text);
    error = list_has(l, name) ? list_add_name(l, name) : add_masked(l, name);
    if (error > 0)
        return list_unknown(l, name);
    return error != 0 ? error
                      : check_modifier(l, name, colon + 1, strlen(colon + 1));
}

/* Appends the events of one word of the list. */
static int
add_word(void *user, const char *word, size_t length, int group)
{
    struct event_list *l = user;
    char copy[ITEM_SIZE], own[ITEM_SIZE], plain[ITEM_SIZE];
    char *name;

    if (group != l->group)
        l->group_first = l->count;
    l->group = group;
    l->word = word;
    l->word_length = length;
    int error = item_name(l->machine, word, length, l->log, copy, &name);
    if (error != 0)
        return error;
    error = raw_event_plain(l->machine, name, l->log, plain, sizeof(plain));
    if (error < 0)
        return error;
    if (error > 0)
        name = plain;
    /* A unit mask's name may be longer than the generic name. */
    return generic_expand(l->machine, name, own, sizeof(own))
               ? add_event(l, own)
               : event_unknown(l->machine, name, l->log);
}

/* Checks the letters behind a group's brace: of an emulated program only user
 * level is counted. */
static int
close_group(void *user, const char *letters, size_t length, int group)
{
    const struct event_list *l = user;

    (void)group;
    if (letters == NULL)
        return 0;
    for (size_t i = l->group_first; l->software && i < l->count; i++)
        if (event_is_software(l->rows[i]))
            return refuse_level(l, l->rows[i]->name,
                                shown(letters, length).text);
    return check_modifier(l, "{...}", letters, length);
}

/* Hands the rows to the caller, or frees the list after an error. */
static int
list_finish(struct event_list *l, int error, const struct event_row ***events,
            size_t *count)
{
    if (error != 0) {
        event_list_free_asked(l->asked, l->count);
        free(l->rows);
        return error;
    }
    *events = l->rows;
    *count = l->count;
    return 0;
}

/* Reads the text into the list `l`, which says where and how to look. */
static int
list_parse(struct event_list *l, const char *text,
           const struct event_row ***events, size_t *count)
{
    const struct items items = {add_word, close_group, l, l->log, false};

    l->group = -1;
    return list_finish(l, items_parse(&items, text), events, count);
}

int
event_list_wanted(const struct machine_row *machine, const char *text,
                  event_unwanted_fn unwanted, const struct tally_log *log,
                  const struct event_row ***events, char ***asked,
                  size_t *count, size_t *left_out)
{
    struct event_list l = {.machine = machine,
                           .log = log,
                           .unwanted = unwanted,
                           .software = true,
                           .keeps_asked = true};
    const int error = list_parse(&l, text, events, count);

    if (error == 0) {
        *asked = l.asked;
        *left_out = l.left_out;
    }
    return error;
}

int
event_list_parse(const struct machine_row *machine, const char *text,
                 const struct tally_log *log, const struct event_row ***events,
                 size_t *count)
{
    struct event_list l = {.machine = machine, .log = log};

    return list_parse(&l, text, events, count);
}

int
event_list_default(const struct machine_row *machine,
                   const struct event_row ***events, size_t *count)
{
    struct event_list l = {.machine = machine};

    return list_finish(&l, list_add_all(&l, true), events, count);
}
