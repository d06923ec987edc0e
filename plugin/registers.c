/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/registers.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char name[64];

    *r = (struct registers){.isa = isa};
    snprintf(name, sizeof(name), "%s_gdb_read_register", isa->registers);
    *(void **)&r->read = dlsym(RTLD_DEFAULT, name);
    *(void **)&r->cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    *(void **)&r->make = dlsym(RTLD_DEFAULT, "g_byte_array_new");
    *(void **)&r->resize = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
    if (r->read == NULL || r->cpu == NULL || r->make == NULL ||
        r->resize == NULL)
        return false;
    r->bytes = calloc(COUNTS_STRANDS, sizeof(*r->bytes));
    return r->bytes != NULL;
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
    if (r->isa->big_endian)
        *value = __builtin_bswap64(*value);
    return true;
}
