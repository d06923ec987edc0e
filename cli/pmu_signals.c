/* SPDX-License-Identifier: MIT */
/* The console's commands that let something happen, and about traps. */
#include "cli/pmu_verbs.h"

#include <stdio.h>
#include <string.h>

#include "table/text.h"
#include "table/umask.h"

static const struct pmu_word flag_words[] = {
    {"next_to_commit", TALLY_PMU_NEXT_TO_COMMIT},
    {"ntc", TALLY_PMU_NEXT_TO_COMMIT},
    {"taken", TALLY_PMU_TAKEN},
    {"target_mispredicted", TALLY_PMU_TARGET_MISPREDICTED},
    {"path_mispredicted", TALLY_PMU_PATH_MISPREDICTED},
    {"return", TALLY_PMU_RETURN},
    {"indirect", TALLY_PMU_INDIRECT},
    {"rfi", TALLY_PMU_RFI},
    {"exception", TALLY_PMU_EXCEPTION},
    {"chk_failed", TALLY_PMU_CHK_FAILED},
    {"prefetch", TALLY_PMU_PREFETCH},
    {"flush", TALLY_PMU_FLUSH},
    {"no_address", TALLY_PMU_NO_ADDRESS},
    {"back_end_flush", TALLY_PMU_BACK_END_FLUSH},
    {"local", UINT64_C(1) << 13}, /* what served a miss of the L2 */
    {"remote", UINT64_C(1) << 14},
    {"cache", UINT64_C(1) << 15},
    {"no_branch", TALLY_PMU_NO_BRANCH},
    {"same_bundle", TALLY_PMU_SAME_BUNDLE},
    {0},
};

static const struct pmu_word miss_words[] = {
    {"cache", TALLY_PMU_MISS_CACHE},
    {"rab", TALLY_PMU_MISS_RAB},
    {"tlb2", TALLY_PMU_MISS_TLB2},
    {"vhpt", TALLY_PMU_MISS_VHPT},
    {"fault", TALLY_PMU_MISS_FAULT},
    {"alat", TALLY_PMU_MISS_ALAT},
    {0},
};

static const struct pmu_word type_words[] = {
    {"M", 'M'}, {"I", 'I'}, {"F", 'F'}, {"B", 'B'}, {"A", 'A'}, {0},
};

/* Letters of mesi=. */
static const char mesi_letters[] = "ISEM";

enum key {
    KEY_PC,
    KEY_NPC,
    KEY_EA,
    KEY_OP,
    KEY_LAT,
    KEY_CYCLES,
    KEY_SLOT,
    KEY_MESI,
    KEY_LINES,
    KEY_KNOWN,
    KEY_TYPE,
    KEY_MISS,
    KEY_FLAGS,
    KEYS
};

static const struct {
    const char *name;
    uint64_t max;
} keys[KEYS] = {
    [KEY_PC] = {"pc", UINT64_MAX},       [KEY_NPC] = {"npc", UINT64_MAX},
    [KEY_EA] = {"ea", UINT64_MAX},       [KEY_OP] = {"op", UINT64_MAX},
    [KEY_LAT] = {"lat", UINT32_MAX},     [KEY_CYCLES] = {"cycles", UINT32_MAX},
    [KEY_SLOT] = {"slot", UINT8_MAX},    [KEY_MESI] = {"mesi", UINT8_MAX},
    [KEY_LINES] = {"lines", UINT8_MAX},  [KEY_KNOWN] = {"known", UINT8_MAX},
    [KEY_TYPE] = {"type", UINT8_MAX},    [KEY_MISS] = {"miss", UINT8_MAX},
    [KEY_FLAGS] = {"flags", UINT32_MAX},
};

static int
find_key(const char *name, const struct tally_log *log)
{
    const char *names[KEYS];
    char near[256];

    for (int k = 0; k < KEYS; k++) {
        if (same_name(keys[k].name, name))
            return k;
        names[k] = keys[k].name;
    }
    join_words(names, KEYS, near, sizeof(near));
    return tally_fail(log, TALLY_EUNKNOWN, "unknown key '%s'; there is %s",
                      shown(name, strlen(name)).text, near);
}

/* mesi=ME or a number. */
static bool
mesi_value(const char *text, uint64_t *value)
{
    uint64_t bits = 0;

    for (; *text != '\0'; text++) {
        const char *const letter = strchr(mesi_letters, *text & ~0x20);
        if (letter == NULL || *letter == '\0')
            return false;
        bits |= UINT64_C(1) << (letter - mesi_letters);
    }
    *value = bits;
    return true;
}

static int
key_value(enum key key, char *text, const struct tally_log *log,
          uint64_t *value)
{
    int error = 0;

    if (key == KEY_TYPE)
        error = pmu_word_value(type_words, text, "type", log, value);
    else if (key == KEY_MISS)
        error = pmu_word_value(miss_words, text, "miss", log, value);
    else if (key == KEY_FLAGS)
        error = pmu_word_bits(flag_words, text, "flag", log, value);
    else if (key == KEY_MESI && *text != '\0' && mesi_value(text, value))
        return 0;
    else
        return pmu_number_word(text, keys[key].name, keys[key].max, log, value);
    if (error == 0 && *value > keys[key].max)
        return tally_fail(log, TALLY_ERANGE, "%s is at most %llu",
                          keys[key].name, (unsigned long long)keys[key].max);
    return error;
}

static void
set_key(struct tally_pmu_context *x, enum key key, uint64_t value)
{
    switch (key) {
    case KEY_PC:
        x->pc = value;
        x->known |= 1;
        break;
    case KEY_NPC:
        x->npc = value;
        break;
    case KEY_EA:
        x->ea = value;
        x->known |= 2;
        break;
    case KEY_OP:
        x->opcode = value;
        break;
    case KEY_LAT:
        x->latency = (uint32_t)value;
        break;
    case KEY_CYCLES:
        x->cycles = (uint32_t)value;
        break;
    case KEY_SLOT:
        x->slot = (uint8_t)value;
        break;
    case KEY_MESI:
        x->mesi = (uint8_t)value;
        break;
    case KEY_LINES:
        x->lines = (uint8_t)value;
        break;
    case KEY_KNOWN:
        x->known = (uint8_t)value;
        break;
    case KEY_TYPE:
        x->type = (uint8_t)value;
        break;
    case KEY_MISS:
        x->miss = (uint8_t)value;
        break;
    case KEY_FLAGS:
    case KEYS:
        x->flags = (uint32_t)value;
        break;
    }
}

/* [N] KEY=VALUE..., from word `at` on. */
static int
occurrence(struct pmu_call *call, size_t at, uint64_t *n,
           struct tally_pmu_context *context)
{
    const struct pmu_line *const l = &call->line;
    int error = 0;

    *context = (struct tally_pmu_context){.cycles = 1};
    *n = 1;
    if (at < l->count && strchr(l->words[at], '=') == NULL)
        error = pmu_number_word(l->words[at++], "how often", UINT64_MAX,
                                call->log, n);
    for (; at < l->count && error == 0; at++) {
        char *const equals = strchr(l->words[at], '=');
        uint64_t value;
        if (equals == NULL)
            return tally_fail(call->log, TALLY_ESYNTAX, "'%s' is no KEY=VALUE",
                              shown(l->words[at], strlen(l->words[at])).text);
        *equals = '\0';
        const int key = find_key(l->words[at], call->log);
        error = key < 0
                    ? key
                    : key_value((enum key)key, equals + 1, call->log, &value);
        if (error == 0)
            set_key(context, (enum key)key, value);
    }
    if (error == 0 && context->cycles == 0)
        return tally_fail(call->log, TALLY_ERANGE, "cycles is at least 1");
    return error;
}

/* [UNIT:INSTANCE:]GROUP:LINES, numbers, for what has no name. */
static bool
numbered_signal(char *word, uint32_t *signal)
{
    uint64_t part[4] = {0};
    size_t count = 0;
    char *rest = NULL;

    if (strchr(word, ':') == NULL)
        return false;
    for (char *p = strtok_r(word, ":", &rest); p != NULL;
         p = strtok_r(NULL, ":", &rest)) {
        if (count == 4 || !pmu_number(p, &part[count]) || part[count] > 0xff)
            return false;
        count++;
    }
    if (count == 2)
        *signal = TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, part[0], part[1]);
    else
        *signal = TALLY_PMU_SIGNAL(part[0], part[1], part[2], part[3]);
    return count == 2 || count == 4;
}

/* `name`, `word` on the line, is no signal: an event without its unit mask, or
 * none. */
static int
signal_unknown(const struct pmu_console *c, const struct pmu_call *call,
               char *name, const char *word)
{
    char *const dot = strchr(name, '.');

    if (dot != NULL)
        *dot = '\0';
    const struct event_row *const e = event_find(c->machine, name);
    if (e == NULL || (dot == NULL && e->umask_count == 0))
        return event_unknown(c->machine, word, call->log);
    return umask_unknown(word, e, dot != NULL ? dot + 1 : "", call->log);
}

/* NAME+NAME: the lines of one group together. */
static int
find_signals(const struct pmu_console *c, struct pmu_call *call,
             uint32_t *signals)
{
    char *rest = call->line.words[1];
    char *name;

    *signals = 0;
    while ((name = strsep(&rest, "+")) != NULL) {
        const struct shown word = shown(name, strlen(name));
        uint32_t one;

        if (tally_pmu_signal_find(c->pmu, name, &one) != 0 &&
            !numbered_signal(name, &one))
            return signal_unknown(c, call, name, word.text);
        if (name != call->line.words[1] && *signals >> 8 != one >> 8)
            return tally_fail(call->log, TALLY_ERULE,
                              "'%s' is of another group", word.text);
        *signals |= one;
    }
    return 0;
}

int
pmu_do_signal(struct pmu_console *c, struct pmu_call *call)
{
    struct tally_pmu_context context;
    uint32_t signals;
    uint64_t n;

    snprintf(call->result->name, sizeof(call->result->name), "%s",
             shown(call->line.words[1], strlen(call->line.words[1])).text);
    int error = find_signals(c, call, &signals);
    if (error == 0)
        error = occurrence(call, 2, &n, &context);
    if (error != 0)
        return error;
    pmu_traps_text(tally_pmu_signal(c->pmu, call->strand, signals, n, &context),
                   call->result->text, sizeof(call->result->text));
    return 0;
}

int
pmu_do_retire(struct pmu_console *c, struct pmu_call *call)
{
    struct tally_pmu_context context;
    uint64_t n;
    const int error = occurrence(call, 1, &n, &context);

    if (error != 0)
        return error;
    pmu_traps_text(tally_pmu_retire(c->pmu, call->strand, n, &context),
                   call->result->text, sizeof(call->result->text));
    return 0;
}

int
pmu_do_traps(struct pmu_console *c, struct pmu_call *call)
{
    pmu_traps_text(tally_pmu_pending(c->pmu, call->strand), call->result->text,
                   sizeof(call->result->text));
    return 0;
}

static int
find_trap(const char *word, const struct tally_log *log, uint64_t *trap)
{
    struct pmu_word traps[33] = {0};
    size_t count = 0;

    for (unsigned bit = 0; bit < 32; bit++) {
        const uint32_t value = UINT32_C(1) << bit;
        const char *name = tally_pmu_trap_name((enum tally_pmu_trap)value);
        if (name != NULL)
            traps[count++] = (struct pmu_word){name, value};
    }
    return pmu_word_value(traps, word, "trap", log, trap);
}

int
pmu_do_take(struct pmu_console *c, struct pmu_call *call)
{
    struct pmu_result *const r = call->result;
    struct tally_pmu_taken t = {0};
    uint64_t trap;
    const int error = find_trap(call->line.words[1], call->log, &trap);

    if (error != 0)
        return error;
    snprintf(r->name, sizeof(r->name), "%s",
             shown(call->line.words[1], strlen(call->line.words[1])).text);
    call->refused = tally_pmu_take(c->pmu, call->strand,
                                   (enum tally_pmu_trap)(uint32_t)trap, &t);
    if (call->refused == TALLY_ERULE)
        strcpy(r->text, "not pending");
    else if (call->refused == 0)
        snprintf(r->text, sizeof(r->text), "0x%llx,0x%llx,%u,0x%x",
                 (unsigned long long)t.pc, (unsigned long long)t.npc,
                 t.executed, t.counters);
    return 0;
}
