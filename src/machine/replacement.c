/* SPDX-License-Identifier: MIT */
#include "machine/replacement.h"

/* Goes down the tree by its bits, each of which `flip` turns round. Returns the
 * way at the end. */
static uint32_t
descend(const uint8_t *nodes, uint32_t ways, uint32_t flip)
{
    uint32_t node = 1;

    while (node < ways)
        node = 2 * node + (nodes[node] ^ flip);
    return node - ways;
}

uint32_t
plru_victim(const uint8_t *nodes, uint32_t ways)
{
    return descend(nodes, ways, 0);
}

uint32_t
plru_last(const uint8_t *nodes, uint32_t ways)
{
    return descend(nodes, ways, 1);
}

void
plru_use(uint8_t *nodes, uint32_t ways, uint32_t way)
{
    for (uint32_t node = ways + way; node > 1; node /= 2)
        nodes[node / 2] = (uint8_t)(~node & 1);
}

uint32_t
srrip_victim(uint8_t *distances, uint32_t ways)
{
    uint32_t way = 0;

    for (uint32_t i = 1; i < ways; i++) {
        if (distances[i] > distances[way])
            way = i;
    }
    const uint8_t growth = (uint8_t)(SRRIP_DISTANT - distances[way]);
    for (uint32_t i = 0; i < ways && growth != 0; i++)
        distances[i] = (uint8_t)(distances[i] + growth);
    return way;
}

void
srrip_use(uint8_t *distances, uint32_t way, bool hit)
{
    distances[way] = hit ? SRRIP_NEAR : SRRIP_LONG;
}
