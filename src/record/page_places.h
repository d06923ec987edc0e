/* SPDX-License-Identifier: MIT */
/*
 * The instructions of a record for a page, with numbers for what they have in
 * common: functions, the frames of an instruction (a chain), and instructions
 * that several processes share.
 */
#ifndef TALLY_RECORD_PAGE_PLACES_H
#define TALLY_RECORD_PAGE_PLACES_H

#include "base/numbering.h"
#include "record/function_files.h"
#include "record/keys.h"
#include "record/resolver.h"

/* What tells functions apart, as in `tally report`: texts of the resolver. */
struct page_function {
    uint32_t name;  /* 0: not known */
    uint32_t file;  /* that the function begins in, or 0 */
    uint32_t image; /* 0: code of no file */
};

/* A frame of an instruction. */
struct page_frame {
    uint32_t function; /* number of a page_function */
    uint32_t file;     /* text of the source, or 0 */
    uint32_t line;     /* or 0 */
};

/* An instruction, of all processes that have it. */
struct page_insn {
    uint32_t process, insn; /* one that has it, indices in the record */
    uint32_t chain;
};

struct page_places {
    const struct record *record;
    struct resolver *resolver;
    struct function_files files;
    struct numbering functions; /* name and image, file */
    struct keys chains;         /* each struct page_frame[], innermost first */
    struct keys insns;
    struct page_insn *all; /* by number in `insns`; owned */
    size_t room;
    uint32_t **of; /* by process and instruction: number in `insns` */
};

/* Numbers all instructions of a record; page_places_finish() accepts what
 * failed. 0 or TALLY_ENOMEM. */
int page_places_create(const struct record *record, struct resolver *resolver,
                       struct page_places *places);
void page_places_finish(struct page_places *places);

/* Returns the frames of an instruction of a process, innermost first, until the
 * next chain is added. */
const struct page_frame *
page_places_frames(const struct page_places *places, size_t process,
                   uint32_t insn, size_t *count);

/* Returns the frames of a chain, innermost first. */
const struct page_frame *page_places_chain(const struct page_places *places,
                                           uint32_t chain, size_t *count);

/* Returns the function of a number. */
struct page_function
page_places_function(const struct page_places *places, uint32_t number);

/* Adds a function that no instruction has; returns its number, or
 * NUMBERING_NONE: no memory. */
uint32_t
page_places_add(struct page_places *places, struct page_function function);

#endif
