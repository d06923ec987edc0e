/* SPDX-License-Identifier: MIT */
#include "record/disassembly.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

struct disassembly {
    csh handle;
    const struct isa *isa; /* whose decoder writes the text; NULL: Capstone */
};

static const struct {
    const char *isa;
    cs_arch arch;
    int mode; /* enum cs_mode, summed */
} rows[] = {
#include "isa_capstone.inc"
};

/* Returns the row of data/isa.toml, or NULL. */
static bool
is_of_capstone(const char *isa)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].isa, isa) == 0)
            return true;
    return false;
}

struct disassembly *
disassembly_create(const char *isa)
{
    struct disassembly *d = calloc(1, sizeof(*d));

    for (size_t i = 0; d != NULL && i < sizeof(rows) / sizeof(*rows); i++) {
        if (strcmp(rows[i].isa, isa) != 0 ||
            cs_open(rows[i].arch, (cs_mode)rows[i].mode, &d->handle) !=
                CS_ERR_OK)
            continue;
        if (rows[i].arch == CS_ARCH_X86) /* as objdump and gdb write it */
            cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
        return d;
    }
    if (d != NULL && !is_of_capstone(isa))
        d->isa = isa_find(isa);
    if (d != NULL && d->isa != NULL)
        return d;
    free(d);
    return NULL;
}

void
disassembly_destroy(struct disassembly *d)
{
    if (d != NULL && d->isa == NULL)
        cs_close(&d->handle);
    free(d);
}

static void
write_bytes(const uint8_t *code, size_t size, char *text, size_t text_size)
{
    size_t n = (size_t)snprintf(text, text_size, ".byte");

    for (size_t i = 0; i < size && n + 6 < text_size; i++)
        n += (size_t)snprintf(text + n, text_size - n, " 0x%02x", code[i]);
}

/* Writes the decoder's own text. */
static void
write_own(const struct isa *isa, const uint8_t *code, size_t size,
          uint64_t address, char *text, size_t text_size)
{
    struct insn insn;

    if (insn_decode(isa, code, size, address, &insn) && insn.size == size &&
        (insn.flags & INSN_ILLEGAL) == 0)
        insn_text(isa, code, size, address, text, text_size);
    else
        write_bytes(code, size, text, text_size);
}

void
disassembly_text(struct disassembly *d, const uint8_t *code, size_t size,
                 uint64_t address, char *text, size_t text_size)
{
    cs_insn *insn = NULL;

    if (d != NULL && d->isa != NULL) {
        write_own(d->isa, code, size, address, text, text_size);
        return;
    }
    const size_t count =
        d != NULL ? cs_disasm(d->handle, code, size, address, 1, &insn) : 0;

    if (count == 1 && insn->size == size)
        snprintf(text, text_size, "%s%s%s", insn->mnemonic,
                 *insn->op_str != '\0' ? " " : "", insn->op_str);
    else
        write_bytes(code, size, text, text_size);
    if (count > 0)
        cs_free(insn, count);
}
