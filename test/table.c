/* SPDX-License-Identifier: MIT */
/* Look-ups and event lists over the generated tables. */
#include "check.h"
#include "table/items.h"
#include "table/software.h"

/* TABLE 3-5 with the codes of the sample dump, in their order. */
static const struct {
    int line;
    const char *name;
    int code;
} t2_codes[] = {
    {__LINE__, "Completed_branches", 0x12},
    {__LINE__, "Taken_branches", 0x22},
    {__LINE__, "FGU_arithmatic_instr", 0x42},
    {__LINE__, "Load_instr", 0x82},
    {__LINE__, "Store_instr", 0x102},
    {__LINE__, "sethi_instr", 0x202},
    {__LINE__, "Other_instr", 0x402},
    {__LINE__, "Atomics", 0x802},
    {__LINE__, "All_instr", 0xfd2},
    {__LINE__, "Icache_misses", 0x13},
    {__LINE__, "Dcache_misses", 0x23},
    {__LINE__, "L2_instr_misses", 0x103},
    {__LINE__, "L2_load_misses", 0x203},
    {__LINE__, "ITLB_ref_L2", 0x44},
    {__LINE__, "DTLB_ref_L2", 0x84},
    {__LINE__, "ITLB_miss_L2", 0x104},
    {__LINE__, "DTLB_miss_L2", 0x204},
    {__LINE__, "Stream_LD_to_PCX", 0x15},
    {__LINE__, "Stream_ST_to_PCX", 0x25},
    {__LINE__, "CPU_LD_to_PCX", 0x45},
    {__LINE__, "CPU_Ifetch_to_PCX", 0x85},
    {__LINE__, "CPU_ST_to_PCX", 0x105},
    {__LINE__, "MMU_LD_to_PCX", 0x205},
    {__LINE__, "DES_3DES_OP", 0x16},
    {__LINE__, "AES_OP", 0x26},
    {__LINE__, "RC4_OP", 0x46},
    {__LINE__, "MD5_SHA1_SHA256_OP", 0x86},
    {__LINE__, "MA_OP", 0x106},
    {__LINE__, "CRC_TCPIP_Cksum_OP", 0x206},
    {__LINE__, "DES_3DES_Busy_cycle", 0x17},
    {__LINE__, "AES_Busy_cycle", 0x27},
    {__LINE__, "RC4_Busy_cycle", 0x47},
    {__LINE__, "MD5_SHA1_SHA256_Busy_cycle", 0x87},
    {__LINE__, "MA_Busy", 0x107},
    {__LINE__, "CRC_MPA_Cksum", 0x207},
    {__LINE__, "ITLB_miss", 0x4b},
    {__LINE__, "DTLB_miss", 0x8b},
    {__LINE__, "TLB_miss", 0xcb},
    {__LINE__, "Idle_strands", 0x0},
};

static void
test_t2_codes(void **state)
{
    const struct machine_row *t2 = machine_of("ultrasparc-t2");
    char code[16];

    (void)state;
    assert_int_equal(COUNT(t2_codes), 39);
    for (size_t i = 0; i < COUNT(t2_codes); i++) {
        const int line = t2_codes[i].line;
        const struct event_row *event = &t2->events[i];
        same_text(line, event->name, t2_codes[i].name);
        same_number(line, event->code, t2_codes[i].code);
        /* Rule P20. */
        same_number(line, event->mask << 4 | event->sl, t2_codes[i].code);
        snprintf(code, sizeof(code), "0x%X", (unsigned)event->code);
        assert_ptr_equal(event_find(t2, code), event);
    }
}

static const struct {
    int line;
    const char *machine, *name, *event; /* NULL: there is none */
} finds[] = {
    {__LINE__, "ultrasparc-t2", "Atomics", "Atomics"},
    {__LINE__, "UltraSPARC-T2", "aTOMICS", "Atomics"},
    {__LINE__, "t2", "Sethi_instr", "sethi_instr"},
    {__LINE__, "n2", "Instr_sw", "sethi_instr"},
    {__LINE__, "niagara2", "Instr_cnt", "All_instr"},
    {__LINE__, "niagara2", "Instr_cnt:FGU_arith", "FGU_arithmatic_instr"},
    {__LINE__, "t2", "FGU_arithmetic_instr", "FGU_arithmatic_instr"},
    {__LINE__, "t2", "instructions", "All_instr"},
    {__LINE__, "t2", "branches", "Completed_branches"},
    {__LINE__, "t2", "L1-dcache-load-misses", "Dcache_misses"},
    {__LINE__, "t2", "L2_dmiss_ld", "L2_load_misses"},
    {__LINE__, "t2", "MD5_SHA-1_SHA-256_busy_cycle",
     "MD5_SHA1_SHA256_Busy_cycle"},
    {__LINE__, "t2", "All_strands_idle", "Idle_strands"},
    {__LINE__, "t2", "cpu-cycles", "cycles"},
    {__LINE__, "t2", "0x12", "Completed_branches"},
    {__LINE__, "t2", "0X0FD2", "All_instr"},
    {__LINE__, "t2", "0x0", "Idle_strands"},
    {__LINE__, "t2", "0x", NULL},
    {__LINE__, "t2", "0x2", NULL},
    {__LINE__, "t2", "0x12g", NULL},
    {__LINE__, "t2", "0xffffffff", NULL},
    {__LINE__, "t2", "0x10000000000000012", NULL},
    {__LINE__, "t2", "12", NULL},
    {__LINE__, "t2", "", NULL},
    {__LINE__, "t2", "L1-dcache-stores", "Store_instr"},
    {__LINE__, "t2", "L1-dcache-store-misses", NULL},
    {__LINE__, "r10000", "papi_l2_tcm", "cache-misses"},
    {__LINE__, "montecito", "LLC-load-misses", NULL}, /* of a unit mask */
    {__LINE__, "t2", "Atomics ", NULL},
    {__LINE__, "host-model", "L1-dcache-stores", "L1-dcache-stores"},
    {__LINE__, "host-model", "branch-instructions", "branches"},
    {__LINE__, "host-model", "0xffffffff", NULL},
    {__LINE__, "fake", "op:DONE", "Done"},
    {__LINE__, "f1", "0x7", "Ticks"},
};

static void
test_event_find(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(finds); i++) {
        const struct event_row *event =
            event_find(machine_of(finds[i].machine), finds[i].name);
        same_text(finds[i].line, event == NULL ? "none" : event->name,
                  finds[i].event == NULL ? "none" : finds[i].event);
    }
}

static void
test_other_finds(void **state)
{
    (void)state;
    assert_null(machine_find(""));
    assert_null(machine_find("ultrasparc"));
    assert_string_equal(machine_find("HOST-MODEL")->name, "host-model");
    assert_true(machine_find("fake")->hidden);
    assert_int_equal(param_find("l1d.size"), PARAM_L1D_SIZE);
    assert_int_equal(param_find("L1D.Size"), PARAM_L1D_SIZE);
    assert_int_equal(param_find("l1d"), -1);
    assert_int_equal(param_find(""), -1);
    assert_int_equal(signal_find("cycles"), SIGNAL_CYCLES);
    assert_int_equal(signal_find("cycle"), -1);
    assert_string_equal(fidelity_name(FIDELITY_EXACT), "exact");
    assert_string_equal(fidelity_name(FIDELITY_VARIES), "varies");
    assert_string_equal(fidelity_name(FIDELITY_MODELLED), "modelled");
    assert_string_equal(fidelity_name(FIDELITY_ESTIMATED), "estimated");
    assert_string_equal(fidelity_name(FIDELITY_IDLE), "idle");
}

static void
check_standing(const struct machine_row *machine, const struct event_row *event)
{
    const bool idle = event->fidelity == FIDELITY_IDLE;

    if (machine->native)
        assert_int_equal(event->fidelity, FIDELITY_EXACT);
    assert_true((idle || machine->native) == (event->signal_count == 0));
    assert_true(idle == (event->reason != NULL));
    for (size_t i = 0; i < event->signal_count; i++) {
        assert_in_range(event->signals[i], 0, SIGNAL_COUNT - 1);
        const struct signal_row *signal = &tally_signals[event->signals[i]];
        if (event->fidelity == FIDELITY_EXACT)
            assert_int_equal(
                signal->components & ~(uint64_t)COMPONENT_DIRECTION, 0);
    }
}

/* Units may share a name; with its unit before it, it is the event's. */
static void
check_event_name(const struct machine_row *machine,
                 const struct event_row *event, const char *name)
{
    const struct event_row *bare = event_find(machine, name);
    char whole[160];

    snprintf(whole, sizeof(whole), "%s/%s", event->unit, name);
    assert_ptr_equal(event_find(machine, whole), event);
    if (bare != event)
        assert_true(bare == NULL || strcmp(bare->unit, event->unit) != 0);
}

static void
check_event(const struct machine_row *machine, const struct event_row *event)
{
    check_event_name(machine, event, event->name);
    for (const char *const *a = event->aliases; *a != NULL; a++)
        check_event_name(machine, event, *a);
    assert_true(event->unit[0] != '\0');
    assert_true(event->counts[0] != '\0');
    assert_true(event->brief[0] != '\0');
    assert_true(event->reference[0] != '\0');
    check_standing(machine, event);
}

static void
test_every_event(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        assert_true(machine->event_count > 0);
        for (size_t i = 0; i < machine->event_count; i++)
            check_event(machine, &machine->events[i]);
    }
}

static void
test_every_machine(void **state)
{
    uint64_t values[PARAM_COUNT];
    struct heard heard;
    const struct tally_log log = listen(&heard);

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        assert_ptr_equal(machine_find(machine->name), machine);
        for (const char *const *a = machine->aliases; *a != NULL; a++)
            assert_ptr_equal(machine_find(*a), machine);
        if (machine->params == NULL)
            continue; /* its model has not landed */
        for (size_t i = 0; i < PARAM_COUNT; i++)
            assert_true(machine->params[i].source[0] != '\0');
        values_of(machine, values);
        same_number((int)m, params_check(values, &log), 0);
    }
    assert_int_equal(heard.lines, 0);
}

static void
test_signals(void **state)
{
    (void)state;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal_row *signal = &tally_signals[i];
        assert_int_equal(signal_find(signal->name), i);
        assert_true(signal->fixed == (i < SIGNAL_FIXED_COUNT));
        assert_false(signal->fixed && signal->components != 0);
        assert_true(signal->fixed || signal->components != 0 ||
                    signal->source_count > 0);
    }
    assert_int_equal(tally_signals[SIGNAL_CONDITIONAL_MISPREDICTS].components,
                     COMPONENT_PREDICTOR | COMPONENT_LONG_PREDICTOR);
}

/* The T2's classes are one after the other: enum insn_class counts on it. */
static void
test_class_order(void **state)
{
    static const char *const classes[] = {
        "class_branch", "class_fgu",   "class_load",  "class_store",
        "class_sethi",  "class_other", "class_atomic"};

    (void)state;
    for (size_t i = 0; i < COUNT(classes); i++)
        assert_int_equal(signal_find(classes[i]), (int)i + SIGNAL_CLASS_BRANCH);
}

#define ANIMALS "cat", "cart", "Catalog", "wild-cat", "dog_house", "horse"

static const struct {
    int line;
    const char *wanted;
    size_t max;
    const char *text;
} nears[] = {
    {__LINE__, "cat", 8, "cat"},
    {__LINE__, "Cta", 8, "cat"},
    {__LINE__, "crat", 8, "cat or cart"},
    {__LINE__, "catalgo", 8, "Catalog or cat"},
    {__LINE__, "Dog.House", 8, "dog_house"},
    {__LINE__, "dog", 8, "dog_house"},
    {__LINE__, "ild", 8, "wild-cat"},
    {__LINE__, "horses", 8, "horse"},
    {__LINE__, "dog_houx", 8, "dog_house"},
    {__LINE__, "dog_hoxxxxxx", 8, ""},
    {__LINE__, "dog_houxxx", 8, "dog_house"},
    {__LINE__, "cta", 0, ""},
    {__LINE__, "zebra", 8, ""},
    {__LINE__, "", 8, ""},
    {__LINE__, "x", 8, ""},
    {__LINE__, "\xff\xfe", 8, ""},
};

static void
test_near_names(void **state)
{
    static const char *const names[] = {ANIMALS};
    char text[TEXT_SIZE];
    char wanted[400];

    (void)state;
    for (size_t i = 0; i < COUNT(nears); i++) {
        near_names(nears[i].wanted, names, COUNT(names), nears[i].max, text,
                   sizeof(text));
        same_text(nears[i].line, text, nears[i].text);
    }
    memset(wanted, 'c', sizeof(wanted));
    wanted[sizeof(wanted) - 1] = '\0';
    near_names(wanted, names, COUNT(names), 8, text, sizeof(text));
    assert_string_equal(text, "");
}

static void
test_near_names_cut(void **state)
{
    static const char *const names[] = {ANIMALS};
    char text[8] = "unset";

    (void)state;
    near_names("crat", names, COUNT(names), 8, text, 0);
    assert_string_equal(text, "unset");
    near_names("crat", names, COUNT(names), 8, text, 1);
    assert_string_equal(text, "");
    near_names("crat", names, COUNT(names), 8, text, sizeof(text));
    assert_string_equal(text, "cat or ");
    near_names("crat", names, 0, 8, text, sizeof(text));
    assert_string_equal(text, "");
}

static const struct {
    int line;
    const char *machine, *list, *events; /* names with a blank after each */
} lists[] = {
    {__LINE__, "t2", "Atomics", "Atomics "},
    {__LINE__, "t2", "Atomics,All_instr", "Atomics All_instr "},
    {__LINE__, "t2", "atomics,ATOMICS,0x802", "Atomics Atomics Atomics "},
    {__LINE__, "t2", "{Atomics,All_instr}", "Atomics All_instr "},
    {__LINE__, "t2", "Store_instr,{Atomics},{All_instr,0x12}:u",
     "Store_instr Atomics All_instr Completed_branches "},
    {__LINE__, "t2", "{Atomics:u,All_instr}", "Atomics All_instr "},
    {__LINE__, "t2", " { Atomics , 0x12 }:u , All_instr ",
     "Atomics Completed_branches All_instr "},
    {__LINE__, "t2", "instructions:u", "All_instr "},
    {__LINE__, "t2", "0xfd2:u", "All_instr "},
    {__LINE__, "t2", "Instr_cnt:atomics", "Atomics "},
    {__LINE__, "t2", "Instr_cnt:atomics:u", "Atomics "},
    {__LINE__, "t2", "niagara2::Instr_cnt:atomics:u", "Atomics "},
    {__LINE__, "t2", "ultrasparc-t2::0x802", "Atomics "},
    {__LINE__, "fake", "all", "Ticks Done Jumps Naps Misses "},
    {__LINE__, "fake", "All:u", "Ticks Done Jumps Naps Misses "},
    {__LINE__, "fake", "default", "Ticks Done Jumps "},
    {__LINE__, "t2", "mem_reads:at=0,DRAM/MEM_WRITES:AT=3,mem_reads",
     "mem_reads:at=0 mem_writes:at=3 mem_reads "},
    {__LINE__, "fake", "default,Naps,{default}",
     "Ticks Done Jumps Naps Ticks Done Jumps "},
};

static void
names_of(const struct event_row **events, size_t count, char *text)
{
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(text) + strlen(events[i]->name) + 2 < TEXT_SIZE);
        strcat(text, events[i]->name);
        strcat(text, " ");
    }
}

static void
test_event_list(void **state)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);

    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        const struct event_row **events = NULL;
        size_t count = 0;
        char text[TEXT_SIZE];
        const int error = event_list_parse(
            machine_of(lists[i].machine), lists[i].list, &log, &events, &count);
        same_text(lists[i].line, heard.text, "");
        same_number(lists[i].line, error, 0);
        names_of(events, count, text);
        same_text(lists[i].line, text, lists[i].events);
        free(events);
    }
}

static const struct {
    int line;
    const char *machine, *list;
    int error;
    const char *text;
} bad_lists[] = {
    {__LINE__, "t2", "Dcache_mises", TALLY_EUNKNOWN,
     "unknown event 'Dcache_mises' on ultrasparc-t2: did you mean "
     "Dcache_misses?"},
    {__LINE__, "t2", "Atomics,Dcache_mises:u", TALLY_EUNKNOWN,
     "unknown event 'Dcache_mises' on ultrasparc-t2: did you mean "
     "Dcache_misses?"},
    {__LINE__, "t2", "instrutions", TALLY_EUNKNOWN,
     "unknown event 'instrutions' on ultrasparc-t2: did you mean "
     "instructions?"},
    {__LINE__, "t2", "Instr_cnt:atomic", TALLY_EUNKNOWN,
     "unknown event 'Instr_cnt:atomic' on ultrasparc-t2: did you mean "
     "Instr_cnt:atomics?"},
    {__LINE__, "t2", "busy", TALLY_EUNKNOWN,
     "unknown event 'busy' on ultrasparc-t2: did you mean "
     "DES_3DES_Busy_cycle, AES_Busy_cycle or RC4_Busy_cycle?"},
    {__LINE__, "t2", "tlb", TALLY_EUNKNOWN,
     "unknown event 'tlb' on ultrasparc-t2: did you mean TLB_miss?"},
    {__LINE__, "host-model", "L1-dcache-lods", TALLY_EUNKNOWN,
     "unknown event 'L1-dcache-lods' on host-model: did you mean "
     "L1-dcache-loads?"},
    {__LINE__, "host-model", "l1_dcache_loads", TALLY_EUNKNOWN,
     "unknown event 'l1_dcache_loads' on host-model: did you mean "
     "L1-dcache-loads?"},
    {__LINE__, "t2", "xyzzy", TALLY_EUNKNOWN,
     "unknown event 'xyzzy' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 "
     "shows its events"},
    {__LINE__, "t2", "0x999", TALLY_EUNKNOWN,
     "unknown event '0x999' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 "
     "shows its events"},
    {__LINE__, "t2", "Naps", TALLY_EUNKNOWN, /* the fake CPU is no advice */
     "unknown event 'Naps' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 "
     "shows its events"},
    {__LINE__, "t2", "stall-load", TALLY_EUNKNOWN,
     "'stall-load' is an event of host-model; ultrasparc-t2 lacks it"},
    {__LINE__, "t1", "branch-misses", TALLY_EUNKNOWN,
     "'branch-misses': nothing on ultrasparc-t1 stands for it: the processor "
     "predicts no branch: the strand waits until its branch is resolved"},
    {__LINE__, "r12000", "Papi_L3_tcm:u", TALLY_EUNKNOWN,
     "'Papi_L3_tcm': nothing on r12000 stands for it: the processor has no "
     "L3"},
    {__LINE__, "montecito", "LLC-load-misses:k", TALLY_EIDLE,
     "'L3_READS.DATA_READ.MISS:k': only user mode is seen here; use "
     "L3_READS.DATA_READ.MISS:u or L3_READS.DATA_READ.MISS"},
    {__LINE__, "host-model", "0x12", TALLY_EUNKNOWN,
     "unknown event '0x12' on host-model; tally list events -m host-model "
     "shows its events"},
    {__LINE__, "t2", "host::instructions", TALLY_EUNKNOWN,
     "'host::instructions': the machine is ultrasparc-t2, not host"},
    {__LINE__, "t2", "::Atomics", TALLY_EUNKNOWN,
     "'::Atomics': no machine is named before '::'"},
    {__LINE__, "t2", "Atomics:k", TALLY_EIDLE,
     "'Atomics:k': only user mode is seen here; use Atomics:u or Atomics"},
    {__LINE__, "t2", "0x802:uk", TALLY_EIDLE,
     "'0x802:uk': only user mode is seen here; use 0x802:u or 0x802"},
    {__LINE__, "t2", "{Atomics}:k", TALLY_EIDLE,
     "'{...}:k': only user mode is seen here; use {...}:u or {...}"},
    {__LINE__, "t2", "Atomics:pp", TALLY_ESYNTAX,
     "'Atomics:pp': unknown modifier; only :u is possible"},
    {__LINE__, "t2", "Atomics:", TALLY_ESYNTAX,
     "'Atomics:': unknown modifier; only :u is possible"},
    {__LINE__, "t2", "{Atomics}:", TALLY_ESYNTAX,
     "'{...}:': unknown modifier; only :u is possible"},
    {__LINE__, "t2", "mem_reads:at=4", TALLY_ESYNTAX,
     "'mem_reads:at=4': mem_reads takes at=0, at=1, at=2 or at=3"},
    {__LINE__, "t2", "Atomics:at=0", TALLY_ESYNTAX,
     "'Atomics:at=0': a count takes no part of Atomics"},
    {__LINE__, "t2", "mem_reed:at=0", TALLY_EUNKNOWN,
     "unknown event 'mem_reed' on ultrasparc-t2: did you mean mem_reads?"},
    {__LINE__, "t2", "{Atomics}:x\033,TLB_miss", TALLY_ESYNTAX,
     "'{...}:x?': unknown modifier; only :u is possible"},
    {__LINE__, "t2", "Atomics:u:u", TALLY_EUNKNOWN,
     "unknown event 'Atomics:u' on ultrasparc-t2: did you mean Atomics?"},
    {__LINE__, "t2", "", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "t2", "Atomics,", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "t2", ",Atomics", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "t2", "{}", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "t2", "{Atomics", TALLY_ESYNTAX,
     "event list: a group lacks its }"},
    {__LINE__, "t2", "Atomics}", TALLY_ESYNTAX,
     "event list: expected a comma at '}'"},
    {__LINE__, "t2", "{Atomics}TLB_miss", TALLY_ESYNTAX,
     "event list: expected a comma at 'TLB_miss'"},
    {__LINE__, "t2", "Atomics{TLB_miss}", TALLY_ESYNTAX,
     "event list: expected a comma at '{TLB_miss}'"},
    {__LINE__, "t2", "{Atomics,{TLB_miss}}", TALLY_ESYNTAX,
     "event list: groups do not nest at '{TLB_miss}}'"},
    {__LINE__, "t2", "Ato\001mi\xc3\xa9s", TALLY_EUNKNOWN,
     "unknown event 'Ato?mi??s' on ultrasparc-t2: did you mean Atomics?"},
    {__LINE__, "t2", "ab:cde", TALLY_EUNKNOWN,
     "unknown event 'ab:cde' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 shows its events"},
    {__LINE__, "t2", "duration_time", TALLY_EUNKNOWN,
     "'duration_time' is no counter: the report ends with the seconds elapsed, "
     "user and sys"},
    {__LINE__, "t2", "user_time", TALLY_EUNKNOWN,
     "'user_time' is no counter: the report ends with the seconds elapsed, "
     "user and sys"},
    {__LINE__, "t2", "system_time", TALLY_EUNKNOWN,
     "'system_time' is no counter: the report ends with the seconds elapsed, "
     "user and sys"},
    {__LINE__, "t2", "ref-cycles", TALLY_EUNKNOWN,
     "'ref-cycles' counts a clock of the processor's bus, which no model has; "
     "cycles counts the modelled clock"},
    {__LINE__, "t2", "bus-cycles", TALLY_EUNKNOWN,
     "'bus-cycles' counts a clock of the processor's bus, which no model has; "
     "cycles counts the modelled clock"},
    {__LINE__, "t2", "stalled-cycles-frontend", TALLY_EUNKNOWN,
     "'stalled-cycles-frontend' is not counted on models; tally count "
     "--accounting says where cycles go"},
    {__LINE__, "t2", "Stalled-Cycles-Backend", TALLY_EUNKNOWN,
     "'Stalled-Cycles-Backend' is not counted on models; tally count "
     "--accounting says where cycles go"},
    {__LINE__, "t2", "ab:cdef", TALLY_EUNKNOWN,
     "'ab:cdef' is no event of ultrasparc-t2; tracepoints are counted by the "
     "kernel: tally count -m host -e ab:cdef PROGRAM"},
    {__LINE__, "t2", "a:cdef", TALLY_EUNKNOWN,
     "unknown event 'a:cdef' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 shows its events"},
    {__LINE__, "t2", "ab:cdef-", TALLY_EUNKNOWN,
     "unknown event 'ab:cdef-' on ultrasparc-t2; tally list events -m "
     "ultrasparc-t2 shows its events"},
    {__LINE__, "montecito", "BR_MISPRED_DETAIL.XX", TALLY_EUNKNOWN,
     "'BR_MISPRED_DETAIL': BR_MISPRED_DETAIL has no unit mask 'XX'; it has "
     "ALL.ALL_PRED, ALL.CORRECT_PRED, ALL.WRONG_PATH, ALL.WRONG_TARGET, "
     "IPREL.ALL_PRED, IPREL.CORRECT_PRED, IPREL.WRONG_PATH, "
     "IPREL.WRONG_TARGET, RETURN.ALL_PRED, RETURN.CORRECT_PRED, "
     "RETURN.WRONG_PATH, RETURN.WRONG_TARGET, NRETIND.ALL_PRED, "
     "NRETIND.CORRECT_PRED, NRETIND.WRONG_PATH or NRETIND.WRONG_TARGET"},
    {__LINE__, "t2", LONG_NAME LONG_NAME LONG_NAME, TALLY_EUNKNOWN,
     "unknown event 'a123456789b123456789c123456789d123456789e123456789"
     "f123456789g123...' on ultrasparc-t2: no name is this long"},
};

static void
test_bad_event_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_lists); i++) {
        const struct event_row *untouched = NULL;
        const struct event_row **events = &untouched;
        size_t count = 77;
        struct heard heard;
        const struct tally_log log = listen(&heard);
        const int error =
            event_list_parse(machine_of(bad_lists[i].machine),
                             bad_lists[i].list, &log, &events, &count);
        same_error(bad_lists[i].line, error, bad_lists[i].error, &heard,
                   bad_lists[i].text);
        same_number(bad_lists[i].line, (long long)count, 77);
        assert_ptr_equal(events, &untouched);
        same_number(bad_lists[i].line,
                    event_list_parse(machine_of(bad_lists[i].machine),
                                     bad_lists[i].list, NULL, &events, &count),
                    error);
    }
}

/* What lists that take software events refuse. */
static const struct {
    int line;
    const char *list, *message;
} bad_wanted[] = {
    {__LINE__, "faults:u",
     "'faults:u': of an emulated program the kernel counts user and kernel "
     "level together; use faults"},
    {__LINE__, "niagara2::faults:k",
     "'faults:k': of an emulated program the kernel counts user and kernel "
     "level together; use faults"},
    {__LINE__, "instructions,{cs}:u",
     "'context-switches:u': of an emulated program the kernel counts user and "
     "kernel level together; use context-switches"},
    {__LINE__, "{cs,instructions}:kh",
     "'context-switches:kh': of an emulated program the kernel counts user and "
     "kernel level together; use context-switches"},
    {__LINE__, "fault",
     "unknown event 'fault' on ultrasparc-t2: did you mean faults?"},
    {__LINE__, "cs,{instructions}:k",
     "'{...}:k': only user mode is seen here; use {...}:u or {...}"},
};

static void
test_bad_wanted(void **state)
{
    const struct event_row **events;
    size_t count, left_out;
    struct heard heard;
    char **asked;

    (void)state;
    for (size_t i = 0; i < COUNT(bad_wanted); i++) {
        const struct tally_log log = listen(&heard);
        assert_true(event_list_wanted(machine_of("t2"), bad_wanted[i].list,
                                      NULL, &log, &events, &asked, &count,
                                      &left_out) < 0);
        same_text(bad_wanted[i].line, heard.text, bad_wanted[i].message);
    }
    /* A group's letters are of its own events alone. */
    assert_int_equal(event_list_wanted(machine_of("t2"),
                                       "cs,{cs},{instructions}:u", NULL, NULL,
                                       &events, &asked, &count, &left_out),
                     0);
    assert_int_equal(count, 3);
    event_list_free_asked(asked, count);
    free(events);
}

static void
test_long_event_list(void **state)
{
    const size_t names = 20000;
    char *text = calloc(names, sizeof("Atomics,"));
    const struct event_row **events;
    size_t count;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < names; i++)
        memcpy(text + 8 * i, "Atomics,", 8);
    text[8 * names - 1] = '\0';
    assert_int_equal(
        event_list_parse(machine_of("t2"), text, NULL, &events, &count), 0);
    assert_int_equal(count, names);
    free(events);
    free(text);
}

static void
test_unknown(void **state)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);

    (void)state;
    assert_int_equal(machine_unknown("ultrasparc-t3", &log), TALLY_EUNKNOWN);
    assert_string_equal(heard.text,
                        "unknown machine 'ultrasparc-t3': did you mean "
                        "ultrasparc-t1 or ultrasparc-t2?");
    assert_int_equal(machine_unknown("niagra2", &log), TALLY_EUNKNOWN);
    assert_string_equal(heard.text,
                        "unknown machine 'niagra2': did you mean niagara2?");
    assert_int_equal(machine_unknown("fakes", &log), TALLY_EUNKNOWN);
    assert_string_equal(
        heard.text, "unknown machine 'fakes'; tally list machines shows them");
    assert_int_equal(machine_unknown("\n", NULL), TALLY_EUNKNOWN);
    assert_int_equal(event_unknown(machine_of("t2"), "all", &log),
                     TALLY_EUNKNOWN);
    assert_string_equal(heard.text,
                        "unknown event 'all' on ultrasparc-t2: did you mean "
                        "All_instr?");
    assert_int_equal(heard.lines, 4);
}

static void
test_event_list_default(void **state)
{
    const struct event_row **events;
    size_t count;

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        const int error = event_list_default(machine, &events, &count);
        assert_int_equal(error, machine->params != NULL ? 0 : TALLY_EIDLE);
        if (error != 0)
            continue;
        assert_in_range(count, 1, 64);
        free(events);
    }
    /* TABLE 3-5, without the idle strands, and what the model knows. */
    assert_int_equal(event_list_default(machine_of("t2"), &events, &count), 0);
    assert_int_equal(count, 43);
    free(events);
    assert_int_equal(
        event_list_parse(machine_of("t2"), "all", NULL, &events, &count), 0);
    /* The idle strands, the terms of the cycles, memory controllers,
     * write-backs of the L2. */
    assert_int_equal(count, 53 + 8 + 1);
    free(events);
    /* Of an event with unit masks those that its row marks. */
    assert_int_equal(
        event_list_default(machine_of("montecito"), &events, &count), 0);
    assert_string_equal(events[count - 1]->name, "BUS_WR_WB.ALL.SELF");
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += strncmp(events[i]->name, "BR_MISPRED_DETAIL.ALL.", 22) == 0;
    assert_int_equal(marked, 3);
    free(events);
}

static bool
is_of_model(const struct event_row *event)
{
    return strcmp(event->unit, "cpu") != 0;
}

static bool
has_mask(const struct event_row *event)
{
    return strchr(event->name, '.') != NULL;
}

/* `all` without unwanted events has the rest in the same order, and says how
 * many it left out; `default` leaves out without a word. Each event comes with
 * the word that asked for it. */
static void
test_event_list_wanted(void **state)
{
    static const struct {
        int line;
        const char *machine, *text;
        event_unwanted_fn unwanted;
        bool counts;
    } wanted_lists[] = {
        {__LINE__, "ultrasparc-t2", "all", is_of_model, true},
        {__LINE__, "ultrasparc-t2", "default", is_of_model, false},
        {__LINE__, "ultrasparc-t2", "all", NULL, true},
        {__LINE__, "montecito", "all", has_mask, true},
        {__LINE__, "montecito", "default", has_mask, false},
    };
    const struct event_row **whole, **events;
    size_t whole_count, count, left_out;
    char **asked;

    (void)state;
    for (size_t i = 0; i < COUNT(wanted_lists); i++) {
        const struct machine_row *m = machine_of(wanted_lists[i].machine);
        size_t kept = 0;
        assert_int_equal(event_list_parse(m, wanted_lists[i].text, NULL, &whole,
                                          &whole_count),
                         0);
        assert_int_equal(event_list_wanted(m, wanted_lists[i].text,
                                           wanted_lists[i].unwanted, NULL,
                                           &events, &asked, &count, &left_out),
                         0);
        for (size_t e = 0; e < whole_count; e++) {
            if (wanted_lists[i].unwanted != NULL &&
                wanted_lists[i].unwanted(whole[e]))
                continue;
            assert_true(kept < count);
            assert_ptr_equal(events[kept], whole[e]);
            assert_string_equal(asked[kept], whole[e]->name);
            kept++;
        }
        same_number(wanted_lists[i].line, (long long)count, (long long)kept);
        same_number(wanted_lists[i].line, (long long)left_out,
                    wanted_lists[i].counts ? (long long)(whole_count - kept)
                                           : 0);
        assert_true(wanted_lists[i].unwanted == NULL || kept < whole_count);
        event_list_free_asked(asked, count);
        free(events);
        free(whole);
    }
    const struct machine_row *m = machine_of("ultrasparc-t2");
    assert_int_equal(event_list_wanted(m,
                                       "Atomics, Load_instr:u,faults,{cs,"
                                       "instructions}",
                                       is_of_model, NULL, &events, &asked,
                                       &count, &left_out),
                     0);
    assert_int_equal(count, 5);
    assert_int_equal(left_out, 0);
    assert_string_equal(asked[0], "Atomics");
    assert_string_equal(asked[1], "Load_instr:u");
    assert_string_equal(asked[2], "faults");
    assert_string_equal(asked[3], "cs");
    assert_string_equal(asked[4], "instructions");
    assert_string_equal(events[1]->name, "Load_instr");
    assert_true(event_is_software(events[2]) && event_is_software(events[3]));
    assert_string_equal(events[4]->name, "All_instr");
    event_list_free_asked(asked, count);
    free(events);
}

static void
test_item_length(void **state)
{
    static const struct {
        int line;
        const char *list;
        bool host;
        size_t length;
    } rows[] = {
        {__LINE__, "", false, 0},
        {__LINE__, ",cycles", true, 0},
        {__LINE__, "cycles", false, 6},
        {__LINE__, "cycles,instructions", false, 6},
        {__LINE__, "cycles:u,instructions", true, 8},
        {__LINE__, "{cycles,instructions}:u,faults", false, 23},
        {__LINE__, "{cycles,instructions}:u,faults", true, 23},
        {__LINE__, "cpu/event=0xc0,umask=0x0/,cycles", false, 25},
        {__LINE__, "cpu/event=0xc0,umask=0x0/u,cycles", true, 26},
        {__LINE__, "cpu/any,event=0x3c/,cycles", true, 19},
        {__LINE__, "{cpu/event=0xc0,umask=0x0/,cycles},x", false, 34},
        {__LINE__, "cpu/Load_instr,cpu/Store_instr", false, 14},
        {__LINE__, "mem:0x1000/8:rw,cycles", true, 15},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t length = item_length(rows[i].list, rows[i].host);
        if (length != rows[i].length)
            fail_msg("line %d: %s: %zu, not %zu", rows[i].line, rows[i].list,
                     length, rows[i].length);
    }
}

/* In the order of the arguments of fidelity_in_run(). */
static void
test_fidelity(void **state)
{
    static const struct {
        int line;
        enum fidelity event;
        bool foreign, side_by_side, left_early, partial;
        enum fidelity wanted;
    } rows[] = {
        {__LINE__, FIDELITY_EXACT, false, false, false, false, FIDELITY_EXACT},
        {__LINE__, FIDELITY_EXACT, true, false, false, false,
         FIDELITY_MODELLED},
        {__LINE__, FIDELITY_EXACT, false, true, false, false, FIDELITY_VARIES},
        {__LINE__, FIDELITY_EXACT, true, true, false, false, FIDELITY_MODELLED},
        {__LINE__, FIDELITY_EXACT, false, false, false, true, FIDELITY_PARTIAL},
        {__LINE__, FIDELITY_MODELLED, true, true, false, false,
         FIDELITY_MODELLED},
        {__LINE__, FIDELITY_MODELLED, true, true, false, true,
         FIDELITY_PARTIAL},
        {__LINE__, FIDELITY_EXACT, false, true, true, false,
         FIDELITY_ESTIMATED},
        {__LINE__, FIDELITY_MODELLED, true, true, true, false,
         FIDELITY_ESTIMATED},
        {__LINE__, FIDELITY_EXACT, false, false, true, true, FIDELITY_PARTIAL},
        {__LINE__, FIDELITY_IDLE, true, true, true, false, FIDELITY_IDLE},
        {__LINE__, FIDELITY_IDLE, true, true, false, false, FIDELITY_IDLE},
        {__LINE__, FIDELITY_IDLE, true, true, false, true, FIDELITY_IDLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (fidelity_in_run(rows[i].event, rows[i].foreign,
                            rows[i].side_by_side, rows[i].left_early,
                            rows[i].partial) != rows[i].wanted)
            fail_msg("row at line %d", rows[i].line);
}

/* Counted while the program runs: events of the processor that may rise. */
static void
test_event_is_live(void **state)
{
    (void)state;
    const struct {
        int line;
        struct event_row event;
        bool live;
    } rows[] = {
        {__LINE__, {.unit = "cpu", .fidelity = FIDELITY_EXACT}, true},
        {__LINE__, {.unit = "cpu", .fidelity = FIDELITY_ESTIMATED}, true},
        {__LINE__, {.unit = "cpu", .fidelity = FIDELITY_IDLE}, false},
        {__LINE__, {.unit = "dram", .fidelity = FIDELITY_EXACT}, false},
        {__LINE__, {.unit = NULL, .fidelity = FIDELITY_EXACT}, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (event_is_live(&rows[i].event) != rows[i].live)
            fail_msg("row at line %d", rows[i].line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fidelity),
        cmocka_unit_test(test_t2_codes),
        cmocka_unit_test(test_event_find),
        cmocka_unit_test(test_other_finds),
        cmocka_unit_test(test_every_event),
        cmocka_unit_test(test_every_machine),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_class_order),
        cmocka_unit_test(test_near_names),
        cmocka_unit_test(test_near_names_cut),
        cmocka_unit_test(test_event_list),
        cmocka_unit_test(test_bad_event_list),
        cmocka_unit_test(test_long_event_list),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_event_list_default),
        cmocka_unit_test(test_event_list_wanted),
        cmocka_unit_test(test_bad_wanted),
        cmocka_unit_test(test_item_length),
        cmocka_unit_test(test_event_is_live),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
