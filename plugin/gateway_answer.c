/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/gateway_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/calls.h"
#include "plugin/gateway_read.h"
#include "plugin/guest_pmu.h"
#include "plugin/vcounter_processes.h"
#include "plugin/watch.h"

#define TEXT_MOST 65536u /* bytes of a list of events */

static void
fill_hello(unsigned vcpu, const struct gateway_live *live,
           struct gateway_hello *hello)
{
    const struct plugin *p = &tally_plugin;
    const uint64_t clock = p->request.params[PARAM_CLOCK];

    hello->page = gateway_word((uintptr_t)&tally_plugin.gateway.memory->page);
    hello->live = gateway_word((uintptr_t)live);
    hello->ring = gateway_word((uintptr_t)&tally_plugin.gateway.memory
                                   ->rings[p->counts[vcpu]->thread]);
    hello->thread = gateway_word(p->counts[vcpu]->thread);
    hello->generation =
        gateway_word(tally_plugin.gateway.memory->page.generation);
    hello->rate = gateway_word((UINT64_C(1000000000) << 20) /
                               (clock != 0 ? clock : 1000000000));
    hello->slot = gateway_word(SIGNAL_INSTRUCTIONS);
    hello->strands =
        gateway_word((uint64_t)p->chip.core_count * p->chip.strands_per_core);
    snprintf(hello->machine, sizeof(hello->machine), "%s",
             gateway_machine()->name);
}

/* Answers a hello. Reads and writes only the first word unless the version is
 * ours: another version of the struct may be shorter. */
static void
answer_hello(unsigned vcpu, uint64_t at)
{
    struct gateway_hello hello = {.version = gateway_word(GATEWAY_VERSION)};
    uint64_t version;

    if (!plugin_read_word(tally_plugin.shape.isa, at, &version) ||
        !plugin_write(at, &hello.version, sizeof(hello.version)) ||
        version != GATEWAY_VERSION || !gateway_ready() ||
        tally_plugin.gateway.lives[vcpu] == NULL)
        return;
    fill_hello(vcpu, tally_plugin.gateway.lives[vcpu], &hello);
    plugin_write(at, &hello, sizeof(hello));
}

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    struct gateway_events *request = user;

    if (level == TALLY_LOG_ERROR && request->message[0] == '\0')
        snprintf(request->message, sizeof(request->message), "%s", text);
}

/* Writes an event's row to the guest's address; false: there is no memory. */
static bool
report_event(const struct event_row *e, uint64_t at)
{
    const uint64_t id = gateway_id(e);
    const struct gateway_need *n = &tally_plugin.gateway.needs[id];
    struct gateway_event row = {
        .id = gateway_word(id),
        .summands = gateway_word(n->summands),
    };

    for (size_t i = 0; i < n->summands; i++)
        row.slots[i] = gateway_word(e->signals[i]);
    snprintf(row.name, sizeof(row.name), "%s", e->name);
    return plugin_write(at, &row, sizeof(row));
}

/* Has the events count, and writes their rows. */
static int
choose_events(struct gateway_events *request, const struct tally_log *log,
              const struct event_row *const *events, size_t count)
{
    const uint64_t rows = gateway_word(request->rows);
    bool added = false;

    if (count > gateway_word(request->room))
        return tally_fail(log, TALLY_ERANGE, "more than %u events in one list",
                          (unsigned)gateway_word(request->room));
    for (size_t i = 0; i < count; i++) {
        const int error = gateway_check(events[i], log);
        if (error != 0)
            return error;
    }
    for (size_t i = 0; i < count; i++)
        added |= gateway_note(events[i]);
    if (added)
        gateway_translate_again();
    for (size_t i = 0; i < count; i++) {
        if (!report_event(events[i], rows + i * sizeof(struct gateway_event)))
            return tally_fail(log, TALLY_ESYSTEM,
                              "no memory is where the events are to be put");
    }
    request->count = gateway_word(count);
    request->epoch = gateway_word(tally_plugin.gateway.epoch);
    return 0;
}

static void
answer_events(struct gateway_events *request)
{
    const struct tally_log log = {keep_message, request};
    const struct event_row **events = NULL;
    size_t count = 0;

    request->message[0] = '\0';
    char *const text =
        plugin_read_string(gateway_word(request->text), TEXT_MOST);
    int error = text == NULL ? tally_fail(&log, TALLY_ESYSTEM,
                                          "no list of events is at the address")
                             : event_list_parse(gateway_machine(), text, &log,
                                                &events, &count);
    free(text);
    if (error == 0)
        error = choose_events(request, &log,
                              (const struct event_row *const *)events, count);
    free(events);
    request->error = gateway_word((uint64_t)(int64_t)error);
}

/* A request as the guest has it in memory. */
union gateway_request {
    struct gateway_events events;
    struct gateway_watch watch;
    struct gateway_register access;
    struct gateway_virtual virtual;
};

static size_t
request_size(uint64_t operation)
{
    switch (operation) {
    case GATEWAY_EVENTS:
        return sizeof(struct gateway_events);
    case GATEWAY_WATCH:
        return sizeof(struct gateway_watch);
    case GATEWAY_REGISTER:
        return sizeof(struct gateway_register);
    case GATEWAY_VIRTUAL:
        return sizeof(struct gateway_virtual);
    default:
        return 0;
    }
}

/* Answers a request in a copy, since another thread may write there meanwhile.
 * Does nothing if the guest has no memory at the address. */
static void
answer(unsigned vcpu, uint64_t operation, uint64_t at)
{
    struct plugin *p = &tally_plugin;
    const size_t size = request_size(operation);
    union gateway_request request;

    if (operation == GATEWAY_READ)
        gateway_read(vcpu, at);
    if (size == 0 || !plugin_read(at, &request, size))
        return;
    pthread_mutex_lock(&p->lock);
    if (operation == GATEWAY_EVENTS)
        answer_events(&request.events);
    else if (operation == GATEWAY_WATCH)
        watch_answer(vcpu, &request.watch);
    else if (operation == GATEWAY_REGISTER)
        guest_pmu_answer(vcpu, &request.access);
    else
        vcounter_answer(&request.virtual);
    pthread_mutex_unlock(&p->lock);
    plugin_write(at, &request, size);
}

void
gateway_syscall(unsigned vcpu, int64_t number, uint64_t operation,
                uint64_t request)
{
    struct plugin *p = &tally_plugin;

    if (number != GATEWAY_CALL)
        gateway_memory_changed();
    if (number == GATEWAY_CALL) {
        if (tally_plugin.gateway.lives[vcpu] != NULL)
            answer(vcpu, operation, request);
    } else if (operation == GATEWAY_PRCTL &&
               call_is(CALL_PRCTL, tally_plugin.shape.isa, number) &&
               p->counts[vcpu] != NULL) {
        pthread_mutex_lock(&p->lock);
        answer_hello(vcpu, request);
        pthread_mutex_unlock(&p->lock);
    }
}
