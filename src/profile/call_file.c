/* SPDX-License-Identifier: MIT */
#include "profile/call_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX (CALL_FILE_LOGS - CALL_FILE_TEXT)

/* Maps bytes of the file, shared; NULL with errno set. */
static void *
map(int fd, size_t bytes, off_t at)
{
    void *const memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

    return memory != MAP_FAILED ? memory : NULL;
}

int
call_file_create(const char *path, size_t bytes, struct call_file *file)
{
    /* A process that still maps an older file keeps that one. */
    if (unlink(path) != 0 && errno != ENOENT)
        return TALLY_ESYSTEM;
    struct call_file f = {
        .fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
        .stride =
            (bytes + CALL_FILE_PAGE - 1) / CALL_FILE_PAGE * CALL_FILE_PAGE,
    };

    if (f.fd < 0)
        return TALLY_ESYSTEM;
    if (ftruncate(f.fd, CALL_FILE_LOGS) == 0)
        f.head = map(f.fd, CALL_FILE_LOGS, 0);
    if (f.head == NULL) {
        close(f.fd);
        return TALLY_ESYSTEM;
    }
    f.head[CALL_FILE_VERSIONED] = CALL_FILE_VERSION;
    f.head[CALL_FILE_STRIDE] = f.stride;
    f.head[CALL_FILE_IS] = CALL_FILE_MAGIC;
    *file = f;
    return 0;
}

void *
call_file_grow(struct call_file *f)
{
    const uint64_t count = f->head[CALL_FILE_COUNT];
    const off_t at = (off_t)(CALL_FILE_LOGS + count * f->stride);

    /* Takes the blocks of the disk now: on a full disk a later store would
     * raise SIGBUS. */
    const int error = posix_fallocate(f->fd, at, (off_t)f->stride);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    void *const memory = map(f->fd, f->stride, at);
    if (memory != NULL)
        f->head[CALL_FILE_COUNT] = count + 1;
    return memory;
}

bool
call_file_text(struct call_file *f, const char *text, size_t length)
{
    uint64_t used = f->head[CALL_FILE_USED];

    do
        if (length > TEXT_MAX - used)
            return false;
    while (!atomic_compare_exchange_weak(&f->head[CALL_FILE_USED], &used,
                                         used + length));
    memcpy((char *)f->head + CALL_FILE_TEXT + used, text, length);
    return true;
}

void
call_file_close(struct call_file *f)
{
    if (f->head == NULL)
        return;
    munmap(f->head, CALL_FILE_LOGS);
    close(f->fd);
    *f = (struct call_file){.fd = -1};
}

bool
call_image_is(int fd)
{
    uint64_t word;

    return pread(fd, &word, sizeof(word), 0) == (ssize_t)sizeof(word) &&
           (word == CALL_FILE_MAGIC ||
            word == __builtin_bswap64(CALL_FILE_MAGIC));
}

int
call_image_read(int fd, struct call_image *to)
{
    struct call_image image = {0};
    struct stat status;

    if (fstat(fd, &status) != 0)
        return TALLY_EIO;
    if (!S_ISREG(status.st_mode) || status.st_size < CALL_FILE_LOGS)
        return TALLY_ESYNTAX;
    const size_t size = (size_t)status.st_size;
    uint64_t *const w = image.words = calloc(1, size);
    if (w == NULL)
        return TALLY_ENOMEM;
    while (image.size < size) {
        const ssize_t n =
            read(fd, (unsigned char *)w + image.size, size - image.size);
        if (n == 0)
            break;
        if (n > 0)
            image.size += (size_t)n;
        else if (errno != EINTR) {
            free(w);
            return TALLY_EIO;
        }
    }
    const size_t count = image.size / sizeof(*w);
    const size_t logs = CALL_FILE_LOGS / sizeof(*w);
    if (count >= logs &&
        w[CALL_FILE_IS] == __builtin_bswap64(CALL_FILE_MAGIC)) {
        call_log_swap(w, CALL_FILE_WORDS);
        call_log_swap(w + logs, count - logs);
    }
    if (count < logs || w[CALL_FILE_IS] != CALL_FILE_MAGIC ||
        w[CALL_FILE_VERSIONED] != CALL_FILE_VERSION ||
        w[CALL_FILE_STRIDE] == 0 || w[CALL_FILE_STRIDE] % CALL_FILE_PAGE != 0 ||
        w[CALL_FILE_USED] > TEXT_MAX) {
        free(w);
        return TALLY_ESYNTAX;
    }
    image.stride = (size_t)w[CALL_FILE_STRIDE];
    image.text = (const char *)w + CALL_FILE_TEXT;
    image.text_size = (size_t)w[CALL_FILE_USED];
    /* The file may be cut off behind the first logs. */
    image.count = (image.size - CALL_FILE_LOGS) / image.stride;
    if (w[CALL_FILE_COUNT] < image.count)
        image.count = (size_t)w[CALL_FILE_COUNT];
    *to = image;
    return 0;
}

/* Makes room for one more line; returns the end of the text, or NULL. */
static char *
make_room(struct call_image *image)
{
    if (image->room - image->used < DUMP_LINE_SIZE) {
        const size_t room = 2 * image->room + DUMP_LINE_SIZE;
        char *const more = realloc(image->dump, room);
        if (more == NULL)
            return NULL;
        image->dump = more;
        image->room = room;
    }
    return image->dump + image->used;
}

/* Writes a record; for call_log_walk(). */
static int
add_record(void *user, const struct dump_record *record)
{
    struct call_image *const image = user;
    char *const line = make_room(image);

    if (line == NULL)
        return TALLY_ENOMEM;
    image->used += dump_write_record(DUMP_FORM_TABLE, record, line);
    return 0;
}

/* Copies the lines that name the machine and the events: they come before the
 * tables. */
static int
write_names(struct call_image *image)
{
    const char *next = image->text;
    size_t left = image->text_size;

    image->named = true;
    while (left > 0) {
        const char *const end = memchr(next, '\n', left);
        const size_t length = end != NULL ? (size_t)(end - next) + 1 : left;
        if (end != NULL && length < DUMP_LINE_SIZE &&
            (strncmp(next, DUMP_MACHINE_MARK, sizeof(DUMP_MACHINE_MARK) - 1) ==
                 0 ||
             strncmp(next, DUMP_EVENT_MARK, sizeof(DUMP_EVENT_MARK) - 1) ==
                 0)) {
            char *const line = make_room(image);
            if (line == NULL)
                return TALLY_ENOMEM;
            memcpy(line, next, length);
            image->used += length;
        }
        next += length;
        left -= length;
    }
    return 0;
}

/* Writes the dump of the next log; nothing if the log is not whole. */
static int
write_log(struct call_image *image)
{
    char *const bytes = (char *)image->words + CALL_FILE_LOGS;
    struct call_log log;

    image->used = image->given = 0;
    char *line = make_room(image);
    if (!call_log_open(&log, bytes + image->next++ * image->stride,
                       image->stride))
        return 0;
    if (line != NULL)
        image->used = dump_write_start(DUMP_FORM_TABLE, line);
    if (line == NULL || call_log_walk(&log, add_record, image, NULL) != 0 ||
        (line = make_room(image)) == NULL)
        return TALLY_ENOMEM;
    image->used += dump_write_end(DUMP_FORM_TABLE, line);
    return 0;
}

long
call_image_fill(void *user, void *data, size_t size)
{
    struct call_image *const image = user;

    while (image->given == image->used &&
           (!image->named || image->next < image->count))
        if ((image->named ? write_log(image) : write_names(image)) != 0) {
            errno = ENOMEM;
            return -1;
        }
    const size_t left = image->used - image->given;
    const size_t count = left < size ? left : size;
    if (count > 0)
        memcpy(data, image->dump + image->given, count);
    image->given += count;
    return (long)count;
}

void
call_image_finish(struct call_image *image)
{
    free(image->words);
    free(image->dump);
    *image = (struct call_image){0};
}
