/* SPDX-License-Identifier: MIT */
#include "gateway/doorbell.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

_Thread_local struct gateway_live *gateway_own
    __attribute__((tls_model("initial-exec")));

int
gateway_check(const struct gateway_hello *hello, const struct tally_log *log)
{
    if (hello->version == GATEWAY_VERSION)
        return 0;
    return tally_fail(log, TALLY_EQEMU,
                      "this program was linked with another version of "
                      "libtally than that of the tally which runs it");
}

bool
gateway_hello(struct gateway_hello *hello)
{
    const int saved = errno;

    memset(hello, 0, sizeof(*hello));
    hello->version = GATEWAY_VERSION;
    prctl(GATEWAY_PRCTL, hello, 0, 0, 0);
    errno = saved;
    gateway_own = (struct gateway_live *)(uintptr_t)hello->live;
    return hello->page != 0;
}
