/* SPDX-License-Identifier: MIT */
/*
 * A set of events of the emulated machine that this program runs on; its
 * operations are a struct counter_ops.
 *
 * Events never share a counter. If the plugin keeps an event's value current in
 * memory, the thread that opened the set for itself reads the event with a few
 * loads; every other reading rings.
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
    /* Of GATEWAY_THREAD: the first event overflows each time it has risen by
     * `period`, and the thread gets `signal`; 0: none. */
    uint64_t period;
    int signal;
    struct tally_log log;
};

int
gateway_set_create(const struct gateway_set_options *options,
                   const struct gateway_hello *hello, struct gateway_set **set);

/* Adds the events of a list. 0; or an error, and none is added. TALLY_ERULE
 * while the set counts. */
int gateway_set_add(struct gateway_set *set, const char *events);

size_t gateway_set_count(const struct gateway_set *set);
const char *gateway_set_name(const struct gateway_set *set, size_t index);

/* Finds the live value of an event: the count is the value at *at less *base.
 * False: the event is no single live value. */
bool gateway_set_live(const struct gateway_set *set, size_t index,
                      const uint64_t **at, uint64_t *base);

/* Returns the request for gateway_lookup() that fills in *values with all
 * events of the set and then instructions, counted from the plugin's zero, in
 * the guest's byte order. Valid until events are added. */
struct gateway_read *
gateway_set_request(struct gateway_set *set, const uint64_t **values);

/* Hands the overflows since the last call to `take`: address, time, and how
 * many were lost before. Returns 0, or TALLY_ERULE without a period. */
int gateway_set_overflows(struct gateway_set *set,
                          void (*take)(void *user, uint64_t ip,
                                       uint64_t time_ns, uint64_t lost),
                          void *user);

extern const struct counter_ops gateway_set_ops;

#endif
