/* SPDX-License-Identifier: MIT */
#include "source/moves.h"

bool
moves_fit(uint64_t every, uint64_t gap)
{
    if (gap == 0 || gap > MOVES_GAP || every > MOVES_GAP)
        return false;
    return every == 0 || gap <= (MOVES_GROWTH - 1) * every;
}
