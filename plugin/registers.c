/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/registers.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/memory.h"
#include "source/process_counts.h"

/* GByteArray of GLib, which QEMU links. */
struct registers_bytes {
    uint8_t *data;
    unsigned size;
};

bool
registers_find(struct registers *r, const struct isa *isa)
{
    static_assert(REGISTERS_PARTS == ISA_REGISTERS, "each part has a number");
    *r = (struct registers){.isa = isa};
    *(void **)&r->read = dlsym(RTLD_DEFAULT, isa->register_reader);
    *(void **)&r->cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    *(void **)&r->make = dlsym(RTLD_DEFAULT, "g_byte_array_new");
    *(void **)&r->resize = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
    if (r->read == NULL || r->cpu == NULL || r->make == NULL ||
        r->resize == NULL)
        return false;
    r->bytes = calloc(COUNTS_STRANDS, sizeof(*r->bytes));
    if (r->bytes == NULL)
        return false;
    *(void **)&r->write = dlsym(RTLD_DEFAULT, isa->register_writer);
    return true;
}

bool
registers_read(const struct registers *r, unsigned vcpu, unsigned part,
               uint64_t *value)
{
    const int8_t number = r->isa->register_numbers[part];
    void *const cpu = r->cpu((int)vcpu);

    if (cpu == NULL || number < 0 || vcpu >= COUNTS_STRANDS)
        return false;
    struct registers_bytes **const bytes = &r->bytes[vcpu];
    if (*bytes == NULL)
        *bytes = r->make();
    if (*bytes == NULL)
        return false;
    r->resize(*bytes, 0);
    if (r->read(cpu, *bytes, number) != (int)sizeof(*value) ||
        (*bytes)->size != sizeof(*value))
        return false;
    memcpy(value, (*bytes)->data, sizeof(*value));
    *value = plugin_guest_word(r->isa, *value);
    return true;
}

void
registers_write(const struct registers *r, unsigned vcpu, unsigned part,
                uint64_t value)
{
    const int8_t number = r->isa->register_numbers[part];
    uint64_t word = plugin_guest_word(r->isa, value);

    if (r->write != NULL && number >= 0)
        r->write(r->cpu((int)vcpu), (uint8_t *)&word, number);
}

void
registers_write_result(const struct registers *r, unsigned vcpu, int64_t value)
{
    const uint64_t bits = r->isa->failure_bits;
    uint64_t state;

    if (r->write == NULL)
        return;
    if (bits == 0) {
        registers_write(r, vcpu, REGISTERS_RESULT, (uint64_t)value);
    } else if (registers_read(r, vcpu, REGISTERS_FAILURE, &state)) {
        registers_write(r, vcpu, REGISTERS_FAILURE,
                        value < 0 ? state | bits : state & ~bits);
        registers_write(r, vcpu, REGISTERS_RESULT,
                        value < 0 ? -(uint64_t)value : (uint64_t)value);
    }
}
