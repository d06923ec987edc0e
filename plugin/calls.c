/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/calls.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/recorder.h"

bool
call_changes_rights(const struct isa *isa, int64_t number)
{
    for (int call = CALL_SETUID; call <= CALL_MOVE_MOUNT; call++) {
        if (call_is((enum system_call)call, isa, number))
            return true;
    }
    return false;
}

/* Returns whether what a file has to read comes when somebody writes it. */
static bool
comes_by_itself(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 &&
           (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) ||
            (S_ISCHR(file.st_mode) && isatty(fd)));
}

unsigned
call_asks(const struct isa *isa, int64_t number, uint64_t first, int64_t result)
{
    static const enum system_call timers[] = {CALL_GETITIMER,
                                              CALL_TIMER_GETTIME, CALL_COUNT};
    static const enum system_call numbers[] = {CALL_GETPID, CALL_GETPPID,
                                               CALL_COUNT};
    static const enum system_call connections[] = {CALL_CONNECT, CALL_ACCEPT,
                                                   CALL_ACCEPT4, CALL_COUNT};

    if (call_is_any(numbers, isa, number))
        return ASKED_NUMBER;
    if (call_is(CALL_SYSINFO, isa, number))
        return ASKED_SYSTEM;
    if (call_is_any(timers, isa, number))
        return ASKED_TIMER;
    if (first == STDIN_FILENO && call_reads(isa, number))
        return comes_by_itself(STDIN_FILENO) ? ASKED_INPUT : 0;
    /* Where there is nobody to connect to, the program goes another way. */
    return call_is_any(connections, isa, number) && result != -ENOENT
               ? ASKED_CONNECTION
               : 0;
}

void
call_count(struct strand *s, const struct isa *isa, int64_t number)
{
    s->total[SIGNAL_SYSTEM_CALLS]++;
    s->total[SIGNAL_YIELDS] += call_is(CALL_SCHED_YIELD, isa, number);
}

static void
count_pause(unsigned vcpu, void *data)
{
    struct strand *const *const strands = data;

    if (strands[vcpu] != NULL)
        strands[vcpu]->total[SIGNAL_PAUSES]++;
    if (strands[vcpu] != NULL)
        strand_charge(strands[vcpu], RECORD_LAST);
}

void
call_register_pauses(const struct chip *chip, struct strand **strands,
                     struct qemu_plugin_tb *tb, const struct insn *insns,
                     size_t count)
{
    if (chip->params[PARAM_TIME_SWITCH] == 0 ||
        (chip->components & COMPONENT_TIME) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].flags & INSN_PAUSE)
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, i), count_pause,
                QEMU_PLUGIN_CB_NO_REGS, (void *)strands);
    }
}
