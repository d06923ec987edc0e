/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/calls.h"

#include "plugin/plugin.h"

/* Each call's numbers on sparc64, on mips64 (the n64 ABI), on x86-64; -1: the
 * architecture has no such call. */
static const struct {
    int64_t sparc, mips, x86;
} numbers[] = {
    [CALL_EXECVE] = {59, 5057, 59},
    [CALL_EXECVEAT] = {350, 5316, 322},
    [CALL_SCHED_YIELD] = {245, 5023, 24},
    [CALL_READ] = {3, 5000, 0},
    [CALL_WRITE] = {4, 5001, 1},
    [CALL_PREAD] = {67, 5016, 17},
    [CALL_READV] = {120, 5018, 19},
    [CALL_PREADV] = {324, 5289, 295},
    [CALL_GETRANDOM] = {347, 5313, 318},
    [CALL_SENDFILE] = {39, 5039, 40},
    [CALL_SENDFILE64] = {140, -1, -1},
    [CALL_SPLICE] = {232, 5263, 275},
    [CALL_RECVFROM] = {125, 5044, 45},
    [CALL_RECVMSG] = {113, 5046, 47},
    [CALL_WAIT4] = {7, 5059, 61},
    [CALL_WAITPID] = {212, -1, -1},
    [CALL_WAITID] = {279, 5237, 247},
    [CALL_POLL] = {153, 5007, 7},
    [CALL_PPOLL] = {298, 5261, 271},
    [CALL_SELECT] = {93, 5022, 23},
    [CALL_NEWSELECT] = {230, -1, -1},
    [CALL_PSELECT6] = {297, 5260, 270},
    [CALL_EPOLL_WAIT] = {195, 5209, 232},
    [CALL_EPOLL_PWAIT] = {309, 5272, 281},
    [CALL_RT_SIGRETURN] = {101, 5211, 15},
    [CALL_KILL] = {37, 5060, 62},
    [CALL_TKILL] = {187, 5192, 200},
    [CALL_TGKILL] = {211, 5225, 234},
    [CALL_PIDFD_SEND_SIGNAL] = {424, 5424, 424},
    [CALL_SETUID] = {23, 5103, 105},
    [CALL_SETGID] = {46, 5104, 106},
    [CALL_SETREUID] = {126, 5111, 113},
    [CALL_SETREGID] = {127, 5112, 114},
    [CALL_SETGROUPS] = {80, 5114, 116},
    [CALL_SETRESUID] = {108, 5115, 117},
    [CALL_SETRESGID] = {110, 5117, 119},
    [CALL_SETFSUID] = {228, 5120, 122},
    [CALL_SETFSGID] = {229, 5121, 123},
    [CALL_CAPSET] = {22, 5124, 126},
    [CALL_PIVOT_ROOT] = {146, 5151, 155},
    [CALL_CHROOT] = {61, 5156, 161},
    [CALL_MOUNT] = {167, 5160, 165},
    [CALL_UMOUNT2] = {45, 5161, 166},
    [CALL_UNSHARE] = {299, 5262, 272},
    [CALL_SETNS] = {337, 5303, 308},
    [CALL_MOVE_MOUNT] = {429, 5429, 429},
    [CALL_RT_SIGACTION] = {102, 5013, 13},
};

bool
call_is(enum call call, enum isa isa, int64_t number)
{
    return number == (isa == ISA_SPARC64 ? numbers[call].sparc
                      : isa_is_mips(isa) ? numbers[call].mips
                                         : numbers[call].x86);
}

bool
call_changes_rights(enum isa isa, int64_t number)
{
    for (int call = CALL_SETUID; call <= CALL_MOVE_MOUNT; call++) {
        if (call_is((enum call)call, isa, number))
            return true;
    }
    return false;
}

void
call_count(struct strand *s, enum isa isa, int64_t number)
{
    s->total[SIGNAL_SYSTEM_CALLS]++;
    s->total[SIGNAL_YIELDS] += call_is(CALL_SCHED_YIELD, isa, number);
}

static void
count_pause(unsigned vcpu, void *unused)
{
    (void)unused;
    if (tally_strands[vcpu] != NULL)
        tally_strands[vcpu]->total[SIGNAL_PAUSES]++;
}

void
call_register_pauses(const struct chip *chip, struct qemu_plugin_tb *tb,
                     const struct insn *insns, size_t count)
{
    if (chip->params[PARAM_TIME_SWITCH] == 0 || (chip->parts & PART_TIME) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].flags & INSN_PAUSE)
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, i), count_pause,
                QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}
