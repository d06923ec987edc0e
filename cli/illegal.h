/* SPDX-License-Identifier: MIT */
/*
 * Instructions that QEMU lacks, in words: what a program's file says of them
 * before it runs, and why one ended the program with SIGILL.
 */
#ifndef TALLY_CLI_ILLEGAL_H
#define TALLY_CLI_ILLEGAL_H

#include "isa/insn.h"
#include "report/count_report.h"

/*
 * Explains what the session found. `cpu`: the CPU model that was asked for, or
 * NULL: the pinned one. Returns false if nothing that the session found can
 * have raised the signal.
 */
bool illegal_explain(const struct session_result *result, const struct isa *isa,
                     const char *cpu, struct count_illegal *illegal);

/* Writes what a program lacks that needs x86-64-v4, and what helps: one line.
 */
void illegal_level_text(char *text, size_t size);

/*
 * Checks whether the program's file needs an x86-64 level that no QEMU has.
 * Refuses a dynamic program (TALLY_EARCH), because the program's loader would
 * refuse it too. Warns about a static program if `talks`: no loader reads the
 * note of a static program.
 */
int illegal_check_level(const struct program *program, bool talks);

#endif
