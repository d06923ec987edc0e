/* SPDX-License-Identifier: MIT */
#include "gateway/doorbell.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

bool
gateway_hello(struct gateway_hello *hello)
{
    const int saved = errno;

    memset(hello, 0, sizeof(*hello));
    prctl(GATEWAY_PRCTL, hello, 0, 0, 0);
    errno = saved;
    return hello->version == GATEWAY_VERSION;
}
