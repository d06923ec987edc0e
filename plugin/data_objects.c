/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/data_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "gateway/protocol.h"
#include "plugin/calls.h"
#include "plugin/mapped.h"
#include "plugin/memory.h"

#define BLOCKS_FIRST 1024u
#define REGIONS_MOST 65536u
#define BLOCK_MOST (UINT64_C(1) << 46)
#define BLOCK_BY_WORDS                                           \
    (UINT64_C(1) << 30)       /* bytes; a larger one is a region \
                               */
#define GUEST_MAP_FIXED 0x10u /* on every architecture */

static bool
is_in(const struct data_range *r, uint64_t address)
{
    return address >= r->first && address <= r->last;
}

/* Names and numbers */

/* Appends a text; returns where it begins, or 0, an empty text: there is no
 * room. */
static uint32_t
add_text(struct data_objects *d, const char *text)
{
    const uint32_t at = atomic_load(&d->process->text_size);
    const size_t size = strlen(text) + 1;

    if (size > RECORD_TEXT - at)
        return 0;
    memcpy(d->process->text + at, text, size);
    atomic_store(&d->process->text_size, at + (uint32_t)size);
    return at;
}

/* Returns the number of the object with the key, which is made of `like` if it
 * is new; 0: there is no room. `text` is its name's. */
static uint32_t
number_object(struct data_objects *d, const uint64_t key[3],
              const struct record_object *like, const char *text)
{
    const size_t known = d->objects.count;
    const uint32_t index = known < RECORD_OBJECTS
                               ? numbering_add(&d->objects, key)
                               : NUMBERING_NONE;

    if (index == NUMBERING_NONE)
        return 0;
    if (index == known) {
        struct record_object *o = &d->process->objects[index];
        *o = *like;
        o->name = add_text(d, text);
        atomic_store(&d->process->object_count, index + 1);
    }
    return index + 1;
}

/* Returns the number of the last call of a path, or what stands in its place.
 */
static uint32_t
number_call(struct data_objects *d, struct callers *c, uint32_t path)
{
    if (path == CALLERS_OUTERMOST)
        return RECORD_OUTERMOST;
    if (path == CALLERS_UNKNOWN || path == 0)
        return RECORD_UNKNOWN;
    const struct callers_call call = callers_last_call(c, path);
    if (*call.mark != 0)
        return *call.mark;
    const uint64_t key[2] = {number_call(d, c, call.parent), call.block};
    const size_t known = d->calls.count;
    const uint32_t index =
        known < RECORD_CALLS ? numbering_add(&d->calls, key) : NUMBERING_NONE;
    if (index == NUMBERING_NONE)
        return RECORD_UNKNOWN;
    if (index == known) {
        d->process->calls[index] =
            (struct record_call){(uint32_t)key[0], call.block};
        atomic_store(&d->process->call_count, index + 1);
    }
    *call.mark = index + 1;
    return index + 1;
}

/* In place of an allocator: the program has asked the system itself. */
#define BY_MMAP GATEWAY_ALLOCATORS

/* Returns the object of what an allocator gives on the path that runs. An
 * allocator is a number, or the address of the name. */
static uint32_t
named_site(struct data_objects *d, struct callers *c, uint64_t allocator,
           const char *name)
{
    const uint32_t call =
        c != NULL ? number_call(d, c, c->path) : RECORD_UNKNOWN;
    const struct record_object like = {.kind = RECORD_HEAP, .call = call};

    return number_object(d, (uint64_t[]){RECORD_HEAP, call, allocator}, &like,
                         name);
}

static uint32_t
site_object(struct data_objects *d, struct callers *c, uint64_t allocator)
{
    static const char *const names[] = {
        [GATEWAY_FREE] = "free",
        [GATEWAY_MALLOC] = "malloc",
        [GATEWAY_CALLOC] = "calloc",
        [GATEWAY_REALLOC] = "realloc",
        [GATEWAY_ALIGNED_ALLOC] = "aligned_alloc",
        [GATEWAY_POSIX_MEMALIGN] = "posix_memalign",
        [BY_MMAP] = "mmap",
    };

    return named_site(d, c, allocator, names[allocator]);
}

static uint32_t
mapping_object(struct data_objects *d, const char *name)
{
    const struct record_object like = {.kind = RECORD_MAPPING};

    for (uint32_t i = 0; i < d->objects.count; i++) {
        const struct record_object *o = &d->process->objects[i];
        if (o->kind == RECORD_MAPPING &&
            strcmp(d->process->text + o->name, name) == 0)
            return i + 1;
    }
    return number_object(d, (uint64_t[]){RECORD_MAPPING, d->objects.count, 0},
                         &like, name);
}

/* Files with code */

/* Returns the image that has the address, or NULL. */
static struct data_image *
image_at(const struct data_objects *d, uint64_t address)
{
    for (size_t i = d->image_count; i > 0; i--) {
        struct data_image *image = &d->images[i - 1];
        const uint64_t at = address - image->bias;
        if (!image->is_gone && at >= image->variables.first &&
            at <= (image->variables.last | (OBJECTS_PAGE - 1)))
            return image;
    }
    return NULL;
}

/* Returns where the first page of an image is in memory. */
static uint64_t
first_page(const struct data_image *image)
{
    return image->variables.first / OBJECTS_PAGE * OBJECTS_PAGE + image->bias;
}

/* Adds the image of a file, whose first segment is at `first`, or if that is
 * UINT64_MAX at `bias` over its place in the file. */
static void
add_image(struct data_objects *d, const char *path, uint64_t first,
          uint64_t bias)
{
    /* A program may load and unload a file again and again. */
    for (size_t i = 0; i < d->image_count; i++) {
        struct data_image *old = &d->images[i];
        if (old->is_gone && first != UINT64_MAX &&
            strcmp(old->path, path) == 0) {
            old->bias += first - first_page(old);
            old->is_gone = false;
            return;
        }
    }
    struct data_image *images =
        reallocarray(d->images, d->image_count + 1, sizeof(*images));
    if (images == NULL)
        return;
    d->images = images;
    struct data_image *image = &images[d->image_count];
    *image = (struct data_image){.path = strdup(path), .bias = bias};
    variables_read(path, &image->variables);
    if (image->path == NULL) {
        variables_finish(&image->variables);
        return;
    }
    if (first != UINT64_MAX)
        image->bias =
            first - image->variables.first / OBJECTS_PAGE * OBJECTS_PAGE;
    const struct record_object like = {.kind = RECORD_IMAGE};
    image->object = number_object(
        d, (uint64_t[]){RECORD_IMAGE, d->image_count, 0}, &like, path);
    d->image_count++;
}

/* Returns whether the image is known, of a file that is mapped at `first`. */
static bool
knows_image(const struct data_objects *d, const char *path, uint64_t first)
{
    for (size_t i = 0; i < d->image_count; i++) {
        const struct data_image *image = &d->images[i];
        if (!image->is_gone && first_page(image) == first &&
            strcmp(image->path, path) == 0)
            return true;
    }
    return false;
}

static uint32_t
variable_object(struct data_objects *d, const struct data_image *image,
                const struct variable *v)
{
    const struct record_object like = {
        .kind = RECORD_VARIABLE, .image = image->object, .size = v->size};

    return number_object(d,
                         (uint64_t[]){RECORD_VARIABLE, image->object, v->first},
                         &like, v->name);
}

/* Other memory */

/* A piece of memory as the system has it, by the guest's addresses. */
struct piece {
    struct data_range at;
    bool found;
    char path[COUNTS_NAME]; /* "": no file's */
    /* The file that begins last before or at the address, and where. */
    char image[COUNTS_NAME];
    uint64_t image_first;
};

/* Finds the piece of memory at an address. */
static void
find_piece(uint64_t address, struct piece *piece)
{
    struct mapped_walk walk;
    struct counts_file file;

    *piece = (struct piece){0};
    mapped_walk_begin(&walk);
    while (!piece->found && mapped_walk_next(&walk, &file) &&
           file.first <= address) {
        if (file.path[0] != '\0' && file.offset == 0) {
            strcpy(piece->image, file.path);
            piece->image_first = file.first;
        }
        piece->at = (struct data_range){file.first, file.last};
        piece->found = is_in(&piece->at, address);
        strcpy(piece->path, file.path);
    }
    mapped_walk_end(&walk);
}

/* Returns the region that has the address, or NULL. */
static const struct data_region *
find_region(const struct data_objects *d, uint64_t address)
{
    for (size_t i = d->region_count; i > 0; i--) {
        if (is_in(&d->regions[i - 1].at, address))
            return &d->regions[i - 1];
    }
    return NULL;
}

/* Returns the object of the region that has the address, or 0. */
static uint32_t
region_at(const struct data_objects *d, uint64_t address)
{
    const struct data_region *region = find_region(d, address);

    return region != NULL ? region->object : 0;
}

/* Finds the piece of memory at an address, and adds the image that has it, or
 * begins before it, if the image is new. */
static void
learn_piece(struct data_objects *d, uint64_t address, struct piece *piece)
{
    find_piece(address, piece);
    if (piece->image[0] != '\0' &&
        !knows_image(d, piece->image, piece->image_first))
        add_image(d, piece->image, piece->image_first, 0);
}

/* Notes which variables of an image are on the page of an address, and then
 * that the rest of the page is the image's. */
static void
learn_variables(struct data_objects *d, const struct data_image *image,
                uint64_t address)
{
    const struct variables *v = &image->variables;
    const uint64_t page = address / OBJECTS_PAGE * OBJECTS_PAGE;
    const uint64_t first = page - image->bias;
    const uint64_t last = first + (OBJECTS_PAGE - 1);

    for (size_t i = variables_from(v, first);
         i < v->count && v->rows[i].first <= last; i++) {
        const struct variable *row = &v->rows[i];
        const uint64_t from = row->first > first ? row->first : first;
        const uint64_t end = row->first + (row->size - 1);
        const uint64_t to = end < last ? end : last;
        objects_put_bytes(&d->map, from + image->bias, to - from + 1,
                          variable_object(d, image, row));
        if (from == first && to == last)
            return;
    }
    objects_put_page(&d->map, address, image->object);
}

/* Finds which object the page of an address is of. */
static uint32_t
learn_page(struct data_objects *d, uint64_t address)
{
    struct piece piece;
    uint32_t object = is_in(&d->stack, address) ? d->finder.plain_stack
                                                : region_at(d, address);

    if (object == 0 && image_at(d, address) == NULL) {
        learn_piece(d, address, &piece);
        if (piece.path[0] != '\0' && image_at(d, address) == NULL)
            object = mapping_object(d, piece.path);
    }
    if (object == 0 && image_at(d, address) != NULL) {
        learn_variables(d, image_at(d, address), address);
        return objects_find(&d->map, address);
    }
    if (object == 0)
        object = mapping_object(d, is_in(&d->heap, address) ? "[heap]"
                                                            : "[anonymous]");
    objects_put_page(&d->map, address, object);
    return object;
}

/* As struct recorder_objects has it. */
static uint32_t
find_object(void *user, uint64_t address)
{
    struct data_objects *d = user;
    uint32_t object = objects_find(&d->map, address);

    if (__builtin_expect(object != 0, 1))
        return object;
    pthread_mutex_lock(&d->lock);
    object = objects_find(&d->map, address);
    if (object == 0)
        object = learn_page(d, address);
    pthread_mutex_unlock(&d->lock);
    return object;
}

uint32_t
data_objects_path(struct data_objects *d, struct callers *c)
{
    if (c == NULL)
        return RECORD_UNKNOWN;
    pthread_mutex_lock(&d->lock);
    const uint32_t call = number_call(d, c, c->path);
    pthread_mutex_unlock(&d->lock);
    return call;
}

uint32_t
data_objects_find(struct data_objects *d, uint64_t address)
{
    return find_object(d, address);
}

/* As struct recorder_objects has it. */
static uint32_t
frame_object(void *user, uint32_t block)
{
    struct data_objects *d = user;
    uint32_t object = __atomic_load_n(&d->frames[block], __ATOMIC_ACQUIRE);

    if (__builtin_expect(object != 0, 1))
        return object;
    const struct record_object like = {.kind = RECORD_STACK, .call = block};
    pthread_mutex_lock(&d->lock);
    object = number_object(d, (uint64_t[]){RECORD_STACK, block, 0}, &like, "");
    if (object == 0)
        object = d->finder.plain_stack;
    __atomic_store_n(&d->frames[block], object, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&d->lock);
    return object;
}

/* As struct recorder_objects has it. */
static void
find_stack(void *user, uint64_t address, uint64_t *first, uint64_t *size)
{
    struct data_objects *d = user;

    pthread_mutex_lock(&d->lock);
    const struct data_region *region = find_region(d, address);
    const struct data_range at =
        is_in(&d->stack, address) ? d->stack
        : region != NULL && region->object == d->finder.plain_stack
            ? region->at
            : (struct data_range){1, 0};
    pthread_mutex_unlock(&d->lock);
    *first = at.first;
    *size = at.last - at.first + 1;
}

static void
add_region(struct data_objects *d, const struct data_range *at, uint32_t object)
{
    if (object == 0 || d->region_count >= REGIONS_MOST)
        return;
    if (d->region_count == d->region_room) {
        const size_t room = 2 * d->region_room + 64;
        struct data_region *more =
            reallocarray(d->regions, room, sizeof(*more));
        if (more == NULL)
            return;
        d->regions = more;
        d->region_room = room;
    }
    d->regions[d->region_count++] = (struct data_region){*at, object};
}

/* Takes a range out of the regions. No two regions overlap, so one at most has
 * the range in its middle. */
static void
cut_regions(struct data_objects *d, const struct data_range *cut)
{
    struct data_region behind = {.object = 0};
    size_t kept = 0;

    for (size_t i = 0; i < d->region_count; i++) {
        struct data_region r = d->regions[i];
        if (r.at.last < cut->first || r.at.first > cut->last) {
            d->regions[kept++] = r;
            continue;
        }
        if (r.at.first < cut->first && r.at.last > cut->last)
            behind = (struct data_region){{cut->last + 1, r.at.last}, r.object};
        if (r.at.first < cut->first)
            r.at.last = cut->first - 1;
        else
            r.at.first = cut->last + 1;
        if (r.at.first <= r.at.last && r.at.first != 0)
            d->regions[kept++] = r;
    }
    d->region_count = kept;
    add_region(d, &behind.at, behind.object);
}

/* The files of images whose first page is in the range are no longer mapped. */
static void
forget_images(struct data_objects *d, const struct data_range *at)
{
    for (size_t i = 0; i < d->image_count; i++) {
        struct data_image *image = &d->images[i];
        image->is_gone |= is_in(at, first_page(image));
    }
}

/* The memory of a range of pages is another now, of the object; 0: it is not
 * known. */
static void
change_memory(struct data_objects *d, uint64_t first, uint64_t size,
              uint32_t object)
{
    const uint64_t last = first + size - 1;
    const struct data_range at = {first, last | (OBJECTS_PAGE - 1)};

    if (size == 0 || last < first)
        return;
    objects_forget(&d->map, first, size);
    cut_regions(d, &at);
    forget_images(d, &at);
    add_region(d, &at, object);
}

static void
change_heap(struct data_objects *d, uint64_t end)
{
    if (d->heap.last < d->heap.first)
        d->heap = (struct data_range){end, end}; /* it is empty as yet */
    else if (end > d->heap.first)
        d->heap.last = end - 1;
}

/* Returns whether memory of no file that was mapped at an address, with these
 * flags, is the end of an image: a loader maps there the variables that begin
 * as 0. */
static bool
is_of_image(struct data_objects *d, uint64_t address, uint64_t flags)
{
    struct piece piece;

    if ((flags & GUEST_MAP_FIXED) == 0)
        return false;
    if (image_at(d, address) == NULL)
        learn_piece(d, address, &piece);
    return image_at(d, address) != NULL;
}

void
data_objects_call(struct data_objects *d, struct callers *c,
                  const struct isa *isa, int64_t number, const uint64_t args[6],
                  int64_t result)
{
    const uint64_t at = (uint64_t)result;

    if (d->process == NULL || call_failed(at))
        return;
    pthread_mutex_lock(&d->lock);
    if (call_is(CALL_MMAP, isa, number)) {
        const bool is_file = (int32_t)args[4] >= 0;
        change_memory(d, at, args[1],
                      is_file || is_of_image(d, at, args[3])
                          ? 0
                          : site_object(d, c, BY_MMAP));
    } else if (call_is(CALL_MUNMAP, isa, number)) {
        change_memory(d, args[0], args[1], 0);
    } else if (call_is(CALL_MREMAP, isa, number)) {
        const uint32_t object = region_at(d, args[0]);
        change_memory(d, args[0], args[1], 0);
        change_memory(d, at, args[2], object);
    } else if (call_is(CALL_BRK, isa, number)) {
        change_heap(d, at);
    }
    pthread_mutex_unlock(&d->lock);
}

void
data_objects_stack(struct data_objects *d, uint64_t address)
{
    struct piece piece;

    pthread_mutex_lock(&d->lock);
    find_piece(address, &piece);
    if (piece.found && d->stack.last < d->stack.first) {
        d->stack = piece.at;
        objects_forget(&d->map, piece.at.first,
                       piece.at.last - piece.at.first + 1);
    }
    pthread_mutex_unlock(&d->lock);
}

/* Returns the memory that is a new thread's stack from below an address; none
 * if the program has made the stack a part of other memory that is known. */
static struct data_range
find_thread_stack(struct data_objects *d, uint64_t end)
{
    const struct data_region *const region = find_region(d, end - 1);
    const uint32_t object = objects_find(&d->map, end - 1);
    const struct data_range none = {1, 0};
    struct piece piece;

    if (is_in(&d->heap, end - 1) ||
        (object != 0 && d->process->objects[object - 1].kind == RECORD_HEAP &&
         (region == NULL || region->object != object)))
        return none;
    if (region != NULL)
        return region->at;
    /* Pieces of memory that touch are one to the system. */
    find_piece(end - 1, &piece);
    return piece.found && piece.path[0] == '\0' ? piece.at : none;
}

void
data_objects_thread(struct data_objects *d, uint64_t stack)
{
    if (d->process == NULL || stack == 0)
        return;
    pthread_mutex_lock(&d->lock);
    const struct data_range at = find_thread_stack(d, stack);
    if (at.first <= at.last)
        change_memory(d, at.first, at.last - at.first + 1,
                      d->finder.plain_stack);
    pthread_mutex_unlock(&d->lock);
}

/* Allocators */

/* Notes which object the memory of a block is of; 0: of none any more. */
static void
put_block(struct data_objects *d, uint64_t address, uint64_t size,
          uint32_t object)
{
    if (size <= BLOCK_BY_WORDS)
        objects_put(&d->map, address, size, object);
    else
        change_memory(d, address, size, object);
}

/* Returns where the block at an address is in the table, or the free place
 * where it goes. */
static struct data_block *
find_block(const struct data_objects *d, uint64_t address)
{
    uint64_t at = (address >> 4) * 0x9e3779b97f4a7c15u >> 20;

    for (;; at++) {
        struct data_block *block = &d->blocks[at & d->block_mask];
        if (block->size == 0 || block->first == address)
            return block;
    }
}

/* Doubles the table before it is more than half full. */
static bool
grow_blocks(struct data_objects *d)
{
    const size_t size = d->blocks != NULL ? d->block_mask + 1 : 0;
    struct data_block *const old = d->blocks;

    if (d->block_count < size / 2)
        return true;
    const size_t wanted = size != 0 ? 2 * size : BLOCKS_FIRST;
    struct data_block *blocks = calloc(wanted, sizeof(*blocks));
    if (blocks == NULL)
        return false;
    d->blocks = blocks;
    d->block_mask = wanted - 1;
    for (size_t i = 0; i < size; i++) {
        if (old[i].size != 0)
            *find_block(d, old[i].first) = old[i];
    }
    free(old);
    return true;
}

/* Takes a block out of the table, and moves those up that come behind it. */
static void
remove_block(struct data_objects *d, struct data_block *block)
{
    size_t at = (size_t)(block - d->blocks);

    block->size = 0;
    d->block_count--;
    for (;;) {
        at = (at + 1) & d->block_mask;
        const struct data_block moved = d->blocks[at];
        if (moved.size == 0)
            return;
        d->blocks[at].size = 0;
        *find_block(d, moved.first) = moved;
    }
}

/* The allocator has taken the block at an address back. */
static void
take_back(struct data_objects *d, uint64_t address)
{
    if (address == 0 || d->blocks == NULL)
        return;
    struct data_block *block = find_block(d, address);
    if (block->size == 0)
        return;
    put_block(d, address, block->size, 0);
    remove_block(d, block);
}

/* A block was moved from an address to another, or has grown or shrunk in its
 * place. Another thread may report the block that it was given at the old
 * address before we hear of the move. */
static void
move_away(struct data_objects *d, uint64_t address)
{
    if (address == 0 || d->blocks == NULL)
        return;
    struct data_block *block = find_block(d, address);
    if (block->size != 0 && block->took_over)
        block->took_over = false;
    else
        take_back(d, address);
}

/* The allocator has given a block. */
static void
give(struct data_objects *d, uint64_t address, uint64_t size, uint32_t object)
{
    if (object == 0 || !grow_blocks(d))
        return;
    const bool takes_over = find_block(d, address)->size != 0;
    take_back(d, address); /* we have missed its end */
    *find_block(d, address) = (struct data_block){address, size, takes_over};
    d->block_count++;
    put_block(d, address, size, object);
    struct record_object *o = &d->process->objects[object - 1];
    o->allocations++;
    o->bytes += size;
}

void
data_objects_allocation(struct data_objects *d, struct callers *c,
                        const uint64_t args[4])
{
    const uint64_t allocator = args[0], address = args[1], size = args[2];

    if (d->process == NULL || allocator >= GATEWAY_ALLOCATORS)
        return;
    pthread_mutex_lock(&d->lock);
    if (allocator == GATEWAY_REALLOC && args[3] != address)
        move_away(d, args[3]);
    else
        take_back(d, args[3]);
    /* A block that goes beyond all addresses is a program's own invention. */
    if (address != 0 && size != 0 && size < BLOCK_MOST)
        give(d, address, size, site_object(d, c, allocator));
    pthread_mutex_unlock(&d->lock);
}

uint32_t
data_objects_site(struct data_objects *d, struct callers *c, const char *name)
{
    if (d->process == NULL)
        return 0;
    pthread_mutex_lock(&d->lock);
    const uint32_t object = named_site(d, c, (uintptr_t)name, name);
    pthread_mutex_unlock(&d->lock);
    return object;
}

void
data_objects_give(struct data_objects *d, uint32_t object, uint64_t address,
                  uint64_t size, uint64_t old)
{
    if (d->process == NULL)
        return;
    pthread_mutex_lock(&d->lock);
    if (old != address)
        move_away(d, old);
    else
        take_back(d, old);
    if (address != 0 && size != 0 && size < BLOCK_MOST)
        give(d, address, size, object);
    pthread_mutex_unlock(&d->lock);
}

/* The process */

int
data_objects_begin(struct data_objects *d, struct record_process *process)
{
    *d = (struct data_objects){
        .process = process,
        .finder = {find_object, frame_object, find_stack, d, &d->map, 0},
        .stack = {1, 0},
        .heap = {1, 0},
    };
    pthread_mutex_init(&d->lock, NULL);
    numbering_init(&d->calls, 2);
    numbering_init(&d->objects, 3);
    if (objects_init(&d->map) != 0)
        return TALLY_ENOMEM;
    d->frames = mmap(NULL, (COUNTS_BLOCKS + 1) * sizeof(*d->frames),
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (d->frames == MAP_FAILED) {
        d->frames = NULL;
        return TALLY_ENOMEM;
    }
    add_text(d, ""); /* at 0, for names that find no room */
    const struct record_object like = {.kind = RECORD_STACK};
    d->finder.plain_stack =
        number_object(d, (uint64_t[]){RECORD_STACK, 0, 0}, &like, "");
    return 0;
}

void
data_objects_program(struct data_objects *d, const char *program, uint64_t bias)
{
    if (d->process == NULL)
        return;
    pthread_mutex_lock(&d->lock);
    add_image(d, program, UINT64_MAX, bias);
    pthread_mutex_unlock(&d->lock);
}

void
data_objects_lock(struct data_objects *d)
{
    if (d->process != NULL)
        pthread_mutex_lock(&d->lock);
}

void
data_objects_unlock(struct data_objects *d)
{
    if (d->process != NULL)
        pthread_mutex_unlock(&d->lock);
}

void
data_objects_fork(struct data_objects *d, struct record_process *process)
{
    const struct record_process *old = d->process;

    if (old == NULL)
        return;
    pthread_mutex_init(&d->lock, NULL);
    const unsigned calls = atomic_load(&old->call_count);
    const unsigned objects = atomic_load(&old->object_count);
    const unsigned text = atomic_load(&old->text_size);
    memcpy(process->calls, old->calls, calls * sizeof(*old->calls));
    memcpy(process->objects, old->objects, objects * sizeof(*old->objects));
    memcpy(process->text, old->text, text);
    for (unsigned i = 0; i < objects; i++)
        process->objects[i].allocations = process->objects[i].bytes = 0;
    atomic_store(&process->call_count, calls);
    atomic_store(&process->object_count, objects);
    atomic_store(&process->text_size, text);
    d->process = process;
}

void
data_objects_end(struct data_objects *d)
{
    for (size_t i = 0; i < d->image_count; i++) {
        variables_finish(&d->images[i].variables);
        free(d->images[i].path);
    }
    objects_finish(&d->map);
    numbering_finish(&d->calls);
    numbering_finish(&d->objects);
    free(d->images);
    free(d->regions);
    free(d->blocks);
    if (d->frames != NULL)
        munmap(d->frames, (COUNTS_BLOCKS + 1) * sizeof(*d->frames));
    *d = (struct data_objects){.process = NULL};
}
