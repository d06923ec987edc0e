/* SPDX-License-Identifier: MIT */
/*
 * pmu/term=value,.../: terms are put into the attribute's words where format/
 * says, names of events/ stand for the terms in their file. Values of a term
 * that stands twice are ORed, as perf does it.
 */
#include <fnmatch.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"
#include "host/sysfs.h"
#include "table/text.h"

#define DEPTH 4        /* events that stand for events */
#define TERMS_MAX 1024 /* of one event, those of events that it names too */

struct terms {
    struct host_list *list;
    const struct host_pmu *pmu;
    struct host_event *event;
    int depth;
    unsigned count; /* of terms so far */
};

static const char *const sampling[] = {
    "period",        "freq",        "time",
    "call-graph",    "stack-size",  "max-stack",
    "max-events",    "branch_type", "aux-output",
    "inherit",       "no-inherit",  "overwrite",
    "no-overwrite",  "nr",          "aux-sample-size",
    "driver-config",
};

static int
fail(const struct terms *t, enum tally_error error, const char *what,
     const char *term)
{
    return tally_fail(t->list->log, error, "event '%s': %s '%s'",
                      shown(t->event->name, strlen(t->event->name)).text, what,
                      shown(term, strlen(term)).text);
}

static uint64_t *
word_of(struct perf_event_attr *attr, const char *format, size_t length)
{
    static const char *const names[] = {"config", "config1", "config2",
                                        "config3"};
    uint64_t *const words[] = {
        (uint64_t *)&attr->config,
        (uint64_t *)&attr->config1,
        (uint64_t *)&attr->config2,
#ifdef PERF_ATTR_SIZE_VER8
        (uint64_t *)&attr->config3,
#endif
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(names[i]) == length &&
            strncmp(format, names[i], length) == 0)
            return words[i];
    return NULL;
}

/*
 * Spreads `value` over the bits of "config:0-7,32-35". Returns the bits that
 * there are, or -1 where the format cannot be read.
 */
static int
spread(struct perf_event_attr *attr, const char *format, uint64_t value)
{
    const size_t length = strcspn(format, ":");
    uint64_t *word = word_of(attr, format, length);
    cpu_set_t bits;
    int used = 0;

    if (word == NULL)
        return -1;
    host_cpus_parse(format[length] == ':' ? format + length + 1 : "0-63",
                    &bits);
    for (unsigned bit = 0; bit < 64; bit++)
        if (CPU_ISSET(bit, &bits)) {
            *word |= (value >> used & 1) << bit;
            used++;
        }
    return used;
}

static int
set_format(const struct terms *t, const char *name, const char *format,
           const char *text)
{
    uint64_t value = 1;
    char what[64];

    if (text != NULL && strcmp(text, "?") == 0)
        return fail(t, TALLY_ESYNTAX, "give a value for", name);
    if (text != NULL && !host_number(text, 0, &value))
        return fail(t, TALLY_ESYNTAX, "no number:", text);
    struct perf_event_attr attr = t->event->attr;
    const int bits = spread(&attr, format, value);
    if (bits < 0)
        return fail(t, TALLY_EUNKNOWN, "this format cannot be read:", format);
    if (bits < 64 && value >> bits != 0) {
        snprintf(what, sizeof(what), "0x%llx is too great, at most 0x%llx, for",
                 (unsigned long long)value, (1ULL << bits) - 1);
        return fail(t, TALLY_ERANGE, what, name);
    }
    t->event->attr = attr;
    return 0;
}

/* The point of a fraction is '.', whatever the locale. */
static double
plain_double(const char *text)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (plain == (locale_t)0)
        return 1;
    const double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value > 0 ? value : 1;
}

static void
read_scale(const struct terms *t, const char *name)
{
    const struct host_root *root = t->list->root;
    char file[HOST_WORD], text[HOST_FILE];

    snprintf(file, sizeof(file), "%s.scale", name);
    if (host_pmu_text(root, t->pmu->name, "events", file, text, sizeof(text)) ==
        0)
        t->event->scale = plain_double(text);
    snprintf(file, sizeof(file), "%s.unit", name);
    if (host_pmu_text(root, t->pmu->name, "events", file, text, sizeof(text)) ==
        0)
        snprintf(t->event->unit, sizeof(t->event->unit), "%.15s", text);
}

static int apply(struct terms *t, char *text);

/* A name of events/ that `name` stands for, or HOST_NOT_MINE. */
static int
set_named(struct terms *t, const char *name)
{
    char text[HOST_FILE];

    if (t->depth >= DEPTH ||
        host_pmu_text(t->list->root, t->pmu->name, "events", name, text,
                      sizeof(text)) != 0)
        return HOST_NOT_MINE;
    read_scale(t, name);
    t->depth++;
    const int error = apply(t, text);
    t->depth--;
    return error;
}

/* perf's other names of what sysfs has under one: cpu/cycles/. */
static int
set_generic(struct terms *t, const char *name)
{
    const struct event_row *row = NULL;
    uint32_t type;
    uint64_t config;
    int error = HOST_NOT_MINE;

    if (t->depth == 0 && host_generic_find(name, &type, &config))
        row = host_row(type, config);
    if (row == NULL || type == PERF_TYPE_SOFTWARE)
        return HOST_NOT_MINE;
    error = set_named(t, row->name);
    for (size_t i = 0; error == HOST_NOT_MINE && row->aliases[i] != NULL; i++)
        error = set_named(t, row->aliases[i]);
    if (error != HOST_NOT_MINE || !t->pmu->hybrid)
        return error;
    t->event->attr.type = type;
    t->event->attr.config = config | (uint64_t)t->pmu->type << 32;
    t->event->row = row;
    return 0;
}

/* config, name and the like: what every PMU has. */
static int
set_common(const struct terms *t, const char *name, const char *text)
{
    struct host_event *event = t->event;
    uint64_t value = 0;

    if (strcmp(name, "name") == 0 && text != NULL) {
        snprintf(event->name, sizeof(event->name), "%.*s", HOST_NAME - 1, text);
        return 0;
    }
    uint64_t *word = word_of(&event->attr, name, strlen(name));
    if (word != NULL) {
        if (text == NULL || !host_number(text, 0, &value))
            return fail(t, TALLY_ESYNTAX, "no number for", name);
        *word = value;
        return 0;
    }
    for (size_t i = 0; i < sizeof(sampling) / sizeof(sampling[0]); i++)
        if (strcmp(name, sampling[i]) == 0)
            return fail(t, TALLY_ESYNTAX,
                        "counting takes no term of sampling:", name);
    if (strcmp(name, "percore") == 0 || strcmp(name, "metric-id") == 0)
        return 0;
    if (name[0] == 'r' && text == NULL && host_number(name + 1, 16, &value)) {
        event->attr.config |= value;
        return 0;
    }
    return HOST_NOT_MINE;
}

static int
take_name(void *user, const char *name)
{
    if (strchr(name, '.') == NULL)
        host_names_add(user, name);
    return 0;
}

static int
unknown_term(const struct terms *t, const char *name)
{
    struct host_names names = {0};
    char text[256] = "";
    struct near near;

    host_pmu_each(t->list->root, t->pmu->name, "format", take_name, &names);
    host_pmu_each(t->list->root, t->pmu->name, "events", take_name, &names);
    near_init(&near, name, 3);
    for (size_t i = 0; i < names.count; i++)
        near_add(&near, names.names[i], NULL);
    near_text(&near, text, sizeof(text));
    const int error = tally_fail(t->list->log, TALLY_EUNKNOWN,
                                 "PMU %s has no event or term '%s'%s%s%s",
                                 t->pmu->name, shown(name, strlen(name)).text,
                                 text[0] != '\0' ? ": did you mean " : "", text,
                                 text[0] != '\0' ? "?" : "");
    host_names_finish(&names);
    return error;
}

static int
set_term(struct terms *t, const char *name, const char *value)
{
    char format[HOST_FILE];
    int error = set_common(t, name, value);

    if (error != HOST_NOT_MINE)
        return error;
    if (host_pmu_text(t->list->root, t->pmu->name, "format", name, format,
                      sizeof(format)) == 0) {
        /* event=mem-loads names an event, too. */
        if (value != NULL && strcmp(name, "event") == 0) {
            error = set_named(t, value);
            if (error != HOST_NOT_MINE)
                return error;
        }
        return set_format(t, name, format, value);
    }
    if (value == NULL || strcmp(value, "1") == 0)
        error = set_named(t, name);
    if (error == HOST_NOT_MINE && value == NULL)
        error = set_generic(t, name);
    return error == HOST_NOT_MINE ? unknown_term(t, name) : error;
}

static int
apply(struct terms *t, char *text)
{
    char *rest = text, *term;
    int error = 0;

    while (error == 0 && (term = strsep(&rest, ",")) != NULL) {
        if (*term == '\0' && rest == NULL && term == text)
            return 0; /* pmu// */
        char *value = strchr(term, '=');
        if (value != NULL)
            *value++ = '\0';
        error = *term == '\0' ? fail(t, TALLY_ESYNTAX, "a term is missing", "")
                : ++t->count > TERMS_MAX
                    ? fail(t, TALLY_ESYNTAX, "too many terms, at", term)
                    : set_term(t, term, value);
    }
    return error;
}

static int
add(struct host_list *list, const struct host_pmu *pmu, const char *terms,
    const char *name)
{
    char text[HOST_WORD];
    struct host_event *event;
    int error = host_list_add(list, name, &event);

    if (error != 0)
        return error;
    event->attr.type = pmu->type;
    memcpy(event->pmu, pmu->name, sizeof(event->pmu));
    event->cpus = pmu->cpus;
    event->uncore = pmu->uncore;
    struct terms t = {list, pmu, event, 0, 0};
    snprintf(text, sizeof(text), "%s", terms);
    error = apply(&t, text);
    return error;
}

struct search {
    struct host_list *list;
    const char *wanted, *terms, *shown;
    size_t found;
};

/* "uncore_imc" and "imc" mean each uncore_imc_0, uncore_imc_1, ... */
static bool
matches(const char *wanted, const char *name)
{
    char pattern[HOST_WORD];

    if (strncmp(name, "uncore_", 7) == 0 && strncmp(wanted, "uncore_", 7) != 0)
        name += 7;
    if (strcmp(wanted, name) == 0)
        return true;
    if (strpbrk(wanted, "*?[") != NULL) {
        snprintf(pattern, sizeof(pattern), "%s", wanted);
        return fnmatch(pattern, name, 0) == 0;
    }
    const size_t length = strlen(wanted);
    return strncmp(wanted, name, length) == 0 && name[length] == '_' &&
           name[length + 1] != '\0' &&
           strspn(name + length + 1, "0123456789") == strlen(name + length + 1);
}

static int
take_match(void *user, const char *name)
{
    struct search *s = user;
    struct host_pmu pmu;

    if (!matches(s->wanted, name) || !host_pmu_read(s->list->root, name, &pmu))
        return 0;
    s->found++;
    return add(s->list, &pmu, s->terms, s->shown);
}

static int
unknown_pmu(const struct host_list *list, const char *name)
{
    struct host_names names = {0};
    char text[256] = "";
    struct near near;

    host_pmu_each(list->root, NULL, NULL, take_name, &names);
    near_init(&near, name, 3);
    for (size_t i = 0; i < names.count; i++)
        near_add(&near, names.names[i], NULL);
    near_text(&near, text, sizeof(text));
    const int error = tally_fail(
        list->log, TALLY_EUNKNOWN,
        "this host has no PMU '%s' in /sys/bus/event_source/devices%s%s%s",
        shown(name, strlen(name)).text,
        text[0] != '\0' ? ": did you mean " : "", text,
        text[0] != '\0' ? "?" : "");
    host_names_finish(&names);
    return error;
}

int
host_pmu_add(struct host_list *list, const char *name, const char *terms,
             const char *written)
{
    struct search s = {list, name, terms, written, 0};
    struct host_pmu pmu;

    if (host_pmu_read(list->root, name, &pmu))
        return add(list, &pmu, terms, written);
    const int error = host_pmu_each(list->root, NULL, NULL, take_match, &s);
    return error == 0 && s.found == 0 ? unknown_pmu(list, name) : error;
}

static int
take_owner(void *user, const char *name)
{
    struct search *s = user;
    struct host_pmu pmu;

    if (!host_pmu_has(s->list->root, name, "events", s->wanted) ||
        !host_pmu_read(s->list->root, name, &pmu))
        return 0;
    s->found++;
    const int error = add(s->list, &pmu, s->wanted, s->shown);
    if (error == 0)
        s->list->events[s->list->count - 1].row =
            event_find(&tally_machines[MACHINE_HOST], s->wanted);
    return error;
}

int
host_pmu_event_add(struct host_list *list, const char *name,
                   const char *written)
{
    struct search s = {list, name, NULL, written, 0};
    int error;

    if (strchr(name, '.') != NULL) /* the .scale of another */
        return HOST_NOT_MINE;
    error = host_pmu_each(list->root, NULL, NULL, take_owner, &s);
    return error == 0 && s.found == 0 ? HOST_NOT_MINE : error;
}

int
host_raw_add(struct host_list *list, uint64_t code, const char *written)
{
    struct host_pmu pmus[HOST_HYBRID];
    char terms[32], name[HOST_NAME];
    struct host_event *event;
    int error = 0;
    const size_t count = host_hybrid_find(list->root, pmus);

    snprintf(terms, sizeof(terms), "config=0x%llx", (unsigned long long)code);
    for (size_t i = 0; i < count && error == 0; i++) {
        host_core_name(name, pmus[i].name, written);
        error = add(list, &pmus[i], terms, name);
    }
    if (count > 0)
        return error;
    error = host_list_add(list, written, &event);
    if (error != 0)
        return error;
    event->attr.type = PERF_TYPE_RAW;
    event->attr.config = code;
    return 0;
}

static int
take_pmu_names(void *user, const char *name)
{
    void *const *both = user;

    return host_pmu_each(both[0], name, "events", take_name, both[1]);
}

void
host_pmu_names(const struct host_root *root, struct host_names *names)
{
    void *both[2] = {(void *)(uintptr_t)root, names};

    host_pmu_each(root, NULL, NULL, take_pmu_names, both);
}
