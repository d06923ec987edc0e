/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/curve.c: a cache, or a set of it, is a list
 * of lines in order of use, the newest first. The distance of an access is
 * where its line stands in the list.
 */
#ifndef TALLY_TEST_CURVE_REF_H
#define TALLY_TEST_CURVE_REF_H

#include <stdbool.h>

#include "source/curve.h"

#define CURVE_REF_LINES 2048u
#define CURVE_REF_FIRST UINT64_MAX

/* Lines in order of use; a zeroed one is empty. */
struct curve_ref_list {
    uint64_t lines[CURVE_REF_LINES];
    unsigned count;
};

/* The misses that a request asks for. */
struct curve_ref {
    const struct curve_request *request;
    struct curve_ref_list all;               /* of the lines that count */
    struct curve_ref_list *sets[CURVE_SETS]; /* owned */
    uint64_t misses[CURVE_SIZES];            /* by size */
    uint64_t set_misses[CURVE_SETS][CURVE_WAYS + 1]; /* by sets and ways */
};

/* Returns a twin, or NULL: there is no memory. */
struct curve_ref *curve_ref_create(const struct curve_request *request);
void curve_ref_destroy(struct curve_ref *ref);

/* Makes an access to a line. `counts`: misses count; else the caches alone see
 * the access. */
void curve_ref_touch(struct curve_ref *ref, uint64_t number, bool counts);

#endif
