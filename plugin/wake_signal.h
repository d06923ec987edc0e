/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal that does nothing but end the host's call that a thread sleeps in:
 * the call gives -EINTR. It is one of the two that the C library keeps for
 * itself, which stand for no signal of the guest's in QEMU.
 */
#ifndef TALLY_PLUGIN_WAKE_SIGNAL_H
#define TALLY_PLUGIN_WAKE_SIGNAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Has the process handle the signal. False: the kernel does not let it. */
bool wake_signal_handle(void);

/* Sends the signal to a thread of the process, by the host's number. */
void wake_signal_send(pid_t thread);

#endif
