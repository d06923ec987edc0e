/* SPDX-License-Identifier: MIT */
/*
 * The names of a record's instructions: image, function, source file and line,
 * with the frames of functions that were copied into others (inlined).
 *
 * Strings are interned: two equal names have one number, so that instructions
 * can be grouped by numbers. Number 0 is the empty string: not known.
 */
#ifndef TALLY_RECORD_RESOLVER_H
#define TALLY_RECORD_RESOLVER_H

#include "names/names.h"
#include "record/record.h"
#include "record/source_text.h"

struct resolver;

struct resolver_options {
    /* Folders with separate debug files, besides /usr/lib/debug. */
    const char *const *debug_dirs;
    size_t debug_dir_count;
    /* Where images are that moved; may be NULL if there are none. */
    const struct source_move *moves;
    size_t move_count;
    /* The caller's, which outlive the resolver, so that several records of the
     * same files read these once; then its folders and log count. NULL: the
     * resolver has its own. */
    struct names *names;
};

struct resolved_frame {
    uint32_t function;      /* demangled name, or 0 */
    uint32_t mangled;       /* name in the file, or 0 */
    uint32_t file;          /* of the source, or 0 */
    uint32_t line;          /* or 0 */
    uint32_t function_line; /* where the source has the function's name, or 0 */
};

/* What is known of an instruction. Frames go from the innermost copied function
 * to the real function, whose frame is always there, perhaps without names. */
struct resolved {
    const struct resolved_frame *frames; /* the resolver's */
    size_t frame_count;                  /* at least 1 */
    uint32_t image;                      /* path, or 0 */
    /* Of the real function, in the image's file: its first byte; UINT64_MAX:
     * not known. */
    uint64_t function_offset;
    /* The address that the image's file gives the instruction; UINT64_MAX: not
     * known. */
    uint64_t file_address;
};

/*
 * Creates the names of a record, which must outlive them. An image whose file
 * is gone or is another by now gets one warning, and has the names that the
 * record keeps, or none. An image without a build id has the names that the
 * record keeps, without a warning. So have the places of which the record knows
 * more than the file, which was stripped by now. 0 or TALLY_ENOMEM, logged.
 */
int resolver_create(const struct record *record,
                    const struct resolver_options *options,
                    const struct tally_log *log, struct resolver **resolver);
void resolver_destroy(struct resolver *resolver);

/* Returns whether the file of an image, an index in the record, is there and is
 * the one that ran, or the record keeps its names. */
bool resolver_has_names(const struct resolver *resolver, uint32_t image);

/* Returns what is known of instruction `insn` of process `process`, indices in
 * the record. Each place of an image is looked up once for all processes. */
const struct resolved *
resolver_find(struct resolver *resolver, size_t process, size_t insn);

/*
 * Calls `take` for the source lines that have code of the function that begins
 * at an offset of an image's file (resolved.function_offset), whether the code
 * ran or not: of `function` itself and of what was copied into it at the line
 * of the copy. A line may come several times.
 */
void resolver_code_lines(struct resolver *resolver, uint32_t image,
                         uint64_t function_offset, uint32_t function,
                         void (*take)(void *user, uint32_t file, uint32_t line),
                         void *user);

/* Calls `take` for the lines of a source file that an image of the record has
 * code of, whether the code ran or not. `source` is the file's number. A line
 * may come several times. */
void resolver_source_lines(struct resolver *resolver, uint32_t image,
                           uint32_t source,
                           void (*take)(void *user, unsigned line), void *user);

/* Returns what the byte at an address of a process is of a variable of the
 * image with this path, as names_field() has it, for the caller to free; NULL:
 * not known, as where the process executed nothing of the image. */
char *resolver_field(struct resolver *resolver, size_t process,
                     const char *image, uint64_t address);

/* Finds the file of an image in the names that the resolver has; false: the
 * file is gone, or is another than the one that ran. */
bool resolver_names(struct resolver *resolver, uint32_t image,
                    struct names **names, unsigned *file);

/* Returns the names that the resolver has of all files. */
struct names *resolver_all_names(const struct resolver *resolver);

/* Returns the number of a string, or 0: no instruction has it so far. */
uint32_t resolver_text_find(const struct resolver *resolver, const char *text);

/* Returns the string of a number. */
const char *resolver_text(const struct resolver *resolver, uint32_t number);

/* Returns how many strings there are: their numbers are smaller. */
size_t resolver_text_count(const struct resolver *resolver);

#endif
