/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU calls while the guest runs. Each callback is made from one inline
 * function with constants for all that a session does not count, so that the
 * session pays nothing for it. The constants have these dimensions:
 *
 * - The variant, enum callbacks_variant: one thread or many, read-after-write
 *   hits, misaligned accesses, a recording, a curve of misses. callbacks.c is
 * compiled once for each sum (meson.build) and makes one table, struct
 * callbacks.
 * - The work, enum block_work of machine/strand.h, a sum: what a block's entry
 *   does. The index of `enter` and `enter_with`.
 * - The touches, enum touch, two: the accesses that one call makes, the second
 *   of them TOUCH_NONE where the call makes one. The index of `access`, and the
 *   second and third index of `enter_with`.
 *
 * plugin.c chooses the variant, translate.c the callback of each block and of
 * each access.
 */
#ifndef TALLY_PLUGIN_CALLBACKS_H
#define TALLY_PLUGIN_CALLBACKS_H

#include "machine/strand.h"
#include "plugin/qemu_api.h"

/* Bits of a variant's number. */
enum callbacks_variant {
    VARIANT_MANY = 1 << 0,  /* the process has had more than one thread */
    VARIANT_RAW = 1 << 1,   /* COMPONENT_RAW: read-after-write hits */
    VARIANT_ALIGN = 1 << 2, /* COMPONENT_ALIGN: misaligned accesses */
    /* Records by instruction. With both of the two before or none: then it asks
     * which of their components run. */
    VARIANT_RECORD = 1 << 3,
    VARIANT_CALLERS = 1 << 4, /* with VARIANT_RECORD: by path of calls */
    VARIANT_CURVE = 1 << 5, /* without RAW and ALIGN: accesses and fetches make
                               a curve of misses (machine/curve.h) */
    VARIANTS = 1 << 6,
};

/* What a callback knows of an access. */
enum touch {
    TOUCH_NONE,
    TOUCH_LOAD,
    TOUCH_STORE,   /* allocates in the L1D */
    TOUCH_THROUGH, /* goes through to the L2 */
    TOUCHES,
};

#define WORKS (WORK_CLOCK << 1)

struct callbacks {
    /* Enters a block, the data. */
    qemu_plugin_vcpu_udata_cb_t enter[WORKS];
    /* Enters a block, the data, and makes its first accesses. The block has
     * the site of one (block.site) or the pair (block.pair). */
    qemu_plugin_vcpu_mem_cb_t enter_with[WORKS][TOUCHES][TOUCHES];
    /* Makes one access, access_site as data, or two, struct access_pair
     * as data. */
    qemu_plugin_vcpu_mem_cb_t access[TOUCHES][TOUCHES];
    /* Notes that a block was entered, the data, where edges are recorded:
     * behind the block's entry. */
    qemu_plugin_vcpu_udata_cb_t edge;
    qemu_plugin_vcpu_mem_cb_t edge_with;
    qemu_plugin_vcpu_udata_cb_t rare_block; /* enters a block: BLOCK_RARE */
    qemu_plugin_vcpu_udata_cb_t part; /* counts a part of a block, the data */
    qemu_plugin_vcpu_udata_cb_t late_part; /* struct late_block, the data */
    /* These make one access, with access_site as data. */
    qemu_plugin_vcpu_mem_cb_t wide_store; /* of more than 8 bytes */
    qemu_plugin_vcpu_mem_cb_t floats;     /* ACCESS_FLOAT; a store's room */
    qemu_plugin_vcpu_mem_cb_t atomic;
    qemu_plugin_vcpu_mem_cb_t mixed;       /* no room; asks QEMU for the kind */
    qemu_plugin_vcpu_mem_cb_t bulk;        /* as mixed: block or twin loads */
    qemu_plugin_vcpu_mem_cb_t conditional; /* as mixed: a store conditional */
    qemu_plugin_vcpu_mem_cb_t repeated;    /* room 1: an iteration makes two */
    /* Prefetches at a distance from the access, with prefetch_data(). */
    qemu_plugin_vcpu_mem_cb_t prefetch;
    /* --filter data=, struct data_insn as data: before the instruction, and
     * for each of its accesses. */
    qemu_plugin_vcpu_udata_cb_t data_begin;
    qemu_plugin_vcpu_mem_cb_t data_access;
};

/* Returns the data of a prefetch's callback: the prefetch's distance from the
 * access that tells its address, its instruction, and whether it is one into
 * the L1D. A distance of more than 47 bits does not fit: prefetch_distance_of()
 * returns another. */
static inline void *
prefetch_data(int64_t distance, size_t instruction, bool near)
{
    return (void *)(uintptr_t)((uint64_t)distance << 17 | instruction << 1 |
                               near);
}

static inline int64_t
prefetch_distance_of(const void *data)
{
    return (intptr_t)data >> 17;
}

static inline unsigned
prefetch_instruction_of(const void *data)
{
    return (uint16_t)((uintptr_t)data >> 1);
}

static inline bool
prefetch_near_of(const void *data)
{
    return (uintptr_t)data & 1;
}

/* The tables of the variants, by their numbers. */
extern const struct callbacks callbacks_0, callbacks_1, callbacks_2,
    callbacks_3, callbacks_4, callbacks_5, callbacks_6, callbacks_7,
    callbacks_8, callbacks_9, callbacks_14, callbacks_15, callbacks_24,
    callbacks_25, callbacks_30, callbacks_31, callbacks_32, callbacks_33,
    callbacks_40, callbacks_41, callbacks_56, callbacks_57;

#endif
