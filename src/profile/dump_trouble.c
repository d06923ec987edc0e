/* SPDX-License-Identifier: MIT */
#include "profile/dump.h"

struct trouble_row {
    const char *name;
    const char *one, *several;
    bool skips;
};

static const struct trouble_row rows[DUMP_TROUBLES] = {
    [DUMP_TEXT] = {"text", "line outside dumps is no record",
                   "lines outside dumps are no records", true},
    [DUMP_DAMAGED] = {"damaged", "line inside a dump is no whole record",
                      "lines inside dumps are no whole records", true},
    [DUMP_CUT] = {"cut", "file ends inside a record",
                  "files end inside a record", true},
    [DUMP_LONG] = {"long", "line is too long for a record",
                   "lines are too long for records", true},
    [DUMP_PREFIXED] = {"prefixed", "record has other text before it",
                       "records have other text before them", false},
    [DUMP_OUTSIDE] = {"outside", "record is outside any dump, and used",
                      "records are outside any dump, and used", false},
    [DUMP_OTHER_VERSION] = {"other_version",
                            "dump is of another version than " DUMP_VERSION,
                            "dumps are of other versions than " DUMP_VERSION,
                            true},
    [DUMP_INSIDE] = {"inside", "dump begins inside another",
                     "dumps begin inside others", false},
    [DUMP_UNENDED] = {"unended", "dump has no end", "dumps have no end", false},
    [DUMP_UNSTARTED] = {"unstarted", "dump ends that did not begin",
                        "dumps end that did not begin", false},
    [DUMP_OTHER_CALL] = {"other_call", "call is neither start nor update",
                         "calls are neither start nor update", true},
    [DUMP_OTHER_MACHINE] = {"other_machine",
                            "record is of another machine than the summary",
                            "records are of another machine than the summary",
                            true},
    [DUMP_NO_START] = {"no_start", "update has no start before it",
                       "updates have no start before them", true},
    [DUMP_NO_UPDATE] = {"no_update", "start has no update behind it",
                        "starts have no update behind them", true},
    [DUMP_BACKWARDS] = {"backwards", "interval ends before it begins",
                        "intervals end before they begin", true},
    [DUMP_COUNT_BACK] = {"count_back", "count is less than the one before it",
                         "counts are less than those before them", true},
    [DUMP_WORDS_DIFFER] = {"words_differ",
                           "update has fewer user words than those before it",
                           "updates have fewer user words than those before "
                           "them",
                           true},
    [DUMP_GAP] = {"gap", "interval has records missing inside it",
                  "intervals have records missing inside them", true},
    [DUMP_OVERRUN] = {"overrun",
                      "record stands behind an overrun of the buffer: a "
                      "larger profiler_log_table_size keeps all",
                      "records stand behind an overrun of the buffer: a "
                      "larger profiler_log_table_size keeps all",
                      false},
    [DUMP_OVERFLOWED] = {"overflowed",
                         "count overflowed its counter: shorter intervals help",
                         "counts overflowed their counters: shorter intervals "
                         "help",
                         true},
    [DUMP_UNKNOWN_EVENT] = {"unknown_event",
                            "event code is none of the machine's",
                            "event codes are none of the machine's", false},
    [DUMP_CROWDED] = {"crowded", "interval is of one thread or region too many",
                      "intervals are of more threads or regions than can be "
                      "told apart",
                      true},
};

void
dump_trouble_add(struct dump_troubles *troubles, enum dump_trouble what,
                 const char *file, uint64_t line)
{
    struct dump_place *place = &troubles->places[what];

    if (place->count++ == 0) {
        place->file = file;
        place->line = line;
    }
}

const char *
dump_trouble_name(enum dump_trouble what)
{
    return rows[what].name;
}

const char *
dump_trouble_text(enum dump_trouble what, bool several)
{
    return several ? rows[what].several : rows[what].one;
}

bool
dump_trouble_skips(enum dump_trouble what)
{
    return rows[what].skips;
}
