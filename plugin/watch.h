/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overflows of counters that guest programs open. After each block the watched
 * event is compared with its next overflow; at an overflow the thread gets a
 * signal.
 */
#ifndef TALLY_PLUGIN_WATCH_H
#define TALLY_PLUGIN_WATCH_H

#include "plugin/gateway.h"

/* Starts or stops a watch. The words of the request are in the guest's byte
 * order. To be called under the plugin's lock. */
void watch_answer(unsigned vcpu, struct gateway_watch *request);

/* Stops the watch of a thread, if there is one. */
void watch_stop(unsigned vcpu);

#endif
