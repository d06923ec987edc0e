/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overflows of the counters that guest programs open: an event is looked at as
 * each block is counted, and the thread gets a signal.
 */
#ifndef TALLY_PLUGIN_WATCH_H
#define TALLY_PLUGIN_WATCH_H

#include "plugin/gateway.h"

/* Starts or stops; in the guest's order of bytes; under the plugin's lock. */
void watch_answer(unsigned vcpu, struct gateway_watch *request);

void watch_stop(unsigned vcpu);

#endif
