/* SPDX-License-Identifier: MIT */
#include "cli/profile_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/profile_pairs.h"
#include "host/set.h"
#include "profile/call_log.h"
#include "table/items.h"
#include "table/software.h"

/* Adds `length` bytes of `text`. */
static int
add_word(struct profile_words *w, const char *text, size_t length)
{
    char *const word = strndup(text, length);
    char **const more =
        word != NULL ? realloc(w->words, (w->count + 1) * sizeof(*more)) : NULL;

    if (more == NULL) {
        free(word);
        return command_no_memory();
    }
    w->words = more;
    w->words[w->count++] = word;
    return 0;
}

/* Cuts a list of this host's events into its items. */
static int
cut_items(const char *list, struct profile_words *items)
{
    while (*list != '\0') {
        const size_t length = item_length(list, true);
        if (length > 0 && add_word(items, list, length) != 0)
            return EXIT_OURS;
        list += length + (list[length] == ',');
    }
    if (items->count > 0)
        return 0;
    fprintf(stderr, "tally profile: -e names no event\n");
    return EXIT_USAGE;
}

/* Returns whether intervals have no count of the event. */
static bool
is_uncounted(const struct event_row *e)
{
    return e->fidelity == FIDELITY_IDLE || e->reserved || event_unmodelled(e) ||
           event_is_late(e);
}

static int
check_event(const struct machine_row *machine, const struct event_row *e,
            const char *asked)
{
    if (event_is_software(e))
        return tally_fail(&command_log, TALLY_EIDLE,
                          "the kernel counts %s, for a whole run and not for "
                          "its intervals: tally count -m %s -e %s PROGRAM",
                          e->name, machine->name, asked);
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

/* Makes the word of each event one by which the machine finds the event: of a
 * name that several units have, UNIT/NAME. */
static int
qualify(const struct machine_row *machine, struct profile_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct event_row *const e = words->rows[i];
        const bool own =
            e >= machine->events && e < machine->events + machine->event_count;
        char *word;
        if (!own || strcmp(words->words[i], e->name) != 0 ||
            event_find(machine, e->name) == e)
            continue;
        if (asprintf(&word, "%s/%s", e->unit, e->name) < 0)
            return command_no_memory();
        free(words->words[i]);
        words->words[i] = word;
    }
    return 0;
}

/* Leaves out the event that is the clock of the records. */
static void
drop_clock(const struct machine_row *machine, struct profile_words *words)
{
    const struct tally_log silent = {0};
    const struct event_row **clock;
    size_t one, kept = 0;

    if (event_list_parse(machine, "cycles", &silent, &clock, &one) != 0)
        return;
    for (size_t i = 0; i < words->count; i++) {
        if (words->rows[i] == clock[0]) {
            free(words->words[i]);
            continue;
        }
        words->rows[kept] = words->rows[i];
        words->words[kept++] = words->words[i];
    }
    words->count = kept;
    free(clock);
}

/* Finds the events of an emulated machine, each with the name that it was asked
 * for by. Where `all` or `default` stands for many, those that have no counts
 * of intervals are left out. */
static int
machine_words(const struct profile_wish *wish, struct profile_words *words)
{
    const struct machine_row *const machine = wish->machine;
    size_t left_out;

    if (event_list_wanted(machine,
                          wish->events != NULL ? wish->events : "default",
                          is_uncounted, &command_log, &words->rows,
                          &words->words, &words->count, &left_out) != 0)
        return EXIT_USAGE;
    if (wish->events == NULL && !wish->counts_instructions)
        drop_clock(machine, words);
    for (size_t i = 0; i < words->count; i++)
        if (check_event(machine, words->rows[i], words->words[i]) != 0)
            return EXIT_USAGE;
    if (words->count > 0)
        return qualify(machine, words);
    fprintf(stderr, "tally profile: -e names no event that intervals count\n");
    return EXIT_USAGE;
}

/* Opens the pair as the profiler will, since a program without a log says
 * nothing of a pair that does not open. */
static int
check_pair(const char *pair, size_t length, const char *without_pmu,
           const struct tally_log *log)
{
    struct host_set_options own = {
        .scope = HOST_THREAD, .log = *log, .without_pmu = without_pmu};
    const bool braces = memchr(pair, '{', length) != NULL;
    struct host_event *events = NULL;
    struct host_set *set = NULL;
    char *text;
    size_t count = 0;

    if (asprintf(&text, braces ? "%.*s" : "{%.*s}", (int)length, pair) < 0)
        return command_no_memory();
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

/* Writes the commands that count `events` without a PMU. The command with the
 * model is among them if the model has all the events. Returns text that the
 * caller frees, or NULL without memory. */
static char *
advice_without_pmu(const char *events)
{
    const struct tally_log silent = {0};
    const struct event_row **rows;
    const struct machine_row *model = NULL;
    char *text;
    size_t count;

#if defined(__x86_64__)
    model = machine_find("host-model");
#endif
    if (model != NULL && events != NULL &&
        event_list_parse(model, events, &silent, &rows, &count) == 0)
        free(rows);
    else
        model = NULL;
    const int length = asprintf(
        &text,
        "software events: tally profile -e task-clock,page-faults "
        "PROGRAM%s%s%s",
        model != NULL ? "; on a model: tally profile -m host-model -e " : "",
        model != NULL ? events : "", model != NULL ? " PROGRAM" : "");
    return length >= 0 ? text : NULL;
}

/* Opens each of the pairs. `events` is the list that was asked for, or NULL. */
static int
check_here(const char *events, const char *pairs)
{
    char *const advice = advice_without_pmu(events);
    int status = advice != NULL ? 0 : command_no_memory();

    while (*pairs != '\0' && status == 0) {
        const size_t length = strcspn(pairs, ";");
        status = check_pair(pairs, length, advice, &command_log);
        pairs += length + (pairs[length] == ';');
    }
    free(advice);
    return status;
}

/* Finds the events that this host counts without -e, as far as they can be
 * opened here. */
static int
host_words(struct profile_words *words)
{
    const struct machine_row *const host = machine_find("host");
    const struct tally_log silent = {0};

    for (size_t i = 0; i < host->event_count; i++) {
        const struct event_row *const e = &host->events[i];
        if (!e->by_default ||
            check_pair(e->name, strlen(e->name), NULL, &silent) != 0)
            continue;
        if (add_word(words, e->name, strlen(e->name)) != 0)
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

/* Writes the words as pairs, "A,B;C,D". On a T1 each event stands beside the
 * instructions, which the counter PIC.H always counts; they have the name that
 * they were asked for by. */
static int
write_pairs(const struct profile_wish *wish, const struct profile_words *words,
            FILE *out)
{
    struct profile_fixed fixed;
    const bool t1 = profile_fixed_find(wish->machine, words, &fixed);
    size_t count = 0;

    for (size_t i = 0; i < words->count; i++) {
        if (t1 && words->rows[i] == fixed.row)
            continue;
        fprintf(out, "%s%s%s%s",
                count == 0           ? ""
                : t1 || !(count % 2) ? ";"
                                     : ",",
                t1 ? fixed.word : "", t1 ? "," : "", words->words[i]);
        count++;
    }
    if (t1 && count == 0)
        fputs(fixed.word, out);
    const size_t pairs = t1 ? count : (count + 1) / 2;
    if (pairs > CALL_LOG_SELECTIONS)
        return too_many(pairs);
    if (wish->rotate || pairs <= 1)
        return 0;
    escape_printf(stderr,
                  "tally profile: %zu events, and %s%s at a time; --rotate "
                  "takes them in turn\n",
                  count, t1 ? "one beside " : "two", t1 ? fixed.word : "");
    return EXIT_USAGE;
}

/* Writes the pairs that the machine's counters count together. */
static int
write_hardware(const struct profile_wish *wish,
               const struct profile_words *words, FILE *out)
{
    size_t count;

    if (profile_pairs(wish->machine, words, wish->events == NULL, &command_log,
                      out, &count) != 0)
        return EXIT_USAGE;
    if (count > CALL_LOG_SELECTIONS)
        return too_many(count);
    if (wish->rotate || count <= 1)
        return 0;
    escape_printf(
        stderr,
        "tally profile: %s has not the counters for all of %s at once; "
        "--rotate takes them in turn\n",
        wish->machine->name, wish->events);
    return EXIT_USAGE;
}

/* Joins the words by commas; NULL: no memory. */
static char *
join(const struct profile_words *words)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < words->count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", words->words[i]);
    if (command_close_text(out, &text))
        return text;
    free(text);
    return NULL;
}

/* Writes the pairs into a text, which the caller frees. */
static int
make_pairs(const struct profile_wish *wish, const struct profile_words *words,
           char **pairs)
{
    size_t size;
    FILE *const out = open_memstream(pairs, &size);

    if (out == NULL)
        return command_no_memory();
    const int status = wish->hardware ? write_hardware(wish, words, out)
                                      : write_pairs(wish, words, out);
    return command_close_text(out, pairs) ? status : command_no_memory();
}

/* Finds the events that are asked for, or the machine's own. */
static int
find_words(const struct profile_wish *wish, struct profile_words *words)
{
    if (wish->machine != NULL)
        return machine_words(wish, words);
    return wish->events != NULL ? cut_items(wish->events, words)
                                : host_words(words);
}

int
profile_events(const struct profile_wish *wish, struct profile_events *to)
{
    struct profile_events events = {NULL, NULL};
    struct profile_words words = {0};

    int status = find_words(wish, &words);
    if (status == 0) {
        events.list = join(&words);
        status = events.list != NULL ? 0 : command_no_memory();
    }
    if (status == 0)
        status = make_pairs(wish, &words, &events.pairs);
    event_list_free_asked(words.words, words.count);
    free(words.rows);
    if (status == 0 && wish->machine == NULL)
        status = check_here(wish->events, events.pairs);
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
