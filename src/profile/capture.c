/* SPDX-License-Identifier: MIT */
#include "profile/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/text.h"

#define PLM_USER UINT64_C(8)
#define ISM_OPEN (UINT64_C(2) << 24) /* PMC40 */
#define DATA_TLB (UINT64_C(1) << 7)
#define DATA_UMASK 16
#define INST_CACHE (UINT64_C(1) << 13)
#define INST_UMASK 5
#define TRACE_TAKEN (UINT64_C(2) << 8)
#define TRACE_TARGETS (UINT64_C(3) << 10)
#define TRACE_PATHS (UINT64_C(3) << 12)
#define IP_MODE (UINT64_C(4) << 8)
#define IP_DELAY 11

#define INDEX 15u
#define FULL 32u

/* A latency and the code that asks for as many cycles or more. */
struct latency {
    uint32_t cycles, umask;
};

/* Tables 3-21 and 3-16. */
static const struct latency load_latencies[] = {
    {4, 0},   {8, 1},   {16, 2},   {32, 3},   {64, 4},    {128, 5},
    {256, 6}, {512, 7}, {1024, 8}, {2048, 9}, {4096, 10},
};
static const struct latency fetch_latencies[] = {
    {1, 0x40},   {4, 0xff},   {8, 0xfe},    {16, 0xfc},   {32, 0xf8},
    {128, 0xf0}, {256, 0xe0}, {1024, 0xc0}, {4096, 0x80},
};

/* Reads a number of cycles and finds its code. */
static int
find_latency(const char *text, const struct latency *table, size_t count,
             const struct tally_log *log, uint64_t *umask)
{
    char *end;
    const unsigned long wanted = strtoul(text, &end, 10);
    char list[128] = "";

    for (size_t i = 0; i < count; i++) {
        if (*text >= '0' && *text <= '9' && *end == '\0' &&
            wanted == table[i].cycles) {
            *umask = table[i].umask;
            return 0;
        }
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 table[i].cycles);
    }
    return tally_fail(log, TALLY_ERANGE,
                      "the register takes latencies of %s cycles, not '%s'",
                      list, shown(text, strlen(text)).text);
}

int
capture_parse_ear(const char *text, const struct tally_log *log,
                  struct capture_request *r)
{
    static const char load[] = "load-latency=", fetch[] = "fetch-latency=";
    uint64_t umask = 0;
    int error = 0;

    if (r->ear != CAPTURE_NONE)
        return tally_fail(log, TALLY_ERANGE,
                          "one event address register is sampled at a time: "
                          "'%s' is a second --ear",
                          shown(text, strlen(text)).text);
    if (strncmp(text, load, sizeof(load) - 1) == 0) {
        error = find_latency(text + sizeof(load) - 1, load_latencies,
                             sizeof(load_latencies) / sizeof(*load_latencies),
                             log, &umask);
        if (error != 0)
            return error;
        r->ear = CAPTURE_LOAD;
        r->pmc40 = PLM_USER | ISM_OPEN | umask << DATA_UMASK;
    } else if (strncmp(text, fetch, sizeof(fetch) - 1) == 0) {
        error = find_latency(text + sizeof(fetch) - 1, fetch_latencies,
                             sizeof(fetch_latencies) / sizeof(*fetch_latencies),
                             log, &umask);
        if (error != 0)
            return error;
        r->ear = CAPTURE_FETCH;
        r->pmc37 = PLM_USER | INST_CACHE | umask << INST_UMASK;
    } else if (strcmp(text, "dtlb") == 0) {
        r->ear = CAPTURE_DTLB;
        r->pmc40 = PLM_USER | ISM_OPEN | DATA_TLB | UINT64_C(14) << DATA_UMASK;
    } else if (strcmp(text, "itlb") == 0) {
        r->ear = CAPTURE_ITLB;
        r->pmc37 = PLM_USER | UINT64_C(7) << INST_UMASK;
    } else if (strcmp(text, "alat") == 0) {
        error = tally_fail(log, TALLY_EIDLE,
                           "the ALAT is of Itanium's own speculative loads, "
                           "which programs of other processors do not have");
    } else {
        error = tally_fail(log, TALLY_ESYNTAX,
                           "--ear takes load-latency=CYCLES, dtlb, "
                           "fetch-latency=CYCLES or itlb, not '%s'",
                           shown(text, strlen(text)).text);
    }
    return error;
}

/* Reads a number of `least` to `most`. */
static bool
parse_small(const char *text, unsigned long least, unsigned long most,
            unsigned long *value)
{
    char *end;

    *value = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *value >= least &&
           *value <= most;
}

/* Refuses a second option for the same registers. */
static int
second(const char *option, const char *text, const struct tally_log *log)
{
    return tally_fail(log, TALLY_ERANGE,
                      "the trace buffer is programmed once: '%s' is a second "
                      "%s",
                      shown(text, strlen(text)).text, option);
}

int
capture_parse_trace(const char *text, const struct tally_log *log,
                    struct capture_request *r)
{
    unsigned long n;

    if (r->traced != 0)
        return second("--etb", text, log);
    if (!parse_small(text, 1, CAPTURE_ENTRIES, &n))
        return tally_fail(log, TALLY_ERANGE,
                          "--etb takes 1 to 16 entries of the trace buffer, "
                          "not '%s'",
                          shown(text, strlen(text)).text);
    r->traced = (uint32_t)n;
    r->pmc39 = PLM_USER | TRACE_TAKEN | TRACE_TARGETS | TRACE_PATHS;
    return 0;
}

int
capture_parse_retired(const char *text, const struct tally_log *log,
                      struct capture_request *r)
{
    unsigned long n;

    if (r->retired)
        return second("--ip-ear", text, log);
    if (!parse_small(text, 0, 255, &n))
        return tally_fail(log, TALLY_ERANGE,
                          "--ip-ear takes a delay of 0 to 255 cycles, not "
                          "'%s'",
                          shown(text, strlen(text)).text);
    r->retired = true;
    r->delay = (uint8_t)n;
    r->pmc42 = PLM_USER | IP_MODE | (uint64_t)n << IP_DELAY;
    return 0;
}

int
capture_complete(struct capture_request *r, uint64_t period,
                 const struct tally_log *log)
{
    if (r->retired && r->traced != 0)
        return tally_fail(log, TALLY_ERANGE,
                          "--ip-ear and --etb use the same registers, PMD48 to "
                          "63; ask for one");
    if (period != 0 && !capture_wanted(r))
        return tally_fail(log, TALLY_ERANGE,
                          "--period is of --ear, --etb and --ip-ear");
    r->period = period != 0              ? period
                : r->ear != CAPTURE_NONE ? CAPTURE_PERIOD
                : r->retired             ? CAPTURE_RETIRED
                                         : 0;
    return 0;
}

int
capture_check_machine(const struct capture_request *r,
                      const struct machine_row *machine,
                      const struct tally_log *log)
{
    if (!capture_wanted(r) || machine->family == FAMILY_MONTECITO)
        return 0;
    return tally_fail(log, TALLY_ERANGE,
                      "%s has no event address registers and no trace buffer; "
                      "-m montecito has",
                      machine->name);
}

const char *
capture_event(const struct capture_request *r)
{
    switch (r->ear) {
    case CAPTURE_LOAD:
    case CAPTURE_DTLB:
        return "DATA_EAR_EVENTS";
    case CAPTURE_FETCH:
    case CAPTURE_ITLB:
        return "L1I_EAR_EVENTS";
    }
    return r->traced != 0 ? "ETB_EVENT"
           : r->retired   ? "IA64_INST_RETIRED"
                          : NULL;
}

const char *
capture_option(const struct capture_request *r)
{
    return r->ear != CAPTURE_NONE ? "--ear"
           : r->traced != 0       ? "--etb"
           : r->retired           ? "--ip-ear"
                                  : NULL;
}

const char *
capture_lacks(const struct event_row *event, const struct capture_request *r)
{
    const bool data = r->ear == CAPTURE_LOAD || r->ear == CAPTURE_DTLB;
    const bool inst = r->ear == CAPTURE_FETCH || r->ear == CAPTURE_ITLB;

    if (event->signal_count == 0)
        return NULL;
    if (event->signals[0] == SIGNAL_DATA_CAPTURES && !data)
        return "the data event address register captures nothing: see --ear";
    if (event->signals[0] == SIGNAL_FETCH_CAPTURES && !inst)
        return "the instruction event address register captures nothing: see "
               "--ear";
    if (event->signals[0] == SIGNAL_DATA_CAPTURE_LATENCY &&
        r->ear != CAPTURE_LOAD && r->ear != CAPTURE_FETCH)
        return "no event address register measures latencies: see --ear "
               "load-latency and --ear fetch-latency";
    if (event->signals[0] == SIGNAL_TRACE_ENTRIES && r->traced == 0)
        return "the trace buffer captures nothing: see --etb";
    return NULL;
}

/* Returns the cycles that a code asks for. */
static uint32_t
latency_of(const struct latency *table, size_t count, uint64_t umask)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].umask == umask)
            return table[i].cycles;
    return 0;
}

void
capture_text(const struct capture_request *r, char *text, size_t size)
{
    const size_t loads = sizeof(load_latencies) / sizeof(*load_latencies);
    const size_t fetches = sizeof(fetch_latencies) / sizeof(*fetch_latencies);

    switch (r->ear) {
    case CAPTURE_LOAD:
        snprintf(
            text, size, "loads of %u cycles or more",
            latency_of(load_latencies, loads, r->pmc40 >> DATA_UMASK & 15));
        return;
    case CAPTURE_DTLB:
        snprintf(text, size, "accesses that missed the data TLB");
        return;
    case CAPTURE_FETCH:
        snprintf(
            text, size, "instruction fetches of %u cycles or more",
            latency_of(fetch_latencies, fetches, r->pmc37 >> INST_UMASK & 255));
        return;
    case CAPTURE_ITLB:
        snprintf(text, size, "fetches that missed the instruction TLB");
        return;
    }
    snprintf(text, size, "%s",
             r->retired ? "instructions that retired" : "taken branches");
}

size_t
capture_entries(const struct capture_request *request,
                const struct capture_record *r, size_t most,
                struct capture_entry entries[CAPTURE_ENTRIES])
{
    const unsigned next = r->index & INDEX;
    const size_t held = r->index & FULL ? CAPTURE_ENTRIES : next;
    const size_t count = held < most ? held : most;

    for (size_t i = 0; i < count; i++) {
        const unsigned k =
            (unsigned)(next + CAPTURE_ENTRIES - count + i) & INDEX;
        const unsigned nibble = (k & 7) * 2 + (k >> 3);
        const uint64_t extension = r->extension >> 4 * nibble & 15;
        entries[i] = (struct capture_entry){
            .number = 48 + k,
            .value = r->entries[k],
        };
        struct capture_entry *const e = &entries[i];
        if (request->retired) { /* tables 3-31 and 3-33 */
            e->early = (extension & 1) != 0;
            e->cycles = (unsigned)((extension >> 2 & 3) << 4 | e->value >> 60);
            e->address =
                (e->value >> 8 << 12) | (e->early ? 0 : (e->value & 0xff) << 4);
        } else { /* tables 3-27 and 3-29 */
            e->source = (e->value & 1) != 0;
            e->mispredicted = e->source && (e->value & 2) != 0;
            e->slot = e->source ? (unsigned)(e->value >> 2 & 3) : 0;
            e->address = (e->value & ~UINT64_C(15)) +
                         (e->source ? (extension & 1) << 4 : 0);
        }
    }
    return count;
}

const char *
capture_level_name(unsigned level)
{
    static const char *const names[CAPTURE_LEVELS] = {
        "", "L2", "L3", "memory", "L2 TLB", "page walk",
    };

    return level < CAPTURE_LEVELS ? names[level] : "";
}
