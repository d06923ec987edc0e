/* SPDX-License-Identifier: MIT */
/*
 * Files of whatever contents as traces of other programs. The first byte says
 * which format, the others are the file. What can be imported is read again:
 * the trace has all that was written, and its blocks are as blocks are to be.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "isa/insn.h"
#include "trace/trace_import.h"
#include "trace/trace_reader.h"

static const struct tally_log hear = {fuzz_hear, NULL};

static char *const words[] = {(char *)"a", NULL};

/* Each access is one of those that its instruction says that it has. */
static void
check_block(const struct trace_reader *reader, const struct trace_step *step)
{
    const struct trace_block *const b =
        trace_model_block(trace_reader_model(reader), step->block);
    const uint8_t *const told = trace_block_bytes(b);

    for (uint32_t i = 0; i < step->pattern->count; i++) {
        const uint16_t what = step->pattern->site[i].what;
        const uint32_t insn = what >> TRACE_INSN;
        fuzz_check(what < TRACE_PASSED && insn < b->insns);
        const uint8_t *const its = told + TRACE_IMPORTED * insn;
        fuzz_check(its[what & TRACE_STORE ? 2 : 1] != 0);
        fuzz_check((what & TRACE_SHIFT) <= 3);
    }
}

/* Reads the trace that was written. */
static void
check_trace(const char *path, const struct trace_run *run)
{
    struct trace_reader *reader = NULL;
    struct trace_step step;
    int next;

    fuzz_check(trace_reader_open(path, &hear, &reader) == 0);
    while ((next = trace_reader_next(reader, &step)) > 0) {
        fuzz_check(next == TRACE_NEXT_BLOCK);
        check_block(reader, &step);
    }
    fuzz_check(next == 0);
    const struct trace_run *const found = trace_reader_run(reader);
    fuzz_check(found != NULL && found->instructions == run->instructions);
    fuzz_check(trace_reader_so_far(reader)->accesses == run->accesses);
    trace_reader_close(&reader);
}

/* Writes what was begun to be read. */
static void
import(struct trace_import *m, const struct trace_head *head, int out)
{
    struct trace_writer *writer = NULL;
    struct trace_import_left left;
    struct trace_run run = {.end = TRACE_END_EXIT};
    char target[64], path[64];
    uint64_t size;

    snprintf(target, sizeof(target), "/dev/fd/%d", out);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
    fuzz_check(trace_writer_create(target, head, 0, &hear, &writer) == 0);
    const int error = trace_import_all(m, writer, &left);
    fuzz_check(error == 0 || error == TALLY_ESYNTAX);
    fuzz_check((left.records != 0) == (left.what != NULL));
    if (error != 0) {
        trace_writer_abandon(&writer);
        return;
    }
    fuzz_check(trace_writer_end(&writer, &run, &run, &size) == 0);
    check_trace(path, &run);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int in = memfd_create("fuzz", MFD_CLOEXEC);
    const int out = memfd_create("fuzz", MFD_CLOEXEC);
    struct trace_import *m = NULL;
    size_t count = 0;
    uint64_t holds;

    while (trace_import_formats[count].name != NULL)
        count++;
    fuzz_check(in >= 0 && out >= 0);
    const struct trace_import_format *const format =
        &trace_import_formats[(size > 0 ? data[0] : 0) % count];
    if (size > 1)
        fuzz_check(write(in, data + 1, size - 1) == (ssize_t)(size - 1));
    fuzz_check(lseek(in, 0, SEEK_SET) == 0);
    if (trace_import_begin(in, "file", format, &hear, &m, &holds) == 0) {
        const struct trace_head head = {
            .version = "0",
            .isa = "imported",
            .cpu = "",
            .path = "file",
            .argv = words,
            .source = format->name,
            .holds = holds,
        };
        import(m, &head, out);
    }
    trace_import_end(&m);
    close(in);
    close(out);
    return 0;
}
