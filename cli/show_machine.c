/* SPDX-License-Identifier: MIT */
/* tally show MACHINE: what matters of it; with -v its units, counters,
 * modifiers, groups and parameters too. */
#include <string.h>

#include "cli/command.h"
#include "cli/needs.h"
#include "cli/rows_text.h"
#include "cli/show.h"
#include "source/host.h"
#include "table/text.h"

#define PARAM_INDENT 38
#define DEFAULTS_WIDTH 200 /* of the names of events */

static void
show_unit_row(struct screen *s, const struct machine_row *m,
              const struct unit_row *u)
{
    char counters[COUNTERS_TEXT];
    const uint32_t bits = counters_of_unit(m, u->name);

    fprintf(s->out, "  %-*s", SCREEN_LABEL - 2, u->name);
    screen_prose(s, SCREEN_LABEL, SCREEN_LABEL, u->brief);
    if (u->elsewhere != NULL) {
        fprintf(s->out, "%*sdescribed elsewhere: ", SCREEN_LABEL, "");
        screen_prose(s, SCREEN_LABEL + 21, SCREEN_LABEL, u->elsewhere);
    }
    if (bits != 0) {
        counters_text(m, bits, counters, sizeof(counters));
        fprintf(s->out, "%*s%s; %u bits\n", SCREEN_LABEL, "", counters,
                m->counters[__builtin_ctz(bits)].bits);
    }
    if (u->instance_count > 0) {
        char text[SHOW_TEXT] = "";
        for (size_t i = 0; i < u->instance_count; i++)
            show_append(text, u->instances[i]);
        fprintf(s->out, "%*sat ", SCREEN_LABEL, "");
        screen_prose(s, SCREEN_LABEL + 3, SCREEN_LABEL, text);
    }
}

/* Writes a modifier as a user types it, ":mesi=ISEM". */
static void
modifier_form(const struct modifier_row *mod, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, ":%s", mod->name);

    if (mod->kind == MODIFIER_NUMBER)
        snprintf(text + used, size - used, "=%u-%u", mod->low, mod->high);
    if (mod->kind == MODIFIER_WORDS)
        snprintf(text + used, size - used, "=WORD");
    if (mod->kind != MODIFIER_LETTERS)
        return;
    used += (size_t)snprintf(text + used, size - used, "=");
    for (size_t i = 0; mod->words[i] != NULL && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s", mod->words[i]);
}

static void
show_modifier(struct screen *s, const struct modifier_row *mod)
{
    char form[64], words[256] = "";
    size_t count = 0;

    modifier_form(mod, form, sizeof(form));
    while (mod->kind == MODIFIER_WORDS && mod->words[count] != NULL)
        count++;
    join_words(mod->words, count, words, sizeof(words));
    screen_itemf(s, form, "%s%s%s%s%s", mod->by_default ? "(default) " : "",
                 mod->needs != NEEDS_NOTHING ? "(some events) " : "", words,
                 words[0] != '\0' ? ": " : "", mod->brief);
}

static void
show_modifiers(struct screen *s, const struct machine_row *m)
{
    bool instances = false;

    if (m->modifier_count > 0)
        screen_heading(s, "\nBehind an event's name");
    for (size_t i = 0; i < m->modifier_count; i++)
        show_modifier(s, &m->modifiers[i]);
    for (size_t i = 0; i < m->unit_count; i++)
        instances = instances || m->units[i].instance_count > 0;
    if (instances)
        screen_item(s, ":at=WHERE", "count in this instance of the unit alone");
}

static void
show_groups(struct screen *s, const struct machine_row *m)
{
    char reserved[SHOW_TEXT] = "", sl[16];

    if (m->group_count > 0)
        screen_heading(s, "\nGroups of events (tally show sl:0x03 says what "
                          "the masks do)");
    for (size_t i = 0; i < m->group_count; i++) {
        const struct group_row *g = &m->groups[i];
        snprintf(sl, sizeof(sl), "0x%02x", (unsigned)g->sl);
        if (g->reserved)
            show_append(reserved, sl);
        else
            fprintf(s->out, "  sl %-*s%s\n", SCREEN_LABEL - 5, sl, g->title);
    }
    if (reserved[0] != '\0')
        screen_item(s, "reserved", reserved);
}

/* The values of a machine's parameters on this host, and their sources. */
struct shown_params {
    char value[PARAM_COUNT][PARAM_TEXT_SIZE];
    const char *source[PARAM_COUNT];
    char own[PARAM_COUNT][64]; /* a source of tally calibrate */
    struct host_values host;
};

/* Writes where a value of tally calibrate comes from. */
static void
calibrated_source(const struct calibration *c, size_t id, char *text,
                  size_t size)
{
    const struct calibrated *const p = &c->params[id];
    const char *const from = strcmp(p->source, "cpuid") == 0
                                 ? "CPUID of this processor"
                                 : "this system";

    if (p->measured)
        snprintf(text, size, "measured on this host, %.30s, +- %.1f %%",
                 c->date, p->spread);
    else
        snprintf(text, size, "%s, %.30s", from, c->date);
}

static void
read_params(const struct machine_row *m, struct shown_params *shown)
{
    const struct calibration *const c = &shown->host.calibration;
    uint64_t params[PARAM_COUNT];

    memset(&shown->host, 0, sizeof(shown->host));
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = m->params[i].value;
    if (m->reads_host)
        host_values(&command_log, params, &shown->host);
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        param_text((int)i, params[i], shown->value[i], PARAM_TEXT_SIZE);
        shown->source[i] = m->params[i].source;
        if (shown->host.of_core[i]) {
            snprintf(shown->own[i], sizeof(shown->own[i]),
                     "of %.20s, the nearest modelled core",
                     shown->host.core->name);
            shown->source[i] = shown->own[i];
        }
        if (shown->host.read[i])
            shown->source[i] = "read from this host";
        if (c->params[i].known) {
            calibrated_source(c, i, shown->own[i], sizeof(shown->own[i]));
            shown->source[i] = shown->own[i];
        }
    }
}

/* Returns whether a parameter is NAME.KEY. */
static bool
is_of(size_t id, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(tally_params[id].key, name, length) == 0 &&
           tally_params[id].key[length] == '.';
}

/* Returns whether a parameter is the time of a cache level. */
static bool
is_time_of(size_t id, const char *name)
{
    const char *const key = tally_params[id].key;

    return strncmp(key, "time.", 5) == 0 && strcmp(key + 5, name) == 0;
}

/* Returns whether a parameter is that of a TLB, predictor, target cache or
 * cache level behind the L4 that other machines name, and this machine does
 * not. */
static bool
is_foreign(const struct machine_row *m, size_t id)
{
    enum param_id needed = PARAM_COUNT;

    for (size_t i = TLB_DTLB + 1; i < TLB_COUNT; i++) {
        if (is_of(id, tally_tlbs[i].name))
            needed = tally_tlbs[i].entries;
    }
    for (size_t i = 0; i < PREDICTOR_COUNT; i++) {
        if (is_of(id, tally_predictors[i].name))
            needed = tally_predictors[i].kind;
    }
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        if (is_of(id, tally_targets[i].name))
            needed = tally_targets[i].entries;
    }
    if (is_of(id, "ittage"))
        needed = PARAM_INDIRECT_PREDICTOR;
    if (is_of(id, "btb1") || is_of(id, "btb2") || is_of(id, "btb3") ||
        is_of(id, "btb") || id == PARAM_TIME_RESTEER)
        needed = PARAM_BTB1_ENTRIES;
    for (size_t i = CACHE_L3 + 2; i < CACHE_COUNT; i++) {
        if (is_of(id, tally_caches[i].name) ||
            is_time_of(id, tally_caches[i].name))
            needed = tally_caches[i].size;
    }
    return needed != PARAM_COUNT &&
           strcmp(m->params[needed].source, "by default") == 0;
}

static void
show_params(struct screen *s, const struct machine_row *m)
{
    struct shown_params shown;

    read_params(m, &shown);
    screen_heading(s, "\nParameters of the model: tally count --set");
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        if (is_foreign(m, i))
            continue;
        fprintf(s->out, "  %-18s %-14s ", tally_params[i].key, shown.value[i]);
        screen_prose(s, 36, PARAM_INDENT - 2, tally_params[i].brief);
        fprintf(s->out, "%*s", PARAM_INDENT, "");
        screen_prose(s, PARAM_INDENT, PARAM_INDENT, shown.source[i]);
    }
}

/* Prints the values that the parameter takes. */
static void
show_limits(struct screen *s, int id)
{
    const struct param_row *p = &tally_params[id];
    char min[PARAM_TEXT_SIZE], max[PARAM_TEXT_SIZE];

    if (p->choices != NULL) {
        show_names(s, "takes", p->choices);
        return;
    }
    param_text(id, p->min, min, sizeof(min));
    param_text(id, p->max, max, sizeof(max));
    screen_itemf(s, "takes", "%s to %s%s", min, max,
                 p->power_of_two ? ", a power of two" : "");
}

void
show_param(struct screen *s, const struct machine_row *m, int id)
{
    struct shown_params shown;

    read_params(m, &shown);
    screen_heading(s, "%s, a parameter of %s", tally_params[id].key, m->name);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, tally_params[id].brief);
    fprintf(s->out, "\n");
    screen_itemf(s, "value", "%s: tally count --set %s=%s", shown.value[id],
                 tally_params[id].key, shown.value[id]);
    show_limits(s, id);
    screen_item(s, "source", shown.source[id]);
}

/* Prints how many events, registers and metrics the machine has, and which
 * commands list them. */
static void
show_counts(struct screen *s, const struct machine_row *m)
{
    const size_t umasks = counted_umasks(m);
    char text[64] = "";

    if (umasks > 0)
        snprintf(text, sizeof(text), " with %zu unit masks that count", umasks);
    fprintf(s->out, "\n%zu events%s: tally list events -m %s\n", m->event_count,
            text, m->name);
    if (m->register_count > 0)
        fprintf(s->out, "%zu registers: tally list registers -m %s\n",
                m->register_count, m->name);
    if (m->metric_count > 0)
        fprintf(s->out, "%zu metrics: tally list metrics -m %s\n",
                m->metric_count, m->name);
}

/* Prints what the machine is, and which programs it runs. */
static void
show_head(struct screen *s, const struct machine_row *m)
{
    screen_heading(s, "%s: %s", m->name, m->title);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, m->brief);
    fprintf(s->out, "\n");
    show_names(s, "also", m->aliases);
    if (!m->native && m->params != NULL && m->isas[0] == NULL)
        screen_item(s, "programs",
                    "of any instruction set, none its own: nothing is exact");
    else if (!m->native)
        show_names(s, "programs", m->isas);
}

static void
show_unmodelled(struct screen *s, const struct machine_row *m)
{
    if (m->native)
        fprintf(s->out, "\nNo model: this computer's own counters count. tally "
                        "doctor says whether\nit has counters.\n");
    else
        fprintf(s->out, "\nNo model yet: programs cannot be counted on this "
                        "machine.\n");
}

void
show_machine_whole(struct screen *s, const struct machine_row *m)
{
    show_head(s, m);
    screen_item(s, "source", m->source);
    if (m->page != NULL)
        screen_item(s, "page", m->page);
    screen_heading(s, "\nUnits and their counters");
    for (size_t i = 0; i < m->unit_count; i++)
        show_unit_row(s, m, &m->units[i]);
    show_modifiers(s, m);
    show_groups(s, m);
    if (m->params != NULL)
        show_params(s, m);
    else
        show_unmodelled(s, m);
    show_counts(s, m);
}

/* Returns the word for so many ways. */
static const char *
ways_word(const char *ways)
{
    return strcmp(ways, "1") == 0 ? "way" : "ways";
}

/* Prints a cache. `size` is its first parameter: ways and line follow. */
static void
show_cache(struct screen *s, const struct shown_params *p, const char *label,
           int size, const char *which)
{
    if (strcmp(p->value[size], "0") == 0)
        return;
    screen_itemf(s, label, "%s, %s %s, lines of %s; %s", p->value[size],
                 p->value[size + 1], ways_word(p->value[size + 1]),
                 p->value[size + 2], which);
}

/* Returns in words who shares a cache. */
static const char *
whose(const char *shared)
{
    return strcmp(shared, "chip") == 0 ? "one for all cores" : "of each core";
}

static void
show_tlbs(struct screen *s, const struct shown_params *p)
{
    const char *pages = p->value[PARAM_TLB_PAGE];

    if (strcmp(p->value[PARAM_TLB_KIND], "joint") == 0)
        screen_itemf(s, "TLB", "%s entries for code and data, pages of %s",
                     p->value[PARAM_DTLB_ENTRIES], pages);
    else
        screen_itemf(s, "TLBs", "%s entries for code, %s for data, pages of %s",
                     p->value[PARAM_ITLB_ENTRIES], p->value[PARAM_DTLB_ENTRIES],
                     pages);
    for (size_t i = TLB_DTLB + 1; i < TLB_COUNT; i++) {
        const struct tlb_row *row = &tally_tlbs[i];
        const char *const ways = p->value[row->ways];
        const bool full = strcmp(ways, "0") == 0;
        if (strcmp(p->value[row->entries], "0") != 0)
            screen_itemf(s, row->name,
                         "a TLB behind them: %s entries, %s%s%s; of each %s",
                         p->value[row->entries],
                         full ? "fully associative" : ways, full ? "" : " ",
                         full ? "" : ways_word(ways), p->value[row->shared]);
    }
}

static void
show_branches(struct screen *s, const struct shown_params *p)
{
    const char *kind = p->value[PARAM_BRANCH_PREDICTOR];

    if (strcmp(kind, "not-taken") == 0)
        screen_item(s, "branches", "predicted not taken");
    else
        screen_itemf(s, "branches", "predicted by %s with %s counters", kind,
                     p->value[PARAM_BRANCH_ENTRIES]);
    for (size_t i = 0; i < PREDICTOR_COUNT; i++) {
        const struct predictor_row *row = &tally_predictors[i];
        if (strcmp(p->value[row->kind], "none") != 0)
            screen_itemf(s, row->name,
                         "a predictor beside it: %s with %s counters",
                         p->value[row->kind], p->value[row->entries]);
    }
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        const struct target_row *row = &tally_targets[i];
        if (strcmp(p->value[row->entries], "0") != 0)
            screen_itemf(s, row->name,
                         "a target cache: %s entries, %s bits of history",
                         p->value[row->entries], p->value[row->history]);
    }
}

/* Says which modelled core stands in on a machine that reads the host, and
 * whether times were measured. */
static void
show_calibration(struct screen *s, const struct machine_row *m,
                 const struct host_values *host)
{
    const struct calibration *const c = &host->calibration;
    size_t measured = 0;

    for (size_t i = 0; i < PARAM_COUNT; i++)
        measured += c->params[i].known;
    if (!m->reads_host)
        return;
    if (host->core != NULL)
        screen_itemf(s, "core",
                     "that of %s, the modelled core nearest to this processor, "
                     "where nothing was read or measured",
                     host->core->name);
    else if (host->no_core)
        screen_item(s, "core",
                    "typical values, as no modelled core fits this "
                    "processor");
    if (measured > 0)
        screen_itemf(s, "calibrated", "%s, %zu parameter%s: %s, %s", c->date,
                     measured, measured == 1 ? "" : "s", c->processor,
                     c->kernel);
    else if (host->core != NULL)
        screen_itemf(s, "calibrated",
                     "no: its times are those of %s; tally calibrate measures "
                     "those of this computer",
                     host->core->name);
    else
        screen_item(s, "calibrated",
                    "no: its times are assumed; tally calibrate measures "
                    "those of this computer");
}

/* Prints the modelled chip: clock, caches, TLBs and branch predictor. */
static void
show_chip(struct screen *s, const struct machine_row *m)
{
    struct shown_params p;

    read_params(m, &p);
    screen_itemf(s, "cores", "%s of %s strand%s at %s", p.value[PARAM_CORES],
                 p.value[PARAM_STRANDS],
                 strcmp(p.value[PARAM_STRANDS], "1") == 0 ? "" : "s",
                 p.value[PARAM_CLOCK]);
    show_cache(s, &p, "L1I", PARAM_L1I_SIZE, "of each core");
    show_cache(s, &p, "L1D", PARAM_L1D_SIZE, "of each core");
    show_cache(s, &p, "L2I", PARAM_L2I_SIZE, "of each core");
    show_cache(s, &p, "L2", PARAM_L2_SIZE, whose(p.value[PARAM_L2_SHARED]));
    show_cache(s, &p, "L3", PARAM_L3_SIZE, whose(p.value[PARAM_L3_SHARED]));
    for (size_t i = CACHE_L3 + 1; i < CACHE_COUNT; i++)
        show_cache(s, &p, tally_caches[i].label, (int)tally_caches[i].size,
                   "of the chip");
    show_tlbs(s, &p);
    show_branches(s, &p);
    show_calibration(s, m, &p.host);
}

/* Prints the events that are counted without -e, but no more than a few lines
 * hold. */
static void
show_defaults(struct screen *s, const struct machine_row *m)
{
    char text[256] = "";
    size_t used = 0, count = 0, shown = 0;

    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (!e->by_default || event_unmodelled(e) ||
            e->fidelity == FIDELITY_IDLE)
            continue;
        count++;
        if (used + strlen(e->name) > DEFAULTS_WIDTH)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 used > 0 ? ", " : "", e->name);
        shown++;
    }
    if (shown < count)
        screen_itemf(s, "without -e", "%s and %zu more", text, count - shown);
    else if (count > 0)
        screen_item(s, "without -e", text);
}

void
show_machine(struct screen *s, const struct machine_row *m)
{
    show_head(s, m);
    if (m->params != NULL) {
        show_chip(s, m);
        show_defaults(s, m);
    }
    if (m->page != NULL)
        screen_item(s, "page", m->page);
    if (m->params == NULL)
        show_unmodelled(s, m);
    show_counts(s, m);
    fprintf(s->out,
            "units, modifiers, parameters and their sources: tally show -v "
            "%s\n",
            m->name);
}
