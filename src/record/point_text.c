/* SPDX-License-Identifier: MIT */
/* The form for people: where, what, and then tables whose last row is the point
 * or is nearest to it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/path.h"
#include "record/block_folds.h"
#include "record/disassembly.h"
#include "record/memory.h"
#include "record/point_report.h"
#include "record/point_words.h"
#include "record/text_line.h"
#include "report/count_report.h"

#define NUMBER_TEXT 32
#define INSTRUCTION_TEXT 160

/* A text that is being written. */
struct writing {
    const struct point_report *r;
    const struct point *p;
    struct point_names names;
    FILE *out;
};

/* Writes a name, which may hold any bytes, and frees it. */
static void
write_name(const struct writing *w, char *name)
{
    escape_printf(w->out, "%s", name != NULL ? name : "?");
    free(name);
}

/* Ends a line of `used` columns with a name, which is freed. */
static void
end_with_name(const struct writing *w, char *name, int used)
{
    text_end_name(name != NULL ? name : "?", used, w->r->width, w->out);
    free(name);
}

static void
write_head(const struct writing *w)
{
    const uint64_t *const params = w->r->params;
    const uint64_t ways = params[PARAM_L1D_WAYS];
    char size[MEMORY_SIZE_TEXT];

    memory_size_text(params[PARAM_L1D_SIZE], size);
    escape_printf(w->out, "\n At %s of %s\n", w->r->wanted,
                  path_base(w->r->argv[0]));
    fprintf(w->out,
            " %s: L1 data cache of %s, %" PRIu64 " way%s, lines of %" PRIu64
            " bytes\n",
            w->r->machine, size, ways, ways == 1 ? "" : "s",
            params[PARAM_L1D_LINE]);
    fputs(w->r->request->traps != 0
              ? " the debugger stops the program where it enters the next "
                "block\n"
              : " the program was killed there\n",
          w->out);
}

/* Writes a place: its function with the offset, its line of source, and the
 * file of its code. */
static void
write_where(struct writing *w, const struct point_place *place)
{
    const struct point_named named = point_names_find(&w->names, place);
    const char *const whole =
        named.outer != NULL ? named.outer : named.function;

    if (whole != NULL)
        escape_printf(w->out, "%s", whole);
    if (whole != NULL && named.in_function != UINT64_MAX)
        fprintf(w->out, "+0x%" PRIx64, named.in_function);
    if (whole == NULL)
        fputs("code without a name", w->out);
    if (named.outer != NULL && named.function != NULL)
        escape_printf(w->out, ", in %s (inlined)", named.function);
    if (named.file != NULL && named.line != 0)
        escape_printf(w->out, ", %s:%u", named.file, named.line);
    if (named.image != NULL)
        escape_printf(w->out, ", %s", path_base(named.image));
}

static void
write_instruction(const struct writing *w)
{
    const struct point_place *const place = &w->p->place;
    struct disassembly *const d = disassembly_create(w->r->isa);
    char text[INSTRUCTION_TEXT];

    if (place->size != 0) {
        disassembly_text(d, place->code, place->size, place->address, text,
                         sizeof(text));
        fprintf(w->out, "   0x%" PRIx64 ":  %s\n", place->address, text);
    } else {
        fprintf(w->out, "   0x%" PRIx64 "\n", place->address);
    }
    disassembly_destroy(d);
}

static void
write_access_words(const struct writing *w, const struct point_access *a)
{
    fprintf(w->out, "%s of %u byte%s at 0x%" PRIx64,
            a->flags & POINT_STORE ? "store" : "load", a->size,
            a->size == 1 ? "" : "s", a->address);
}

/* Writes the access that missed, or of another point the last one. */
static void
write_what(struct writing *w)
{
    const struct point *const p = w->p;
    const bool missed = w->r->request->kind == POINT_MISS;

    if (p->has_access == 0)
        return;
    fputs(missed ? "   " : "   last access: ", w->out);
    write_access_words(w, &p->access);
    fputs(": ", w->out);
    write_name(w, point_object_text(&w->names, &p->object));
    if (!missed)
        fprintf(w->out, "; %s (modelled)",
                p->access.flags & POINT_MISSED ? "miss" : "hit");
    else if (p->class != POINT_CLASS_NONE)
        fprintf(w->out, "; %s miss (modelled)", point_class_text(p->class));
    else
        fputs("; miss (modelled)", w->out);
    fputc('\n', w->out);
}

static void
write_point(struct writing *w)
{
    fputs("\n Where (exact)\n   ", w->out);
    write_where(w, &w->p->place);
    fputc('\n', w->out);
    write_instruction(w);
    fprintf(w->out, "   thread %u, its instruction ", w->p->thread);
    text_number(w->p->instruction, 0, w->out);
    fputs("; of all threads ", w->out);
    text_number(w->p->all_instructions + 1, 0, w->out);
    fputc('\n', w->out);
    write_what(w);
}

/* Writes a line for each function at a place, the innermost first. */
static void
write_frames(struct writing *w, const struct point_place *place)
{
    struct name_frame frames[POINT_FRAMES];
    const size_t count = point_names_frames(&w->names, place, frames);

    for (size_t i = 0; i < count; i++) {
        fputs("   ", w->out);
        end_with_name(w, point_frame_text(&frames[i], i + 1 < count), 3);
    }
    if (count > 0)
        return;
    fputs("   ", w->out);
    end_with_name(w, point_place_text(&w->names, place), 3);
}

static void
write_calls(struct writing *w)
{
    const struct point *const p = w->p;

    fputs("\n Calls, innermost first (exact)\n", w->out);
    write_frames(w, &p->place);
    for (uint32_t i = 0; i < p->call_count; i++)
        write_frames(w, &p->calls[i]);
    if (p->calls_unknown != 0)
        fputs("   (what called is not known)\n", w->out);
}

static void
write_block(struct writing *w, const struct point_block *b, int indent)
{
    char count[NUMBER_TEXT] = "";
    char text[NUMBER_TEXT + 8] = "";

    if (b->count > 1) {
        format_grouped(b->count, count);
        snprintf(text, sizeof(text), "× %s", count);
    }
    const int columns = text_width(text);
    const int used = fprintf(w->out, "   %*s0x%-14" PRIx64 "%4u  ", indent, "",
                             b->place.address, b->instructions);
    fprintf(w->out, "%s%*s  ", text, columns < 9 ? 9 - columns : 0, "");
    end_with_name(w, point_place_text(&w->names, &b->place),
                  used + (columns < 9 ? 9 : columns) + 2);
}

static void
write_blocks(struct writing *w)
{
    const struct point *const p = w->p;
    struct block_fold *const folds = calloc(w->r->last, sizeof(*folds));
    size_t count = folds != NULL ? block_folds(p->blocks, p->block_count,
                                               w->r->last, folds)
                                 : 0;

    fprintf(w->out, "\n Blocks that ran last, the last one at the end (exact)\n"
                    "   address        instr  times      function\n");
    while (count-- > 0) {
        const struct block_fold *const f = &folds[count];
        if (f->times > 1) {
            fprintf(w->out, "   the next %zu blocks × ", f->length);
            text_number(f->times, 0, w->out);
            fputc('\n', w->out);
        }
        for (size_t i = f->length; i-- > 0;)
            write_block(w, &p->blocks[f->first + i], f->times > 1 ? 1 : 0);
    }
    free(folds);
}

static void
write_accesses(struct writing *w)
{
    const struct point *const p = w->p;
    uint32_t count =
        p->access_count < w->r->last ? p->access_count : w->r->last;

    fputs("\n Accesses that came last, the last one at the end (exact; hit or "
          "miss modelled)\n"
          "   access  bytes  address                 function\n",
          w->out);
    while (count-- > 0) {
        const struct point_access *const a = &p->accesses[count];
        const int used =
            fprintf(w->out, "   %-6s  %5u  0x%-16" PRIx64 " %-4s  ",
                    a->flags & POINT_STORE ? "store" : "load", a->size,
                    a->address, a->flags & POINT_MISSED ? "miss" : "hit");
        end_with_name(w, point_place_text(&w->names, &a->place), used);
    }
}

/* Writes who brought a line in: the second row of a line. */
static void
write_brought(struct writing *w, const struct point_line *l)
{
    fprintf(w->out, "       by thread %u, its instruction ", l->thread);
    text_number(l->instruction, 0, w->out);
    fputs(", ", w->out);
    write_name(w, point_place_text(&w->names, &l->place));
    fputc('\n', w->out);
}

static void
write_line(struct writing *w, const struct point_line *l, uint32_t place)
{
    const bool shared = l->others != 0;
    const char *const state = w->p->set.knows_dirty == 0    ? "-"
                              : l->flags & POINT_LINE_DIRTY ? "modified"
                              : shared                      ? "shared"
                                                            : "clean";
    const int used = fprintf(w->out, "   %3u  0x%-16" PRIx64 "  %-8s  %-10s  ",
                             place + 1, l->address, state,
                             l->flags & POINT_LINE_LEAVES ? "driven out" : "");

    end_with_name(w, point_object_text(&w->names, &l->object), used);
    if (l->flags & POINT_LINE_BROUGHT)
        write_brought(w, l);
}

static void
write_set(struct writing *w)
{
    const struct point_set *const set = &w->p->set;
    const uint64_t *const params = w->r->params;
    const uint64_t sets = params[PARAM_L1D_SIZE] /
                          (params[PARAM_L1D_WAYS] * params[PARAM_L1D_LINE]);
    const uint32_t left = (uint32_t)params[PARAM_L1D_WAYS] - set->empty;

    if (w->p->has_set == 0)
        return;
    fprintf(w->out, "\n Set %" PRIu64 " of 0 to %" PRIu64 "%s, %s (modelled)\n",
            set->number, sets - 1,
            w->r->request->kind == POINT_MISS ? " before the miss" : "",
            set->order == POINT_BY_USE   ? "the line used last first"
            : set->order == POINT_BY_AGE ? "the line that came last first"
                                         : "way by way");
    fputs("        line                state     leaves      object\n", w->out);
    for (uint32_t i = 0; i < set->line_count; i++)
        write_line(w, &set->lines[i], i);
    if (left > set->line_count)
        fprintf(w->out, "   (%u more)\n", left - set->line_count);
    if (set->empty != 0)
        fprintf(w->out, "   %u way%s empty\n", set->empty,
                set->empty == 1 ? " is" : "s are");
}

int
point_text(const struct point_report *report, FILE *out)
{
    struct writing w = {.r = report, .p = report->point, .out = out};

    if (point_names_begin(&w.names, report->point->files, report->debug_dirs,
                          report->debug_dir_count) != 0)
        return TALLY_ENOMEM;
    write_head(&w);
    write_point(&w);
    write_calls(&w);
    write_blocks(&w);
    write_accesses(&w);
    write_set(&w);
    point_names_end(&w.names);
    return ferror(out) ? TALLY_EIO : 0;
}
