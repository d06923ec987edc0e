/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/pipeline.h, written from the rules there
 * and in doc/models/ultrasparc-t2.md.
 */
#ifndef TALLY_TEST_PIPELINE_REF_H
#define TALLY_TEST_PIPELINE_REF_H

#include "machine/pipeline.h"

int pipeline_ref_share(const uint64_t *params, struct pipeline_thread *threads,
                       size_t count);

#endif
