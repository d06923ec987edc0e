/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tally-plugin tells the tracer beside it, in place of QEMU: calls and
 * threads, in the order in which threads take turns. A thread may wait for its
 * turn while it makes a system call, and as that returns, so QEMU's own calls
 * to the tracer would come before or behind those waits by chance.
 *
 * The tracer finds the struct in tally-plugin, which is its own module, by
 * name, and fills it in as the first thread begins. All functions are called by
 * the thread that runs, but for `starts`, which its maker's call waits for.
 */
#ifndef TALLY_PLUGIN_TRACER_CALLS_H
#define TALLY_PLUGIN_TRACER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/qemu_api.h"
#include "trace/trace_format.h"

struct tracer_calls {
    void (*calls)(unsigned vcpu, int64_t number,
                  const uint64_t args[TRACE_CALL_WORDS]);
    void (*returns)(unsigned vcpu, int64_t number, int64_t result);
    /* A thread that is not the first is made; `turns`: threads take turns. */
    void (*starts)(unsigned vcpu, bool turns);
    void (*ends)(unsigned vcpu);
};

#define TRACER_CALLS "tally_tracer_calls"
QEMU_PLUGIN_EXPORT extern struct tracer_calls tally_tracer_calls;

#endif
