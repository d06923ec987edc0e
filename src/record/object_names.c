/* SPDX-License-Identifier: MIT */
#include "record/object_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "names/demangle.h"

/* Callers that a block's name tells. */
#define CALLERS 4u

static const char *const kinds[RECORD_OBJECT_KINDS] = {
    "none", "heap", "variable", "image", "stack", "mapping",
};

const char *
object_names_kind(unsigned kind)
{
    return kinds[kind < RECORD_OBJECT_KINDS ? kind : 0];
}

/* A name that is being written. */
struct writing {
    FILE *out;
    struct resolver *resolver;
    unsigned callers; /* written so far */
    bool all;         /* also functions of the languages' own libraries */
    uint32_t unnamed; /* the image of a caller without a name that was left out
                         before all others; 0: none was */
};

bool
object_names_is_allocator(const char *function)
{
    static const char *const names[] = {
        "operator new",    "mmap",
        "mmap64",          "__mmap",
        "__mmap64",        "sysmalloc",
        "sysmalloc_mmap",  "_int_malloc",
        "malloc",          "__libc_malloc",
        "calloc",          "__libc_calloc",
        "realloc",         "__libc_realloc",
        "_int_realloc",    "_int_memalign",
        "_mid_memalign",   "memalign",
        "__libc_memalign", "aligned_alloc",
        "posix_memalign",  "arena_get2",
        "new_heap",        "tcache_init",
        "_MIPS_STUBS_",    "",
    };
    const size_t length = strcspn(function, ".([");

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strlen(names[i]) == length &&
            memcmp(names[i], function, length) == 0)
            return true;
    }
    return false;
}

/* Returns whether a function of the C library calls main() or what a thread
 * runs: it says nothing of the program. */
static bool
is_start(const char *function)
{
    static const char *const names[] = {
        "__libc_start_call_main",
        "__libc_start_main",
        "_start",
        "start_thread",
        "clone",
    };
    const size_t length = strcspn(function, "@.");

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strncmp(function, names[i], length) == 0 &&
            strncmp(names[i], function, strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* Returns whether a function is of the library of C++ or Rust: containers and
 * what they allocate with. */
static bool
is_of_language(const char *function)
{
    static const char *const beginnings[] = {
        "std::",   "__gnu_cxx::", "void std::",  "alloc::",      "<alloc::",
        "core::",  "<core::",     "hashbrown::", "<hashbrown::", "<std::",
        "__rust_", "__rdl_",      "__rg_",
    };

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

/* Writes a frame of a call. Those of allocators are left out before all others:
 * they say nothing of the block; and so are containers of the language. */
static void
write_frame(struct writing *w, const struct resolved *r,
            const struct resolved_frame *frame)
{
    const char *const function = resolver_text(w->resolver, frame->function);

    if (w->callers == 0 && frame->function == 0)
        w->unnamed = r->image;
    if (w->callers == 0 && w->unnamed != 0 && is_start(function)) {
        fprintf(w->out, " in code without symbols in %s",
                path_base(resolver_text(w->resolver, w->unnamed)));
        w->callers = CALLERS;
    }
    if (w->callers == CALLERS ||
        (w->callers == 0 && (object_names_is_allocator(function) ||
                             (!w->all && is_of_language(function)))))
        return;
    fputs(w->callers == 0 ? " in " : " from ", w->out);
    if (frame->function != 0)
        fputs(function, w->out);
    else
        fprintf(w->out, "(no symbols in %s)",
                path_base(resolver_text(w->resolver, r->image)));
    if (w->callers == 0 && frame->line != 0)
        fprintf(w->out, " (%s:%" PRIu32 ")",
                path_base(resolver_text(w->resolver, frame->file)),
                frame->line);
    w->callers++;
    if (strcmp(function, "main") == 0)
        w->callers = CALLERS; /* what led there says nothing of the block */
}

/* Writes the callers of an allocator. */
static void
write_callers(struct writing *w, const struct record *record, size_t process,
              const struct record_object_row *o)
{
    const struct record_path *paths = record->processes[process].paths;

    for (uint32_t p = o->path; p != 0 && w->callers < CALLERS;
         p = paths[p].parent) {
        if (paths[p].call == RECORD_NO_CALL) {
            fputs(" from unknown callers", w->out);
            return;
        }
        const struct resolved *r =
            resolver_find(w->resolver, process, paths[p].call);
        for (size_t i = 0; i < r->frame_count; i++)
            write_frame(w, r, &r->frames[i]);
    }
}

/* Writes what an allocator gave: the allocator and its callers. */
static void
write_block(struct writing *w, const struct record *record, size_t process,
            const struct record_object_row *o)
{
    fputs(o->name, w->out);
    write_callers(w, record, process, o);
    w->all = true;
    if (w->callers == 0)
        write_callers(w, record, process, o);
    if (w->callers == 0)
        fputs(" in code without symbols", w->out);
}

/* Writes the function whose stack frames an object is. */
static void
write_stack(struct writing *w, size_t process,
            const struct record_object_row *o)
{
    if (o->insn == RECORD_NO_CALL) {
        fputs("stack", w->out);
        return;
    }
    const struct resolved *r = resolver_find(w->resolver, process, o->insn);
    const uint32_t function = r->frames[r->frame_count - 1].function;
    if (function != 0)
        fprintf(w->out, "stack of %s", resolver_text(w->resolver, function));
    else
        fprintf(w->out, "stack of code without symbols in %s",
                path_base(resolver_text(w->resolver, r->image)));
}

static void
write_mapping(FILE *out, const char *name)
{
    if (strcmp(name, "[heap]") == 0)
        fputs("heap outside of known blocks", out);
    else if (strcmp(name, "[anonymous]") == 0)
        fputs("anonymous memory", out);
    else
        fprintf(out, "mapping of %s", name);
}

void
object_names_write(FILE *out, struct demangler *demangler, unsigned kind,
                   const char *name, const char *image)
{
    if (kind == RECORD_VARIABLE)
        fprintf(out, "%s in %s", demangle(demangler, name), path_base(image));
    else if (kind == RECORD_IMAGE)
        fprintf(out, "other data of %s", path_base(name));
    else
        write_mapping(out, name);
}

/* Returns an object's name, for the caller to free; NULL: no memory. */
static char *
make_name(const struct record *record, struct resolver *resolver,
          size_t process, const struct record_object_row *o,
          struct demangler *demangler)
{
    char *text = NULL;
    size_t size;
    struct writing w = {open_memstream(&text, &size), resolver, 0, false, 0};

    if (w.out == NULL)
        return NULL;
    switch (o->kind) {
    case RECORD_HEAP:
        write_block(&w, record, process, o);
        break;
    case RECORD_STACK:
        write_stack(&w, process, o);
        break;
    default:
        object_names_write(w.out, demangler, o->kind, o->name, o->image);
    }
    const bool failed = ferror(w.out) != 0;
    if (fclose(w.out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* A name and the object that has it. */
struct named {
    struct object_name name;
    size_t process, number;
};

static int
compare(const void *first, const void *second)
{
    const struct named *a = first, *b = second;

    if (a->name.kind != b->name.kind)
        return a->name.kind < b->name.kind ? -1 : 1;
    return strcmp(a->name.text, b->name.text);
}

/* Names all objects, in any order; returns how many, or SIZE_MAX: no memory. */
static size_t
name_all(const struct record *record, struct resolver *resolver,
         struct named *named)
{
    struct demangler demangler = {0};
    size_t count = 0;

    for (size_t p = 0; p < record->process_count; p++) {
        const struct record_process_row *process = &record->processes[p];
        for (size_t i = 0; i < process->object_count; i++) {
            const struct record_object_row *o = &process->objects[i];
            struct named *n = &named[count];
            n->name = (struct object_name){
                make_name(record, resolver, p, o, &demangler), o->kind,
                o->allocations, o->bytes, o->used};
            n->process = p;
            n->number = i + 1;
            if (n->name.text == NULL) {
                demangler_finish(&demangler);
                return SIZE_MAX;
            }
            count++;
        }
    }
    demangler_finish(&demangler);
    return count;
}

/* Makes one row of the objects with one name. */
static void
join(struct object_names *names, struct named *named, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool again = i > 0 && compare(&named[i - 1], &named[i]) == 0;
        struct object_name *row = &names->rows[names->count - 1];
        if (again) {
            row->allocations += named[i].name.allocations;
            row->bytes += named[i].name.bytes;
            row->used.loads += named[i].name.used.loads;
            row->used.stores += named[i].name.used.stores;
            row->used.fetched += named[i].name.used.fetched;
            row->used.touched += named[i].name.used.touched;
        } else {
            names->rows[names->count++] = named[i].name;
        }
        names->of[named[i].process][named[i].number] =
            (uint32_t)names->count - 1;
    }
    for (size_t i = count; i > 0; i--) {
        if (names->rows[names->of[named[i - 1].process][named[i - 1].number]]
                .text != named[i - 1].name.text)
            free(named[i - 1].name.text);
    }
}

int
object_names_create(const struct record *record, struct resolver *resolver,
                    struct object_names *names)
{
    size_t all = 0;

    *names = (struct object_names){.process_count = record->process_count};
    names->of = calloc(record->process_count + 1, sizeof(*names->of));
    for (size_t p = 0; names->of != NULL && p < record->process_count; p++) {
        const size_t count = record->processes[p].object_count;
        names->of[p] = calloc(count + 1, sizeof(**names->of));
        if (names->of[p] == NULL)
            return TALLY_ENOMEM;
        all += count;
    }
    names->rows = calloc(all + 1, sizeof(*names->rows));
    struct named *named = calloc(all + 1, sizeof(*named));
    char *const none = strdup("(no object)");
    if (names->of == NULL || names->rows == NULL || named == NULL ||
        none == NULL) {
        free(named);
        free(none);
        return TALLY_ENOMEM;
    }
    names->rows[names->count++] = (struct object_name){.text = none};
    const size_t count = name_all(record, resolver, named);
    if (count == SIZE_MAX) {
        for (size_t i = 0; i < all; i++)
            free(named[i].name.text);
        free(named);
        return TALLY_ENOMEM;
    }
    qsort(named, count, sizeof(*named), compare);
    join(names, named, count);
    free(named);
    return 0;
}

void
object_names_finish(struct object_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->rows[i].text);
    for (size_t p = 0; names->of != NULL && p < names->process_count; p++)
        free(names->of[p]);
    free(names->of);
    free(names->rows);
    *names = (struct object_names){0};
}
