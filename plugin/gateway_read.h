/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads counts for a guest. */
#ifndef TALLY_PLUGIN_GATEWAY_READ_H
#define TALLY_PLUGIN_GATEWAY_READ_H

#include "plugin/gateway.h"

/* Registers gateway_on_lookup() for the instructions of a block that look up
 * counts, see gateway_live.lookup. */
void gateway_register_lookups(const struct plugin *p, struct qemu_plugin_tb *tb,
                              size_t count);

/* Answers a lookup of a thread, which makes no system call. */
void gateway_on_lookup(unsigned vcpu, void *unused);

/* Returns what the thread has counted of an event so far. */
uint64_t gateway_event_count(unsigned vcpu, const struct event_row *event);

/* Returns what all threads have counted of an event so far, also those that
 * have ended. The plugin's lock is held. */
uint64_t gateway_event_count_all(const struct event_row *event);

/* Answers a GATEWAY_READ at the guest's address. Does nothing if the guest has
 * no memory for the request or the answer. */
void gateway_read(unsigned vcpu, uint64_t request);

/* Notes that the guest's memory may have changed: addresses that were there
 * before are checked again. */
void gateway_memory_changed(void);

#endif
