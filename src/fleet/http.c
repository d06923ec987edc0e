/* SPDX-License-Identifier: MIT */
#include "fleet/http.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libmicrohttpd.so.12"
#define CONNECTIONS_MOST 64
#define CONNECTION_S 10
#define CONNECTION_MEMORY ((size_t)16 << 10)
#define BACKLOG 64
#define PORT_MOST 65535

/* The functions of the library that are called. */
struct library {
    void *handle;
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_get_timeout) get_timeout;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_lookup_connection_value) lookup_connection_value;
    __typeof__(&MHD_create_response_from_buffer) create_response;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
};

/* A connection that is open. */
struct client {
    int fd;
    struct timespec began;
};

struct http_server {
    struct http_options options;
    struct library library;
    struct MHD_Daemon *daemon;
    int listening; /* the daemon's, once there is one; -1: none */
    bool loopback;
    char address[HTTP_ADDRESS];
    struct client clients[CONNECTIONS_MOST]; /* the oldest first */
    size_t client_count;
};

static int
load_library(struct library *l, const struct tally_log *log)
{
    const struct {
        const char *name;
        void *into;
    } functions[] = {
        {"MHD_start_daemon", &l->start_daemon},
        {"MHD_stop_daemon", &l->stop_daemon},
        {"MHD_run", &l->run},
        {"MHD_get_timeout", &l->get_timeout},
        {"MHD_get_daemon_info", &l->get_daemon_info},
        {"MHD_get_connection_info", &l->get_connection_info},
        {"MHD_lookup_connection_value", &l->lookup_connection_value},
        {"MHD_create_response_from_buffer", &l->create_response},
        {"MHD_add_response_header", &l->add_response_header},
        {"MHD_queue_response", &l->queue_response},
        {"MHD_destroy_response", &l->destroy_response},
    };

    l->handle = dlopen(LIBRARY, RTLD_NOW);
    if (l->handle == NULL)
        return tally_fail(log, TALLY_ESYSTEM,
                          "there is no " LIBRARY
                          " here; install libmicrohttpd12");
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *const found = dlsym(l->handle, functions[i].name);
        if (found == NULL)
            return tally_fail(log, TALLY_ESYSTEM, "%s has no %s", LIBRARY,
                              functions[i].name);
        memcpy(functions[i].into, &found, sizeof(found));
    }
    return 0;
}

/* An address to listen at. */
union place {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Reads a port: digits alone. */
static bool
read_port(const char *text, in_port_t *port)
{
    unsigned long number = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        number = number * 10 + (unsigned long)(*text - '0');
        if (number > PORT_MOST)
            return false;
    }
    *port = htons((in_port_t)number);
    return true;
}

/* Reads "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT". */
static bool
read_place(const char *text, union place *place)
{
    const char *const colon = strrchr(text, ':');
    const char *const port = colon != NULL ? colon + 1 : text;
    char host[HTTP_ADDRESS] = "127.0.0.1";
    const size_t length = colon != NULL ? (size_t)(colon - text) : 0;

    memset(place, 0, sizeof(*place));
    if (colon != NULL && (length == 0 || length >= sizeof(host)))
        return false;
    if (colon != NULL) {
        memcpy(host, text, length);
        host[length] = '\0';
    }
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        place->v6.sin6_family = AF_INET6;
        return inet_pton(AF_INET6, host + 1, &place->v6.sin6_addr) == 1 &&
               read_port(port, &place->v6.sin6_port);
    }
    place->v4.sin_family = AF_INET;
    return inet_pton(AF_INET,
                     strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                     &place->v4.sin_addr) == 1 &&
           read_port(port, &place->v4.sin_port);
}

static bool
is_loopback(const union place *p)
{
    return p->any.sa_family == AF_INET6
               ? IN6_IS_ADDR_LOOPBACK(&p->v6.sin6_addr)
               : (ntohl(p->v4.sin_addr.s_addr) >> 24) == 127;
}

static void
write_place(const union place *p, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";

    if (p->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &p->v6.sin6_addr, host, sizeof(host));
        snprintf(text, size, "[%s]:%u", host, ntohs(p->v6.sin6_port));
    } else {
        inet_ntop(AF_INET, &p->v4.sin_addr, host, sizeof(host));
        snprintf(text, size, "%s:%u", host, ntohs(p->v4.sin_port));
    }
}

/* Says why nothing can listen at `where`. */
static int
refuse(const char *where, int cause, const struct tally_log *log)
{
    switch (cause) {
    case EADDRINUSE:
        return tally_fail(log, TALLY_ESYSTEM,
                          "another program listens at %s; port 0 takes one "
                          "that is free",
                          where);
    case EADDRNOTAVAIL:
        return tally_fail(log, TALLY_ESYSTEM,
                          "this host has no address for %s; 127.0.0.1 is "
                          "always there",
                          where);
    case EACCES:
    case EPERM:
        return tally_fail(log, TALLY_EPERMISSION,
                          "this user may not listen at %s; take a port from "
                          "1024 on",
                          where);
    default:
        return tally_fail(log, TALLY_ESYSTEM, "cannot listen at %s: %s", where,
                          strerror(cause));
    }
}

/* Begins to listen; the port is known from then on. */
static int
listen_at(struct http_server *s, const struct tally_log *log)
{
    const int on = 1;
    union place place;

    if (!read_place(s->options.listen, &place))
        return tally_fail(log, TALLY_ESYNTAX,
                          "'%.64s' is no ADDRESS:PORT, as 127.0.0.1:9617 or "
                          "[::1]:9617, with the address in numbers",
                          s->options.listen);
    const bool v6 = place.any.sa_family == AF_INET6;
    socklen_t size = v6 ? sizeof(place.v6) : sizeof(place.v4);
    write_place(&place, s->address, sizeof(s->address));
    s->loopback = is_loopback(&place);
    s->listening = socket(place.any.sa_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listening < 0)
        return refuse(s->address, errno, log);
    setsockopt(s->listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (v6)
        setsockopt(s->listening, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(s->listening, &place.any, size) != 0 ||
        listen(s->listening, BACKLOG) != 0 ||
        getsockname(s->listening, &place.any, &size) != 0)
        return refuse(s->address, errno, log);
    write_place(&place, s->address, sizeof(s->address));
    return 0;
}

static void
remove_client(struct http_server *s, size_t number)
{
    s->client_count--;
    memmove(&s->clients[number], &s->clients[number + 1],
            (s->client_count - number) * sizeof(s->clients[0]));
}

/* Ends a connection: the library finds its socket closed. */
static void
end_client(struct http_server *s, size_t number)
{
    shutdown(s->clients[number].fd, SHUT_RDWR);
    remove_client(s, number);
}

/* Keeps the list of connections, as the library tells of them. */
static void
note_connection(void *user, struct MHD_Connection *connection, void **context,
                enum MHD_ConnectionNotificationCode what)
{
    struct http_server *const s = user;
    const union MHD_ConnectionInfo *const info = s->library.get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    (void)context;
    if (info == NULL)
        return;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        for (size_t i = 0; i < s->client_count; i++)
            if (s->clients[i].fd == info->connect_fd) {
                remove_client(s, i);
                return;
            }
        return;
    }
    if (s->client_count == CONNECTIONS_MOST)
        end_client(s, 0);
    struct client *const c = &s->clients[s->client_count++];
    c->fd = info->connect_fd;
    clock_gettime(CLOCK_MONOTONIC, &c->began);
}

/* Sends a page; the library frees its text. */
static enum MHD_Result
send_page(const struct http_server *s, struct MHD_Connection *connection,
          unsigned status, const struct http_page *page)
{
    struct MHD_Response *const response = s->library.create_response(
        page->size, page->text, MHD_RESPMEM_MUST_FREE);

    if (response == NULL) {
        free(page->text);
        return MHD_NO;
    }
    s->library.add_response_header(response, "Content-Type", page->type);
    s->library.add_response_header(response, "Connection", "close");
    s->library.add_response_header(response, "X-Content-Type-Options",
                                   "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        s->library.add_response_header(response, "Allow", "GET, HEAD");
    const enum MHD_Result sent =
        s->library.queue_response(connection, status, response);
    s->library.destroy_response(response);
    return sent;
}

/* Sends one line. */
static enum MHD_Result
send_line(const struct http_server *s, struct MHD_Connection *connection,
          unsigned status, const char *line)
{
    struct http_page page = {.type = "text/plain; charset=utf-8"};
    const int size = asprintf(&page.text, "%s\n", line);

    if (size < 0)
        return MHD_NO;
    page.size = (size_t)size;
    return send_page(s, connection, status, &page);
}

/* Returns the path of what is asked for, which may have the server's name in
 * front (the absolute form of RFC 9112). */
static const char *
path_of(const char *url)
{
    const char *path = url;

    if (strncasecmp(url, "http://", strlen("http://")) == 0)
        path = strchr(url + strlen("http://"), '/');
    return path != NULL ? path : "/";
}

static enum MHD_Result
answer(void *user, struct MHD_Connection *connection, const char *url,
       const char *method, const char *version, const char *upload,
       size_t *upload_size, void **context)
{
    struct http_server *const s = user;
    struct http_page page = {0};

    (void)version;
    (void)upload;
    (void)upload_size;
    (void)context;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_line(s, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                         "this page is only read");
    if (strcmp(path_of(url), s->options.path) != 0) {
        char line[128];
        snprintf(line, sizeof(line), "%s has the metrics", s->options.path);
        return send_line(s, connection, MHD_HTTP_NOT_FOUND, line);
    }
    const char *const accept = s->library.lookup_connection_value(
        connection, MHD_HEADER_KIND, "Accept");
    if (!s->options.make(s->options.user, accept, &page))
        return send_line(s, connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                         "no memory");
    return send_page(s, connection, MHD_HTTP_OK, &page);
}

/* Lets the library serve the socket that listens. */
static int
start_daemon(struct http_server *s, const struct tally_log *log)
{
    s->daemon = s->library.start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, answer, s, MHD_OPTION_LISTEN_SOCKET,
        s->listening, MHD_OPTION_NOTIFY_CONNECTION, note_connection, s,
        /* Those that were ended are the library's until it looks at them. */
        MHD_OPTION_CONNECTION_LIMIT, 2U * CONNECTIONS_MOST,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_S, MHD_OPTION_END);
    if (s->daemon == NULL)
        return tally_fail(log, TALLY_ESYSTEM,
                          LIBRARY " does not serve at %s: %s", s->address,
                          strerror(errno));
    s->listening = -1;
    return 0;
}

int
http_create(const struct http_options *options, const struct tally_log *log,
            struct http_server **server)
{
    struct http_server *const s = calloc(1, sizeof(*s));

    if (s == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the server");
    s->options = *options;
    s->listening = -1;
    int error = listen_at(s, log);
    if (error == 0)
        error = load_library(&s->library, log);
    if (error == 0)
        error = start_daemon(s, log);
    if (error != 0) {
        http_destroy(s);
        return error;
    }
    *server = s;
    return 0;
}

const char *
http_address(const struct http_server *server)
{
    return server->address;
}

bool
http_is_loopback(const struct http_server *server)
{
    return server->loopback;
}

/* Ends the connections that have had their time. Returns the milliseconds until
 * the next has; -1: there is none. */
static int
end_old(struct http_server *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    while (s->client_count > 0) {
        const struct timespec *const began = &s->clients[0].began;
        const int64_t left_ms =
            (began->tv_sec + CONNECTION_S - now.tv_sec) * INT64_C(1000) +
            (began->tv_nsec - now.tv_nsec) / 1000000;
        if (left_ms > 0)
            return (int)left_ms;
        end_client(s, 0);
    }
    return -1;
}

/* Returns how long to wait at most, in milliseconds; -1: for an event. */
static int
patience_of(struct http_server *s)
{
    const int old_ms = end_old(s);
    MHD_UNSIGNED_LONG_LONG library_ms = 0;

    if (s->library.get_timeout(s->daemon, &library_ms) != MHD_YES)
        return old_ms;
    return old_ms >= 0 && library_ms > (MHD_UNSIGNED_LONG_LONG)old_ms ? old_ms
           : library_ms > 1000 * CONNECTION_S ? 1000 * CONNECTION_S
                                              : (int)library_ms;
}

int
http_run(struct http_server *s, int stop, const struct tally_log *log)
{
    const union MHD_DaemonInfo *const info =
        s->library.get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    if (info == NULL)
        return tally_fail(log, TALLY_ESYSTEM, LIBRARY " has no epoll");
    struct pollfd waits[] = {{.fd = stop, .events = POLLIN},
                             {.fd = info->epoll_fd, .events = POLLIN}};
    for (;;) {
        const int ready = poll(waits, 2, patience_of(s));
        if (ready < 0 && errno != EINTR)
            return tally_fail(log, TALLY_ESYSTEM, "cannot wait: %s",
                              strerror(errno));
        if (ready > 0 && waits[0].revents != 0)
            return 0;
        if (s->library.run(s->daemon) != MHD_YES)
            return tally_fail(log, TALLY_ESYSTEM, LIBRARY " failed");
    }
}

void
http_destroy(struct http_server *s)
{
    if (s == NULL)
        return;
    if (s->daemon != NULL)
        s->library.stop_daemon(s->daemon);
    if (s->listening >= 0)
        close(s->listening);
    if (s->library.handle != NULL)
        dlclose(s->library.handle);
    free(s);
}
