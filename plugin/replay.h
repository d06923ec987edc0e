/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program that replays a trace finds in the plugin, by name: it has
 * one host thread, on which it makes the calls of all threads of the trace.
 */
#ifndef TALLY_PLUGIN_REPLAY_H
#define TALLY_PLUGIN_REPLAY_H

#include "plugin/qemu_api.h"

/* Called between two blocks: the thread, which lives, has the turn from now on,
 * in place of the one that had it, which may have ended. At first 0 has it. */
#define REPLAY_TURN "tally_replay_turn"
typedef void replay_turn(unsigned vcpu);
QEMU_PLUGIN_EXPORT replay_turn tally_replay_turn;

#endif
