/* SPDX-License-Identifier: MIT */
/*
 * Finds the register writes that make a counter count a selection.
 *
 * A register starts from its reset value; a field that the reset leaves
 * undefined starts from 0. Two selections that need different values in one
 * field cannot count together. Registers that enable counters, such as a global
 * control, stand behind all others in the list.
 */
#ifndef TALLY_TABLE_ENCODE_H
#define TALLY_TABLE_ENCODE_H

#include "table/selection.h"

/* A value for a whole register; `set` are the bits that selections need. */
struct reg_write {
    uint64_t value, set;
    uint16_t reg; /* of the machine */
    bool enables; /* enables counters whose events other registers select */
};

#define WRITES_MAX 128

struct write_list {
    size_t count;
    struct reg_write rows[WRITES_MAX];
};

/* A field for which a second selection needs another value. */
struct write_clash {
    uint16_t reg;
    uint8_t field;
    uint32_t old, wanted;
};

/*
 * Adds the writes that let `counter` (of the machine) count the selection, in
 * all its instances. False, with *clash filled in, if a field is taken by
 * another value; the list then has part of the writes.
 */
bool encode_add(struct write_list *list, const struct selection *selection,
                size_t counter, struct write_clash *clash);

/* Returns the field that the modifier sets for the counter: a field of the
 * counter's selecting register, or REGISTER.FIELD. */
const char *modifier_field(const struct machine_row *machine,
                           const struct counter_row *counter,
                           const struct modifier_row *modifier);

/* Returns the bits that stand in the modifier's field for the modifier's value,
 * and, of such bits, the value. */
uint32_t modifier_bits(const struct modifier_row *modifier, uint32_t value);

/* Return the bits of a field in the register, and the field's part of a value.
 */
uint64_t field_bits(const struct field_row *field);
uint64_t field_get(const struct field_row *field, uint64_t value);

/* Returns the register's value after a reset, undefined fields 0. */
uint64_t register_reset(const struct register_row *row);

#endif
