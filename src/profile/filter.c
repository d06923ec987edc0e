/* SPDX-License-Identifier: MIT */
#include "profile/filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "source/program.h"

static const char *const kinds[] = {
    [FILTER_CODE] = "code=",
    [FILTER_DATA] = "data=",
};

/* Reads a number in C's notation; *end is behind it. */
static bool
number(const char *text, char **end, uint64_t *value)
{
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, end, 0);
    return true;
}

/* Reads FIRST-LAST; false: the text is something else. */
static bool
addresses(const char *text, struct code_range *range)
{
    char *end;

    return number(text, &end, &range->first) && *end == '-' &&
           number(end + 1, &end, &range->last) && *end == '\0';
}

/* Reads the kind; returns the text behind it, or NULL if there is none. */
static const char *
read_kind(const char *text, enum filter_kind *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t length = strlen(kinds[i]);
        if (strncmp(text, kinds[i], length) == 0 && text[length] != '\0') {
            *kind = (enum filter_kind)i;
            return text + length;
        }
    }
    return NULL;
}

int
filter_parse(const char *text, const char *program, const struct tally_log *log,
             enum filter_kind *kind, struct code_range *range)
{
    struct code_range r;
    enum filter_kind k = FILTER_CODE;
    const char *what = read_kind(text, &k);

    if (what == NULL)
        return tally_fail(log, TALLY_ESYNTAX,
                          "filter '%s': must be code=FUNCTION, data=OBJECT, or "
                          "one of them with FIRST-LAST, two addresses",
                          text);
    if (!addresses(what, &r)) {
        if (*what >= '0' && *what <= '9')
            return tally_fail(log, TALLY_ESYNTAX,
                              "filter '%s': must be two addresses, as "
                              "%s0x10400-0x104ff",
                              text, kinds[k]);
        const int error =
            (k == FILTER_CODE ? program_function : program_object)(
                program, what, log, &r.first, &r.last);
        if (error != 0)
            return error;
    }
    if (r.last >= NO_LINE)
        return tally_fail(log, TALLY_ERANGE,
                          "filter '%s': addresses are less than 0x%" PRIx64,
                          text, NO_LINE);
    if (r.last < r.first)
        return tally_fail(log, TALLY_ERANGE,
                          "filter '%s': its last address must follow the first",
                          text);
    *kind = k;
    *range = r;
    return 0;
}

bool
filter_data(const char *const *filters, size_t count)
{
    enum filter_kind kind;

    for (size_t i = 0; i < count; i++) {
        if (read_kind(filters[i], &kind) != NULL && kind == FILTER_DATA)
            return true;
    }
    return false;
}

int
filter_check_data(const struct event_row *const *events, size_t count,
                  const struct tally_log *log)
{
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < events[i]->signal_count; s++)
            if (tally_signals[events[i]->signals[s]].data)
                return 0;
    return tally_fail(log, TALLY_ERANGE,
                      "--filter data= restricts nothing: no event that is to "
                      "be counted is one of data accesses");
}

void
filter_totals(struct totals *all, struct totals *inside)
{
    for (size_t s = 0; s < SIGNAL_COUNT; s++) {
        /* The blocks have raised all of a fixed signal, accesses inside the
         * filter too: `inside` holds those a second time. */
        if (!tally_signals[s].fixed)
            all->signal[s] += inside->signal[s];
        if (!tally_signals[s].data)
            inside->signal[s] = all->signal[s];
    }
}

void
filter_restrict(struct totals *all, const struct totals *left)
{
    for (size_t s = 0; s < SIGNAL_COUNT; s++) {
        if (tally_signals[s].data)
            all->signal[s] = left->signal[s];
    }
}

const char *
filter_lacks(const struct event_row *event, bool filtered)
{
    if (filtered || event->signal_count == 0 ||
        event->signals[0] != SIGNAL_DATA_MATCHES)
        return NULL;
    return "no data debug register is set: see --filter data=";
}
