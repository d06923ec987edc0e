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
    return ended && *o->point_found == NULL ? point_read(fd, o->point_found)
                                            : 0;
}

/* Hands out the point at which the program waits for its debugger. */
static void
look(const struct session_options *o, const struct session_request *request,
     int fd)
{
    (void)request;
    if (*o->point_found != NULL || o->point->traps == 0 ||
        !point_is_reached(fd) || point_read(fd, o->point_found) != 0)
        return;
    if (o->point_reached != NULL)
        o->point_reached(o->point_user, *o->point_found);
    point_tell(fd);
}

const struct session_recorder point_recorder = {ask, collect, look};
