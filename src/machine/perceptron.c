/* SPDX-License-Identifier: MIT */
#include "machine/perceptron.h"

#include <stdlib.h>
#include <string.h>

#define WEIGHT_MOST 127
#define WEIGHT_LEAST (-127)

struct perceptrons {
    int8_t *weights; /* [mask + 1][history + 1], the branch's own last */
    uint64_t mask;
    unsigned row_bits, history;
    int threshold; /* what the sum is to be beyond for the weights to rest */
    /* The history as 1 and -1, the newest first, from `newest` on. It moves
     * down, and back up when it meets the beginning. */
    unsigned newest;
    int8_t directions[4 * (PERCEPTRON_HISTORY_MOST + 1)];
};

struct perceptrons *
perceptrons_create(uint64_t counters, unsigned history)
{
    const uint64_t rows = counters / 4 / (history + 1);
    struct perceptrons *const p = calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    while ((uint64_t)2 << p->row_bits <= rows)
        p->row_bits++;
    p->mask = ((uint64_t)1 << p->row_bits) - 1;
    p->history = history;
    /* The paper's best threshold: 1.93 for each branch of the history, and 14.
     */
    p->threshold = (int)(193 * history / 100 + 14);
    p->weights = malloc((p->mask + 1) * (history + 1));
    if (p->weights == NULL) {
        free(p);
        return NULL;
    }
    perceptrons_reset(p);
    return p;
}

void
perceptrons_destroy(struct perceptrons *p)
{
    if (p != NULL)
        free(p->weights);
    free(p);
}

void
perceptrons_reset(struct perceptrons *p)
{
    memset(p->weights, 0, (p->mask + 1) * (p->history + 1));
    memset(p->directions, -1, sizeof(p->directions));
    p->newest = sizeof(p->directions) - p->history;
}

static void
add_history(struct perceptrons *p, int8_t direction)
{
    if (p->history == 0)
        return;
    if (p->newest == 0) {
        p->newest = (unsigned)sizeof(p->directions) - p->history + 1;
        memcpy(&p->directions[p->newest], p->directions, p->history - 1);
    }
    p->directions[--p->newest] = direction;
}

void
perceptrons_look(const struct perceptrons *p, uint64_t branch,
                 struct perceptrons_view *view)
{
    const uint64_t row = (branch ^ branch >> p->row_bits) & p->mask;
    const int8_t *const weights = &p->weights[row * (p->history + 1)];

    *view = (struct perceptrons_view){row, weights[p->history], p->threshold};
    for (unsigned i = 0; i < p->history; i++)
        view->sum += weights[i] * p->directions[p->newest + i];
}

bool
perceptrons_step(struct perceptrons *p, uint64_t branch, bool taken)
{
    const uint64_t row = (branch ^ branch >> p->row_bits) & p->mask;
    const unsigned history = p->history;
    int8_t *const weights = &p->weights[row * (history + 1)];
    const int8_t *const directions = &p->directions[p->newest];
    const int8_t direction = taken ? 1 : -1;
    int sum = weights[history];

    for (unsigned i = 0; i < history; i++)
        sum += weights[i] * directions[i];
    const bool wrong = taken != (sum >= 0);
    if (wrong || (sum <= p->threshold && sum >= -p->threshold)) {
        for (unsigned i = 0; i <= history; i++) {
            const int step =
                i < history ? direction * directions[i] : direction;
            const int weight = weights[i] + step;
            weights[i] = (int8_t)(weight > WEIGHT_MOST    ? WEIGHT_MOST
                                  : weight < WEIGHT_LEAST ? WEIGHT_LEAST
                                                          : weight);
        }
    }
    add_history(p, direction);
    return wrong;
}
