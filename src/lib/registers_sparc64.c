/* SPDX-License-Identifier: MIT */
/*
 * Lets SPARC code that reads and writes %pcr and %pic, and on SPARC T4 the ASIs
 * of the performance registers, run unmodified under `tally count`: linked with
 * a program, or preloaded.
 *
 * QEMU's user mode knows neither register and raises SIGILL; the handler here
 * asks the emulated monitor and goes on after the instruction. Access is
 * hyperprivileged, as for the driver that such code is a part of; with
 * TALLY_REGISTERS=user it is the program's own, and what the machine would
 * refuse dies of SIGILL. On accesses by ASI QEMU dies: where the machine is
 * sparc-t4, those with the ASI in the instruction are replaced before main() by
 * ILLTRAPs that say the same. %tick and %stick QEMU executes itself: they show
 * the host's time, not the machine's.
 */
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tally/guest.h"

#define BIAS 2047
#define ASI_PIC 0xb0 /* TABLE 10-2 of the SPARC T4 supplement */
#define ASI_PCR 0x64
#define REGISTERS 8

/* QEMU passes no ucontext: the registers lie behind the siginfo. */
struct frame {
    unsigned char info[128];
    uint64_t u_regs[16]; /* globals and outs */
    uint64_t tstate, tpc, tnpc;
};

/* Set before main(), constant from then on. */
static struct {
    struct tally_guest *guest;
    enum tally_pmu_level level;
    int pcr, pic;              /* their ids, or negative */
    int pcrs[4], pics[4];      /* of SPARC T4 */
    struct sigaction previous; /* of SIGILL */
} self;

/* What an instruction does to a register of the monitor. */
struct access {
    int id;
    bool store;
    unsigned rd;
    uint64_t value; /* to store */
};

/* Returns a register of the interrupted code; locals and ins are in `window`.
 */
static uint64_t
get(const struct frame *f, const uint64_t *window, unsigned reg)
{
    if (reg == 0)
        return 0;
    return reg < 16 ? f->u_regs[reg] : window[reg - 16];
}

static void
put(struct frame *f, uint64_t *window, unsigned reg, uint64_t value)
{
    if (reg == 0)
        return;
    if (reg < 16)
        f->u_regs[reg] = value;
    else
        window[reg - 16] = value;
}

/* rs2 or simm13. */
static uint64_t
operand(const struct frame *f, const uint64_t *window, uint32_t insn)
{
    if (insn >> 13 & 1)
        return (uint64_t)((int64_t)((uint64_t)insn << 51) >> 51);
    return get(f, window, insn & 31);
}

static int
asr_id(unsigned number)
{
    return number == 16 ? self.pcr : number == 17 ? self.pic : -1;
}

static int
asi_id(bool pcr, uint64_t addr)
{
    if ((addr & 7) != 0 || addr > 0x18)
        return -1;
    return pcr ? self.pcrs[addr >> 3] : self.pics[addr >> 3];
}

/*
 * ILLTRAP in place of LDXA or STXA with a register and an ASI: its constant is
 * a mark in bits 21 to 17, bit 16 of a store, 15 of a PCR, then rd, rs1, rs2.
 */
#define MARK 0x15u

static uint32_t
trap_for(uint32_t insn)
{
    const uint32_t op3 = insn >> 19 & 63, asi = insn >> 5 & 255;
    const bool load = op3 == 0x1b, store = op3 == 0x1e;

    if (insn >> 30 != 3 || (!load && !store) || (insn >> 13 & 1) ||
        (asi != ASI_PIC && asi != ASI_PCR))
        return 0;
    return MARK << 17 | (uint32_t)store << 16 |
           (uint32_t)(asi == ASI_PCR) << 15 | (insn >> 25 & 31) << 10 |
           (insn >> 14 & 31) << 5 | (insn & 31);
}

static bool
decode(const struct frame *f, const uint64_t *window, uint32_t insn,
       struct access *a)
{
    const uint32_t op3 = insn >> 19 & 63, rs1 = insn >> 14 & 31;

    *a = (struct access){.id = -1, .rd = insn >> 25 & 31};
    if (insn >> 30 == 2 && op3 == 0x28) { /* RDASR */
        a->id = asr_id(rs1);
    } else if (insn >> 30 == 2 && op3 == 0x30) { /* WRASR */
        a->id = asr_id(a->rd);
        a->store = true;
        a->value = get(f, window, rs1) ^ operand(f, window, insn);
    } else if (insn >> 22 == 0 && (insn >> 17 & 31) == MARK) {
        a->rd = insn >> 10 & 31;
        a->store = insn >> 16 & 1;
        a->value = get(f, window, a->rd);
        a->id = asi_id(insn >> 15 & 1, get(f, window, insn >> 5 & 31) +
                                           get(f, window, insn & 31));
    }
    return a->id >= 0;
}

static bool
emulate(struct frame *f, uint64_t *window)
{
    uint64_t value = 0;
    uint32_t insn;
    struct access a;

    memcpy(&insn, (const void *)(uintptr_t)f->tpc, sizeof(insn));
    if (!decode(f, window, insn, &a))
        return false;
    if (a.store)
        return tally_guest_write(self.guest, a.id, self.level, a.value) == 0;
    if (tally_guest_read(self.guest, a.id, self.level, &value) != 0)
        return false;
    put(f, window, a.rd, value);
    return true;
}

static void
on_illegal(int number, siginfo_t *info, void *context)
{
    struct frame *f = (struct frame *)(void *)info;
    uintptr_t frame;

    /* The window of the interrupted code, to memory and back on return. */
    __asm__ volatile("flushw\n\tmov %%fp, %0" : "=r"(frame) : : "memory");
    if (emulate(f, (uint64_t *)(frame + BIAS))) {
        f->tpc = f->tnpc;
        f->tnpc += 4;
    } else if (self.previous.sa_flags & SA_SIGINFO) {
        self.previous.sa_sigaction(number, info, context);
    } else if (self.previous.sa_handler != SIG_DFL &&
               self.previous.sa_handler != SIG_IGN) {
        self.previous.sa_handler(number);
    } else {
        signal(SIGILL, SIG_DFL); /* it is met again */
    }
}

static void
replace(uint32_t *code, size_t count)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)code / page * page;
    const size_t size = (uintptr_t)(code + count) - from;
    bool writable = false;

    for (size_t i = 0; i < count; i++) {
        const uint32_t trap = trap_for(code[i]);
        if (trap == 0)
            continue;
        if (!writable && mprotect((void *)from, size,
                                  PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return;
        writable = true;
        code[i] = trap;
    }
    if (writable)
        mprotect((void *)from, size, PROT_READ | PROT_EXEC);
}

static int
replace_in(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size, (void)user;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
            replace((uint32_t *)(uintptr_t)(object->dlpi_addr + p->p_vaddr),
                    p->p_filesz / sizeof(uint32_t));
    }
    return 0;
}

static void
find_registers(void)
{
    char name[] = "PCR0";

    self.pcr = tally_guest_find(self.guest, "PCR");
    self.pic = tally_guest_find(self.guest, "PIC");
    for (int i = 0; i < 4; i++) {
        name[3] = (char)('0' + i);
        memcpy(name, "PCR", 3);
        self.pcrs[i] = tally_guest_find(self.guest, name);
        memcpy(name, "PIC", 3);
        self.pics[i] = tally_guest_find(self.guest, name);
    }
}

__attribute__((constructor)) static void
install(void)
{
    const char *level = getenv("TALLY_REGISTERS");
    struct sigaction action;

    if (tally_guest_open(NULL, &self.guest) != 0)
        return; /* on a processor, which has them or has not */
    self.level = level != NULL && strcmp(level, "user") == 0
                     ? TALLY_PMU_USER
                     : TALLY_PMU_HYPERPRIVILEGED;
    find_registers();
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_illegal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, &self.previous);
    if (strcmp(tally_guest_machine(self.guest), "sparc-t4") == 0)
        dl_iterate_phdr(replace_in, NULL);
}
