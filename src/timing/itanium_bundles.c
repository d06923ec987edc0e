/* SPDX-License-Identifier: MIT */
#include "timing/itanium_bundles.h"

#include <stdbool.h>
#include <string.h>

#include "table/table.h"

#define SLOTS 3u
#define WINDOW 2u /* bundles that disperse together */

/* Where several fit, nops take the slots of the first. */
static const char templates[][SLOTS + 1] = {
    "MFI", "MIB", "MMI", "MII", "MFB", "MMB", "MMF",
};
#define TEMPLATES (sizeof(templates) / sizeof(templates[0]))
#define ALL_TEMPLATES ((1u << TEMPLATES) - 1)
/* The templates that may have a stop in their middle: M_MI and MI_I. */
#define SPLIT_AFTER_0 (1u << 2)
#define SPLIT_AFTER_1 (1u << 3)

struct bundle {
    uint8_t slots[SLOTS]; /* enum syllable */
    uint8_t stops;        /* bits: a stop stands behind the slot */
};

/* What is left of the bundles that disperse next. */
struct window {
    struct bundle bundles[WINDOW];
    unsigned held;  /* of them */
    unsigned start; /* the slot of the first that is next */
    int16_t *fixed;
};

struct builder {
    struct bundle bundle;
    unsigned next; /* its first free slot; SLOTS: it is full */
    unsigned fits; /* bits: templates that it may become */
    struct window window;
    uint64_t written; /* general registers, by the group */
};

/* A cycle that disperses. */
struct cycle {
    unsigned used[SYLLABLE_COUNT];
    unsigned dispersed;
};

static void
add(int16_t *fixed, enum signal_id signal, unsigned n)
{
    fixed[signal] = (int16_t)(fixed[signal] + (int)n);
}

static enum syllable
memory_syllable(const struct insn *insn)
{
    if (insn->class == CLASS_LOAD && (insn->flags & INSN_PREFETCH) == 0)
        return SYLLABLE_LOAD;
    if (insn->class == CLASS_STORE && (insn->flags & INSN_MEMBAR) == 0)
        return SYLLABLE_STORE;
    return SYLLABLE_M;
}

enum syllable
itanium_syllable(const struct insn *insn)
{
    const bool memory =
        insn->access != ACCESS_NONE || insn->class == CLASS_LOAD ||
        insn->class == CLASS_STORE || insn->class == CLASS_ATOMIC ||
        (insn->flags & (INSN_PREFETCH | INSN_MEMBAR)) != 0;

    if (insn->branch != BRANCH_NONE || insn->class == CLASS_BRANCH ||
        (insn->flags & INSN_SYSCALL) != 0)
        return SYLLABLE_B;
    if (memory)
        return memory_syllable(insn);
    if (insn->class == CLASS_FGU || (insn->flags & (INSN_FP | INSN_MULDIV)))
        return SYLLABLE_F;
    return SYLLABLE_A;
}

static bool
port_free(const struct cycle *c, unsigned syllable)
{
    const unsigned *used = c->used;
    const unsigned m =
        used[SYLLABLE_LOAD] + used[SYLLABLE_STORE] + used[SYLLABLE_M];

    switch (syllable) {
    case SYLLABLE_LOAD:
    case SYLLABLE_STORE:
        return used[syllable] < 2 && m < 4;
    case SYLLABLE_M:
        return m < 4;
    case SYLLABLE_I:
    case SYLLABLE_F:
        return used[syllable] < 2;
    default: /* three B, and of two bundles no more than six A, M and I */
        return true;
    }
}

/* Disperses the slots of one bundle, from `slot` on, as long as their ports are
 * free. Returns the slot before which a stop stands, or SLOTS. */
static unsigned
disperse(struct cycle *c, const struct bundle *b, unsigned slot,
         enum signal_id *why)
{
    for (unsigned i = slot; i < SLOTS; i++) {
        const bool stop = i != slot && (b->stops >> (i - 1) & 1) != 0;
        if (stop || !port_free(c, b->slots[i])) {
            *why = stop ? SIGNAL_STOPS_EXPLICIT : SIGNAL_STOPS_IMPLICIT;
            return i;
        }
        c->used[b->slots[i]]++;
        c->dispersed++;
    }
    return SLOTS;
}

/* What the counters say of a stop in the middle of a bundle: all of its slots
 * and of those behind it, of which some have dispersed after all. */
static void
add_stop(int16_t *fixed, enum signal_id why, unsigned bundle, unsigned slot)
{
    const bool own = why == SIGNAL_STOPS_EXPLICIT;

    add(fixed, why, (WINDOW - bundle) * SLOTS);
    add(fixed, own ? SIGNAL_OVER_EXPLICIT : SIGNAL_OVER_IMPLICIT, slot);
}

/* The first bundle has dispersed. */
static void
shift(struct window *w, unsigned start)
{
    w->bundles[0] = w->bundles[1];
    w->held--;
    w->start = start;
}

static void
end_cycle(struct window *w, const struct cycle *c)
{
    add(w->fixed, SIGNAL_RETIRE_1 + c->dispersed - 1, 1);
    add(w->fixed, SIGNAL_SYLLABLES, c->dispersed);
}

static void
run_cycle(struct window *w)
{
    struct cycle c = {{0}, 0};
    enum signal_id why = SIGNAL_STOPS_EXPLICIT;

    add(w->fixed, SIGNAL_SYLLABLES_BEFORE, w->start);
    unsigned stop = disperse(&c, &w->bundles[0], w->start, &why);
    if (stop < SLOTS) {
        add_stop(w->fixed, why, 0, stop);
        w->start = stop;
        end_cycle(w, &c);
        return;
    }
    const bool ends = w->bundles[0].stops >> (SLOTS - 1) & 1;
    shift(w, 0);
    if (w->held == 0) {
        add(w->fixed, SIGNAL_UNREACHED_BUNDLES, 1);
    } else if (ends) {
        add(w->fixed, SIGNAL_STOPS_EXPLICIT, SLOTS);
    } else {
        stop = disperse(&c, &w->bundles[0], 0, &why);
        if (stop < SLOTS) {
            add_stop(w->fixed, why, 1, stop);
            w->start = stop;
        } else {
            shift(w, 0);
        }
    }
    end_cycle(w, &c);
}

static bool
takes(char slot, unsigned syllable)
{
    switch (syllable) {
    case SYLLABLE_A:
        return slot == 'M' || slot == 'I';
    case SYLLABLE_F:
        return slot == 'F';
    case SYLLABLE_B:
        return slot == 'B';
    default:
        return slot == 'M';
    }
}

/* Those of some templates whose slot takes the syllable. */
static unsigned
narrow(unsigned fits, unsigned slot, unsigned syllable)
{
    for (unsigned i = 0; i < TEMPLATES; i++)
        if (!takes(templates[i][slot], syllable))
            fits &= ~(1u << i);
    return fits;
}

static enum syllable
nop_of(char slot)
{
    return slot == 'M'   ? SYLLABLE_M
           : slot == 'I' ? SYLLABLE_I
           : slot == 'F' ? SYLLABLE_F
                         : SYLLABLE_B;
}

static void
fill(struct builder *b)
{
    const char *slots = templates[__builtin_ctz(b->fits)];

    for (unsigned i = 0; i < SLOTS; i++) {
        if (b->bundle.slots[i] != SYLLABLE_NONE)
            continue;
        b->bundle.slots[i] = (uint8_t)nop_of(slots[i]);
        add(b->window.fixed, SIGNAL_NOPS, 1);
    }
}

static void
emit(struct builder *b, bool stop)
{
    struct window *w = &b->window;

    fill(b);
    if (stop)
        b->bundle.stops |= 1u << (SLOTS - 1);
    w->bundles[w->held++] = b->bundle;
    while (w->held == WINDOW)
        run_cycle(w);
    b->bundle = (struct bundle){{SYLLABLE_NONE}, 0};
    b->next = 0;
    b->fits = ALL_TEMPLATES;
}

/* Returns the first slot that takes the syllable; SLOTS: none. */
static unsigned
find_slot(const struct builder *b, unsigned syllable)
{
    unsigned slot = syllable == SYLLABLE_B && b->next < SLOTS ? 2 : b->next;

    while (slot < SLOTS && narrow(b->fits, slot, syllable) == 0)
        slot++;
    return slot;
}

/* Returns whether a bundle can have its stop in the middle, before this
 * syllable. */
static bool
split(struct builder *b, unsigned syllable)
{
    const unsigned fits = b->next == 1   ? SPLIT_AFTER_0
                          : b->next == 2 ? SPLIT_AFTER_1
                                         : 0;

    if (narrow(b->fits & fits, b->next, syllable) == 0)
        return false;
    b->fits = fits;
    b->bundle.stops |= (uint8_t)(1u << (b->next - 1));
    return true;
}

static void
place(struct builder *b, unsigned syllable, bool stop)
{
    /* A bundle of nothing but a stop there is not. */
    if (stop && b->next != 0 && (b->next == SLOTS || !split(b, syllable)))
        emit(b, true);

    unsigned slot = find_slot(b, syllable);
    if (slot == SLOTS) {
        emit(b, false);
        slot = find_slot(b, syllable);
    }
    b->fits = narrow(b->fits, slot, syllable);
    b->bundle.slots[slot] = (uint8_t)syllable;
    b->next = slot + 1;
}

static uint64_t
address_registers(const struct insn *insn)
{
    uint64_t bits = 0;

    if (!insn->addr_known)
        return 0;
    if (insn->addr_base >= 0)
        bits |= (uint64_t)1 << (insn->addr_base & 63);
    if (insn->addr_index >= 0)
        bits |= (uint64_t)1 << (insn->addr_index & 63);
    return bits;
}

static void
place_insn(struct builder *b, const struct insn *insn)
{
    const uint64_t uses = insn->reg_writes | address_registers(insn);
    const bool stop = (b->written & uses) != 0;

    b->written = (stop ? 0 : b->written) | insn->reg_writes;
    place(b, itanium_syllable(insn), stop);
}

void
itanium_bundles_add(const struct insn *insns, size_t count, int16_t *fixed)
{
    struct builder b = {.fits = ALL_TEMPLATES, .window = {.fixed = fixed}};

    for (size_t i = 0; i < count; i++) {
        const bool slot =
            (insns[i].flags & INSN_DELAY_SLOT) != 0 && i + 1 < count;
        if (slot)
            place_insn(&b, &insns[i + 1]);
        place_insn(&b, &insns[i]);
        i += slot;
    }
    if (b.next != 0)
        emit(&b, false);
    while (b.window.held != 0)
        run_cycle(&b.window);
}
