/* SPDX-License-Identifier: MIT */
/*
 * An ELF file that is open: its segments, its build id, and where its separate
 * debug file is.
 */
#ifndef TALLY_NAMES_ELF_FILE_H
#define TALLY_NAMES_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct elf_file {
    Elf *elf;
    int fd;
    const uint8_t *build_id; /* in the file */
    size_t build_id_size;    /* 0: none */
    GElf_Phdr *loads;        /* segments that are loaded */
    size_t load_count;
};

/* A file that is not open. */
#define ELF_FILE_NONE ((struct elf_file){.fd = -1})

/* Opens the file. 0, TALLY_EIO, TALLY_EPROGRAM or TALLY_ENOMEM, logged;
 * on failure *file is ELF_FILE_NONE. */
int elf_file_open(const char *path, const struct tally_log *log,
                  struct elf_file *file);

/* Closes the descriptor and keeps the contents. */
void elf_file_release(struct elf_file *file);

/* Closes the file. Accepts ELF_FILE_NONE. */
void elf_file_close(struct elf_file *file);

/* Finds the address that the file asks for its byte at `offset`; a segment with
 * code is preferred. */
bool elf_file_address(const struct elf_file *file, uint64_t offset,
                      uint64_t *address);

/* Returns the first offset behind `offset`, of which elf_file_address() knows
 * the address, that may be of another segment. */
uint64_t elf_file_until(const struct elf_file *file, uint64_t offset);

/* Finds the offset in the file of the byte at `address`, UINT64_MAX if the file
 * has no such byte. */
uint64_t elf_file_offset(const struct elf_file *file, uint64_t address);

/* Returns whether a segment with code holds the address. */
bool elf_file_is_code(const struct elf_file *file, uint64_t address);

/* Returns whether a section whose name begins with `prefix` holds the address.
 */
bool elf_file_in_section(const struct elf_file *file, const char *prefix,
                         uint64_t address);

/* Opens the file with the build id, "DIR/.build-id/xx/yyyy.debug", of the first
 * of the folders that has one. False: none has. */
bool elf_file_with_id(const uint8_t *id, size_t size, char *const *dirs,
                      size_t dir_count, struct elf_file *found);

/* Opens the separate debug file of the file at `path`: by the build id, else by
 * the name in .gnu_debuglink. False: there is none that fits. */
bool
elf_file_debug(const struct elf_file *file, const char *path, char *const *dirs,
               size_t dir_count, struct elf_file *found);

#endif
