/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/qemu.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Functions that only some versions of QEMU have: in the others their addresses
 * are NULL. */
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
__attribute__((weak)) void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
                                         enum qemu_plugin_op op, void *at,
                                         uint64_t add);
/* These three came with the versions 2, 3 and 4; that they are there tells the
 * version, and none is called. */
__attribute__((weak)) void *qemu_plugin_scoreboard_new(size_t size);
__attribute__((weak)) void qemu_plugin_register_vcpu_tb_exec_cond_cb(void);
__attribute__((weak)) void qemu_plugin_read_memory_vaddr(void);

/* What qemu_plugin_insn_data() is from version 3 on. */
size_t copy_insn_data(const struct qemu_plugin_insn *insn, void *to,
                      size_t size) __asm__("qemu_plugin_insn_data");

int qemu_plugin_version = 1;

/* QEMU's own version of the interface, which may be newer. */
static int version = 1;

/* QEMU reads the number once the plugin is loaded, so a constructor may choose
 * it by what QEMU offers. */
static __attribute__((constructor)) void
choose_version(void)
{
    if (qemu_plugin_register_vcpu_tb_exec_inline == NULL &&
        qemu_plugin_scoreboard_new != NULL)
        qemu_plugin_version =
            qemu_plugin_read_memory_vaddr != NULL               ? 4
            : qemu_plugin_register_vcpu_tb_exec_cond_cb != NULL ? 3
                                                                : 2;
}

const char *
qemu_begin(const qemu_info_t *info)
{
    version = info->version.cur;
    if (info->system_emulation)
        return "only user-mode QEMU is supported";
    if (qemu_plugin_path_to_binary == NULL || qemu_plugin_start_code == NULL)
        return "this QEMU lacks the functions that say where its program is, "
               "as QEMU 10.0 does; --qemu FILE names another one";
    return NULL;
}

const uint8_t *
qemu_insn_bytes(const struct qemu_plugin_insn *insn,
                uint8_t room[QEMU_INSN_BYTES])
{
    if (version < 3)
        return qemu_plugin_insn_data(insn);
    copy_insn_data(insn, room, QEMU_INSN_BYTES);
    return room;
}

bool
qemu_can_add(void)
{
    return qemu_plugin_register_vcpu_tb_exec_inline != NULL;
}

bool
qemu_begins_late(void)
{
    return version > 1;
}

bool
qemu_has_execveat(void)
{
    return version > 1;
}

int
qemu_host_signal(int number)
{
    if (version < 2)
        return number;
    /* The first two real-time signals of the host are QEMU's own: the second
     * stands for the guest's SIGABRT. */
    if (number == SIGABRT)
        return SIGRTMIN + 1;
    if (number < SIGRTMIN)
        return number;
    return number + 2 <= SIGRTMAX ? number + 2 : 0;
}

void
qemu_signal_thread(int number)
{
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid),
            qemu_host_signal(number));
}

void
qemu_register_add(struct qemu_plugin_tb *tb, uint64_t *number, uint64_t add)
{
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
                                             number, add);
}
