/* SPDX-License-Identifier: MIT */
#include "ref/curve_ref.h"

#include <stdlib.h>
#include <string.h>

#include "machine/curve.h"

struct curve_ref *
curve_ref_create(const struct curve_request *request)
{
    struct curve_ref *const ref = calloc(1, sizeof(*ref));

    if (ref == NULL)
        return NULL;
    ref->request = request;
    for (unsigned i = 0; i < request->set_count; i++) {
        ref->sets[i] = calloc(request->sets[i], sizeof(*ref->sets[i]));
        if (ref->sets[i] == NULL) {
            curve_ref_destroy(ref);
            return NULL;
        }
    }
    return ref;
}

void
curve_ref_destroy(struct curve_ref *ref)
{
    for (unsigned i = 0; ref != NULL && i < CURVE_SETS; i++)
        free(ref->sets[i]);
    free(ref);
}

/* Makes a line the newest of a list. Returns its distance. */
static uint64_t
touch(struct curve_ref_list *list, uint64_t number)
{
    unsigned at = 0;

    while (at < list->count && list->lines[at] != number)
        at++;
    const bool known = at < list->count;
    if (at == CURVE_REF_LINES)
        abort();
    memmove(list->lines + 1, list->lines, at * sizeof(list->lines[0]));
    list->lines[0] = number;
    list->count += !known;
    return known ? at : CURVE_REF_FIRST;
}

static void
touch_all(struct curve_ref *ref, uint64_t number, bool counts)
{
    const struct curve_request *const r = ref->request;
    uint64_t distance = touch(&ref->all, number);

    if (r->kind == CURVE_SAMPLED && distance != CURVE_REF_FIRST)
        distance *= r->sample;
    for (unsigned i = 0; counts && i < r->size_count; i++)
        ref->misses[i] += distance >= r->lines[i];
}

void
curve_ref_touch(struct curve_ref *ref, uint64_t number, bool counts)
{
    const struct curve_request *const r = ref->request;
    unsigned group;

    if (r->kind == CURVE_FULL || (r->kind == CURVE_SAMPLED &&
                                  curve_is_sampled(number, r->sample, &group)))
        touch_all(ref, number, counts);
    for (unsigned i = 0; i < r->set_count; i++) {
        const uint64_t distance =
            touch(&ref->sets[i][number % r->sets[i]], number);
        for (unsigned ways = 1; counts && ways <= r->ways[i]; ways++)
            ref->set_misses[i][ways] += distance >= ways;
    }
}
