/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/call_result.h"

#include <dlfcn.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/registers.h"

/* GLib's, of which QEMU has a copy. */
struct byte_array {
    uint8_t *data;
    unsigned size;
};

struct result {
    const struct qemu_functions *qemu;
    const struct isa *isa;
    int64_t value;
};

static void *
find_of(const char *family, const char *function)
{
    char name[64];

    snprintf(name, sizeof(name), "%s_gdb_%s_register", family, function);
    return dlsym(RTLD_DEFAULT, name);
}

struct qemu_functions
qemu_functions_find(const struct isa *isa)
{
    struct qemu_functions q = {0};

    *(void **)&q.run_on_cpu = dlsym(RTLD_DEFAULT, "async_run_on_cpu");
    *(void **)&q.cpu_of = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    if (isa != NULL) {
        *(void **)&q.read_register = find_of(isa->registers, "read");
        *(void **)&q.write_register = find_of(isa->registers, "write");
    }
    return q;
}

static void
write_register(const struct qemu_functions *qemu, const struct isa *isa,
               void *cpu, int number, uint64_t value)
{
    uint64_t word = isa->big_endian ? htobe64(value) : htole64(value);

    qemu->write_register(cpu, (uint8_t *)&word, number);
}

/* Returns false where the register cannot be read. */
static bool
read_register(const struct result *r, void *cpu, int number, uint64_t *value)
{
    static struct byte_array *(*make)(void);
    static uint8_t *(*discard)(struct byte_array *, int);
    bool read = false;

    *(void **)&make = dlsym(RTLD_DEFAULT, "g_byte_array_new");
    *(void **)&discard = dlsym(RTLD_DEFAULT, "g_byte_array_free");
    if (make == NULL || discard == NULL || r->qemu->read_register == NULL)
        return false;
    struct byte_array *const bytes = make();
    if (r->qemu->read_register(cpu, bytes, number) == sizeof(*value) &&
        bytes->size >= sizeof(*value)) {
        memcpy(value, bytes->data, sizeof(*value));
        *value = r->isa->big_endian ? be64toh(*value) : le64toh(*value);
        read = true;
    }
    discard(bytes, 1);
    return read;
}

/* On the CPU's thread, between two of the guest's instructions. */
static void
write_result(void *cpu, void *data)
{
    struct result *const r = data;
    const struct isa *const isa = r->isa;
    uint64_t bits = isa->failure_bits, state = 0;

    if (bits == 0) {
        write_register(r->qemu, isa, cpu,
                       isa->register_numbers[REGISTERS_RESULT],
                       (uint64_t)r->value);
    } else if (read_register(r, cpu, isa->failure, &state)) {
        state = r->value < 0 ? state | bits : state & ~bits;
        write_register(r->qemu, isa, cpu, isa->failure, state);
        write_register(r->qemu, isa, cpu,
                       isa->register_numbers[REGISTERS_RESULT],
                       r->value < 0 ? -(uint64_t)r->value : (uint64_t)r->value);
    }
    free(r);
}

void
register_set_pair(const struct qemu_functions *qemu, const struct isa *isa,
                  void *cpu, uint64_t value)
{
    if (qemu->write_register == NULL || isa->ticks_high == isa->ticks_low)
        return;
    write_register(qemu, isa, cpu, isa->ticks_low, (uint32_t)value);
    write_register(qemu, isa, cpu, isa->ticks_high, value >> 32);
}

void
call_result_set(const struct qemu_functions *qemu, const struct isa *isa,
                void *cpu, int64_t value)
{
    if (qemu->write_register == NULL)
        return;
    struct result *const r = malloc(sizeof(*r));
    if (r == NULL)
        return;
    *r = (struct result){qemu, isa, value};
    qemu->run_on_cpu(cpu, write_result, r);
}
