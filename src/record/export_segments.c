/* SPDX-License-Identifier: MIT */
#include "record/export_segments.h"

#include <stdlib.h>
#include <string.h>

#include "names/elf_file.h"

#define PAGE UINT64_C(4096)

/* Segments as they are found. */
struct list {
    struct export_segment *segments;
    size_t count, room;
};

/* Adds the bytes from `first` to `last` of a mapping, as whole pages. */
static int
add(struct list *l, const struct record_mapping *m, uint64_t first,
    uint64_t last)
{
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 16;
        struct export_segment *segments =
            reallocarray(l->segments, room, sizeof(*segments));
        if (segments == NULL)
            return TALLY_ENOMEM;
        l->segments = segments;
        l->room = room;
    }
    const uint64_t offset = first - m->first + m->offset;
    const uint64_t before = offset % PAGE;
    l->segments[l->count++] = (struct export_segment){
        .start = first - before,
        .size = (last - first + before) / PAGE * PAGE + PAGE,
        .offset = offset - before,
        .image = m->image,
    };
    return 0;
}

/* Adds the part of a segment of the file that lies in the mapping. */
static int
add_segment(struct list *l, const struct record_mapping *m,
            const GElf_Phdr *load)
{
    const uint64_t size = m->last - m->first;
    const uint64_t end = load->p_offset + load->p_filesz;
    const uint64_t from =
        load->p_offset > m->offset ? load->p_offset - m->offset : 0;

    if ((load->p_flags & PF_X) == 0 || load->p_filesz == 0 ||
        end <= m->offset || end < load->p_offset || from > size)
        return 0;
    const uint64_t to = end - 1 - m->offset < size ? end - 1 - m->offset : size;
    return add(l, m, m->first + from, m->first + to);
}

static int
add_mapping(struct list *l, const struct record *record,
            const struct record_mapping *m)
{
    const struct record_image *image = &record->images[m->image];
    const size_t known = l->count;
    struct elf_file elf;
    int error = 0;

    if (m->last < m->first)
        return 0;
    if (elf_file_open(image->path, NULL, &elf) == 0 &&
        elf.build_id_size == image->build_id_size &&
        memcmp(elf.build_id, image->build_id, elf.build_id_size) == 0) {
        for (size_t i = 0; error == 0 && i < elf.load_count; i++)
            error = add_segment(l, m, &elf.loads[i]);
    }
    elf_file_close(&elf);
    return error == 0 && l->count == known ? add(l, m, m->first, m->last)
                                           : error;
}

int
export_segments(const struct record *record, size_t process,
                struct export_segment **segments, size_t *count)
{
    const struct record_process_row *p = &record->processes[process];
    struct list l = {0};
    int error = 0;

    for (size_t i = 0; error == 0 && i < p->mapping_count; i++)
        error = add_mapping(&l, record, &p->mappings[i]);
    *segments = l.segments;
    *count = l.count;
    return error;
}
