/* SPDX-License-Identifier: MIT */
/* The agent's number in the name space of Performance Co-Pilot, of those that
 * no agent of its own has. */
#define TALLY 391
