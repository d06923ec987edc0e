/* SPDX-License-Identifier: MIT */
/*
 * A set of events of the emulated machine that this program runs on, as struct
 * counter_ops wants it.
 *
 * Counts are exact and never share a counter. An event whose value the plugin
 * keeps current in memory is a few loads, on the thread that opened the set for
 * itself; every other rings.
 */
#ifndef TALLY_GATEWAY_SET_H
#define TALLY_GATEWAY_SET_H

#include "base/error.h"
#include "counter/counter.h"
#include "gateway/protocol.h"

struct gateway_set;

struct gateway_set_options {
    enum gateway_scope scope;
    unsigned strand; /* of GATEWAY_STRAND */
    /* Of GATEWAY_THREAD: the first event overflows after each so many, and the
     * signal comes, if there is one. */
    uint64_t period;
    int signal;
    struct tally_log log;
};

int
gateway_set_create(const struct gateway_set_options *options,
                   const struct gateway_hello *hello, struct gateway_set **set);

/* All events of the list, or none and the error. TALLY_ERULE while the set
 * counts. */
int gateway_set_add(struct gateway_set *set, const char *events);

size_t gateway_set_count(const struct gateway_set *set);
const char *gateway_set_name(const struct gateway_set *set, size_t index);

/* Where the value of one event is: *at - *base, if it counts alone in one
 * place; else false. */
bool gateway_set_live(const struct gateway_set *set, size_t index,
                      const uint64_t **at, uint64_t *base);

/* What asks for all events of the set, and then for instructions, by
 * gateway_ask(); and where they are then, from the plugin's zero, in the
 * guest's order. Until events are added. */
struct gateway_read *
gateway_set_request(struct gateway_set *set, const uint64_t **values);

/* Hands the overflows since the last call to `take`: where, when, how many were
 * lost before. TALLY_ERULE without a period. */
int gateway_set_overflows(struct gateway_set *set,
                          void (*take)(void *user, uint64_t ip,
                                       uint64_t time_ns, uint64_t lost),
                          void *user);

extern const struct counter_ops gateway_set_ops;

#endif
