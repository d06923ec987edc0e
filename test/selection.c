/* SPDX-License-Identifier: MIT */
/* Reading selections: names and their variants, lists, and every error. */
#include "table/selection.h"

#include "check.h"

/* What is typed, and how it is written back. */
static const struct {
    int line;
    const char *machine, *text, *wanted;
} rows[] = {
    /* By name, alias, number, code; with machine and unit. */
    {__LINE__, "ultrasparc-t1", "ic_MISS", "IC_miss"},
    {__LINE__, "ultrasparc-t1", "instructions", "instr_cnt"},
    {__LINE__, "ultrasparc-t1", "L2_dmiss_Id", "L2_dmiss_ld"},
    {__LINE__, "ultrasparc-t1", "0x80", "L2_dmiss_ld"},
    {__LINE__, "ultrasparc-t1", "niagara::DC_miss", "DC_miss"},
    {__LINE__, "ultrasparc-t1", "dram/0x3", "bank_busy_stalls"},
    {__LINE__, "ultrasparc-t1", "jbus/pio_writes", "pio_writes"},
    {__LINE__, "ultrasparc-t1", "wb_buf_hits:at=3", "wr_buf_hits:at=3"},
    {__LINE__, "ultrasparc-t2", "Instr_cnt:FGU_arith", "FGU_arithmatic_instr"},
    {__LINE__, "ultrasparc-t2", "Instr_cnt:FGU_arith:k",
     "FGU_arithmatic_instr:k"},
    {__LINE__, "ultrasparc-t2", "0x13:u", "Icache_misses:u"},
    {__LINE__, "ultrasparc-t2", "0x52", "0x52"},
    {__LINE__, "ultrasparc-t2plus", "lpu/clock_cycles", "lpu/clock_cycles"},
    {__LINE__, "ultrasparc-t2plus", "ASU/Clock_Cycles:at=zam1_asu",
     "asu/clock_cycles:at=ZAM1_ASU"},
    {__LINE__, "ultrasparc-t2plus", "L2_load_misses:from=C2C",
     "L2_load_misses:from=c2c"},
    {__LINE__, "sparc-t4", "cpu-cycles", "Cycles"},
    {__LINE__, "sparc-t4", "0xff:h", "All_instructions:h"},
    {__LINE__, "sparc-t4", "0xc3:toe:ku", "0xc3:u:k:toe"},
    {__LINE__, "r10000", "25", "Primary_data_cache_misses"},
    {__LINE__, "r10000", "0:u:ie", "Cycles:u:ie"},
    {__LINE__, "r12000", "31:k",
     "Store_prefetch_exclusive_to_shared_block_in_"
     "secondary_cache:k"},
    {__LINE__, "montecito", "0x12", "CPU_OP_CYCLES.ALL"},
    {__LINE__, "montecito", "montecito::cpu_op_cycles.qual",
     "CPU_OP_CYCLES.QUAL"},
    {__LINE__, "montecito", "CPU_OP_CYCLES:QUAL:u:thr=0x0",
     "CPU_OP_CYCLES.QUAL:u:thr=0"},
    {__LINE__, "montecito", "L3_READS.DATA_READ.HIT:mesi=IM",
     "L3_READS.DATA_READ.HIT:mesi=IM"},
    {__LINE__, "montecito",
     "L3_READS.DATA_READ.HIT:mesi=", "L3_READS.DATA_READ.HIT:mesi="},
    {__LINE__, "montecito", "BACK_END_BUBBLE.0x1", "BACK_END_BUBBLE.FE"},
    {__LINE__, "montecito", "CPU_CPL_CHANGES.0x3", "CPU_CPL_CHANGES.0x3"},
    {__LINE__, "montecito", "CPU_CPL_CHANGES.0xf", "CPU_CPL_CHANGES.ALL"},

    /* The bare name: ALL or ANY, or the only one. */
    {__LINE__, "montecito", "BUS_RD_HIT", "BUS_RD_HIT.ANY"},
    {__LINE__, "montecito", "IA64_INST_RETIRED", "IA64_INST_RETIRED.THIS"},
    {__LINE__, "montecito", "L2D_BAD_LINES_SELECTED",
     "L2D_BAD_LINES_SELECTED.ANY"},
    {__LINE__, "montecito", "L2D_OZQ_FULL", "L2D_OZQ_FULL.THIS"},

    /* Rules N1 to N12: printed in one place or another. */
    {__LINE__, "montecito", "CYCLES_HALTED", "CPU_OP_CYCLES_HALTED"},
    {__LINE__, "montecito", "THREAD_SWITCH_STALLS.GTE_8",
     "THREAD_SWITCH_STALL.GTE_8"},
    {__LINE__, "montecito", "L2DBAD_LINES_SELECTED",
     "L2D_BAD_LINES_SELECTED.ANY"},
    {__LINE__, "montecito", "L2D_NUM_BAD_LINES_SELECTED",
     "L2D_BAD_LINES_SELECTED.ANY"},
    {__LINE__, "montecito", "L2D_OZQ_CANCEL0.ACQ", "L2D_OZQ_CANCELS0.ACQ"},
    {__LINE__, "montecito", "L2D_OZQ_CANCEL1.ANY", "L2D_OZQ_CANCELS1.ANY"},
    {__LINE__, "montecito", "L2D_OZQ_CANCEL50.REL", "L2D_OZQ_CANCELS0.REL"},
    {__LINE__, "montecito", "L2D_L3_ACCESS_CANCEL.ANY",
     "L2D_L3ACCESS_CANCEL.ANY"},
    {__LINE__, "montecito", "L2D_L3_ACCESS_CANCELS.ANY",
     "L2D_L3ACCESS_CANCEL.ANY"},
    {__LINE__, "montecito", "L2I_VICTIMIZATIONS", "L2I_VICTIMIZATION"},
    {__LINE__, "montecito", "BRANCH_EVENT", "ETB_EVENT"},
    {__LINE__, "montecito", "BUS_RD_INVALID_HITM", "BUS_RD_INVAL_HITM.ANY"},
    {__LINE__, "montecito", "BUS_RD_INVALID_BST_HITM",
     "BUS_RD_INVAL_BST_HITM.ANY"},
    {__LINE__, "montecito", "BUS_RD_INVAL_ALL_HITM.SELF",
     "BUS_RD_INVAL_BST_HITM.SELF"},
    {__LINE__, "montecito", "L1ITLB_INSERTS_HPWW", "L1ITLB_INSERTS_HPW"},
    {__LINE__, "montecito", "BE_BR_MISPREDICT_DETAIL.PFS",
     "BE_BR_MISPRED_DETAIL.PFS"},
    {__LINE__, "montecito", "BR_MISPREDICT_DETAIL2.ALL.ALL_UNKNOWN_PRED",
     "BR_MISPRED_DETAIL2.ALL.ALL_UNKNOWN_PRED"},
    {__LINE__, "montecito", "BR_PATH_PREDICTION.ALL.OKPRED_TAKEN",
     "BR_PATH_PRED.ALL.OKPRED_TAKEN"},
    {__LINE__, "montecito", "INST_DISPERSSED", "INST_DISPERSED"},
    {__LINE__, "montecito", "SYLL_NOT_DISPERSSED", "SYLL_NOT_DISPERSED.ALL"},
    {__LINE__, "montecito", "IA64_INST_RETIRE", "IA64_INST_RETIRED.THIS"},
    {__LINE__, "montecito", "IA64_TAGGED_INST_RETIRE.IBRP1_PMC34_35",
     "IA64_TAGGED_INST_RETIRED.IBRP1_PMC34_35"},
    {__LINE__, "montecito", "L1I_SNOOPS", "L1I_SNOOP"},
    {__LINE__, "montecito", "L1I_PREFETCH_READS", "L1I_PREFETCHES"},
    {__LINE__, "montecito", "VHPT_REFERENCES", "HPW_DATA_REFERENCES"},
    {__LINE__, "montecito", "L2D_FORCE_RECIRCULATE.LIMBO",
     "L2D_FORCE_RECIRC.LIMBO"},
    {__LINE__, "montecito", "SCB_SIGNOFFS", "SI_SCB_SIGNOFFS.ALL"},
    /* Rules U3 and X61: unit masks. */
    {__LINE__, "montecito",
     "BR_MISPRED_DETAIL2.RETURN.ALL_UNKNOWN_PATH_CORRECT_PRED",
     "BR_MISPRED_DETAIL2.RETURN.ALL_UNKNOWN_PRED"},
    {__LINE__, "montecito", "L2D_FORCE_RECIRC.TRAN_PERF",
     "L2D_FORCE_RECIRC.TRAN_PREF"},
    {__LINE__, "montecito", "L2D_FORCE_RECIRC.LOW", "L2D_FORCE_RECIRC.L1W"},
    /* Rule X46: the names in formulas. */
    {__LINE__, "montecito", "IA64_INST_RETIRED.u", "IA64_INST_RETIRED.THIS"},
    {__LINE__, "montecito", "L2D_OZQ_CANCEL_S0.RECIRC",
     "L2D_OZQ_CANCELS0.RECIRC"},
    {__LINE__, "montecito", "L3_READS.READS.HIT", "L3_READS.ALL.HIT"},
    {__LINE__, "montecito", "L3_READS.READS.MISS", "L3_READS.ALL.MISS"},
    {__LINE__, "montecito", "L3_READS.READS.ALL", "L3_READS.ALL.ALL"},
    {__LINE__, "montecito", "L2I_READS.MISS", "L2I_READS.MISS.ALL"},
    {__LINE__, "montecito", "L2I_READS.HIT", "L2I_READS.HIT.ALL"},
    {__LINE__, "montecito", "L2I_READS.ALL", "L2I_READS.ALL.ALL"},
    {__LINE__, "montecito", "BUS_MEMORY.LT_128BYTE",
     "BUS_MEMORY.LT_128BYTE.ANY"},
    {__LINE__, "montecito", "BUS_MEMORY.ALL", "BUS_MEMORY.ALL.ANY"},
    {__LINE__, "montecito", "BUS_MEM_READ.BRIL", "BUS_MEM_READ.BRIL.ANY"},
    /* Bare in Table 4-38 and in 4.11.2. */
    {__LINE__, "montecito", "BUS_MEMORY", "BUS_MEMORY.ALL.ANY"},
    {__LINE__, "montecito", "BUS_WR_WB", "BUS_WR_WB.ALL.ANY"},
    {__LINE__, "montecito", "BUS_MEM_READ", "BUS_MEM_READ.ALL.ANY"},
    /* No mode at all. */
    {__LINE__, "sparc-t4", "cycles:off", "Cycles:off"},
    {__LINE__, "sparc-t4", "Cycles:toe:off", "Cycles:off:toe"},
    {__LINE__, "montecito", "CPU_OP_CYCLES:off:thr=0",
     "CPU_OP_CYCLES.ALL:off:thr=0"},
    {__LINE__, "ultrasparc-t2", "0x32:off", "0x32:off"},
    /* The row's name is that of the value without its free bits. */
    {__LINE__, "montecito", "BACK_END_BUBBLE.0x1", "BACK_END_BUBBLE.FE"},
    {__LINE__, "montecito", "BACK_END_BUBBLE.0x5", "BACK_END_BUBBLE.0x5"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct machine_row *m = machine_of(rows[i].machine);
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection s;
        char text[SELECTION_TEXT];
        if (selection_parse(m, rows[i].text, strlen(rows[i].text), &log, &s) !=
            0)
            fail_msg("row at line %d: %s", rows[i].line, heard.text);
        selection_text(&s, text, sizeof(text));
        same_text(rows[i].line, text, rows[i].wanted);
    }
}

static const struct {
    int line;
    const char *machine, *text;
    int error;
    const char *message;
} errors[] = {
    /* Names. */
    {__LINE__, "ultrasparc-t1", "IC_mis", TALLY_EUNKNOWN,
     "unknown event 'IC_mis' on ultrasparc-t1: did you mean IC_miss?"},
    {__LINE__, "montecito", "L3_REFERENCE", TALLY_EUNKNOWN,
     "unknown event 'L3_REFERENCE' on montecito: did you mean L3_REFERENCES?"},
    {__LINE__, "montecito", "CPU_OP_CYCELS:u", TALLY_EUNKNOWN,
     "unknown event 'CPU_OP_CYCELS:u' on montecito: did you mean CPU_OP_CYCLES "
     "or CPU_OP_CYCLES_HALTED?"},
    {__LINE__, "r10000", "frobnicate", TALLY_EUNKNOWN,
     "unknown event 'frobnicate' on r10000; tally list events -m r10000 "
     "shows its events"},
    {__LINE__, "r10000", "32", TALLY_EUNKNOWN,
     "unknown event '32' on r10000; tally list events -m r10000 "
     "shows its events"},
    {__LINE__, "ultrasparc-t1", "Atomics", TALLY_EUNKNOWN,
     "'Atomics' is an event of sparc-t4; ultrasparc-t1 lacks it"},
    {__LINE__, "ultrasparc-t2", "sparc-t4::Atomics", TALLY_EUNKNOWN,
     "'sparc-t4::Atomics': the machine is ultrasparc-t2, not sparc-t4"},
    {__LINE__, "ultrasparc-t2", "nothing::Atomics", TALLY_EUNKNOWN,
     "'nothing::Atomics': the machine is ultrasparc-t2, not nothing"},
    {__LINE__, "r10000", ":::", TALLY_EUNKNOWN,
     "':::': no machine is named before '::'"},
    {__LINE__, "ultrasparc-t2plus", "clock_cycles", TALLY_EUNKNOWN,
     "'clock_cycles' is an event of several units of ultrasparc-t2plus: write "
     "lpu/clock_cycles, gpd/clock_cycles or asu/clock_cycles"},
    {__LINE__, "ultrasparc-t2plus", "gpd/cycles_WB", TALLY_EUNKNOWN,
     "unknown event 'gpd/cycles_WB' on ultrasparc-t2plus: did you mean "
     "cycles_WB?"},
    {__LINE__, "sparc-t4", "0x301", TALLY_EUNKNOWN,
     "unknown event '0x301' on sparc-t4; tally list events -m sparc-t4 "
     "shows its events"},
    {__LINE__, "sparc-t4", "0x6c1", TALLY_EUNKNOWN,
     "unknown event '0x6c1' on sparc-t4; tally list events -m sparc-t4 "
     "shows its events"},
    {__LINE__, "montecito", "0x07", TALLY_EUNKNOWN,
     "unknown event '0x07' on montecito; tally list events -m montecito "
     "shows its events"},
    {__LINE__, "montecito", "", TALLY_EUNKNOWN,
     "unknown event '' on montecito; tally list events -m montecito "
     "shows its events"},
    /* Unit masks. */
    {__LINE__, "montecito", "BACK_END_BUBBLE.BE", TALLY_EUNKNOWN,
     "'BACK_END_BUBBLE.BE': BACK_END_BUBBLE has no unit mask 'BE'; it has ALL, "
     "FE or L1D_FPU_RSE"},
    {__LINE__, "montecito", "BACK_END_BUBBLE.0x3", TALLY_ERANGE,
     "'BACK_END_BUBBLE.0x3': this unit mask (xx11) counts nothing; "
     "BACK_END_BUBBLE has ALL, FE or L1D_FPU_RSE"},
    {__LINE__, "montecito", "MEM_READ_CURRENT.0x0", TALLY_ERANGE,
     "'MEM_READ_CURRENT.0x0': this unit mask (xx00) is an illegal selection; "
     "MEM_READ_CURRENT has IO or ANY"},
    {__LINE__, "montecito", "L2D_OZQ_FULL.0x1", TALLY_ERANGE,
     "'L2D_OZQ_FULL.0x1': this unit mask (0001) leaves the count undefined; "
     "L2D_OZQ_FULL has THIS"},
    {__LINE__, "montecito", "IA64_INST_RETIRED.0x1", TALLY_EUNKNOWN,
     "'IA64_INST_RETIRED.0x1': IA64_INST_RETIRED has no unit mask '0x1'; it "
     "has THIS"},
    {__LINE__, "montecito", "BR_PATH_PRED2", TALLY_EUNKNOWN,
     "'BR_PATH_PRED2': BR_PATH_PRED2 needs a unit mask; it has "
     "ALL.UNKNOWNPRED_NOTTAKEN, ALL.UNKNOWNPRED_TAKEN, "
     "IPREL.UNKNOWNPRED_NOTTAKEN, IPREL.UNKNOWNPRED_TAKEN, "
     "RETURN.UNKNOWNPRED_NOTTAKEN, RETURN.UNKNOWNPRED_TAKEN, "
     "NRETIND.UNKNOWNPRED_NOTTAKEN or NRETIND.UNKNOWNPRED_TAKEN"},
    {__LINE__, "montecito", "L3_MISSES.ALL", TALLY_EUNKNOWN,
     "'L3_MISSES.ALL': L3_MISSES has no unit masks and no modifier of this "
     "name"},
    {__LINE__, "r10000", "Cycles.ALL", TALLY_EUNKNOWN,
     "'Cycles.ALL': Cycles has no unit masks and no modifier of this name"},
    /* Modifiers. */
    {__LINE__, "ultrasparc-t1", "IC_miss:h", TALLY_ESYNTAX,
     "'IC_miss:h': unknown modifier 'h'; possible are u, k or off"},
    {__LINE__, "ultrasparc-t1", "IC_miss:", TALLY_ESYNTAX,
     "'IC_miss:': unknown modifier ''; possible are u, k or off"},
    {__LINE__, "ultrasparc-t1", "mem_reads:zz", TALLY_ESYNTAX,
     "'mem_reads:zz': unknown modifier 'zz'; possible are at"},
    {__LINE__, "ultrasparc-t1", "pio_reads:u", TALLY_ERANGE,
     "'pio_reads:u': :u is not for pio_reads"},
    {__LINE__, "ultrasparc-t1", "pio_reads:zz", TALLY_ESYNTAX,
     "'pio_reads:zz': unknown modifier 'zz'"},
    {__LINE__, "ultrasparc-t1", "mem_reads:at=4", TALLY_ERANGE,
     "'mem_reads:at=4': unit dram has no instance '4'; it has 0, 1, 2 or 3"},
    {__LINE__, "ultrasparc-t1", "pio_reads:at=0", TALLY_ERANGE,
     "'pio_reads:at=0': there is one unit jbus only; leave :at= away"},
    {__LINE__, "ultrasparc-t1", "IC_miss:u=1", TALLY_ESYNTAX,
     "'IC_miss:u=1': write :u, without a value"},
    {__LINE__, "montecito", "L3_MISSES:thr", TALLY_ESYNTAX,
     "'L3_MISSES:thr': write :thr=VALUE"},
    {__LINE__, "montecito", "L3_MISSES:thr=8", TALLY_ERANGE,
     "'L3_MISSES:thr=8': :thr= takes a number from 0 to 7"},
    {__LINE__, "montecito", "L3_MISSES:thr=-1", TALLY_ERANGE,
     "'L3_MISSES:thr=-1': :thr= takes a number from 0 to 7"},
    {__LINE__, "montecito", "L3_MISSES:thr=", TALLY_ERANGE,
     "'L3_MISSES:thr=': :thr= takes a number from 0 to 7"},
    {__LINE__, "montecito", "L3_MISSES:thr=2x", TALLY_ERANGE,
     "'L3_MISSES:thr=2x': :thr= takes a number from 0 to 7"},
    {__LINE__, "montecito", "L3_MISSES:mesi=M", TALLY_ERANGE,
     "'L3_MISSES:mesi=M': L3_MISSES is not filtered by cache line state; leave "
     ":mesi away"},
    {__LINE__, "montecito", "L3_INSERTS:mesi=MOES", TALLY_ERANGE,
     "'L3_INSERTS:mesi=MOES': :mesi= takes letters of I, S, E or M"},
    {__LINE__, "montecito", "CYCLES_HALTED:all", TALLY_ERANGE,
     "'CYCLES_HALTED:all': CPU_OP_CYCLES_HALTED cannot count both threads; "
     "leave :all away"},
    {__LINE__, "montecito", "L2D_BYPASS.L2_DATA1:all", TALLY_ERANGE,
     "'L2D_BYPASS.L2_DATA1:all': L2D_BYPASS cannot count both threads; leave "
     ":all away"},
    {__LINE__, "montecito", "L3_MISSES:uh", TALLY_ESYNTAX,
     "'L3_MISSES:uh': unknown modifier 'uh'; possible are k, r1, r2, u, thr, "
     "all, pm, oi, ev or off"},
    {__LINE__, "montecito", "L3_MISSES:uthr", TALLY_ESYNTAX,
     "'L3_MISSES:uthr': unknown modifier 'uthr'; possible are k, r1, r2, u, "
     "thr, all, pm, oi, ev or off"},
    {__LINE__, "montecito", "L3_MISSES:all=1", TALLY_ESYNTAX,
     "'L3_MISSES:all=1': write :all, without a value"},
    {__LINE__, "ultrasparc-t2plus", "L2_load_misses:from=afar", TALLY_ERANGE,
     "'L2_load_misses:from=afar': :from= takes all, local, remote or c2c"},
    {__LINE__, "ultrasparc-t2plus", "Load_instr:from=local", TALLY_ERANGE,
     "'Load_instr:from=local': :from is not for Load_instr"},
    {__LINE__, "sparc-t4", "0xc3:mesi=M", TALLY_ESYNTAX,
     "'0xc3:mesi=M': unknown modifier 'mesi=M'; possible are u, k, h, toe, "
     "picnht, picnpt or off"},
    /* No mode at all. */
    {__LINE__, "sparc-t4", "Cycles:off:u", TALLY_ESYNTAX,
     "'Cycles:off:u': :off is no mode at all; leave it or the modes away"},
    {__LINE__, "sparc-t4", "Cycles:uk:off", TALLY_ESYNTAX,
     "'Cycles:uk:off': :off is no mode at all; leave it or the modes away"},
    {__LINE__, "sparc-t4", "Cycles:OFF", TALLY_ESYNTAX,
     "'Cycles:OFF': unknown modifier 'OFF'; possible are u, k, h, toe, picnht, "
     "picnpt or off"},
    {__LINE__, "ultrasparc-t2", "mem_reads:off", TALLY_ESYNTAX,
     "'mem_reads:off': unknown modifier 'off'; possible are at"},
};

static void
test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection s = {.sl = 77};
        const int error =
            selection_parse(machine_of(errors[i].machine), errors[i].text,
                            strlen(errors[i].text), &log, &s);
        same_text(errors[i].line, heard.text, errors[i].message);
        same_number(errors[i].line, error, errors[i].error);
        same_number(errors[i].line, heard.lines, 1);
        same_number(errors[i].line, s.sl, 77);
    }
}

/* Lists: "NAME/GROUP" of each, or the message. */
static const struct {
    int line;
    const char *machine, *text;
    int error;
    const char *wanted;
} lists[] = {
    {__LINE__, "ultrasparc-t2", "Atomics,Load_instr:k", 0,
     "Atomics/-1 Load_instr:k/-1"},
    {__LINE__, "ultrasparc-t2", "{Atomics,Load_instr},{Store_instr}", 0,
     "Atomics/0 Load_instr/0 Store_instr/1"},
    {__LINE__, "ultrasparc-t2", "{Atomics,Load_instr}:k,Store_instr", 0,
     "Atomics:k/0 Load_instr:k/0 Store_instr/-1"},
    {__LINE__, "sparc-t4", "{Cycles,Branches:h}:u,{atomics}:toe", 0,
     "Cycles:u/0 Branches:u:h/0 atomics:toe/1"},
    {__LINE__, "montecito", "{L3_MISSES,L1I_READS:thr=1}:u:all", 0,
     "L3_MISSES:u:all/0 L1I_READS:u:thr=1:all/0"},
    {__LINE__, "ultrasparc-t2", "", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "ultrasparc-t2", "Atomics,", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "ultrasparc-t2", "Atomics,,Load_instr", TALLY_ESYNTAX,
     "an event name is missing in the event list"},
    {__LINE__, "ultrasparc-t2", "{Atomics", TALLY_ESYNTAX,
     "event list: a group lacks its }"},
    {__LINE__, "ultrasparc-t2", "{Atomics,{Load_instr}}", TALLY_ESYNTAX,
     "event list: groups do not nest at '{Load_instr}}'"},
    {__LINE__, "ultrasparc-t2", "Atomics}", TALLY_ESYNTAX,
     "event list: expected a comma at '}'"},
    {__LINE__, "ultrasparc-t2", "{Atomics}Load_instr", TALLY_ESYNTAX,
     "event list: expected a comma at 'Load_instr'"},
    {__LINE__, "ultrasparc-t2", "{Atomics}:z", TALLY_ESYNTAX,
     "'z': unknown modifier 'z'; possible are u, k, h or off"},
    {__LINE__, "ultrasparc-t2", "{Atomics}:", TALLY_ESYNTAX,
     "'': unknown modifier ''; possible are u, k, h or off"},
};

static void
list_text(const struct selection *list, size_t count, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char name[SELECTION_TEXT];
        struct selection back;
        selection_text(&list[i], name, sizeof(name));
        /* Modifiers behind a brace are as if they stood behind the event. */
        assert_int_equal(
            selection_parse(list[i].machine, name, strlen(name), NULL, &back),
            0);
        assert_memory_equal(back.values, list[i].values, sizeof(back.values));
        at += (size_t)snprintf(text + at, size - at, "%s%s/%d",
                               i > 0 ? " " : "", name, list[i].group);
    }
}

static void
test_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection *list = NULL;
        size_t count = 0;
        char text[TEXT_SIZE] = "";
        const int error = selection_list_parse(
            machine_of(lists[i].machine), lists[i].text, &log, &list, &count);
        list_text(list, count, text, sizeof(text));
        same_text(lists[i].line, error == 0 ? text : heard.text,
                  lists[i].wanted);
        same_number(lists[i].line, error, lists[i].error);
        same_number(lists[i].line, list != NULL, error == 0);
        free(list);
    }
}

/* Filters that let nothing through: a warning, and the selection. */
static const struct {
    int line;
    const char *events, *warning; /* "": none */
} nevers[] = {
    {__LINE__, "CPU_OP_CYCLES:thr=0", ""},
    /* R052: at most 1 in a cycle. */
    {__LINE__, "CPU_OP_CYCLES:thr=1",
     "'CPU_OP_CYCLES.ALL:thr=1': threshold 1 is never exceeded, the event adds "
     "at most 1 in a cycle: it counts nothing"},
    {__LINE__, "{CPU_OP_CYCLES:u}:thr=2",
     "'CPU_OP_CYCLES.ALL:u:thr=2': threshold 2 is never exceeded, the event "
     "adds at most 1 in a cycle: it counts nothing"},
    /* At most 6. */
    {__LINE__, "IA64_INST_RETIRED:thr=5", ""},
    {__LINE__, "IA64_INST_RETIRED:thr=6",
     "'IA64_INST_RETIRED.THIS:thr=6': threshold 6 is never exceeded, the event "
     "adds at most 6 in a cycle: it counts nothing"},
    /* R083. */
    {__LINE__, "L3_READS.ALL.ALL:mesi=I", ""},
    {__LINE__, "L3_READS.ALL.ALL:mesi=",
     "'L3_READS.ALL.ALL:mesi=': :mesi= lets no line through: it counts "
     "nothing"},
};

static void
test_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(nevers); i++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection *list = NULL;
        size_t count = 0;
        assert_int_equal(selection_list_parse(machine_of("montecito"),
                                              nevers[i].events, &log, &list,
                                              &count),
                         0);
        same_text(nevers[i].line, heard.text, nevers[i].warning);
        same_number(nevers[i].line, heard.warnings,
                    nevers[i].warning[0] != '\0');
        free(list);
    }
}

/* No name, modifier or list is too long to be refused. */
static void
test_long(void **state)
{
    const struct machine_row *t2 = machine_of("ultrasparc-t2");
    static char text[40000];
    struct selection *list = NULL;
    struct heard heard;
    const struct tally_log log = listen(&heard);
    struct selection s;
    size_t count = 0;

    (void)state;
    memset(text, 'x', 500);
    assert_int_equal(selection_parse(t2, text, 500, &log, &s), TALLY_EUNKNOWN);
    assert_non_null(strstr(heard.text, "no name is this long"));
    memcpy(text, "{Atomics}:", 10);
    assert_int_equal(selection_list_parse(t2, text, &log, &list, &count),
                     TALLY_ESYNTAX);
    assert_non_null(strstr(heard.text, "no modifier is this long"));
    for (size_t i = 0; i < 1000; i++)
        snprintf(text + i * 8, sizeof(text) - i * 8, "Atomics%s",
                 i < 999 ? "," : "");
    assert_int_equal(selection_list_parse(t2, text, &log, &list, &count), 0);
    assert_int_equal(count, 1000);
    free(list);
}

/* Every name and alias is the event's, with the unit in front too. */
static void
test_every_name(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        for (size_t i = 0; i < machine->event_count; i++) {
            const struct event_row *e = &machine->events[i];
            const char *const *alias = e->aliases;
            char name[TEXT_SIZE];
            snprintf(name, sizeof(name), "%s/%s", e->unit, e->name);
            assert_ptr_equal(event_find(machine, name), e);
            for (; *alias != NULL; alias++) {
                snprintf(name, sizeof(name), "%s/%s", e->unit, *alias);
                if (event_find(machine, name) != e)
                    fail_msg("%s: %s", machine->name, name);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_lists), cmocka_unit_test(test_never),
        cmocka_unit_test(test_long),  cmocka_unit_test(test_every_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
