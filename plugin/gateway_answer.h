/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to guest programs that count themselves: src/gateway/protocol.h. */
#ifndef TALLY_PLUGIN_GATEWAY_ANSWER_H
#define TALLY_PLUGIN_GATEWAY_ANSWER_H

#include <stdint.h>

/* Answers a system call of the guest if it is a request. Called for every
 * system call. */
void gateway_syscall(unsigned vcpu, int64_t number, uint64_t operation,
                     uint64_t request);

#endif
