/* SPDX-License-Identifier: MIT */
/* The machine of one strand against its twin, signal by signal. */
#include "machine/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/huge.h"
#include "machine/inclusion.h"
#include "machine/pages.h"
#include "ref/chip_ref.h"
#include "ref/drive.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Of each stream. A sanitizer takes ten times the time for a step: it is to
 * find what a step does to memory, and the plain build whether the counts are
 * right. */
#ifdef __SANITIZE_ADDRESS__
#define STEPS 3000
#else
#define STEPS 12000
#endif

static const struct machine machines[] = {
    {__LINE__, "t2", {NULL}},
    {__LINE__, "t2", {"tlb.walk=0"}},
    {__LINE__, "t2", {"tlb.walk=2", "itlb.entries=3", "dtlb.entries=5"}},
    {__LINE__, "t2", {"tlb.walk=3", "itlb.entries=2", "dtlb.entries=2"}},
    {__LINE__, "t2", {"tlb.walk=4", "itlb.entries=4", "dtlb.entries=4"}},
    {__LINE__, "t2", {"l2.shared=core", "branch.predictor=gshare"}},
    {__LINE__, "r10000", {NULL}},
    {__LINE__, "r12000", {"itlb.entries=2", "dtlb.entries=3"}},
    {__LINE__, "r10000", {"l2.size=64K", "tlb.page=4K", "dtlb.entries=8"}},
    {__LINE__,
     "r10000",
     {"l1i.size=1K", "l1d.size=512", "l2.size=4K", "l2.ways=4",
      "l2.foretold=3"}},
    {__LINE__,
     "r12000",
     {"l1i.size=1K", "l1d.size=512", "l2.size=8K", "l2.ways=2",
      "l2.foretold=32", "dtlb.entries=2", "tlb.page=1K"}},
    {__LINE__,
     "r12000",
     {"l1i.size=1K", "l1d.size=512", "l2.size=2K", "l2.ways=1",
      "l2.foretold=1"}},
    {__LINE__,
     "r10000",
     {"l1d.size=1K", "l2.size=40K", "l2.ways=20", "l2.foretold=5"}},
    {__LINE__, "t2", {"tlb.kind=joint", "dtlb.entries=4", "tlb.page=1K"}},
    {__LINE__, "t2", {"l1d.write=allocate", "l2.dirty=stored"}},
    {__LINE__, "t2", {"l2.size=0", "tlb.walk=0"}},
    {__LINE__, "t2", {"nodes=2", "place.pages=interleave", "l2.size=64K"}},
    {__LINE__,
     "t2",
     {"nodes=4", "memory.banks=2", "place.pages=node", "place.node=2",
      "l2.size=16K"}},
    {__LINE__, "fake", {"nodes=3", "tlb.page=4K", "place.pages=interleave"}},
    {__LINE__, "t2", {"l3.size=8M"}},
    {__LINE__,
     "host-model",
     {"l2.size=8K", "l3.size=32K", "l4.size=128K", "tlb.walk=2",
      "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=random", "l3.size=16K",
      "l3.replacement=random", "l4.size=64K", "l4.replacement=random",
      "tlb.walk=2", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l2.size=8K", "l3.size=8K", "l3.fill=victims", "tlb.walk=2",
      "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l3.size=16K", "l3.fill=victims", "l4.size=32K",
      "tlb.walk=1", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l3.size=16K", "l3.fill=victims", "l4.size=32K",
      "l4.line=128", "cores=1", "prefetch.data=performed"}},
    {__LINE__,
     "host-model",
     {"l1d.size=1K", "l2.size=2K", "l2.ways=1", "l3.size=8K", "l3.ways=1",
      "l3.fill=victims", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.size=1K", "l2.size=10K", "l2.ways=20", "l3.size=24K", "l3.ways=24",
      "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=random", "l3.size=16K",
      "l3.replacement=random", "l3.fill=victims", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.victim=4", "l1d.size=1K", "l1d.ways=1", "l2.size=4K",
      "l2.replacement=srrip", "l3.size=8K", "l3.ways=16", "l3.replacement=plru",
      "l3.fill=victims", "l2.shared=chip", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=plru", "l3.size=16K", "l3.replacement=fifo",
      "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=mru", "l3.size=16K", "l3.replacement=mru",
      "l3.fill=victims", "l2.misses=2", "l2.fills=1", "l2.writebacks=3",
      "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=stride", "l1d.prefetch_degree=2", "l1d.size=2K",
      "l1d.ways=4", "l2.size=8K", "l2.prefetch=stream", "l2.prefetch_degree=4",
      "l3.size=16K", "l3.fill=victims", "tlb.walk=2", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=next", "l1d.size=2K", "l1d.ways=4", "l2.size=8K",
      "l2.prefetch=adjacent", "l3.size=16K", "l3.fill=victims"}},
    {__LINE__,
     "r12000",
     {"l2.size=8K", "l2.dirty=written", "l3.size=16K", "l3.fill=victims",
      "l2.foretold=8"}},
    {__LINE__, "t4", {"l3.size=8K", "l3.replacement=random"}},
    {__LINE__, "t4", {"l3.size=8K", "l3.replacement=fifo"}},
    {__LINE__, "t4", {"l3.size=8K", "l3.replacement=mru"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=mru", "l3.size=16K", "l3.replacement=mru",
      "l4.size=64K", "l4.replacement=mru"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.replacement=fifo", "l3.size=16K",
      "l3.replacement=random", "l4.size=64K", "l4.replacement=fifo",
      "l1d.coherence=none"}},
    {__LINE__,
     "r10000",
     {"l2.size=8K", "l2.replacement=fifo", "l2.foretold=0"}},
    {__LINE__,
     "host-model",
     {"l1i.size=2K", "l1i.ways=4", "l1i.replacement=plru", "l1d.size=1K",
      "l1d.ways=4", "l1d.replacement=plru", "l2.size=4K",
      "l2.replacement=srrip", "l3.size=16K", "l3.ways=16",
      "l3.replacement=plru", "l4.size=64K", "l4.replacement=srrip",
      "tlb.walk=2", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1i.size=2K", "l1i.ways=2", "l1i.replacement=random", "l1d.size=2K",
      "l1d.ways=8", "l1d.replacement=random", "l2.size=4K", "l2.ways=8",
      "l2.replacement=plru"}},
    {__LINE__,
     "r10000",
     {"l1i.replacement=fifo", "l1i.size=2K", "l1d.replacement=fifo",
      "l1d.size=1K", "l1d.ways=4", "l2.size=8K", "l2.replacement=srrip",
      "l2.foretold=0"}},
    {__LINE__,
     "t2",
     {"l1i.replacement=mru", "l1i.size=1K", "l1d.replacement=mru",
      "l1d.size=1K"}},
    {__LINE__,
     "t4",
     {"l1i.replacement=plru", "l1i.size=1K", "l1d.replacement=plru",
      "l1d.size=1K", "l1d.victim=2", "l3.size=16K", "l3.replacement=srrip"}},
    {__LINE__, "host-model", {"l1d.prefetch=next", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=next", "l1d.prefetch_degree=3", "l1d.prefetch_distance=2",
      "l1d.size=2K", "l1d.ways=2", "l2.size=8K", "l2.prefetch=adjacent",
      "l3.size=32K"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=stride", "l1d.prefetch_degree=2", "l1d.prefetch_entries=16",
      "l1d.prefetch_bound=none", "l1d.size=2K", "l1d.ways=4", "l2.size=16K",
      "l2.prefetch=stream", "l2.prefetch_degree=4", "l2.prefetch_entries=8",
      "l3.size=64K", "l4.size=128K", "tlb.walk=2", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=stream", "l1d.prefetch_distance=3", "l1d.size=4K",
      "l1d.ways=8", "l1d.replacement=plru", "l2.size=16K",
      "l2.replacement=srrip", "l2.prefetch=stride", "l2.prefetch_entries=4",
      "l2.line=128", "l3.line=128", "tlb.walk=2", "l1d.coherence=none",
      "prefetch.data=performed"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=adjacent", "l1d.size=1K", "l1d.ways=2", "l2.size=4K",
      "l2.ways=4", "l2.prefetch=next", "l2.prefetch_degree=8",
      "l2.replacement=random", "l3.size=0", "l1d.coherence=none",
      "l2.shared=chip"}},
    {__LINE__,
     "host-model",
     {"l1d.prefetch=stride", "l1d.line=16", "l1d.size=1K", "l1d.ways=16",
      "l2.size=0", "l3.size=0", "l1d.coherence=none"}},
    {__LINE__,
     "montecito",
     {"l1i.replacement=plru", "l1i.size=1K", "l1d.replacement=plru",
      "l1d.size=1K"}},
    {__LINE__,
     "t4",
     {"l2.size=4K", "l3.size=16K", "l4.size=32K", "l4.ways=4", "l4.line=128"}},
    {__LINE__,
     "t4",
     {"l2.size=4K", "l3.size=8K", "l4.size=16K", "l5.size=32K", "l5.ways=4",
      "l5.line=128", "l5.replacement=fifo"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l3.size=8K", "l4.size=16K", "l5.size=64K",
      "l5.replacement=random", "tlb.walk=2"}},
    {__LINE__, "t2", {"l1d.victim=8", "l1d.size=1K", "l1d.ways=1"}},
    {__LINE__, "t2", {"l1d.victim=1", "nodes=2", "l2.size=64K"}},
    {__LINE__, "t4", {"l1d.victim=4", "l1d.size=1K", "l2.size=8K"}},
    {__LINE__, "r10000", {"l1d.victim=2", "l1d.size=1K", "l2.size=8K"}},
    {__LINE__, "r12000", {"l1d.victim=64", "l1d.size=2K", "l2.size=8K"}},
    {__LINE__,
     "host-model",
     {"l1d.victim=16", "l1d.size=1K", "l1d.ways=1", "l2.size=4K",
      "l3.size=8K"}},
    {__LINE__,
     "host-model",
     {"l1d.victim=3", "prefetch.data=performed", "l1d.size=2K", "l2.size=0",
      "l3.size=0"}},
    {__LINE__, "montecito", {"l1d.victim=5", "l1d.size=1K"}},
    {__LINE__, "montecito", {NULL}},
    {__LINE__,
     "montecito",
     {"itlb.first=2", "dtlb.first=3", "dtlb.entries=4", "dtlb.reserve=2"}},
    {__LINE__,
     "montecito",
     {"l2i.size=4K", "l2i.ways=2", "l2.size=8K", "l3.size=24K", "tlb.walk=3"}},
    {__LINE__,
     "montecito",
     {"l2i.size=0", "l2.size=2K", "l2.ways=1", "l3.size=4K", "l3.ways=16",
      "bus.reads=3", "itlb.first=0", "dtlb.first=0", "dtlb.entries=2",
      "dtlb.reserve=1"}},
    {__LINE__,
     "montecito",
     {"l1d.float=cached", "l2.line=256", "l3.line=256", "l2i.line=256",
      "l3.ways=24", "tlb.page=1K", "dtlb.first=2", "bus.reads=1"}},
    {__LINE__,
     "montecito",
     {"l1i.size=1K", "l2i.size=4K", "l2.size=2K", "l3.size=6K",
      "prefetch.lines=3"}},
    {__LINE__, "montecito", {"l1i.size=2K", "l1i.line=32", "l2i.size=4K"}},
    {__LINE__, "montecito", {"l1i.size=1K", "prefetch.lines=0"}},
    {__LINE__, "t4", {NULL}},
    {__LINE__, "t4", {"store.buffer=64", "store.queue=64", "l1d.line=8"}},
    {__LINE__, "t4", {"store.buffer=0", "store.queue=1"}},
    {__LINE__, "t4", {"l2.size=4K", "l3.size=0", "l1d.size=1K", "tlb.walk=0"}},
    {__LINE__, "t4", {"prefetch.data=counted"}},
    {__LINE__, "t2", {"prefetch.data=performed"}},
    {__LINE__,
     "t4",
     {"l2.size=8K", "l3.size=16K", "l4.size=64K", "l4.line=128"}},
    {__LINE__,
     "r12000",
     {"l2.size=16K", "l3.size=32K", "l4.size=64K", "l4.line=128"}},
    {__LINE__, "t2", {"prefetch.data=performed", "l3.size=8M", "l2.size=64K"}},
    {__LINE__,
     "host-model",
     {"prefetch.data=performed", "l3.size=0", "l2.size=0", "l1d.line=8"}},
    {__LINE__,
     "host-model",
     {"prefetch.data=performed", "l1d.ways=17", "l1d.size=17K",
      "l1d.coherence=none"}},
    {__LINE__, "t4", {"l2.inclusive=none"}},
    {__LINE__, "t4", {"l2.size=8K", "itlb.entries=2", "dtlb.entries=3"}},
    {__LINE__, "t4", {"l2.size=16K", "l2.line=64", "l1d.line=16"}},
    {__LINE__,
     "t4",
     {"l2.size=2K", "l2.ways=1", "l2.line=32", "l3.size=0", "tlb.walk=3"}},
    {__LINE__,
     "t4",
     {"l2.size=40K", "l2.ways=20", "l1i.size=64K", "l1d.size=64K",
      "l1d.ways=2"}},
    {__LINE__, "t4", {"l2.size=4K", "l1i.ways=32", "l1d.ways=64"}},
    {__LINE__, "t4", {"l1i.microtag=1", "l1i.size=1K", "l1i.ways=2"}},
    {__LINE__, "t4", {"l1i.microtag=2", "l1i.size=2K", "l1i.ways=16"}},
    {__LINE__, "t4", {"l1i.microtag=1", "l1i.size=768", "l1i.ways=24"}},
    {__LINE__, "t4", {"l1i.microtag=3", "l1i.size=512", "l1i.ways=1"}},
    {__LINE__, "host-model", {"l1i.microtag=2", "l1i.size=1K", "l1i.ways=4"}},
    {__LINE__, "t4", {"l2.size=4K", "l2.misses=3", "l2.fills=2"}},
    {__LINE__,
     "t4",
     {"l2.size=2K", "l2.ways=4", "l3.size=64K", "l2.misses=5", "l2.fills=3",
      "l2.writebacks=2"}},
    {__LINE__, "t4", {"l2.size=1K", "l3.size=0", "l2.writebacks=1"}},
    {__LINE__,
     "host-model",
     {"l2.size=4K", "l2.misses=2", "l2.fills=1", "l2.writebacks=3",
      "l1d.coherence=none"}},
    {__LINE__, "t2", {"store.buffer=3", "store.queue=2"}},
    {__LINE__, "t2", {"l1d.write=allocate", "memory.banks=2"}},
    {__LINE__, "t2", {"l2.size=16K", "l2.ways=4", "l3.size=64K"}},
    {__LINE__, "host-model", {NULL}},
    {__LINE__, "skylake", {NULL}},
    {__LINE__,
     "skylake",
     {"l1d.size=2K", "l2.size=8K", "l3.size=22K", "itlb.entries=8",
      "dtlb.entries=8", "stlb.entries=24"}},
    {__LINE__, "icelake", {NULL}},
    {__LINE__,
     "icelake",
     {"l1d.size=3K", "l2.size=10K", "l3.size=24K", "itlb.entries=8",
      "dtlb.entries=8", "stlb.entries=32"}},
    {__LINE__, "zen3", {NULL}},
    {__LINE__,
     "zen3",
     {"l1i.size=1K", "l2.size=8K", "l3.size=32K", "itlb.entries=4",
      "l2itlb.entries=8", "dtlb.entries=4", "stlb.entries=32"}},
    {__LINE__, "zen2", {NULL}},
    {__LINE__, "zen4", {NULL}},
    {__LINE__, "zen5", {NULL}},
    {__LINE__,
     "zen5",
     {"l1i.size=1K", "l1d.size=3K", "l2.size=16K", "l3.size=64K",
      "itlb.entries=4", "l2itlb.entries=8", "dtlb.entries=6",
      "stlb.entries=32"}},
    {__LINE__, "zen3", {"cores=1", "l2.size=8K", "l3.size=16K"}},
    {__LINE__, "neoverse-n1", {NULL}},
    {__LINE__,
     "neoverse-n1",
     {"l1i.size=1K", "l1d.size=1K", "l2.size=4K", "l3.size=16K",
      "itlb.entries=3", "dtlb.entries=3", "stlb.entries=20"}},
    {__LINE__, "neoverse-v1", {NULL}},
    {__LINE__, "cortex-a72", {NULL}},
    {__LINE__,
     "cortex-a72",
     {"l1i.size=3K", "l1d.size=1K", "l2.size=8K", "itlb.entries=3",
      "dtlb.entries=2", "stlb.entries=16"}},
    {__LINE__, "sifive-u74", {NULL}},
    {__LINE__,
     "sifive-u74",
     {"l1i.size=1K", "l1d.size=1K", "l2.size=4K", "itlb.entries=3",
      "dtlb.entries=3", "stlb.entries=8", "btc.entries=4", "btc.ways=4"}},
    {__LINE__, "host-model", {"l3.size=0", "l1d.coherence=none"}},
    {__LINE__, "host-model", {"l3.size=0", "l2.size=0"}},
    {__LINE__,
     "host-model",
     {"l2.shared=chip", "tlb.walk=1", "memory.banks=8", "memory.interleave=4K",
      "l1d.coherence=none"}},
    {__LINE__, "host-model", {"l1d.write=through", "tlb.walk=4"}},
    {__LINE__, "host-model", {"l1d.write=through", "l3.size=0", "l2.size=0"}},
    {__LINE__, "host-model", {"branch.entries=1", "l1i.line=4", "l1d.line=8"}},
    {__LINE__, "host-model", {"branch.predictor=bimodal", "branch.entries=64"}},
    {__LINE__, "t2", {"branch.predictor=bimodal", "branch.entries=2"}},
    {__LINE__, "t2", {"branch.predictor=gshare", "branch.history=3"}},
    {__LINE__, "t2", {"branch.predictor=gshare", "branch.history=0"}},
    {__LINE__,
     "host-model",
     {"l1d.ways=12", "l1d.size=48K", "l1i.ways=11", "l1i.size=44K"}},
    {__LINE__,
     "host-model",
     {"btc.entries=32", "btc.ways=2", "far.entries=16", "far.reach=4K",
      "indirect.entries=64", "indirect.history=6", "return.depth=8"}},
    {__LINE__,
     "t2",
     {"btc.entries=24", "btc.ways=3", "indirect.entries=1",
      "indirect.history=16", "return.depth=1"}},
    {__LINE__,
     "t2",
     {"btc.entries=64", "btc.ways=64", "far.entries=1", "far.reach=4",
      "branch.predictor=bimodal", "indirect.entries=512"}},
    {__LINE__, "t2", {"far.entries=64", "far.reach=1K", "return.depth=5"}},
    {__LINE__, "t2", {"btc.entries=2", "indirect.entries=2"}},
    {__LINE__, "montecito", {NULL}},
    {__LINE__,
     "montecito",
     {"rse.registers=7", "rse.frame=3", "rse.outputs=1", "return.depth=2",
      "indirect.entries=0"}},
    {__LINE__,
     "montecito",
     {"rse.registers=127", "rse.frame=1", "rse.outputs=1"}},
    {__LINE__, "fake", {NULL}},
    {__LINE__, "fake", {"l1d.write=allocate", "l3.size=16K", "l3.ways=8"}},
    /* Tiny: everything is evicted all the time. */
    {__LINE__,
     "fake",
     {"l1i.size=64", "l1d.size=64", "l1d.ways=2", "l2.size=256", "l2.ways=2",
      "itlb.entries=2", "dtlb.entries=2", "tlb.walk=4"}},
    {__LINE__,
     "fake",
     {"l1i.size=64", "l1d.size=64", "l1d.ways=4", "l2.size=128", "l2.ways=4",
      "l3.size=256", "l3.ways=1", "l1d.write=allocate", "memory.banks=4",
      "memory.interleave=16", "itlb.entries=3", "dtlb.entries=2"}},
    {__LINE__,
     "fake",
     {"l1i.size=64", "l1i.ways=1", "l1d.size=64", "l1d.ways=1", "l2.size=64",
      "l2.ways=1", "tlb.walk=1"}},
    /* Little in the first level, much behind: what hides, and where. */
    {__LINE__,
     "t2",
     {"l1d.size=64", "l1d.ways=1", "l1i.size=64", "l1i.ways=2",
      "dtlb.entries=2", "itlb.entries=2"}},
    {__LINE__,
     "t2",
     {"l1d.size=1M", "l1i.size=1M", "dtlb.entries=2", "itlb.entries=2",
      "tlb.walk=4"}},
    /* More ways than a word of the order holds. */
    {__LINE__, "t2", {"l1d.ways=32", "l1i.ways=64", "l2.ways=128"}},
    {__LINE__, "t2", {"l1d.ways=512", "l1i.ways=512", "tlb.walk=2"}},
    {__LINE__,
     "host-model",
     {"l1d.ways=17", "l1d.size=68K", "l1i.ways=24", "l1i.size=24K",
      "l2.ways=20", "l2.size=20K", "l3.ways=31", "l3.size=62K"}},
    {__LINE__,
     "host-model",
     {"tlb.page=1K", "l1i.line=1K", "l1d.line=1K", "l2.line=1K", "l3.line=1K",
      "tlb.walk=3"}},
    {__LINE__, "host-model", {"tlb.page=1G", "l2.line=4K", "l3.line=4K"}},
    /* A target cache beside the indirect table. */
    {__LINE__,
     "host-model",
     {"second_target.entries=16", "second_target.history=4"}},
    {__LINE__,
     "t2",
     {"second_target.entries=64", "second_target.history=0",
      "indirect.entries=32", "indirect.history=5"}},
    {__LINE__,
     "montecito",
     {"second_target.entries=1024", "second_target.history=12"}},
    /* A predictor of directions beside the first. */
    {__LINE__, "host-model", {"second.kind=bimodal", "second.entries=64"}},
    {__LINE__,
     "t2",
     {"second.kind=gshare", "second.entries=256", "second.history=5",
      "btc.entries=24", "btc.ways=3"}},
    {__LINE__,
     "montecito",
     {"second.kind=gshare", "second.entries=4", "second.history=14"}},
    {__LINE__,
     "host-model",
     {"second.kind=tage", "second.entries=1024", "second.history=60"}},
    {__LINE__,
     "t4",
     {"second.kind=perceptron", "second.entries=512", "second.history=20"}},
    /* A first predictor of these kinds. */
    {__LINE__,
     "host-model",
     {"branch.predictor=tage", "branch.entries=256", "branch.history=30",
      "second.kind=gshare", "second.entries=64", "second.history=5"}},
    {__LINE__,
     "t2",
     {"branch.predictor=tage", "branch.entries=2", "branch.history=40",
      "btc.entries=24", "btc.ways=3"}},
    {__LINE__,
     "montecito",
     {"branch.predictor=perceptron", "branch.entries=1024",
      "branch.history=31"}},
    /* TLBs behind the first ones, and TLBs of sets. */
    {__LINE__,
     "host-model",
     {"stlb.entries=12", "stlb.ways=3", "itlb.entries=3", "dtlb.entries=4",
      "tlb.page=1K", "tlb.walk=2"}},
    {__LINE__,
     "host-model",
     {"stlb.entries=6", "stlb.ways=0", "stlb.replacement=nru", "itlb.next=walk",
      "dtlb.entries=4", "tlb.page=1K", "tlb.walk=1"}},
    {__LINE__,
     "host-model",
     {"dtlb.entries=8", "dtlb.ways=2", "dtlb.replacement=lru",
      "itlb.entries=16", "itlb.ways=4", "itlb.replacement=lru", "tlb.page=1K"}},
    {__LINE__,
     "host-model",
     {"dtlb.entries=8", "dtlb.ways=1", "dtlb.replacement=lru", "itlb.entries=2",
      "itlb.replacement=lru", "tlb.page=1K", "stlb.entries=24",
      "stlb.replacement=random"}},
    {__LINE__,
     "host-model",
     {"dtlb.entries=64", "dtlb.ways=4", "dtlb.replacement=fifo",
      "itlb.entries=16", "itlb.ways=4", "itlb.replacement=random"}},
    /* Huge pages: in the data TLB of all pages, and in one of their own. */
    {__LINE__,
     "host-model",
     {"tlb.huge=always", "dtlb.entries=5", "dtlb.replacement=nru"}},
    {__LINE__,
     "host-model",
     {"tlb.huge=always", "dtlb.entries=8", "dtlb.ways=2", "tlb.walk=4",
      "tlb.tables=radix", "walk.level2=2", "walk.level3=1", "walk.level4=1",
      "dtlb.replacement=fifo"}},
    {__LINE__,
     "skylake",
     {"tlb.huge=madvise", "huge.entries=4", "huge.ways=2", "stlb.entries=24",
      "stlb.ways=3", "dtlb.entries=8"}},
    {__LINE__,
     "zen3",
     {"tlb.huge=always", "dtlb.entries=6", "stlb.entries=16", "stlb.ways=4",
      "walk.level2=0", "walk.level3=2", "walk.level4=0"}},
    {__LINE__,
     "host-model",
     {"tlb.huge=always", "huge.entries=2", "huge.ways=1", "tlb.walk=2",
      "tlb.tables=radix", "walk.level2=3", "strands=2", "cores=1",
      "tlb.threads=apart", "dtlb.entries=6"}},
    /* Branch target buffers: behind each kind of direction predictor, and with
     * each kind of prediction of indirect targets. */
    {__LINE__, "fake", {"btb1.entries=2", "btb2.entries=8", "btb2.ways=2"}},
    {__LINE__,
     "fake",
     {"btb1.entries=2", "btb2.entries=4", "btb2.fill=victims",
      "btb3.entries=24", "btb3.ways=3", "branch.predictor=not-taken",
      "return.depth=0"}},
    {__LINE__,
     "host-model",
     {"btb1.entries=4", "btb2.entries=16", "btb2.ways=4", "btb3.entries=16",
      "btb3.fill=victims", "btb3.ways=2", "indirect.predictor=ittage",
      "indirect.entries=16", "branch.predictor=perceptron"}},
    {__LINE__,
     "host-model",
     {"btb1.entries=16", "btb1.ways=2", "indirect.entries=4",
      "branch.predictor=gshare", "branch.history=4", "second.kind=tage",
      "second.history=20", "btc.entries=8", "second_target.entries=16"}},
    /* Tables with tags behind the table of indirect targets. */
    {__LINE__,
     "fake",
     {"indirect.predictor=ittage", "ittage.tables=3", "ittage.entries=4",
      "ittage.tag=5", "ittage.shortest=1", "ittage.longest=9"}},
    {__LINE__,
     "fake",
     {"indirect.predictor=ittage", "ittage.path=conditional",
      "ittage.entries=16", "ittage.shortest=2", "ittage.longest=12"}},
    {__LINE__,
     "host-model",
     {"indirect.predictor=ittage", "indirect.entries=16", "ittage.tables=8",
      "ittage.entries=64", "ittage.longest=255"}},
    {__LINE__,
     "host-model",
     {"indirect.predictor=ittage", "indirect.entries=16", "return.depth=4",
      "branch.predictor=tage", "branch.history=20", "ittage.tables=1",
      "second_target.entries=16"}},
    {__LINE__,
     "t2",
     {"dtlb.entries=16", "dtlb.ways=4", "dtlb.replacement=random",
      "itlb.entries=4", "itlb.replacement=fifo", "tlb.page=1K",
      "itlb.next=stlb", "stlb.entries=32", "stlb.ways=0"}},
    {__LINE__,
     "t2",
     {"dtlb.entries=1024", "dtlb.ways=2", "dtlb.replacement=lru", "tlb.page=1K",
      "itlb.entries=2048", "itlb.ways=1", "itlb.replacement=fifo"}},
    {__LINE__,
     "t2",
     {"tlb.kind=joint", "dtlb.entries=4", "tlb.page=1K", "dtlb.next=stlb",
      "stlb.entries=8", "stlb.ways=2", "stlb.replacement=fifo"}},
    {__LINE__,
     "r10000",
     {"dtlb.entries=8", "dtlb.ways=2", "dtlb.replacement=lru", "tlb.page=1K",
      "l2.size=64K"}},
    {__LINE__,
     "t4",
     {"dtlb.entries=8", "dtlb.ways=2", "dtlb.replacement=lru", "tlb.page=4K",
      "dtlb.next=stlb", "itlb.next=stlb", "stlb.entries=16", "stlb.ways=4"}},
    {__LINE__,
     "montecito",
     {"dtlb.next=stlb", "itlb.next=stlb", "stlb.entries=64", "stlb.ways=4",
      "dtlb.entries=8", "dtlb.reserve=1", "itlb.entries=4", "itlb.reserve=1",
      "tlb.page=4K"}},
    /* A second, a third and a fourth level, each asked for what those in front
     * lack. */
    {__LINE__,
     "fake",
     {"dtlb.next=stlb", "stlb.entries=6", "stlb.next=tlb3", "tlb3.entries=12",
      "tlb3.replacement=nru", "tlb3.next=tlb4", "tlb4.entries=32",
      "tlb4.replacement=fifo", "itlb.next=tlb3", "tlb.walk=2"}},
    {__LINE__,
     "host-model",
     {"stlb.entries=12", "stlb.next=tlb3", "tlb3.entries=0", "tlb3.next=tlb4",
      "tlb4.entries=64", "tlb4.ways=2", "dtlb.entries=4", "itlb.entries=2",
      "tlb.page=1K"}},
    /* Page-walk caches. */
    {__LINE__,
     "host-model",
     {"dtlb.entries=4", "itlb.entries=2", "tlb.page=1K", "tlb.walk=4",
      "tlb.tables=radix", "l2.size=64K", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"dtlb.entries=4", "itlb.entries=2", "tlb.page=1K", "tlb.walk=4",
      "tlb.tables=radix", "walk.level2=3", "walk.level3=2", "walk.level4=1",
      "l2.size=64K", "l1d.coherence=none"}},
    {__LINE__,
     "host-model",
     {"dtlb.entries=4", "itlb.entries=2", "tlb.page=1K", "tlb.walk=3",
      "tlb.tables=radix", "walk.level2=2", "walk.level4=5", "l2.size=64K",
      "l1d.coherence=none"}},
    {__LINE__,
     "t2",
     {"tlb.page=1K", "tlb.walk=2", "tlb.tables=radix", "walk.level2=5",
      "walk.level3=7", "itlb.entries=2", "dtlb.entries=2"}},
    {__LINE__,
     "t4",
     {"tlb.page=4K", "tlb.walk=4", "tlb.tables=radix", "walk.level3=4",
      "itlb.entries=2", "dtlb.entries=4"}},
    {__LINE__,
     "montecito",
     {"dtlb.replacement=lru", "dtlb.ways=4", "dtlb.entries=16",
      "dtlb.reserve=0", "itlb.replacement=lru", "itlb.reserve=0",
      "itlb.entries=4"}},
    {__LINE__,
     "montecito",
     {"dtlb.first=0", "itlb.first=0", "dtlb.replacement=lru", "dtlb.ways=4",
      "dtlb.entries=16", "dtlb.reserve=0", "tlb.page=1K"}},
};

static void
access_ref(struct chip_ref *r, const struct access *a)
{
    if (a->kind == ACCESS_IS_LOAD)
        chip_ref_load(r, a->addr, a->size);
    else if (a->kind == ACCESS_IS_BULK)
        chip_ref_bulk(r, a->addr, a->size);
    else if (a->kind == ACCESS_IS_NEAR || a->kind == ACCESS_IS_FAR)
        chip_ref_prefetch(r, a->addr, a->kind == ACCESS_IS_NEAR);
    else if (a->kind == ACCESS_IS_FLOAT)
        chip_ref_float(r, a->addr, a->size);
    else if (a->kind == ACCESS_IS_STORE)
        chip_ref_store(r, a->addr, a->size);
    else
        chip_ref_atomic(r, a->addr, a->size);
}

/* A machine of one strand, its twin, and how often each block has run. */
struct both {
    int line;
    uint64_t seed;
    struct chip chip;
    struct strand *strand;
    struct counts_strand *counts;
    struct chip_ref ref;
    struct program program;
    struct stream stream;
    uint64_t *ran[2]; /* [outside][block] */
};

/* Changes a piece of the stream's data for both: a bit of `what` says whether
 * the piece may be a huge page, and another whether a decision is taken back.
 */
static void
both_change_huge(struct both *b, unsigned piece, uint64_t what)
{
    struct huge_ref *const r = &b->ref.huge[piece];
    const uint64_t number = (PROGRAM_DATA_AT >> HUGE_SHIFT) + piece;
    const bool may = what & 1, back = what & 2;

    huge_allow(b->chip.huge, number, may);
    if (back)
        huge_decide(b->chip.huge, number, 0);
    *r = (struct huge_ref){may, r->known && !back, r->is_huge};
}

/* Has the twin know huge pages, of which most pieces of the stream's data may
 * be some. */
static void
both_map_huge(struct both *b)
{
    b->chip.huge = huge_create();
    assert_non_null(b->chip.huge);
    b->ref.huge_at = PROGRAM_DATA_AT;
    for (unsigned i = 0; i < HUGE_REF_PIECES; i++)
        both_change_huge(b, i, i % 5 != 3);
}

/* `span`: bytes over which the code spreads. */
static void
both_start(struct both *b, int line, const uint64_t *params,
           uint64_t components, size_t blocks, uint64_t span, uint64_t *state)
{
    b->line = line;
    b->seed = *state;
    program_init(&b->program, params, blocks, span, state);
    stream_init(&b->stream, &b->program, params, random_next(state));
    assert_int_equal(chip_init(&b->chip, params, components, 4), 0);
    b->counts = new_counts();
    b->strand = new_strand(&b->chip, 0, b->counts);
    assert_non_null(b->strand);
    chip_ref_init(&b->ref, params, components);
    if (condition_holds(CONDITION_HUGE, params))
        both_map_huge(b);
    for (size_t i = 0; i < 2; i++)
        b->ran[i] = calloc(blocks, sizeof(uint64_t));
}

static void
both_init(struct both *b, int line, const uint64_t *params, uint64_t components,
          uint64_t *state)
{
    const size_t blocks = 20 + random_below(state, 600);
    const uint64_t span = 4096u << random_below(state, 10);

    both_start(b, line, params, components, blocks, span, state);
}

static void
both_finish(struct both *b)
{
    free_strand(b->strand, 0);
    huge_destroy(b->chip.huge);
    chip_finish(&b->chip);
    chip_ref_finish(&b->ref);
    program_finish(&b->program);
    free_counts(b->counts);
    free(b->ran[0]);
    free(b->ran[1]);
}

static void
both_compare(struct both *b, int step)
{
    strand_drain(b->strand);
    for (size_t s = 0; s < SIGNAL_COUNT; s++) {
        const uint64_t got = b->counts->totals[0].signal[s];
        const uint64_t wanted = b->ref.signals[0][s];
        if (got != wanted)
            fail_msg("row at line %d, step %d, seed %" PRIu64 ", %s: %" PRIu64
                     ", its twin says %" PRIu64,
                     b->line, step, b->seed, tally_signals[s].name, got,
                     wanted);
    }
    assert_memory_equal(b->counts->exec[0], b->ran[0],
                        b->program.count * sizeof(uint64_t));
    assert_memory_equal(b->counts->exec[COUNTS_OUTSIDE], b->ran[1],
                        b->program.count * sizeof(uint64_t));
}

/* Now and then, and always before it is time. */
static void
both_settle(struct both *b)
{
    struct strand *s = b->strand;
    const size_t waiting = (size_t)(s->queue.next - s->queue.entries);
    const bool now = random_below(&b->stream.state, 50) == 0;

    if (!b->chip.inclusive ||
        (!now && s->back->driven.asked + waiting < INCLUSION_REQUESTS / 2))
        return;
    strand_drain(s);
    inclusion_settle(s);
    chip_ref_settle(&b->ref);
}

static void
both_step(struct both *b)
{
    const struct block *block = stream_block(&b->stream);
    const uint64_t components = b->chip.components;
    const uint64_t accesses = random_below(&b->stream.state, 5);

    enter(b->strand, block, work_of(components));
    chip_ref_block(&b->ref, block);
    b->ran[b->ref.outside][block->index]++;
    for (uint64_t i = 0; i < accesses; i++) {
        const struct access a = stream_access(&b->stream);
        if ((components & COMPONENT_L1D) == 0)
            continue;
        access_data(b->strand, &a);
        access_ref(&b->ref, &a);
    }
}

static void
both_run(struct both *b, int steps)
{
    for (int i = 0; i < steps; i++) {
        both_settle(b);
        both_step(b);
        if (b->chip.huge != NULL && i % 127 == 126) {
            both_change_huge(b, (unsigned)i / 127 * 5 % HUGE_REF_PIECES,
                             (uint64_t)i / 127);
            pages_follow_huge(b->strand);
        }
        if (random_below(&b->stream.state, 1000) == 0)
            both_compare(b, i);
        if (random_below(&b->stream.state, 3000) == 0) {
            b->ref.outside = !b->ref.outside;
            strand_switch_span(b->strand, !b->ref.outside);
        }
    }
    both_compare(b, steps);
}

static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m++) {
        uint64_t params[PARAM_COUNT];
        struct both b;
        params_of(&machines[m], params);
        for (int i = 0; i < 3; i++) {
            both_init(&b, machines[m].line, params,
                      components_counted(params, 0, SIGNAL_COUNT), &state);
            both_run(&b, STEPS);
            both_finish(&b);
        }
    }
}

/* What the signals are after 3,000 steps of the stream of `seed`. */
static void
signals_after(const struct machine *m, uint64_t components, uint64_t seed,
              uint64_t *signals)
{
    uint64_t params[PARAM_COUNT];
    uint64_t state = seed;
    struct both b;

    params_of(m, params);
    both_init(&b, m->line, params, components, &state);
    both_run(&b, 3000);
    memcpy(signals, b.counts->totals[0].signal,
           SIGNAL_COUNT * sizeof(*signals));
    both_finish(&b);
}

/*
 * A signal is the same whatever else is counted. Signals that ask for the same
 * components run the same model, once for all of them.
 */
static void
check_alone(const struct machine *m, uint64_t seed)
{
    uint64_t params[PARAM_COUNT];
    uint64_t all[SIGNAL_COUNT];
    bool checked[SIGNAL_COUNT] = {false};

    params_of(m, params);
    signals_after(m, components_counted(params, 0, SIGNAL_COUNT), seed, all);
    for (uint16_t first = 0; first < SIGNAL_COUNT; first++) {
        const uint64_t components = components_counted(params, first, 1);
        uint64_t alone[SIGNAL_COUNT];
        if (checked[first] || tally_signals[first].fixed)
            continue;
        signals_after(m, components, seed, alone);
        for (uint16_t s = first; s < SIGNAL_COUNT; s++) {
            if (tally_signals[s].fixed ||
                components_counted(params, s, 1) != components)
                continue;
            checked[s] = true;
            if (alone[s] != all[s])
                fail_msg("row at line %d: %s is %" PRIu64 " alone, %" PRIu64
                         " with all others",
                         m->line, tally_signals[s].name, alone[s], all[s]);
        }
    }
}

static void
test_signals_alone(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m += 5)
        check_alone(&machines[m], random_next(&state));
}

/*
 * Code whose lines all hit and whose pages all miss sends nothing but table
 * walks: the queue must be drained for them too.
 */
static void
test_walks_alone(void **unused)
{
    const struct machine m = {
        __LINE__, "t2", {"l1i.size=1M", "itlb.entries=2", "tlb.walk=4"}};
    uint64_t params[PARAM_COUNT];
    uint64_t state = random_seed();
    struct both b;

    (void)unused;
    params_of(&m, params);
    both_start(&b, m.line, params, components_counted(params, 0, SIGNAL_COUNT),
               100, 1 << 19, &state);
    for (int i = 0; i < 20000; i++) {
        const struct block *block = stream_block(&b.stream);
        enter(b.strand, block, work_of(b.chip.components));
        chip_ref_block(&b.ref, block);
        b.ran[0][block->index]++;
        assert_true(b.strand->queue.next <=
                    b.strand->queue.entries + QUEUE_LENGTH + QUEUE_SLACK);
    }
    both_compare(&b, 20000);
    both_finish(&b);
}

/*
 * Loads of one page in each 2 MB, of `regions` of them by turns, `rounds`
 * times, with TLBs that hold none of the pages. With n regions, the page-walk
 * cache of level 2 serves all but the first round where it has n entries, and
 * as it forgets the least recently used entry, none where it has fewer. All
 * regions are in one GB.
 */
static void
test_walk_caches(void **unused)
{
    static const struct {
        int line;
        const char *level2, *level3;
        unsigned regions, rounds;
        uint64_t level2_hits, level3_hits, misses, reads;
    } rows[] = {
        /* The first walk reads 4 levels, of each other region the first walk
         * the 2 levels below level 3. */
        {__LINE__, "walk.level2=8", "walk.level3=1", 8, 10, 72, 7, 1,
         72 + 7 * 2 + 4},
        {__LINE__, "walk.level2=7", "walk.level3=1", 8, 10, 0, 79, 1,
         79 * 2 + 4},
        {__LINE__, "walk.level2=8", "walk.level3=0", 8, 10, 72, 0, 8,
         72 + 8 * 4},
        {__LINE__, "walk.level2=0", "walk.level3=0", 8, 10, 0, 0, 0, 80 * 4},
    };

    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct machine m = {
            rows[i].line,
            "host-model",
            {"dtlb.entries=2", "dtlb.replacement=lru", "tlb.page=4K",
             "tlb.walk=4", "tlb.tables=radix", rows[i].level2, rows[i].level3}};
        struct block block = {.pc = 0x1000,
                              .end = 0x1010,
                              .instructions = 1,
                              .last_pc = 0x1000,
                              .taken_pc = NO_LINE};
        uint64_t params[PARAM_COUNT];
        struct chip chip;
        struct counts_strand *const counts = new_counts();
        params_of(&m, params);
        assert_int_equal(
            chip_init(&chip, params,
                      components_counted(params, SIGNAL_DTLB_WALK_REFS, 1) |
                          components_counted(params, SIGNAL_L1D_LOAD_MISSES, 1),
                      4),
            0);
        struct strand *const s = new_strand(&chip, 0, counts);
        assert_non_null(s);
        enter(s, &block, 0);
        const uint64_t *const n = counts->totals[0].signal;
        for (unsigned k = 0; k < rows[i].regions * rows[i].rounds; k++) {
            const uint64_t region = k % rows[i].regions;
            /* A page further in each region, so that the lines of the data are
             * not all in one set. */
            access_data(s, &(struct access){ACCESS_IS_LOAD,
                                            0x40000000 + region * 0x201000, 8});
        }
        strand_drain(s);
        if (n[SIGNAL_DTLB_WALK_LEVEL2_HITS] != rows[i].level2_hits ||
            n[SIGNAL_DTLB_WALK_LEVEL3_HITS] != rows[i].level3_hits ||
            n[SIGNAL_DTLB_WALK_CACHE_MISSES] != rows[i].misses ||
            n[SIGNAL_DTLB_WALK_REFS] != rows[i].reads)
            fail_msg("row at line %d: %llu, %llu, %llu, %llu", rows[i].line,
                     (unsigned long long)n[SIGNAL_DTLB_WALK_LEVEL2_HITS],
                     (unsigned long long)n[SIGNAL_DTLB_WALK_LEVEL3_HITS],
                     (unsigned long long)n[SIGNAL_DTLB_WALK_CACHE_MISSES],
                     (unsigned long long)n[SIGNAL_DTLB_WALK_REFS]);
        /* The entries of level 1 lie in 8 lines, those of level 2 in one, and
         * those of levels 3 and 4 in one each. */
        assert_int_equal(n[SIGNAL_DTLB_WALK_MISSES], 8 + 3);
        free_strand(s, 0);
        chip_finish(&chip);
        free_counts(counts);
    }
}

/* The parent's totals and a warm machine stay behind. */
static void
check_fork(const struct machine *m, uint64_t *state)
{
    struct counts_strand *other = new_counts();
    struct strand *gone;
    struct huge_ref huge[HUGE_REF_PIECES];
    uint64_t params[PARAM_COUNT];
    struct both b;

    params_of(m, params);
    const uint64_t components = components_counted(params, 0, SIGNAL_COUNT);
    both_init(&b, m->line, params, components, state);
    gone = new_strand(&b.chip, 1, other);
    assert_non_null(gone);
    for (int i = 0; i < 500; i++)
        both_step(&b);
    lock_take(&b.chip.lock);
    memset(&b.counts->totals, 0, sizeof(b.counts->totals));
    memset(b.counts->exec, 0, sizeof(b.counts->exec));
    memset(b.ran[0], 0, b.program.count * sizeof(uint64_t));
    /* A child has its parent's memory, and huge pages there. */
    const uint64_t huge_at = b.ref.huge_at;
    memcpy(huge, b.ref.huge, sizeof(huge));
    chip_ref_finish(&b.ref);
    chip_ref_init(&b.ref, params, components);
    b.ref.huge_at = huge_at;
    memcpy(b.ref.huge, huge, sizeof(huge));
    chip_after_fork(&b.chip, 0);
    free(gone);
    both_compare(&b, 0);
    both_run(&b, 2000);
    both_finish(&b);
    free_counts(other);
}

static void
test_after_fork(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m += 3)
        check_fork(&machines[m], &state);
}

static void
test_finish_zeroed(void **unused)
{
    struct chip chip = {0};

    (void)unused;
    chip_finish(&chip);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),
        cmocka_unit_test(test_signals_alone),
        cmocka_unit_test(test_walks_alone),
        cmocka_unit_test(test_walk_caches),
        cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_finish_zeroed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
