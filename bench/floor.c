/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest plugin that sees every block and every access: two empty
 * callbacks. Its time is the cost of QEMU's plugin interface. The time that
 * tally takes beyond it is the cost of the model.
 */
#include "plugin/qemu_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;
QEMU_PLUGIN_EXPORT int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv);

static void
block_entered(unsigned vcpu, void *data)
{
    (void)vcpu;
    (void)data;
}

static void
memory_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
                void *data)
{
    (void)vcpu;
    (void)info;
    (void)addr;
    (void)data;
}

static void
block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_entered,
                                         QEMU_PLUGIN_CB_NO_REGS, NULL);
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_mem_cb(
            qemu_plugin_tb_get_insn(tb, i), memory_accessed,
            QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
