/* SPDX-License-Identifier: MIT */
#include "table/level.h"

#include "table/signals.h"
#include "table/text.h"

const char *const level_event_names[LEVEL_EVENTS] = {
    "loads",
    "stores",
    "load-misses",
    "store-misses",
    "coherence-load-misses",
    "coherence-store-misses",
    "false-sharing-load-misses",
    "false-sharing-store-misses",
    "first-touch-load-misses",
    "first-touch-store-misses",
    "capacity-load-misses",
    "capacity-store-misses",
    "conflict-load-misses",
    "conflict-store-misses",
};

/* The number of the event that counts a level's misses of loads. */
#define LOAD_MISSES 2u

static const char *const none[] = {NULL};

#define EVENT(is, text, ...)                                              \
    {                                                                     \
        .name = is, .aliases = none, .unit = "cpu", .brief = text,        \
        .fidelity = FIDELITY_MODELLED, .related = none, .excludes = none, \
        .instructions = none, .signals = (const uint16_t[]){__VA_ARGS__}, \
        .signal_count =                                                   \
            sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t),   \
    }

#define CLASS(level, word, class, what)                                    \
    EVENT(level "-" word "-load-misses", level " load misses " what,       \
          SIGNAL_LEVEL_LOAD_##class##_MISSES),                             \
        EVENT(level "-" word "-store-misses", level " store misses " what, \
              SIGNAL_LEVEL_STORE_##class##_MISSES)

/* The events of a level; `loads` and `stores`: the signals of its misses. Loads
 * that pass the L1D by are counted apart. */
#define EVENTS(level, loads, stores)                                         \
    {                                                                        \
        EVENT(level "-loads", "data loads", SIGNAL_LOADS, SIGNAL_REP_LOADS), \
            EVENT(level "-stores", "data stores", SIGNAL_STORES,             \
                  SIGNAL_REP_STORES),                                        \
            {.name = level "-load-misses",                                   \
             .aliases = none,                                                \
             .unit = "cpu",                                                  \
             .brief = level " misses of loads",                              \
             .related = none,                                                \
             .excludes = none,                                               \
             .instructions = none,                                           \
             .fidelity = FIDELITY_MODELLED,                                  \
             .signals = loads,                                               \
             .signal_count = sizeof(loads) / sizeof(uint16_t)},              \
            {.name = level "-store-misses",                                  \
             .aliases = none,                                                \
             .unit = "cpu",                                                  \
             .brief = level " misses of stores",                             \
             .related = none,                                                \
             .excludes = none,                                               \
             .instructions = none,                                           \
             .fidelity = FIDELITY_MODELLED,                                  \
             .signals = stores,                                              \
             .signal_count = sizeof(stores) / sizeof(uint16_t)},             \
            CLASS(level, "coherence", COHERENCE,                             \
                  "because another core has taken the line"),                \
            CLASS(level, "false-sharing", FALSE,                             \
                  "on bytes that nobody has stored to since another core "   \
                  "has taken the line"),                                     \
            CLASS(level, "first-touch", FIRST,                               \
                  "on lines that the cache never had"),                      \
            CLASS(level, "capacity", CAPACITY,                               \
                  "that a fully associative cache has too"),                 \
            CLASS(level, "conflict", CONFLICT,                               \
                  "that a fully associative cache would not have"),          \
    }

static const uint16_t l1d_loads[] = {SIGNAL_L1D_LOAD_MISSES};
static const uint16_t l1d_stores[] = {SIGNAL_L1D_STORE_MISSES};
static const uint16_t l2_loads[] = {SIGNAL_L2_LOAD_MISSES,
                                    SIGNAL_L2_FLOAT_MISSES};
static const uint16_t l2_stores[] = {SIGNAL_L2_STORE_MISSES};
static const uint16_t l3_loads[] = {SIGNAL_L3_LOAD_MISSES,
                                    SIGNAL_L3_FLOAT_MISSES};
static const uint16_t l3_stores[] = {SIGNAL_L3_STORE_MISSES};

#define MISSES_BEHIND_L3(level)                                             \
    static const uint16_t level##_loads[] = {SIGNAL_##level##_LOAD_MISSES}, \
                          level##_stores[] = {SIGNAL_##level##_STORE_MISSES};
EACH_LEVEL(MISSES_BEHIND_L3)

#define EVENTS_BEHIND_L3(level) \
    [CACHE_##level] = EVENTS(#level, level##_loads, level##_stores),

static const struct event_row events[CACHE_COUNT][LEVEL_EVENTS] = {
    [CACHE_L1D] = EVENTS("L1D", l1d_loads, l1d_stores),
    [CACHE_L2] = EVENTS("L2", l2_loads, l2_stores),
    [CACHE_L3] = EVENTS("L3", l3_loads, l3_stores),
    EACH_LEVEL(EVENTS_BEHIND_L3)};

/* Returns whether the caches have data. */
static bool
has_data(enum cache_id level)
{
    return level != CACHE_L1I && level != CACHE_L2I;
}

enum cache_id
level_find(const char *name)
{
    for (enum cache_id i = 0; i < CACHE_COUNT; i++) {
        if (has_data(i) && same_name(tally_caches[i].name, name))
            return i;
    }
    return CACHE_COUNT;
}

const char *
level_title(enum cache_id level)
{
    return level == CACHE_L1D ? "L1 data cache" : tally_caches[level].label;
}

const struct event_row *
level_event(enum cache_id level, unsigned number)
{
    return &events[level][number];
}

const char *
level_lacks(enum cache_id level, const uint64_t *params)
{
    return event_lacks(&events[level][LOAD_MISSES], params);
}
