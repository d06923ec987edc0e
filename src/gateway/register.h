/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes registers of the emulated machine's strand that the caller
 * runs on. The functions neither allocate nor lock: a signal handler may call
 * them.
 */
#ifndef TALLY_GATEWAY_REGISTER_H
#define TALLY_GATEWAY_REGISTER_H

#include "gateway/protocol.h"

/* Makes the request and returns its status. Events that the request chose count
 * from then on. */
int64_t gateway_register(const struct gateway_page *page,
                         struct gateway_register *request);

/* Rings until the page has reached the epoch. */
void gateway_await(const struct gateway_page *page, uint64_t epoch);

#endif
