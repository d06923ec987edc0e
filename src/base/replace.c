/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINKS 40 /* as many as the kernel follows */
#define TRIES 16 /* of random names */

static void
close_keeping_errno(int fd)
{
    const int reason = errno;

    if (fd >= 0)
        close(fd);
    errno = reason;
}

/* Returns the number of a descriptor of ours that the path stands for, or -1.
 */
static int
descriptor_of(const char *path)
{
    char *end = NULL;

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (strncmp(path, "/dev/fd/", 8) != 0 || path[8] < '0' || path[8] > '9')
        return -1;
    const long number = strtol(path + 8, &end, 10);
    return *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

/* Returns whether the file or link belongs to another user, who is not the
 * owner of the folder either, and all may write in the folder, which is sticky.
 */
static bool
is_planted(int folder, const struct stat *st)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct stat of_folder;

    return st->st_uid != geteuid() && fstat(folder, &of_folder) == 0 &&
           (of_folder.st_mode & shared) == shared &&
           st->st_uid != of_folder.st_uid;
}

/* What path resolution found. */
struct place {
    int folder;
    bool exists;
    bool planted;
    struct stat st; /* if it exists */
};

/* Splits the last name off a path, which is cut to its folder. 0 or -1. */
static int
split(char *path, char *name)
{
    char *const slash = strrchr(path, '/');
    const char *const last = slash != NULL ? slash + 1 : path;

    errno = *path == '\0' ? ENOENT
            : *last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0
                ? EISDIR
            : strlen(last) > NAME_MAX ? ENAMETOOLONG
                                      : 0;
    if (errno != 0)
        return -1;
    strcpy(name, last);
    if (slash == path)
        path[1] = '\0';
    else if (slash != NULL)
        *slash = '\0';
    else
        strcpy(path, ".");
    return 0;
}

/*
 * Finds the folder and the name of a path, following links of the last name
 * ourselves: so each is looked at. 0 or -1 with errno; then nothing is open.
 */
static int
resolve(const char *given, char *name, struct place *place)
{
    char path[PATH_MAX];
    int base = AT_FDCWD;

    *place = (struct place){.folder = -1};
    errno = ENAMETOOLONG;
    if (strlen(given) >= sizeof(path))
        return -1;
    strcpy(path, given);
    for (int links = 0; links < LINKS; links++) {
        if (split(path, name) != 0)
            break;
        const int folder = openat(base, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (base >= 0)
            close_keeping_errno(base);
        base = folder;
        if (folder < 0)
            return -1;
        place->exists =
            fstatat(folder, name, &place->st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!place->exists && errno != ENOENT)
            break;
        place->folder = folder;
        place->planted = place->exists && is_planted(folder, &place->st);
        if (!place->exists || place->planted || !S_ISLNK(place->st.st_mode))
            return 0;
        const ssize_t n = readlinkat(folder, name, path, sizeof(path) - 1);
        if (n < 0)
            break;
        path[n] = '\0';
        errno = ELOOP;
    }
    if (base >= 0)
        close_keeping_errno(base);
    place->folder = -1;
    return -1;
}

/* Writes a name that nobody can guess. */
static void
random_name(char *name, size_t size)
{
    uint64_t bits[2] = {0};

    if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        bits[0] = (uint64_t)getpid();
    snprintf(name, size, ".tally-%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
}

/* Opens a file without a name; it gets one through /proc. */
static int
open_unnamed(struct replace *r)
{
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    r->fd = openat(r->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    r->place = REPLACE_UNNAMED;
    return r->fd;
}

static int
open_named(struct replace *r)
{
    for (int i = 0; i < TRIES; i++) {
        random_name(r->temporary, sizeof(r->temporary));
        r->fd =
            openat(r->folder, r->temporary,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        r->place = REPLACE_NAMED;
        if (r->fd >= 0 || errno != EEXIST)
            return r->fd;
    }
    return -1;
}

/* Opens memory for the new contents of a file whose folder we may not write;
 * replace_commit() copies them over the old contents. */
static int
open_memory(struct replace *r)
{
    const int reason = errno;

    if (faccessat(r->folder, r->name, W_OK, AT_EACCESS) != 0) {
        errno = reason;
        return -1;
    }
    r->fd = memfd_create("tally", MFD_CLOEXEC);
    r->place = REPLACE_MEMORY;
    return r->fd;
}

/* Opens a named pipe, whose reader has a second to come. Without a reader errno
 * is ENXIO: open() would wait for one for ever. */
static int
open_pipe(const struct replace *r)
{
    const struct timespec turn = {0, 10000000};
    int fd = -1;

    for (int i = 0; i < 100 && fd < 0; i++) {
        fd = openat(r->folder, r->name,
                    O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && (errno != ENXIO || nanosleep(&turn, NULL) != 0))
            return -1;
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    else
        errno = ENXIO;
    return fd;
}

static int
open_direct(struct replace *r, enum replace_way way, const struct place *place)
{
    r->place = REPLACE_DIRECT;
    if (place->exists && S_ISFIFO(place->st.st_mode))
        return r->fd = open_pipe(r);
    r->fd = openat(r->folder, r->name,
                   O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
                       (way == REPLACE_APPEND ? O_APPEND : O_TRUNC),
                   0666);
    return r->fd;
}

/* Opens the file that `place` has found. */
static int
open_place(struct replace *r, enum replace_way way, const struct place *place)
{
    const bool regular = !place->exists || S_ISREG(place->st.st_mode);

    if (way != REPLACE_WHOLE || !regular)
        return open_direct(r, way, place);
    /* A file that may not be written is not replaced either. */
    if (place->exists && faccessat(r->folder, r->name, W_OK, AT_EACCESS) != 0)
        return -1;
    if (open_unnamed(r) >= 0 || open_named(r) >= 0)
        return r->fd;
    return place->exists ? open_memory(r) : -1;
}

int
replace_open(const char *path, enum replace_way way,
             const struct tally_log *log, struct replace *r)
{
    const int descriptor = descriptor_of(path);
    struct place place = {.folder = -1};

    *r = (struct replace){.fd = -1, .folder = -1};
    if (descriptor >= 0) {
        r->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    } else if (resolve(path, r->name, &place) == 0) {
        r->folder = place.folder;
        if (place.planted) {
            replace_discard(r);
            tally_fail(log, TALLY_EIO,
                       "cannot write %s: it is another user's, in a folder "
                       "that all may write; remove it or name another file",
                       path);
            errno = EACCES;
            return TALLY_EIO;
        }
        open_place(r, way, &place);
    }
    if (r->fd >= 0)
        return 0;
    const int reason = errno;
    replace_discard(r);
    tally_fail(log, TALLY_EIO, "cannot write %s: %s", path,
               reason == ENXIO && place.exists && S_ISFIFO(place.st.st_mode)
                   ? "it is a pipe that nobody reads; start its reader first, "
                     "or name another file"
                   : strerror(reason));
    errno = reason;
    return TALLY_EIO;
}

/* Returns the process's umask. Other threads may make files meanwhile, in a
 * program that libtally is linked with, so the umask is only read; a kernel
 * before 4.7 does not tell it, and then it is changed for a moment. */
static mode_t
umask_now(void)
{
    char line[128];
    unsigned mask;
    bool found = false;
    FILE *status = fopen("/proc/self/status", "re");

    while (status != NULL && !found &&
           fgets(line, sizeof(line), status) != NULL)
        found = sscanf(line, "Umask: %o", &mask) == 1;
    if (status != NULL)
        fclose(status);
    if (found)
        return (mode_t)mask;
    const mode_t old = umask(0);
    umask(old);
    return old;
}

/* Gives the new file the mode and, as far as we may, the owner of the old one;
 * a file that is new has those of any file that we make. A link or a file that
 * another user has put there since replace_open() is no old one. */
static int
take_mode(const struct replace *r)
{
    struct stat old;

    if (fstatat(r->folder, r->name, &old, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(old.st_mode) || is_planted(r->folder, &old))
        return fchmod(r->fd, 0666 & ~umask_now());
    mode_t mode = old.st_mode & 0777;
    if (fchown(r->fd, old.st_uid, old.st_gid) != 0 &&
        fchown(r->fd, (uid_t)-1, old.st_gid) != 0)
        mode &= (mode_t)~070 | (mode & 07) << 3; /* another group's rights */
    return fchmod(r->fd, mode);
}

/* Gives the file without a name one. */
static int
link_as(const struct replace *r, const char *name)
{
    char own[64];

    snprintf(own, sizeof(own), "/proc/self/fd/%d", r->fd);
    return linkat(AT_FDCWD, own, r->folder, name, AT_SYMLINK_FOLLOW);
}

/* Gives the file without a name one that nobody can guess. */
static int
name_randomly(struct replace *r)
{
    random_name(r->temporary, sizeof(r->temporary));
    if (link_as(r, r->temporary) != 0)
        return -1;
    r->place = REPLACE_NAMED;
    return 0;
}

/* Gives the file without a name the old file's. */
static int
name_it(struct replace *r)
{
    if (link_as(r, r->name) == 0)
        return 0;
    if (errno != EEXIST || name_randomly(r) != 0)
        return -1;
    return renameat(r->folder, r->temporary, r->folder, r->name);
}

int
replace_old_name(const struct replace *r, char *name)
{
    errno = ENAMETOOLONG;
    return snprintf(name, NAME_MAX + 1, "%s.old", r->name) <= NAME_MAX ? 0 : -1;
}

/* Gives the old file, if there is one, the name with ".old" too. It has both
 * names until the new file takes its place, so that a kill between leaves it
 * there, but where the file system has no links. */
static int
keep_old(struct replace *r)
{
    char name[NAME_MAX + 1];
    struct stat st;

    if (fstatat(r->folder, r->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -1;
    errno = EISDIR;
    if (S_ISDIR(st.st_mode) || replace_old_name(r, name) != 0 ||
        (unlinkat(r->folder, name, 0) != 0 && errno != ENOENT))
        return -1;
    r->kept = linkat(r->folder, r->name, r->folder, name, 0) == 0 ||
              renameat(r->folder, r->name, r->folder, name) == 0;
    return r->kept ? 0 : -1;
}

/* Gives the old file its name back, or removes the new one if there is none.
 * A file that has taken the new one's place meanwhile stays. */
static void
take_back(const struct replace *r)
{
    char name[NAME_MAX + 1];
    struct stat own, there;

    if (fstat(r->fd, &own) != 0 ||
        fstatat(r->folder, r->name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
        own.st_dev != there.st_dev || own.st_ino != there.st_ino)
        return;
    if (r->kept && replace_old_name(r, name) == 0)
        renameat(r->folder, name, r->folder, r->name);
    else
        unlinkat(r->folder, r->name, 0);
}

int
replace_show(struct replace *r)
{
    if (r->place == REPLACE_DIRECT || r->place == REPLACE_SHOWN)
        return 0;
    errno = EACCES;
    if (r->place == REPLACE_MEMORY || take_mode(r) != 0 ||
        (r->place == REPLACE_UNNAMED && name_randomly(r) != 0) ||
        keep_old(r) != 0)
        return TALLY_EIO;
    if (renameat(r->folder, r->temporary, r->folder, r->name) == 0) {
        r->place = REPLACE_SHOWN;
        return 0;
    }
    const int reason = errno;
    char name[NAME_MAX + 1];
    if (r->kept && replace_old_name(r, name) == 0)
        renameat(r->folder, name, r->folder, r->name);
    errno = reason;
    return TALLY_EIO;
}

/* Writes the memory over the old file. */
static int
copy_over(const struct replace *r)
{
    char part[1 << 15];
    off_t at = 0;
    ssize_t n;

    const int old =
        openat(r->folder, r->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (old < 0)
        return -1;
    while ((n = pread(r->fd, part, sizeof(part), at)) > 0) {
        for (ssize_t done = 0, more; done < n; done += more) {
            more = write(old, part + done, (size_t)(n - done));
            if (more < 0 && errno == EINTR)
                more = 0;
            if (more < 0) {
                close_keeping_errno(old);
                return -1;
            }
        }
        at += n;
    }
    if (n != 0 || ftruncate(old, at) != 0) {
        close_keeping_errno(old);
        return -1;
    }
    return close(old);
}

static int
put(struct replace *r)
{
    switch (r->place) {
    case REPLACE_UNNAMED:
        return take_mode(r) != 0 ? -1 : name_it(r);
    case REPLACE_NAMED:
        return take_mode(r) != 0
                   ? -1
                   : renameat(r->folder, r->temporary, r->folder, r->name);
    case REPLACE_MEMORY:
        return copy_over(r);
    default:
        return 0;
    }
}

int
replace_commit(struct replace *r)
{
    int error = put(r) == 0 ? 0 : TALLY_EIO;

    if (error == 0) {
        r->place = REPLACE_DIRECT; /* there is nothing to remove any more */
        const int fd = r->fd;
        r->fd = -1;
        error = close(fd) == 0 ? 0 : TALLY_EIO;
    }
    const int reason = errno;
    replace_discard(r);
    errno = reason;
    return error;
}

void
replace_discard(struct replace *r)
{
    if (r->place == REPLACE_NAMED && r->folder >= 0)
        unlinkat(r->folder, r->temporary, 0);
    if (r->place == REPLACE_SHOWN)
        take_back(r);
    if (r->fd >= 0)
        close(r->fd);
    if (r->folder >= 0)
        close(r->folder);
    *r = (struct replace){.fd = -1, .folder = -1};
}
