/* SPDX-License-Identifier: MIT */
/* The console's commands about registers and the processor's state. */
#include "cli/pmu_verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/decode.h"
#include "table/text.h"

/* REG or REG.FIELD; registers with two layouts have a dot in the second's name:
 * PMC37.tlb. */
struct target {
    unsigned id;
    const struct register_row *row;
    const struct field_row *field; /* NULL: the whole register */
};

void
pmu_access_result(struct pmu_call *call, int got)
{
    if (got > 0)
        pmu_traps_text((uint32_t)got, call->result->text,
                       sizeof(call->result->text));
    else
        call->refused = got;
}

static void
value_result(struct pmu_result *r, uint64_t value)
{
    r->has_value = true;
    r->value = value;
    snprintf(r->text, sizeof(r->text), "0x%llx", (unsigned long long)value);
}

static int
unknown_field(const struct register_row *row, const char *name,
              const struct tally_log *log)
{
    const char *names[64];
    size_t count = 0;
    char near[256];

    for (size_t i = 0; i < row->field_count && count < 64; i++)
        names[count++] = row->fields[i].name;
    near_names(name, names, count, 3, near, sizeof(near));
    return tally_fail(log, TALLY_EUNKNOWN, "%s has no field '%s'%s%s%s",
                      row->name, shown(name, strlen(name)).text,
                      *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static int
find_target(const struct pmu_console *c, struct pmu_call *call,
            struct target *target)
{
    char *const word = call->line.words[1];
    int id = tally_pmu_register_find(c->pmu, word);
    char *const dot = id < 0 ? strrchr(word, '.') : NULL;

    if (dot != NULL) {
        *dot = '\0';
        id = tally_pmu_register_find(c->pmu, word);
    }
    if (id < 0)
        return register_unknown(c->machine, word, call->log);
    target->id = (unsigned)id;
    target->row = &c->machine->registers[id];
    target->field = NULL;
    if (dot != NULL) {
        const int field = field_find(target->row, dot + 1);
        if (field < 0)
            return unknown_field(target->row, dot + 1, call->log);
        target->field = &target->row->fields[field];
    }
    snprintf(call->result->name, sizeof(call->result->name), "%s%s%s",
             target->row->name, target->field ? "." : "",
             target->field ? target->field->name : "");
    return 0;
}

static uint64_t
field_mask(const struct field_row *field)
{
    return field->width == 64 ? UINT64_MAX : (UINT64_C(1) << field->width) - 1;
}

int
pmu_do_read(struct pmu_console *c, struct pmu_call *call)
{
    struct target target = {0};
    uint64_t value = 0;
    const int error = find_target(c, call, &target);

    if (error != 0)
        return error;
    const int got =
        tally_pmu_read(c->pmu, call->strand, target.id, call->level, &value);
    if (got != 0) {
        pmu_access_result(call, got);
        return 0;
    }
    if (target.field != NULL)
        value = value >> target.field->low & field_mask(target.field);
    value_result(call->result, value);
    return 0;
}

/* Reads a register with the field's bits replaced. Returns what
 * tally_pmu_read() does. */
static int
with_field(struct pmu_console *c, const struct pmu_call *call,
           const struct target *target, uint64_t *value)
{
    const uint64_t mask = field_mask(target->field);
    uint64_t old;
    const int got =
        tally_pmu_read(c->pmu, call->strand, target->id, call->level, &old);

    if (got == 0)
        *value = (old & ~(mask << target->field->low)) |
                 *value << target->field->low;
    return got;
}

int
pmu_do_write(struct pmu_console *c, struct pmu_call *call)
{
    struct target target = {0};
    uint64_t value;
    int error = find_target(c, call, &target);

    if (error == 0)
        error = pmu_number_word(call->line.words[2], "a value",
                                target.field != NULL ? field_mask(target.field)
                                                     : UINT64_MAX,
                                call->log, &value);
    if (error != 0)
        return error;
    int got = target.field != NULL ? with_field(c, call, &target, &value) : 0;
    if (got == 0)
        got = tally_pmu_write(c->pmu, call->strand, target.id, call->level,
                              value);
    pmu_access_result(call, got);
    return 0;
}

static bool
begins_with(const char *name, const char *prefix)
{
    while (*prefix != '\0' && ascii_lower(*name) == ascii_lower(*prefix))
        name++, prefix++;
    return *prefix == '\0';
}

static void
dump_register(struct pmu_console *c, struct pmu_call *call, unsigned id)
{
    struct pmu_result *const r = call->result;
    uint64_t value;
    const int got =
        tally_pmu_read(c->pmu, call->strand, id, call->level, &value);

    snprintf(r->name, sizeof(r->name), "%s",
             tally_pmu_register_name(c->pmu, id));
    r->has_value = false;
    if (got == 0)
        value_result(r, value);
    else if (got > 0)
        pmu_access_result(call, got);
    else
        snprintf(r->text, sizeof(r->text), "%s", tally_strerror(got));
    r->verdict = PMU_DONE;
    pmu_tell(c, call);
}

int
pmu_do_dump(struct pmu_console *c, struct pmu_call *call)
{
    const char *const prefix = call->line.count > 1 ? call->line.words[1] : "";
    const char *name;

    if (call->line.wanted[0] != '\0')
        return tally_fail(call->log, TALLY_ESYNTAX, "dump has many results");
    for (unsigned id = 0; (name = tally_pmu_register_name(c->pmu, id)) != NULL;
         id++) {
        if (begins_with(name, prefix))
            dump_register(c, call, id);
    }
    if (!call->told)
        return register_unknown(c->machine, prefix, call->log);
    return 0;
}

static int
unknown_state(const char *name, const struct tally_log *log)
{
    return tally_fail(log, TALLY_EUNKNOWN,
                      "'%s' is no part of a processor's state; they are user, "
                      "priv, hyper, level, ksu, exl, erl, cpl, up, pp, sp, is, "
                      "i, ic, active and halted",
                      shown(name, strlen(name)).text);
}

/* Why the monitor refused a value of a state. */
static void
explain_state(const struct pmu_console *c, const struct pmu_call *call,
              enum tally_pmu_state state, const char *name)
{
    char *const message = call->result->message;
    const size_t size = sizeof(call->result->message);
    const int greatest = state == TALLY_PMU_CPL ? 3
                         : state == TALLY_PMU_KSU || state == TALLY_PMU_LEVEL
                             ? 2
                             : 1;
    uint64_t now;

    if (tally_pmu_state(c->pmu, call->strand, state, &now) != 0)
        snprintf(message, size, "%s has no %s", c->machine->name, name);
    else
        snprintf(message, size, "%s is 0 to %d", name, greatest);
}

/* NAME=VALUE. */
static int
set_state(struct pmu_console *c, struct pmu_call *call, char *word, char *value)
{
    uint64_t number;

    *value = '\0';
    const int state = tally_pmu_state_find(word);
    if (state < 0)
        return unknown_state(word, call->log);
    const int error =
        pmu_number_word(value + 1, word, UINT64_MAX, call->log, &number);
    if (error == 0)
        call->refused = tally_pmu_set_state(
            c->pmu, call->strand, (enum tally_pmu_state)state, number);
    if (error == 0 && call->refused != 0)
        explain_state(c, call, (enum tally_pmu_state)state, word);
    return error;
}

static int
get_state(struct pmu_console *c, struct pmu_call *call, const char *word)
{
    const int state = tally_pmu_state_find(word);
    uint64_t value;

    if (state < 0)
        return unknown_state(word, call->log);
    call->refused = tally_pmu_state(c->pmu, call->strand,
                                    (enum tally_pmu_state)state, &value);
    if (call->refused == 0)
        value_result(call->result, value);
    snprintf(call->result->name, sizeof(call->result->name), "%s", word);
    return 0;
}

static int
mode_level(const char *word)
{
    static const char *const levels[] = {"user", "priv", "hyper"};

    for (int i = 0; i < 3; i++) {
        if (same_name(levels[i], word))
            return i;
    }
    return -1;
}

/* user, priv, hyper or NAME=VALUE. */
static int
do_state(struct pmu_console *c, struct pmu_call *call, char *word)
{
    char *const equals = strchr(word, '=');
    const int level = mode_level(word);

    if (equals != NULL)
        return set_state(c, call, word, equals);
    if (level < 0)
        return unknown_state(word, call->log);
    call->refused = tally_pmu_set_state(c->pmu, call->strand, TALLY_PMU_LEVEL,
                                        (uint64_t)level);
    return 0;
}

/* Writes all registers that the words name, or none where a word is wrong or
 * refused. */
static int
do_states(struct pmu_console *c, struct pmu_call *call)
{
    const size_t size = tally_pmu_size(&c->options);
    void *const memory = aligned_alloc(16, size);
    struct tally_pmu *before;
    int error = 0;

    if (memory == NULL)
        return tally_fail(call->log, TALLY_ENOMEM, "no memory");
    tally_pmu_init(memory, size, &c->options, &before);
    tally_pmu_copy(before, c->pmu);
    for (size_t i = 1; i < call->line.count && error == 0 && call->refused == 0;
         i++)
        error = do_state(c, call, call->line.words[i]);
    if (error != 0 || call->refused != 0)
        tally_pmu_copy(c->pmu, before);
    free(memory);
    return error;
}

int
pmu_do_mode(struct pmu_console *c, struct pmu_call *call)
{
    char *const word = call->line.words[1];

    if (call->line.count > 2)
        return do_states(c, call);
    if (strchr(word, '=') == NULL && mode_level(word) < 0)
        return get_state(c, call, word);
    return do_state(c, call, word);
}
