/* SPDX-License-Identifier: MIT */
/* Stands for http.c where the headers of libmicrohttpd were missing. */
#include "fleet/http.h"

int
http_create(const struct http_options *options, const struct tally_log *log,
            struct http_server **server)
{
    (void)options;
    (void)server;
    return tally_fail(log, TALLY_ESYSTEM,
                      "this tally is built without libmicrohttpd; install "
                      "libmicrohttpd-dev and build tally again");
}

const char *
http_address(const struct http_server *server)
{
    (void)server;
    return "";
}

bool
http_is_loopback(const struct http_server *server)
{
    (void)server;
    return true;
}

int
http_run(struct http_server *server, int stop, const struct tally_log *log)
{
    (void)server;
    (void)stop;
    (void)log;
    return TALLY_ESYSTEM;
}

void
http_destroy(struct http_server *server)
{
    (void)server;
}
