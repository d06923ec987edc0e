/* SPDX-License-Identifier: MIT */
#include "profile/curve_recorder.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "machine/curve.h"
#include "profile/recorded.h"

static void
ask(const struct session_options *o, struct session_request *request)
{
    if (o->curve->parts != 0)
        recorded_recorder.ask(o, request);
    request->curve = *o->curve;
    request->components = (request->components & COMPONENT_REPEAT) |
                          curve_prepare(o->curve, request->params);
}

static int
collect(const struct session_options *o, int fd,
        const struct session_request *request,
        const struct session_result *result, bool ended)
{
    if (!ended || *o->curve_found != NULL)
        return 0;
    struct curve_counts *const counts = malloc(sizeof(*counts));
    if (counts == NULL)
        return TALLY_ENOMEM;
    const ssize_t n = pread(fd, counts, sizeof(*counts),
                            (off_t)offsetof(struct session_header, curve));
    if (n != (ssize_t)sizeof(*counts)) {
        free(counts);
        return TALLY_ESYSTEM;
    }
    *o->curve_found = counts;
    return o->curve->parts != 0
               ? recorded_recorder.collect(o, fd, request, result, ended)
               : 0;
}

const struct session_recorder curve_recorder = {.ask = ask, .collect = collect};
