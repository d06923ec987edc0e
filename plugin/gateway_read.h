/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading counts for a guest. */
#ifndef TALLY_PLUGIN_GATEWAY_READ_H
#define TALLY_PLUGIN_GATEWAY_READ_H

#include "plugin/gateway.h"

/* Registers what answers a thread that asks without a call, see
 * gateway_live.ask. */
void gateway_register_asks(const struct plugin *p, struct qemu_plugin_tb *tb,
                           size_t count);

/* Answers a thread that asks without a call; the data is not used. */
void gateway_asked(unsigned vcpu, void *unused);

/* What the thread has counted of an event so far. */
uint64_t gateway_event_count(unsigned vcpu, const struct event_row *event);

/* Likewise all threads together, those that have ended too; under the lock of
 * the plugin. */
uint64_t gateway_event_count_all(const struct event_row *event);

/* Answers a GATEWAY_READ at the guest's address; nothing happens where the
 * guest has no memory for the request or the answer. */
void gateway_read(unsigned vcpu, uint64_t request);

/* The guest's memory may have changed: addresses that could be reached before
 * are looked at again. */
void gateway_memory_changed(void);

#endif
