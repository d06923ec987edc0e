/* SPDX-License-Identifier: MIT */
#ifndef TALLY_IRIX_GUEST_H
#define TALLY_IRIX_GUEST_H

#include "irix.h"

/* Returns whether tally emulates the machine that this program runs on, and the
 * machine's name. Only then may irix_guest_ops be called. */
bool irix_guest_hello(char machine[40]);

extern const struct irix_ops irix_guest_ops;

#endif
