/* SPDX-License-Identifier: MIT */
/*
 * Encoded and decoded, each event, unit mask and modifier comes back; and what
 * is wrong with a register's value is said.
 */
#include "table/decode.h"
#include "table/plan.h"

#include "check.h"

/* What decoding said. */
struct told {
    const struct counter_row *wanted; /* NULL: any counter */
    struct selection found;
    bool has_found;
    int fields, counters, warning_count;
    char note[TEXT_SIZE];
    char event[SELECTION_TEXT];
    char warnings[TEXT_SIZE]; /* all, one a line */
};

static void
tell_field(void *user, const struct field_row *field, uint64_t value)
{
    struct told *t = user;

    (void)value;
    assert_non_null(field->name);
    t->fields++;
}

static void
tell_counter(void *user, const struct counter_row *counter,
             const struct selection *selection, const char *note)
{
    struct told *t = user;

    t->counters++;
    if (t->wanted != NULL && t->wanted != counter)
        return;
    t->has_found = selection != NULL;
    if (selection != NULL) {
        t->found = *selection;
        selection_text(selection, t->event, sizeof(t->event));
    }
    snprintf(t->note, sizeof(t->note), "%s", note != NULL ? note : "");
}

static void
tell_warning(void *user, const char *text)
{
    struct told *t = user;
    const size_t at = strlen(t->warnings);

    t->warning_count++;
    snprintf(t->warnings + at, sizeof(t->warnings) - at, "%s%s",
             at > 0 ? "\n" : "", text);
}

static struct decode_sink
sink_of(struct told *told, const struct counter_row *wanted)
{
    *told = (struct told){.wanted = wanted};
    return (struct decode_sink){
        .field = tell_field,
        .counter = tell_counter,
        .warning = tell_warning,
        .user = told,
    };
}

/* A modifier of the counter's own register comes back, others do not. */
static bool
same_values(const struct selection *a, const struct selection *b)
{
    for (size_t i = 0; i < a->machine->modifier_count; i++) {
        const struct modifier_row *m = &a->machine->modifiers[i];
        if (strchr(m->field, '.') == NULL && a->values[i] != b->values[i])
            return false;
    }
    return a->off == b->off;
}

/* IA64_INST_RETIRED is a unit mask of the tagged one: both are named. */
static bool
same_event(const struct told *told, const struct selection *s)
{
    static const char *const pair[] = {"IA64_INST_RETIRED",
                                       "IA64_TAGGED_INST_RETIRED"};
    char note[TEXT_SIZE];

    if (told->found.event == s->event)
        return true;
    if (strcmp(told->found.event->name, pair[0]) != 0 ||
        strcmp(s->event->name, pair[1]) != 0)
        return false;
    snprintf(note, sizeof(note), "the same as %s.%s", pair[1], s->umask->name);
    return strcmp(told->note, note) == 0;
}

/* A counter without a register that selects counts its event by itself. */
static void
check_back(const struct selection *s, const struct counter_row *c)
{
    struct write_list writes = {.count = 0};
    struct write_clash clash;
    struct told told;
    char text[SELECTION_TEXT], why[TEXT_SIZE];
    size_t found = 0;

    selection_text(s, text, sizeof(text));
    if (!encode_add(&writes, s, (size_t)(c - s->machine->counters), &clash))
        fail_msg("%s: %s does not encode", s->machine->name, text);
    for (size_t i = 0; i < writes.count; i++) {
        const struct decode_sink sink = sink_of(&told, c);
        decode_register(s->machine, &s->machine->registers[writes.rows[i].reg],
                        writes.rows[i].value, &sink);
        if (!s->event->reserved &&
            told.warning_count != selection_never(s, why, sizeof(why)))
            fail_msg("%s: %s: %s", s->machine->name, text, told.warnings);
        if (!told.has_found)
            continue;
        found++;
        if (!same_event(&told, s) || told.found.umask_value != s->umask_value ||
            !same_values(&told.found, s) ||
            (s->instance >= 0 && told.found.instance != s->instance))
            fail_msg("%s: %s came back as %s", s->machine->name, text,
                     told.event);
    }
    const size_t instances = s->machine->units[s->unit].instance_count;
    if (found != (s->instance >= 0 || instances == 0 ? 1 : instances))
        fail_msg("%s: %s found %zu times", s->machine->name, text, found);
}

static void
check_text(const struct selection *s, uint64_t *random)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);
    struct selection back;
    char text[SELECTION_TEXT];

    (void)random;
    selection_text(s, text, sizeof(text));
    if (selection_parse(s->machine, text, strlen(text), &log, &back) != 0)
        fail_msg("%s: '%s' does not read back: %s", s->machine->name, text,
                 heard.text);
    if (back.event != s->event || back.umask_value != s->umask_value ||
        back.sl != s->sl || back.mask != s->mask || back.unit != s->unit ||
        back.instance != s->instance ||
        memcmp(back.values, s->values, sizeof(back.values)) != 0)
        fail_msg("%s: '%s' reads back as another", s->machine->name, text);
}

/*
 * Calls `check` for every event with every unit mask that counts, of machines
 * that a manual describes, with the state of its random numbers or NULL.
 */
static size_t
for_each_selection(const struct machine_row *m,
                   void (*check)(const struct selection *s, uint64_t *random),
                   uint64_t *random)
{
    size_t count = 0;

    for (size_t i = 0; is_documented(m) && i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        for (size_t u = 0; u < e->umask_count; u++) {
            if (e->umasks[u].counts != UMASK_YES)
                continue;
            const struct selection s = selection_of(m, e, (int)u);
            check(&s, random);
            count++;
        }
        if (e->umask_count == 0) {
            const struct selection s = selection_of(m, e, -1);
            check(&s, random);
            count++;
        }
    }
    return count;
}

static void
back_on_every_counter(const struct selection *s, uint64_t *random)
{
    (void)random;
    for (size_t c = 0; c < s->machine->counter_count; c++)
        if ((plan_counters(s) >> c & 1) != 0 &&
            s->machine->counters[c].select != NULL)
            check_back(s, &s->machine->counters[c]);
}

static void
test_every_event(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const size_t count =
            for_each_selection(&tally_machines[m], back_on_every_counter, NULL);
        assert_true(!is_documented(&tally_machines[m]) || count >= 29);
    }
}

static void
test_every_text(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++)
        for_each_selection(&tally_machines[m], check_text, NULL);
}

/* Appends a modifier with a value of its own, if the selection takes it. */
static void
random_modifier(const struct selection *s, size_t index, uint64_t *state,
                char *text, size_t size)
{
    const struct modifier_row *m = &s->machine->modifiers[index];
    const size_t at = strlen(text);
    const uint64_t random = next_random(state);

    if (!selection_takes(s, m) || random % 2 == 0)
        return;
    if (m->kind == MODIFIER_NUMBER)
        snprintf(text + at, size - at, ":%s=%u", m->name,
                 m->low + (unsigned)(random >> 8) % (m->high - m->low + 1));
    else if (m->kind == MODIFIER_WORDS) {
        size_t words = 0;
        while (m->words[words] != NULL)
            words++;
        snprintf(text + at, size - at, ":%s=%s", m->name,
                 m->words[(random >> 8) % words]);
    } else if (m->kind == MODIFIER_LETTERS) {
        snprintf(text + at, size - at, ":%s=%s%s", m->name, m->words[0],
                 m->words[1 + (random >> 8) % 3]);
    } else
        snprintf(text + at, size - at, ":%s", m->name);
}

static void
back_with_modifiers(const struct selection *plain, uint64_t *random)
{
    const struct machine_row *m = plain->machine;
    const struct unit_row *unit = &m->units[plain->unit];
    struct heard heard;
    const struct tally_log log = listen(&heard);
    struct selection s;
    char text[TEXT_SIZE];

    selection_text(plain, text, sizeof(text));
    for (size_t i = 0; i < m->modifier_count; i++)
        random_modifier(plain, i, random, text, sizeof(text));
    if (unit->instance_count > 0 && next_random(random) % 2 == 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ":at=%s",
                 unit->instances[next_random(random) % unit->instance_count]);
    if (selection_parse(m, text, strlen(text), &log, &s) != 0)
        fail_msg("%s: '%s': %s", m->name, text, heard.text);
    check_text(&s, NULL);
    back_on_every_counter(&s, NULL);
}

static void
test_modifiers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        print_message("# seed %llu\n", (unsigned long long)seed);
        for (size_t m = 0; m < MACHINE_COUNT; m++)
            for_each_selection(&tally_machines[m], back_with_modifiers,
                               &random);
    }
}

/* Values of registers, and the text that decodes them. */
static const struct {
    int line;
    const char *machine, *assignment, *counter;
    const char *event; /* NULL: none */
    const char *note;
    const char *warnings;
} rows[] = {
    {__LINE__, "montecito", "PMC4=0x2001209", "PMD4", "CPU_OP_CYCLES.ALL:k:u",
     "", ""},
    {__LINE__, "montecito", "PMC4 = 0x0200_1209", "PMD4",
     "CPU_OP_CYCLES.ALL:k:u", "", ""},
    {__LINE__, "montecito", "PMC7=0x2064e09", "PMD7",
     "SYLL_NOT_DISPERSED.0x6:k:u", "", ""},
    {__LINE__, "montecito", "PMC9=0xe00da09", "PMD9",
     "L3_INSERTS:k:u:mesi=I:all", "", ""},
    {__LINE__, "r10000", "CTRL1=0x118", "CNT1", "Mispredicted_branches:u:ie",
     "", ""},
    {__LINE__, "r10000", "ctrl0=282", "CNT0",
     /* 0x11a: event 8 */
     "Correctable_secondary_cache_data_array_ECC_errors:u:k:ie", "", ""},
    {__LINE__, "r12000", "CTRL1=0x3cf", "CNT1",
     "Miss_Handling_Table_entries_accessing_memory:u:s:k:x", "", ""},
    {__LINE__, "ultrasparc-t1", "PCR=0b1110100", "PIC0", "L2_dmiss_ld:u", "",
     ""},
    {__LINE__, "ultrasparc-t1", "PCR=0x74", "PIC1", "instr_cnt:u", "", ""},
    {__LINE__, "ultrasparc-t2", "PCR=0x10808204", "PIC1", "Store_instr:u", "",
     ""},
    {__LINE__, "ultrasparc-t2", "PCR=0x10808204", "PIC0", "Load_instr:u", "",
     ""},
    {__LINE__, "ultrasparc-t2plus", "ZAM1_LPU_B_PCR=0x2002", "LPU_PIC1",
     "cycles_MISS:at=ZAM1_LPU_B", "", ""},

    /* Reserved bits. */
    {__LINE__, "ultrasparc-t1", "PCR=0x8", "PIC0", "SB_full:off", "",
     "PCR.reserved: reserved bits 3:3 must stay 0x0\n"
     "PCR: PIC0 counts in no mode: disabled\n"
     "PCR: PIC1 counts in no mode: disabled"},
    {__LINE__, "ultrasparc-t1", "PCR=0x484", "PIC0", "SB_full:u", "",
     "PCR.reserved: reserved bits 63:10 must stay 0x0\n"
     "PCR.reserved: reserved bits 7:7 must stay 0x0"},
    {__LINE__, "sparc-t4", "PCR1=0x8d00c", "PIC1", "Cycles:u:k", "",
     "PCR1.reserved: reserved bits 63:19 must stay 0x0"},
    {__LINE__, "montecito", "PMC36=0", NULL, NULL, "",
     "PMC36.rsv: reserved bits 31:4 must stay 0xfffffff"},
    {__LINE__, "montecito", "PMC36=0xffffffff", NULL, NULL, "", ""},
    {__LINE__, "montecito", "PMC38=0xdb4", NULL, NULL, "", ""},
    {__LINE__, "montecito", "PMC38=0xdb7", NULL, NULL, "",
     "PMC38.reserved: reserved bits 0:0 must stay 0x0"},
    /* Ignored bits. */
    {__LINE__, "r10000", "CTRL0=0x20a", "CNT0", "Cycles:u:k", "",
     "CTRL0.ig: writes are ignored, it reads 0"},
    {__LINE__, "montecito", "PMC4=0x2801209", "PMD4", "CPU_OP_CYCLES.ALL:k:u",
     "", "PMC4.ig: writes are ignored, it reads 0"},
    /* Bits that take no 1. */
    {__LINE__, "sparc-t4", "PCR0=0xd00d", "PIC0", "Cycles:u:k", "",
     "PCR0.ov: can be written 0 only; a written 1 leaves it as it is"},
    {__LINE__, "sparc-t4", "PCR0=0x4d00c", "PIC0", "Cycles:u:k", "",
     "PCR0.ntc: can be written 0 only; a written 1 leaves it as it is"},
    {__LINE__, "montecito", "PMD4=0x800000000000", NULL, NULL, "",
     "PMD4.ov: can be written 0 only; a written 1 leaves it as it is"},
    {__LINE__, "montecito", "PMD4=0x1000000000000", NULL, NULL, "",
     "PMD4.sxt47: read-only, the write is ignored"},

    /* Two events share code 0x08; the other has one unit mask only. */
    {__LINE__, "montecito", "PMC4=0x2010809", "PMD4",
     "IA64_TAGGED_INST_RETIRED.IBRP1_PMC34_35:k:u", "", ""},
    {__LINE__, "montecito", "PMC4=0x2000809", "PMD4",
     "IA64_INST_RETIRED.THIS:k:u",
     "the same as IA64_TAGGED_INST_RETIRED.IBRP0_PMC32_33", ""},
    /* The other half of a Zambezi select register is 0: nothing to warn of. */
    {__LINE__, "ultrasparc-t2plus", "ZAM3_LPU_D_PCR=0x1c00", "LPU_PIC1",
     "cycles_HIT_M:at=ZAM3_LPU_D", "", ""},

    /* Unit masks that count nothing, are illegal or undefined. */
    {__LINE__, "montecito", "PMC4=0x2005809", "PMD4",
     "ALAT_CAPACITY_MISS.0x0:k:u", "",
     "PMC4: unit mask 0x0 of ALAT_CAPACITY_MISS counts nothing"},
    {__LINE__, "montecito", "PMC4=0x2098f09", "PMD4",
     "BUS_SNOOP_STALL_CYCLES.0x9:k:u", "",
     "PMC4: unit mask 0x9 of BUS_SNOOP_STALL_CYCLES is an illegal selection"},
    {__LINE__, "montecito", "PMC5=0x206ca09", "PMD5",
     "BE_L1D_FPU_BUBBLE.0x6:k:u", "",
     "PMC5: unit mask 0x6 of BE_L1D_FPU_BUBBLE leaves the count undefined"},
    /* The instruction set mask; no level at all. */
    {__LINE__, "montecito", "PMC4=0x1209", "PMD4", "CPU_OP_CYCLES.ALL:k:u", "",
     "PMC4.ism: only 2 is defined"},
    {__LINE__, "montecito", "PMC4=0x2001200", "PMD4", "CPU_OP_CYCLES.ALL:off",
     "", "PMC4: PMD4 counts in no mode: disabled"},
    {__LINE__, "montecito", "PMC37=0", NULL, NULL, "",
     "PMC37.plm: 0 disables the monitor"},
    {__LINE__, "sparc-t4", "PCR0=0xd000", "PIC0", "Cycles:off", "",
     "PCR0: PIC0 counts in no mode: disabled"},
    {__LINE__, "r10000", "CTRL0=0x1e0", "CNT0", "Graduated_instructions:off",
     "", "CTRL0: CNT0 counts in no mode: disabled"},
    {__LINE__, "r12000", "CTRL1=0x10", "CNT1", "Cycles:off:ie", "",
     "CTRL1: CNT1 counts in no mode: disabled"},
    {__LINE__, "ultrasparc-t2", "PCR=1", "PIC0", "Idle_strands:off", "",
     "PCR: PIC0 counts in no mode: disabled\n"
     "PCR: PIC1 counts in no mode: disabled"},
    {__LINE__, "montecito", "PMC4=0x2056509", "PMD4", "L1I_FETCH_RAB_HIT:k:u",
     "", "PMC4: unit mask 0x5 of L1I_FETCH_RAB_HIT is in no row of the manual"},
    /* R085: both threads on PMD4 to 9 alone. */
    {__LINE__, "montecito", "PMC10=0x6001209", "PMD10",
     "CPU_OP_CYCLES.ALL:k:u:all", "",
     "PMC10.all: PMD10 counts its own thread only"},
    /* R052, R083: filters that let nothing through. */
    {__LINE__, "montecito", "PMC4=0x2701209", "PMD4",
     "CPU_OP_CYCLES.ALL:k:u:thr=7", "",
     "PMC4: PMD4: threshold 7 is never exceeded, the event adds at most 1 in a "
     "cycle: it counts nothing"},
    {__LINE__, "montecito", "PMC4=0x20fdd09", "PMD4",
     "L3_READS.ALL.ALL:k:u:mesi=", "",
     "PMC4: PMD4: :mesi= lets no line through: it counts nothing"},
    /* R081, R087: filters that the event does not have. */
    {__LINE__, "montecito", "PMC4=0x600e409", "PMD4", "L2D_BYPASS.L2_DATA1:k:u",
     "", "PMC4.all: L2D_BYPASS cannot count both threads"},
    {__LINE__, "montecito", "PMC4=0xa001209", "PMD4", "CPU_OP_CYCLES.ALL:k:u",
     "", "PMC4.MESI: no effect on CPU_OP_CYCLES"},
    /* On a counter that may not count it. */
    {__LINE__, "montecito", "PMC10=0x200dc09", "PMD10", "L3_MISSES:k:u", "",
     "PMD10 does not count L3_MISSES; tally show L3_MISSES says which do"},
    {__LINE__, "montecito", "PMC4=0x2001809", "PMD4",
     "CPU_OP_CYCLES_HALTED:k:u", "",
     "PMD4 does not count CPU_OP_CYCLES_HALTED; tally show "
     "CPU_OP_CYCLES_HALTED says which do"},
    /* No event has this code. */
    {__LINE__, "montecito", "PMC4=0x2000709", "PMD4", NULL,
     "0x7 selects no event", ""},
    {__LINE__, "ultrasparc-t1", "JBUS_CTL=0x70", "JBUS_CNT1", NULL,
     "0x7 selects no event", ""},
    {__LINE__, "ultrasparc-t1", "DRAM_CTL2=0x80", "DRAM_PIC0", NULL,
     "0x8 selects no event", ""},
    /* Of these the manual has no more than the code. */
    {__LINE__, "montecito", "PMC4=0x200ee09", "PMD4",
     "TAGGED_L2D_RETURN_PORT:k:u", "",
     "PMC4: the manual says no more of TAGGED_L2D_RETURN_PORT than its code"},
    {__LINE__, "ultrasparc-t2plus", "ZAM0_GPD_PCR=0xf", "GPD_PIC0",
     "gpd/clear_pic:at=ZAM0_GPD", "",
     "ZAM0_GPD_PCR: the manual says no more of clear_pic than its code"},

    /* Unions of T4's mask bits. */
    {__LINE__, "sparc-t4", "PCR0=0x186c", "PIC0", NULL,
     "Branches + FGU_crypto_arithmetic_instructions, in one count", ""},
    {__LINE__, "sparc-t4", "PCR3=0xc06c", "PIC3", NULL,
     "Clean_L2_evictions + Dirty_L2_evictions, in one count", ""},
    /* A union that has a row: Any pick, 0x0e. */
    {__LINE__, "sparc-t4", "PCR0=0x11cc", "PIC0", "Any_pick:u:k", "", ""},
    /* Mask bits without effect: 0x21 in sl 1 is 0x01, any in sl 26. */
    {__LINE__, "sparc-t4", "PCR0=0xc2c", "PIC0", "Sel-pipe-drain-cycles:u:k",
     "", "PCR0: mask bits 0x20 have no effect in sl 1"},
    {__LINE__, "sparc-t4", "PCR0=0xd7ec", "PIC0", "Cycles:u:k", "",
     "PCR0: mask bits 0x3f have no effect in sl 26"},
    /* Rule T4-R60: bit 4 of sl 20 counts, bit 5 does not. */
    {__LINE__, "sparc-t4", "PCR0=0xa60c", "PIC0",
     "Store_queue_tag_wait_cycles:u:k", "",
     "PCR0: mask bits 0x20 have no effect in sl 20"},
    /* Rule T4-R57: sl 11 without bit 0 or 1. */
    {__LINE__, "sparc-t4", "PCR0=0x588c", "PIC0", NULL,
     "sl 11 (instruction cache misses, asynchronous) without a mask bit: it "
     "counts nothing",
     "PCR0: mask bits 0x04 have no effect in sl 11"},
    /* Reserved and disabled groups. */
    {__LINE__, "sparc-t4", "PCR2=0x602c", "PIC2", NULL,
     "sl 12 is reserved: it counts nothing", ""},
    {__LINE__, "sparc-t4", "PCR2=0xd82c", "PIC2", NULL,
     "sl 27 is reserved: it counts nothing", ""},
    {__LINE__, "sparc-t4", "PCR2=0xc", "PIC2", NULL,
     "sl 0 (disabled) without a mask bit: disabled", ""},
    /* T2: the union of two bits; a reserved sl. */
    {__LINE__, "ultrasparc-t2", "PCR=0x80c4", "PIC0", NULL,
     "Completed_branches + Taken_branches, in one count", ""},
    {__LINE__, "ultrasparc-t2", "PCR=0x20044", "PIC0", NULL,
     "sl 8 is reserved: it counts nothing", ""},

    /* Skylake: each fixed counter has modes of its own in one register. */
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0x32", "FIXED_CTR0",
     "INST_RETIRED.ANY:u", "", ""},
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0x32", "FIXED_CTR1",
     "CPU_CLK_UNHALTED.THREAD:u:k", "", ""},
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0x32", "FIXED_CTR2",
     "CPU_CLK_UNHALTED.REF_TSC:off", "", ""},
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0x100", "FIXED_CTR2",
     "CPU_CLK_UNHALTED.REF_TSC:k", "", ""},
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0", "FIXED_CTR0",
     "INST_RETIRED.ANY:off", "",
     "IA32_FIXED_CTR_CTRL: FIXED_CTR0 counts in no mode: disabled\n"
     "IA32_FIXED_CTR_CTRL: FIXED_CTR1 counts in no mode: disabled\n"
     "IA32_FIXED_CTR_CTRL: FIXED_CTR2 counts in no mode: disabled"},
    {__LINE__, "skylake", "IA32_FIXED_CTR_CTRL=0x1003", "FIXED_CTR0",
     "INST_RETIRED.ANY:u:k", "",
     "IA32_FIXED_CTR_CTRL.reserved: reserved bits 63:12 must stay 0x0"},
    {__LINE__, "skylake", "IA32_PERFEVTSEL3=0x4120d1", "PMC3",
     "MEM_LOAD_RETIRED.L3_MISS:u", "", ""},
    {__LINE__, "skylake", "IA32_PERFEVTSEL0=0x4301c0", "PMC0",
     "INST_RETIRED.PREC_DIST:u:k", "",
     "PMC0 does not count INST_RETIRED.PREC_DIST; tally show "
     "INST_RETIRED.PREC_DIST says which do"},
    {__LINE__, "skylake", "IA32_PERFEVTSEL0=0x43ffff", "PMC0", NULL,
     "0xffff selects no event", ""},
    {__LINE__, "skylake", "IA32_PERF_GLOBAL_CTRL=0x70000000f", NULL, NULL, "",
     ""},
    {__LINE__, "skylake", "IA32_PERF_GLOBAL_CTRL=0x10", NULL, NULL, "",
     "IA32_PERF_GLOBAL_CTRL.reserved_low: reserved bits 31:4 must stay 0x0"},
    /* Ice Lake-SP: a fourth fixed counter, and no bit for the other thread. */
    {__LINE__, "icelake", "IA32_FIXED_CTR_CTRL=0x1002", "FIXED_CTR3",
     "TOPDOWN.SLOTS:k", "", ""},
    {__LINE__, "icelake", "IA32_FIXED_CTR_CTRL=0x7", "FIXED_CTR0",
     "INST_RETIRED.ANY:u:k", "",
     "IA32_FIXED_CTR_CTRL.reserved_2: reserved bits 2:2 must stay 0x0"},
    {__LINE__, "icelake", "IA32_PERFEVTSEL7=0x4101a4", "PMC7",
     "TOPDOWN.SLOTS_P:u", "", ""},
    {__LINE__, "icelake", "IA32_PERFEVTSEL4=0x4320d1", "PMC4",
     "MEM_LOAD_RETIRED.L3_MISS:u:k", "",
     "PMC4 does not count MEM_LOAD_RETIRED.L3_MISS; tally show "
     "MEM_LOAD_RETIRED.L3_MISS says which do"},
    {__LINE__, "icelake", "IA32_PERF_GLOBAL_CTRL=0x1000f000000ff", NULL, NULL,
     "", ""},
    {__LINE__, "icelake", "IA32_PERF_GLOBAL_CTRL=0x100", NULL, NULL, "",
     "IA32_PERF_GLOBAL_CTRL.reserved_low: reserved bits 31:8 must stay 0x0"},
    /* Neoverse N1: a 1 leaves a level out, or lets level 2 in. */
    {__LINE__, "neoverse-n1", "PMEVTYPER5_EL0=0x80000003", "PMEVCNTR5",
     "L1D_CACHE_REFILL:u", "", ""},
    {__LINE__, "neoverse-n1", "PMEVTYPER0_EL0=0xc8000017", "PMEVCNTR0",
     "L2D_CACHE_REFILL:h", "", ""},
    {__LINE__, "neoverse-n1", "PMEVTYPER0_EL0=0xc0000008", "PMEVCNTR0",
     "INST_RETIRED:off", "",
     "PMEVTYPER0_EL0: PMEVCNTR0 counts in no mode: disabled"},
    {__LINE__, "neoverse-n1", "PMEVTYPER0_EL0=0x1001e", "PMEVCNTR0",
     "CHAIN:u:k", "",
     "PMEVTYPER0_EL0.reserved: reserved bits 24:16 must stay 0x0\n"
     "PMEVCNTR0 does not count CHAIN; tally show CHAIN says which do"},
    {__LINE__, "neoverse-n1", "PMEVTYPER0_EL0=0x3ff", "PMEVCNTR0", NULL,
     "0x3ff selects no event", ""},
    {__LINE__, "neoverse-n1", "PMCCFILTR_EL0=0x40000000", "PMCCNTR",
     "CPU_CYCLES:k", "", ""},
    {__LINE__, "neoverse-n1", "PMCR_EL0=0x41", NULL, NULL, "", ""},
    {__LINE__, "neoverse-v1", "PMEVTYPER5_EL0=0x80004009", "PMEVCNTR5",
     "L2D_CACHE_LMISS_RD:u", "", ""},
    {__LINE__, "cortex-a72", "PMEVTYPER5_EL0=0x80000072", "PMEVCNTR5",
     "LDST_SPEC:u", "", ""},
    {__LINE__, "cortex-a72", "PMEVTYPER0_EL0=0x21", "PMEVCNTR0", NULL,
     "0x21 selects no event", ""},
    {__LINE__, "zen2", "PERF_CTL3=0x430243", "PERF_CTR3",
     "ls_refills_from_sys.ls_mabresp_lcl_cache:u:k", "", ""},
    {__LINE__, "zen5", "PERF_CTL2=0x41e060", "PERF_CTR2",
     "l2_request_g1.all_dc:u", "", ""},
    /* U74: a class and a bit; several bits are no row of the table. */
    {__LINE__, "sifive-u74", "mhpmevent3=0x4000", "mhpmcounter3",
     "CONDITIONAL_BRANCH_RETIRED", "", ""},
    {__LINE__, "sifive-u74", "mhpmevent4=0x1002", "mhpmcounter4",
     "DATA_TLB_MISS", "", ""},
    {__LINE__, "sifive-u74", "mhpmevent4=0x6001", "mhpmcounter4", NULL,
     "0x6001 selects no event", ""},
    {__LINE__, "sifive-u74", "mhpmevent3=0x100000202", "mhpmcounter3",
     "DCACHE_MISS_MMIO_ACCESSES", "",
     "mhpmevent3.reserved: reserved bits 63:32 must stay 0x0"},
    {__LINE__, "zen3", "PERF_CTL3=0x430864", "PERF_CTR3",
     "l2_cache_req_stat.ls_rd_blk_c:u:k", "", ""},
    {__LINE__, "zen3", "PERF_CTL0=0x4000c0", "PERF_CTR0", "ex_ret_instr:off",
     "", "PERF_CTL0: PERF_CTR0 counts in no mode: disabled"},
    {__LINE__, "zen3", "PERF_CTL0=0x6100c0", "PERF_CTR0", "ex_ret_instr:u", "",
     "PERF_CTL0.reserved_21: reserved bits 21:21 must stay 0x0"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int line = rows[i].line;
        const struct machine_row *m = machine_of(rows[i].machine);
        const struct counter_row *counter =
            rows[i].counter != NULL ? counter_find(m, rows[i].counter) : NULL;
        const struct register_row *row;
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct told told;
        uint64_t value;
        if (decode_parse(m, rows[i].assignment, &log, &row, &value) != 0)
            fail_msg("row at line %d: %s", line, heard.text);
        const struct decode_sink sink = sink_of(&told, counter);
        decode_register(m, row, value, &sink);
        same_number(line, told.fields, (long long)row->field_count);
        same_number(line, told.counters > 0, counter != NULL);
        same_text(line, told.has_found ? told.event : "none",
                  rows[i].event != NULL ? rows[i].event : "none");
        same_text(line, told.note, rows[i].note);
        same_text(line, told.warnings, rows[i].warnings);
    }
}

#define ILLEGAL                                                                \
    "PMC41[48:45] = 0 with PMC32.ig_ad = 0 and an instruction range in PMC38 " \
    "is illegal: tags become inconsistent"

/* Several registers; what is not given has its reset value. */
static const struct {
    int line;
    const char *assignments, *warnings;
} together[] = {
    /* 3.3.5.2: PMC41[48:45] = 0, ig_ad (57 of PMC32) = 0, and PMC38[1] or
     * [4] = 0. */
    {__LINE__, "PMC41=0x78fefefefe PMC32=0x010f01ffffffffff PMC38=0xdb4",
     ILLEGAL},
    {__LINE__, "PMC41=0x78fefefefe PMC32=0x010f01ffffffffff PMC38=0xda6",
     ILLEGAL},
    {__LINE__, "PMC41=0x78fefefefe PMC32=0x010f01ffffffffff PMC38=0xdb6", ""},
    {__LINE__, "PMC41=0x78fefefefe PMC32=0x030f01ffffffffff PMC38=0xdb4", ""},
    {__LINE__, "PMC41=0x2078fefefefe PMC32=0x010f01ffffffffff PMC38=0xdb4", ""},
    /* Of the last four, each counts. */
    {__LINE__, "PMC41=0x1000000000000 PMC32=0 PMC38=0", ""},
    /* PMC41's reset value enables DBRP0: no warning without it. */
    {__LINE__, "PMC32=0x010f01ffffffffff PMC38=0xdb4", ""},
    /* L1D sets need PMC5. */
    {__LINE__, "PMC4=0x200cd09",
     "PMC4: LOADS_RETIRED needs an event of L1D "
     "set 3 in PMC5"},
    {__LINE__, "PMC4=0x200cd09 PMC5=0x200ce09", ""},
    {__LINE__, "PMC4=0x200cd09 PMC5=0x200d109",
     "PMC4: LOADS_RETIRED needs an event of L1D set 3 in PMC5"},
    {__LINE__, "PMC5=0x200cd09 PMC12=0x200cf09", ""},
    /* L2D sets need PMC4 (PMD5, 8) or PMC6 (PMD7, 9). */
    {__LINE__, "PMC8=0x203e609",
     "PMC8: L2D_REFERENCES needs an event of L2D set 2 in PMC4"},
    {__LINE__, "PMC8=0x203e609 PMC4=0x203e609", ""},
    {__LINE__, "PMC9=0x203e609 PMC4=0x203e609",
     "PMC9: L2D_REFERENCES needs an event of L2D set 2 in PMC6"},
    {__LINE__, "PMC7=0x200e409 PMC6=0x200e509", ""},
    {__LINE__, "PMC7=0x200e409 PMC6=0x200e909",
     "PMC7: L2D_BYPASS needs an event of L2D set 1 in PMC6"},
    /* R109, R110: unit mask 00xx of PMC4 or PMC6, not 0010. */
    {__LINE__, "PMC4=0x200e409 PMC5=0x202e409",
     "PMC5: L2D_BYPASS counts with unit mask 0x0 of PMC4, not its own 0x2"},
    {__LINE__, "PMC6=0x202e409 PMC9=0x200e409",
     "PMC9: L2D_BYPASS counts with unit mask 0x2 of PMC6, not its own 0x0"},
    /* xx00: the upper bits say nothing. */
    {__LINE__, "PMC4=0x204e409 PMC5=0x200e409", ""},
    /* R115: a full queue is counted with unit mask 0000 only. */
    {__LINE__, "PMC4=0x206e009 PMC8=0x200e109",
     "PMC8: L2D_OZQ_FULL counts with unit mask 0x6 of PMC4, not its own 0x0"},
    /* R089: all of PMC4, whatever the others hold. */
    {__LINE__, "PMC4=0x603e609 PMC5=0x203e609",
     "PMC5: L2D_REFERENCES counts with all = 1 of PMC4, not its own 0"},
    {__LINE__, "PMC4=0x600e409 PMC5=0x200e409",
     "PMC5: L2D_BYPASS counts with all = 1 of PMC4, not its own 0"},
    {__LINE__, "PMC6=0x203e609 PMC7=0x603e609",
     "PMC7: L2D_REFERENCES counts with all = 0 of PMC6, not its own 1"},
    {__LINE__, "PMC4=0x203e609 PMC5=0x203e609 PMC6=0x603e609", ""},
    /* R114. */
    {__LINE__, "PMC4=0x200e009 PMC6=0x200e209",
     "PMC4 and PMC6: only one of L2D_OZQ_CANCELS0 and L2D_OZQ_CANCELS1 counts "
     "at a time"},
    {__LINE__, "PMC4=0x200e009 PMC6=0x206e009", ""},
};

static void
test_together(void **state)
{
    const struct machine_row *m = machine_of("montecito");

    (void)state;
    for (size_t i = 0; i < COUNT(together); i++) {
        const struct register_row *found[4];
        uint64_t values[4];
        char copy[TEXT_SIZE];
        char *rest = NULL;
        size_t count = 0;
        struct told told;
        snprintf(copy, sizeof(copy), "%s", together[i].assignments);
        for (char *p = strtok_r(copy, " ", &rest); p != NULL;
             p = strtok_r(NULL, " ", &rest), count++)
            same_number(together[i].line,
                        decode_parse(m, p, NULL, &found[count], &values[count]),
                        0);
        const struct decode_sink sink = sink_of(&told, NULL);
        decode_together(m, found, values, count, &sink);
        same_text(together[i].line, told.warnings, together[i].warnings);
    }
}

/* A sink may lack any of its functions; other machines have no such rules. */
static void
test_empty_sink(void **state)
{
    static const char *const names[] = {"montecito", "sparc-t4", "r10000",
                                        "ultrasparc-t2plus", "ultrasparc-t1"};
    const struct decode_sink sink = {.user = NULL};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct machine_row *m = machine_of(names[i]);
        for (size_t k = 0; k < m->register_count; k++) {
            const struct register_row *row = &m->registers[k];
            const uint64_t value = UINT64_MAX;
            decode_register(m, row, value, &sink);
            decode_together(m, &row, &value, 1, &sink);
        }
    }
}

static const struct {
    int line;
    const char *machine, *text;
    int error;
    const char *message;
} errors[] = {
    {__LINE__, "montecito", "PMC4", TALLY_ESYNTAX,
     "'PMC4': write REGISTER=VALUE, such as PMC4=0x1a00"},
    {__LINE__, "neoverse-n1", "0x11", TALLY_ESYNTAX,
     "'0x11': write REGISTER=VALUE, such as PMCCFILTR_EL0=0x1a00"},
    {__LINE__, "host-model", "0x11", TALLY_EUNKNOWN,
     "host-model has no registers"},
    {__LINE__, "montecito", "PMC4=", TALLY_ESYNTAX,
     "'PMC4=': the value must be a number, such as 0x1a00"},
    {__LINE__, "montecito", "PMC4=0x", TALLY_ESYNTAX,
     "'PMC4=0x': the value must be a number, such as 0x1a00"},
    {__LINE__, "montecito", "PMC4=12ab", TALLY_ESYNTAX,
     "'PMC4=12ab': the value must be a number, such as 0x1a00"},
    {__LINE__, "montecito", "PMC4=-1", TALLY_ESYNTAX,
     "'PMC4=-1': the value must be a number, such as 0x1a00"},
    {__LINE__, "montecito", "PMC4=0b12", TALLY_ESYNTAX,
     "'PMC4=0b12': the value must be a number, such as 0x1a00"},
    {__LINE__, "montecito", "PMC4=0x10000000000000000", TALLY_ERANGE,
     "'PMC4=0x10000000000000000': PMC4 has 64 bits; the value is larger"},
    {__LINE__, "r10000", "CTRL0=0x100000000", TALLY_ERANGE,
     "'CTRL0=0x100000000': CTRL0 has 32 bits; the value is larger"},
    {__LINE__, "r10000", "CTRL2=0", TALLY_EUNKNOWN,
     "unknown register 'CTRL2' on r10000: did you mean CTRL0 or CTRL1?"},
    {__LINE__, "sparc-t4", "frob=0", TALLY_EUNKNOWN,
     "unknown register 'frob' on sparc-t4; tally list registers -m sparc-t4 "
     "shows them"},
    {__LINE__, "sparc-t4", "=0", TALLY_EUNKNOWN,
     "unknown register '' on sparc-t4; tally list registers -m sparc-t4 shows "
     "them"},
    {__LINE__, "host-model", "PCR=0", TALLY_EUNKNOWN,
     "host-model has no registers"},
};

static void
test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) {
        const struct register_row *row = NULL;
        uint64_t value = 1234;
        struct heard heard;
        const struct tally_log log = listen(&heard);
        const int error = decode_parse(machine_of(errors[i].machine),
                                       errors[i].text, &log, &row, &value);
        same_text(errors[i].line, heard.text, errors[i].message);
        same_number(errors[i].line, error, errors[i].error);
        same_number(errors[i].line, heard.lines, 1);
        assert_null(row);
        assert_int_equal(value, 1234);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event), cmocka_unit_test(test_every_text),
        cmocka_unit_test(test_modifiers),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_together),    cmocka_unit_test(test_empty_sink),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
