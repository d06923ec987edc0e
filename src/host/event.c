/* SPDX-License-Identifier: MIT */
#include "host/event.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"
#include "table/generic.h"
#include "table/items.h"
#include "table/text.h"

#define SPACES " \t\n"

bool
host_number(const char *text, int base, uint64_t *value)
{
    char *end;

    if (text[0] == '\0' || strchr("+-" SPACES, text[0]) != NULL)
        return false;
    if (base == 16 && !strchr("0123456789abcdefABCDEF", text[0]))
        return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    return errno == 0 && *end == '\0';
}

int
host_list_add(struct host_list *list, const char *name,
              struct host_event **event)
{
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 8 : 2 * list->room;
        void *events = realloc(list->events, room * sizeof(*list->events));
        if (events == NULL)
            return tally_fail(list->log, TALLY_ENOMEM, "out of memory");
        list->events = events;
        list->room = room;
    }
    *event = &list->events[list->count++];
    **event = (struct host_event){
        .attr.size = sizeof((*event)->attr),
        .attr.exclude_guest = 1,
        .scale = 1,
        .group = list->group,
    };
    snprintf((*event)->name, HOST_NAME, "%s", name);
    return 0;
}

void
host_names_add(struct host_names *names, const char *name)
{
    if (names->count == names->room) {
        const size_t room = names->room == 0 ? 64 : 2 * names->room;
        void *more = realloc(names->names, room * sizeof(*names->names));
        if (more == NULL)
            return; /* one candidate less */
        names->names = more;
        names->room = room;
    }
    char *copy = strdup(name);
    if (copy != NULL)
        names->names[names->count++] = copy;
}

void
host_names_finish(struct host_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
}

/* Returns the machine that has the event, where this host lacks the event, or
 * NULL. */
static const struct machine_row *
elsewhere(const char *name)
{
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (!tally_machines[i].hidden && i != MACHINE_HOST &&
            strncmp(name, "0x", 2) != 0 &&
            event_find(&tally_machines[i], name) != NULL)
            return &tally_machines[i];
    return NULL;
}

static void
find_near(const struct host_list *list, struct near *near,
          struct host_names *names, const char *name)
{
    const struct machine_row *host = &tally_machines[MACHINE_HOST];
    char system[HOST_WORD];

    for (size_t i = 0; i < host->event_count; i++)
        near_add(near, host->events[i].name, host->events[i].aliases);
    host_pmu_names(list->root, names);
    const size_t length = strcspn(name, ":");
    if (name[length] == ':') {
        memcpy(system, name, length);
        system[length] = '\0';
        host_tracepoint_names(list->root, system, names);
    }
    for (size_t i = 0; i < names->count; i++)
        near_add(near, names->names[i], NULL);
    if (near->count == 0)
        host_pfm_near(near);
}

/* Returns whether `name` reads SYSTEM:NAME and no tracepoint can be found. */
static bool
is_hidden_tracepoint(const struct host_list *list, const char *name)
{
    return strchr(name, ':') != NULL && strstr(name, "::") == NULL &&
           !host_tracepoints_are_listed(list->root);
}

static int
unknown(const struct host_list *list, const char *name)
{
    const struct shown text = shown(name, strlen(name));
    const struct machine_row *other = elsewhere(name);
    struct host_names names = {0};
    char near_names[256] = "";
    struct near near;

    if (metric_find(&tally_machines[MACHINE_HOST], name) != NULL ||
        generic_metric_find(name) >= 0)
        return tally_fail(list->log, TALLY_EUNKNOWN,
                          "'%s' is a metric: use -M %s", text.text, text.text);
    if (other != NULL)
        return tally_fail(list->log, TALLY_EUNKNOWN,
                          "'%s' is an event of %s; this host lacks it",
                          text.text, other->name);
    near_init(&near, name, 3);
    find_near(list, &near, &names, name);
    near_text(&near, near_names, sizeof(near_names));
    const int error =
        near.count > 0
            ? tally_fail(list->log, TALLY_EUNKNOWN,
                         "unknown event '%s' on this host: did you mean %s?",
                         text.text, near_names)
        : is_hidden_tracepoint(list, name)
            ? tally_fail(
                  list->log, TALLY_EUNKNOWN,
                  "tracefs is not mounted, so that '%s' cannot be found; "
                  "sudo mount -t tracefs nodev /sys/kernel/tracing",
                  text.text)
            : tally_fail(list->log, TALLY_EUNKNOWN,
                         "unknown event '%s' on this host; tally list -m host "
                         "shows its events",
                         text.text);
    host_names_finish(&names);
    return error;
}

static int
syntax(const struct host_list *list, const char *what, const char *at)
{
    return tally_fail(list->log, TALLY_ESYNTAX, "event list: %s at '%s'", what,
                      shown(at, strlen(at)).text);
}

/* "rw" of mem:ADDRESS:rw; false if it is none. */
static bool
read_access(const char *text, uint32_t *type)
{
    uint32_t bits = 0;

    for (; *text != '\0' && *text != ':'; text++) {
        const uint32_t bit = *text == 'r'   ? HW_BREAKPOINT_R
                             : *text == 'w' ? HW_BREAKPOINT_W
                             : *text == 'x' ? HW_BREAKPOINT_X
                                            : 0;
        if (bit == 0 || (bits & bit) != 0)
            return false;
        bits |= bit;
    }
    *type = bits;
    return bits != 0;
}

/* mem:ADDRESS[/LENGTH][:ACCESS][:letters] */
static int
read_breakpoint(struct host_list *list, const char *word)
{
    const size_t first = list->count;
    uint32_t access = HW_BREAKPOINT_RW;
    uint64_t address, length = 0;
    char *rest;
    struct host_event *event;

    errno = 0;
    address = strtoull(word + 4, &rest, 0);
    if (rest == word + 4 || errno != 0)
        return syntax(list, "expected an address", word);
    if (*rest == '/')
        length = strtoull(rest + 1, &rest, 0);
    if (*rest == ':' && read_access(rest + 1, &access))
        rest += 1 + strcspn(rest + 1, ":");
    if (*rest != '\0' && *rest != ':')
        return syntax(list, "expected mem:ADDRESS/LENGTH:rwx:MODIFIERS", word);
    if (length == 0)
        length = access == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
    const int error = host_list_add(list, word, &event);
    if (error != 0)
        return error;
    event->attr.type = PERF_TYPE_BREAKPOINT;
    event->attr.bp_type = access;
    event->attr.bp_addr = address;
    event->attr.bp_len = length;
    return host_letters(list, first, *rest == ':' ? rest + 1 : rest, false);
}

/* A generic name with terms: cycles/name=mine/u */
static int
read_named(struct host_list *list, const char *head, const char *terms,
           const char *word)
{
    const size_t first = list->count;
    const int error = host_generic_add(list, head, word);

    if (error != 0 || *terms == '\0')
        return error;
    if (strncmp(terms, "name=", 5) != 0 || strchr(terms, ',') != NULL)
        return syntax(list, "a generic name takes the term name= alone", terms);
    for (size_t i = first; i < list->count; i++)
        snprintf(list->events[i].name, HOST_NAME, "%.150s", terms + 5);
    return 0;
}

/* HEAD/TERMS/letters */
static int
read_slashed(struct host_list *list, const char *word)
{
    const size_t first = list->count;
    char text[HOST_WORD];
    int error;

    snprintf(text, sizeof(text), "%s", word);
    char *terms = strchr(text, '/');
    *terms++ = '\0';
    char *letters = strchr(terms, '/');
    if (letters == NULL)
        return syntax(list, "expected a second '/'", word);
    *letters++ = '\0';
    letters += *letters == ':';
    if (text[0] == '\0')
        return syntax(list, "expected a PMU before '/'", word);
    error = read_named(list, text, terms, word);
    if (error == HOST_NOT_MINE)
        error = host_pmu_add(list, text, terms, word);
    return error != 0 ? error : host_letters(list, first, letters, false);
}

/* TYPE:CONFIG, as the kernel has them */
static int
read_numbers(struct host_list *list, char *head, char **rest, const char *word)
{
    uint64_t type, config;
    struct host_event *event;
    char *code = *rest, *letters;

    if (code == NULL || !host_number(head, 0, &type) || type > INT32_MAX)
        return HOST_NOT_MINE;
    letters = strchr(code, ':');
    if (letters != NULL)
        *letters++ = '\0';
    if (!host_number(code, 0, &config))
        return syntax(list, "expected TYPE:CONFIG", word);
    const int error = host_list_add(list, word, &event);
    if (error != 0)
        return error;
    event->attr.type = (uint32_t)type;
    event->attr.config = config;
    event->row = host_row(event->attr.type, config);
    *rest = letters;
    return 0;
}

static int
read_raw(struct host_list *list, const char *head, const char *word)
{
    uint64_t code;

    if (head[0] != 'r')
        return HOST_NOT_MINE;
    head += strncmp(head, "r0x", 3) == 0 ? 3 : 1;
    return host_number(head, 16, &code) ? host_raw_add(list, code, word)
                                        : HOST_NOT_MINE;
}

/* NAME[:letters], NAME being one word */
static int
read_plain(struct host_list *list, const char *word)
{
    const size_t first = list->count;
    char text[HOST_WORD];
    int error;

    snprintf(text, sizeof(text), "%s", word);
    char *rest = strchr(text, ':');
    if (rest != NULL)
        *rest++ = '\0';
    error = host_generic_add(list, text, word);
    if (error == HOST_NOT_MINE)
        error = read_raw(list, text, word);
    if (error == HOST_NOT_MINE)
        error = read_numbers(list, text, &rest, word);
    if (error == HOST_NOT_MINE)
        error = host_pmu_event_add(list, text, word);
    if (error == HOST_NOT_MINE)
        error = host_lacking_add(list, text, word);
    if (error != 0)
        return error;
    return rest == NULL ? 0 : host_letters(list, first, rest, false);
}

/* SYSTEM:NAME[:letters] */
static int
read_tracepoint(struct host_list *list, const char *word)
{
    const size_t first = list->count;
    char text[HOST_WORD];

    snprintf(text, sizeof(text), "%s", word);
    char *name = strchr(text, ':');
    if (name == NULL)
        return HOST_NOT_MINE;
    *name++ = '\0';
    char *letters = strchr(name, ':');
    if (letters != NULL)
        *letters++ = '\0';
    const int error = host_tracepoint_add(list, text, name);
    if (error != 0 || letters == NULL)
        return error;
    return host_letters(list, first, letters, false);
}

static int
read_word(struct host_list *list, const char *word)
{
    int error = HOST_NOT_MINE;

    if (strncmp(word, "mem:", 4) == 0)
        return read_breakpoint(list, word);
    if (strchr(word, '/') != NULL)
        return read_slashed(list, word);
    if (strcmp(word, "duration_time") == 0 || strcmp(word, "user_time") == 0 ||
        strcmp(word, "system_time") == 0)
        return tally_fail(list->log, TALLY_EUNKNOWN,
                          "'%s' is no counter: the report ends with the "
                          "seconds elapsed, user and sys",
                          word);
    if (strstr(word, "::") == NULL)
        error = read_plain(list, word);
    if (error == HOST_NOT_MINE && strstr(word, "::") == NULL)
        error = read_tracepoint(list, word);
    if (error == HOST_NOT_MINE)
        error = host_pfm_add(list, word);
    return error == HOST_NOT_MINE ? unknown(list, word) : error;
}

struct reading {
    struct host_list list;
    size_t first;  /* event of the group that is read */
    int group;     /* the same group, -1: none */
    int groups;    /* of the events so far */
    bool expanded; /* a word of the group gave several PMUs' events */
};

/* Reads a word of the list. */
static int
add_word(void *user, const char *text, size_t length, int group)
{
    struct reading *r = user;
    struct host_list *list = &r->list;
    const size_t before = list->count;
    char word[HOST_WORD];

    if (length >= sizeof(word))
        return syntax(list, "a name is too long", text);
    memcpy(word, text, length);
    word[length] = '\0';
    if (group >= 0 && group != r->group) {
        r->first = before;
        r->expanded = false;
    }
    r->group = group;
    list->group = group >= 0 ? r->groups : -1;
    const int error = read_word(list, word);
    if (error == 0 && list->count > before + 1 &&
        list->events[before].pmu[0] != '\0')
        r->expanded = true;
    return error;
}

/* Returns the number, among the PMUs of the group, of the event's PMU. Events
 * of no PMU go with the first PMU. */
static size_t
pmu_of(const struct host_event *events, size_t count, size_t event)
{
    size_t order = 0;

    if (events[event].pmu[0] == '\0')
        return 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = events[i].pmu[0] == '\0';
        if (strcmp(events[i].pmu, events[event].pmu) == 0)
            return order;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(events[k].pmu, events[i].pmu) == 0;
        order += !seen;
    }
    return order;
}

/* Makes one group a PMU of the group that was read last, since the events of a
 * group must be of one PMU. */
static int
split_group(struct reading *r)
{
    struct host_event *events = r->list.events + r->first;
    const size_t count = r->list.count - r->first;
    size_t done = 0;
    struct host_event *sorted = malloc(count * sizeof(*sorted));

    if (sorted == NULL)
        return tally_fail(r->list.log, TALLY_ENOMEM, "out of memory");
    for (size_t order = 0; done < count; order++) {
        const size_t before = done;
        for (size_t i = 0; i < count; i++)
            if (pmu_of(events, count, i) == order) {
                sorted[done] = events[i];
                sorted[done++].group = r->groups;
            }
        r->groups += done > before;
    }
    memcpy(events, sorted, count * sizeof(*sorted));
    free(sorted);
    return 0;
}

/* Ends a group, and applies the letters behind its brace to its events. */
static int
close_group(void *user, const char *text, size_t length, int group)
{
    struct reading *r = user;
    char letters[32];
    int error = 0;

    (void)group;
    if (r->expanded)
        error = split_group(r);
    else
        r->groups++;
    if (error != 0 || text == NULL)
        return error;
    if (length >= sizeof(letters))
        return syntax(&r->list, "too many modifiers", text);
    memcpy(letters, text, length);
    letters[length] = '\0';
    return host_letters(&r->list, r->first, letters, true);
}

/* Reads the list; `lacking` is that of struct host_list. */
static int
parse(const struct host_root *root, bool lacking, const char *text,
      const struct tally_log *log, struct host_event **events, size_t *count)
{
    struct reading r = {.list = {.root = root, .log = log, .lacking = lacking},
                        .group = -1};
    const struct items items = {add_word, close_group, &r, log, true};
    const int error = items_parse(&items, text);

    if (error != 0) {
        free(r.list.events);
        return error;
    }
    *events = r.list.events;
    *count = r.list.count;
    return 0;
}

int
host_event_list_parse_at(const struct host_root *root, const char *text,
                         const struct tally_log *log,
                         struct host_event **events, size_t *count)
{
    return parse(root, false, text, log, events, count);
}

int
host_event_list_parse(const char *text, const struct tally_log *log,
                      struct host_event **events, size_t *count)
{
    return parse(NULL, false, text, log, events, count);
}

int
host_event_list_wanted(const char *text, const struct tally_log *log,
                       struct host_event **events, size_t *count)
{
    return parse(NULL, true, text, log, events, count);
}
