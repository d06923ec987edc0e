/* SPDX-License-Identifier: MIT */
/*
 * The profiler of Sun Netra DPS 2.1 (its user's guide, chapter 3) on
 * tally/profiler.h: programs that call it are profiled on this host, or on the
 * emulated machine that `tally count` runs them on.
 *
 *     cc -DTALLY_PROFILE program.c $(pkg-config --cflags --libs tally-teja)
 *
 * -DTALLY_PROFILE is what tejacc's -pg was: without it the calls of the
 * profiler compile to nothing and their arguments are not evaluated.
 *
 * Events are bits of a 64-bit mask, in the order of TABLE 3-5 with those that
 * only the T1 has behind it; of two the higher is dumped first. On a T1
 * instr_cnt is always counted, and one event beside it; elsewhere two events at
 * most. On this host they are perf's generic events as far as there are any;
 * the property profiler_events names others.
 *
 * What the document leaves open is decided thus: a dump takes its records out
 * of the buffer; it goes to standard output, which stands for the console.
 */
#ifndef TALLY_COMPAT_TEJA_PROFILER_H
#define TALLY_COMPAT_TEJA_PROFILER_H

#include <stdint.h>

#include <tally/profiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The process and its threads, as the software architecture has them.
 * @since 0.1 */
typedef struct teja_os *teja_os_t;
typedef struct teja_process *teja_process_t;
typedef struct teja_thread *teja_thread_t;

/* NULL if there is no memory, or after the first for another process: this
 * program is one. `os` and `srcset` stand for nothing here. @since 0.1 */
TALLY_API teja_process_t teja_process_create(teja_os_t os, const char *name,
                                             const char *srcset);

/* profiler_log_table_size, profiler_user_data_size and the others of
 * tally/profiler.h; 0, or -1 after telling on standard error. @since 0.1 */
TALLY_API int
teja_process_set_property(teja_process_t process, const char *property,
                          const char *value);

/* A thread that is to be, by its name. NULL: no memory. @since 0.1 */
TALLY_API teja_thread_t teja_thread_create(teja_process_t process,
                                           const char *name);

/* Runs it; without this, the thread that calls teja_thread_bind() is it. Both
 * return 0, or -1. @since 0.1 */
TALLY_API int teja_thread_start(teja_thread_t thread, void (*function)(void));
TALLY_API int teja_thread_join(teja_thread_t thread);
TALLY_API int teja_thread_bind(teja_thread_t thread);

/* The calling thread. @since 0.1 */
TALLY_API teja_thread_t teja_thread_self(void);

/* @since 0.1 */
typedef unsigned teja_profiler_group_t;
typedef uint64_t teja_profiler_event_t;
typedef uint64_t teja_profiler_value_t;

#define TEJA_PROFILER_MAX_EVENTS 2

/* The event of the higher bit, then that of the lower. @since 0.1 */
typedef struct teja_profiler_values_t {
    uint64_t events[TEJA_PROFILER_MAX_EVENTS];
} teja_profiler_values_t;

/* Groups: one for each call. @since 0.1 */
#define TEJA_PROFILER_CMT_CPU 1
#define TEJA_PROFILER_CMT_DRAM 2
#define TEJA_PROFILER_CMT_JBUS 3

/* Call types of records. @since 0.1 */
#define TEJA_PROFILER_CALL_START 1
#define TEJA_PROFILER_CALL_UPDATE 2

#define TEJA_PROFILER_BIT(n) (UINT64_C(1) << (n))

/* TABLE 3-5, UltraSPARC T2. @since 0.1 */
#define TEJA_PROFILER_CMT_CPU_COMPLETED_BRANCHES TEJA_PROFILER_BIT(0)
#define TEJA_PROFILER_CMT_CPU_TAKEN_BRANCHES TEJA_PROFILER_BIT(1)
#define TEJA_PROFILER_CMT_CPU_FGU_ARITHMATIC_INSTR TEJA_PROFILER_BIT(2)
#define TEJA_PROFILER_CMT_CPU_LOAD_INSTR TEJA_PROFILER_BIT(3)
#define TEJA_PROFILER_CMT_CPU_STORE_INSTR TEJA_PROFILER_BIT(4)
#define TEJA_PROFILER_CMT_CPU_SETHI_INSTR TEJA_PROFILER_BIT(5)
#define TEJA_PROFILER_CMT_CPU_OTHER_INSTR TEJA_PROFILER_BIT(6)
#define TEJA_PROFILER_CMT_CPU_ATOMICS TEJA_PROFILER_BIT(7)
#define TEJA_PROFILER_CMT_CPU_ALL_INSTR TEJA_PROFILER_BIT(8)
#define TEJA_PROFILER_CMT_CPU_ICACHE_MISSES TEJA_PROFILER_BIT(9)
#define TEJA_PROFILER_CMT_CPU_DCACHE_MISSES TEJA_PROFILER_BIT(10)
#define TEJA_PROFILER_CMT_CPU_L2_INSTR_MISSES TEJA_PROFILER_BIT(11)
#define TEJA_PROFILER_CMT_CPU_L2_LOAD_MISSES TEJA_PROFILER_BIT(12)
#define TEJA_PROFILER_CMT_CPU_ITLB_REF_L2 TEJA_PROFILER_BIT(13)
#define TEJA_PROFILER_CMT_CPU_DTLB_REF_L2 TEJA_PROFILER_BIT(14)
#define TEJA_PROFILER_CMT_CPU_ITLB_MISS_L2 TEJA_PROFILER_BIT(15)
#define TEJA_PROFILER_CMT_CPU_DTLB_MISS_L2 TEJA_PROFILER_BIT(16)
#define TEJA_PROFILER_CMT_CPU_STREAM_LD_TO_PCX TEJA_PROFILER_BIT(17)
#define TEJA_PROFILER_CMT_CPU_STREAM_ST_TO_PCX TEJA_PROFILER_BIT(18)
#define TEJA_PROFILER_CMT_CPU_CPU_LD_TO_PCX TEJA_PROFILER_BIT(19)
#define TEJA_PROFILER_CMT_CPU_CPU_IFETCH_TO_PCX TEJA_PROFILER_BIT(20)
#define TEJA_PROFILER_CMT_CPU_CPU_ST_TO_PCX TEJA_PROFILER_BIT(21)
#define TEJA_PROFILER_CMT_CPU_MMU_LD_TO_PCX TEJA_PROFILER_BIT(22)
#define TEJA_PROFILER_CMT_CPU_DES_3DES_OP TEJA_PROFILER_BIT(23)
#define TEJA_PROFILER_CMT_CPU_AES_OP TEJA_PROFILER_BIT(24)
#define TEJA_PROFILER_CMT_CPU_RC4_OP TEJA_PROFILER_BIT(25)
#define TEJA_PROFILER_CMT_CPU_MD5_SHA1_SHA256_OP TEJA_PROFILER_BIT(26)
#define TEJA_PROFILER_CMT_CPU_MA_OP TEJA_PROFILER_BIT(27)
#define TEJA_PROFILER_CMT_CPU_CRC_TCPIP_CKSUM_OP TEJA_PROFILER_BIT(28)
#define TEJA_PROFILER_CMT_CPU_DES_3DES_BUSY_CYCLE TEJA_PROFILER_BIT(29)
#define TEJA_PROFILER_CMT_CPU_AES_BUSY_CYCLE TEJA_PROFILER_BIT(30)
#define TEJA_PROFILER_CMT_CPU_RC4_BUSY_CYCLE TEJA_PROFILER_BIT(31)
#define TEJA_PROFILER_CMT_CPU_MD5_SHA1_SHA256_BUSY_CYCLE TEJA_PROFILER_BIT(32)
#define TEJA_PROFILER_CMT_CPU_MA_BUSY TEJA_PROFILER_BIT(33)
#define TEJA_PROFILER_CMT_CPU_CRC_MPA_CKSUM TEJA_PROFILER_BIT(34)
#define TEJA_PROFILER_CMT_CPU_ITLB_MISS TEJA_PROFILER_BIT(35)
#define TEJA_PROFILER_CMT_CPU_DTLB_MISS TEJA_PROFILER_BIT(36)
#define TEJA_PROFILER_CMT_CPU_TLB_MISS TEJA_PROFILER_BIT(37)

/* TABLE 3-2, UltraSPARC T1; five of them are the same as the T2's, so that a
 * program's names hold on both. @since 0.1 */
#define TEJA_PROFILER_CMT_CPU_SB_FULL TEJA_PROFILER_BIT(38)
#define TEJA_PROFILER_CMT_CPU_FP_INSTR_CNT TEJA_PROFILER_BIT(39)
#define TEJA_PROFILER_CMT_CPU_IC_MISS TEJA_PROFILER_CMT_CPU_ICACHE_MISSES
#define TEJA_PROFILER_CMT_CPU_DC_MISS TEJA_PROFILER_CMT_CPU_DCACHE_MISSES
#define TEJA_PROFILER_CMT_CPU_L2_IMISS TEJA_PROFILER_CMT_CPU_L2_INSTR_MISSES
#define TEJA_PROFILER_CMT_CPU_L2_DMISS_LD TEJA_PROFILER_CMT_CPU_L2_LOAD_MISSES
#define TEJA_PROFILER_CMT_CPU_INSTR_CNT TEJA_PROFILER_CMT_CPU_ALL_INSTR

/* TABLE 3-3. @since 0.1 */
#define TEJA_PROFILER_CMT_DRAM_MEM_READS TEJA_PROFILER_BIT(0)
#define TEJA_PROFILER_CMT_DRAM_MEM_WRITES TEJA_PROFILER_BIT(1)
#define TEJA_PROFILER_CMT_DRAM_BANK_BUSY_STALLS TEJA_PROFILER_BIT(2)
#define TEJA_PROFILER_CMT_DRAM_RD_QUEUE_LATENCY TEJA_PROFILER_BIT(3)
#define TEJA_PROFILER_CMT_DRAM_WR_QUEUE_LATENCY TEJA_PROFILER_BIT(4)
#define TEJA_PROFILER_CMT_DRAM_RW_QUEUE_LATENCY TEJA_PROFILER_BIT(5)
#define TEJA_PROFILER_CMT_DRAM_WR_BUF_HITS TEJA_PROFILER_BIT(6)

/* TABLE 3-4. @since 0.1 */
#define TEJA_PROFILER_CMT_JBUS_JBUS_CYCLES TEJA_PROFILER_BIT(0)
#define TEJA_PROFILER_CMT_JBUS_DMA_READS TEJA_PROFILER_BIT(1)
#define TEJA_PROFILER_CMT_JBUS_DMA_READ_LATENCY TEJA_PROFILER_BIT(2)
#define TEJA_PROFILER_CMT_JBUS_DMA_WRITES TEJA_PROFILER_BIT(3)
#define TEJA_PROFILER_CMT_JBUS_DMA_WRITE8 TEJA_PROFILER_BIT(4)
#define TEJA_PROFILER_CMT_JBUS_ORDERING_WAITS TEJA_PROFILER_BIT(5)
#define TEJA_PROFILER_CMT_JBUS_PIO_READS TEJA_PROFILER_BIT(6)
#define TEJA_PROFILER_CMT_JBUS_PIO_READ_LATENCY TEJA_PROFILER_BIT(7)
#define TEJA_PROFILER_CMT_JBUS_PIO_WRITES TEJA_PROFILER_BIT(8)
#define TEJA_PROFILER_CMT_JBUS_AOK_DOK_OFF_CYCLES TEJA_PROFILER_BIT(9)
#define TEJA_PROFILER_CMT_JBUS_AOK_OFF_CYCLES TEJA_PROFILER_BIT(10)
#define TEJA_PROFILER_CMT_JBUS_DOK_OFF_CYCLES TEJA_PROFILER_BIT(11)

/* A mask as the text that tally/profiler.h takes. @since 0.1 */
struct teja_profiler_list {
    char text[96];
};

/* What the macros below call; -1 after telling on standard error.
 * @since 0.1 */
TALLY_API int
teja_profiler_list_of(teja_profiler_group_t group, teja_profiler_event_t events,
                      struct teja_profiler_list *list);
TALLY_API int
teja_profiler_get_values_of(teja_profiler_group_t group,
                            struct teja_profiler_values_t *values);
TALLY_API int teja_profiler_dump_of(teja_thread_t thread);

#ifdef __cplusplus
}
#endif

/*
 * teja_profiler_start(group, events): counts the events of the mask from here
 * on. teja_profiler_update(group, word...): stores a record.
 * teja_profiler_get_values(group, values): what it would store.
 * teja_profiler_dump(thread): prints the thread's records and takes them out.
 * teja_profiler_stop(group): counts no more. All return 0, or a negative
 * number.
 *
 * @since 0.1
 */
#define teja_profiler_update(...) tally_profiler_update(__VA_ARGS__)
#define teja_profiler_stop(group) tally_profiler_stop(group)
#ifdef TALLY_PROFILE
#define teja_profiler_start(group, events)                             \
    __extension__({                                                    \
        struct teja_profiler_list teja_list;                           \
        const teja_profiler_group_t teja_group = (group);              \
        teja_profiler_list_of(teja_group, events, &teja_list) == 0     \
            ? tally_profiler_start_at(TALLY_PROFILER_SITE, teja_group, \
                                      teja_list.text)                  \
            : -1;                                                      \
    })
#define teja_profiler_get_values(group, values) \
    teja_profiler_get_values_of(group, values)
#define teja_profiler_dump(thread) teja_profiler_dump_of(thread)
#else
#define teja_profiler_start(group, events) tally_profiler_nothing(group, events)
#define teja_profiler_get_values(group, values) \
    tally_profiler_nothing(group, values)
#define teja_profiler_dump(thread) tally_profiler_nothing(thread)
#endif

#endif
