/* SPDX-License-Identifier: MIT */
/*
 * A file that is replaced whole or not at all.
 *
 * The new contents go into a file that nobody else can open, without a name if
 * the file system allows that (O_TMPFILE). At the end this file takes the place
 * of the old one, with the old file's mode, and its owner if the process may
 * set it. A killed process leaves the old file, and no other; after
 * replace_show() it leaves the new file as far as that is written.
 *
 * In a folder that all users may write and that is sticky, as /tmp, a link or a
 * file of another user is refused, whatever the kernel's protected_symlinks and
 * protected_regular say: root would write where that user wants.
 *
 * If the folder cannot be written but the file can, the new contents are kept
 * in memory and written over the old ones at the end: a full disk can then lose
 * the old contents. Hard links to the old file keep the old contents; access
 * lists and extended attributes are not kept.
 */
#ifndef TALLY_BASE_REPLACE_H
#define TALLY_BASE_REPLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

enum replace_way {
    REPLACE_WHOLE,  /* the file appears when all is written */
    REPLACE_FOLLOW, /* empty at first; grows, for a reader who follows */
    REPLACE_APPEND, /* the new contents follow the old ones */
};

/* A file that is being written. */
struct replace {
    int fd;     /* to write to; close-on-exec */
    int folder; /* of the file */
    enum replace_place {
        REPLACE_DIRECT, /* fd is the file itself */
        REPLACE_UNNAMED,
        REPLACE_NAMED,  /* fd is of `temporary` */
        REPLACE_MEMORY, /* fd is of memory */
        REPLACE_SHOWN,  /* in its place, where it still grows */
    } place;
    bool kept; /* shown, and the old file has its name with ".old" */
    char name[NAME_MAX + 1];      /* of the file, in the folder */
    char temporary[NAME_MAX + 1]; /* in the folder */
};

/*
 * Opens the file at `path`, or what shall replace it. Links are followed;
 * /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors of this process,
 * and what is no regular file is written directly. 0 or TALLY_EIO, logged and
 * with errno; then nothing is open.
 */
int replace_open(const char *path, enum replace_way way,
                 const struct tally_log *log, struct replace *file);

/* Writes the name that replace_show() gives the old file to `name`, which has
 * NAME_MAX + 1 bytes. 0 or -1 with errno: it would be too long. */
int replace_old_name(const struct replace *file, char *name);

/*
 * Puts the file in its place before it is all written, and keeps it open: a
 * killed process leaves it from now on. The old file keeps its contents under
 * its name with ".old" appended; a file of that name is removed. Does nothing
 * if the file is written directly. 0 or TALLY_EIO with errno; then the old file
 * is in its place. It fails for a file that is written from memory.
 */
int replace_show(struct replace *file);

/* Puts the file in its place and closes it. 0 or TALLY_EIO, errno set; then the
 * old file is as it was, unless it was written directly or from memory. */
int replace_commit(struct replace *file);

/* Closes the file; what was written of it is lost, unless it was written
 * directly. After replace_show() the old file, if there was one, gets its name
 * back. Accepts a file that replace_open() failed to open. */
void replace_discard(struct replace *file);

#endif
