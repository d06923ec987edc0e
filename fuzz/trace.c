/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as a trace. The input is a list of chunks: a byte
 * that says which kind, two bytes of length, and the contents. They are written
 * as a trace file, so that what is behind compression and checksums is reached
 * at once (the target chunks has these), and read.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_record.h"
#include "trace/trace_reader.h"

/* A few bytes can stand for a hundred million blocks: enough is enough. */
#define STEPS_MOST 100000

static const struct tally_log hear = {fuzz_hear_any, NULL};

static const uint32_t types[] = {TRACE_CHUNK_HEAD, TRACE_CHUNK_BODY,
                                 TRACE_CHUNK_RUN, 1};

static const struct fuzz_chunks kinds = {types, sizeof(types) / sizeof(*types)};

static const char head[] = "\2\1"
                           "0\6"
                           "x86_64\0\2/a\0\0\0\1\1a\0\0\0";

/* The thread that runs, by the steps that were read: THREAD_NONE behind its
 * end.
 */
#define THREAD_NONE UINT64_MAX
static uint64_t running;

/* Threads that do not live do nothing. */
static void
check_thread(enum trace_next next, const struct trace_step *step)
{
    fuzz_check((running == THREAD_NONE) <= (next == TRACE_NEXT_RUNS));
    if (next >= TRACE_NEXT_STARTS)
        fuzz_check(step->args[0] < TRACE_THREADS);
    if (next == TRACE_NEXT_STARTS || next == TRACE_NEXT_RUNS)
        fuzz_check(step->args[0] != running);
    if (next == TRACE_NEXT_ENDS)
        fuzz_check(step->args[0] == running);
    if (next == TRACE_NEXT_RUNS)
        running = step->args[0];
    else if (next == TRACE_NEXT_ENDS)
        running = THREAD_NONE;
}

/* What was read points to where it may. */
static void
check_step(struct trace_reader *reader, enum trace_next next,
           const struct trace_step *step)
{
    const struct trace_model *const m = trace_reader_model(reader);
    uint64_t sum = 0;

    if (next == TRACE_NEXT_BLOCK || next == TRACE_NEXT_STRAY)
        fuzz_check(step->block >= 1 && step->block <= m->block_count);
    if (next == TRACE_NEXT_BLOCK)
        for (uint32_t i = 0; i < step->pattern->count; i++) {
            const uint16_t what = step->pattern->site[i].what;
            fuzz_check((what & (TRACE_PASSED - 1)) >> TRACE_INSN <
                       trace_model_block(m, step->block)->insns);
            sum += what < TRACE_PASSED ? step->address[i] : 0;
        }
    if (next == TRACE_NEXT_MAP)
        fuzz_check(step->args[0] <= step->args[1] &&
                   step->piece_count == (step->args[2] != 0));
    if (next == TRACE_NEXT_CALL || next == TRACE_NEXT_MAP)
        for (size_t i = 0; i < step->piece_count; i++)
            for (size_t k = 0; k < step->pieces[i].size; k++)
                sum += step->pieces[i].bytes[k];
    fuzz_check(sum != UINT64_MAX / 3 || sum != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct chunk_writer *writer = NULL;
    struct trace_reader *reader = NULL;
    struct trace_step step;
    struct trace_run run;
    char target[64], path[64];

    fuzz_check(fd >= 0);
    snprintf(target, sizeof(target), "/dev/fd/%d", fd);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    fuzz_check(chunks_create_kind(target, CHUNKS_KIND_TRACE, NULL, &writer) ==
               0);
    if (size >= 3 && fuzz_chunk_type(&kinds, data[0]) != TRACE_CHUNK_HEAD)
        chunks_write(writer, TRACE_CHUNK_HEAD, head, sizeof(head) - 1);
    if (fuzz_write_chunks(writer, &kinds, data, size) &&
        trace_reader_open(path, &hear, &reader) == 0) {
        int next = 1;
        running = 0;
        for (unsigned i = 0; next > 0 && i < STEPS_MOST; i++) {
            next = trace_reader_next(reader, &step);
            if (next > 0) {
                check_step(reader, (enum trace_next)next, &step);
                check_thread((enum trace_next)next, &step);
            }
        }
        if (next <= 0)
            fuzz_check(trace_reader_next(reader, &step) == next);
        fuzz_check(next != 0 || trace_reader_run(reader) == NULL ||
                   trace_find_run(path, &run, NULL));
        trace_reader_close(&reader);
    }
    close(fd);
    return 0;
}
