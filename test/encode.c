/* SPDX-License-Identifier: MIT */
/*
 * Register values worked out by hand from the manuals' bit tables. Where no
 * mode is asked for, the machine's default modes are in the value.
 */
#include "table/encode.h"

#include "check.h"

/* "A@PIC0 B@PIC1": each event on its counter, all in one list. */
static const struct {
    int line;
    const char *machine, *events, *writes;
} rows[] = {
    /*
     * T1, illumos niagararegs.h: PCR sl 6:4, ut 2, st 1, both by default. PIC1
     * has no select. DRAM_CTL sel0 7:4, sel1 3:0; JBUS_CTL sel1 7:4, sel0 3:0.
     */
    {__LINE__, "ultrasparc-t1", "instr_cnt@PIC1", "PCR=0x6"},
    {__LINE__, "ultrasparc-t1", "SB_full@PIC0", "PCR=0x6"},
    /* 1 << 4 | ut | st */
    {__LINE__, "ultrasparc-t1", "FP_instr_cnt@PIC0", "PCR=0x16"},
    /* 2 << 4 | ut | st */
    {__LINE__, "ultrasparc-t1", "IC_miss:u:k@PIC0", "PCR=0x26"},
    {__LINE__, "ultrasparc-t1", "IC_miss:uk@PIC0", "PCR=0x26"},
    {__LINE__, "ultrasparc-t1", "DC_miss:k@PIC0", "PCR=0x32"},
    {__LINE__, "ultrasparc-t1", "L2_dmiss_ld@PIC0 instr_cnt@PIC1", "PCR=0x76"},
    {__LINE__, "ultrasparc-t1", "0x20@PIC0", "PCR=0x56"},
    {__LINE__, "ultrasparc-t1", "mem_reads@DRAM_PIC0",
     "DRAM_CTL0=0x0 DRAM_CTL1=0x0 DRAM_CTL2=0x0 DRAM_CTL3=0x0"},
    {__LINE__, "ultrasparc-t1", "mem_reads@DRAM_PIC0 mem_writes@DRAM_PIC1",
     "DRAM_CTL0=0x1 DRAM_CTL1=0x1 DRAM_CTL2=0x1 DRAM_CTL3=0x1"},
    {__LINE__, "ultrasparc-t1", "rd_queue_latency:at=2@DRAM_PIC0",
     "DRAM_CTL2=0x40"},
    {__LINE__, "ultrasparc-t1",
     "bank_busy_stalls:at=0@DRAM_PIC0 wr_buf_hits:at=0@DRAM_PIC1",
     "DRAM_CTL0=0x37"},
    {__LINE__, "ultrasparc-t1",
     "mem_reads:at=1@DRAM_PIC1 wr_queue_latency:at=3@DRAM_PIC1",
     "DRAM_CTL1=0x0 DRAM_CTL3=0x5"},
    {__LINE__, "ultrasparc-t1", "jbus_cycles@JBUS_CNT0 dma_reads@JBUS_CNT1",
     "JBUS_CTL=0x21"},
    {__LINE__, "ultrasparc-t1", "pio_writes@JBUS_CNT0", "JBUS_CTL=0xa"},
    {__LINE__, "ultrasparc-t1", "dok_off_cycles@JBUS_CNT1", "JBUS_CTL=0xe0"},

    /*
     * T2: PCR sl1 30:27, mask1 26:19, sl0 17:14, mask0 13:6, ht 3, ut 2, st 1;
     * so an event sl << 8 | mask is shifted by 6 or by 19.
     */
    {__LINE__, "ultrasparc-t2", "Idle_strands@PIC0", "PCR=0x6"},
    /* 0x301 << 6 */
    {__LINE__, "ultrasparc-t2", "Icache_misses@PIC0", "PCR=0xc046"},
    /* 0x2fd << 6 and << 19 */
    {__LINE__, "ultrasparc-t2", "All_instr@PIC0", "PCR=0xbf46"},
    {__LINE__, "ultrasparc-t2", "All_instr:off@PIC0", "PCR=0xbf40"},
    {__LINE__, "ultrasparc-t2", "All_instr@PIC1", "PCR=0x17e80006"},
    {__LINE__, "ultrasparc-t2", "0xfd2@PIC0", "PCR=0xbf46"},
    /* 0x201 << 6 | ut | st */
    {__LINE__, "ultrasparc-t2", "Completed_branches:u:k@PIC0", "PCR=0x8046"},
    /* 0x208 << 6 | 0x210 << 19 */
    {__LINE__, "ultrasparc-t2", "Load_instr@PIC0 Store_instr@PIC1",
     "PCR=0x10808206"},
    /* 0x302 << 6 | 0x320 << 19 */
    {__LINE__, "ultrasparc-t2", "Dcache_misses:uk@PIC0 L2_load_misses:ku@PIC1",
     "PCR=0x1900c086"},
    /* 0xb0c << 6 | ht */
    {__LINE__, "ultrasparc-t2", "TLB_miss:h@PIC0", "PCR=0x2c308"},
    /* 0x720 << 19 */
    {__LINE__, "ultrasparc-t2", "CRC_MPA_Cksum@PIC1", "PCR=0x39000006"},
    /* 0x520 << 6 | ht | ut | st */
    {__LINE__, "ultrasparc-t2", "MMU_LD_to_PCX:ukh@PIC0", "PCR=0x1480e"},
    /* Branches and taken ones, the union of two bits: 0x203 << 6. */
    {__LINE__, "ultrasparc-t2", "0x32@PIC0", "PCR=0x80c6"},
    {__LINE__, "ultrasparc-t2", "mem_read_write@DRAM_PIC0",
     "DRAM_CTL0=0x20 DRAM_CTL1=0x20 DRAM_CTL2=0x20 DRAM_CTL3=0x20"},
    {__LINE__, "ultrasparc-t2", "bank_busy_stalls:at=3@DRAM_PIC1",
     "DRAM_CTL3=0x3"},

    /*
     * T2 Plus: as the T2; sl 3 writes PERF_CONFIG, 1:0 of the virtual register
     * (rule V06). Zambezi: LPU sel1 15:8, sel0 7:0; GPD and ASU sel1 11:8,
     * sel0 3:0.
     */
    {__LINE__, "ultrasparc-t2plus", "Store_instr@PIC0", "PCR=0x8406"},
    {__LINE__, "ultrasparc-t2plus", "L2_load_misses@PIC0",
     "PCR=0xc806 L2_CONTROL=0x0"},
    {__LINE__, "ultrasparc-t2plus", "L2_load_misses:from=local@PIC0",
     "PCR=0xc806 L2_CONTROL=0x1"},
    {__LINE__, "ultrasparc-t2plus",
     "L2_load_misses:from=remote@PIC0 L2_instr_misses:from=remote@PIC1",
     /* 0x320 << 6 | 0x310 << 19 */
     "PCR=0x1880c806 L2_CONTROL=0x2"},
    {__LINE__, "ultrasparc-t2plus", "L2_instr_misses:k:from=c2c@PIC1",
     "PCR=0x18800002 L2_CONTROL=0x3"},
    {__LINE__, "ultrasparc-t2plus", "lpu/clock_cycles:at=ZAM0_LPU_A@LPU_PIC0",
     "ZAM0_LPU_A_PCR=0x1"},
    {__LINE__, "ultrasparc-t2plus", "cycles_HIT_M:at=ZAM3_LPU_D@LPU_PIC1",
     "ZAM3_LPU_D_PCR=0x1c00"},
    {__LINE__, "ultrasparc-t2plus",
     "cycles_c2c_portX:at=zam1_lpu_b@LPU_PIC0 "
     "cycles_MISS:at=ZAM1_LPU_B@LPU_PIC1",
     "ZAM1_LPU_B_PCR=0x2002"},
    {__LINE__, "ultrasparc-t2plus", "gpd/clock_cycles@GPD_PIC1",
     "ZAM0_GPD_PCR=0x100 ZAM1_GPD_PCR=0x100 ZAM2_GPD_PCR=0x100 "
     "ZAM3_GPD_PCR=0x100"},
    {__LINE__, "ultrasparc-t2plus",
     "asu_CAM_hit:at=ZAM2_ASU@ASU_PIC0 asu_wakeup:at=ZAM2_ASU@ASU_PIC1",
     "ZAM2_ASU_PCR=0x504"},
    {__LINE__, "ultrasparc-t2plus", "mem_writes@DRAM_PIC0",
     "NODE0_MCU0_PCR=0x10 NODE0_MCU1_PCR=0x10 NODE1_MCU0_PCR=0x10 "
     "NODE1_MCU1_PCR=0x10 NODE2_MCU0_PCR=0x10 NODE2_MCU1_PCR=0x10 "
     "NODE3_MCU0_PCR=0x10 NODE3_MCU1_PCR=0x10"},
    {__LINE__, "ultrasparc-t2plus", "rw_queue_latency:at=NODE2_MCU1@DRAM_PIC1",
     "NODE2_MCU1_PCR=0x6"},

    /*
     * T4, TABLE 10-1: picnht 17, picnpt 16, sl 15:11, mask 10:5, ht 4, st 3,
     * ut 2, toe 1; so an event sl << 6 | mask is shifted by 5.
     * TABLE 10-4: sel3 15:12, sel2 11:8, sel1 7:4, sel0 3:0.
     */
    /* Linux: 26 << 6, 3 << 6 | 0x3f, 25 << 6 | 0x0f. */
    {__LINE__, "sparc-t4", "cpu-cycles@PIC0", "PCR0=0xd00c"},
    {__LINE__, "sparc-t4", "instructions@PIC1", "PCR1=0x1fec"},
    {__LINE__, "sparc-t4", "branch-misses:u@PIC2", "PCR2=0xc9e4"},
    /* 0xc4 << 5 | ht */
    {__LINE__, "sparc-t4", "Load_instructions:h@PIC3", "PCR3=0x1890"},
    /* 0x42 << 5 | ht | st | ut | toe */
    {__LINE__, "sparc-t4", "Sel-0-wait:ukh:toe@PIC0", "PCR0=0x85e"},
    /* 0x8e << 5 | st | ut | 3 << 16 */
    {__LINE__, "sparc-t4", "Any_pick:picnht:picnpt@PIC0", "PCR0=0x311cc"},
    /* 0x407 << 5 and 0x47f << 5 */
    {__LINE__, "sparc-t4", "L1_data_cache_miss@PIC0 DTLB_misses_async:u@PIC1",
     "PCR0=0x80ec PCR1=0x8fe4"},
    /* 0x702 << 5 */
    {__LINE__, "sparc-t4", "Commit-0-all@PIC0", "PCR0=0xe04c"},
    /* Branches and FGU, a union without a name: 0xc3 << 5. */
    {__LINE__, "sparc-t4", "0xc3@PIC0", "PCR0=0x186c"},
    /* 0x620 << 5 | st */
    {__LINE__, "sparc-t4", "L2_pipeline_stalls:k@PIC3", "PCR3=0xc408"},
    {__LINE__, "sparc-t4", "All_reads@COUNT0 All_writes@COUNT1",
     "DRAM_PERF_CTL_REG0=0xa8 DRAM_PERF_CTL_REG1=0xa8 "
     "DRAM_PERF_CTL_REG2=0xa8 DRAM_PERF_CTL_REG3=0xa8"},
    {__LINE__, "sparc-t4",
     "Channel_0_reads_writes:at=1@COUNT2 Channel_1_reads_writes:at=1@COUNT3",
     "DRAM_PERF_CTL_REG1=0xcb00"},

    /*
     * R10000, THE CONTROL REGISTERS: event 8:5, IE 4, U 3, S 2, K 1, EXL 0;
     * counter 1 takes the number less 16. Default U and K.
     */
    {__LINE__, "r10000", "Cycles@CNT0", "CTRL0=0xa"},
    /* 15 << 5 */
    {__LINE__, "r10000", "Graduated_instructions@CNT0", "CTRL0=0x1ea"},
    /* 9 << 5 */
    {__LINE__, "r10000", "Primary_data_cache_misses@CNT1", "CTRL1=0x12a"},
    {__LINE__, "r10000", "25@CNT1", "CTRL1=0x12a"},
    /* 7 << 5 | U */
    {__LINE__, "r10000", "TLB_misses:u@CNT1", "CTRL1=0xe8"},
    /* 8 << 5 | IE | U */
    {__LINE__, "r10000", "Mispredicted_branches:u:ie@CNT1", "CTRL1=0x118"},
    /* 2 << 5 | S | K */
    {__LINE__, "r10000", "Issued_loads:ks@CNT0", "CTRL0=0x46"},
    /* 5 << 5 | EXL */
    {__LINE__, "r10000", "Failed_store_conditionals:x@CNT0", "CTRL0=0xa1"},
    {__LINE__, "r10000", "Cycles_16:k@CNT1", "CTRL1=0x2"},
    /* 5 << 5 on counter 1 */
    {__LINE__, "r10000",
     "Cycles@CNT0 Graduated_floating-point_instructions@CNT1",
     "CTRL0=0xa CTRL1=0xaa"},

    /* 6 << 5, 14 << 5 | U | EXL */
    {__LINE__, "r10000-rev2", "Decoded_branches@CNT0", "CTRL0=0xca"},
    {__LINE__, "r10000-rev2", "Virtual_coherency_conditions:ux@CNT0",
     "CTRL0=0x1c9"},
    {__LINE__, "r10000-rev2", "14:k@CNT0", "CTRL0=0x1c2"},
    {__LINE__, "r10000-rev2", "Issued_stores:usk@CNT0", "CTRL0=0x6e"},
    {__LINE__, "r10000-rev2", "External_invalidations:ie@CNT0", "CTRL0=0x1ba"},
    {__LINE__, "r10000-rev2", "Graduated_stores@CNT1", "CTRL1=0x6a"},
    {__LINE__, "r10000-rev2", "31@CNT1", "CTRL1=0x1ea"},
    {__LINE__, "r10000-rev2",
     "Secondary_instruction_cache_misses:u@CNT0 "
     "Secondary_data_cache_misses:u@CNT1",
     "CTRL0=0x148 CTRL1=0x148"},

    /* R12000: 32 events on each counter, so 9:5 hold the number itself. */
    {__LINE__, "r12000", "Cycles@CNT0", "CTRL0=0xa"},
    {__LINE__, "r12000", "Decoded_instructions@CNT1", "CTRL1=0x2a"},
    /* 23 << 5 */
    {__LINE__, "r12000", "TLB_misses@CNT0", "CTRL0=0x2ea"},
    {__LINE__, "r12000", "TLB_misses@CNT1", "CTRL1=0x2ea"},
    /* 31 << 5 */
    {__LINE__, "r12000", "31@CNT0", "CTRL0=0x3ea"},
    /* 17 << 5 | U */
    {__LINE__, "r12000", "Prefetch_primary_data_cache_misses:u@CNT1",
     "CTRL1=0x228"},
    /* 4 << 5 | IE | K; 30 << 5 | U | S | K | EXL */
    {__LINE__, "r12000", "MHT_occupancy:k:ie@CNT0 MHT_entries:uskx@CNT1",
     "CTRL0=0x92 CTRL1=0x3cf"},
    {__LINE__, "r12000", "Graduated_store_conditions:x@CNT0", "CTRL0=0x281"},

    /*
     * Montecito, Table 3-6: MESI 30:27, all 26, ism 25:24 = 10, threshold
     * 22:20, umask 19:16, es 15:8, pm 6, oi 5, ev 4, plm 3:0. Default levels
     * 0 and 3: 1001. Filtered events without a filter: MESI 1111.
     */
    {__LINE__, "montecito", "CPU_OP_CYCLES@PMD4", "PMC4=0x2001209"},
    /* Both threads; the unit mask of that name. */
    {__LINE__, "montecito", "CPU_OP_CYCLES:all@PMD4", "PMC4=0x6001209"},
    {__LINE__, "montecito", "CPU_OP_CYCLES:ALL@PMD4", "PMC4=0x2001209"},
    {__LINE__, "montecito", "CPU_OP_CYCLES.ALL:all:u@PMD4", "PMC4=0x6001208"},
    {__LINE__, "montecito", "CPU_OP_CYCLES.QUAL:u@PMD10", "PMC10=0x2011208"},
    {__LINE__, "montecito", "IA64_INST_RETIRED.THIS:u@PMD5", "PMC5=0x2000808"},
    {__LINE__, "montecito", "IA64_TAGGED_INST_RETIRED.IBRP3_PMC34_35@PMD6",
     "PMC6=0x2030809"},
    {__LINE__, "montecito", "BACK_END_BUBBLE.FE@PMD4", "PMC4=0x2010009"},
    {__LINE__, "montecito", "BE_EXE_BUBBLE:ARCR_PR_CANCEL_BANK:k@PMD15",
     "PMC15=0x2080201"},
    /* M and E: 1100 in 30:27 is 0x60000000. */
    {__LINE__, "montecito", "L3_READS.DATA_READ.MISS:mesi=ME@PMD4",
     "PMC4=0x620add09"},
    {__LINE__, "montecito", "L3_WRITES.L2_WB.ALL@PMD9", "PMC9=0x7a0bde09"},
    /* I: 1 << 27; all: 1 << 26. */
    {__LINE__, "montecito", "L3_INSERTS:mesi=i:all@PMD9", "PMC9=0xe00da09"},
    {__LINE__, "montecito", "INST_DISPERSED:thr=2@PMD11", "PMC11=0x2204d09"},
    {__LINE__, "montecito", "L2D_REFERENCES.READS:all@PMD4", "PMC4=0x601e609"},
    {__LINE__, "montecito", "LOADS_RETIRED@PMD5", "PMC5=0x200cd09"},
    {__LINE__, "montecito", "SYLL_NOT_DISPERSED.EXPL:u:thr=4@PMD7",
     "PMC7=0x2414e08"},
    /* IMPL and FE, a combination without a name. */
    {__LINE__, "montecito", "SYLL_NOT_DISPERSED.0x6@PMD7", "PMC7=0x2064e09"},
    {__LINE__, "montecito", "BUS_MEM_READ.BRIL.SELF:oi:pm@PMD8",
     "PMC8=0x20a8b69"},
    {__LINE__, "montecito", "L2D_OZQ_CANCELS0.OZDATA_CONF@PMD4",
     "PMC4=0x20fe009"},
    {__LINE__, "montecito", "CPU_CPL_CHANGES.ALL:r1:r2@PMD12",
     "PMC12=0x20f1306"},
    {__LINE__, "montecito", "THREAD_SWITCH_EVENTS.ALL:ev@PMD13",
     "PMC13=0x2070c19"},
    {__LINE__, "montecito", "BR_PATH_PRED.NRETIND.OKPRED_TAKEN@PMD14",
     "PMC14=0x20f5409"},
    {__LINE__, "montecito", "CYCLES_HALTED@PMD10", "PMC10=0x2001809"},
    {__LINE__, "montecito", "0xe3@PMD6", "PMC6=0x200e109"},
    {__LINE__, "montecito", "STORES_RETIRED:uk@PMD5 UC_STORES_RETIRED:u@PMD4",
     "PMC5=0x200d109 PMC4=0x200d008"},

    /*
     * Skylake, Intel SDM volume 3: IA32_PERFEVTSELx EN 22, OS 17, USR 16, unit
     * mask 15:8, event select 7:0, so a code is its own bits and 0x430000.
     * IA32_FIXED_CTR_CTRL: of counter n, USR is bit 4n + 1 and OS bit 4n.
     * IA32_PERF_GLOBAL_CTRL: counter n is bit n, fixed counter n bit 32 + n.
     */
    {__LINE__, "skylake", "BR_INST_RETIRED.ALL_BRANCHES@PMC0",
     "IA32_PERFEVTSEL0=0x4300c4 IA32_PERF_GLOBAL_CTRL=0x1"},
    {__LINE__, "skylake", "MEM_LOAD_RETIRED.L3_MISS:u@PMC3",
     "IA32_PERFEVTSEL3=0x4120d1 IA32_PERF_GLOBAL_CTRL=0x8"},
    {__LINE__, "skylake", "LONGEST_LAT_CACHE.MISS:k@PMC1",
     "IA32_PERFEVTSEL1=0x42412e IA32_PERF_GLOBAL_CTRL=0x2"},
    {__LINE__, "skylake", "0x20d1:uk@PMC2",
     "IA32_PERFEVTSEL2=0x4320d1 IA32_PERF_GLOBAL_CTRL=0x4"},
    {__LINE__, "skylake", "INST_RETIRED.PREC_DIST:off@PMC1",
     "IA32_PERFEVTSEL1=0x4001c0 IA32_PERF_GLOBAL_CTRL=0x2"},
    {__LINE__, "skylake", "INST_RETIRED.ANY@FIXED_CTR0",
     "IA32_FIXED_CTR_CTRL=0x3 IA32_PERF_GLOBAL_CTRL=0x100000000"},
    {__LINE__, "skylake", "CPU_CLK_UNHALTED.THREAD:u@FIXED_CTR1",
     "IA32_FIXED_CTR_CTRL=0x20 IA32_PERF_GLOBAL_CTRL=0x200000000"},
    {__LINE__, "skylake", "CPU_CLK_UNHALTED.REF_TSC:k@FIXED_CTR2",
     "IA32_FIXED_CTR_CTRL=0x100 IA32_PERF_GLOBAL_CTRL=0x400000000"},
    /* 2 | 3 << 4 | 2 << 8; what enables stands last. */
    {__LINE__, "skylake",
     "INST_RETIRED.ANY:u@FIXED_CTR0 BR_MISP_RETIRED.ALL_BRANCHES:u@PMC2 "
     "CPU_CLK_UNHALTED.THREAD@FIXED_CTR1 CPU_CLK_UNHALTED.REF_TSC:u@FIXED_CTR2 "
     "BR_INST_RETIRED.CONDITIONAL@PMC0",
     "IA32_FIXED_CTR_CTRL=0x232 IA32_PERFEVTSEL2=0x4100c5 "
     "IA32_PERFEVTSEL0=0x4301c4 IA32_PERF_GLOBAL_CTRL=0x700000005"},

    /* Ice Lake-SP: eight counters, and IA32_FIXED_CTR3 with bits 15:12. */
    {__LINE__, "icelake", "BR_INST_RETIRED.ALL_BRANCHES@PMC7",
     "IA32_PERFEVTSEL7=0x4300c4 IA32_PERF_GLOBAL_CTRL=0x80"},
    {__LINE__, "icelake", "MEM_LOAD_RETIRED.L3_MISS:u@PMC3",
     "IA32_PERFEVTSEL3=0x4120d1 IA32_PERF_GLOBAL_CTRL=0x8"},
    {__LINE__, "icelake", "BR_INST_RETIRED.COND_TAKEN:k@PMC4",
     "IA32_PERFEVTSEL4=0x4201c4 IA32_PERF_GLOBAL_CTRL=0x10"},
    {__LINE__, "icelake", "0xc824@PMC0",
     "IA32_PERFEVTSEL0=0x43c824 IA32_PERF_GLOBAL_CTRL=0x1"},
    {__LINE__, "icelake", "TOPDOWN.SLOTS:u@FIXED_CTR3",
     "IA32_FIXED_CTR_CTRL=0x2000 IA32_PERF_GLOBAL_CTRL=0x800000000"},
    {__LINE__, "icelake", "ICACHE_TAG.STALLS:off@PMC2",
     "IA32_PERFEVTSEL2=0x400483 IA32_PERF_GLOBAL_CTRL=0x4"},
    {__LINE__, "icelake", "INST_RETIRED.PREC_DIST:u@FIXED_CTR0",
     "IA32_FIXED_CTR_CTRL=0x2 IA32_PERF_GLOBAL_CTRL=0x100000000"},
    {__LINE__, "icelake",
     "TOPDOWN.SLOTS@FIXED_CTR3 INST_RETIRED.ANY:k@FIXED_CTR0 "
     "TOPDOWN.SLOTS_P:u@PMC6",
     "IA32_FIXED_CTR_CTRL=0x3001 IA32_PERFEVTSEL6=0x4101a4 "
     "IA32_PERF_GLOBAL_CTRL=0x900000040"},

    /*
     * Zen 3, AMD APM volume 2, PerfEvtSel: EN 22, OS 17, USR 16, unit mask
     * 15:8, event select 7:0.
     */
    {__LINE__, "zen3", "ex_ret_instr@PERF_CTR0", "PERF_CTL0=0x4300c0"},
    {__LINE__, "zen3", "ls_not_halted_cyc:u@PERF_CTR5", "PERF_CTL5=0x410076"},
    {__LINE__, "zen3", "ex_ret_brn_misp:k@PERF_CTR1", "PERF_CTL1=0x4200c3"},
    {__LINE__, "zen3", "ls_dmnd_fills_from_sys.int_cache:u@PERF_CTR2",
     "PERF_CTL2=0x410243"},
    {__LINE__, "zen3", "l2_cache_req_stat.ls_rd_blk_c@PERF_CTR3",
     "PERF_CTL3=0x430864"},
    {__LINE__, "zen3", "0x1045:u@PERF_CTR4", "PERF_CTL4=0x411045"},
    {__LINE__, "zen3", "ex_ret_brn:off@PERF_CTR0", "PERF_CTL0=0x4000c2"},
    {__LINE__, "zen3", "ex_ret_instr:u@PERF_CTR4 ex_ret_instr:k@PERF_CTR5",
     "PERF_CTL4=0x4100c0 PERF_CTL5=0x4200c0"},

    /* Zen 5: masks of other bits. */
    {__LINE__, "zen5", "ex_ret_instr@PERF_CTR0", "PERF_CTL0=0x4300c0"},
    {__LINE__, "zen5", "ls_not_halted_cyc:u@PERF_CTR5", "PERF_CTL5=0x410076"},
    {__LINE__, "zen5", "ls_mab_alloc.all_allocations:k@PERF_CTR1",
     "PERF_CTL1=0x420f41"},
    {__LINE__, "zen5", "l2_request_g1.all:u@PERF_CTR2", "PERF_CTL2=0x41f760"},
    {__LINE__, "zen5", "bp_redirects.ex_redir@PERF_CTR3", "PERF_CTL3=0x43029f"},
    {__LINE__, "zen5", "packed_int_op_type.int256_vnni@PERF_CTR4",
     "PERF_CTL4=0x43c00d"},
    {__LINE__, "zen5", "ls_locks.all:off@PERF_CTR0", "PERF_CTL0=0x401f25"},
    {__LINE__, "zen5", "0xff70@PERF_CTR5", "PERF_CTL5=0x43ff70"},

    /* Zen 2 and Zen 4: the same registers, other events. */
    {__LINE__, "zen2", "ex_ret_instr@PERF_CTR0", "PERF_CTL0=0x4300c0"},
    {__LINE__, "zen2", "ls_not_halted_cyc:u@PERF_CTR5", "PERF_CTL5=0x410076"},
    {__LINE__, "zen2", "ex_ret_cond_misp:k@PERF_CTR1", "PERF_CTL1=0x4200d2"},
    {__LINE__, "zen2", "ls_refills_from_sys.ls_mabresp_rmt_dram:u@PERF_CTR2",
     "PERF_CTL2=0x414043"},
    {__LINE__, "zen2", "bp_l1_tlb_miss_l2_hit@PERF_CTR3", "PERF_CTL3=0x430084"},
    {__LINE__, "zen2", "0xffaa:u@PERF_CTR4", "PERF_CTL4=0x41ffaa"},
    {__LINE__, "zen2", "fpu_pipe_assignment.total:off@PERF_CTR0",
     "PERF_CTL0=0x400f00"},
    {__LINE__, "zen2", "l2_wcb_req.cl_zero@PERF_CTR5", "PERF_CTL5=0x430163"},
    {__LINE__, "zen4", "ex_ret_instr@PERF_CTR0", "PERF_CTL0=0x4300c0"},
    {__LINE__, "zen4", "ls_not_halted_cyc:u@PERF_CTR5", "PERF_CTL5=0x410076"},
    {__LINE__, "zen4", "ls_any_fills_from_sys.all_dram_io:u@PERF_CTR2",
     "PERF_CTL2=0x414844"},
    {__LINE__, "zen4", "ls_dmnd_fills_from_sys.local_ccx:k@PERF_CTR1",
     "PERF_CTL1=0x420243"},
    {__LINE__, "zen4", "ls_l1_d_tlb_miss.all_l2_miss@PERF_CTR3",
     "PERF_CTL3=0x43f045"},
    {__LINE__, "zen4", "bp_l1_tlb_miss_l2_tlb_miss.all@PERF_CTR4",
     "PERF_CTL4=0x430f85"},
    {__LINE__, "zen4", "l2_request_g1.all_dc:off@PERF_CTR0",
     "PERF_CTL0=0x40e860"},
    {__LINE__, "zen4", "fp_ops_retired_by_type.vector_mac@PERF_CTR0",
     "PERF_CTL0=0x43400a"},

    /*
     * Neoverse N1, PMUv3: PMEVTYPERn_EL0 has 1 in P (31) and U (30) where
     * exception levels 1 and 0 are left out, 1 in NSH (27) where level 2
     * counts, the event in 15:0; PMCCFILTR_EL0 the same without an event.
     * PMCNTENSET_EL0 C 31, Pn n; PMCR_EL0 E 0, LC 6.
     */
    {__LINE__, "neoverse-n1", "INST_RETIRED@PMEVCNTR0",
     "PMEVTYPER0_EL0=0x8 PMCNTENSET_EL0=0x1 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "L1D_CACHE_REFILL:u@PMEVCNTR5",
     "PMEVTYPER5_EL0=0x80000003 PMCNTENSET_EL0=0x20 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "BR_MIS_PRED_RETIRED:k@PMEVCNTR2",
     "PMEVTYPER2_EL0=0x40000022 PMCNTENSET_EL0=0x4 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "LL_CACHE_MISS_RD:ukh@PMEVCNTR1",
     "PMEVTYPER1_EL0=0x8000037 PMCNTENSET_EL0=0x2 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "0x17:h@PMEVCNTR3",
     "PMEVTYPER3_EL0=0xc8000017 PMCNTENSET_EL0=0x8 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "SAMPLE_POP:off@PMEVCNTR4",
     "PMEVTYPER4_EL0=0xc0004000 PMCNTENSET_EL0=0x10 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1", "CPU_CYCLES@PMCCNTR",
     "PMCCFILTR_EL0=0x0 PMCNTENSET_EL0=0x80000000 PMCR_EL0=0x41"},
    {__LINE__, "neoverse-n1", "CPU_CYCLES:u@PMEVCNTR0",
     "PMEVTYPER0_EL0=0x80000011 PMCNTENSET_EL0=0x1 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-n1",
     "CPU_CYCLES:u@PMCCNTR INST_RETIRED:u@PMEVCNTR0 STREX_SPEC:u@PMEVCNTR1",
     "PMCCFILTR_EL0=0x80000000 PMEVTYPER0_EL0=0x80000008 "
     "PMEVTYPER1_EL0=0x8000006f PMCNTENSET_EL0=0x80000003 PMCR_EL0=0x41"},

    /* Neoverse V1: the same registers, more events. */
    {__LINE__, "neoverse-v1", "CNT_CYCLES@PMEVCNTR0",
     "PMEVTYPER0_EL0=0x4004 PMCNTENSET_EL0=0x1 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "STALL:u@PMEVCNTR5",
     "PMEVTYPER5_EL0=0x8000003c PMCNTENSET_EL0=0x20 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "SVE_INST_SPEC:k@PMEVCNTR2",
     "PMEVTYPER2_EL0=0x40008006 PMCNTENSET_EL0=0x4 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "L1D_CACHE_LMISS_RD:ukh@PMEVCNTR1",
     "PMEVTYPER1_EL0=0x8000039 PMCNTENSET_EL0=0x2 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "0x400b:h@PMEVCNTR3",
     "PMEVTYPER3_EL0=0xc800400b PMCNTENSET_EL0=0x8 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "FP_SCALE_OPS_SPEC:off@PMEVCNTR4",
     "PMEVTYPER4_EL0=0xc00080c0 PMCNTENSET_EL0=0x10 PMCR_EL0=0x1"},
    {__LINE__, "neoverse-v1", "CPU_CYCLES@PMCCNTR",
     "PMCCFILTR_EL0=0x0 PMCNTENSET_EL0=0x80000000 PMCR_EL0=0x41"},
    {__LINE__, "neoverse-v1", "OP_RETIRED@PMEVCNTR4",
     "PMEVTYPER4_EL0=0x3a PMCNTENSET_EL0=0x10 PMCR_EL0=0x1"},

    /* Cortex-A72: the same registers, fewer events. */
    {__LINE__, "cortex-a72", "LDST_SPEC@PMEVCNTR0",
     "PMEVTYPER0_EL0=0x72 PMCNTENSET_EL0=0x1 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "BR_MIS_PRED:u@PMEVCNTR5",
     "PMEVTYPER5_EL0=0x80000010 PMCNTENSET_EL0=0x20 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "BUS_ACCESS_PERIPH:k@PMEVCNTR2",
     "PMEVTYPER2_EL0=0x40000065 PMCNTENSET_EL0=0x4 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "L2D_CACHE_REFILL:ukh@PMEVCNTR1",
     "PMEVTYPER1_EL0=0x8000017 PMCNTENSET_EL0=0x2 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "0x62:h@PMEVCNTR3",
     "PMEVTYPER3_EL0=0xc8000062 PMCNTENSET_EL0=0x8 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "BUS_CYCLES:off@PMEVCNTR4",
     "PMEVTYPER4_EL0=0xc000001d PMCNTENSET_EL0=0x10 PMCR_EL0=0x1"},
    {__LINE__, "cortex-a72", "CPU_CYCLES@PMCCNTR",
     "PMCCFILTR_EL0=0x0 PMCNTENSET_EL0=0x80000000 PMCR_EL0=0x41"},
    {__LINE__, "cortex-a72", "CPU_CYCLES:u@PMEVCNTR0",
     "PMEVTYPER0_EL0=0x80000011 PMCNTENSET_EL0=0x1 PMCR_EL0=0x1"},
    /* U74: mhpmeventN has the class in 7:0 and a bit for each event above;
     * cycles and instructions are counted by themselves. */
    {__LINE__, "sifive-u74", "EXCEPTION_TAKEN@mhpmcounter3",
     "mhpmevent3=0x100"},
    {__LINE__, "sifive-u74", "OTHER_FP_RETIRED@mhpmcounter4",
     "mhpmevent4=0x2000000"},
    {__LINE__, "sifive-u74", "FP_INTERLOCK@mhpmcounter3", "mhpmevent3=0x40001"},
    {__LINE__, "sifive-u74", "ADDRESSGEN_INTERLOCK@mhpmcounter4",
     "mhpmevent4=0x101"},
    {__LINE__, "sifive-u74", "JALR_INSTRUCTION_RETIRED@mhpmcounter3",
     "mhpmevent3=0x10000"},
    {__LINE__, "sifive-u74", "DCACHE_WRITEBACK@mhpmcounter4",
     "mhpmevent4=0x402"},
    {__LINE__, "sifive-u74", "0x2001@mhpmcounter3", "mhpmevent3=0x2001"},
    {__LINE__, "sifive-u74",
     "MCYCLE@mcycle MINSTRET@minstret ICACHE_RETIRED@mhpmcounter3 "
     "UTLB_MISS@mhpmcounter4",
     "mhpmevent3=0x102 mhpmevent4=0x2002"},
};

/* Adds "EVENT@COUNTER" to the list. */
static void
add_part(int line, const struct machine_row *machine, const char *part,
         struct write_list *writes, struct write_clash *clash, bool *fits)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);
    const char *at = strrchr(part, '@');
    struct selection s;

    assert_non_null(at);
    if (selection_parse(machine, part, (size_t)(at - part), &log, &s) != 0)
        fail_msg("row at line %d: %s", line, heard.text);
    const struct counter_row *c = counter_find(machine, at + 1);
    if (c == NULL)
        fail_msg("row at line %d: no counter %s", line, at + 1);
    const size_t counter = (size_t)(c - machine->counters);
    if (s.event != NULL)
        same_number(line, s.event->counters >> counter & 1, 1);
    *fits = encode_add(writes, &s, counter, clash);
}

static bool
encode_all(int line, const struct machine_row *machine, const char *events,
           struct write_list *writes, struct write_clash *clash)
{
    char copy[TEXT_SIZE];
    char *rest = NULL;
    bool fits = true;

    snprintf(copy, sizeof(copy), "%s", events);
    writes->count = 0;
    for (char *part = strtok_r(copy, " ", &rest); part != NULL && fits;
         part = strtok_r(NULL, " ", &rest))
        add_part(line, machine, part, writes, clash, &fits);
    return fits;
}

static void
test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct machine_row *m = machine_of(rows[i].machine);
        struct write_list writes;
        struct write_clash clash;
        char text[TEXT_SIZE] = "";
        size_t at = 0;
        same_number(
            rows[i].line,
            encode_all(rows[i].line, m, rows[i].events, &writes, &clash), true);
        for (size_t k = 0; k < writes.count; k++)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=0x%llx",
                                   k > 0 ? " " : "",
                                   m->registers[writes.rows[k].reg].name,
                                   (unsigned long long)writes.rows[k].value);
        same_text(rows[i].line, text, rows[i].writes);
    }
}

/* At least 8 of each machine, 70 of all. */
static void
test_vector_counts(void **state)
{
    size_t all = 0;

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        size_t count = 0;
        for (size_t i = 0; i < COUNT(rows); i++)
            count += strcmp(rows[i].machine, tally_machines[m].name) == 0;
        all += count;
        if (is_documented(&tally_machines[m]) && count < 8)
            fail_msg("%s has %zu vectors", tally_machines[m].name, count);
    }
    assert_int_equal(all, COUNT(rows));
    assert_true(all >= 70);
}

/* Two that want different values in one field. */
static const struct {
    int line;
    const char *machine, *events, *field;
    unsigned old, wanted;
} clashes[] = {
    {__LINE__, "ultrasparc-t1", "IC_miss:u@PIC0 instr_cnt:k@PIC1", "PCR.ut", 1,
     0},
    {__LINE__, "ultrasparc-t2", "Atomics:k@PIC0 Load_instr:kh@PIC1", "PCR.ht",
     0, 1},
    {__LINE__, "ultrasparc-t2", "Atomics@PIC0 Load_instr@PIC0", "PCR.mask0",
     0x80, 0x08},
    {__LINE__, "ultrasparc-t2plus",
     "L2_load_misses:from=local@PIC0 L2_instr_misses:from=c2c@PIC1",
     "L2_CONTROL.PERF_CONFIG", 1, 3},
    {__LINE__, "montecito", "L3_MISSES:all@PMD4 L3_MISSES@PMD4", "PMC4.all", 1,
     0},
};

static void
test_clashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clashes); i++) {
        const struct machine_row *m = machine_of(clashes[i].machine);
        const int line = clashes[i].line;
        struct write_list writes;
        struct write_clash clash;
        char text[TEXT_SIZE];
        same_number(line,
                    encode_all(line, m, clashes[i].events, &writes, &clash),
                    false);
        snprintf(text, sizeof(text), "%s.%s", m->registers[clash.reg].name,
                 m->registers[clash.reg].fields[clash.field].name);
        same_text(line, text, clashes[i].field);
        same_number(line, clash.old, clashes[i].old);
        same_number(line, clash.wanted, clashes[i].wanted);
    }
}

/* field_bits(), field_get() and register_reset(). */
static void
test_fields(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    const struct register_row *pmc36 = register_find(m, "PMC36");
    const struct register_row *pmc5 = register_find(m, "PMC5");
    const struct register_row *pmd32 = register_find(m, "PMD32");

    (void)state;
    assert_true(register_reset(pmc36) == 0xfffffff0);
    const struct field_row *es = &pmc5->fields[field_find(pmc5, "ES")];
    assert_true(field_bits(es) == 0xff00);
    assert_int_equal(field_get(es, 0x0200cd09), 0xcd);
    const struct field_row *whole = &pmd32->fields[0];
    assert_int_equal(whole->width, 64);
    assert_true(field_bits(whole) == ~UINT64_C(0));
    assert_true(field_get(whole, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(field_find(pmc5, "nothing"), -1);
}

/* What may not be written stays as the reset has it. */
static void
test_kept_bits(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        for (size_t i = 0; i < machine->event_count; i++) {
            const struct event_row *e = &machine->events[i];
            const struct selection s = selection_of(machine, e, -1);
            for (size_t c = 0; c < machine->counter_count; c++) {
                struct write_list writes = {.count = 0};
                struct write_clash clash;
                if ((e->counters >> c & 1) == 0)
                    continue;
                assert_true(encode_add(&writes, &s, c, &clash));
                for (size_t w = 0; w < writes.count; w++) {
                    const struct reg_write *row = &writes.rows[w];
                    const struct register_row *r =
                        &machine->registers[row->reg];
                    uint64_t kept = 0;
                    for (size_t f = 0; f < r->field_count; f++)
                        if (r->fields[f].access != ACCESS_RW)
                            kept |= field_bits(&r->fields[f]);
                    assert_true((row->set & kept) == 0);
                    assert_true((row->value & ~row->set) ==
                                (register_reset(r) & ~row->set));
                }
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),   cmocka_unit_test(test_vector_counts),
        cmocka_unit_test(test_clashes),   cmocka_unit_test(test_fields),
        cmocka_unit_test(test_kept_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
