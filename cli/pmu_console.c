/* SPDX-License-Identifier: MIT */
#include "cli/pmu_console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pmu_loop.h"
#include "cli/pmu_verbs.h"
#include "table/text.h"

enum takes {
    TAKES_STRAND = 1,
    TAKES_LEVEL = 2,
    TAKES_NO_MACHINE = 4,
    TAKES_SEVERAL = 8, /* groups of `min` words, each a command */
};

static int do_machine(struct pmu_console *c, struct pmu_call *call);
static int do_stray(struct pmu_console *c, struct pmu_call *call);
static int do_reset(struct pmu_console *c, struct pmu_call *call);
static int do_thread(struct pmu_console *c, struct pmu_call *call);
static int do_save(struct pmu_console *c, struct pmu_call *call);
static int do_restore(struct pmu_console *c, struct pmu_call *call);

#define STRAND " [strand N]"
#define LEVEL " [@user|@priv|@hyper]"

static const struct {
    struct pmu_verb verb;
    unsigned takes;  /* bits of enum takes */
    size_t min, max; /* words after the command */
    int (*run)(struct pmu_console *c, struct pmu_call *call);
} verbs[] = {
    {{"write", "REG[.FIELD] VALUE..." LEVEL STRAND, "write registers"},
     TAKES_STRAND | TAKES_LEVEL | TAKES_SEVERAL,
     2,
     PMU_WORDS,
     pmu_do_write},
    {{"read", "REG[.FIELD]..." LEVEL STRAND,
      "read registers; a RESULT for each, or one for all"},
     TAKES_STRAND | TAKES_LEVEL | TAKES_SEVERAL,
     1,
     PMU_WORDS,
     pmu_do_read},
    {{"dump", "[PREFIX]" LEVEL STRAND, "read all registers"},
     TAKES_STRAND | TAKES_LEVEL,
     0,
     1,
     pmu_do_dump},
    {{"mode", "user|priv|hyper|NAME=VALUE...|NAME" STRAND,
      "set the processor's state, or read a part of it"},
     TAKES_STRAND,
     1,
     PMU_WORDS,
     pmu_do_mode},
    {{"signal", "NAME[+NAME...] [N] [KEY=VALUE...]" STRAND, "raise a signal"},
     TAKES_STRAND,
     1,
     PMU_WORDS,
     pmu_do_signal},
    {{"retire", "[N] [KEY=VALUE...]" STRAND, "retire instructions"},
     TAKES_STRAND,
     0,
     PMU_WORDS,
     pmu_do_retire},
    {{"bundles", "FILE" STRAND, "retire a trace of IA-64 bundles"},
     TAKES_STRAND,
     1,
     1,
     pmu_do_bundles},
    {{"traps", STRAND + 1, "say which traps are pending"},
     TAKES_STRAND,
     0,
     0,
     pmu_do_traps},
    {{"take", "TRAP" STRAND, "take a trap: pc, npc, executed, counters"},
     TAKES_STRAND,
     1,
     1,
     pmu_do_take},
    {{"hcall", "FUNC [ARG...]" STRAND, "call the hypervisor"},
     TAKES_STRAND,
     1,
     6,
     pmu_do_hcall},
    {{"api", "GROUP MAJOR MINOR" STRAND, "agree on a version of a group"},
     TAKES_STRAND,
     3,
     3,
     pmu_do_api},
    {{"contend", "N", "let N accesses to Zambezi find it busy"},
     0,
     1,
     1,
     pmu_do_contend},
    {{"thread", "N", "make N the strand of the lines that follow"},
     0,
     1,
     1,
     do_thread},
    {{"save", "", "keep a snapshot"}, 0, 0, 0, do_save},
    {{"restore", "", "go back to the snapshot"}, 0, 0, 0, do_restore},
    {{"reset", "", "reset the monitor"}, 0, 0, 0, do_reset},
    {{"machine", "NAME [strands=N] [nodes=N] [flags=A,B]",
      "make the monitor of a machine"},
     TAKES_NO_MACHINE,
     1,
     4,
     do_machine},
    {{"for", "NAME... in [VALUE...]",
      "carry out the lines up to `end` for each VALUE, as $NAME"},
     TAKES_NO_MACHINE,
     0,
     PMU_WORDS,
     do_stray},
    {{"do", "", "end the rows of VALUEs that stand in lines below `for`"},
     TAKES_NO_MACHINE,
     0,
     PMU_WORDS,
     do_stray},
    {{"end", "", "end a loop"}, TAKES_NO_MACHINE, 0, PMU_WORDS, do_stray},
    {{NULL, NULL, NULL}, 0, 0, 0, NULL},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]) - 1)

const struct pmu_verb *
pmu_verb(size_t index)
{
    return &verbs[index].verb;
}

void
pmu_console_init(struct pmu_console *c,
                 void (*tell)(void *user, const struct pmu_result *result),
                 void *user)
{
    *c = (struct pmu_console){
        .tell = tell, .user = user, .loop_steps = PMU_LOOP_STEPS};
}

void
pmu_console_finish(struct pmu_console *c)
{
    free(c->pmu);
    free(c->saved);
    c->pmu = c->saved = NULL;
    c->machine = NULL;
}

/* A line that only a loop has. */
static int
do_stray(struct pmu_console *c, struct pmu_call *call)
{
    (void)c;
    return tally_fail(call->log, TALLY_ESYNTAX,
                      "`%s` is of a loop, and stands at the start of a line",
                      call->result->command);
}

static int
refuse_machine(int error, const struct tally_pmu_options *options,
               const struct tally_log *log)
{
    if (error == TALLY_EUNKNOWN)
        return tally_fail(log, error, "%s has no registers to work on",
                          options->machine);
    return tally_fail(
        log, error, "%s cannot have strands=%u nodes=%u flags=%#x",
        options->machine, options->strands, options->nodes, options->flags);
}

int
pmu_console_machine(struct pmu_console *c,
                    const struct tally_pmu_options *options,
                    const struct tally_log *log)
{
    struct tally_pmu_options named = *options;
    const struct machine_row *machine = machine_find(options->machine);
    struct tally_pmu *unused;

    if (machine == NULL)
        return machine_unknown(options->machine, log);
    named.machine = machine->name;
    const size_t size = tally_pmu_size(&named);
    if (size == 0)
        return refuse_machine(tally_pmu_init(NULL, 0, &named, &unused), &named,
                              log);
    void *const memory = aligned_alloc(16, size);
    void *const saved = aligned_alloc(16, size);
    if (memory == NULL || saved == NULL) {
        free(memory);
        free(saved);
        return tally_fail(log, TALLY_ENOMEM, "no memory for %s", named.machine);
    }
    pmu_console_finish(c);
    tally_pmu_init(saved, size, &named, &c->saved);
    tally_pmu_init(memory, size, &named, &c->pmu);
    c->machine = machine;
    c->options = named;
    c->has_saved = false;
    c->strand = 0;
    return 0;
}

static const struct pmu_word flag_words[] = {
    {"lenient_api", TALLY_PMU_LENIENT_API},
    {"rearm_quirk", TALLY_PMU_REARM_QUIRK},
    {"printed_dram", TALLY_PMU_PRINTED_DRAM},
    {"fine_inclusive", TALLY_PMU_FINE_INCLUSIVE},
    {"banked_all", TALLY_PMU_BANKED_ALL},
    {"printed_pal", TALLY_PMU_PRINTED_PAL},
    {"deny_ht", TALLY_PMU_DENY_HT},
    {"deny_guest", TALLY_PMU_DENY_GUEST},
    {0},
};

/* strands=N, nodes=N or flags=A,B. */
static int
machine_option(struct tally_pmu_options *options, char *word,
               const struct tally_log *log)
{
    char *const value = strchr(word, '=');
    uint64_t number = 0;
    int error;

    if (value == NULL)
        return tally_fail(log, TALLY_ESYNTAX,
                          "'%s' is not strands=N, nodes=N "
                          "or flags=A,B",
                          shown(word, strlen(word)).text);
    *value = '\0';
    if (strcmp(word, "flags") == 0) {
        error = pmu_word_bits(flag_words, value + 1, "flag", log, &number);
        options->flags = (uint32_t)number;
        return error;
    }
    uint32_t *const option = strcmp(word, "strands") == 0 ? &options->strands
                             : strcmp(word, "nodes") == 0 ? &options->nodes
                                                          : NULL;
    if (option == NULL)
        return tally_fail(log, TALLY_ESYNTAX,
                          "a machine has strands, nodes "
                          "and flags, not '%s'",
                          shown(word, strlen(word)).text);
    error = pmu_number_word(value + 1, word, UINT32_MAX, log, &number);
    *option = (uint32_t)number;
    return error;
}

static int
do_machine(struct pmu_console *c, struct pmu_call *call)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = call->line.words[1];
    for (size_t i = 2; i < call->line.count; i++) {
        const int error =
            machine_option(&options, call->line.words[i], call->log);
        if (error != 0)
            return error;
    }
    const int error = pmu_console_machine(c, &options, call->log);
    if (error != 0)
        return error;
    snprintf(call->result->name, sizeof(call->result->name), "%s",
             c->machine->name);
    return 0;
}

static int
do_reset(struct pmu_console *c, struct pmu_call *call)
{
    (void)call;
    tally_pmu_reset(c->pmu);
    return 0;
}

static int
do_thread(struct pmu_console *c, struct pmu_call *call)
{
    uint64_t strand;
    const int error =
        pmu_number_word(call->line.words[1], "a strand",
                        tally_pmu_strands(c->pmu) - 1, call->log, &strand);

    if (error == 0)
        c->strand = call->strand = (unsigned)strand;
    return error;
}

static int
do_save(struct pmu_console *c, struct pmu_call *call)
{
    c->has_saved = true;
    call->refused = tally_pmu_copy(c->saved, c->pmu);
    return 0;
}

static int
do_restore(struct pmu_console *c, struct pmu_call *call)
{
    if (!c->has_saved)
        return tally_fail(call->log, TALLY_ERULE, "nothing was saved");
    call->refused = tally_pmu_copy(c->pmu, c->saved);
    return 0;
}

void
pmu_traps_text(uint32_t traps, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (uint32_t bit = 0; bit < 32 && used < size; bit++) {
        const char *name = NULL;
        if (traps >> bit & 1)
            name =
                tally_pmu_trap_name((enum tally_pmu_trap)(UINT32_C(1) << bit));
        if (name != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used > 0 ? "," : "", name);
    }
}

/* A section begins where nothing has happened yet. */
static void
begin_section(struct pmu_console *c)
{
    if (c->machine == NULL)
        return;
    tally_pmu_init(c->pmu, tally_pmu_size(&c->options), &c->options, &c->pmu);
    c->has_saved = false;
    c->strand = 0;
}

static int
find_verb(const char *word, const struct tally_log *log)
{
    const char *names[VERBS];
    char near[64];

    for (size_t i = 0; i < VERBS; i++) {
        if (same_name(verbs[i].verb.name, word))
            return (int)i;
        names[i] = verbs[i].verb.name;
    }
    near_names(word, names, VERBS, 2, near, sizeof(near));
    return tally_fail(log, TALLY_EUNKNOWN, "unknown command '%s'%s%s%s",
                      shown(word, strlen(word)).text,
                      *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static int
twice(const struct pmu_call *call, const char *what)
{
    return tally_fail(call->log, TALLY_ESYNTAX, "a line has one %s, not two",
                      what);
}

static int
take_level(struct pmu_call *call, size_t at)
{
    static const struct pmu_word levels[] = {
        {"@user", TALLY_PMU_USER},
        {"@priv", TALLY_PMU_PRIVILEGED},
        {"@hyper", TALLY_PMU_HYPERPRIVILEGED},
        {0},
    };
    uint64_t level = 0;
    const int error = pmu_word_value(levels, call->line.words[at], "level",
                                     call->log, &level);

    call->level = (enum tally_pmu_level)level;
    pmu_line_drop(&call->line, at, 1);
    return error;
}

static int
take_strand(const struct pmu_console *c, struct pmu_call *call, size_t at)
{
    uint64_t strand = 0;

    if (at + 1 == call->line.count)
        return tally_fail(call->log, TALLY_ESYNTAX, "strand takes a number");
    const int error =
        pmu_number_word(call->line.words[at + 1], "a strand",
                        tally_pmu_strands(c->pmu) - 1, call->log, &strand);
    call->strand = (unsigned)strand;
    pmu_line_drop(&call->line, at, 2);
    return error;
}

/* Takes `@level` and `strand N` out of the words, wherever they stand. */
static int
take_place(const struct pmu_console *c, unsigned takes, struct pmu_call *call)
{
    unsigned taken = 0;
    size_t i = 1;
    int error = 0;

    while (error == 0 && i < call->line.count) {
        const char *const word = call->line.words[i];
        if ((takes & TAKES_LEVEL) != 0 && word[0] == '@') {
            error = (taken & TAKES_LEVEL) != 0 ? twice(call, "@level")
                                               : take_level(call, i);
            taken |= TAKES_LEVEL;
        } else if ((takes & TAKES_STRAND) != 0 && strcmp(word, "strand") == 0) {
            error = (taken & TAKES_STRAND) != 0 ? twice(call, "strand")
                                                : take_strand(c, call, i);
            taken |= TAKES_STRAND;
        } else {
            i++;
        }
    }
    return error;
}

/* Compares the result of a call with the one that the line expects, and sets
 * the verdict. */
static void
judge(struct pmu_call *call)
{
    struct pmu_result *const r = call->result;

    if (call->refused != 0 && r->text[0] == '\0')
        snprintf(r->text, sizeof(r->text), "%s",
                 call->refused == TALLY_ERANGE ? "out of range"
                                               : tally_strerror(call->refused));
    if (r->text[0] == '\0')
        strcpy(r->text, "ok");
    r->verdict = PMU_DONE;
    if (r->wanted[0] != '\0') {
        if (!pmu_same_result(r->text, r->wanted) &&
            !(call->refused != 0 &&
              same_name(r->wanted, tally_strerror(call->refused))))
            r->verdict = PMU_UNMET;
    } else if (call->refused != 0) {
        r->verdict = PMU_WRONG;
        if (r->message[0] == '\0')
            strcpy(r->message, r->text);
    }
}

void
pmu_tell(struct pmu_console *c, struct pmu_call *call)
{
    call->result->traps =
        c->pmu != NULL ? tally_pmu_pending(c->pmu, call->strand) : 0;
    c->tell(c->user, call->result);
    call->told = true;
}

/* Carries out a command of groups of `size` words group by group. */
static int
run_several(struct pmu_console *c, struct pmu_call *call, size_t v, size_t size)
{
    struct pmu_result *const r = call->result;
    const struct pmu_line line = call->line;
    const size_t groups = (line.count - 1) / size;
    struct pmu_line wanted;
    enum pmu_verdict worst = PMU_NOTHING;

    if (pmu_line_results(&wanted, line.wanted, call->log) != 0)
        return TALLY_ESYNTAX;
    if (wanted.count > 1 && wanted.count != groups)
        return tally_fail(call->log, TALLY_ESYNTAX,
                          "%zu results for %zu registers; results of several "
                          "words stand between commas",
                          wanted.count, groups);
    for (size_t i = 0; i < groups; i++) {
        *r = (struct pmu_result){.command = r->command,
                                 .line = r->line,
                                 .row = r->row,
                                 .wanted = r->wanted};
        call->refused = 0;
        call->line.count = size + 1;
        for (size_t k = 0; k < size; k++)
            call->line.words[k + 1] = line.words[1 + i * size + k];
        if (wanted.count > 0)
            r->wanted = wanted.words[wanted.count > 1 ? i : 0];
        if (verbs[v].run(c, call) != 0)
            r->verdict = PMU_WRONG;
        else
            judge(call);
        worst = r->verdict > worst ? r->verdict : worst;
        pmu_tell(c, call);
    }
    r->verdict = worst;
    r->wanted = call->line.wanted; /* `wanted` ends with this function */
    return 0;
}

static int
run(struct pmu_console *c, struct pmu_call *call)
{
    const int v = find_verb(call->line.words[0], call->log);

    if (v < 0)
        return v;
    call->result->command = verbs[v].verb.name;
    if (c->machine == NULL && (verbs[v].takes & TAKES_NO_MACHINE) == 0)
        return tally_fail(call->log, TALLY_ERULE,
                          "no machine; a line `machine "
                          "NAME` comes first");
    const int error = take_place(c, verbs[v].takes, call);
    if (error != 0)
        return error;
    const size_t words = call->line.count - 1;
    const bool several = (verbs[v].takes & TAKES_SEVERAL) != 0;
    if (words < verbs[v].min || words > verbs[v].max ||
        (several && words % verbs[v].min != 0))
        return tally_fail(call->log, TALLY_ESYNTAX, "it is: %s%s%s",
                          verbs[v].verb.name, *verbs[v].verb.words ? " " : "",
                          verbs[v].verb.words);
    if (several && words > verbs[v].min)
        return run_several(c, call, (size_t)v, verbs[v].min);
    return verbs[v].run(c, call);
}

void
pmu_hear(void *user, enum tally_level level, const char *text)
{
    struct pmu_result *const r = user;

    (void)level;
    if (r->message[0] == '\0')
        snprintf(r->message, sizeof(r->message), "%s", text);
}

/* Carries out one command of a line. */
static enum pmu_verdict
do_command(struct pmu_console *c, const char *text, unsigned long number,
           const char *row)
{
    struct pmu_result result = {
        .wanted = "", .verdict = PMU_NOTHING, .line = number, .row = row};
    const struct tally_log log = {pmu_hear, &result};
    struct pmu_call call = {.strand = c->strand,
                            .level = TALLY_PMU_HYPERPRIVILEGED,
                            .log = &log,
                            .result = &result};

    int error = pmu_line_split(&call.line, text, &log);
    if (error == 0 && call.line.count == 0)
        return PMU_NOTHING;
    result.wanted = call.line.wanted;
    if (error == 0)
        error = run(c, &call);
    if (error != 0)
        result.verdict = PMU_WRONG;
    else if (!call.told)
        judge(&call);
    c->no_memory |= error == TALLY_ENOMEM;
    if (!call.told)
        pmu_tell(c, &call);
    return result.verdict;
}

/* Returns the length of a line's first command: up to a ; that is in no
 * comment. */
static size_t
command_length(const char *text)
{
    size_t i = 0;

    for (; text[i] != '\0' && text[i] != ';'; i++)
        if (text[i] == '#' && pmu_word_begins(text, i))
            return i + strlen(text + i);
    return i;
}

enum pmu_verdict
pmu_do_line(struct pmu_console *c, const char *text, unsigned long number,
            const char *row)
{
    enum pmu_verdict worst = PMU_NOTHING;

    if (strncmp(text, "#:", 2) == 0)
        begin_section(c);
    for (;;) {
        const size_t length = command_length(text);
        char command[PMU_LINE + 1];

        snprintf(command, sizeof(command), "%.*s",
                 (int)(length < PMU_LINE ? length : PMU_LINE), text);
        const enum pmu_verdict verdict = do_command(c, command, number, row);
        worst = verdict > worst ? verdict : worst;
        if (text[length] == '\0' || c->no_memory)
            return worst;
        text += length + 1;
    }
}

enum pmu_verdict
pmu_console_line(struct pmu_console *c, const char *text)
{
    c->line++;
    if (pmu_loop_takes(c, text))
        return pmu_loop_line(c, text);
    return pmu_do_line(c, text, c->line, "");
}

enum pmu_verdict
pmu_console_end(struct pmu_console *c)
{
    return pmu_loop_finish(c);
}
