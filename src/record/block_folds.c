/* SPDX-License-Identifier: MIT */
#include "record/block_folds.h"

#include <stdbool.h>

static bool
is_same(const struct point_block *a, const struct point_block *b)
{
    return a->place.address == b->place.address &&
           a->instructions == b->instructions && a->count == b->count;
}

/* Returns how often the first `length` of the runs come, one time directly
 * after the other. */
static uint64_t
times_of(const struct point_block *runs, size_t count, size_t length)
{
    size_t same = 0;

    while (length + same < count && is_same(&runs[same], &runs[length + same]))
        same++;
    return 1 + same / length;
}

size_t
block_folds(const struct point_block *runs, size_t count, size_t rows,
            struct block_fold *folds)
{
    size_t made = 0, shown = 0;

    for (size_t i = 0; i < count && shown < rows;) {
        struct block_fold fold = {i, 1, 1};
        /* A block that repeats itself is one run already. */
        for (size_t n = 2; n <= BLOCK_FOLD_LONGEST && i + n <= count; n++) {
            const uint64_t times = times_of(runs + i, count - i, n);
            if (times > 1) {
                fold = (struct block_fold){i, n, times};
                break;
            }
        }
        folds[made++] = fold;
        shown += fold.length;
        i += fold.length * fold.times;
    }
    return made;
}
