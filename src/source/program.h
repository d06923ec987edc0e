/* SPDX-License-Identifier: MIT */
/*
 * A program to be measured: found as execvp finds it, scripts resolved to
 * their interpreters, its ELF header read.
 */
#ifndef TALLY_SOURCE_PROGRAM_H
#define TALLY_SOURCE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/isa.h"

#define PROGRAM_SCRIPT_DEPTH 4

/* GNU_PROPERTY_X86_ISA_1_NEEDED of .note.gnu.property, by the x86-64 psABI:
 * the linker's -z x86-64-v4, or the assembler's note of gcc -mneeded. */
enum program_level {
    PROGRAM_V1 = 1 << 0,
    PROGRAM_V2 = 1 << 1,
    PROGRAM_V3 = 1 << 2,
    PROGRAM_V4 = 1 << 3,
};

struct program {
    char path[PATH_MAX];   /* of the ELF file that runs */
    char loader[PATH_MAX]; /* its dynamic loader; empty: static */
    const struct isa *isa;
    uint64_t code;                   /* lowest address of code in the file */
    uint64_t code_offset, code_size; /* of its segment, in the file */
    uint32_t levels; /* of x86-64 that the file says it needs, PROGRAM_V4... */
    bool missing;    /* on failure: nothing of that name (status 127) */
    char **argv;     /* NULL-terminated, the interpreter's words included */
    char *words[3 * (PROGRAM_SCRIPT_DEPTH + 1)]; /* owned strings of argv */
};

/*
 * Resolves argv[0] and what it names. On success program_close() frees what it
 * holds; on failure nothing is held. TALLY_EPROGRAM or TALLY_EARCH, logged.
 */
int program_open(char *const *argv, const struct tally_log *log,
                 struct program *program);
void program_close(struct program *program);

/*
 * The address of a function in the ELF file by its symbol's name.
 * TALLY_EUNKNOWN with near names, or TALLY_EPROGRAM without symbols.
 */
int program_symbol(const char *path, const char *name,
                   const struct tally_log *log, uint64_t *address);

/* Where in the ELF file that stands which it loads at the address;
 * TALLY_EPROGRAM if it loads nothing there. */
int program_offset(const char *path, uint64_t address,
                   const struct tally_log *log, uint64_t *offset);

/* Returns the address at which the ELF file asks to have its byte at `offset`
 * loaded, or UINT64_MAX if the file loads nothing from there. */
uint64_t program_address(const char *path, uint64_t offset);

/* Returns whether an ELF file has a section of this name, such as
 * ".debug_line". */
bool elf_has_section(const char *path, const char *section);

/* Finds the first and last byte of a function. TALLY_EPROGRAM where the file
 * has no such function, or no size of it. */
int
program_function(const char *path, const char *name,
                 const struct tally_log *log, uint64_t *first, uint64_t *last);

/* Finds the first and last byte of a data object, as program_function() does.
 */
int
program_object(const char *path, const char *name, const struct tally_log *log,
               uint64_t *first, uint64_t *last);

/* The functions of an ELF file, by address. */
struct program_function {
    uint64_t first, last;
    char *name; /* owned */
};
struct program_functions {
    struct program_function *all; /* ordered */
    size_t count, room;
};

/* None where the file has no symbols. */
void program_functions(const char *path, struct program_functions *functions);
void program_functions_finish(struct program_functions *functions);

/* Returns the name of the function that holds the address in the file, or NULL.
 */
const char *program_function_at(const struct program_functions *functions,
                                uint64_t address);

/* Returns which dynamic symbols of these names, 32 at most, an ELF file
 * exports: bit i stands for names[i]. 0 where the file cannot be read. */
uint32_t elf_exports(const char *path, const char *const *names, size_t count);

#endif
