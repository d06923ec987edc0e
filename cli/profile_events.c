/* SPDX-License-Identifier: MIT */
#include "cli/profile_events.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/profile_pairs.h"
#include "host/set.h"
#include "profile/call_log.h"
#include "table/items.h"
#include "table/text.h"

/* The words of a list: of the events as they were asked for. */
struct words {
    char **words; /* owned, each too */
    size_t count;
};

static void
words_finish(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->words[i]);
    free(w->words);
    *w = (struct words){0};
}

/* Adds `length` bytes of `text`; false: no memory. */
static bool
words_add(struct words *w, const char *text, size_t length)
{
    char *const word = strndup(text, length);
    char **const more =
        word != NULL ? realloc(w->words, (w->count + 1) * sizeof(*more)) : NULL;

    if (more == NULL) {
        free(word);
        return false;
    }
    w->words = more;
    w->words[w->count++] = word;
    return true;
}

/* Cuts a list into its items. */
static int
cut_items(const char *list, bool host, struct words *items)
{
    while (*list != '\0') {
        const size_t length = item_length(list, host);
        if (length > 0 && !words_add(items, list, length))
            return EXIT_OURS;
        list += length + (list[length] == ',');
    }
    if (items->count > 0)
        return 0;
    fprintf(stderr, "tally profile: -e names no event\n");
    return EXIT_USAGE;
}

/* Returns whether the default list leaves out the event: an event without
 * counts of intervals, or the model's cycles, which the record's clock has. */
static bool
is_unwanted(const struct event_row *e)
{
    return e->fidelity == FIDELITY_IDLE || e->reserved || event_unmodelled(e) ||
           event_is_late(e) ||
           (e->signal_count == 1 && e->signals[0] == SIGNAL_CYCLES &&
            e->code < 0 && e->number < 0);
}

static int
check_event(const struct machine_row *machine, const struct event_row *e)
{
    if (e->fidelity == FIDELITY_IDLE || event_unmodelled(e))
        return tally_fail(&command_log, TALLY_EIDLE,
                          "%s cannot count on %s: %s", e->name, machine->name,
                          e->reason != NULL ? e->reason : "not modelled");
    if (event_is_late(e))
        return tally_fail(&command_log, TALLY_EIDLE,
                          "%s is known only when the program has ended: no "
                          "interval has a count of it; tally count -e %s has",
                          e->name, e->name);
    return 0;
}

/* Adds a name that is found as this event. */
static bool
add_row(const struct machine_row *machine, const struct event_row *e,
        struct words *words)
{
    const bool own =
        e >= machine->events && e < machine->events + machine->event_count;
    char text[160];

    if (!own || event_find(machine, e->name) == e)
        return words_add(words, e->name, strlen(e->name));
    const int length = snprintf(text, sizeof(text), "%s/%s", e->unit, e->name);
    return words_add(words, text, (size_t)length);
}

/* Adds the events of a list in which `all` or `default` stands for many: those
 * that have counts of intervals. */
static int
add_rows(const struct machine_row *machine, const struct event_row *const *rows,
         size_t count, struct words *words)
{
    for (size_t i = 0; i < count; i++)
        if (!is_unwanted(rows[i]) && !add_row(machine, rows[i], words))
            return EXIT_OURS;
    if (words->count > 0)
        return 0;
    fprintf(stderr, "tally profile: -e names no event that intervals count\n");
    return EXIT_USAGE;
}

/* The events of an emulated machine, by the names that were asked for where
 * each item of the list is one event. */
static int
machine_words(const struct profile_wish *wish, struct words *words)
{
    const struct event_row **rows;
    struct words items = {0};
    size_t count;

    int status =
        wish->events != NULL ? cut_items(wish->events, false, &items) : 0;
    if (status == 0 &&
        event_list_parse(wish->machine,
                         wish->events != NULL ? wish->events : "default",
                         &command_log, &rows, &count) != 0)
        status = EXIT_USAGE;
    if (status != 0) {
        words_finish(&items);
        return status;
    }
    if (items.count == count) {
        for (size_t i = 0; i < count && status == 0; i++)
            if (check_event(wish->machine, rows[i]) != 0)
                status = EXIT_USAGE;
        *words = items;
    } else {
        words_finish(&items);
        status = add_rows(wish->machine, rows, count, words);
    }
    free(rows);
    return status;
}

/* Opens the pair as the profiler will, in a program that may say nothing of
 * it. A NULL log: nothing is told. */
static int
check_pair(const char *pair, size_t length, const struct tally_log *log)
{
    struct host_set_options own = {.scope = HOST_THREAD};
    const bool braces = memchr(pair, '{', length) != NULL;
    struct host_event *events = NULL;
    struct host_set *set = NULL;
    char *text;
    size_t count = 0;

    if (log != NULL)
        own.log = *log;
    if (asprintf(&text, braces ? "%.*s" : "{%.*s}", (int)length, pair) < 0)
        return EXIT_OURS;
    int error = host_event_list_parse(text, log, &events, &count);
    if (error == 0)
        error = host_set_create(&own, &set);
    if (error == 0)
        error = host_set_add(set, events, count);
    host_set_ops.close(set);
    free(events);
    free(text);
    return error == 0 ? 0 : EXIT_USAGE;
}

static int
check_here(const char *pairs)
{
    int status = 0;

    while (*pairs != '\0' && status == 0) {
        const size_t length = strcspn(pairs, ";");
        status = check_pair(pairs, length, &command_log);
        pairs += length + (pairs[length] == ';');
    }
    return status;
}

/* The events that this host counts without -e, as far as they open here. */
static int
host_words(struct words *words)
{
    const struct machine_row *const host = machine_find("host");

    for (size_t i = 0; i < host->event_count; i++) {
        const struct event_row *const e = &host->events[i];
        if (!e->by_default || check_pair(e->name, strlen(e->name), NULL) != 0)
            continue;
        if (!words_add(words, e->name, strlen(e->name)))
            return EXIT_OURS;
    }
    if (words->count > 0)
        return 0;
    fprintf(stderr, "tally profile: none of this host's events opens here; "
                    "tally doctor says why\n");
    return EXIT_USAGE;
}

static int
too_many(size_t pairs)
{
    fprintf(stderr,
            "tally profile: %zu pairs of events, and a thread of a program has "
            "%d; -e names fewer\n",
            pairs, CALL_LOG_SELECTIONS);
    return EXIT_USAGE;
}

/* Writes the words as pairs, "A,B;C,D". On a T1 each event stands beside
 * instr_cnt. */
static int
write_pairs(const struct profile_wish *wish, const struct words *words,
            FILE *out)
{
    const bool t1 =
        wish->machine != NULL && wish->machine->family == FAMILY_NIAGARA1;
    size_t count = 0;

    for (size_t i = 0; i < words->count; i++) {
        const char *const word = words->words[i];
        if (t1 && words->count > 1 && same_name(word, "instr_cnt"))
            continue;
        fprintf(out, "%s%s%s",
                count == 0           ? ""
                : t1 || !(count % 2) ? ";"
                                     : ",",
                t1 ? "instr_cnt," : "", word);
        count++;
    }
    const size_t pairs = t1 ? count : (count + 1) / 2;
    if (pairs > CALL_LOG_SELECTIONS)
        return too_many(pairs);
    if (wish->rotate || pairs <= 1)
        return 0;
    fprintf(stderr,
            "tally profile: %zu events, and %s at a time; --rotate takes them "
            "in turn\n",
            count, t1 ? "one beside instr_cnt" : "two");
    return EXIT_USAGE;
}

/* Writes the pairs that the machine's counters count together. */
static int
write_hardware(const struct profile_wish *wish, const char *list, FILE *out)
{
    size_t count;

    if (profile_pairs(wish->machine, list, wish->events == NULL, &command_log,
                      out, &count) != 0)
        return EXIT_USAGE;
    if (count > CALL_LOG_SELECTIONS)
        return too_many(count);
    if (wish->rotate || count <= 1)
        return 0;
    fprintf(stderr,
            "tally profile: %s has not the counters for all of %s at once; "
            "--rotate takes them in turn\n",
            wish->machine->name, wish->events);
    return EXIT_USAGE;
}

/* Joins the words by commas; NULL: no memory. */
static char *
join(const struct words *words)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < words->count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", words->words[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int
find_words(const struct profile_wish *wish, struct words *words)
{
    if (wish->machine != NULL)
        return machine_words(wish, words);
    return wish->events != NULL ? cut_items(wish->events, true, words)
                                : host_words(words);
}

int
profile_events(const struct profile_wish *wish, struct profile_events *to)
{
    struct profile_events events = {NULL, NULL};
    struct words words = {0};
    size_t size;

    int status = find_words(wish, &words);
    if (status == 0)
        events.list = join(&words);
    FILE *const out =
        events.list != NULL ? open_memstream(&events.pairs, &size) : NULL;
    if (status == 0 && out == NULL)
        status = EXIT_OURS;
    if (status == 0)
        status = wish->hardware ? write_hardware(wish, events.list, out)
                                : write_pairs(wish, &words, out);
    if (out != NULL && fclose(out) != 0)
        status = EXIT_OURS;
    words_finish(&words);
    if (status == 0 && wish->machine == NULL)
        status = check_here(events.pairs);
    if (status == 0)
        *to = events;
    else
        profile_events_finish(&events);
    return status;
}

void
profile_events_finish(struct profile_events *events)
{
    free(events->pairs);
    free(events->list);
    *events = (struct profile_events){NULL, NULL};
}
