/* SPDX-License-Identifier: MIT */
#include "record/function_files.h"

#include <stdlib.h>
#include <string.h>

/* Marks a file that the function's first instruction is of. */
#define FROM_FIRST_BYTE (UINT64_C(1) << 32)

void
function_files_init(struct function_files *f)
{
    *f = (struct function_files){0};
    numbering_init(&f->functions, 2);
}

void
function_files_finish(struct function_files *f)
{
    numbering_finish(&f->functions);
    free(f->files);
    f->files = NULL;
}

/* Returns the place in `files` of the function that the instruction is really
 * in, or NUMBERING_NONE. */
static uint32_t
number_function(struct function_files *f, const struct resolved *r)
{
    const uint64_t key[] = {r->image, r->function_offset};
    const uint32_t number = numbering_add(&f->functions, key);

    if (number == NUMBERING_NONE || number < f->room)
        return number;
    const size_t wanted = f->room != 0 ? 2 * f->room : 256;
    uint64_t *files = reallocarray(f->files, wanted, sizeof(*files));
    if (files == NULL)
        return NUMBERING_NONE;
    memset(files + f->room, 0, (wanted - f->room) * sizeof(*files));
    f->files = files;
    f->room = wanted;
    return number;
}

/* Notes the source file of the instruction's function. */
static int
note_file(struct function_files *f, const struct record_insn *insn,
          const struct resolved *r)
{
    const struct resolved_frame *frame = &r->frames[r->frame_count - 1];
    const bool first = insn->offset == r->function_offset;

    if (frame->function == 0 || r->function_offset == UINT64_MAX)
        return 0;
    const uint32_t number = number_function(f, r);
    if (number == NUMBERING_NONE)
        return TALLY_ENOMEM;
    uint64_t *file = &f->files[number];
    if (first)
        *file = frame->file | FROM_FIRST_BYTE;
    else if (*file == 0)
        *file = frame->file;
    return 0;
}

int
function_files_note(struct function_files *f, const struct record *record,
                    struct resolver *resolver)
{
    for (size_t p = 0; p < record->process_count; p++)
        for (size_t i = 0; i < record->processes[p].insn_count; i++) {
            const struct record_insn *insn = &record->processes[p].insns[i];
            if (note_file(f, insn, resolver_find(resolver, p, i)) != 0)
                return TALLY_ENOMEM;
        }
    return 0;
}

uint32_t
function_files_find(struct function_files *f, const struct resolved *r,
                    size_t frame)
{
    if (frame != r->frame_count - 1 || r->function_offset == UINT64_MAX)
        return r->frames[frame].file;
    const uint32_t number = number_function(f, r);
    return number != NUMBERING_NONE ? (uint32_t)f->files[number] : 0;
}
