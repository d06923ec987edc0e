/* SPDX-License-Identifier: MIT */
#include "ref/virtual_ref.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, NOTHING = -1 };

/* Accounts */

static void
write_down(struct ref_account *a, uint8_t index)
{
    if (a->length == a->room) {
        a->room = a->room == 0 ? 64 : 2 * a->room;
        a->list = realloc(a->list, a->room);
        if (a->list == NULL)
            abort();
    }
    a->list[a->length++] = index;
}

static void
turns_begin(const struct ref *r, struct ref_account *a,
            const struct ref_wish *wish)
{
    for (unsigned c = 0; c < r->counters; c++) {
        a->turn[c] = NOTHING;
        for (int i = VIRTUAL_EVENTS - 1; i >= 0; i--) {
            if (wish->place[i] == (int)c)
                a->turn[c] = i;
        }
    }
    memset(a->since, 0, sizeof(a->since));
}

static void
account_clear(struct ref_account *a)
{
    free(a->list);
    memset(a, 0, sizeof(*a));
    for (unsigned c = 0; c < VIRTUAL_HARDWARE; c++)
        a->turn[c] = NOTHING;
}

static void
account_add(struct ref_account *to, const struct ref_account *from)
{
    for (size_t k = 0; k < from->length; k++)
        write_down(to, from->list[k]);
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        to->enabled[i] += from->enabled[i];
        to->running[i] += from->running[i];
    }
}

static void
account_read(const struct ref_account *a,
             struct counter_reading readings[VIRTUAL_EVENTS])
{
    for (size_t k = 0; k < a->length; k++)
        readings[a->list[k]].value++;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        readings[i].enabled += a->enabled[i];
        readings[i].running += a->running[i];
    }
}

/* Wishes */

static void
wish_nothing(struct ref_wish *wish)
{
    memset(wish, 0, sizeof(*wish));
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        wish->place[i] = NOTHING;
}

/* Where the event goes: to the counter with the fewest so far. */
static int
place_of(const struct ref *r, const struct ref_wish *wish, unsigned index)
{
    int best = NOTHING, fewest = VIRTUAL_EVENTS + 1;

    for (int c = 0; c < (int)r->counters; c++) {
        int events = 0;
        for (unsigned i = 0; i < index; i++)
            events += wish->place[i] == c;
        if (!r->any && c != (index < 16 ? 0 : 1))
            continue;
        if (events < fewest) {
            best = c;
            fewest = events;
        }
    }
    return best;
}

/* False: the events are specified improperly. */
static bool
wish_make(const struct ref *r, const struct virtual_request *q,
          struct ref_wish *wish)
{
    bool good = q->signal >= 0 && q->signal <= 32, some = false;

    wish_nothing(wish);
    wish->request = *q;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const unsigned wanted = r->any ? i : i % 16;
        good = good && q->threshold[i] >= 0;
        if (q->spec[i] == 0)
            continue;
        some = true;
        good = good && q->spec[i] % 16 != 0 && q->spec[i] / 32 == wanted;
        wish->place[i] = place_of(r, wish, i);
    }
    return good && some;
}

static bool
asks_for(const struct virtual_request *q, unsigned bit)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        if (q->spec[i] & bit)
            return true;
    }
    return false;
}

static bool
needs_root(const struct virtual_request *q)
{
    return asks_for(q, 1) || asks_for(q, 2) || asks_for(q, 4);
}

/* Who counts on a CPU: an account and its wish; NULL: nobody. */

static struct ref_account *
on_cpu(struct ref *r, unsigned cpu, struct ref_wish **wish)
{
    const int p = r->cpu[cpu].process;

    if (r->system) {
        *wish = &r->wish;
        return &r->cpu[cpu].account;
    }
    if (p == NOBODY || !r->process[p].counting)
        return NULL;
    *wish = &r->process[p].wish;
    return &r->process[p].account;
}

static void
bump(struct ref_process *p, uint64_t pc)
{
    for (unsigned b = 0; b < REF_BUCKETS; b++) {
        const uint64_t first = p->profile_from + 2 * b;
        if (p->profiled && (pc == first || pc == first + 1) &&
            p->buckets[b] < UINT16_MAX)
            p->buckets[b]++;
    }
}

/* Reports the event on counter `c` if the event has reached its threshold. */
static void
settle_threshold(struct ref *r, unsigned cpu, unsigned c)
{
    struct ref_wish *wish;
    struct ref_account *const a = on_cpu(r, cpu, &wish);
    const int i = a->turn[c];
    const int who = r->system ? r->watcher : r->cpu[cpu].process;

    if (i == NOTHING || wish->request.threshold[i] == 0 ||
        a->since[i] < (uint32_t)wish->request.threshold[i])
        return;
    a->since[i] = 0;
    if (who == NOBODY)
        return;
    if (wish->request.signal != 0 && r->told_count < REF_TOLD)
        r->told[r->told_count++] =
            (struct ref_told){who, wish->request.signal, (unsigned)i};
    if (!r->system)
        bump(&r->process[who], r->cpu[cpu].pc);
}

/* Before whoever counts on the CPU stops doing so. */
static void
settle_cpu(struct ref *r, unsigned cpu)
{
    struct ref_wish *wish;

    if (on_cpu(r, cpu, &wish) == NULL)
        return;
    for (unsigned c = 0; c < r->counters; c++)
        settle_threshold(r, cpu, c);
}

static void
settle_process(struct ref *r, int p)
{
    if (r->process[p].counting && r->process[p].cpu != NOBODY)
        settle_cpu(r, (unsigned)r->process[p].cpu);
}

/* What happens */

void
ref_init(struct ref *r, unsigned cpus, unsigned counters, bool any)
{
    memset(r, 0, sizeof(*r));
    r->cpu_count = cpus;
    r->counters = counters;
    r->any = any;
    r->holder = r->watcher = NOBODY;
    r->generation = 1;
    wish_nothing(&r->wish);
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        r->cpu[cpu].process = NOBODY;
}

void
ref_finish(struct ref *r)
{
    for (int p = 0; p < REF_PROCESSES; p++)
        account_clear(&r->process[p].account);
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        account_clear(&r->cpu[cpu].account);
    account_clear(&r->global);
}

void
ref_create(struct ref *r, int p, unsigned group, bool root)
{
    struct ref_process *const new = &r->process[p];

    memset(new, 0, sizeof(*new));
    account_clear(&new->account);
    wish_nothing(&new->wish);
    new->alive = true;
    new->group = group;
    new->root = root;
    new->cpu = NOBODY;
    new->generation = 1;
}

void
ref_switch(struct ref *r, unsigned cpu, int p, uint64_t pc)
{
    const int old = r->cpu[cpu].process;

    r->cpu[cpu].pc = pc;
    if (old == p)
        return;
    if (old != NOBODY) {
        settle_process(r, old);
        r->process[old].cpu = NOBODY;
    }
    r->cpu[cpu].process = p;
    if (p != NOBODY)
        r->process[p].cpu = (int)cpu;
}

void
ref_tick(struct ref *r, unsigned cpu, uint64_t pc)
{
    struct ref_wish *wish;
    struct ref_account *const a = on_cpu(r, cpu, &wish);

    r->cpu[cpu].pc = pc;
    for (unsigned c = 0; a != NULL && c < r->counters; c++) {
        const int old = a->turn[c];
        int next = old;
        if (old == NOTHING)
            continue;
        do
            next = (next + 1) % VIRTUAL_EVENTS;
        while (wish->place[next] != (int)c);
        if (next == old)
            continue;
        settle_threshold(r, cpu, c);
        a->turn[c] = next;
    }
}

void
ref_service(struct ref *r, unsigned cpu, uint64_t pc)
{
    r->cpu[cpu].pc = pc;
    settle_cpu(r, cpu);
}

void
ref_occurs(struct ref *r, unsigned cpu, unsigned index)
{
    struct ref_wish *wish;
    struct ref_account *const a = on_cpu(r, cpu, &wish);

    if (a == NULL || wish->place[index] == NOTHING ||
        a->turn[wish->place[index]] != (int)index ||
        (wish->request.spec[index] & r->cpu[cpu].mode) == 0)
        return;
    write_down(a, (uint8_t)index);
    a->since[index]++;
}

bool
ref_due(struct ref *r, unsigned cpu)
{
    struct ref_wish *wish;
    const struct ref_account *const a = on_cpu(r, cpu, &wish);

    for (unsigned c = 0; a != NULL && c < r->counters; c++) {
        const int i = a->turn[c];
        if (i != NOTHING && wish->request.threshold[i] != 0 &&
            a->since[i] >= (uint32_t)wish->request.threshold[i])
            return true;
    }
    return false;
}

void
ref_time_passes(struct ref *r)
{
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++) {
        struct ref_wish *wish;
        struct ref_account *const a = on_cpu(r, cpu, &wish);
        for (unsigned i = 0; a != NULL && i < VIRTUAL_EVENTS; i++) {
            if (wish->place[i] == NOTHING)
                continue;
            a->enabled[i]++;
            a->running[i] += a->turn[wish->place[i]] == (int)i;
        }
    }
}

void
ref_fork(struct ref *r, int parent, int child)
{
    const struct ref_process *const from = &r->process[parent];
    struct ref_process *const to = &r->process[child];

    ref_create(r, child, from->group, from->root);
    to->generation = from->generation;
    to->counting = from->counting;
    to->wish = from->wish;
    turns_begin(r, &to->account, &to->wish);
}

static void system_ends(struct ref *r);

void
ref_exit(struct ref *r, int p, int parent, bool waiting)
{
    struct ref_process *const old = &r->process[p];

    if (r->holder == p)
        system_ends(r);
    if (r->watcher == p)
        r->watcher = NOBODY;
    if (old->cpu != NOBODY)
        ref_switch(r, (unsigned)old->cpu, NOBODY, r->cpu[old->cpu].pc);
    if (parent != NOBODY && (waiting || old->saved) && !old->of_system)
        account_add(&r->process[parent].account, &old->account);
    else
        r->dropped += old->account.length - old->foreign;
    account_clear(&old->account);
    memset(old, 0, sizeof(*old));
}

/* System mode */

static void
system_begins(struct ref *r, const struct ref_wish *wish, int holder,
              int watcher)
{
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        settle_cpu(r, cpu);
    for (int p = 0; p < REF_PROCESSES; p++) {
        if (!r->process[p].alive || !r->process[p].counting)
            continue;
        r->process[p].counting = false;
        r->process[p].generation++;
    }
    r->system = true;
    r->generation++;
    r->holder = holder;
    r->watcher = watcher;
    r->wish = *wish;
    account_clear(&r->global);
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++) {
        r->dropped += r->cpu[cpu].account.length;
        account_clear(&r->cpu[cpu].account);
        turns_begin(r, &r->cpu[cpu].account, wish);
    }
}

static void
coalesce(struct ref *r)
{
    account_clear(&r->global);
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        account_add(&r->global, &r->cpu[cpu].account);
}

static void
system_ends(struct ref *r)
{
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        settle_cpu(r, cpu);
    coalesce(r);
    if (r->holder != NOBODY) {
        account_add(&r->process[r->holder].account, &r->global);
        r->process[r->holder].of_system = true;
        r->process[r->holder].foreign = r->global.length;
    }
    r->system = false;
    r->holder = r->watcher = NOBODY;
}

static void
system_changes(struct ref *r, const struct ref_wish *wish)
{
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        settle_cpu(r, cpu);
    r->wish = *wish;
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        turns_begin(r, &r->cpu[cpu].account, wish);
    r->generation++;
    if (r->holder != NOBODY)
        r->process[r->holder].generation++;
}

/* Calls */

static bool
may(const struct ref *r, int caller, int p)
{
    return r->process[caller].root ||
           r->process[caller].group == r->process[p].group;
}

static int
restart(struct ref *r, int p, const struct ref_wish *wish)
{
    struct ref_process *const it = &r->process[p];

    settle_process(r, p);
    r->dropped += it->account.length - it->foreign;
    account_clear(&it->account);
    it->of_system = false;
    it->foreign = 0;
    it->profiled = false;
    it->counting = wish != NULL;
    if (wish != NULL) {
        it->wish = *wish;
        turns_begin(r, &it->account, wish);
    } else {
        wish_nothing(&it->wish);
    }
    return ++it->generation;
}

int
ref_start(struct ref *r, int caller, int p, const struct virtual_request *q)
{
    struct ref_wish wish;
    bool counted = false;

    if (!may(r, caller, p))
        return VIRTUAL_EPERM;
    if (!wish_make(r, q, &wish))
        return VIRTUAL_EINVAL;
    if (needs_root(q) && !r->process[caller].root)
        return VIRTUAL_EPERM;
    if (r->system)
        return VIRTUAL_EBUSY;
    if (!asks_for(q, 2))
        return restart(r, p, &wish);
    for (int k = 0; k < REF_PROCESSES; k++)
        counted |= r->process[k].alive && r->process[k].counting &&
                   r->process[k].cpu != NOBODY;
    if (counted)
        return VIRTUAL_EBUSY;
    system_begins(r, &wish, p, p);
    return restart(r, p, NULL);
}

int
ref_read(struct ref *r, int caller, int p,
         struct counter_reading readings[VIRTUAL_EVENTS])
{
    if (!may(r, caller, p))
        return VIRTUAL_EPERM;
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    if (r->holder == p) {
        coalesce(r);
        account_read(&r->global, readings);
    }
    account_read(&r->process[p].account, readings);
    return r->process[p].generation;
}

int
ref_control(struct ref *r, int caller, int p, uint16_t spec[VIRTUAL_EVENTS])
{
    static const struct virtual_request nothing;
    const struct virtual_request *q = &nothing;

    if (!may(r, caller, p))
        return VIRTUAL_EPERM;
    if (r->process[p].counting)
        q = &r->process[p].wish.request;
    if (r->holder == p)
        q = &r->wish.request;
    memcpy(spec, q->spec, sizeof(q->spec));
    return r->process[p].generation;
}

int
ref_change(struct ref *r, int caller, int p, const struct virtual_request *q)
{
    struct ref_wish wish;
    struct ref_process *const it = &r->process[p];

    if (!may(r, caller, p))
        return VIRTUAL_EPERM;
    if (!wish_make(r, q, &wish))
        return VIRTUAL_EINVAL;
    if (needs_root(q) && !r->process[caller].root)
        return VIRTUAL_EPERM;
    if (r->holder == p) {
        if (!asks_for(q, 2))
            return VIRTUAL_EINVAL;
        system_changes(r, &wish);
        return it->generation;
    }
    if (r->system)
        return VIRTUAL_EBUSY;
    if (!it->counting || asks_for(q, 2))
        return VIRTUAL_EINVAL;
    settle_process(r, p);
    it->wish = wish;
    turns_begin(r, &it->account, &wish);
    return ++it->generation;
}

int
ref_release(struct ref *r, int caller, int p)
{
    if (!may(r, caller, p) || (r->holder == p && !r->process[caller].root))
        return VIRTUAL_EPERM;
    if (r->holder == p)
        system_ends(r);
    settle_process(r, p);
    r->process[p].counting = false;
    r->process[p].profiled = false;
    return 0;
}

int
ref_save(struct ref *r, int caller, int p)
{
    if (!may(r, caller, p))
        return VIRTUAL_EPERM;
    r->process[p].saved = true;
    return 0;
}

int
ref_profile(struct ref *r, int caller, const struct virtual_request *q,
            uint64_t from)
{
    struct ref_wish wish;
    struct ref_process *const it = &r->process[caller];
    bool some = false;

    if (!wish_make(r, q, &wish))
        return VIRTUAL_EINVAL;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        some |= q->spec[i] != 0 && q->threshold[i] > 0;
    if (!some || (it->root && asks_for(q, 2)))
        return VIRTUAL_EINVAL;
    if (needs_root(q) && !it->root)
        return VIRTUAL_EPERM;
    if (r->system)
        return VIRTUAL_EBUSY;
    restart(r, caller, &wish);
    it->profiled = true;
    it->profile_from = from;
    return it->generation;
}

int
ref_system_start(struct ref *r, int caller, const struct virtual_request *q)
{
    struct ref_wish wish;

    if (!r->process[caller].root)
        return VIRTUAL_EPERM;
    if (!wish_make(r, q, &wish) || !asks_for(q, 2))
        return VIRTUAL_EINVAL;
    if (r->system)
        return VIRTUAL_EBUSY;
    system_begins(r, &wish, NOBODY, caller);
    return r->generation;
}

int
ref_system_read(struct ref *r, struct counter_reading readings[VIRTUAL_EVENTS])
{
    if (r->system)
        coalesce(r);
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    account_read(&r->global, readings);
    return r->generation;
}

int
ref_system_read_cpu(struct ref *r, unsigned cpu,
                    struct counter_reading readings[VIRTUAL_EVENTS])
{
    if (cpu >= r->cpu_count)
        return 0;
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    account_read(&r->cpu[cpu].account, readings);
    return r->generation;
}

int
ref_system_control(struct ref *r, uint16_t spec[VIRTUAL_EVENTS])
{
    if (!r->system)
        return VIRTUAL_EINVAL;
    memcpy(spec, r->wish.request.spec, sizeof(r->wish.request.spec));
    return r->generation;
}

int
ref_system_change(struct ref *r, int caller, const struct virtual_request *q)
{
    struct ref_wish wish;

    if (!r->process[caller].root)
        return VIRTUAL_EPERM;
    if (!wish_make(r, q, &wish) || !asks_for(q, 2) || !r->system)
        return VIRTUAL_EINVAL;
    system_changes(r, &wish);
    return r->generation;
}

int
ref_system_release(struct ref *r, int caller)
{
    if (!r->process[caller].root)
        return VIRTUAL_EPERM;
    if (r->system)
        system_ends(r);
    return 0;
}

/* A holder's copy of the system's counts is no other occurrence. */
uint64_t
ref_kept(const struct ref *r)
{
    uint64_t sum = 0;

    for (int p = 0; p < REF_PROCESSES; p++) {
        if (r->process[p].alive)
            sum += r->process[p].account.length - r->process[p].foreign;
    }
    for (unsigned cpu = 0; cpu < r->cpu_count; cpu++)
        sum += r->cpu[cpu].account.length;
    return sum;
}
