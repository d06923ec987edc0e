/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/point.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/recorder.h"
#include "machine/sharing.h"
#include "machine/strand.h"
#include "plugin/blocks.h"
#include "plugin/plugin.h"
#include "plugin/qemu.h"

#define TOLD_US 2000 /* between looks at whether the session has the point */

/* A part of a block, as its callback has it. */
struct point_part {
    const struct block *block;
    uint32_t first, instructions;
};

/* Runs of a block, one directly after the other. */
struct block_run {
    uint64_t count;
    uint32_t block; /* by its number */
};

struct access_made {
    uint64_t address;
    uint32_t block; /* by its number */
    uint32_t size;
    uint16_t instruction;
    uint8_t flags; /* enum point_access_flags */
};

/* Of one live thread. */
struct point_thread {
    uint32_t thread; /* its number */
    uint32_t block;  /* that runs, by its number */
    /* Instructions that the thread had run before the part of a block that
     * runs, and the part's: its first one in the block, and how many. */
    uint64_t before;
    uint32_t first, instructions;
    bool repeats; /* the block that is entered is the next iteration of a
                     repeated instruction */
    /* The instruction of the block that is the point; the block's accesses
     * before it are waited for. */
    bool is_due;
    uint32_t due;
    /* Totals before the access that is made. */
    uint64_t misses, classes[POINT_CLASSES];
    uint64_t missed_line; /* the line of the access that the cache lacked, or
                             else that it had */
    uint64_t run_count, access_count; /* since the thread began */
    struct block_run runs[POINT_BLOCKS];
    struct access_made accesses[POINT_ACCESSES];
};

/* Who brought a line in. */
struct point_filled {
    uint64_t line; /* + 1; 0: none */
    uint64_t instruction;
    uint32_t block; /* by its number */
    uint32_t thread;
    uint32_t place; /* of the instruction in the block */
};

/* An access whose address is known. */
struct access_now {
    unsigned vcpu;
    uint64_t address;
    uint32_t size, instruction;
    bool store;
};

/* Setting up */

int
point_begin(struct plugin *p, bool first)
{
    struct point_state *const q = &p->point;

    if (p->request.point.kind == POINT_NONE || !first || q->threads != NULL)
        return 0;
    /* QEMU has started the debugger's stub for the first program alone. */
    if (p->executed && p->request.point.traps != 0)
        return 0;
    q->threads = calloc(COUNTS_STRANDS, sizeof(struct point_thread *));
    q->filled = calloc(p->chip.core_count, sizeof(struct point_filled *));
    q->runs = q->threads != NULL && q->filled != NULL;
    return q->runs ? 0 : TALLY_ENOMEM;
}

void
point_program(struct plugin *p)
{
    const struct point_request *const r = &p->request.point;
    struct point_state *const q = &p->point;

    if (!q->runs)
        return;
    /* Addresses are of the first program's file. */
    if (p->executed && (r->kind == POINT_ENTRY || r->range_count != 0)) {
        q->runs = false;
        return;
    }
    q->entry = r->entry + p->load_bias;
    for (unsigned i = 0; i < r->range_count; i++) {
        q->ranges[i].first = r->ranges[i].first + p->load_bias;
        q->ranges[i].last = r->ranges[i].last + p->load_bias;
    }
}

void
point_forks(struct plugin *p)
{
    p->point.runs = false;
}

/* Returns what is kept of the thread, or NULL: no point is looked for, or the
 * thread is not recorded. */
static struct point_thread *
thread_of(struct plugin *p, unsigned vcpu)
{
    const struct strand *const s = p->strands[vcpu];

    if (!p->point.runs || vcpu >= COUNTS_STRANDS || s == NULL ||
        s->recorder == NULL || s->callers == NULL)
        return NULL;
    struct point_thread **const t = &p->point.threads[vcpu];
    if (*t != NULL && (*t)->thread == s->counts->thread)
        return *t;
    free(*t);
    *t = calloc(1, sizeof(**t));
    if (*t == NULL)
        plugin_no_memory(p->process.head, "the last accesses of a thread");
    (*t)->thread = s->counts->thread;
    return *t;
}

/* Returns whether what the thread does is counted. */
static bool
counts(const struct plugin *p, const struct point_thread *t)
{
    const uint32_t wanted = p->request.point.thread;

    return wanted == NO_THREAD || wanted == t->thread;
}

/* Counts so many more. Returns whether the point is among them. */
static bool
pass(struct plugin *p, uint64_t more)
{
    struct point_state *const q = &p->point;
    const uint64_t wanted = p->request.point.count;
    const bool reached = q->passed < wanted && wanted - q->passed <= more;

    q->passed += more;
    atomic_store_explicit(&p->session->point.passed, q->passed,
                          memory_order_relaxed);
    return reached;
}

/* Telling what there is */

/* Finds an instruction of a block, by the block's number. */
static void
tell_place(const struct plugin *p, uint32_t block, uint32_t instruction,
           struct point_place *place)
{
    const struct record_process *const record = p->recording.process;
    struct point *const point = &p->session->point;

    if (block == 0 || block > COUNTS_BLOCKS)
        return;
    const struct record_place *const b = &record->places[block - 1];
    place->address = b->pc;
    if (b->instructions != 0) {
        const unsigned char *const sizes = record->code + b->code;
        const unsigned char *bytes = sizes + b->instructions;
        if (instruction >= b->instructions)
            instruction = b->instructions - 1u;
        for (uint32_t i = 0; i < instruction; i++) {
            place->address += sizes[i];
            bytes += sizes[i];
        }
        place->size =
            sizes[instruction] <= POINT_CODE ? sizes[instruction] : POINT_CODE;
        memcpy(place->code, bytes, place->size);
    }
    if (b->image == 0 || b->image > POINT_FILES)
        return;
    const struct counts_file *const file = &p->process.head->file[b->image - 1];
    place->file = b->image;
    place->offset = place->address - file->first + file->offset;
    memcpy(point->files[b->image - 1], file->path, sizeof(file->path));
}

/* Returns the number of the instruction that calls from a block: the last one,
 * or the one before it where that is in the call's delay slot. */
static uint32_t
calling(const struct plugin *p, uint32_t block)
{
    const uint32_t count =
        block != 0 && block <= COUNTS_BLOCKS
            ? p->recording.process->places[block - 1].instructions
            : 0;
    const uint32_t behind = p->shape.isa->slots == SLOTS_WITHIN ? 2 : 1;

    return count >= behind ? count - behind : 0;
}

/* Tells the calls that led to a heap block's allocator, innermost first. */
static void
tell_allocation(const struct plugin *p, uint32_t call,
                struct point_object *object)
{
    const struct record_process *const record = p->recording.process;

    while (call != RECORD_OUTERMOST && call != RECORD_UNKNOWN &&
           object->call_count < POINT_OBJECT_CALLS) {
        const struct record_call *const c = &record->calls[call - 1];
        tell_place(p, c->block, calling(p, c->block),
                   &object->calls[object->call_count++]);
        call = c->parent;
    }
}

static void
tell_object(const struct plugin *p, const struct strand *s, uint64_t address,
            struct point_object *object)
{
    const struct record_process *const record = p->recording.process;

    if (s->recorder->objects == NULL)
        return;
    const uint32_t number = recorder_object(s, address);
    if (number == 0 || number > RECORD_OBJECTS)
        return;
    const struct record_object *const o = &record->objects[number - 1];
    object->kind = o->kind;
    snprintf(object->name, sizeof(object->name), "%s", record->text + o->name);
    if (o->kind == RECORD_VARIABLE && o->image != 0)
        snprintf(object->image, sizeof(object->image), "%s",
                 record->text + record->objects[o->image - 1].name);
    if (o->kind == RECORD_HEAP)
        tell_allocation(p, o->call, object);
    if (o->kind == RECORD_STACK && o->call != 0)
        tell_place(p, o->call, 0, &object->calls[object->call_count++]);
}

static void
tell_calls(const struct plugin *p, const struct strand *s, struct point *point)
{
    uint32_t path = s->callers->path;

    while (path != CALLERS_OUTERMOST && path != CALLERS_UNKNOWN && path != 0 &&
           point->call_count < POINT_CALLS) {
        const struct callers_call call = callers_last_call(s->callers, path);
        const uint32_t block = call.block & ~RECORD_ON;
        tell_place(p, block, calling(p, block),
                   &point->calls[point->call_count++]);
        path = call.parent;
    }
    point->calls_unknown = path != CALLERS_OUTERMOST;
}

static void
tell_blocks(const struct plugin *p, const struct point_thread *t,
            struct point *point)
{
    const struct record_process *const record = p->recording.process;

    point->block_count =
        (uint32_t)(t->run_count < POINT_BLOCKS ? t->run_count : POINT_BLOCKS);
    for (uint32_t i = 0; i < point->block_count; i++) {
        const struct block_run *const run =
            &t->runs[(t->run_count - 1 - i) % POINT_BLOCKS];
        struct point_block *const b = &point->blocks[i];
        b->count = run->count;
        b->instructions = record->places[run->block - 1].instructions;
        tell_place(p, run->block, 0, &b->place);
    }
}

static void
tell_access(const struct plugin *p, const struct access_made *made,
            struct point_access *access)
{
    access->address = made->address;
    access->size = made->size;
    access->flags = made->flags;
    tell_place(p, made->block, made->instruction, &access->place);
}

static void
tell_accesses(const struct plugin *p, const struct point_thread *t,
              struct point *point)
{
    point->access_count =
        (uint32_t)(t->access_count < POINT_ACCESSES ? t->access_count
                                                    : POINT_ACCESSES);
    for (uint32_t i = 0; i < point->access_count; i++)
        tell_access(p, &t->accesses[(t->access_count - 1 - i) % POINT_ACCESSES],
                    &point->accesses[i]);
}

/* Who brought a line into the L1D of a core */

static struct point_filled *
filled_set(struct plugin *p, const struct strand *s, uint64_t line)
{
    const struct cache *const l1d = &s->core->l1d;
    struct point_filled **const f = &p->point.filled[s->core - p->chip.cores];

    if (*f == NULL)
        *f = calloc((l1d->set_mask + 1) * l1d->ways, sizeof(**f));
    if (*f == NULL)
        plugin_no_memory(p->process.head, "who brought lines in");
    return *f + (line & l1d->set_mask) * l1d->ways;
}

/* The access has brought the line in, if the cache has it. */
static void
note_filled(struct plugin *p, const struct strand *s,
            const struct point_thread *t, const struct access_now *a,
            uint64_t line)
{
    const struct cache *const l1d = &s->core->l1d;
    struct point_filled *const set = filled_set(p, s, line);
    struct point_filled *room = NULL;

    if (cache_search(l1d, line) == l1d->ways)
        return;
    for (uint32_t i = 0; i < l1d->ways; i++) {
        if (set[i].line == line + 1) {
            room = &set[i];
            break;
        }
        if (set[i].line == 0 || cache_search(l1d, set[i].line - 1) == l1d->ways)
            room = &set[i];
    }
    if (room != NULL)
        *room = (struct point_filled){line + 1,
                                      t->before + a->instruction - t->first + 1,
                                      t->block, t->thread, a->instruction};
}

/* Adds a line that stands at `place` of its set. */
static void
tell_line(struct plugin *p, const struct strand *s, uint64_t line,
          uint32_t place, struct point_line *l)
{
    const struct cache *const l1d = &s->core->l1d;
    const struct point_filled *const set = filled_set(p, s, line);
    const uint64_t own = (uint64_t)(s->core - p->chip.cores);
    struct sharing_known known;

    l->address = line << l1d->line_shift;
    if (sharing_look(&p->chip, line, &known)) {
        l->others = known.holders & ~((uint64_t)1 << own);
        l->flags |= known.modified == own + 1 ? POINT_LINE_DIRTY : 0u;
    } else if (l1d->dirty != NULL) {
        l->flags |= cache_dirty_at(l1d, line, place) ? POINT_LINE_DIRTY : 0u;
    }
    for (uint32_t i = 0; i < l1d->ways; i++) {
        if (set[i].line != line + 1)
            continue;
        l->flags |= POINT_LINE_BROUGHT;
        l->thread = set[i].thread;
        l->instruction = set[i].instruction;
        tell_place(p, set[i].block, set[i].place, &l->place);
    }
    tell_object(p, s, l->address, &l->object);
}

/* Tells the cache set of a line. */
static void
tell_set(struct plugin *p, const struct strand *s, uint64_t line,
         struct point_set *set)
{
    const struct cache *const l1d = &s->core->l1d;
    struct sharing_known known;

    memset(set, 0, sizeof(*set));
    set->number = line & l1d->set_mask;
    set->knows_dirty =
        sharing_look(&p->chip, line, &known) || l1d->dirty != NULL;
    set->order = l1d->marks != NULL                        ? POINT_BY_WAY
                 : l1d->replacement == L2_REPLACEMENT_FIFO ? POINT_BY_AGE
                                                           : POINT_BY_USE;
    for (uint32_t place = 0; place < l1d->ways; place++) {
        uint64_t at;
        if (!cache_line_at(l1d, line, place, &at))
            set->empty++;
        else if (set->line_count < POINT_WAYS)
            tell_line(p, s, at, place, &set->lines[set->line_count++]);
    }
}

/* Marks the line that has left the set since it was told. */
static void
mark_leaving(const struct strand *s, struct point_set *set)
{
    const struct cache *const l1d = &s->core->l1d;

    for (uint32_t i = 0; i < set->line_count; i++) {
        struct point_line *const l = &set->lines[i];
        if (cache_search(l1d, l->address >> l1d->line_shift) == l1d->ways)
            l->flags |= POINT_LINE_LEAVES;
    }
}

/* The totals of each class, in the order of enum point_class. */
static const struct {
    uint16_t load, store;
} classes[POINT_CLASSES] = {
    [POINT_CLASS_COHERENCE] = {SIGNAL_L1D_LOAD_COHERENCE_MISSES,
                               SIGNAL_L1D_STORE_COHERENCE_MISSES},
    [POINT_CLASS_FALSE] = {SIGNAL_L1D_LOAD_FALSE_MISSES,
                           SIGNAL_L1D_STORE_FALSE_MISSES},
    [POINT_CLASS_FIRST] = {SIGNAL_L1D_LOAD_FIRST_MISSES,
                           SIGNAL_L1D_STORE_FIRST_MISSES},
    [POINT_CLASS_CAPACITY] = {SIGNAL_L1D_LOAD_CAPACITY_MISSES,
                              SIGNAL_L1D_STORE_CAPACITY_MISSES},
    [POINT_CLASS_CONFLICT] = {SIGNAL_L1D_LOAD_CONFLICT_MISSES,
                              SIGNAL_L1D_STORE_CONFLICT_MISSES},
};

static uint64_t
class_total(const struct strand *s, unsigned class)
{
    return s->total[classes[class].load] + s->total[classes[class].store];
}

/* Returns the class of the miss that the access has just made. */
static unsigned
class_of(const struct strand *s, const struct point_thread *t)
{
    static const uint8_t order[] = {POINT_CLASS_FALSE, POINT_CLASS_COHERENCE,
                                    POINT_CLASS_FIRST, POINT_CLASS_CAPACITY,
                                    POINT_CLASS_CONFLICT};

    for (unsigned i = 0; i < sizeof(order); i++) {
        if (class_total(s, order[i]) != t->classes[order[i]])
            return order[i];
    }
    return POINT_CLASS_NONE;
}

static uint64_t
misses_of(const struct strand *s)
{
    return s->total[SIGNAL_L1D_LOAD_MISSES] + s->total[SIGNAL_L1D_STORE_MISSES];
}

/* Tells a debugger where code is from. */
static void
tell_maps(const struct plugin *p, struct point *point)
{
    const struct counts_head *const head = p->process.head;
    const unsigned count = atomic_load(&head->files);

    point->map_count = count < POINT_FILES ? count : POINT_FILES;
    for (unsigned i = 0; i < point->map_count; i++) {
        point->maps[i] =
            (struct point_map){head->file[i].first, head->file[i].offset};
        memcpy(point->files[i], head->file[i].path, sizeof(point->files[i]));
    }
}

/* Waits until the session has taken the point, or is gone. */
static void
wait_until_told(const struct plugin *p)
{
    const pid_t session = getppid();

    while (atomic_load(&p->session->point.told) == 0 && getppid() == session)
        usleep(TOLD_US);
}

/* Stops the process: ends it, or has its debugger stop it. QEMU takes a signal
 * to one of its threads for a signal of the program, and hands it to the
 * debugger where the thread comes to the next block. */
static void
stop(struct plugin *p)
{
    p->point.runs = false;
    if (p->request.point.traps == 0) {
        kill(getpid(), SIGKILL);
        return;
    }
    wait_until_told(p);
    qemu_signal_thread(SIGTRAP);
}

/* The point is at an instruction of the block that runs: tells what there is,
 * and stops the process. `access`: the one that missed, or NULL. */
static void
reach(struct plugin *p, const struct strand *s, const struct point_thread *t,
      uint32_t instruction, const struct access_now *access)
{
    struct point *const point = &p->session->point;

    point->pid = (uint32_t)getpid();
    point->thread = t->thread;
    point->instruction = t->before + instruction - t->first + 1;
    point->all_instructions =
        p->point.all - t->instructions + instruction - t->first;
    tell_place(p, t->block, instruction, &point->place);
    tell_blocks(p, t, point);
    tell_accesses(p, t, point);
    tell_calls(p, s, point);
    if (point->access_count != 0) {
        point->has_access = point->has_set = 1;
        point->access = point->accesses[0];
        tell_object(p, s, point->access.address, &point->object);
    }
    if (access != NULL) {
        point->class = class_of(s, t);
        mark_leaving(s, &p->point.set);
        point->set = p->point.set;
    } else if (point->has_access) {
        tell_set(p, s, point->access.address >> s->core->l1d.line_shift,
                 &point->set);
    }
    if (p->request.point.traps != 0)
        tell_maps(p, point);
    atomic_store(&point->reached, 1);
    stop(p);
}

/* Blocks */

/* Returns whether the block that comes shows that the slot of the branch before
 * did not run, as annul_slot() of callbacks.c does. */
static bool
is_annulled(const struct strand *s, const struct block *b)
{
    const struct block *const last = s->previous;
    const struct block *const slot =
        last->flags & BLOCK_PENDING ? s->slot : last;

    return (b->flags & BLOCK_AFTER) && (last->flags & BLOCK_LIKELY) &&
           slot != NULL && b->pc == slot->end;
}

static void
on_leave(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct point_thread *const t = thread_of(p, vcpu);
    const struct block *const b = data;
    struct strand *s;

    if (t == NULL)
        return;
    s = p->strands[vcpu];
    t->repeats = (b->flags & BLOCK_RESUMED) &&
                 (s->previous->flags & BLOCK_REPEAT) &&
                 s->previous->last_pc == b->pc;
    if (t->repeats)
        return;
    if (t->is_due) {
        t->is_due = false;
        reach(p, s, t, t->due, NULL);
        return;
    }
    if (is_annulled(s, b) && t->instructions != 0) {
        t->instructions--;
        p->point.all--;
        if (p->request.point.kind == POINT_INSTRUCTION && counts(p, t))
            p->point.passed--;
    }
}

/* Counts the instructions of a part of a block that begins to run. */
static void
enter_part(struct plugin *p, unsigned vcpu, struct point_thread *t,
           const struct point_part *part)
{
    const uint64_t passed = p->point.passed;

    t->before += t->instructions;
    t->first = part->first;
    t->instructions = part->instructions;
    p->point.all += part->instructions;
    if (p->request.point.kind != POINT_INSTRUCTION || !counts(p, t) ||
        !pass(p, part->instructions))
        return;
    t->due = part->first + (uint32_t)(p->request.point.count - passed) - 1;
    t->is_due = t->due != part->first;
    if (!t->is_due)
        reach(p, p->strands[vcpu], t, t->due, NULL);
}

static void
note_run(struct point_thread *t, uint32_t block)
{
    struct block_run *const last = &t->runs[(t->run_count - 1) % POINT_BLOCKS];

    t->block = block;
    if (t->run_count != 0 && last->block == block)
        last->count++;
    else
        t->runs[t->run_count++ % POINT_BLOCKS] = (struct block_run){1, block};
}

static void
on_enter(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct point_thread *const t = thread_of(p, vcpu);
    const struct point_part *const part = data;

    if (t == NULL || t->repeats)
        return;
    note_run(t, block_number(part->block));
    enter_part(p, vcpu, t, part);
    if (p->request.point.kind == POINT_ENTRY && p->point.runs &&
        part->block->pc == p->point.entry && counts(p, t) && pass(p, 1))
        reach(p, p->strands[vcpu], t, 0, NULL);
}

static void
on_part(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct point_thread *const t = thread_of(p, vcpu);

    if (t != NULL)
        enter_part(p, vcpu, t, data);
}

/* Accesses */

static struct access_now
access_of(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    return (struct access_now){
        .vcpu = vcpu,
        .address = addr,
        .size = 1u << qemu_plugin_mem_size_shift(info),
        .instruction = (uint32_t)(uintptr_t)data,
        .store = qemu_plugin_mem_is_store(info),
    };
}

/* Returns the line of the access that the L1D lacks, or if it has all, the
 * first. */
static uint64_t
line_asked(const struct strand *s, const struct access_now *a)
{
    const struct cache *const l1d = &s->core->l1d;
    const uint64_t first = a->address >> l1d->line_shift;
    const uint64_t last = (a->address + a->size - 1) >> l1d->line_shift;

    return last != first && cache_has(l1d, first) ? last : first;
}

/* Before the model makes an access. */
static void
on_before(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct point_thread *const t = thread_of(p, vcpu);
    const struct access_now a = access_of(vcpu, info, addr, data);

    if (t == NULL)
        return;
    struct strand *const s = p->strands[vcpu];
    if (t->is_due && a.instruction >= t->due) {
        t->is_due = false;
        reach(p, s, t, t->due, NULL);
        return;
    }
    t->misses = misses_of(s);
    t->missed_line = line_asked(s, &a);
    if (p->request.point.kind != POINT_MISS || !counts(p, t) ||
        p->request.point.count - p->point.passed > 2 ||
        cache_has(&s->core->l1d, t->missed_line))
        return;
    /* An access that crosses lines may miss twice. */
    for (unsigned i = 0; i < POINT_CLASSES; i++)
        t->classes[i] = class_total(s, i);
    strand_settle(s);
    tell_set(p, s, t->missed_line, &p->point.set);
}

/* Returns whether misses of the instruction count. */
static bool
is_in_range(const struct plugin *p, const struct access_now *a, uint32_t block)
{
    const struct point_request *const r = &p->request.point;
    struct point_place place = {0};

    if (r->range_count == 0)
        return true;
    tell_place(p, block, a->instruction, &place);
    for (unsigned i = 0; i < r->range_count; i++) {
        if (place.address >= p->point.ranges[i].first &&
            place.address <= p->point.ranges[i].last)
            return true;
    }
    return false;
}

/* After the model has made an access. */
static void
on_after(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct point_thread *const t = thread_of(p, vcpu);
    const struct access_now a = access_of(vcpu, info, addr, data);

    if (t == NULL)
        return;
    struct strand *const s = p->strands[vcpu];
    if (s->queue.next != s->queue.entries)
        strand_drain(s);
    const uint64_t misses = misses_of(s) - t->misses;
    t->accesses[t->access_count++ % POINT_ACCESSES] = (struct access_made){
        .address = a.address,
        .block = t->block,
        .size = a.size,
        .instruction = (uint16_t)a.instruction,
        .flags = (uint8_t)((a.store ? POINT_STORE : 0) |
                           (misses != 0 ? POINT_MISSED : 0)),
    };
    if (misses == 0)
        return;
    if (p->request.point.kind == POINT_MISS && counts(p, t) &&
        is_in_range(p, &a, t->block) && pass(p, misses)) {
        reach(p, s, t, a.instruction, &a);
        return;
    }
    note_filled(p, s, t, &a, t->missed_line);
    if (misses > 1)
        note_filled(p, s, t, &a, t->missed_line + 1);
}

/* Registering */

static int
compare_parts(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct point_part));
}

/* Returns the one copy of a part, which lives as long as the process. */
static void *
keep_part(struct plugin *p, const struct block *block, unsigned first,
          unsigned instructions)
{
    const struct point_part part = {block, first, instructions};

    return (void *)(uintptr_t)blocks_keep_copy(
        &p->table, &p->point.parts, &part, sizeof(part), compare_parts);
}

void
point_register_leave(struct plugin *p, struct qemu_plugin_tb *tb,
                     const struct block *block)
{
    if (p->point.runs)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_leave, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
}

void
point_register_enter(struct plugin *p, struct qemu_plugin_tb *tb,
                     const struct block *block, unsigned instructions)
{
    if (p->point.runs)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_enter, QEMU_PLUGIN_CB_NO_REGS,
            keep_part(p, block, 0, instructions));
}

void
point_register_part(struct plugin *p, struct qemu_plugin_insn *marker,
                    const struct block *block, unsigned first,
                    unsigned instructions)
{
    if (p->point.runs)
        qemu_plugin_register_vcpu_insn_exec_cb(
            marker, on_part, QEMU_PLUGIN_CB_NO_REGS,
            keep_part(p, block, first, instructions));
}

void
point_register_before(struct qemu_plugin_insn *insn, unsigned instruction)
{
    qemu_plugin_register_vcpu_mem_cb(insn, on_before, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW,
                                     (void *)(uintptr_t)instruction);
}

void
point_register_after(struct qemu_plugin_insn *insn, unsigned instruction)
{
    qemu_plugin_register_vcpu_mem_cb(insn, on_after, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW,
                                     (void *)(uintptr_t)instruction);
}
