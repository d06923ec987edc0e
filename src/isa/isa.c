/* SPDX-License-Identifier: MIT */
#include "isa/isa.h"

#include <endian.h>
#include <string.h>

const struct isa *
isa_find(const char *name)
{
    for (const struct isa *isa = isa_rows; isa < isa_rows + ISA_ROWS; isa++)
        if (strcmp(isa->name, name) == 0)
            return isa;
    return NULL;
}

const struct isa *
isa_of_elf(const Elf64_Ehdr *elf)
{
    const uint16_t machine = elf->e_ident[EI_DATA] == ELFDATA2MSB
                                 ? be16toh(elf->e_machine)
                                 : le16toh(elf->e_machine);

    for (const struct isa *isa = isa_rows; isa < isa_rows + ISA_COUNT; isa++)
        if (elf->e_ident[EI_DATA] == isa->elf_data &&
            elf->e_ident[EI_CLASS] == isa->elf_class &&
            machine == isa->elf_machine)
            return isa;
    return NULL;
}
