/* SPDX-License-Identifier: MIT */
#include "trace/trace_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BLOCKS_FIRST 1024u
#define PATTERNS_FIRST 2u

struct trace_model *
trace_model_create(void)
{
    struct trace_model *const m = calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->hot = calloc(BLOCKS_FIRST, sizeof(*m->hot));
    m->hot_room = BLOCKS_FIRST;
    m->path = m->paths;
    if (m->hot == NULL) {
        free(m);
        return NULL;
    }
    return m;
}

void
trace_model_destroy(struct trace_model *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 1; i <= m->block_count; i++) {
        struct trace_block *const b = trace_model_block(m, i);
        for (uint32_t k = 0; k < b->pattern_count; k++)
            free(b->patterns[k]);
        free(b->patterns);
        free(b->sizes);
    }
    for (size_t i = 0; i < sizeof(m->parts) / sizeof(m->parts[0]); i++)
        free(m->parts[i]);
    free(m->hot);
    free(m);
}

/* Makes room for one more block. */
static int
grow(struct trace_model *m)
{
    struct trace_block **const part =
        &m->parts[(m->block_count + 1) / TRACE_BLOCKS_A_PART];

    if (*part == NULL)
        *part = calloc(TRACE_BLOCKS_A_PART, sizeof(**part));
    if (*part == NULL)
        return TALLY_ENOMEM;
    if (m->block_count + 1 < m->hot_room)
        return 0;
    struct trace_hot *const hot =
        reallocarray(m->hot, 2 * m->hot_room, sizeof(*hot));
    if (hot == NULL)
        return TALLY_ENOMEM;
    m->hot = hot;
    m->hot_room *= 2;
    return 0;
}

int
trace_model_add(struct trace_model *m, const struct trace_block *block,
                const uint8_t *bytes)
{
    const size_t size = block->kept;

    if (m->block_count + 1 == TRACE_BLOCKS || grow(m) != 0)
        return TALLY_ENOMEM;
    uint8_t *const sizes = malloc(block->insns + size + 1);
    if (sizes == NULL)
        return TALLY_ENOMEM;
    memcpy(sizes, block->sizes, block->insns);
    memcpy(sizes + block->insns, bytes, size);
    const uint32_t number = ++m->block_count;
    struct trace_block *const b = trace_model_block(m, number);
    *b = *block;
    b->sizes = sizes;
    b->pattern_count = b->pattern_room = 0;
    b->patterns = NULL;
    m->hot[number] = (struct trace_hot){.insns = block->insns};
    return 0;
}

struct trace_pattern *
trace_model_pattern(struct trace_model *m, uint32_t block, const uint16_t *what,
                    uint32_t count)
{
    struct trace_block *const b = trace_model_block(m, block);

    if (b->pattern_count == b->pattern_room) {
        const uint32_t room =
            b->pattern_room != 0 ? 2 * b->pattern_room : PATTERNS_FIRST;
        struct trace_pattern **const patterns =
            reallocarray(b->patterns, room, sizeof(struct trace_pattern *));
        if (patterns == NULL)
            return NULL;
        b->patterns = patterns;
        b->pattern_room = room;
    }
    struct trace_pattern *const p =
        calloc(1, sizeof(*p) + count * sizeof(struct trace_site));
    if (p == NULL)
        return NULL;
    p->number = b->pattern_count;
    p->count = count;
    for (uint32_t i = 0; i < count; i++)
        p->site[i].what = what[i];
    b->patterns[b->pattern_count++] = p;
    return p;
}
