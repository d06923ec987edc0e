/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/steps.h"

#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/recorder.h"
#include "machine/strand.h"
#include "machine/watched.h"
#include "plugin/blocks.h"
#include "plugin/plugin.h"
#include "plugin/qemu.h"

/* An instruction of a block. */
struct steps_site {
    struct steps_block *code; /* that it is in */
    uint64_t address;
    uint16_t index; /* in the block */
    bool passes;    /* its loads pass the L1D by */
    uint8_t size;
    uint8_t bytes[POINT_CODE];
};

/* The code of a block. */
struct steps_block {
    const struct block *block;
    uint32_t place; /* 1 + that of the first instruction in steps.places; 0: it
                       has none yet */
    uint32_t image; /* as recording_image() has it */
    uint32_t count;
    struct steps_site sites[];
};

/* A part of a block, as its callback has it. */
struct steps_part {
    struct steps_block *code;
    uint32_t first, instructions;
    int16_t fixed[SIGNAL_FIXED_COUNT];
};

/* What predicts a branch, before the branch is judged. */
struct branch_before {
    const struct block *block; /* that the branch closes; NULL: none */
    struct steps_site *site;   /* the branch */
    bool counts;               /* recording had begun where it ran */
    uint64_t instruction;      /* its number in its thread */
    uint64_t wrong, right;     /* totals of wrong predictions, by direction */
    const uint8_t *counter;    /* two-bit, or NULL */
    struct tage_view tage;
    uint64_t words[STEP_BRANCH_WORDS];
};

/* A line that an access asks for. */
struct line_before {
    uint64_t line; /* its number */
    bool held;     /* the set has it */
    uint64_t places[WATCHED_WAYS];
};

/* Of one live thread. */
struct steps_thread {
    uint32_t thread; /* its number */
    /* The block that runs; instructions that the thread had run before the part
     * of a block that runs, and the part's: its first one in the block, and how
     * many. */
    struct steps_block *code;
    uint64_t before;
    uint32_t first, instructions;
    bool repeats;     /* the block that is entered is the next iteration of a
                         repeated instruction */
    uint64_t history; /* directions of conditional branches, newest lowest */
    struct branch_before branch;
    /* An access: totals before it, and the lines that it asks for. */
    bool asks; /* `lines` are those of an access that is made */
    uint64_t missed, asked, victims, classes[POINT_CLASSES];
    unsigned line_count;
    struct line_before lines[2];
    uint64_t seen[SIGNAL_COUNT]; /* totals that blocks have had their part of */
};

/* Setting up */

/* Adds a signal to those that are added up, once. */
static void
add_signal(struct steps_sum *sum, uint16_t signal)
{
    for (unsigned i = 0; i < sum->count; i++) {
        if (sum->signals[i] == signal)
            return;
    }
    if (signal != 0 && sum->count < STEPS_SIGNALS)
        sum->signals[sum->count++] = signal;
}

/* Finds the signals of accesses to data among those of requests of all kinds.
 */
static void
find_sum(struct steps_sum *sum, const uint16_t *signals)
{
    sum->count = 0;
    for (unsigned kind = 0; signals != NULL && kind < REQUEST_KINDS; kind++) {
        if (WATCHED_KINDS >> kind & 1)
            add_signal(sum, signals[kind]);
    }
}

/* Begins to tell why the level lacks lines. 0 or TALLY_ENOMEM. */
static int
begin_sets(struct plugin *p)
{
    struct steps_state *const q = &p->steps;
    struct steps *const steps = &p->session->steps;
    const enum cache_id level = (enum cache_id)p->request.steps.level;

    classes_init(&q->classes, &q->reasons);
    p->chip.classes = &q->classes;
    if (reasons_begin(&q->reasons, &p->chip, level) != 0)
        return TALLY_ENOMEM;
    find_sum(&q->misses, q->reasons.level.misses);
    find_sum(&q->fronts, q->reasons.level.front);
    const uint64_t ways = p->request.params[tally_caches[level].ways];
    steps->ways = (uint32_t)(ways < WATCHED_WAYS ? ways : WATCHED_WAYS);
    return 0;
}

int
steps_begin(struct plugin *p, bool first)
{
    struct steps_state *const q = &p->steps;

    if (p->request.steps.kind == STEPS_NONE || !first)
        return 0;
    if (q->threads == NULL) {
        q->threads = calloc(COUNTS_STRANDS, sizeof(struct steps_thread *));
        if (q->threads == NULL)
            return TALLY_ENOMEM;
        q->from = q->to = NO_LINE;
        q->runs = true;
    }
    return q->runs && p->request.steps.kind == STEPS_SETS ? begin_sets(p) : 0;
}

void
steps_program(struct plugin *p)
{
    const struct steps_request *const r = &p->request.steps;
    struct steps_state *const q = &p->steps;

    if (!q->runs)
        return;
    /* Addresses are of the first program's file. */
    if (p->executed &&
        (r->from != NO_LINE || r->to != NO_LINE || r->range_count != 0)) {
        q->runs = false;
        return;
    }
    if (r->from != NO_LINE)
        q->from = r->from + p->load_bias;
    if (r->to != NO_LINE)
        q->to = r->to + p->load_bias;
    for (unsigned i = 0; i < r->range_count; i++) {
        q->ranges[i].first = r->ranges[i].first + p->load_bias;
        q->ranges[i].last = r->ranges[i].last + p->load_bias;
    }
}

void
steps_forks(struct plugin *p)
{
    p->steps.runs = false;
}

/* Returns what is kept of the thread, or NULL: no steps are recorded. */
static struct steps_thread *
thread_of(struct plugin *p, unsigned vcpu)
{
    const struct strand *const s = p->strands[vcpu];

    if (!p->steps.runs || vcpu >= COUNTS_STRANDS || s == NULL)
        return NULL;
    struct steps_thread **const t = &p->steps.threads[vcpu];
    if (*t != NULL && (*t)->thread == s->counts->thread)
        return *t;
    free(*t);
    *t = calloc(1, sizeof(**t));
    if (*t == NULL)
        plugin_no_memory(p->process.head, "the steps of a thread");
    (*t)->thread = s->counts->thread;
    return *t;
}

/* Ends the recording, and the program. */
static void
end(struct plugin *p, enum steps_end why)
{
    struct steps_state *const q = &p->steps;

    if (!q->runs)
        return;
    q->runs = q->on = false;
    atomic_store(&p->session->steps.end, (unsigned)why);
    kill(getpid(), SIGKILL);
}

/* Returns whether steps of the thread at this place are recorded. */
static bool
is_wanted(const struct plugin *p, const struct steps_thread *t,
          const struct steps_site *site)
{
    const struct steps_request *const r = &p->request.steps;
    const struct steps_state *const q = &p->steps;

    if (!q->on || (r->thread != NO_THREAD && r->thread != t->thread))
        return false;
    for (unsigned i = 0; i < r->range_count; i++) {
        if (site->address >= q->ranges[i].first &&
            site->address <= q->ranges[i].last)
            return true;
    }
    return r->range_count == 0;
}

/* Writing steps */

/* Names the instructions of a block, once, as far as there is room. */
static void
name_code(struct plugin *p, struct steps_block *code)
{
    struct steps *const steps = &p->session->steps;
    const unsigned first = atomic_load(&steps->place_count);
    const struct counts_file *const file =
        code->image == 0 || code->image > POINT_FILES
            ? NULL
            : &p->process.head->file[code->image - 1];

    if (code->place != 0 || code->count > STEPS_PLACES - first)
        return;
    for (unsigned i = 0; i < code->count; i++) {
        const struct steps_site *const site = &code->sites[i];
        struct point_place *const place = &steps->places[first + i];
        place->address = site->address;
        place->size = site->size;
        memcpy(place->code, site->bytes, sizeof(place->code));
        if (file == NULL)
            continue;
        place->file = code->image;
        place->offset = site->address - file->first + file->offset;
        memcpy(steps->files[code->image - 1], file->path, sizeof(file->path));
    }
    code->place = first + 1;
    atomic_store(&steps->place_count, first + code->count);
}

/* Returns a new step at an instruction with room for so many words; NULL:
 * recording has ended. */
static struct run_step *
add_step(struct plugin *p, const struct steps_thread *t,
         const struct steps_site *site, unsigned words)
{
    struct steps *const steps = &p->session->steps;
    const unsigned count = atomic_load(&steps->count);
    const unsigned used = atomic_load(&steps->word_count);

    if (count >= p->request.steps.count || count >= STEPS_MOST) {
        end(p, STEPS_END_COUNT);
        return NULL;
    }
    if (words > STEPS_WORDS - used) {
        end(p, STEPS_END_ROOM);
        return NULL;
    }
    name_code(p, site->code);
    struct run_step *const step = &steps->steps[count];
    *step = (struct run_step){
        .instruction = t->before + site->index - t->first + 1,
        .thread = t->thread,
        .place = site->code->place != 0 ? site->code->place + site->index : 0,
        .word = used,
        .word_count = words,
    };
    atomic_store(&steps->word_count, used + words);
    return step;
}

/* The step that was added last is written. */
static void
keep_step(struct plugin *p)
{
    struct steps *const steps = &p->session->steps;
    const unsigned count = atomic_load(&steps->count) + 1;

    atomic_store(&steps->count, count);
    if (p->request.steps.kind != STEPS_BUBBLES &&
        count >= p->request.steps.count)
        end(p, STEPS_END_COUNT);
}

/* Branches */

/* Finds what the first direction predictor of the strand has for a branch. */
static void
look_at_predictor(const struct strand *s, const struct block *last,
                  struct branch_before *b)
{
    const struct targets *const t = &s->targets;
    const struct predictor *const first =
        t->foretells && t->predictor_count != 0 ? &t->predictors[0] : NULL;
    const uint64_t branch = last->branch_number;
    struct perceptrons_view view;

    b->counter = NULL;
    if (first == NULL && s->direction.counters == NULL)
        return;
    if (first == NULL) {
        b->words[STEP_INDEX] = last->branch ^ s->direction.history;
        b->counter = &s->direction.counters[b->words[STEP_INDEX]];
    } else if (first->tage != NULL) {
        tage_look(first->tage, branch, &b->tage);
        b->words[STEP_TABLE] = b->tage.table;
        b->words[STEP_INDEX] = b->tage.index;
        b->words[STEP_TAG] = b->tage.tag;
        b->words[STEP_BEFORE] = (uint64_t)(int64_t)b->tage.counter;
        b->words[STEP_USEFUL_BEFORE] = b->tage.useful;
    } else if (first->perceptrons != NULL) {
        perceptrons_look(first->perceptrons, branch, &view);
        b->words[STEP_INDEX] = view.row;
        b->words[STEP_BEFORE] = (uint64_t)(int64_t)view.sum;
        b->words[STEP_THRESHOLD] = (uint64_t)view.threshold;
    } else {
        b->words[STEP_INDEX] = (branch & first->mask) ^ first->history;
        b->counter = &first->counters[b->words[STEP_INDEX]];
    }
    if (b->counter != NULL)
        b->words[STEP_BEFORE] = *b->counter >> 4;
}

/* Returns the site of the branch that closes the block that runs: its last
 * instruction, or the one before it where that is in the branch's slot. */
static struct steps_site *
branch_site(const struct plugin *p, struct steps_block *code,
            const struct block *last)
{
    for (unsigned i = 0; i < code->count; i++) {
        if (code->sites[i].address == last->branch_pc)
            return &code->sites[i];
    }
    const unsigned behind =
        p->shape.isa->slots == SLOTS_WITHIN && code->count > 1 ? 2 : 1;
    return &code->sites[code->count - behind];
}

/* Before the branch that closes the last block is judged. */
static void
before_branch(const struct plugin *p, const struct strand *s,
              struct steps_thread *t)
{
    const struct block *const last = s->previous;
    struct branch_before *const b = &t->branch;

    b->block = NULL;
    if ((last->flags & BLOCK_CONDITIONAL) == 0 || t->code == NULL ||
        t->code->count == 0)
        return;
    *b = (struct branch_before){
        .block = last,
        .site = branch_site(p, t->code, last),
        .counts = p->steps.on,
        .wrong = s->total[SIGNAL_NOT_TAKEN_MISPREDICTS] +
                 s->total[SIGNAL_TAKEN_MISPREDICTS],
        .words[STEP_HISTORY] = t->history,
    };
    look_at_predictor(s, last, b);
}

/* The branch was judged, as the block `to` has begun. */
static void
after_branch(struct plugin *p, const struct strand *s, struct steps_thread *t,
             uint64_t to)
{
    struct branch_before *const b = &t->branch;
    const bool taken = to == b->block->taken_pc;
    const struct predictor *const first = s->targets.predictors;

    t->history = t->history << 1 | taken;
    if (p->request.steps.kind != STEPS_BRANCHES || !b->counts ||
        !is_wanted(p, t, b->site))
        return;
    struct run_step *const step = add_step(p, t, b->site, STEP_BRANCH_WORDS);
    if (step == NULL)
        return;
    if (b->counter != NULL) {
        b->words[STEP_AFTER] = *b->counter >> 4;
    } else if (s->targets.foretells && first != NULL && first->tage != NULL) {
        tage_look_again(first->tage, &b->tage);
        b->words[STEP_AFTER] = (uint64_t)(int64_t)b->tage.counter;
        b->words[STEP_USEFUL_AFTER] = b->tage.useful;
    }
    const uint64_t wrong = s->total[SIGNAL_NOT_TAKEN_MISPREDICTS] +
                           s->total[SIGNAL_TAKEN_MISPREDICTS];
    step->address = to;
    step->flags = (uint16_t)((taken ? STEP_TAKEN : 0) |
                             (wrong != b->wrong ? STEP_WRONG : 0));
    memcpy(&p->session->steps.words[step->word], b->words, sizeof(b->words));
    keep_step(p);
}

/* Cycles */

/* Adds to the open step what an instruction adds to a signal. */
static void
add_gain(struct plugin *p, unsigned instruction, unsigned signal, int64_t gain)
{
    struct steps *const steps = &p->session->steps;
    struct run_step *const step = p->steps.open;
    const unsigned used = atomic_load(&steps->word_count);

    if (step == NULL || gain == 0 || step->size == 0)
        return;
    if (used == STEPS_WORDS) {
        end(p, STEPS_END_ROOM);
        return;
    }
    if (instruction >= step->size)
        instruction = step->size - 1;
    steps->words[used] = STEP_GAIN(instruction, signal, gain);
    step->word_count++;
    atomic_store(&steps->word_count, used + 1);
}

/* Returns whether the open step is of the thread. */
static bool
is_open(const struct plugin *p, const struct steps_thread *t)
{
    return p->steps.open != NULL && p->steps.open->thread == t->thread;
}

/* Gives an instruction of the open step what the totals have gained since, of
 * the signals of branches alone or of all. */
static void
take_gains(struct plugin *p, struct strand *s, struct steps_thread *t,
           unsigned instruction, bool branch)
{
    strand_drain(s);
    for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
        const uint64_t gain = s->total[i] - t->seen[i];
        if (gain == 0 || (branch && i != SIGNAL_CONDITIONAL_TAKEN &&
                          !recorder_is_of_branch(i)))
            continue;
        t->seen[i] = s->total[i];
        add_gain(p, instruction, i, (int64_t)gain);
    }
}

/* Adds what a part of a block counts each time that it runs. */
static void
take_fixed(struct plugin *p, const struct steps_part *part)
{
    for (unsigned i = 0; i < SIGNAL_FIXED_COUNT; i++)
        add_gain(p, part->first, i, part->fixed[i]);
}

/* A block begins: what the branch before it has gained is the last block's, the
 * rest is the new one's. */
static void
begin_block(struct plugin *p, struct strand *s, struct steps_thread *t,
            const struct steps_part *part)
{
    struct steps_block *const code = part->code;
    struct steps_state *const q = &p->steps;

    /* Where no step is open, what the branch has gained is nobody's. */
    if (!is_open(p, t))
        q->open = NULL;
    take_gains(p, s, t, q->open != NULL ? q->open->size : 0, true);
    q->open = NULL;
    if (code->count != 0 && is_wanted(p, t, &code->sites[part->first])) {
        struct run_step *const step = add_step(p, t, &code->sites[0], 0);
        if (step == NULL)
            return;
        step->instruction = t->before + 1;
        step->size = code->count;
        step->place = code->place;
        keep_step(p);
        q->open = step;
    }
    take_gains(p, s, t, 0, false);
    if (q->open != NULL)
        take_fixed(p, part);
}

/* Blocks */

/* Begins to record where the block that is about to be entered says so. */
static void
begin_window(struct plugin *p, struct strand *s, struct steps_thread *t,
             uint64_t pc)
{
    struct steps_state *const q = &p->steps;

    if (q->on || q->all < p->request.steps.skip ||
        (q->from != NO_LINE && pc != q->from))
        return;
    strand_drain(s);
    memcpy(t->seen, s->total, sizeof(t->seen));
    q->on = true;
    q->first = q->all;
    p->session->steps.first_instruction = q->all;
    atomic_store(&p->session->steps.began, 1);
}

/* Ends the recording where the block that is entered says so. */
static void
end_window(struct plugin *p, uint64_t pc)
{
    const uint64_t most = p->request.steps.instructions;
    const struct steps_state *const q = &p->steps;

    if (!q->on)
        return;
    if (pc == q->to && q->all != q->first)
        end(p, STEPS_END_TO);
    else if (most != 0 && q->all - q->first >= most)
        end(p, STEPS_END_INSTRUCTIONS);
}

static void
on_leave(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct steps_thread *const t = thread_of(p, vcpu);
    const struct block *const b = data;

    if (t == NULL)
        return;
    struct strand *const s = p->strands[vcpu];
    t->repeats = (b->flags & BLOCK_RESUMED) &&
                 (s->previous->flags & BLOCK_REPEAT) &&
                 s->previous->last_pc == b->pc;
    if (t->repeats)
        return;
    if (p->steps.on && p->request.steps.kind == STEPS_BUBBLES && is_open(p, t))
        take_gains(p, s, t, p->steps.open->size, false);
    before_branch(p, s, t);
    begin_window(p, s, t, b->pc);
}

/* Counts the instructions of a part of a block that begins to run. */
static void
enter_part(struct plugin *p, struct steps_thread *t,
           const struct steps_part *part)
{
    t->before += t->instructions;
    t->code = part->code;
    t->first = part->first;
    t->instructions = part->instructions;
    p->steps.all += part->instructions;
}

static void
on_enter(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct steps_thread *const t = thread_of(p, vcpu);
    const struct steps_part *const part = data;
    const struct block *const b = part->code->block;

    if (t == NULL || t->repeats)
        return;
    struct strand *const s = p->strands[vcpu];
    /* A block that stands in for the last one keeps its closing branch. */
    if (t->branch.block != NULL && s->previous == b &&
        (b->flags & BLOCK_RETRY) == 0)
        after_branch(p, s, t, b->pc);
    t->branch.block = NULL;
    end_window(p, b->pc);
    enter_part(p, t, part);
    if (p->steps.on && p->request.steps.kind == STEPS_BUBBLES)
        begin_block(p, s, t, part);
}

static void
on_part(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct steps_thread *const t = thread_of(p, vcpu);

    if (t == NULL)
        return;
    enter_part(p, t, data);
    if (p->request.steps.kind == STEPS_BUBBLES && is_open(p, t))
        take_fixed(p, data);
}

void
steps_call(struct plugin *p, unsigned vcpu)
{
    struct steps_thread *const t = thread_of(p, vcpu);

    if (t != NULL && p->steps.on && p->request.steps.kind == STEPS_BUBBLES &&
        is_open(p, t))
        take_gains(p, p->strands[vcpu], t, p->steps.open->size, false);
}

/* Accesses */

/* Adds up totals of a strand. */
static uint64_t
sum_of(const struct strand *s, const struct steps_sum *sum)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < sum->count; i++)
        all += s->total[sum->signals[i]];
    return all;
}

/* The totals of each class, in the order of enum point_class. */
static const struct {
    uint16_t load, store;
} classes[POINT_CLASSES] = {
    [POINT_CLASS_COHERENCE] = {SIGNAL_LEVEL_LOAD_COHERENCE_MISSES,
                               SIGNAL_LEVEL_STORE_COHERENCE_MISSES},
    [POINT_CLASS_FALSE] = {SIGNAL_LEVEL_LOAD_FALSE_MISSES,
                           SIGNAL_LEVEL_STORE_FALSE_MISSES},
    [POINT_CLASS_FIRST] = {SIGNAL_LEVEL_LOAD_FIRST_MISSES,
                           SIGNAL_LEVEL_STORE_FIRST_MISSES},
    [POINT_CLASS_CAPACITY] = {SIGNAL_LEVEL_LOAD_CAPACITY_MISSES,
                              SIGNAL_LEVEL_STORE_CAPACITY_MISSES},
    [POINT_CLASS_CONFLICT] = {SIGNAL_LEVEL_LOAD_CONFLICT_MISSES,
                              SIGNAL_LEVEL_STORE_CONFLICT_MISSES},
};

static uint64_t
class_total(const struct strand *s, unsigned class)
{
    return class == POINT_CLASS_NONE
               ? 0
               : s->total[classes[class].load] + s->total[classes[class].store];
}

/* Returns the class of the misses of the access that was made; of misses of two
 * classes none, as it is not known which line had which. */
static unsigned
class_of(const struct strand *s, const struct steps_thread *t, uint64_t misses)
{
    static const uint8_t order[] = {POINT_CLASS_FALSE, POINT_CLASS_COHERENCE,
                                    POINT_CLASS_FIRST, POINT_CLASS_CAPACITY,
                                    POINT_CLASS_CONFLICT};

    for (unsigned i = 0; i < sizeof(order); i++) {
        const uint64_t gain = class_total(s, order[i]) - t->classes[order[i]];
        if (gain != 0)
            return gain == misses ? order[i] : POINT_CLASS_NONE;
    }
    return POINT_CLASS_NONE;
}

/* Has the filters know neither line of an access: the access goes to the
 * caches. */
static void
show_access(struct strand *s, uint64_t address, uint64_t size)
{
    if (s->data.turns) {
        strand_settle(s);
        s->data.turns = false;
    }
    filter_forget(&s->data, address, size);
    filter_forget(&s->store, address, size);
}

/* Looks at the set of a line before an access. */
static void
look_at_line(const struct watched *w, const struct strand *s, uint64_t line,
             struct line_before *l)
{
    const unsigned ways = watched_set(w, s, line, l->places);

    memset(l->places + ways, 0, sizeof(l->places) - ways * sizeof(*l->places));
    l->line = line;
    l->held = watched_has(w, watched_number(w, s), line);
}

/* Notes what there is before an access is made. */
static void
before_access(const struct plugin *p, const struct strand *s,
              struct steps_thread *t, uint64_t address, uint64_t size)
{
    const struct steps_state *const q = &p->steps;
    const struct watched *const w = &q->reasons.level;
    const uint64_t first = address >> w->shift;
    const uint64_t last = (address + size - 1) >> w->shift;

    t->asks = true;
    t->missed = sum_of(s, &q->misses);
    t->asked = sum_of(s, &q->fronts);
    t->victims = s->total[SIGNAL_L1D_VICTIM_HITS];
    for (unsigned i = 0; i < POINT_CLASSES; i++)
        t->classes[i] = class_total(s, i);
    look_at_line(w, s, first, &t->lines[0]);
    t->line_count = last != first ? 2 : 1;
    if (t->line_count == 2)
        look_at_line(w, s, last, &t->lines[1]);
}

static void
on_before(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct steps_thread *const t = thread_of(p, vcpu);
    const struct steps_site *const site = data;
    const uint64_t size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);

    if (t == NULL)
        return;
    struct strand *const s = p->strands[vcpu];
    t->asks = false;
    if (p->request.steps.kind != STEPS_SETS)
        return;
    show_access(s, addr, size);
    if (!is_wanted(p, t, site))
        return;
    strand_drain(s);
    before_access(p, s, t, addr, size);
}

/* Returns whether an access asks the level: enum step_flags of how, or -1. */
static int
asks_level(const struct plugin *p, const struct strand *s,
           const struct steps_thread *t, bool store, bool passes)
{
    const enum cache_id level = p->steps.reasons.level.level;
    const bool beside = store ? p->chip.write_through : passes;

    if (level == CACHE_L1D)
        return beside ? STEP_PASSED : 0;
    return sum_of(s, &p->steps.fronts) != t->asked ||
                   sum_of(s, &p->steps.misses) != t->missed ||
                   (beside && level == CACHE_L2)
               ? 0
               : -1;
}

/* Writes the step of a line of an access that was made. */
static void
add_line(struct plugin *p, struct strand *s, const struct steps_thread *t,
         const struct steps_site *site, const struct run_step *values,
         unsigned i)
{
    const struct watched *const w = &p->steps.reasons.level;
    struct steps *const steps = &p->session->steps;
    const unsigned ways = steps->ways;
    const struct line_before *const l = &t->lines[i];
    struct line_before after;
    struct run_step *const step = add_step(p, t, site, 2 * ways);

    if (step == NULL)
        return;
    look_at_line(w, s, l->line, &after);
    steps->knows_dirty = watched_knows_dirty(w, s);
    step->address = values->address;
    step->size = values->size;
    step->flags = values->flags | (i != 0 ? STEP_SECOND : 0);
    step->class = step->flags & STEP_MISSED ? values->class : POINT_CLASS_NONE;
    step->cache = (uint8_t)watched_number(w, s);
    memcpy(&steps->words[step->word], l->places, ways * sizeof(uint64_t));
    memcpy(&steps->words[step->word + ways], after.places,
           ways * sizeof(uint64_t));
    keep_step(p);
}

/* Writes the steps of an access that was made. */
static void
after_access(struct plugin *p, struct strand *s, const struct steps_thread *t,
             const struct steps_site *site, const struct run_step *made,
             int how)
{
    const uint64_t misses = sum_of(s, &p->steps.misses) - t->missed;
    const unsigned class = class_of(s, t, misses);
    const bool victim = s->total[SIGNAL_L1D_VICTIM_HITS] != t->victims;
    /* Of two lines those that the set lacked were missed. */
    unsigned left = (unsigned)misses;

    for (unsigned i = 0; i < t->line_count && p->steps.runs; i++) {
        struct run_step step = *made;
        const unsigned lines = t->line_count - i;
        const bool missed = left >= lines || (left != 0 && !t->lines[i].held);
        left -= missed ? 1u : 0u;
        step.flags |= (uint16_t)((unsigned)how | (missed ? STEP_MISSED : 0u));
        if (victim && !missed && !t->lines[i].held && how == 0)
            step.flags |= STEP_VICTIM;
        step.class = (uint8_t) class;
        add_line(p, s, t, site, &step, i);
    }
}

static void
on_after(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct plugin *const p = &tally_plugin;
    struct steps_thread *const t = thread_of(p, vcpu);
    const struct steps_site *const site = data;
    const bool store = qemu_plugin_mem_is_store(info);

    if (t == NULL)
        return;
    struct strand *const s = p->strands[vcpu];
    if (p->steps.on && p->request.steps.kind == STEPS_BUBBLES && is_open(p, t))
        take_gains(p, s, t, site->index, false);
    if (!t->asks)
        return;
    t->asks = false;
    strand_drain(s);
    const int how = asks_level(p, s, t, store, site->passes);
    const struct run_step made = {
        .address = addr,
        .size = 1u << qemu_plugin_mem_size_shift(info),
        .flags = store ? STEP_STORE : 0,
    };
    if (how >= 0)
        after_access(p, s, t, site, &made, how);
}

/* Registering */

static int
compare_blocks(const void *a, const void *b)
{
    const struct steps_block *const x = a, *const y = b;

    return (x->block > y->block) - (x->block < y->block);
}

struct steps_block *
steps_code(struct plugin *p, struct qemu_plugin_tb *tb,
           const struct block *block, uint32_t image, const struct insn *insns,
           size_t count)
{
    const struct steps_block key = {.block = block};
    const size_t size = sizeof(key) + count * sizeof(struct steps_site);
    void *const *const known = tfind(&key, &p->steps.blocks, compare_blocks);

    if (known != NULL)
        return *known;
    struct steps_block *const code = calloc(1, size);
    if (code == NULL || tsearch(code, &p->steps.blocks, compare_blocks) == NULL)
        plugin_no_memory(p->process.head, "the program's code");
    code->block = block;
    code->image = image;
    code->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *const insn =
            qemu_plugin_tb_get_insn(tb, i);
        uint8_t room[QEMU_INSN_BYTES];
        struct steps_site *const site = &code->sites[i];
        site->code = code;
        site->index = (uint16_t)i;
        site->address = qemu_plugin_insn_vaddr(insn);
        site->passes = insns[i].access == ACCESS_FLOAT;
        site->size = insns[i].size <= POINT_CODE ? insns[i].size : POINT_CODE;
        memcpy(site->bytes, qemu_insn_bytes(insn, room), site->size);
    }
    return code;
}

static int
compare_parts(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct steps_part));
}

/* Returns the one copy of a part, which lives as long as the process. */
static void *
keep_part(struct plugin *p, struct steps_block *code, unsigned first,
          const struct block_info *info)
{
    struct steps_part part;

    memset(&part, 0, sizeof(part)); /* compared whole */
    part.code = code;
    part.first = first;
    part.instructions = (uint32_t)info->fixed[SIGNAL_INSTRUCTIONS];
    memcpy(part.fixed, info->fixed, sizeof(part.fixed));
    return (void *)(uintptr_t)blocks_keep_copy(
        &p->table, &p->steps.parts, &part, sizeof(part), compare_parts);
}

void
steps_register_leave(struct plugin *p, struct qemu_plugin_tb *tb,
                     const struct block *block)
{
    if (p->steps.runs)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_leave, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
}

void
steps_register_enter(struct plugin *p, struct qemu_plugin_tb *tb,
                     struct steps_block *code, const struct block_info *info)
{
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_enter, QEMU_PLUGIN_CB_NO_REGS,
                                         keep_part(p, code, 0, info));
}

void
steps_register_part(struct qemu_plugin_insn *marker, struct steps_block *code,
                    unsigned first, const struct block_info *info)
{
    qemu_plugin_register_vcpu_insn_exec_cb(
        marker, on_part, QEMU_PLUGIN_CB_NO_REGS,
        keep_part(&tally_plugin, code, first, info));
}

void
steps_register_before(struct qemu_plugin_insn *insn, struct steps_block *code,
                      unsigned instruction)
{
    qemu_plugin_register_vcpu_mem_cb(insn, on_before, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW,
                                     &code->sites[instruction]);
}

void
steps_register_after(struct qemu_plugin_insn *insn, struct steps_block *code,
                     unsigned instruction)
{
    qemu_plugin_register_vcpu_mem_cb(insn, on_after, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW,
                                     &code->sites[instruction]);
}
