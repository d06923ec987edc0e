/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/registers.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "source/process_counts.h"

/* GByteArray of GLib, which QEMU links. */
struct registers_bytes {
    uint8_t *data;
    unsigned size;
};

/* Each architecture's function, and the numbers that debuggers have for the
 * registers. */
static const struct registers_row {
    uint16_t machine;
    const char *function;
    int8_t number[REGISTERS_PARTS]; /* -1: none */
} rows[] = {
    {EM_X86_64, "x86_cpu_gdb_read_register", {5, 4, 3, 2, 8, 9, 0, 7, -1}},
    {EM_SPARCV9,
     "sparc_cpu_gdb_read_register",
     {8, 9, 10, 11, 12, 13, 8, 14, 15}},
    {EM_MIPS, "mips_cpu_gdb_read_register", {4, 5, 6, 7, 8, 9, 2, 29, 31}},
};

static const struct registers_row *
row_of(const struct isa *isa)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].machine == isa->elf_machine)
            return &rows[i];
    }
    return NULL;
}

bool
registers_find(struct registers *r, const struct isa *isa)
{
    *r = (struct registers){.isa = isa, .row = row_of(isa)};
    if (r->row == NULL)
        return false;
    *(void **)&r->read = dlsym(RTLD_DEFAULT, r->row->function);
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
    const int8_t number = r->row->number[part];
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
