/* SPDX-License-Identifier: MIT */
/*
 * Variables of the environment by which QEMU runs a program otherwise: QEMU
 * waits for a debugger, prints, loads plugins, shows another processor. No
 * run of tally gets these variables. Left are those by which QEMU changes what
 * is around the program: QEMU_LD_PREFIX, QEMU_SET_ENV, QEMU_UNSET_ENV,
 * QEMU_STACK_SIZE and QEMU_UNAME. The names are those that linux-user/main.c of
 * QEMU 7.2 to 10 reads.
 */
#ifndef TALLY_SOURCE_SETTING_H
#define TALLY_SOURCE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a variable, "NAME=value", is one of them. */
bool setting_is(const char *variable);

/* Writes the names of those that our environment has, with a comma between two.
 * Returns false if there are none. */
bool setting_list(char *text, size_t size);

#endif
