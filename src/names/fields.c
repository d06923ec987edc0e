/* SPDX-License-Identifier: MIT */
#include "names/fields.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Damaged debug information may nest and refer without end. */
#define DEPTH_MOST 32u
#define VARIABLES_MOST (UINT32_C(1) << 20)
#define DIMENSIONS_MOST 8u

struct field_variable {
    uint64_t address, size;
    Dwarf_Die die;
};

/* Variables */

static bool
may_hold_variables(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_module;
}

/* Returns the type of a variable, member or element. */
static bool
type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute a;
    Dwarf_Die named;

    return dwarf_attr_integrate(die, DW_AT_type, &a) != NULL &&
           dwarf_formref_die(&a, &named) != NULL &&
           dwarf_peel_type(&named, type) == 0;
}

/* Finds the address of a variable that stays where it is. */
static bool
address_of(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute a, indexed;
    Dwarf_Op *ops;
    Dwarf_Addr found;
    size_t count;

    if (dwarf_attr(die, DW_AT_location, &a) == NULL ||
        dwarf_getlocation(&a, &ops, &count) != 0 || count != 1)
        return false;
    if (ops[0].atom == DW_OP_addr) {
        *address = ops[0].number;
        return true;
    }
    if (ops[0].atom != DW_OP_addrx ||
        dwarf_getlocation_attr(&a, &ops[0], &indexed) != 0 ||
        dwarf_formaddr(&indexed, &found) != 0)
        return false;
    *address = found;
    return true;
}

/* Adds the variable if it has an address and a size. */
static void
add_variable(struct fields *f, Dwarf_Die *die)
{
    uint64_t address;
    Dwarf_Word size;
    Dwarf_Die type;

    if (f->count == VARIABLES_MOST || !address_of(die, &address) ||
        !type_of(die, &type) || dwarf_aggregate_size(&type, &size) != 0 ||
        size == 0)
        return;
    if ((f->count & (f->count - 1)) == 0) {
        struct field_variable *const more = reallocarray(
            f->rows, f->count != 0 ? 2 * f->count : 1, sizeof(*more));
        if (more == NULL)
            return;
        f->rows = more;
    }
    f->rows[f->count++] = (struct field_variable){address, size, *die};
}

static void
walk(struct fields *f, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth == DEPTH_MOST || dwarf_child(parent, &die) != 0)
        return;
    do {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            add_variable(f, &die);
        else if (may_hold_variables(tag))
            walk(f, &die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int
compare(const void *x, const void *y)
{
    const struct field_variable *a = x, *b = y;

    return (a->address > b->address) - (a->address < b->address);
}

static void
read_variables(struct fields *f, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    f->read = true;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        walk(f, type == DW_UT_skeleton && split.addr != NULL ? &split : &die,
             0);
    if (f->count > 0)
        qsort(f->rows, f->count, sizeof(*f->rows), compare);
}

void
fields_finish(struct fields *f)
{
    free(f->rows);
    *f = (struct fields){.rows = NULL};
}

/* Returns the variable that has the byte, or NULL. */
static struct field_variable *
find_variable(struct fields *f, uint64_t address)
{
    size_t low = 0, high = f->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - f->rows[low - 1].address < f->rows[low - 1].size
               ? &f->rows[low - 1]
               : NULL;
}

bool
fields_find(struct fields *f, Dwarf *dwarf, uint64_t address,
            Dwarf_Die *variable, uint64_t *offset)
{
    if (!f->read)
        read_variables(f, dwarf);
    const struct field_variable *const v = find_variable(f, address);
    if (v == NULL)
        return false;
    *variable = v->die;
    *offset = address - v->address;
    return true;
}

/* Parts */

/* A name that is being written, and what it ends with so far. */
struct writing {
    FILE *out;
    Dwarf_Die declared; /* the variable, then its innermost member */
    unsigned depth;
};

static void write_part(struct writing *w, Dwarf_Die *type, uint64_t offset);

/* Returns where a member is in its structure. */
static bool
place_of(Dwarf_Die *member, uint64_t *place)
{
    Dwarf_Attribute a;
    Dwarf_Word value = 0;

    /* The members of a union have no place. */
    if (dwarf_attr(member, DW_AT_data_member_location, &a) != NULL &&
        dwarf_formudata(&a, &value) != 0)
        return false;
    *place = value;
    return true;
}

/* Writes the member that has a byte of a structure, and its own part. */
static void
write_member(struct writing *w, Dwarf_Die *structure, uint64_t offset)
{
    Dwarf_Die member, type;

    if (dwarf_child(structure, &member) != 0)
        return;
    do {
        const int tag = dwarf_tag(&member);
        uint64_t place;
        Dwarf_Word size;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            !place_of(&member, &place) || offset < place ||
            !type_of(&member, &type) ||
            dwarf_aggregate_size(&type, &size) != 0 || offset - place >= size)
            continue;
        const char *const name =
            tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
        if (name != NULL) {
            fprintf(w->out, ".%s", name);
            w->declared = member;
        }
        write_part(w, &type, offset - place);
        return;
    } while (dwarf_siblingof(&member, &member) == 0);
}

/* Reads how many elements each dimension of an array has. Returns the number of
 * dimensions; 0: not known. */
static unsigned
read_dimensions(Dwarf_Die *array, uint64_t counts[DIMENSIONS_MOST])
{
    Dwarf_Die range;
    unsigned dimensions = 0;

    if (dwarf_child(array, &range) != 0)
        return 0;
    do {
        Dwarf_Attribute a;
        Dwarf_Word value = 0;
        if (dwarf_tag(&range) != DW_TAG_subrange_type)
            continue;
        if (dimensions == DIMENSIONS_MOST)
            return 0;
        if (dwarf_attr(&range, DW_AT_count, &a) != NULL &&
            dwarf_formudata(&a, &value) == 0)
            counts[dimensions++] = value;
        else if (dwarf_attr(&range, DW_AT_upper_bound, &a) != NULL &&
                 dwarf_formudata(&a, &value) == 0)
            counts[dimensions++] = value + 1;
        else
            return 0;
    } while (dwarf_siblingof(&range, &range) == 0);
    return dimensions;
}

/* Writes the element that has a byte of an array, and its own part. */
static void
write_element(struct writing *w, Dwarf_Die *array, uint64_t offset)
{
    uint64_t counts[DIMENSIONS_MOST], indices[DIMENSIONS_MOST];
    const unsigned dimensions = read_dimensions(array, counts);
    Dwarf_Word size;
    Dwarf_Die type;

    if (dimensions == 0 || !type_of(array, &type) ||
        dwarf_aggregate_size(&type, &size) != 0 || size == 0)
        return;
    uint64_t index = offset / size;
    for (unsigned i = dimensions; i-- > 0;) {
        if (counts[i] == 0)
            return;
        indices[i] = index % counts[i];
        index /= counts[i];
    }
    for (unsigned i = 0; i < dimensions; i++)
        fprintf(w->out, "[%" PRIu64 "]", indices[i]);
    write_part(w, &type, offset % size);
}

static void
write_part(struct writing *w, Dwarf_Die *type, uint64_t offset)
{
    if (w->depth++ == DEPTH_MOST)
        return;
    switch (dwarf_tag(type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        write_member(w, type, offset);
        break;
    case DW_TAG_array_type:
        write_element(w, type, offset);
        break;
    default:
        break;
    }
}

/* Writes where the source declares what the name ends with. */
static void
write_declared(struct writing *w)
{
    const char *const file = dwarf_decl_file(&w->declared);
    int line = 0;

    if (file == NULL || dwarf_decl_line(&w->declared, &line) != 0 || line <= 0)
        return;
    const char *const slash = strrchr(file, '/');
    fprintf(w->out, " (%s:%d)", slash != NULL ? slash + 1 : file, line);
}

char *
fields_name(struct fields *f, Dwarf *dwarf, uint64_t address)
{
    char *text = NULL;
    size_t size = 0;
    Dwarf_Die type;

    if (!f->read)
        read_variables(f, dwarf);
    struct field_variable *const v = find_variable(f, address);
    if (v == NULL || !type_of(&v->die, &type))
        return NULL;
    const char *const name = dwarf_diename(&v->die);
    struct writing w = {.declared = v->die};
    if (name == NULL || (w.out = open_memstream(&text, &size)) == NULL)
        return NULL;
    fputs(name, w.out);
    write_part(&w, &type, address - v->address);
    write_declared(&w);
    const bool failed = ferror(w.out) != 0;
    if (fclose(w.out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
