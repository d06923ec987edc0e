/* SPDX-License-Identifier: MIT */
#include "names/units.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 512        /* of DIEs; what is deeper is left out */
#define SPANS_MOST (1u << 24) /* of a unit or of all units */
#define UNITS_MOST (UINT32_MAX - 1)

/* Adds the ranges of code that the DIE has. A linker leaves ranges of discarded
 * functions at address 0 or so: they are no code of the file. */
static bool
add_ranges(const struct units *u, Dwarf_Die *die, struct span_list *list,
           uint32_t owner, uint32_t depth)
{
    Dwarf_Addr base = 0, start = 0, end = 0;
    ptrdiff_t next = 0;

    while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
        if (list->count >= SPANS_MOST)
            break;
        if (elf_file_is_code(u->file, start) &&
            !span_add(list, &(struct span){start, end, owner, depth}))
            return false;
    }
    return true;
}

/* A walk through the DIEs of a unit. */
struct walk {
    const struct units *units;
    struct unit *unit;
    struct level {
        Dwarf_Die die;
        uint32_t scope; /* around the children of the DIE */
    } levels[DEPTH_MOST];
    size_t depth;
    const void *reached; /* the last DIE that was visited */
};

/* Adds a scope for a function or a copy with code; returns the scope around
 * the children of the DIE. */
static uint32_t
visit(struct walk *w, Dwarf_Die *die, uint32_t around, bool *done)
{
    struct unit *unit = w->unit;
    const int tag = dwarf_tag(die);
    const size_t before = unit->spans.count;

    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
        return around;
    if (unit->scope_count >= SPANS_MOST)
        return SCOPE_NONE;
    const uint32_t scope = (uint32_t)unit->scope_count;
    *done = add_ranges(w->units, die, &unit->spans, scope, (uint32_t)w->depth);
    if (!*done || unit->spans.count == before)
        return SCOPE_NONE;
    if (unit->scope_count == unit->scope_room) {
        const size_t room = unit->scope_room ? unit->scope_room * 2 : 16;
        struct scope *scopes =
            reallocarray(unit->scopes, room, sizeof(*scopes));
        *done = scopes != NULL;
        if (scopes == NULL)
            return SCOPE_NONE;
        unit->scopes = scopes;
        unit->scope_room = room;
    }
    const bool inlined = tag == DW_TAG_inlined_subroutine;
    unit->scopes[unit->scope_count++] = (struct scope){
        .die = *die,
        .parent = inlined ? around : SCOPE_NONE,
        .inlined = inlined,
        .entry = UINT64_MAX,
    };
    return scope;
}

/* Returns whether functions can be below a DIE of the tag. */
static bool
may_hold_functions(int tag)
{
    return tag != DW_TAG_enumeration_type && tag != DW_TAG_array_type &&
           tag != DW_TAG_subroutine_type && tag != DW_TAG_call_site &&
           tag != DW_TAG_GNU_call_site;
}

/* Goes to the DIE's first child, or to the next DIE on this or a higher level.
 * DIEs must lie one behind the other, as damaged ones need not: so each is
 * visited once. */
static bool
step(struct walk *w)
{
    struct level *top = &w->levels[w->depth - 1];
    Dwarf_Die next;

    if (w->depth < DEPTH_MOST && may_hold_functions(dwarf_tag(&top->die)) &&
        dwarf_child(&top->die, &next) == 0) {
        w->levels[w->depth++] = (struct level){next, SCOPE_NONE};
        return next.addr > w->reached;
    }
    /* The first level is the unit itself. */
    while (w->depth > 1) {
        top = &w->levels[w->depth - 1];
        if (dwarf_siblingof(&top->die, &next) == 0) {
            top->die = next;
            return next.addr > w->reached;
        }
        w->depth--;
    }
    return false;
}

/* Finds the functions of the unit and the copies in them. */
static bool
read_scopes(const struct units *units, struct unit *unit)
{
    struct walk *w = calloc(1, sizeof(*w));
    bool done = w != NULL;

    if (!done)
        return false;
    w->units = units;
    w->unit = unit;
    w->levels[0] = (struct level){unit->die, SCOPE_NONE};
    w->depth = 1;
    w->reached = unit->die.addr;
    while (done && step(w)) {
        struct level *top = &w->levels[w->depth - 1];
        w->reached = top->die.addr;
        top->scope = visit(w, &top->die, w->levels[w->depth - 2].scope, &done);
    }
    free(w);
    return done;
}

/* Reads the line table as rows. */
static bool
read_rows(struct unit *unit)
{
    Dwarf_Lines *lines = NULL;
    size_t count = 0;

    if (dwarf_getsrclines(&unit->lines_die, &lines, &count) != 0 || count == 0)
        return true;
    unit->rows = calloc(count, sizeof(*unit->rows));
    if (unit->rows == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        struct line_row *row = &unit->rows[unit->row_count];
        Dwarf_Files *files;
        Dwarf_Addr address;
        size_t file = 0;
        int number = 0;
        bool end = false;
        if (line == NULL || dwarf_lineaddr(line, &address) != 0 ||
            dwarf_lineno(line, &number) != 0 ||
            dwarf_lineendsequence(line, &end) != 0 ||
            dwarf_line_file(line, &files, &file) != 0)
            continue;
        row->address = address;
        row->file = end || file >= LINE_END ? LINE_END : (uint32_t)file;
        row->line = number > 0 ? (uint32_t)number : 0;
        unit->row_count++;
    }
    return true;
}

/* Gives rows of code that has no line (0) the line before in the same function:
 * the compiler moved or made this code. */
static bool
fill_rows(struct unit *unit)
{
    /* Index of the function's last row with a line, plus 1. */
    size_t *last = calloc(unit->scope_count + 1, sizeof(*last));

    if (last == NULL)
        return false;
    for (size_t i = 0; i < unit->row_count; i++) {
        struct line_row *row = &unit->rows[i];
        const struct span *span = span_find(&unit->spans, row->address);
        if (row->file == LINE_END || span == NULL)
            continue;
        if (row->line != 0) {
            last[span->owner] = i + 1;
        } else if (last[span->owner] != 0) {
            row->file = unit->rows[last[span->owner] - 1].file;
            row->line = unit->rows[last[span->owner] - 1].line;
        }
    }
    free(last);
    return true;
}

/* Returns whether the language's compilers write names with their types. */
static bool
language_mangles(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

/* Returns the folder in which the compiler ran, or NULL. */
static const char *
folder_of(Dwarf_Die *unit)
{
    Dwarf_Attribute a;

    return dwarf_attr(unit, DW_AT_comp_dir, &a) != NULL ? dwarf_formstring(&a)
                                                        : NULL;
}

/* Lists the source files that the unit's line table names, unless that has been
 * done. */
static void
read_files(Dwarf_Die *unit, struct unit_files *files)
{
    if (files->files == NULL &&
        dwarf_getsrcfiles(unit, &files->files, &files->count) == 0)
        files->paths = calloc(files->count, sizeof(*files->paths));
}

void
unit_read(const struct units *units, struct unit *unit)
{
    if (unit->read)
        return;
    unit->read = true;
    unit->mangles = language_mangles(&unit->die);
    unit->folder = folder_of(&unit->lines_die);
    read_files(&unit->lines_die, &unit->files);
    read_files(&unit->die, &unit->call_files);
    if (!read_scopes(units, unit) || !span_flatten(&unit->spans))
        span_finish(&unit->spans);
    if (!read_rows(unit) || !fill_rows(unit))
        unit->row_count = 0;
}

/* Adds the unit's addresses. A unit that does not tell them is read: its
 * functions and its lines have addresses. */
static bool
add_unit_ranges(struct units *u, uint32_t index)
{
    struct unit *unit = &u->all[index];
    const size_t before = u->spans.count;

    if (!add_ranges(u, &unit->lines_die, &u->spans, index, 0))
        return false;
    if (u->spans.count != before)
        return true;
    unit_read(u, unit);
    for (size_t i = 0; i < unit->spans.count; i++) {
        struct span span = unit->spans.all[i];
        span.owner = index;
        span.depth = 0;
        if (u->spans.count < SPANS_MOST && !span_add(&u->spans, &span))
            return false;
    }
    for (size_t i = 0; i + 1 < unit->row_count; i++) {
        const struct line_row *row = &unit->rows[i];
        if (row->file != LINE_END && elf_file_is_code(u->file, row->address) &&
            u->spans.count < SPANS_MOST &&
            !span_add(&u->spans,
                      &(struct span){row->address, row[1].address, index, 0}))
            return false;
    }
    return true;
}

static bool
add_unit(struct units *u, Dwarf_CU *cu, const Dwarf_Die *die)
{
    Dwarf_Die split;

    if (u->count == u->room) {
        const size_t room = u->room ? u->room * 2 : 16;
        struct unit *all = reallocarray(u->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        u->all = all;
        u->room = room;
    }
    struct unit *unit = &u->all[u->count++];
    *unit = (struct unit){.die = *die, .lines_die = *die};
    /* The functions can be in a file of their own (-gsplit-dwarf). */
    memset(&split, 0, sizeof(split));
    if (dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
        split.addr != NULL && dwarf_tag(&split) == DW_TAG_compile_unit)
        unit->die = split;
    return add_unit_ranges(u, (uint32_t)(u->count - 1));
}

bool
units_list(struct units *u, Dwarf *dwarf, const struct elf_file *file,
           struct demangler *keep)
{
    Dwarf_CU *cu = NULL, *next = NULL;
    Dwarf_Die die;
    uint8_t type;

    u->dwarf = dwarf;
    u->file = file;
    u->keep = keep;
    while (dwarf != NULL && u->count < UNITS_MOST &&
           dwarf_get_units(dwarf, cu, &next, NULL, &type, &die, NULL) == 0) {
        const int tag = dwarf_tag(&die);
        cu = next;
        if ((tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) &&
            !add_unit(u, cu, &die))
            return false;
    }
    return span_flatten(&u->spans);
}

struct unit *
units_find(const struct units *u, uint64_t address)
{
    const struct span *span = span_find(&u->spans, address);

    if (span == NULL)
        return NULL;
    unit_read(u, &u->all[span->owner]);
    return &u->all[span->owner];
}

struct scope *
unit_scope(struct unit *unit, uint64_t address)
{
    const struct span *span = span_find(&unit->spans, address);

    return span != NULL ? &unit->scopes[span->owner] : NULL;
}

struct scope *
unit_parent(struct unit *unit, const struct scope *scope)
{
    return scope->parent != SCOPE_NONE ? &unit->scopes[scope->parent] : NULL;
}

/* Returns whether the path lies in the folder, by their texts. */
static bool
is_in(const char *path, const char *folder)
{
    const size_t size = strlen(folder);

    return strncmp(path, folder, size) == 0 && path[size] == '/';
}

/* Returns the path of a file of a line table, or NULL. libdw joins the folder
 * of the table with the file. A folder that is relative is relative to the
 * unit's; of the folder that is the unit's own libdw does not say so. */
static const char *
file_path(const struct units *u, const struct unit *unit,
          struct unit_files *files, size_t index)
{
    if (files->paths == NULL || index >= files->count)
        return NULL;
    if (files->paths[index] != NULL)
        return files->paths[index];
    const char *path = dwarf_filesrc(files->files, index, NULL, NULL);
    /* libdw's word for a file that has no name. */
    if (path == NULL || strcmp(path, "???") == 0)
        return NULL;
    if (path[0] != '/' && unit->folder != NULL && !is_in(path, unit->folder)) {
        const char *folder =
            demangler_keep(u->keep, unit->folder, strlen(unit->folder), "/");
        const char *joined =
            folder != NULL
                ? demangler_keep(u->keep, folder, strlen(folder), path)
                : NULL;
        path = joined != NULL ? joined : path;
    }
    files->paths[index] = path;
    return path;
}

/* Returns how many rows of the line table begin at the address or before. */
static size_t
rows_up_to(const struct unit *unit, uint64_t address)
{
    size_t low = 0, high = unit->row_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (unit->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t
units_until(const struct units *units, uint64_t address)
{
    const struct unit *const unit = units_find(units, address);
    uint64_t until = span_until(&units->spans, address);

    if (unit == NULL)
        return until;
    const uint64_t scope = span_until(&unit->spans, address);
    const size_t row = rows_up_to(unit, address);
    until = scope < until ? scope : until;
    return row < unit->row_count && unit->rows[row].address < until
               ? unit->rows[row].address
               : until;
}

void
unit_line(const struct units *units, struct unit *unit, uint64_t address,
          const char **file, unsigned *line)
{
    const size_t low = rows_up_to(unit, address);

    *file = NULL;
    *line = 0;
    if (low == 0 || unit->rows[low - 1].file == LINE_END)
        return;
    *file = file_path(units, unit, &unit->files, unit->rows[low - 1].file);
    *line = unit->rows[low - 1].line;
}

static const char *
base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Returns whether file `index` of the line table is the source file. Most are
 * told apart by their last names, for which no path need be made. */
static bool
is_source(const struct units *u, struct unit *unit, size_t index,
          const char *source)
{
    const char *path = dwarf_filesrc(unit->files.files, index, NULL, NULL);

    if (path == NULL || strcmp(base_name(path), base_name(source)) != 0)
        return false;
    path = file_path(u, unit, &unit->files, index);
    return path != NULL && strcmp(path, source) == 0;
}

void
unit_each_line(const struct units *units, struct unit *unit, const char *source,
               void (*take)(void *user, unsigned line), void *user)
{
    bool is_any = false;

    read_files(&unit->lines_die, &unit->files);
    bool *const wanted = calloc(unit->files.count + 1, sizeof(*wanted));
    for (size_t i = 0; wanted != NULL && i < unit->files.count; i++) {
        wanted[i] = is_source(units, unit, i, source);
        is_any |= wanted[i];
    }
    if (is_any)
        unit_read(units, unit);
    /* A row that the next has the address of too is of no code. */
    for (size_t i = 0; is_any && i + 1 < unit->row_count; i++) {
        const struct line_row *row = &unit->rows[i];
        if (row->address != row[1].address && row->file < unit->files.count &&
            wanted[row->file] && row->line != 0 &&
            elf_file_is_code(units->file, row->address))
            take(user, row->line);
    }
    free(wanted);
}

/* Returns the address of a function's first byte. Of a split function the
 * first range listed has that byte, wherever it lies. */
static uint64_t
entry_of(Dwarf_Die *die)
{
    Dwarf_Addr base = 0, start = 0, end = 0, low = 0;

    if (dwarf_lowpc(die, &low) == 0)
        return low;
    if (dwarf_ranges(die, 0, &base, &start, &end) > 0)
        return start;
    return UINT64_MAX;
}

void
scope_name(const struct units *units, struct unit *unit, struct scope *s)
{
    Dwarf_Attribute a;
    Dwarf_Word number = 0;

    if (s->named)
        return;
    s->named = true;
    if (dwarf_attr_integrate(&s->die, DW_AT_name, &a) != NULL)
        s->name = dwarf_formstring(&a);
    if (dwarf_attr_integrate(&s->die, DW_AT_linkage_name, &a) != NULL ||
        dwarf_attr_integrate(&s->die, DW_AT_MIPS_linkage_name, &a) != NULL)
        s->mangled = dwarf_formstring(&a);
    if (s->mangled == NULL && !unit->mangles)
        s->mangled = s->name;
    if (dwarf_attr_integrate(&s->die, DW_AT_decl_line, &a) != NULL &&
        dwarf_formudata(&a, &number) == 0 && number <= INT32_MAX)
        s->decl_line = (unsigned)number;
    if (!s->inlined)
        s->entry = entry_of(&s->die);
    if (s->inlined && dwarf_attr(&s->die, DW_AT_call_line, &a) != NULL &&
        dwarf_formudata(&a, &number) == 0 && number <= INT32_MAX)
        s->call_line = (unsigned)number;
    if (s->inlined && dwarf_attr(&s->die, DW_AT_call_file, &a) != NULL &&
        dwarf_formudata(&a, &number) == 0)
        s->call_file = file_path(units, unit, &unit->call_files, number);
}

void
units_finish(struct units *u)
{
    for (size_t i = 0; i < u->count; i++) {
        free(u->all[i].scopes);
        free(u->all[i].rows);
        free(u->all[i].files.paths);
        free(u->all[i].call_files.paths);
        span_finish(&u->all[i].spans);
    }
    free(u->all);
    span_finish(&u->spans);
    *u = (struct units){0};
}
