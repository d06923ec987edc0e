/* SPDX-License-Identifier: MIT */
#include "names/names.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "names/demangle.h"
#include "names/elf_file.h"
#include "names/fields.h"
#include "names/symbols.h"
#include "names/types.h"
#include "names/units.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

/* One file; what is below `read` is filled in at the first look-up. */
struct names_file {
    struct elf_file elf;
    char *path;
    struct stat stat; /* of the path, before it was opened */
    bool read;
    struct elf_file debug;    /* the separate debug file */
    struct elf_file alt;      /* what several debug files share */
    Dwarf *dwarf, *alt_dwarf; /* or NULL */
    struct symbols symbols;
    struct units units;
    struct fields fields;
};

struct names {
    const struct tally_log *log;
    char **dirs;
    size_t dir_count;
    struct names_file **files;
    size_t count, room;
    struct demangler demangler;
    struct types types;
};

int
names_create(const struct names_options *options, const struct tally_log *log,
             struct names **names)
{
    const size_t given = options != NULL ? options->debug_dir_count : 0;
    struct names *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for names");
    n->log = log;
    n->dirs = calloc(given + 1, sizeof(char *));
    for (size_t i = 0; i <= given && n->dirs != NULL; i++) {
        const char *dir = i < given ? options->debug_dirs[i] : SYSTEM_DEBUG_DIR;
        n->dirs[i] = strdup(dir);
        if (n->dirs[i] == NULL)
            break;
        n->dir_count++;
    }
    if (n->dir_count != given + 1) {
        names_destroy(n);
        return tally_fail(log, TALLY_ENOMEM, "no memory for names");
    }
    *names = n;
    return 0;
}

static void
destroy_file(struct names_file *f)
{
    units_finish(&f->units);
    symbols_finish(&f->symbols);
    fields_finish(&f->fields);
    if (f->dwarf != NULL)
        dwarf_end(f->dwarf);
    if (f->alt_dwarf != NULL)
        dwarf_end(f->alt_dwarf);
    elf_file_close(&f->alt);
    elf_file_close(&f->debug);
    elf_file_close(&f->elf);
    free(f->path);
    free(f);
}

void
names_destroy(struct names *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->count; i++)
        destroy_file(n->files[i]);
    for (size_t i = 0; i < n->dir_count; i++)
        free(n->dirs[i]);
    demangler_finish(&n->demangler);
    types_finish(&n->types);
    free(n->dirs);
    free(n->files);
    free(n);
}

/* Checks that the file is the one that was meant. */
static int
check_id(const struct names_file *f, const uint8_t *id, size_t size,
         const struct tally_log *log)
{
    if (size == 0)
        return 0;
    if (f->elf.build_id_size == 0)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s: has no build id, so may be another file than "
                          "the one that ran",
                          f->path);
    if (f->elf.build_id_size != size || memcmp(f->elf.build_id, id, size) != 0)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s: has another build id than the file that ran",
                          f->path);
    return 0;
}

/* Makes room for one more file. */
static bool
grow(struct names *n)
{
    if (n->count < n->room)
        return true;
    const size_t room = n->room ? n->room * 2 : 16;
    struct names_file **files = reallocarray(n->files, room, sizeof(*files));
    if (files == NULL)
        return false;
    n->files = files;
    n->room = room;
    return true;
}

/* Returns whether both are of one file that did not change in between. */
static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim)) == 0;
}

/* Returns the index of the file if it was added before, or the count. */
static size_t
find_added(const struct names *n, const char *path, const struct stat *stat)
{
    size_t i = 0;

    while (i < n->count && (strcmp(n->files[i]->path, path) != 0 ||
                            !is_same(&n->files[i]->stat, stat)))
        i++;
    return i;
}

int
names_add(struct names *n, const char *path, const uint8_t *build_id,
          size_t build_id_size, unsigned *file)
{
    struct stat st = {0};
    /* A file that is not there is refused where it is opened. */
    const size_t known =
        stat(path, &st) == 0 ? find_added(n, path, &st) : n->count;

    if (known < n->count) {
        const int error =
            check_id(n->files[known], build_id, build_id_size, n->log);
        if (error == 0)
            *file = (unsigned)known;
        return error;
    }
    struct names_file *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return tally_fail(n->log, TALLY_ENOMEM, "%s: no memory", path);
    f->stat = st;
    f->elf = f->debug = f->alt = ELF_FILE_NONE;
    f->path = strdup(path);
    int error = f->path != NULL && grow(n)
                    ? elf_file_open(path, n->log, &f->elf)
                    : tally_fail(n->log, TALLY_ENOMEM, "%s: no memory", path);
    if (error == 0)
        error = check_id(f, build_id, build_id_size, n->log);
    if (error != 0) {
        destroy_file(f);
        return error;
    }
    *file = (unsigned)n->count;
    n->files[n->count++] = f;
    return 0;
}

/* Returns whether the section has strings alone, of the debug information: its
 * name may be that of a section that was compressed or split off. */
static bool
has_strings(const char *name)
{
    static const char *const sections[] = {"str", "line_str"};

    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        const char *const begin =
            strncmp(name, ".z", 2) == 0 ? ".zdebug_" : ".debug_";
        const size_t first = strlen(begin), length = strlen(sections[i]);
        if (strncmp(name, begin, first) == 0 &&
            strncmp(name + first, sections[i], length) == 0 &&
            (name[first + length] == '\0' ||
             strcmp(name + first + length, ".dwo") == 0))
            return true;
    }
    return false;
}

/* Returns whether all sections with strings end with a byte of 0, as those do
 * that a compiler makes: libdw 0.188 reads on behind a string that the section
 * cuts off. libdw has expanded the sections if they were compressed. */
static bool
strings_end(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr h;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *const name = gelf_getshdr(section, &h) != NULL
                                     ? elf_strptr(elf, names, h.sh_name)
                                     : NULL;
        if (name == NULL || h.sh_type == SHT_NOBITS || !has_strings(name))
            continue;
        const Elf_Data *const data = elf_getdata(section, NULL);
        if (data != NULL && data->d_buf != NULL && data->d_size != 0 &&
            ((const char *)data->d_buf)[data->d_size - 1] != '\0')
            return false;
    }
    return true;
}

/* Returns the debug information of the file if there are units in it. */
static Dwarf *
open_dwarf(const struct elf_file *file)
{
    Dwarf_CU *unit = NULL;
    Dwarf *dwarf = file->elf != NULL
                       ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL)
                       : NULL;

    if (dwarf != NULL && strings_end(file->elf) &&
        dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL) == 0)
        return dwarf;
    if (dwarf != NULL)
        dwarf_end(dwarf);
    return NULL;
}

/* Opens the file that the debug information shares with others. libdw searches
 * it in the usual places, not in the caller's folders. */
static void
open_alt(const struct names *n, struct names_file *f)
{
    const void *id = NULL;
    const char *name;
    const ssize_t size = dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &id);

    if (size <= 0 ||
        !elf_file_with_id(id, (size_t)size, n->dirs, n->dir_count, &f->alt))
        return;
    f->alt_dwarf = dwarf_begin_elf(f->alt.elf, DWARF_C_READ, NULL);
    if (f->alt_dwarf != NULL && strings_end(f->alt.elf))
        dwarf_setalt(f->dwarf, f->alt_dwarf);
}

/* Opens the debug information and lists units and symbols. Whatever fails gives
 * fewer names. */
static void
read_file(struct names *n, struct names_file *f)
{
    if (f->read)
        return;
    f->read = true;
    f->dwarf = open_dwarf(&f->elf);
    if (f->dwarf == NULL &&
        elf_file_debug(&f->elf, f->path, n->dirs, n->dir_count, &f->debug))
        f->dwarf = open_dwarf(&f->debug);
    if (f->dwarf != NULL)
        open_alt(n, f);
    if (!symbols_read(&f->symbols, &f->elf, &f->debug, &n->demangler))
        symbols_finish(&f->symbols);
    if (!units_list(&f->units, f->dwarf, &f->elf, &n->demangler))
        units_finish(&f->units);
    /* A profile can have more files than a process may have descriptors. */
    elf_file_release(&f->elf);
    elf_file_release(&f->debug);
    elf_file_release(&f->alt);
}

/* Names a frame after the symbol; keeps what the debug information has. */
static void
name_by_symbol(struct names *n, struct name_frame *frame,
               const struct symbol *symbol)
{
    if (symbol == NULL || frame->mangled != NULL)
        return;
    frame->mangled = symbol->name;
    frame->function = demangle(&n->demangler, symbol->name);
}

/* Names a frame after the scope. A function without a mangled name, as one of
 * an anonymous namespace, has it in the symbol that begins where it does. */
static void
name_by_scope(struct names *n, const struct names_file *f, struct unit *unit,
              struct scope *scope, struct name_frame *frame)
{
    scope_name(&f->units, unit, scope);
    frame->mangled = scope->mangled;
    frame->function_line = scope->decl_line;
    frame->function = scope->mangled != NULL
                          ? demangle(&n->demangler, scope->mangled)
                          : scope->name;
    if (scope->mangled == NULL && !scope->inlined) {
        const struct symbol *symbol = symbols_find(&f->symbols, scope->entry);
        if (symbol != NULL && symbol->address == scope->entry)
            name_by_symbol(n, frame, symbol);
    }
}

/* Returns how many frames the scope and those around it are. */
static size_t
frame_count(struct unit *unit, const struct scope *scope)
{
    size_t count = 0;

    for (; scope != NULL; scope = unit_parent(unit, scope))
        count++;
    return count;
}

/* Fills in the frames of the scope and of those around it, but for the first
 * `skipped`. Returns their number; *outer is then the last. */
static size_t
scope_frames(struct names *n, const struct names_file *f, struct unit *unit,
             struct scope **outer, struct name_frame *place, size_t skipped,
             struct name_frame *frames)
{
    struct scope *scope = *outer;
    size_t count = 0;

    for (; scope != NULL; scope = unit_parent(unit, scope)) {
        name_by_scope(n, f, unit, scope, place);
        if (skipped > 0)
            skipped--;
        else
            frames[count++] = *place;
        place->file = scope->call_file;
        place->line = scope->call_line;
        *outer = scope;
    }
    return count;
}

size_t
names_find(struct names *n, unsigned file, uint64_t offset,
           struct name_frame *frames, size_t most)
{
    struct name_frame place = {.function_offset = UINT64_MAX};
    uint64_t address, entry = UINT64_MAX;

    if (file >= n->count || most == 0 ||
        !elf_file_address(&n->files[file]->elf, offset, &address))
        return 0;
    struct names_file *f = n->files[file];
    read_file(n, f);
    const struct symbol *symbol = symbols_find(&f->symbols, address);
    struct unit *unit = units_find(&f->units, address);
    struct scope *scope = unit != NULL ? unit_scope(unit, address) : NULL;
    if (unit != NULL)
        unit_line(&f->units, unit, address, &place.file, &place.line);
    size_t count = frame_count(unit, scope);
    if (count > 0) {
        count = scope_frames(n, f, unit, &scope, &place,
                             count > most ? count - most : 0, frames);
        entry = scope->entry;
    } else if (symbol != NULL || place.file != NULL) {
        frames[count++] = place;
    }
    if (count == 0)
        return 0;
    if (frames[count - 1].function == NULL)
        name_by_symbol(n, &frames[count - 1], symbol);
    if (entry == UINT64_MAX && symbol != NULL)
        entry = symbol->address;
    for (size_t i = 0; i < count && entry != UINT64_MAX; i++)
        frames[i].function_offset = elf_file_offset(&f->elf, entry);
    return count;
}

uint64_t
names_until(struct names *n, unsigned file, uint64_t offset)
{
    uint64_t address;

    if (file >= n->count ||
        !elf_file_address(&n->files[file]->elf, offset, &address))
        return offset < UINT64_MAX ? offset + 1 : offset;
    struct names_file *f = n->files[file];
    read_file(n, f);
    const uint64_t symbol = symbols_until(&f->symbols, address) - address;
    const uint64_t unit = units_until(&f->units, address) - address;
    const uint64_t segment = elf_file_until(&f->elf, offset) - offset;
    const uint64_t least = symbol < unit ? symbol : unit;
    return offset + (least < segment ? least : segment);
}

uint64_t
names_address(const struct names *n, unsigned file, uint64_t offset)
{
    uint64_t address;

    return file < n->count &&
                   elf_file_address(&n->files[file]->elf, offset, &address)
               ? address
               : UINT64_MAX;
}

void
names_each_line(struct names *n, unsigned file, const char *source,
                void (*take)(void *user, unsigned line), void *user)
{
    if (file >= n->count)
        return;
    struct names_file *f = n->files[file];
    read_file(n, f);
    for (size_t i = 0; i < f->units.count; i++)
        unit_each_line(&f->units, &f->units.all[i], source, take, user);
}

/* A function that names_each_function() reports. */
struct piece {
    uint64_t offset, size;
    const char *function, *mangled;
    bool symbol;
};

struct pieces {
    struct piece *all;
    size_t count, room;
};

static bool
add_piece(struct pieces *p, const struct piece *piece)
{
    if (p->count == p->room) {
        const size_t room = p->room ? p->room * 2 : 256;
        struct piece *all = reallocarray(p->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        p->all = all;
        p->room = room;
    }
    p->all[p->count++] = *piece;
    return true;
}

/* Adds each piece of a function of the debug information. */
static bool
add_scope(struct names *n, const struct names_file *f, struct unit *unit,
          struct scope *scope, struct pieces *pieces)
{
    struct name_frame frame = {0};
    Dwarf_Addr base = 0, start = 0, end = 0;
    ptrdiff_t next = 0;

    if (scope->inlined)
        return true;
    name_by_scope(n, f, unit, scope, &frame);
    if (frame.function == NULL)
        return true;
    while ((next = dwarf_ranges(&scope->die, next, &base, &start, &end)) > 0) {
        const struct piece piece = {
            .offset = elf_file_offset(&f->elf, start),
            .size = end - start,
            .function = frame.function,
            .mangled = frame.mangled,
        };
        if (start < end && elf_file_is_code(&f->elf, start) &&
            !add_piece(pieces, &piece))
            return false;
    }
    return true;
}

static bool
add_symbols(struct names *n, const struct names_file *f, struct pieces *pieces)
{
    for (size_t i = 0; i < f->symbols.count; i++) {
        const struct symbol *symbol = &f->symbols.all[i];
        if (!add_piece(pieces,
                       &(struct piece){
                           .offset = elf_file_offset(&f->elf, symbol->address),
                           .size = symbol->size,
                           .function = demangle(&n->demangler, symbol->name),
                           .mangled = symbol->name,
                           .symbol = true,
                       }))
            return false;
    }
    return true;
}

/* Sorts by place and name; functions of the debug information before symbols
 * of the same place and name. */
static int
by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    const int order = strcmp(x->function, y->function);
    if (order != 0)
        return order;
    return x->symbol - y->symbol;
}

/* Returns whether the piece has place and name of the piece before it. */
static bool
is_known(const struct pieces *p, size_t i)
{
    return i > 0 && p->all[i - 1].offset == p->all[i].offset &&
           strcmp(p->all[i - 1].function, p->all[i].function) == 0;
}

void
names_each_function(struct names *n, unsigned file,
                    void (*take)(void *user, const char *function,
                                 const char *mangled, uint64_t offset,
                                 uint64_t size),
                    void *user)
{
    struct pieces pieces = {0};

    if (file >= n->count)
        return;
    struct names_file *f = n->files[file];
    read_file(n, f);
    bool done = add_symbols(n, f, &pieces);
    for (size_t i = 0; i < f->units.count && done; i++) {
        struct unit *unit = &f->units.all[i];
        unit_read(&f->units, unit);
        for (size_t j = 0; j < unit->scope_count && done; j++)
            done = add_scope(n, f, unit, &unit->scopes[j], &pieces);
    }
    if (pieces.count > 0)
        qsort(pieces.all, pieces.count, sizeof(*pieces.all), by_place);
    for (size_t i = 0; i < pieces.count; i++) {
        const struct piece *p = &pieces.all[i];
        if (!is_known(&pieces, i))
            take(user, p->function, p->mangled, p->offset, p->size);
    }
    free(pieces.all);
}

char *
names_field(struct names *n, unsigned file, uint64_t address)
{
    if (file >= n->count)
        return NULL;
    struct names_file *const f = n->files[file];
    read_file(n, f);
    return f->dwarf != NULL ? fields_name(&f->fields, f->dwarf, address) : NULL;
}

bool
names_holders(struct names *n, unsigned file, uint64_t offset,
              void (*take)(void *user, const struct name_holder *holder),
              void *user)
{
    uint64_t address;

    if (file >= n->count ||
        !elf_file_address(&n->files[file]->elf, offset, &address))
        return false;
    struct names_file *const f = n->files[file];
    read_file(n, f);
    struct unit *const unit = units_find(&f->units, address);
    struct scope *scope = unit != NULL ? unit_scope(unit, address) : NULL;
    for (struct scope *s = scope; s != NULL; s = unit_parent(unit, s))
        scope = s;
    if (scope != NULL)
        types_holders(&n->types, &scope->die, take, user);
    return scope != NULL;
}

bool
names_static(struct names *n, unsigned file, uint64_t address,
             const struct name_type **type, uint64_t *offset)
{
    Dwarf_Die die;

    if (file >= n->count)
        return false;
    struct names_file *const f = n->files[file];
    read_file(n, f);
    if (f->dwarf == NULL ||
        !fields_find(&f->fields, f->dwarf, address, &die, offset))
        return false;
    *type = types_of(&n->types, &die);
    if (*type == NULL)
        return false;
    *offset %= (*type)->size; /* of an array's element */
    return true;
}

bool
names_part(struct names *n, const struct name_type *type, uint64_t offset,
           struct name_part *part)
{
    return types_part(&n->types, type, offset, part);
}

bool
names_has(struct names *n, const struct name_type *type,
          const struct name_type *other)
{
    return types_has(&n->types, type, other);
}
