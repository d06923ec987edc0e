/* SPDX-License-Identifier: MIT */
#include "source/point.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/process_counts.h"
#include "source/record_counts.h"

static bool
check_place(const struct point_place *place)
{
    return place->file <= POINT_FILES && place->size <= POINT_CODE;
}

static bool
check_object(struct point_object *object)
{
    object->name[POINT_NAME - 1] = '\0';
    object->image[POINT_PATH - 1] = '\0';
    if (object->kind >= RECORD_OBJECT_KINDS ||
        object->call_count > POINT_OBJECT_CALLS)
        return false;
    for (unsigned i = 0; i < object->call_count; i++) {
        if (!check_place(&object->calls[i]))
            return false;
    }
    return true;
}

static bool
check_set(struct point_set *set)
{
    if (set->line_count > POINT_WAYS)
        return false;
    for (unsigned i = 0; i < set->line_count; i++) {
        if (!check_place(&set->lines[i].place) ||
            !check_object(&set->lines[i].object))
            return false;
    }
    return true;
}

bool
point_check(struct point *p)
{
    bool good = p->class < POINT_CLASSES && p->block_count <= POINT_BLOCKS &&
                p->access_count <= POINT_ACCESSES &&
                p->call_count <= POINT_CALLS && p->map_count <= POINT_FILES &&
                check_place(&p->place) && check_place(&p->access.place) &&
                check_object(&p->object) && check_set(&p->set);

    for (unsigned i = 0; good && i < p->block_count; i++)
        good = check_place(&p->blocks[i].place);
    for (unsigned i = 0; good && i < p->access_count; i++)
        good = check_place(&p->accesses[i].place);
    for (unsigned i = 0; good && i < p->call_count; i++)
        good = check_place(&p->calls[i]);
    for (unsigned i = 0; i < POINT_FILES; i++)
        p->files[i][POINT_PATH - 1] = '\0';
    return good;
}

/* Returns where a member of the point is in the session's file. */
static off_t
place_of(size_t member)
{
    return (off_t)(offsetof(struct session_header, point) + member);
}

bool
point_is_reached(int fd)
{
    unsigned reached = 0;

    return pread(fd, &reached, sizeof(reached),
                 place_of(offsetof(struct point, reached))) ==
               (ssize_t)sizeof(reached) &&
           reached != 0;
}

void
point_tell(int fd)
{
    const unsigned told = 1;

    /* The memory of the file is there: the process has mapped it. */
    (void)!pwrite(fd, &told, sizeof(told),
                  place_of(offsetof(struct point, told)));
}

int
point_read(int fd, struct point **point)
{
    struct point *const p = malloc(sizeof(*p));
    size_t done = 0;

    if (p == NULL)
        return TALLY_ENOMEM;
    while (done < sizeof(*p)) {
        const ssize_t n =
            pread(fd, (char *)p + done, sizeof(*p) - done, place_of(done));
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            free(p);
            return TALLY_ESYSTEM;
        }
        done += (size_t)n;
    }
    if (!point_check(p)) {
        free(p);
        return TALLY_EPROGRAM;
    }
    *point = p;
    return 0;
}
