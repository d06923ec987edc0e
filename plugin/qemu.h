/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between versions of QEMU's plugin interface, in one place; the
 * rest of the plugin calls qemu_api.h alone, where all versions agree.
 *
 *   version  QEMU  what is other
 *   1        7.2   translated code may add to a number of the plugin's
 *   2        9.0   it may not; a plugin for version 1 is refused; a thread
 *                  begins on itself, not on the thread that makes it;
 *                  execveat() is known; the guest's SIGABRT and real-time
 *                  signals are other signals of the host
 *   3        9.1   qemu_plugin_insn_data() copies
 *   4        10.0  a process that a signal ends calls what is registered for
 *                  its end; when that came was not looked into
 */
#ifndef TALLY_PLUGIN_QEMU_H
#define TALLY_PLUGIN_QEMU_H

#include "plugin/qemu_api.h"

#define QEMU_INSN_BYTES 16 /* the longest instruction, of x86-64 */

/* The version that QEMU looks at when it loads the plugin: the newest that both
 * know. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;

/* To be called first, with what qemu_plugin_install() is given. Returns NULL,
 * or why this QEMU cannot be used. */
const char *qemu_begin(const qemu_info_t *info);

/* Returns the bytes of an instruction, of at most QEMU_INSN_BYTES, while its
 * block is translated: QEMU's, or in `room`. */
const uint8_t *qemu_insn_bytes(const struct qemu_plugin_insn *insn,
                               uint8_t room[QEMU_INSN_BYTES]);

/* Returns whether qemu_register_add() may be called. */
bool qemu_can_add(void);

/* Returns whether the callback of a thread that begins runs on that thread, and
 * not on its maker. */
bool qemu_begins_late(void);

/* Returns whether QEMU knows the system call execveat. */
bool qemu_has_execveat(void);

/* Returns the host's signal for which this QEMU gives the guest a signal, that
 * for which QEMU 7.2 does being `number`; 0: there is none. */
int qemu_host_signal(int number);

/* Gives the guest thread that runs on the calling thread a signal, `number` as
 * in qemu_host_signal(). */
void qemu_signal_thread(int number);

/* Has the translated code of a block add to a number, which only one thread
 * writes. */
void
qemu_register_add(struct qemu_plugin_tb *tb, uint64_t *number, uint64_t add);

#endif
