/* SPDX-License-Identifier: MIT */
/* Values OLD=NEW of options: where sources or images are that moved. */
#ifndef TALLY_CLI_SOURCE_MOVES_H
#define TALLY_CLI_SOURCE_MOVES_H

#include "record/source_text.h"

#define SOURCE_MOVES 32

/* All zero has no moves. */
struct source_moves {
    struct source_move rows[SOURCE_MOVES];
    char *olds[SOURCE_MOVES]; /* owned, what rows[].from points at */
    size_t count;
};

/* Adds the value of an option (its name without dashes), which must outlive the
 * moves. 0, or an exit status after saying why, for the command of this name.
 */
int source_moves_add(struct source_moves *moves, const char *command,
                     const char *option, const char *value);
void source_moves_finish(struct source_moves *moves);

#endif
