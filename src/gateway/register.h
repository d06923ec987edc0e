/* SPDX-License-Identifier: MIT */
/*
 * Registers of the strand that the caller runs on, of an emulated machine.
 * Neither allocates nor locks: a signal handler may.
 */
#ifndef TALLY_GATEWAY_REGISTER_H
#define TALLY_GATEWAY_REGISTER_H

#include "gateway/protocol.h"

/* The request's status. What is chosen by then counts. */
int64_t gateway_register(const struct gateway_page *page,
                         struct gateway_register *request);

/* Rings until the page's epoch is there. */
void gateway_await(const struct gateway_page *page, uint64_t epoch);

#endif
