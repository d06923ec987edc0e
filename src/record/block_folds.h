/* SPDX-License-Identifier: MIT */
/* The blocks that ran last, where loops are folded: blocks that ran several
 * times in the same order are one fold. */
#ifndef TALLY_RECORD_BLOCK_FOLDS_H
#define TALLY_RECORD_BLOCK_FOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "source/point.h"

/* The longest loop that is found, in runs of blocks. */
#define BLOCK_FOLD_LONGEST 64u

/* The runs from `first` on, `length` of them, as often as `times`. */
struct block_fold {
    size_t first, length;
    uint64_t times;
};

/* Folds runs of blocks, the last one first, until the folds show `rows` runs or
 * more; `folds` has room for `rows`. Returns the number of folds. */
size_t block_folds(const struct point_block *runs, size_t count, size_t rows,
                   struct block_fold *folds);

#endif
