/* SPDX-License-Identifier: MIT */
#include "cli/source_moves.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "table/text.h"

int
source_moves_add(struct source_moves *moves, const char *command,
                 const char *option, const char *value)
{
    const char *const sign = strchr(value, '=');

    if (sign == NULL || sign == value || moves->count == SOURCE_MOVES) {
        escape_printf(stderr, "tally %s: --%s %s '%s'; see tally %s --help\n",
                      command, option,
                      moves->count == SOURCE_MOVES
                          ? "is given too often, the last is"
                          : "takes OLD=NEW, as /build/src=src, not",
                      shown(value, strlen(value)).text, command);
        return EXIT_USAGE;
    }
    moves->olds[moves->count] = strndup(value, (size_t)(sign - value));
    if (moves->olds[moves->count] == NULL)
        return command_no_memory();
    moves->rows[moves->count].from = moves->olds[moves->count];
    moves->rows[moves->count].to = sign + 1;
    moves->count++;
    return 0;
}

void
source_moves_finish(struct source_moves *moves)
{
    for (size_t i = 0; i < moves->count; i++)
        free(moves->olds[i]);
    moves->count = 0;
}
