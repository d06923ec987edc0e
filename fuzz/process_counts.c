/* SPDX-License-Identifier: MIT */
/*
 * Any bytes anywhere in a session's memory, as hostile guests may write them,
 * over two processes that counted in good order; then its reader adds up. The
 * first byte chooses what was asked for. After it come writes: a byte for the
 * place, two for the record, two for the offset in the record, one for the
 * length, and the bytes. Bit 2 of the first byte asks for seals that fit what
 * was written.
 */
#include <stddef.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "profile/collect.h"
#include "source/counts_layout.h"

#define WRITE_HEAD 6
/* Longer inputs write more, and find no more: 100 executions a second instead
 * of thousands. */
#define LONGEST 2048

struct input {
    const uint8_t *at, *end;
};

static uint64_t
counts_at(unsigned index)
{
    return HEADER_SIZE + COUNTS_SIZE * index;
}

/* Where a write goes: the low bits say what, the high bits of which process. */
static uint64_t
place(unsigned what, uint64_t record, uint64_t offset)
{
    const uint64_t process = counts_at(what >> 4 < 15 ? what >> 4 : 65535);

    switch (what & 15) {
    case 0:
        return offset % offsetof(struct session_header, vcounters);
    case 1:
        return process + offset % INFOS_AT;
    case 2:
        return process + INFOS_AT + sizeof(struct block_info) * record + offset;
    case 3:
        return process + THREADS_AT + sizeof(struct counts_thread) * record +
               offset;
    case 4:
        return process + SNAPSHOTS_AT +
               sizeof(struct counts_snapshot) * record + offset;
    case 5:
        return process + CAPTURES_AT + sizeof(struct capture_record) * record +
               offset;
    case 6:
        return process + STRANDS_AT + STRAND_SIZE * (record % COUNTS_STRANDS) +
               offset;
    case 7: /* behind the totals of a strand */
        return process + STRANDS_AT + STRAND_SIZE * (record % COUNTS_STRANDS) +
               offsetof(struct counts_strand, strand) + offset % 64;
    case 8: /* executions */
        return process + STRANDS_AT + STRAND_SIZE * (record % COUNTS_STRANDS) +
               offsetof(struct counts_strand, exec) + offset;
    default: /* the first fields of the head, which say the numbers */
        return process + offset % 64;
    }
}

static void
write_at(int fd, uint64_t at, const void *bytes, size_t size)
{
    fuzz_check(pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size);
}

#define WRITE(base, type, field, ...)                                        \
    do {                                                                     \
        const __typeof__(((type *)0)->field) value = __VA_ARGS__;            \
        write_at(fd, (base) + offsetof(type, field), &value, sizeof(value)); \
    } while (0)

/* Writes a process of a block, with a thread that has ended and a live one: by
 * no mapping, which is slow under the sanitizers. */
static void
write_process(int fd, struct session_header *header, unsigned index)
{
    const uint64_t head = counts_at(index), thread = head + THREADS_AT;
    const uint64_t strand = head + STRANDS_AT;
    static const struct counts_thread counted = {
        .totals[0].signal[SIGNAL_INSTRUCTIONS] = 15,
    };
    const struct counts_snapshot snapshot = {.boundary = 1};
    struct block_info info = {.instructions = 3, .odd_size = 2};

    info.fixed[SIGNAL_INSTRUCTIONS] = 3;
    write_at(fd, head + INFOS_AT, &info, sizeof(info));
    WRITE(thread, struct counts_thread, strand, 0);
    WRITE(thread, struct counts_thread, totals[0], counted.totals[0]);
    WRITE(thread, struct counts_thread, seal,
          counts_thread_seal(&counted, 1, head));
    write_at(fd, head + SNAPSHOTS_AT, &snapshot, sizeof(snapshot));
    WRITE(strand, struct counts_strand, thread, 1);
    WRITE(strand, struct counts_strand, suspect, 1);
    WRITE(strand, struct counts_strand, exec[0][0], 7);
    WRITE(head, struct counts_head, pid, 1 + (int)index);
    WRITE(head, struct counts_head, slices, 1);
    WRITE(head, struct counts_head, own_slices, 1);
    WRITE(head, struct counts_head, blocks, 1);
    WRITE(head, struct counts_head, strands, 1);
    WRITE(head, struct counts_head, threads, 1);
    WRITE(head, struct counts_head, snapshots, 1);
    WRITE(head, struct counts_head, state, COUNTS_RUNNING);
    atomic_fetch_add(&header->processes, 1);
}

static void
write_bytes(int fd, struct input *in)
{
    while (in->end - in->at > WRITE_HEAD) {
        const uint8_t *const b = in->at;
        const uint64_t at =
            place(b[0], b[1] | (uint64_t)b[2] << 8, b[3] | (uint64_t)b[4] << 8);
        const size_t left = (size_t)(in->end - b) - WRITE_HEAD;
        const size_t size = b[5] < left ? b[5] : left;
        write_at(fd, at, b + WRITE_HEAD, size);
        in->at += WRITE_HEAD + size;
    }
}

/* Seals the first record of a process, and its head, as the process would. */
static void
seal(int fd, unsigned index, unsigned slices)
{
    /* The head of the record and one slice: a whole one has 200 KB. */
    const size_t size =
        offsetof(struct counts_thread, totals) + slices * sizeof(struct totals);
    struct counts_thread *const thread = malloc(sizeof(*thread));
    struct counts_head head;
    const off_t at = (off_t)counts_at(index);

    fuzz_check(pread(fd, &head, sizeof(head), at) == (ssize_t)sizeof(head));
    fuzz_check(thread != NULL &&
               pread(fd, thread, size, at + (off_t)THREADS_AT) ==
                   (ssize_t)size);
    thread->seal = counts_thread_seal(thread, slices, counts_at(index));
    head.seal = counts_head_seal(&head, thread->seal);
    WRITE(counts_at(index) + THREADS_AT, struct counts_thread, seal,
          thread->seal);
    free(thread);
    WRITE(counts_at(index), struct counts_head, seal, head.seal);
}

static void
check(const struct session_result *r, const struct counts_rules *rules)
{
    for (size_t i = 0; i < r->thread_count; i++) {
        fuzz_check(r->threads[i].process < r->process_count);
        fuzz_check(r->threads[i].strand < rules->strands);
    }
    for (size_t i = 0; i < r->process_count; i++) {
        fuzz_check(memchr(r->processes[i].program, '\0', COUNTS_NAME) != NULL);
        fuzz_check(r->processes[i].pid > 0);
    }
    for (size_t i = 0; i < r->capture_count; i++)
        fuzz_check(r->captures[i].record.level < CAPTURE_LEVELS);
    for (size_t i = 0; i < r->inconsistent_count; i++)
        fuzz_check(r->inconsistent[i].why[0] != '\0');
    fuzz_check(r->illegal.size <= sizeof(r->illegal.bytes));
    for (unsigned i = 0; i < SESSION_UNCOUNTED; i++)
        fuzz_check(memchr(r->uncounted_names[i], '\0', COUNTS_NAME) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct machine_row *machine = machine_find("ultrasparc-t2");
    const unsigned asked = size > 0 ? data[0] : 0;
    struct session_request request = {
        .slices = 1,
        .data_count = 0,
        .components = asked & 2 ? COMPONENT_TIME : 0,
    };
    const struct session_options options = {
        .machine = machine,
        .params = request.params,
        .interval_ms = asked & 1,
    };
    struct session_result result = {.components = request.components,
                                    .status = 4};
    struct input in = {data + (size > 0), data + size};
    struct session_header *header;
    int fd;

    if (size > LONGEST)
        return -1;
    for (size_t i = 0; i < PARAM_COUNT; i++)
        request.params[i] = machine->params[i].value;
    fuzz_check(session_create(&request, NULL, &fd, &header) == 0);
    write_process(fd, header, 0);
    write_process(fd, header, 1);
    write_bytes(fd, &in);
    const struct counts_rules rules = counts_rules_of(&request);
    if (asked & 4) {
        seal(fd, 0, rules.slices);
        seal(fd, 1, rules.slices);
    }
    if (session_collect(&options, fd, &request, &result) == 0)
        check(&result, &rules);
    session_result_finish(&result);
    session_destroy(fd, header);
    return 0;
}
