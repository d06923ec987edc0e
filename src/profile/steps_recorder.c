/* SPDX-License-Identifier: MIT */
#include "profile/steps_recorder.h"

#include "source/steps.h"

static void
ask(const struct session_options *o, struct session_request *request)
{
    request->steps = *o->steps;
}

static int
collect(const struct session_options *o, int fd,
        const struct session_request *request,
        const struct session_result *result, bool ended)
{
    (void)request, (void)result;
    return ended && *o->steps_found == NULL
               ? steps_read(fd, o->steps->kind, o->steps_found)
               : 0;
}

const struct session_recorder steps_recorder = {.ask = ask, .collect = collect};
