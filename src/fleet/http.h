/* SPDX-License-Identifier: MIT */
/*
 * A server of one page over HTTP, by libmicrohttpd, which is opened when a
 * server is made: the command loads it for no other work.
 *
 * One thread serves all connections and waits for none: a client that is slow
 * holds nobody up. A connection has one request. It ends 10 seconds after it
 * began, whatever its client does, and where 64 are open the oldest ends for
 * the next. A connection takes 16 KiB and the page it is sent.
 */
#ifndef TALLY_FLEET_HTTP_H
#define TALLY_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define HTTP_ADDRESS 64 /* bytes of an address as text */

/* A page, by the value of the request's header Accept (NULL: none). */
struct http_page {
    char *text; /* of malloc(); the server frees it */
    size_t size;
    const char *type; /* of the content; outlives the page */
};

struct http_options {
    const char *listen; /* "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT" */
    const char *path;   /* of the page: "/metrics" */
    /* Makes the page; false: there is no memory for it. */
    bool (*make)(void *user, const char *accept, struct http_page *page);
    void *user;
};

struct http_server;

/*
 * Makes a server that listens, and answers in http_run(). The address is one in
 * numbers, or localhost; port 0 takes one that is free. A port alone is of
 * 127.0.0.1. The options are copied, their texts are not. 0; TALLY_ESYNTAX (no
 * such address), TALLY_EPERMISSION, TALLY_ESYSTEM (the port is taken, there is
 * no libmicrohttpd ...) or TALLY_ENOMEM, logged.
 */
int http_create(const struct http_options *options, const struct tally_log *log,
                struct http_server **server);

/* Returns the address that the server has, as "127.0.0.1:9617". */
const char *http_address(const struct http_server *server);

/* Returns whether the address is reached from this host alone. */
bool http_is_loopback(const struct http_server *server);

/* Answers until `stop` is readable. 0 or TALLY_ESYSTEM, logged. */
int http_run(struct http_server *server, int stop, const struct tally_log *log);

/* Ends all connections. Accepts NULL. */
void http_destroy(struct http_server *server);

#endif
