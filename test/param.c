/* SPDX-License-Identifier: MIT */
/* Parameters of machines: as text, their limits, geometries that cannot be. */
#include "check.h"

#define TOO_MANY_ROWS                                       \
    "caches, TLBs and branch tables of all cores may have " \
    "67108864 lines and entries"

static const struct {
    int line;
    const char *assignment;
    int id;
    uint64_t value;
} settings[] = {
    {__LINE__, "l1d.size=32K", PARAM_L1D_SIZE, 32768},
    {__LINE__, "L1D.SIZE=32k", PARAM_L1D_SIZE, 32768},
    {__LINE__, "l1d.size=32768", PARAM_L1D_SIZE, 32768},
    {__LINE__, "l1d.size=0032KiB", PARAM_L1D_SIZE, 32768},
    {__LINE__, "l1d.size=32 KB", PARAM_L1D_SIZE, 32768},
    {__LINE__, "l1d.size=1.5K", PARAM_L1D_SIZE, 1536},
    {__LINE__, "l1d.size=0.0009765625M", PARAM_L1D_SIZE, 1024},
    {__LINE__, "l1d.size=4G", PARAM_L1D_SIZE, UINT64_C(1) << 32},
    {__LINE__, "l1d.size=64 B", PARAM_L1D_SIZE, 64},
    {__LINE__, "l2.size=0", PARAM_L2_SIZE, 0},
    {__LINE__, "l1d.ways=4096", PARAM_L1D_WAYS, 4096},
    {__LINE__, "l1d.line=64", PARAM_L1D_LINE, 64},
    {__LINE__, "clock=1.4G", PARAM_CLOCK, 1400000000},
    {__LINE__, "clock=1.40000000000000000000G", PARAM_CLOCK, 1400000000},
    {__LINE__, "clock=1.4 GHz", PARAM_CLOCK, 1400000000},
    {__LINE__, "clock=1400mhz", PARAM_CLOCK, 1400000000},
    {__LINE__, "clock=1400000000", PARAM_CLOCK, 1400000000},
    {__LINE__, "time.l2=24", PARAM_TIME_L2, 24},
    {__LINE__, "time.l2=24 cycles", PARAM_TIME_L2, 24},
    {__LINE__, "time.l2=1 cycle", PARAM_TIME_L2, 1},
    {__LINE__, "l1d.write=Through", PARAM_L1D_WRITE, L1D_WRITE_THROUGH},
    {__LINE__, "branch.predictor=not-taken", PARAM_BRANCH_PREDICTOR,
     BRANCH_PREDICTOR_NOT_TAKEN},
};

static void
test_param_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        uint64_t params[PARAM_COUNT], wanted[PARAM_COUNT];
        struct heard heard;
        const struct tally_log log = listen(&heard);
        memset(params, 0x55, sizeof(params));
        memset(wanted, 0x55, sizeof(wanted));
        wanted[settings[i].id] = settings[i].value;
        const int error = param_set(settings[i].assignment, &log, params);
        same_text(settings[i].line, heard.text, "");
        same_number(settings[i].line, error, 0);
        same_number(settings[i].line, (long long)params[settings[i].id],
                    (long long)settings[i].value);
        assert_memory_equal(params, wanted, sizeof(params));
    }
}

static const struct {
    int line;
    const char *assignment;
    int error;
    const char *text;
} bad_settings[] = {
    {__LINE__, "l1d.ways=0", TALLY_ERANGE, "l1d.ways=0: must be 1 to 4096"},
    {__LINE__, "l1d.ways=4097", TALLY_ERANGE,
     "l1d.ways=4097: must be 1 to 4096"},
    {__LINE__, "l1d.ways=18446744073709551616", TALLY_ERANGE,
     "l1d.ways=18446744073709551616: must be 1 to 4096"},
    {__LINE__, "l1d.ways=4K", TALLY_ESYNTAX,
     "l1d.ways=4K: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.ways=1.5", TALLY_ESYNTAX,
     "l1d.ways=1.5: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.ways=-1", TALLY_ESYNTAX,
     "l1d.ways=-1: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.ways=+1", TALLY_ESYNTAX,
     "l1d.ways=+1: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.ways=0x10", TALLY_ESYNTAX,
     "l1d.ways=0x10: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.ways=", TALLY_ESYNTAX,
     "l1d.ways=: must be a whole number, 1 to 4096"},
    {__LINE__, "l1d.size=1", TALLY_ERANGE, "l1d.size=1: must be 64 to 4G"},
    {__LINE__, "l1d.size=99999999999999999999G", TALLY_ERANGE,
     "l1d.size=99999999999999999999G: must be 64 to 4G"},
    {__LINE__, "l1d.size=8Q", TALLY_ESYNTAX,
     "l1d.size=8Q: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=8K ", TALLY_ESYNTAX,
     "l1d.size=8K : must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=8  K", TALLY_ESYNTAX,
     "l1d.size=8  K: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=8 ", TALLY_ESYNTAX,
     "l1d.size=8 : must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size= 8K", TALLY_ESYNTAX,
     "l1d.size= 8K: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=8.K", TALLY_ESYNTAX,
     "l1d.size=8.K: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=.5K", TALLY_ESYNTAX,
     "l1d.size=.5K: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=1.3K", TALLY_ESYNTAX,
     "l1d.size=1.3K: must be bytes, as 512, 8K or 1M, 64 to 4G"},
    {__LINE__, "l1d.size=1.0000000000000000001K", TALLY_ESYNTAX,
     "l1d.size=1.0000000000000000001K: must be bytes, as 512, 8K or 1M, 64 to "
     "4G"},
    {__LINE__, "clock=fast", TALLY_ESYNTAX,
     "clock=fast: must be hertz, as 1.4G, 1 MHz to 100 GHz"},
    {__LINE__, "clock=1.4", TALLY_ESYNTAX,
     "clock=1.4: must be hertz, as 1.4G, 1 MHz to 100 GHz"},
    {__LINE__, "clock=101G", TALLY_ERANGE,
     "clock=101G: must be 1 MHz to 100 GHz"},
    {__LINE__, "time.l2=24ns", TALLY_ESYNTAX,
     "time.l2=24ns: must be whole cycles, 0 cycles to 100000 cycles"},
    {__LINE__, "l1d.line=48", TALLY_ERANGE,
     "l1d.line=48: must be a power of two: 32 or 64"},
    {__LINE__, "l1d.line=4095", TALLY_ERANGE,
     "l1d.line=4095: must be a power of two: 2K or 4K"},
    {__LINE__, "l1d.write=back", TALLY_ESYNTAX,
     "l1d.write=back: must be allocate or through"},
    {__LINE__, "l1d.write=", TALLY_ESYNTAX,
     "l1d.write=: must be allocate or through"},
    {__LINE__, "l1d.sze=8K", TALLY_EUNKNOWN,
     "l1d.sze: unknown parameter; did you mean l1d.size?"},
    {__LINE__, "l1d.size =8K", TALLY_EUNKNOWN,
     "l1d.size : unknown parameter; did you mean l1d.size?"},
    {__LINE__, "colour=blue", TALLY_EUNKNOWN,
     "colour: unknown parameter; the form is that of l1d.size=8K"},
    {__LINE__, LONG_NAME "=1", TALLY_EUNKNOWN,
     "a123456789b123456789c123456789d123456789e123456789f123456789g123...: "
     "unknown parameter; the form is that of l1d.size=8K"},
    {__LINE__, "l1d.size", TALLY_ESYNTAX,
     "l1d.size: must be KEY=VALUE, as l1d.size=8K"},
    {__LINE__, "=8K", TALLY_ESYNTAX, "=8K: must be KEY=VALUE, as l1d.size=8K"},
    {__LINE__, "", TALLY_ESYNTAX, ": must be KEY=VALUE, as l1d.size=8K"},
    {__LINE__, "l1d.ways=\033[2J\xff", TALLY_ESYNTAX,
     "l1d.ways=?[2J?: must be a whole number, 1 to 4096"},
};

static void
test_bad_param_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_settings); i++) {
        uint64_t params[PARAM_COUNT], untouched[PARAM_COUNT];
        struct heard heard;
        const struct tally_log log = listen(&heard);
        memset(params, 0x55, sizeof(params));
        memset(untouched, 0x55, sizeof(untouched));
        const int error = param_set(bad_settings[i].assignment, &log, params);
        same_error(bad_settings[i].line, error, bad_settings[i].error, &heard,
                   bad_settings[i].text);
        assert_memory_equal(params, untouched, sizeof(params));
        same_number(bad_settings[i].line,
                    param_set(bad_settings[i].assignment, NULL, params), error);
    }
}

static const struct {
    int line;
    int id;
    uint64_t value;
    const char *text;
} texts[] = {
    {__LINE__, PARAM_L1D_SIZE, 0, "0"},
    {__LINE__, PARAM_L1D_SIZE, 64, "64"},
    {__LINE__, PARAM_L1D_SIZE, 8192, "8K"},
    {__LINE__, PARAM_L1D_SIZE, 1536, "1536"},
    {__LINE__, PARAM_L1D_SIZE, 3 << 20, "3M"},
    {__LINE__, PARAM_L1D_SIZE, UINT64_C(1) << 40, "1024G"},
    {__LINE__, PARAM_CLOCK, 0, "0 Hz"},
    {__LINE__, PARAM_CLOCK, 999, "999 Hz"},
    {__LINE__, PARAM_CLOCK, 1500, "1.5 kHz"},
    {__LINE__, PARAM_CLOCK, 200000000, "200 MHz"},
    {__LINE__, PARAM_CLOCK, 1400000000, "1.4 GHz"},
    {__LINE__, PARAM_CLOCK, 1333333333, "1.333333333 GHz"},
    {__LINE__, PARAM_CLOCK, 1000000001, "1.000000001 GHz"},
    {__LINE__, PARAM_CLOCK, 100000000000, "100 GHz"},
    {__LINE__, PARAM_TIME_L2, 0, "0 cycles"},
    {__LINE__, PARAM_TIME_L2, 1, "1 cycle"},
    {__LINE__, PARAM_TIME_L2, 24, "24 cycles"},
    {__LINE__, PARAM_CORES, 8, "8"},
    {__LINE__, PARAM_CORES, UINT64_MAX, "18446744073709551615"},
    {__LINE__, PARAM_L1D_WRITE, L1D_WRITE_THROUGH, "through"},
    {__LINE__, PARAM_L1D_WRITE, 2, "2"},
};

static void
test_param_text(void **state)
{
    char text[PARAM_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        param_text(texts[i].id, texts[i].value, text, sizeof(text));
        same_text(texts[i].line, text, texts[i].text);
    }
    param_text(PARAM_CLOCK, 1400000000, text, 4);
    assert_string_equal(text, "1.4");
}

static void
round_trip(int id, uint64_t value)
{
    char text[PARAM_TEXT_SIZE];
    uint64_t back = ~value;
    struct heard heard;
    const struct tally_log log = listen(&heard);

    param_text(id, value, text, sizeof(text));
    if (param_parse(id, text, &log, &back) != 0 || back != value)
        fail_msg("%s = %llu is written %s and read %llu: %s",
                 tally_params[id].key, (unsigned long long)value, text,
                 (unsigned long long)back, heard.text);
}

static void
test_param_round_trip(void **state)
{
    uint64_t random = 0x9e3779b97f4a7c15u;

    (void)state;
    for (int id = 0; id < PARAM_COUNT; id++) {
        const struct param_row *param = &tally_params[id];
        round_trip(id, param->min);
        round_trip(id, param->max);
        for (size_t m = 0; m < MACHINE_COUNT; m++)
            if (tally_machines[m].params != NULL)
                round_trip(id, tally_machines[m].params[id].value);
        for (int i = 0; i < 1000 && !param->power_of_two; i++) {
            const uint64_t range = param->max - param->min + 1;
            random = random * 6364136223846793005u + 1442695040888963407u;
            round_trip(id, param->min + (random >> 16) % range);
        }
    }
}

static const struct {
    int line;
    const char *machine;
    const char *sets[4];
    const char *text; /* NULL: nothing is wrong */
} geometries[] = {
    {__LINE__, "t2", {"l1d.size=32K", "l1d.ways=8", "l1d.line=64"}, NULL},
    {__LINE__, "t2", {"l1d.size=48K", "l1d.ways=12", "l1d.line=64"}, NULL},
    {__LINE__, "t2", {"l1d.size=8K", "l1d.ways=512"}, NULL},
    {__LINE__, "t2", {"l3.size=8M"}, NULL},
    {__LINE__, "host-model", {"l4.size=64M"}, NULL},
    {__LINE__, "host-model", {"l2.replacement=random"}, NULL},
    {__LINE__, "t4", {"l3.replacement=random"}, NULL},
    {__LINE__, "t4", {"l1d.replacement=plru", "l1i.replacement=mru"}, NULL},
    {__LINE__, "host-model", {"l3.fill=victims"}, NULL},
    {__LINE__,
     "host-model",
     {"l3.size=0", "l2.size=0", "l3.fill=victims"},
     NULL},
    {__LINE__,
     "host-model",
     {"l3.line=128", "l3.fill=victims"},
     "l3.fill=victims: needs l3.shared=chip, l1d.write=allocate, "
     "l2.dirty=written, l2.inclusive=none and an L2 and an L3 with lines of "
     "one size"},
    {__LINE__, "host-model", {"l1d.prefetch=next", "l2.prefetch=stream"}, NULL},
    {__LINE__,
     "t4",
     {"l1d.prefetch=stride"},
     "l1d.prefetch=stride: needs l1d.write=allocate, nodes=1, "
     "l3.shared=chip, l2.foretold=0, l2.inclusive=none, l1d.victim=0, "
     "l2.dirty=written, l1d.ways of 2 at least and l1d.replacement=lru or "
     "plru"},
    {__LINE__,
     "r10000",
     {"l2.prefetch=adjacent", "l2.foretold=0"},
     "l2.prefetch=adjacent: needs l1d.write=allocate, nodes=1, "
     "l3.shared=chip, l2.foretold=0, l2.inclusive=none, l1d.victim=0 and "
     "l2.dirty=written"},
    {__LINE__,
     "t4",
     {"l1d.size=12K", "l1d.ways=3", "l1d.replacement=plru"},
     "l1d.replacement=plru: needs ways that are a power of two, not "
     "l1d.ways=3"},
    {__LINE__,
     "host-model",
     {"l4.size=60M", "l4.ways=15", "l4.replacement=plru"},
     "l4.replacement=plru: needs ways that are a power of two, not l4.ways=15"},
    {__LINE__,
     "host-model",
     {"l4.size=60M", "l4.ways=15", "l4.replacement=srrip"},
     NULL},
    {__LINE__,
     "t4",
     {"l2.replacement=random"},
     "l2.replacement=random: needs l1d.write=allocate, l2.foretold=0, "
     "l2.inclusive=none and l3.shared=chip"},
    {__LINE__,
     "montecito",
     {"l3.replacement=random"},
     "l3.replacement=random: needs l3.shared=chip"},
    {__LINE__,
     "t2",
     {"l4.size=8M"},
     "l4.size=8M: an L4 needs an L3, and l3.shared=chip"},
    {__LINE__,
     "montecito",
     {"l4.size=64M"},
     "l4.size=64M: an L4 needs an L3, and l3.shared=chip"},
    {__LINE__, "host-model", {"l4.size=64M", "l5.size=256M"}, NULL},
    {__LINE__,
     "host-model",
     {"l5.size=64M"},
     "l5.size=64M: an L5 needs an L4, and l3.shared=chip"},
    {__LINE__,
     "host-model",
     {"l4.size=64M", "l5.size=256M", "l5.line=32"},
     "l5.line=32: must be at least l4.line, 64"},
    {__LINE__, "host-model", {"stlb.entries=1536"}, NULL},
    {__LINE__,
     "t2",
     {"stlb.entries=64", "dtlb.next=stlb", "stlb.shared=strand"},
     NULL},
    {__LINE__, "t2", {"dtlb.replacement=lru", "dtlb.ways=4"}, NULL},
    {__LINE__,
     "host-model",
     {"stlb.entries=1537"},
     "stlb.entries=1537: must be stlb.ways=12 times a power of two"},
    {__LINE__,
     "host-model",
     {"stlb.ways=0", "stlb.entries=1", "stlb.replacement=nru"},
     "stlb.entries=1: must be 0 or at least 2 with stlb.replacement=nru"},
    {__LINE__,
     "t2",
     {"stlb.entries=64"},
     "stlb.entries=64: no miss gets there; set dtlb.next=stlb or "
     "itlb.next=stlb as well"},
    {__LINE__,
     "host-model",
     {"stlb.next=stlb"},
     "stlb.next=stlb: stlb comes before stlb already"},
    {__LINE__,
     "t2",
     {"itlb.ways=4"},
     "itlb.ways=4: needs itlb.replacement=lru, random or fifo"},
    {__LINE__,
     "t2",
     {"dtlb.replacement=lru", "dtlb.ways=3"},
     "dtlb.entries=128: must be dtlb.ways=3 times a power of two"},
    {__LINE__,
     "montecito",
     {"itlb.replacement=fifo"},
     "itlb.reserve=1: needs itlb.replacement=nru"},
    {__LINE__, "t2", {"l2.size=0", "tlb.walk=0"}, NULL},
    {__LINE__, "host-model", {"l2.size=0", "l3.size=0"}, NULL},
    {__LINE__, "host-model", {"l2.size=0", "l3.size=0", "l1d.line=4K"}, NULL},
    {__LINE__,
     "t2",
     {"l1d.size=9K"},
     "l1d.size=9K: with l1d.ways=4 and l1d.line=16 it must be 8K or 16K"},
    {__LINE__,
     "t2",
     {"l1d.size=12K"},
     "l1d.size=12K: with l1d.ways=4 and l1d.line=16 it must be 8K or 16K"},
    {__LINE__,
     "t2",
     {"l1d.ways=3"},
     "l1d.size=8K: with l1d.ways=3 and l1d.line=16 it must be 6K or 12K"},
    {__LINE__,
     "t2",
     {"l1d.size=64", "l1d.ways=3"},
     "l1d.size=64: with l1d.ways=3 and l1d.line=16 it must be 96"},
    {__LINE__,
     "t2",
     {"l1i.ways=4096"},
     "l1i.size=16K: with l1i.ways=4096 and l1i.line=32 it must be 128K"},
    {__LINE__,
     "t2",
     {"l2.size=3M"},
     "l2.size=3M: with l2.ways=16 and l2.line=64 it must be 2M or 4M"},
    {__LINE__,
     "host-model",
     {"l3.size=36M"},
     "l3.size=36M: with l3.ways=16 and l3.line=64 it must be 32M or 64M"},
    {__LINE__,
     "host-model",
     {"l3.size=1G", "l3.ways=3"},
     "l3.size=1G: with l3.ways=3 and l3.line=64 it must be 768M or 1536M"},
    {__LINE__,
     "t2",
     {"l1d.size=4G", "l1d.line=8"},
     "l1d.size=4G: " TOO_MANY_ROWS},
    {__LINE__,
     "t2",
     {"l1i.size=2G", "l1i.line=32"},
     "l1i.size=2G: " TOO_MANY_ROWS},
    {__LINE__, "t2", {"l2.size=4G"}, "l2.size=4G: " TOO_MANY_ROWS},
    {__LINE__, "host-model", {"l3.size=1G"}, NULL},
    {__LINE__, "host-model", {"l3.size=4G"}, "l3.size=4G: " TOO_MANY_ROWS},
    {__LINE__, "montecito", {"l2i.size=16G"}, "l2i.size=16G: " TOO_MANY_ROWS},
    {__LINE__,
     "r10000",
     {"cores=64", "branch.entries=1048576"},
     "branch.entries=1048576: " TOO_MANY_ROWS},
    {__LINE__,
     "t2",
     {"cores=64", "strands=64", "indirect.entries=65536"},
     "indirect.entries=65536: " TOO_MANY_ROWS},
    {__LINE__,
     "t2",
     {"l2.size=0"},
     "l2.size=0: the table walk needs an L2; set tlb.walk=0 as well"},
    {__LINE__,
     "host-model",
     {"l2.size=0"},
     "l2.size=0: an L3 needs an L2; set l3.size=0 as well"},
    {__LINE__,
     "t2",
     {"l1i.line=128"},
     "l2.line=64: must be at least l1i.line, 128"},
    {__LINE__,
     "t2",
     {"l1d.line=128"},
     "l2.line=64: must be at least l1d.line, 128"},
    {__LINE__,
     "host-model",
     {"l3.line=32"},
     "l3.line=32: must be at least l2.line, 64"},
    {__LINE__,
     "t2",
     {"tlb.page=1K", "l2.line=2K"},
     "tlb.page=1K: must be at least l2.line, 2K"},
    {__LINE__, "t2", {"btc.entries=48", "btc.ways=3", "far.entries=1"}, NULL},
    {__LINE__,
     "t2",
     {"btc.entries=33", "btc.ways=2"},
     "btc.entries=33: must be 0, or btc.ways=2 times a power of two"},
    {__LINE__,
     "t2",
     {"btc.entries=1", "btc.ways=2"},
     "btc.entries=1: must be 0, or btc.ways=2 times a power of two"},
    {__LINE__,
     "t2",
     {"btc.entries=12", "btc.ways=4"},
     "btc.entries=12: must be 0, or btc.ways=4 times a power of two"},
    {__LINE__,
     "t2",
     {"far.entries=3"},
     "far.entries=3: must be 0 or a power of two"},
    {__LINE__,
     "t2",
     {"indirect.entries=100"},
     "indirect.entries=100: must be 0 or a power of two"},
    /* Cores that have all their caches for themselves. */
    {__LINE__, "montecito", {"cores=64", "l2i.size=0"}, NULL},
    {__LINE__,
     "host-model",
     {"l3.shared=core", "l1d.write=through", "l2i.size=64K", "l2i.line=64"},
     NULL},
    {__LINE__,
     "host-model",
     {"l2i.size=64K"},
     "l2i.size=64K: needs l3.shared=core"},
    {__LINE__,
     "host-model",
     {"l1d.float=passed"},
     "l1d.float=passed: needs l3.shared=core"},
    {__LINE__,
     "montecito",
     {"l3.size=0"},
     "l3.shared=core: needs l2.shared=core, l1d.write=through, one "
     "node, an L2 and an L3 with lines of one size"},
    {__LINE__,
     "montecito",
     {"l3.line=256"},
     "l3.shared=core: needs l2.shared=core, l1d.write=through, one "
     "node, an L2 and an L3 with lines of one size"},
    {__LINE__,
     "montecito",
     {"l2i.line=64"},
     "l3.shared=core: needs l2.shared=core, l1d.write=through, one "
     "node, an L2 and an L3 with lines of one size"},
    {__LINE__,
     "montecito",
     {"l2.shared=chip"},
     "l3.shared=core: needs l2.shared=core, l1d.write=through, one "
     "node, an L2 and an L3 with lines of one size"},
    {__LINE__,
     "montecito",
     {"l1d.write=allocate"},
     "l3.shared=core: needs l2.shared=core, l1d.write=through, one "
     "node, an L2 and an L3 with lines of one size"},
    {__LINE__,
     "montecito",
     {"l2i.size=3M"},
     "l2i.size=3M: with l2i.ways=8 and l2i.line=128 it must be 2M or 4M"},
    {__LINE__,
     "montecito",
     {"itlb.first=1"},
     "itlb.first=1: must be 0 or at least 2"},
    {__LINE__, "t2", {"dtlb.first=1"}, "dtlb.first=1: must be 0 or at least 2"},
    {__LINE__,
     "t2",
     {"dtlb.first=2", "tlb.kind=joint"},
     "tlb.kind=joint: needs itlb.first=0, dtlb.first=0"},
    {__LINE__, "montecito", {"dtlb.reserve=64"}, NULL},
    {__LINE__,
     "montecito",
     {"dtlb.reserve=65"},
     "dtlb.reserve=65: times strands=2 must be at most dtlb.entries=128"},
    {__LINE__,
     "montecito",
     {"itlb.entries=3", "itlb.reserve=2"},
     "itlb.reserve=2: times strands=2 must be at most itlb.entries=3"},
    {__LINE__, "montecito", {"dtlb.reserve=65", "strands=1"}, NULL},
    {__LINE__, "montecito", {"dtlb.reserve=65", "tlb.threads=shared"}, NULL},
};

static void
test_params_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(geometries); i++) {
        uint64_t params[PARAM_COUNT];
        struct heard heard;
        const struct tally_log log = listen(&heard);
        const char *wanted = geometries[i].text;
        values_of(machine_of(geometries[i].machine), params);
        for (size_t s = 0; s < 4 && geometries[i].sets[s] != NULL; s++)
            same_number(geometries[i].line,
                        param_set(geometries[i].sets[s], &log, params), 0);
        const int error = params_check(params, &log);
        same_text(geometries[i].line, heard.text, wanted ? wanted : "");
        same_number(geometries[i].line, error, wanted ? TALLY_ERANGE : 0);
        same_number(geometries[i].line, params_check(params, NULL), error);
    }
}

/* Values that came from elsewhere than param_set(). */
static void
test_params_check_limits(void **state)
{
    uint64_t params[PARAM_COUNT];

    (void)state;
    for (int id = 0; id < PARAM_COUNT; id++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        values_of(machine_of("t2"), params);
        params[id] = UINT64_MAX;
        assert_int_equal(params_check(params, &log), TALLY_ERANGE);
        assert_memory_equal(heard.text, tally_params[id].key,
                            strlen(tally_params[id].key));
    }
    memset(params, 0, sizeof(params));
    assert_int_equal(params_check(params, NULL), TALLY_ERANGE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_param_set),
        cmocka_unit_test(test_bad_param_set),
        cmocka_unit_test(test_param_text),
        cmocka_unit_test(test_param_round_trip),
        cmocka_unit_test(test_params_check),
        cmocka_unit_test(test_params_check_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
