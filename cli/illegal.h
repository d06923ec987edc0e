/* SPDX-License-Identifier: MIT */
/*
 * Why an instruction ended a program with SIGILL, in words: which it was, what
 * brought it, and what helps.
 */
#ifndef TALLY_CLI_ILLEGAL_H
#define TALLY_CLI_ILLEGAL_H

#include "isa/insn.h"
#include "report/count_report.h"

/*
 * Explains what the session found; `cpu` is the CPU model that was asked for,
 * or NULL: the pinned one. False if the session found nothing that can have
 * raised the signal.
 */
bool illegal_explain(const struct session_result *result, enum isa isa,
                     const char *cpu, struct count_illegal *illegal);

#endif
