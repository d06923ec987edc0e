/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: a QEMU block becomes a block record and its callbacks. */
#ifndef TALLY_PLUGIN_TRANSLATE_H
#define TALLY_PLUGIN_TRANSLATE_H

#include "isa/recent.h"
#include "plugin/qemu_api.h"

#define TRANSLATION_INSNS 1024

/* One of QEMU's blocks while it is being translated. */
struct translation {
    struct qemu_plugin_tb *tb;
    size_t count;
    struct insn insns[TRANSLATION_INSNS];
    bool tells[TRANSLATION_INSNS];    /* it is an access that tells a prefetch's
                                         address */
    size_t teller[TRANSLATION_INSNS]; /* for a prefetch: the access that tells
                                         it, or `count` */
    int64_t distance[TRANSLATION_INSNS];
    uint64_t hash;
    uint32_t image, code; /* as in struct record_place */
    bool code_kept;
    uint32_t index; /* of the block, or RECORD_NO_ROOM */
};

#define DATA_SIGNALS 12

/* An instruction that accesses data, as --filter data= counts it. */
struct data_insn {
    void *data;     /* of the callback that its accesses have otherwise */
    uint8_t access; /* enum insn_access */
    uint8_t loads;  /* loads that may count, each once */
    uint8_t stores;
    bool conditional;
    bool bulk; /* a block load or twin load, where these are told apart */
    uint8_t signal_count;
    uint8_t signals[DATA_SIGNALS]; /* those that count once an execution */
};

/* Under the lock of translation. */
struct translator {
    struct insn_recent recent;
    void *data_insns; /* struct data_insn by content, tsearch(3) */
    struct translation translation; /* of the block that is being translated */
    struct ooo_block *ooo; /* room for any block; NULL until one is made */
};

/* Registers the callbacks of a translated block. */
void plugin_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

#endif
