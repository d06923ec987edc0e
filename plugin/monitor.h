/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The performance monitor of the emulated machine, for a guest that reads and
 * writes its registers: src/pmu driven by what the model has counted when
 * somebody looks. A strand's monitor is that of the guest thread that runs
 * there; those of memory controllers and hubs are in plugin/monitor_shared.h.
 */
#ifndef TALLY_PLUGIN_MONITOR_H
#define TALLY_PLUGIN_MONITOR_H

#include "gateway/protocol.h"
#include "plugin/plugin.h"

/* Answers, in the guest's order of bytes; under the lock of the plugin. */
void monitor_answer(unsigned vcpu, struct gateway_register *request);

/* A thread ends; its machine is no more, in a child of fork. */
void monitor_thread_ends(unsigned vcpu);
void monitor_forget(void);

#endif
