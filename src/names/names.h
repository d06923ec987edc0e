/* SPDX-License-Identifier: MIT */
/*
 * Names of places in ELF files: function, source file and line.
 *
 * Names come from DWARF 4 and 5 in the file itself or in its separate debug
 * file, else from the ELF symbols. Files may be of any machine and byte order.
 * A place is an offset in the file: neither the address at which the file was
 * loaded nor the address that the file asks for is needed.
 *
 * What is not read: .gnu_debugdata, debug files of relocatable objects, stubs
 * of procedure linkage tables other than x86-64's.
 *
 * Damaged debug information gives fewer names and no error. One thread at a
 * time uses a `struct names`.
 */
#ifndef TALLY_NAMES_NAMES_H
#define TALLY_NAMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct names;

struct names_options {
    /* Folders that hold separate debug files as /usr/lib/debug does; they are
     * searched before /usr/lib/debug. */
    const char *const *debug_dirs;
    size_t debug_dir_count;
};

/* One function at a place: the function itself, or one that the compiler copied
 * into another. The strings live as long as `struct names`. */
struct name_frame {
    const char *function; /* demangled; NULL: not known */
    const char *mangled;  /* as in the file, without a version; NULL: not known,
                             or a copied function that has no mangled name */
    const char *file;     /* source file, absolute if the debug information
                             tells its folder; NULL: not known */
    unsigned line;        /* 0: not known */
    unsigned function_line; /* where the source has the function's name; 0: not
                               known */
    /* Offset in the file of the first byte of the function that all frames of
     * a place are copied into; UINT64_MAX: not known. */
    uint64_t function_offset;
};

/*
 * Creates an empty set of files. `options` and `log` may be NULL; what
 * `options` points at is copied, `log` must live as long as the result. 0 or
 * TALLY_ENOMEM; the caller destroys *names.
 */
int names_create(const struct names_options *options,
                 const struct tally_log *log, struct names **names);

/* Frees the set and its strings. Accepts NULL. */
void names_destroy(struct names *names);

/*
 * Adds an ELF file and stores its index in *file. The file must have the build
 * id given, unless build_id_size is 0. Debug information is read when a place
 * is first looked up. A file that was added before and did not change since
 * keeps its index, and what was read of it.
 *
 * 0; or, with one line in the log: TALLY_EIO if the file cannot be read,
 * TALLY_EPROGRAM if the file is no ELF file, TALLY_ESYNTAX if its build id is
 * another, TALLY_ENOMEM. Then *file is unchanged.
 */
int names_add(struct names *names, const char *path, const uint8_t *build_id,
              size_t build_id_size, unsigned *file);

/*
 * Finds the frames of the byte at `offset` of the file: the innermost copied
 * function first, the real function last. Returns their number: at least 1 if a
 * function or a line is known, else 0. Of more than `most` frames the innermost
 * are left out.
 */
size_t names_find(struct names *names, unsigned file, uint64_t offset,
                  struct name_frame *frames, size_t most);

/* Returns the first offset behind `offset` for which names_find() may find
 * other frames: up to there neither the function nor the line changes, and
 * addresses rise as offsets do. */
uint64_t names_until(struct names *names, unsigned file, uint64_t offset);

/* Returns what the byte at `address`, as the file has addresses, is of a
 * variable, and where the source declares that: "table.shards[1].count
 * (table.h:12)"; for the caller to free. NULL: not known, or there is no
 * memory. The first call for a file reads all its debug information. */
char *names_field(struct names *names, unsigned file, uint64_t address);

/* A type that the debug information describes; arrays are their elements. It
 * lives as long as `struct names`. */
struct name_type {
    const char *name; /* "struct shard" in C, "shard" in C++; NULL: it is no
                         structure, class or union */
    uint64_t size;    /* bytes, at least 1 */
    const char *file; /* where the source declares it, without folders; or NULL
                       */
    unsigned line;
    const struct name_type *same; /* of names.c */
};

#define NAME_PATH 256

/* The innermost member that has a byte of a structure. */
struct name_part {
    char path[NAME_PATH];  /* "count", "array[].x"; "real|bits" of a union or of
                              bit-fields in one byte */
    uint64_t offset, size; /* of the member, or of the array's element */
    bool in_array;         /* the member is an element of an array member, */
    uint64_t array;        /* the outermost of which begins here */
    const char *file;      /* where the source declares the member; or NULL */
    unsigned line;
    const struct name_type
        *pointed; /* what it points to; NULL: nothing known */
};

#define NAME_FRAME                                            \
    (-1) /* in place of a register: the frame's address (CFA) \
          */

/* Where a variable of a function is, in a range of code. */
struct name_holder {
    uint64_t first, end; /* addresses as the file has them */
    /* In memory at `offset` from the register; else the register has the value
     * less `offset`. */
    bool in_memory;
    int reg; /* DWARF's number, or NAME_FRAME */
    int64_t offset;
    const struct name_type *type, *pointed; /* as in struct name_part */
};

/* Calls `take` for the places of all variables of the function that has the
 * byte at `offset` of the file. Returns false where the debug information does
 * not have the function. */
bool names_holders(struct names *names, unsigned file, uint64_t offset,
                   void (*take)(void *user, const struct name_holder *holder),
                   void *user);

/* Finds the variable at a fixed address that has the byte at `address`, as the
 * file has addresses: its type, and which byte of the type. False: not known.
 * The first call for a file reads all its debug information. */
bool names_static(struct names *names, unsigned file, uint64_t address,
                  const struct name_type **type, uint64_t *offset);

/* Finds the member that has a byte of a type; of what is no structure the
 * whole, with an empty path. False: no member has the byte. */
bool names_part(struct names *names, const struct name_type *type,
                uint64_t offset, struct name_part *part);

/* Returns whether a type has the other as a member, at any depth. */
bool names_has(struct names *names, const struct name_type *type,
               const struct name_type *other);

/* Returns the address that the file gives its byte at `offset`; UINT64_MAX: the
 * byte is in no segment, or there is no such file. */
uint64_t
names_address(const struct names *names, unsigned file, uint64_t offset);

/*
 * Calls `take` for each line of a source file that the file has code of.
 * `source` is as in name_frame.file. A line may come several times. Code that
 * was copied into other functions counts at the line it was written in.
 */
void names_each_line(struct names *names, unsigned file, const char *source,
                     void (*take)(void *user, unsigned line), void *user);

/*
 * Calls `take` for each piece of each function of the file: a function that the
 * compiler split has a call for each piece, and a function with several symbols
 * a call for each name. The calls come in the order of `offset`, then of
 * `function`. `mangled` may be NULL; `size` is 0 where the file does not tell
 * the size. Reads all debug information of the file.
 */
void names_each_function(struct names *names, unsigned file,
                         void (*take)(void *user, const char *function,
                                      const char *mangled, uint64_t offset,
                                      uint64_t size),
                         void *user);

#endif
