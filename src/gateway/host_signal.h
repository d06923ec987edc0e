/* SPDX-License-Identifier: MIT */
#ifndef TALLY_GATEWAY_HOST_SIGNAL_H
#define TALLY_GATEWAY_HOST_SIGNAL_H

#include <stdint.h>

/* Returns the host's number of a signal of this program; 0: none. */
uint64_t gateway_host_signal(int number);

#endif
