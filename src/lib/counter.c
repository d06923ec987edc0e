/* SPDX-License-Identifier: MIT */
#include "tally/guest.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "counter/counter.h"
#include "gateway/doorbell.h"
#include "gateway/set.h"
#include "host/event.h"
#include "host/set.h"
#include "lib/options.h"

static_assert(sizeof(struct tally_reading) == sizeof(struct counter_reading) &&
                  offsetof(struct tally_reading, enabled) ==
                      offsetof(struct counter_reading, enabled) &&
                  offsetof(struct tally_reading, running) ==
                      offsetof(struct counter_reading, running),
              "public and internal readings are one");

static_assert((int)TALLY_COUNTER_THREAD == (int)HOST_THREAD &&
                  (int)TALLY_COUNTER_PROCESS == (int)HOST_PROCESS &&
                  (int)TALLY_COUNTER_CPU == (int)HOST_CPU,
              "public and internal scopes are one");

struct counted {
    char name[HOST_NAME];
    char unit[HOST_UNIT];
    double scale;
};

struct tally_counter {
    const struct counter_ops *ops;
    void *set;                   /* what `ops` work on; one of these two */
    struct host_set *host;       /* of this host; or NULL */
    struct gateway_set *gateway; /* of the machine that runs us; or NULL */
    struct counted *events;      /* owned */
    size_t count;
    struct tally_log log;
};

void
tally_counter_options_init(struct tally_counter_options *options, size_t size)
{
    options_init(options, size);
}

static int
check_options(const struct tally_counter_options *o)
{
    if ((int)o->scope < TALLY_COUNTER_THREAD || o->scope > TALLY_COUNTER_CPU)
        return tally_fail(&o->log, TALLY_ERANGE, "no scope %d", (int)o->scope);
    if (o->id < 0)
        return tally_fail(&o->log, TALLY_ERANGE,
                          "%d is no thread, process or cpu", o->id);
    if (o->period > INT64_MAX) /* the kernel keeps it signed */
        return tally_fail(&o->log, TALLY_ERANGE,
                          "the period is 2^63 or more: %" PRIu64, o->period);
    if (o->signal < 0 || o->signal > SIGRTMAX)
        return tally_fail(&o->log, TALLY_ERANGE, "no signal %d", o->signal);
    if (o->signal != 0 && o->period == 0)
        return tally_fail(&o->log, TALLY_ERULE,
                          "a signal for overflows needs a period");
    if (o->scope == TALLY_COUNTER_CPU && o->inherit)
        return tally_fail(&o->log, TALLY_ERULE,
                          "a cpu creates nothing: inherit is for threads and "
                          "processes");
    if (o->period != 0 && (o->inherit || o->scope == TALLY_COUNTER_PROCESS))
        return tally_fail(&o->log, TALLY_ERULE,
                          "overflows are of one thread or one cpu: a period "
                          "does not go with a process or with inherit");
    return 0;
}

static int
open_host(const struct tally_counter_options *o, struct tally_counter *c)
{
    const struct host_set_options set = {
        .scope = (enum host_scope)o->scope,
        .id = o->id,
        .inherit = o->inherit,
        .period = o->period,
        .signal = o->signal,
        .log = o->log,
    };
    const int error = host_set_create(&set, &c->host);

    c->ops = &host_set_ops;
    c->set = c->host;
    return error;
}

/* Finds the scope of the emulated machine that the options ask for. */
static int
choose_scope(const struct tally_counter_options *o,
             const struct gateway_hello *hello, enum gateway_scope *scope)
{
    const char *machine = hello->machine;

    if (o->period != 0 && o->scope != TALLY_COUNTER_THREAD)
        return tally_fail(&o->log, TALLY_ERULE,
                          "on the emulated %s overflows are of one thread",
                          machine);
    if (o->scope == TALLY_COUNTER_THREAD && o->id != 0 &&
        o->id != (int)syscall(SYS_gettid))
        return tally_fail(&o->log, TALLY_EUNKNOWN,
                          "on the emulated %s a thread counts itself, all of "
                          "its process or a strand: not thread %d",
                          machine, o->id);
    if (o->scope == TALLY_COUNTER_PROCESS && o->id != 0 && o->id != getpid())
        return tally_fail(&o->log, TALLY_EUNKNOWN,
                          "process %d, if there is one, has an emulated %s of "
                          "its own",
                          o->id, machine);
    if (o->scope == TALLY_COUNTER_CPU && (uint64_t)o->id >= hello->strands)
        return tally_fail(&o->log, TALLY_EUNKNOWN,
                          "the emulated %s has strands 0 to %u: no cpu %d",
                          machine, (unsigned)hello->strands - 1, o->id);
    *scope = o->scope == TALLY_COUNTER_CPU       ? GATEWAY_STRAND
             : o->scope == TALLY_COUNTER_PROCESS ? GATEWAY_PROCESS
             : o->inherit                        ? GATEWAY_DESCENDANTS
                                                 : GATEWAY_THREAD;
    return 0;
}

static int
open_gateway(const struct tally_counter_options *o,
             const struct gateway_hello *hello, struct tally_counter *c)
{
    struct gateway_set_options set = {
        .strand = (unsigned)o->id,
        .period = o->period,
        .signal = o->signal,
        .log = o->log,
    };
    int error = choose_scope(o, hello, &set.scope);

    if (error == 0)
        error = gateway_set_create(&set, hello, &c->gateway);
    c->ops = &gateway_set_ops;
    c->set = c->gateway;
    return error;
}

int
tally_counter_open(const struct tally_counter_options *options,
                   struct tally_counter **counter)
{
    struct tally_counter_options o;
    struct gateway_hello hello;
    int error = options_read(options, &o, sizeof(o));

    if (error == 0)
        error = check_options(&o);
    if (error != 0)
        return error;
    struct tally_counter *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return tally_fail(&o.log, TALLY_ENOMEM, "no memory for counters");
    c->log = o.log;
    if (gateway_hello(&hello))
        error = open_gateway(&o, &hello, c);
    else
        error = gateway_check(&hello, &o.log);
    if (error == 0 && c->gateway == NULL)
        error = open_host(&o, c);
    if (error != 0) {
        free(c);
        return error;
    }
    *counter = c;
    return 0;
}

static struct counted *
make_room(struct tally_counter *c, size_t count)
{
    struct counted *grown =
        realloc(c->events, (c->count + count) * sizeof(*grown));

    if (grown == NULL) {
        tally_fail(&c->log, TALLY_ENOMEM, "no memory for %zu events", count);
        return NULL;
    }
    c->events = grown;
    return grown;
}

static int
add_host_events(struct tally_counter *c, const struct host_event *events,
                size_t count)
{
    struct counted *rows = make_room(c, count);

    if (rows == NULL)
        return TALLY_ENOMEM;
    const int error = host_set_add(c->host, events, count);
    if (error != 0)
        return error;
    for (size_t i = 0; i < count; i++) {
        struct counted *to = &rows[c->count++];
        memcpy(to->name, events[i].name, sizeof(to->name));
        memcpy(to->unit, events[i].unit, sizeof(to->unit));
        to->scale = events[i].scale;
    }
    return 0;
}

static int
add_host(struct tally_counter *c, const char *text)
{
    struct host_event *events;
    size_t count;
    int error = host_set_check(c->host);

    if (error == 0)
        error = host_event_list_parse(text, &c->log, &events, &count);
    if (error != 0)
        return error;
    error = add_host_events(c, events, count);
    free(events);
    return error;
}

static int
add_gateway(struct tally_counter *c, const char *text)
{
    struct counted *rows = make_room(c, GATEWAY_LIST);

    if (rows == NULL)
        return TALLY_ENOMEM;
    const int error = gateway_set_add(c->gateway, text);
    if (error != 0)
        return error;
    for (; c->count < gateway_set_count(c->gateway); c->count++) {
        struct counted *to = &rows[c->count];
        *to = (struct counted){.scale = 1};
        snprintf(to->name, sizeof(to->name), "%s",
                 gateway_set_name(c->gateway, c->count));
    }
    return 0;
}

int
tally_counter_add(struct tally_counter *c, const char *text)
{
    return c->host != NULL ? add_host(c, text) : add_gateway(c, text);
}

size_t
tally_counter_count(const struct tally_counter *c)
{
    return c->count;
}

int
tally_counter_event(const struct tally_counter *c, size_t index,
                    struct tally_counted *counted)
{
    if (index >= c->count)
        return TALLY_ERANGE;
    *counted = (struct tally_counted){
        .name = c->events[index].name,
        .unit = c->events[index].unit,
        .scale = c->events[index].scale,
    };
    return 0;
}

int
tally_counter_start(struct tally_counter *c)
{
    return c->ops->start(c->set);
}

int
tally_counter_stop(struct tally_counter *c)
{
    return c->ops->stop(c->set);
}

int
tally_counter_reset(struct tally_counter *c)
{
    return c->ops->reset(c->set);
}

static __attribute__((noinline, cold)) int
no_room(const struct tally_counter *c, size_t max)
{
    return tally_fail(&c->log, TALLY_ERANGE,
                      "room for %zu readings of %zu events", max, c->count);
}

int
tally_counter_read(const struct tally_counter *c,
                   struct tally_reading *readings, size_t max)
{
    if (__builtin_expect(max < c->count, 0))
        return no_room(c, max);
    return c->ops->read(c->set, (struct counter_reading *)readings);
}

int
tally_reading_scaled(const struct tally_reading *reading, uint64_t *scaled)
{
    const struct counter_reading r = {reading->value, reading->enabled,
                                      reading->running};

    return counter_scaled(&r, scaled) ? 0 : TALLY_EIDLE;
}

struct taking {
    void (*take)(void *user, const struct tally_overflow *overflow);
    void *user;
};

static void
take_overflow(void *user, const struct host_overflow *overflow)
{
    const struct taking *t = user;
    const struct tally_overflow o = {
        .ip = overflow->ip,
        .time_ns = overflow->time,
        .pid = overflow->pid,
        .tid = overflow->tid,
        .lost = overflow->lost,
    };

    t->take(t->user, &o);
}

static void
take_here(void *user, uint64_t ip, uint64_t time_ns, uint64_t lost)
{
    const struct taking *t = user;
    const struct tally_overflow o = {
        .ip = ip,
        .time_ns = time_ns,
        .pid = getpid(),
        .tid = (int32_t)syscall(SYS_gettid),
        .lost = lost,
    };

    t->take(t->user, &o);
}

int
tally_counter_overflows(struct tally_counter *c,
                        void (*take)(void *user,
                                     const struct tally_overflow *overflow),
                        void *user)
{
    struct taking taking = {take, user};

    if (c->host == NULL)
        return gateway_set_overflows(c->gateway, take_here, &taking);
    return host_set_overflows(c->host, take_overflow, &taking);
}

int
tally_counter_overflow_fd(const struct tally_counter *c)
{
    return c->host != NULL ? host_set_overflow_fd(c->host) : -1;
}

int
tally_counter_live(const struct tally_counter *c, size_t index,
                   struct tally_live *live)
{
    if (index >= c->count)
        return TALLY_ERANGE;
    return c->gateway != NULL &&
                   gateway_set_live(c->gateway, index, &live->at, &live->base)
               ? 0
               : TALLY_EIDLE;
}

void
tally_counter_close(struct tally_counter *c)
{
    if (c == NULL)
        return;
    c->ops->close(c->set);
    free(c->events);
    free(c);
}
