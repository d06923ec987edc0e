/* SPDX-License-Identifier: MIT */
#include "names/types.h"

#include <dwarf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Damaged debug information may nest and refer without end. */
#define DEPTH_MOST 32u
#define TYPES_MOST (1u << 16)
#define MEMBERS_MOST 4096u   /* of a structure */
#define VARIABLES_MOST 4096u /* of a function */
#define PLACES_MOST 1024u    /* of a variable */

struct type_row {
    struct name_type type; /* first: what callers have */
    Dwarf_Die die;         /* without qualifiers and names */
    void *address;         /* of the description */
    char *name;            /* owned; NULL: no structure's */
};

void
types_finish(struct types *t)
{
    for (size_t i = 0; i < t->kept_count; i++) {
        free(t->kept[i]->name);
        free(t->kept[i]);
    }
    free(t->kept);
    free(t->rows);
    *t = (struct types){.rows = NULL};
}

static bool
is_structure(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type;
}

static bool
is_pointer(int tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

/* Finds the type that a description has. */
static bool
type_die(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute a;

    return dwarf_attr_integrate(die, DW_AT_type, &a) != NULL &&
           dwarf_formref_die(&a, type) != NULL;
}

/* Steps through names of types, qualifiers and arrays to what has a layout.
 * *given becomes the last name on the way, of a structure without a name. */
static bool
peel(Dwarf_Die *type, const char **given)
{
    for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
        Dwarf_Die next;
        switch (dwarf_tag(type)) {
        case DW_TAG_typedef:
            *given = dwarf_diename(type);
            break;
        case DW_TAG_array_type:
            *given = NULL;
            break;
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            break;
        default:
            return true;
        }
        if (!type_die(type, &next))
            return false;
        *type = next;
    }
    return false;
}

/* Returns whether the unit of a description is in C, where the name of a
 * structure needs a word in front. */
static bool
is_of_c(Dwarf_Die *die)
{
    Dwarf_Die unit;

    if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
        return false;
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c: /* DW_LANG_C17 */
        return true;
    default:
        return false;
    }
}

/* Returns what a structure is called, for the caller to free. */
static char *
make_name(Dwarf_Die *die, const char *given)
{
    const char *const own = dwarf_diename(die);
    const char *const word = own == NULL || !is_of_c(die)          ? ""
                             : dwarf_tag(die) == DW_TAG_union_type ? "union "
                                                                   : "struct ";
    char *name;

    if (own == NULL && given == NULL)
        given = "(unnamed)";
    return asprintf(&name, "%s%s", word, own != NULL ? own : given) < 0 ? NULL
                                                                        : name;
}

static const char *
base_name(const char *path)
{
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

/* Finds where the source declares something. */
static void
declared(Dwarf_Die *die, const char **file, unsigned *line)
{
    int number = 0;

    *file = base_name(dwarf_decl_file(die));
    *line =
        dwarf_decl_line(die, &number) == 0 && number > 0 ? (unsigned)number : 0;
    if (*line == 0)
        *file = NULL;
}

/* Returns where a description is among the rows, or would be. */
static size_t
row_of(const struct types *t, const void *address)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)t->rows[middle]->address < (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
is_same(const struct name_type *a, const struct name_type *b)
{
    return a->name != NULL && b->name != NULL && a->size == b->size &&
           a->line != 0 && a->line == b->line &&
           strcmp(a->name, b->name) == 0 && a->file != NULL &&
           b->file != NULL && strcmp(a->file, b->file) == 0;
}

/* Adds a type at its place among the rows. Returns NULL: no memory. */
static struct type_row *
add_row(struct types *t, size_t at, const struct type_row *like)
{
    struct type_row *const row = malloc(sizeof(*row));

    if (row == NULL)
        return NULL;
    if (t->count == t->room) {
        const size_t room = 2 * t->room + 64;
        struct type_row **const rows =
            reallocarray(t->rows, room, sizeof(*rows));
        struct type_row **const kept =
            rows != NULL ? reallocarray(t->kept, room, sizeof(*kept)) : NULL;
        t->rows = rows != NULL ? rows : t->rows;
        t->kept = kept != NULL ? kept : t->kept;
        if (kept == NULL) {
            free(row);
            return NULL;
        }
        t->room = room;
    }
    *row = *like;
    memmove(t->rows + at + 1, t->rows + at, (t->count - at) * sizeof(*t->rows));
    t->rows[at] = row;
    t->count++;
    t->kept[t->kept_count++] = row;
    row->type.same = &row->type;
    for (size_t i = 0; i + 1 < t->kept_count; i++) {
        if (is_same(&t->kept[i]->type, &row->type)) {
            row->type.same = t->kept[i]->type.same;
            break;
        }
    }
    return row;
}

/* Returns the type with a description; NULL: it has no size. */
static const struct name_type *
keep(struct types *t, Dwarf_Die *die)
{
    const char *given = NULL;
    Dwarf_Word size = 0;
    struct type_row new = {.die = *die};

    if (!peel(&new.die, &given))
        return NULL;
    new.address = new.die.addr;
    const size_t at = row_of(t, new.address);
    if (at < t->count && t->rows[at]->address == new.address)
        return t->rows[at]->type.same;
    if (t->count >= TYPES_MOST || dwarf_aggregate_size(&new.die, &size) != 0 ||
        size == 0)
        return NULL;
    new.type.size = size;
    if (is_structure(dwarf_tag(&new.die))) {
        new.name = make_name(&new.die, given);
        new.type.name = new.name;
        declared(&new.die, &new.type.file, &new.type.line);
        if (new.name == NULL)
            return NULL;
    }
    struct type_row *const row = add_row(t, at, &new);
    if (row == NULL)
        free(new.name);
    return row != NULL ? row->type.same : NULL;
}

const struct name_type *
types_of(struct types *t, Dwarf_Die *variable)
{
    Dwarf_Die die;

    return type_die(variable, &die) ? keep(t, &die) : NULL;
}

/* Returns what a pointer or reference points to; NULL: the type is none, or
 * that is not known, as with `void *`. */
static const struct name_type *
pointed(struct types *t, const struct name_type *type)
{
    struct type_row *const row = (struct type_row *)(uintptr_t)type;

    return type != NULL && is_pointer(dwarf_tag(&row->die))
               ? types_of(t, &row->die)
               : NULL;
}

/* Parts */

/* Finds which bytes of its structure a member has. */
static bool
extent(Dwarf_Die *member, uint64_t *first, uint64_t *size)
{
    Dwarf_Attribute a;
    Dwarf_Word place = 0, bits = 0, at = 0;
    Dwarf_Die type;

    if (dwarf_attr(member, DW_AT_data_member_location, &a) != NULL &&
        dwarf_formudata(&a, &place) != 0)
        return false;
    if (dwarf_attr(member, DW_AT_bit_size, &a) != NULL &&
        dwarf_formudata(&a, &bits) == 0 &&
        dwarf_attr(member, DW_AT_data_bit_offset, &a) != NULL &&
        dwarf_formudata(&a, &at) == 0 && bits > 0 && bits <= 128) {
        *first = place + at / 8;
        *size = (at % 8 + bits + 7) / 8;
        return true;
    }
    *first = place;
    return type_die(member, &type) && dwarf_aggregate_size(&type, size) == 0;
}

/* A search for the member at a byte. */
struct search {
    struct types *types;
    struct name_part *part;
    size_t length; /* of part->path */
    unsigned depth;
};

static void
add_path(struct search *s, const char *format, ...)
{
    va_list args;
    const size_t room = sizeof(s->part->path) - s->length;

    va_start(args, format);
    const int length = vsnprintf(s->part->path + s->length, room, format, args);
    va_end(args);
    if (length > 0)
        s->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Notes that the byte is of the type at `start` of the whole. */
static void
end_at(struct search *s, Dwarf_Die *die, uint64_t start, uint64_t size)
{
    const struct name_type *const type = keep(s->types, die);

    s->part->offset = start;
    s->part->size = size;
    s->part->pointed = pointed(s->types, type);
}

static bool find_member(struct search *s, Dwarf_Die *structure, uint64_t start,
                        uint64_t offset);

/* Goes on in the type of a member, an element or the whole. */
static bool
find_in(struct search *s, Dwarf_Die *die, uint64_t start, uint64_t offset)
{
    Dwarf_Word whole, size;
    const char *given;

    if (s->depth++ >= DEPTH_MOST || dwarf_aggregate_size(die, &whole) != 0)
        return false;
    /* The last name of a type tells whether the layout is an array's. */
    Dwarf_Die type;
    if (dwarf_peel_type(die, &type) != 0)
        return false;
    if (dwarf_tag(&type) == DW_TAG_array_type) {
        Dwarf_Die element = type;
        if (!peel(&element, &given) ||
            dwarf_aggregate_size(&element, &size) != 0 || size == 0)
            return false;
        if (!s->part->in_array)
            s->part->array = start;
        s->part->in_array = true;
        add_path(s, "[]");
        start += offset / size * size;
        offset %= size;
        type = element;
        whole = size;
    }
    if (is_structure(dwarf_tag(&type)))
        return find_member(s, &type, start, offset);
    end_at(s, &type, start, whole);
    return true;
}

/* Finds the members of a structure that have a byte. Of several, as in a union
 * and of bit-fields, the names of all are the path's last, and what they have
 * inside is not told. */
static bool
find_member(struct search *s, Dwarf_Die *structure, uint64_t start,
            uint64_t offset)
{
    Dwarf_Die member, found = {.addr = NULL}, type;
    uint64_t first = 0, last = 0;
    unsigned count = 0, named = 0, looked = 0;
    const size_t length = s->length;

    if (dwarf_child(structure, &member) != 0)
        return false;
    do {
        uint64_t place, size;
        const int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            !extent(&member, &place, &size) || offset < place ||
            offset - place >= size)
            continue;
        const char *const name =
            tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
        if (name != NULL)
            add_path(s, "%s%s",
                     named++ != 0     ? "|"
                     : s->length != 0 ? "."
                                      : "",
                     name);
        first = count == 0 || place < first ? place : first;
        last = place + size > last ? place + size : last;
        if (count++ == 0)
            found = member;
    } while (++looked < MEMBERS_MOST && dwarf_siblingof(&member, &member) == 0);
    if (count == 0)
        return false; /* no member has it */
    if (named != 0)
        declared(&found, &s->part->file, &s->part->line);
    if (count > 1) {
        s->part->offset = start + first;
        s->part->size = last - first;
        s->part->pointed = NULL;
        return named != 0;
    }
    if (!type_die(&found, &type))
        return false;
    if (dwarf_hasattr(&found, DW_AT_bit_size)) {
        s->part->offset = start + first;
        s->part->size = last - first;
        return s->length > length;
    }
    return find_in(s, &type, start + first, offset - first);
}

bool
types_part(struct types *t, const struct name_type *type, uint64_t offset,
           struct name_part *part)
{
    struct type_row *const row = (struct type_row *)(uintptr_t)type;
    struct search s = {.types = t, .part = part};

    *part = (struct name_part){.file = NULL};
    if (type->name == NULL) {
        end_at(&s, &row->die, 0, type->size);
        return offset < type->size;
    }
    return offset < type->size && find_in(&s, &row->die, 0, offset);
}

static bool
has(struct types *t, Dwarf_Die *die, const struct name_type *other,
    unsigned depth, unsigned *left)
{
    Dwarf_Die member, type;
    const char *given = NULL;

    if (depth == DEPTH_MOST || dwarf_child(die, &member) != 0)
        return false;
    do {
        const int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || *left == 0 ||
            !type_die(&member, &type))
            continue;
        --*left;
        if (!peel(&type, &given) || !is_structure(dwarf_tag(&type)))
            continue;
        if (keep(t, &type) == other || has(t, &type, other, depth + 1, left))
            return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

bool
types_has(struct types *t, const struct name_type *type,
          const struct name_type *other)
{
    struct type_row *const row = (struct type_row *)(uintptr_t)type;
    unsigned left = MEMBERS_MOST;

    return type->name != NULL && has(t, &row->die, other, 0, &left);
}

/* Variables */

struct listing {
    struct types *types;
    void (*take)(void *user, const struct name_holder *holder);
    void *user;
    Dwarf_Op frame; /* what the frame base is; atom 0: not known */
    unsigned left;
};

/* Fills in where an expression says that a variable is; false: elsewhere. */
static bool
place_of(const struct listing *l, const Dwarf_Op *ops, size_t count,
         struct name_holder *h)
{
    const unsigned atom = count > 0 ? ops[0].atom : 0;
    const bool value = count == 2 && ops[1].atom == DW_OP_stack_value;

    if (count == 1 && atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        h->reg = (int)(atom - DW_OP_reg0);
        return true;
    }
    if ((count == 1 || value) && atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        h->reg = (int)(atom - DW_OP_breg0);
        h->offset = (int64_t)ops[0].number;
        h->in_memory = !value;
        return true;
    }
    if (count != 1 || atom != DW_OP_fbreg || l->frame.atom == 0)
        return false;
    h->in_memory = true;
    h->offset = (int64_t)ops[0].number;
    h->reg = l->frame.atom == DW_OP_call_frame_cfa
                 ? NAME_FRAME
                 : (int)(l->frame.atom - DW_OP_reg0);
    return true;
}

/* Tells where a variable is in the range of addresses of its block. */
static void
list_variable(struct listing *l, Dwarf_Die *die, uint64_t low, uint64_t high)
{
    struct name_holder h = {.type = types_of(l->types, die)};
    Dwarf_Attribute a;
    Dwarf_Addr base, first, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t next = 0;

    if (h.type == NULL || dwarf_attr(die, DW_AT_location, &a) == NULL)
        return;
    h.pointed = pointed(l->types, h.type);
    for (unsigned i = 0; i < PLACES_MOST; i++) {
        next = dwarf_getlocations(&a, next, &base, &first, &end, &ops, &count);
        if (next <= 0)
            return;
        h.first = first > low ? first : low;
        h.end = end < high ? end : high;
        h.reg = 0;
        h.offset = 0;
        h.in_memory = false;
        if (h.first < h.end && place_of(l, ops, count, &h))
            l->take(l->user, &h);
    }
}

static void
list_block(struct listing *l, Dwarf_Die *block, uint64_t low, uint64_t high,
           unsigned depth)
{
    Dwarf_Die die;
    Dwarf_Addr first, end;

    /* Of a block in several pieces the range around it is taken. */
    if (dwarf_lowpc(block, &first) == 0 && dwarf_highpc(block, &end) == 0 &&
        !dwarf_hasattr(block, DW_AT_ranges)) {
        low = first > low ? first : low;
        high = end < high ? end : high;
    }
    if (depth == DEPTH_MOST || dwarf_child(block, &die) != 0)
        return;
    do {
        const int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
            l->left > 0) {
            l->left--;
            list_variable(l, &die, low, high);
        } else if (tag == DW_TAG_lexical_block ||
                   tag == DW_TAG_inlined_subroutine) {
            list_block(l, &die, low, high, depth + 1);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Reads what the function's frame base is. */
static void
read_frame(struct listing *l, Dwarf_Die *function)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_attr(function, DW_AT_frame_base, &a) == NULL ||
        dwarf_getlocation(&a, &ops, &count) != 0 || count != 1)
        return;
    if (ops[0].atom == DW_OP_call_frame_cfa ||
        (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))
        l->frame = ops[0];
}

void
types_holders(struct types *t, Dwarf_Die *function,
              void (*take)(void *user, const struct name_holder *holder),
              void *user)
{
    struct listing l = {
        .types = t, .take = take, .user = user, .left = VARIABLES_MOST};

    read_frame(&l, function);
    list_block(&l, function, 0, UINT64_MAX, 0);
}
