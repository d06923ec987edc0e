/* SPDX-License-Identifier: MIT */
/*
 * A guest program's requests to the plugin, below a QEMU that does nothing: the
 * input is a list of steps, each a byte for what is done, one for the vCPU, two
 * for the place in the guest's memory, one for the number of bytes, and bytes
 * that are written there before. Whatever the guest writes, where it has memory
 * or not, the plugin goes on and writes nowhere but into the answer.
 */
#include "plugin/plugin.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "plugin/gateway_read.h"
#include "plugin/guest_pmu.h"
#include "plugin/vcounter_processes.h"
#include "plugin/watch.h"

#ifndef MACHINE
#define MACHINE "r10000"
#define MACHINE_ISA ISA_MIPS64
#define PRCTL 5153
#endif

#define HEAD 5
#define PAGE 4096u
#define PAGES 4u
#define GUEST ((unsigned char *)0x10000000)
#define VCPUS 3u
#define THREADS 64u /* that an input can make begin */

enum step {
    STEP_HELLO,
    STEP_EVENTS,
    STEP_READ,
    STEP_REGISTER,
    STEP_WATCH,
    STEP_VIRTUAL,
    STEP_ASK,    /* the address goes into the thread's page */
    STEP_BLOCK,  /* the thread executes instructions */
    STEP_SHARED, /* the bytes go into the memory that the plugin shows */
    STEP_THREAD, /* begins, or ends */
    STEP_UNMAP,  /* the last page goes, or comes back */
    STEP_COUNT
};

/* QEMU */

static struct {
    qemu_plugin_vcpu_simple_cb_t begin, end;
    qemu_plugin_vcpu_syscall_cb_t call;
    qemu_plugin_vcpu_syscall_ret_cb_t returned;
    qemu_plugin_simple_cb_t reset; /* wanted, NULL: not */
} qemu;

void
qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb)
{
    (void)id;
    qemu.reset = cb;
}

void
qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
                                  qemu_plugin_vcpu_simple_cb_t cb)
{
    (void)id;
    qemu.begin = cb;
}

void
qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
                                  qemu_plugin_vcpu_simple_cb_t cb)
{
    (void)id;
    qemu.end = cb;
}

void
qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
                                     qemu_plugin_vcpu_syscall_cb_t cb)
{
    (void)id;
    qemu.call = cb;
}

void
qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                         qemu_plugin_vcpu_syscall_ret_cb_t cb)
{
    (void)id;
    qemu.returned = cb;
}

/* What no step comes to: nothing is translated here. */
#define UNUSED(type, name, ...) \
    type name(__VA_ARGS__)      \
    {                           \
        abort();                \
    }
void
qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
                               void *data)
{
    (void)id, (void)cb, (void)data;
}
void
qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                      qemu_plugin_vcpu_tb_trans_cb_t cb)
{
    (void)id, (void)cb;
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
UNUSED(void, qemu_plugin_register_vcpu_tb_exec_cb, struct qemu_plugin_tb *tb,
       qemu_plugin_vcpu_udata_cb_t cb, enum qemu_plugin_cb_flags flags,
       void *data)
UNUSED(void, qemu_plugin_register_vcpu_insn_exec_cb,
       struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
       enum qemu_plugin_cb_flags flags, void *data)
UNUSED(void, qemu_plugin_register_vcpu_mem_cb, struct qemu_plugin_insn *insn,
       qemu_plugin_vcpu_mem_cb_t cb, enum qemu_plugin_cb_flags flags,
       enum qemu_plugin_mem_rw rw, void *data)
UNUSED(size_t, qemu_plugin_tb_n_insns, const struct qemu_plugin_tb *tb)
UNUSED(uint64_t, qemu_plugin_tb_vaddr, const struct qemu_plugin_tb *tb)
UNUSED(struct qemu_plugin_insn *, qemu_plugin_tb_get_insn,
       const struct qemu_plugin_tb *tb, size_t index)
UNUSED(const void *, qemu_plugin_insn_data, const struct qemu_plugin_insn *insn)
UNUSED(size_t, qemu_plugin_insn_size, const struct qemu_plugin_insn *insn)
UNUSED(uint64_t, qemu_plugin_insn_vaddr, const struct qemu_plugin_insn *insn)
UNUSED(bool, qemu_plugin_mem_is_store, qemu_plugin_meminfo_t info)
UNUSED(unsigned, qemu_plugin_mem_size_shift, qemu_plugin_meminfo_t info)
UNUSED(const char *, qemu_plugin_path_to_binary, void)
UNUSED(uint64_t, qemu_plugin_start_code, void)
UNUSED(void, qemu_plugin_outs, const char *text)
#pragma GCC diagnostic pop

/* The entry of the plugin, which QEMU finds by its name. */
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                        char **argv);

/* The guest */

#ifndef RECORDED
static unsigned char before[PAGES * PAGE];
#endif
static bool is_mapped[PAGES];

/* Returns how many of the bytes are in the guest's memory from `at` on: the
 * fuzzer's own, which is in the same process, counts as none. */
static size_t
reach(uint64_t at, size_t size)
{
    const uint64_t first = at - (uint64_t)(uintptr_t)GUEST;
    uint64_t end = first;

    while (end < PAGES * PAGE && is_mapped[end / PAGE] && end - first < size)
        end += PAGE - end % PAGE;
    return end - first < size ? end - first : size;
}

/* The kernel's, as the plugin calls them: with one piece on either side. */
ssize_t
process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                 const struct iovec *from, unsigned long from_count,
                 unsigned long flags)
{
    const size_t size =
        reach((uint64_t)(uintptr_t)from->iov_base, from->iov_len);

    (void)pid, (void)flags;
    fuzz_check(to_count == 1 && from_count == 1);
    if (size > 0)
        memcpy(to->iov_base, from->iov_base, size);
    return (ssize_t)size;
}

ssize_t
process_vm_writev(pid_t pid, const struct iovec *from, unsigned long from_count,
                  const struct iovec *to, unsigned long to_count,
                  unsigned long flags)
{
    const size_t size = reach((uint64_t)(uintptr_t)to->iov_base, to->iov_len);

    (void)pid, (void)flags;
    fuzz_check(to_count == 1 && from_count == 1);
    if (size > 0)
        memcpy(to->iov_base, from->iov_base, size);
    return (ssize_t)size;
}

static void
map_page(unsigned page, bool mapped)
{
    void *const at = GUEST + page * PAGE;

    if (mapped && !is_mapped[page])
        fuzz_check(mmap(at, PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    if (!mapped && is_mapped[page])
        fuzz_check(munmap(at, PAGE) == 0);
    is_mapped[page] = mapped;
}

static void
start_session(void)
{
    const struct machine_row *const machine = machine_find(MACHINE);
    struct session_request request = {
        .machine = (uint32_t)(machine - tally_machines),
        .isa = MACHINE_ISA,
        .slices = 1,
        .span = SPAN_ALL,
#ifdef RECORDED
        .records = RECORDS_CALLERS,
        .objects = "/nowhere/tally-allocations.so",
        .all_accesses = 1,
        .components = COMPONENT_L1D,
#endif
    };
    const qemu_info_t info = {.system_emulation = false};
    char place[SESSION_PLACE], argument[SESSION_PLACE + 16];
    char *argv[] = {argument};
    struct session_header *header;
    int fd;

    for (size_t i = 0; i < PARAM_COUNT; i++)
        request.params[i] = machine->params[i].value;
    fuzz_check(session_create(&request, NULL, &fd, &header) == 0);
    fuzz_check(session_place(fd, &request, place, sizeof(place)) == 0);
    snprintf(argument, sizeof(argument), "session=%s", place);
    fuzz_check(qemu_plugin_install(1, &info, 1, argv) == 0);
    qemu.begin(1, 0);
}

#ifndef RECORDED /* fuzz/objects.c has steps of its own */
static void
make_call(unsigned vcpu, int64_t number, uint64_t operation, uint64_t at)
{
    qemu.call(1, vcpu, number, operation, at, 0, 0, 0, 0, 0, 0);
    if (qemu.reset != NULL) {
        const qemu_plugin_simple_cb_t reset = qemu.reset;
        qemu.reset = NULL;
        reset(1);
    }
    qemu.returned(1, vcpu, number, 0);
}

/* A signal is the guest's own affair: none is sent here. A process that is odd
 * is this one. */
static void
forbid_signals(enum step step, uint64_t at)
{
    const uint64_t none = 0, own = gateway_word((uint64_t)getpid());
    uint64_t target;

    if (step == STEP_WATCH)
        plugin_write(at + offsetof(struct gateway_watch, signal), &none, 8);
    if (step != STEP_VIRTUAL)
        return;
    at += offsetof(struct gateway_virtual, target);
    plugin_write(at + offsetof(struct gateway_virtual, host_signal) -
                     offsetof(struct gateway_virtual, target),
                 &none, 8);
    if (plugin_read_word(tally_plugin.shape.isa, at, &target) &&
        (target & 1) != 0)
        plugin_write(at, &own, 8);
}

/* Where an answer may be written. */
struct answer {
    uint64_t at[3], size[3];
};

static void
allow(struct answer *a, unsigned index, uint64_t at, uint64_t size)
{
    a->at[index] = at;
    a->size[index] = size;
}

/* Allows rows of a size: no answer is larger than the guest's memory. */
static void
allow_rows(struct answer *a, unsigned index, uint64_t at, uint64_t count,
           size_t row)
{
    const uint64_t most = (uint64_t)PAGES * PAGE;

    allow(a, index, at, count < most / row ? count * row : most);
}

static struct answer
answer_of(enum step step, uint64_t at)
{
    struct answer a = {0};
    struct gateway_events events;
    struct gateway_read read;

    switch (step) {
    case STEP_HELLO:
        allow(&a, 0, at, sizeof(struct gateway_hello));
        break;
    case STEP_EVENTS:
        allow(&a, 0, at, sizeof(events));
        if (plugin_read(at, &events, sizeof(events)))
            allow_rows(&a, 1, gateway_word(events.rows),
                       gateway_word(events.room), sizeof(struct gateway_event));
        break;
    case STEP_READ:
    case STEP_ASK:
        allow(&a, 0, at + offsetof(struct gateway_read, threads), 8);
        if (plugin_read(at, &read, sizeof(read)))
            allow_rows(&a, 1, gateway_word(read.values),
                       gateway_word(read.count), 8);
        break;
    case STEP_REGISTER:
        allow(&a, 0, at, sizeof(struct gateway_register));
        break;
    case STEP_WATCH:
        allow(&a, 0, at, sizeof(struct gateway_watch));
        break;
    case STEP_VIRTUAL:
        allow(&a, 0, at, sizeof(struct gateway_virtual));
        break;
    default:
        break;
    }
    return a;
}

/* Checks that nothing has changed but the answer. A profile's buckets are where
 * the guest said at any time before. */
static void
check_page(const struct answer *a, unsigned page)
{
    for (uint64_t i = (uint64_t)page * PAGE; i < (page + 1) * PAGE; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)GUEST + i;
        bool allowed = GUEST[i] == before[i];
        for (unsigned k = 0; k < 3 && !allowed; k++)
            allowed = at - a->at[k] < a->size[k];
        fuzz_check(allowed);
    }
}

static void
check_memory(const struct answer *a)
{
    for (unsigned i = 0; i < PAGES; i++)
        if (is_mapped[i] &&
            memcmp(GUEST + i * PAGE, before + i * PAGE, PAGE) != 0)
            check_page(a, i);
}

static void
write_bytes(uint64_t at, const uint8_t *bytes, size_t size)
{
    plugin_write(at, bytes, size);
}

static void
write_shared(uint64_t place, const uint8_t *bytes, size_t size)
{
    struct gateway_memory *const m = tally_plugin.gateway.memory;

    if (m == NULL)
        return;
    const uint64_t near = sizeof(m->page) + 4 * sizeof(m->live[0]);
    unsigned char *const to =
        place < near ? (unsigned char *)m + place
                     : (unsigned char *)m->rings + place % sizeof(m->rings[0]);
    memcpy(to, bytes, size);
}

/* The thread executes a block of the kind that these numbers say. */
static void
execute(unsigned vcpu, const uint8_t *bytes, size_t size)
{
    int16_t fixed[SIGNAL_FIXED_COUNT] = {0};

    for (size_t i = 0; i < size && i < SIGNAL_FIXED_COUNT; i++)
        fixed[i] = (int16_t)bytes[i];
    gateway_add(tally_plugin.strands[vcpu], vcpu, fixed, 0x4000);
}

static void
toggle_thread(unsigned vcpu)
{
    if (vcpu == 0)
        return;
    if (tally_plugin.strands[vcpu] != NULL)
        qemu.end(1, vcpu);
    else if (tally_plugin.thread_count < THREADS) {
        make_call(0, 1, 0, 0); /* a thread that lives makes the new one */
        qemu.begin(1, vcpu);
    }
}

static void
take_step(enum step step, unsigned vcpu, uint64_t at, const uint8_t *bytes,
          size_t size)
{
    static const enum gateway_operation operations[STEP_COUNT] = {
        [STEP_EVENTS] = GATEWAY_EVENTS,     [STEP_READ] = GATEWAY_READ,
        [STEP_REGISTER] = GATEWAY_REGISTER, [STEP_WATCH] = GATEWAY_WATCH,
        [STEP_VIRTUAL] = GATEWAY_VIRTUAL,
    };
    const uint64_t place = at - (uint64_t)(uintptr_t)GUEST;

    if (step == STEP_THREAD)
        toggle_thread(vcpu);
    if (tally_plugin.strands[vcpu] == NULL)
        return;
    if (step == STEP_SHARED)
        write_shared(place, bytes, size);
    if (step == STEP_BLOCK)
        execute(vcpu, bytes, size);
    if (step == STEP_UNMAP)
        map_page(PAGES - 1, !is_mapped[PAGES - 1]);
    if (step >= STEP_SHARED || step == STEP_BLOCK) {
        make_call(vcpu, 1, 0, 0); /* as a call that changes memory does */
        return;
    }
    write_bytes(at, bytes, size);
    forbid_signals(step, at);
    for (unsigned i = 0; i < PAGES; i++)
        if (is_mapped[i])
            memcpy(before + i * PAGE, GUEST + i * PAGE, PAGE);
    const struct answer answer = answer_of(step, at);
    if (step == STEP_HELLO)
        make_call(vcpu, PRCTL, GATEWAY_PRCTL, at);
    else if (step != STEP_ASK)
        make_call(vcpu, GATEWAY_CALL, operations[step], at);
    else if (tally_plugin.gateway.lives[vcpu] != NULL) {
        tally_plugin.gateway.lives[vcpu]->lookup = gateway_word(at);
        gateway_on_lookup(vcpu, NULL);
    }
    if (step != STEP_VIRTUAL)
        check_memory(&answer);
}

#endif

/* Leaves no thread, watch, handle or number of this input to the next. */
static void
begin_again(void)
{
    struct gateway_virtual q = {.target = gateway_word((uint64_t)getpid())};

    for (unsigned i = 1; i < VCPUS; i++)
        if (tally_plugin.strands[i] != NULL)
            qemu.end(1, i);
    for (unsigned i = 0; i < PAGES; i++) {
        map_page(i, true);
        memset(GUEST + i * PAGE, 0, PAGE);
    }
    if (atomic_load(&tally_plugin.session->vcounters_used)) {
        q.call = gateway_word(GATEWAY_SYSTEM_RELEASE);
        vcounter_answer(&q);
        q.call = gateway_word(GATEWAY_RELEASE);
        vcounter_answer(&q);
    }
    if (tally_plugin.gateway.memory != NULL) {
        memset(&tally_plugin.gateway.memory->page, 0,
               sizeof(struct gateway_page));
        memset(tally_plugin.gateway.memory->live, 0,
               VCPUS * sizeof(struct gateway_live));
        memset(tally_plugin.gateway.memory->rings, 0,
               VCPUS * sizeof(struct gateway_ring));
    }
    tally_plugin.counts[0]->thread = tally_plugin.counts[0]->maker = 0;
    tally_plugin.thread_count = 1;
    guest_pmu_forget();
    for (unsigned i = 0; i < VCPUS; i++)
        watch_stop(i);
    for (unsigned i = 0; i < THREADS; i++) {
        free(tally_plugin.gateway.ended[i]);
        tally_plugin.gateway.ended[i] = NULL;
    }
    tally_plugin.gateway.lives[0] = NULL;
    gateway_thread_starts(0, 0);
}

#ifndef RECORDED
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (qemu.call == NULL)
        start_session();
    begin_again();
    while (size >= HEAD) {
        const enum step step = (enum step)(data[0] % STEP_COUNT);
        const unsigned vcpu = data[1] % VCPUS;
        const uint64_t place = data[2] | (uint64_t)data[3] << 8;
        const size_t left = size - HEAD;
        const size_t count = data[4] < left ? data[4] : left;
        /* Behind the memory there is none; far behind, no address at all. */
        const uint64_t at = place < 0xff00 ? (uint64_t)(uintptr_t)GUEST +
                                                 place % (PAGES * PAGE + 64)
                                           : UINT64_MAX - (0xffff - place);
        take_step(step, vcpu, at, data + HEAD, count);
        data += HEAD + count;
        size -= HEAD + count;
    }
    return 0;
}
#endif
