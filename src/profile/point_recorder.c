/* SPDX-License-Identifier: MIT */
#include "profile/point_recorder.h"

#include "source/point.h"

static void
ask(const struct session_options *o, struct session_request *request)
{
    request->records = RECORDS_CALLERS;
    request->components |= COMPONENT_L1D;
    request->point = *o->point;
}

static int
collect(const struct session_options *o, int fd,
        const struct session_request *request,
        const struct session_result *result, bool ended)
{
    (void)request, (void)result;
    return ended ? point_read(fd, o->point_found) : 0;
}

const struct session_recorder point_recorder = {ask, collect};
