/* SPDX-License-Identifier: MIT */
/*
 * What a guest program reports of its memory, true or not: allocations, system
 * calls that change memory, stacks of threads, and accesses between them. The
 * input is a list of steps, each a byte for what is done, and words of three
 * bytes: a place to begin at and a distance from there. Whatever is reported,
 * each access is of an object that there is, and what allocators have given
 * adds up.
 */
#define RECORDED
#include "fuzz/gateway.c"

#include "machine/recorder.h"

#define WORDS 5u

enum objects_step {
    OBJECTS_ALLOCATION,
    OBJECTS_CALL,  /* that changes memory */
    OBJECTS_CLONE, /* a thread begins, on a stack */
    OBJECTS_ACCESS,
    OBJECTS_OWN,  /* a function of the program gives memory */
    OBJECTS_CODE, /* the thread calls, or returns */
    OBJECTS_STEPS
};

static uint64_t
word_of(const uint8_t *bytes)
{
    static const uint64_t bases[] = {
        0,
        1,
        0x10000000,
        UINT64_C(1) << 30,
        UINT64_C(1) << 32,
        (UINT64_C(1) << 46) - 4096,
        UINT64_C(1) << 48,
        UINT64_MAX - 65535,
    };
    const uint64_t distance = bytes[1] | (uint64_t)bytes[2] << 8;

    return bases[bytes[0] % 8] + distance * (bytes[0] & 8 ? 1 : 16);
}

/* Checks the object of an access, and what is known of all. */
static void
check_access(struct strand *s, uint64_t addr)
{
    const struct record_process *process = tally_plugin.recording.process;
    const uint32_t object = recorder_object(s, addr);
    const uint32_t count = atomic_load(&process->object_count);

    fuzz_check(object <= count && count <= RECORD_OBJECTS);
    recorder_stack_cell(s, addr);
    lines_ask(s->recorder->lines, addr);
    lines_touch(s->recorder->lines, addr + 3, 9);
    if (addr & 1)
        lines_fetch(s->recorder->lines, addr, object);
    lines_settle(s->recorder->lines);
    lines_touch(s->recorder->lines, addr, 8);
    fuzz_check(s->recorder->lines->uses[object].touched <=
               s->recorder->lines->uses[object].fetched);
}

/* The thread calls or returns, between two functions. */
static void
move(struct strand *s, uint8_t how, uint64_t pointer)
{
    static const struct block blocks[] = {
        {.pc = 0x1000,
         .end = 0x1010,
         .taken_pc = NO_LINE,
         .flags = BLOCK_CALL,
         .instructions = 4},
        {.pc = 0x2000,
         .end = 0x2010,
         .taken_pc = NO_LINE,
         .index = 1,
         .flags = BLOCK_BACK,
         .instructions = 4},
        {.pc = 0x1010,
         .end = 0x1020,
         .taken_pc = NO_LINE,
         .index = 2,
         .flags = BLOCK_CALL | BLOCK_INDIRECT,
         .instructions = 4},
    };

    callers_tell(s->callers, pointer);
    s->cell = callers_lead(s->callers, &blocks[how % 3]);
    callers_go(s->callers, &blocks[how % 3], s->cell);
}

/* Frees what an input has made. */
static void
end_objects(void)
{
    data_objects_end(&tally_plugin.recording.objects);
    recording_thread_ends(&tally_plugin, 0);
    tally_plugin.strands[0]->recorder = NULL;
    tally_plugin.strands[0]->callers = NULL;
}

/* Forgets what was recorded of the input before. */
static void
forget_objects(void)
{
    struct recording *r = &tally_plugin.recording;
    struct record_process *process = r->process;

    memset(process->objects, 0,
           atomic_load(&process->object_count) * sizeof(*process->objects));
    atomic_store(&process->object_count, 0);
    atomic_store(&process->call_count, 0);
    atomic_store(&process->text_size, 0);
    fuzz_check(data_objects_begin(&r->objects, process) == 0);
    recording_thread_starts(&tally_plugin, 0);
    fuzz_check(tally_plugin.strands[0]->recorder != NULL);
    memset(tally_plugin.strands[0]->recorder->record->uses, 0,
           sizeof(struct record_use) * 4096);
}

static void
take_objects_step(enum objects_step step, uint8_t how, const uint64_t *words)
{
    static const enum system_call calls[] = {CALL_MMAP, CALL_MUNMAP,
                                             CALL_MREMAP, CALL_BRK};
    const struct isa *const isa = tally_plugin.shape.isa;
    struct data_objects *const d = &tally_plugin.recording.objects;
    struct strand *const s = tally_plugin.strands[0];

    switch (step) {
    case OBJECTS_ALLOCATION:
        qemu.call(1, 0, GATEWAY_CALL, GATEWAY_ALLOCATION, how, words[0],
                  words[1], words[2], 0, 0, 0);
        break;
    case OBJECTS_CALL:
        data_objects_call(d, s->callers, isa, isa->calls[calls[how % 4]], words,
                          (int64_t)words[4]);
        break;
    case OBJECTS_CLONE:
        data_objects_thread(d, words[0]);
        break;
    case OBJECTS_ACCESS:
        check_access(s, words[0]);
        break;
    case OBJECTS_OWN:
        data_objects_give(d, data_objects_site(d, s->callers, "pool"), words[0],
                          words[1], words[2]);
        break;
    default:
        move(s, how, words[0]);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t length = 2 + 3 * WORDS;

    if (qemu.call == NULL) {
        start_session();
        end_objects();
    }
    begin_again();
    forget_objects();
    for (; size >= length; data += length, size -= length) {
        uint64_t words[WORDS + 1] = {0};
        for (size_t i = 0; i < WORDS; i++)
            words[i] = word_of(data + 2 + 3 * i);
        take_objects_step((enum objects_step)(data[0] % OBJECTS_STEPS), data[1],
                          words);
    }
    end_objects();
    return 0;
}
