/* SPDX-License-Identifier: MIT */
#include "record/chunks.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/replace.h"
#include "record/bytes.h"
#include "record/crc32c.h"

#define LEVEL 3
/* Level 3 has a window of 2^21 bytes, no level below 20 has more than 2^23. A
 * frame that asks for more is none of ours: zstd would allocate 2^27. */
#define WINDOW_LOG 23
/* A chunk of so many bytes is expanded in one step, without a window. */
#define FIRST_ROOM ((size_t)1 << 20)
#define ALL_BEFORE_IS_GOOD "what comes before that is good"

struct chunk_writer {
    struct replace file;
    char *path;
    const struct tally_log *log;
    int error;
    bool shown; /* at least one chunk is in the file, which is at its path */
    uint64_t count;
    uint64_t size; /* of what is in the file */
    ZSTD_CCtx *zstd;
    uint8_t *room;
    size_t room_size;
};

struct chunk_reader {
    int fd;
    char *path;
    const struct tally_log *log;
    uint32_t kind; /* that the file is to have */
    int error;
    bool ended, cut;
    uint64_t size; /* of the file */
    uint64_t at;   /* where the next chunk begins */
    uint64_t count;
    uint64_t passed_from, passed_to; /* chunks_pass_by() */
    ZSTD_DCtx *zstd;
    struct room {
        uint8_t *data;
        size_t size;
    } stored, expanded;
};

/* Returns by how much `size` falls short of a multiple of CHUNK_ALIGN. */
static size_t
padding(size_t size)
{
    return (CHUNK_ALIGN - size % CHUNK_ALIGN) % CHUNK_ALIGN;
}

/* Writes all the parts, which are changed. 0 or -1 with errno. */
static int
write_all(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t n = writev(fd, parts, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        for (; count > 0 && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (uint8_t *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
    return 0;
}

static int
cannot_write(const struct chunk_writer *w)
{
    return tally_fail(w->log, TALLY_EIO, "cannot write %s: %s", w->path,
                      strerror(errno));
}

/* Returns whether a file is a record of tally, or empty. */
static bool
is_record(int folder, const char *name)
{
    char magic[sizeof(CHUNKS_MAGIC) - 1];
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return false;
    const ssize_t n = read(fd, magic, sizeof(magic));
    close(fd);
    return n == 0 || (n == (ssize_t)sizeof(magic) &&
                      memcmp(magic, CHUNKS_MAGIC, sizeof(magic)) == 0);
}

/* Checks that the file at the path now, if there is one, can be kept as
 * PATH.old without a loss of what is no record. 0 or TALLY_EIO with errno,
 * logged. */
static int
check_old(const struct chunk_writer *w)
{
    const struct replace *const file = &w->file;
    char name[NAME_MAX + 1];
    struct stat st;

    if (file->place == REPLACE_DIRECT ||
        fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    errno = EPERM;
    if (file->place == REPLACE_MEMORY)
        return tally_fail(w->log, TALLY_EIO,
                          "cannot write %s: its folder may not be written, so "
                          "the file there now could not be kept",
                          w->path);
    if (replace_old_name(file, name) != 0)
        return cannot_write(w);
    if (fstatat(file->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        (S_ISREG(st.st_mode) && is_record(file->folder, name)))
        return 0;
    errno = EPERM;
    return tally_fail(w->log, TALLY_EIO,
                      "cannot write %s: the file there now would become "
                      "%s.old, which is no record of tally; move that",
                      w->path, w->path);
}

/* Opens the file and writes its header. 0 or an error, logged. */
static int
begin(struct chunk_writer *w, uint32_t kind)
{
    uint8_t header[CHUNKS_FILE_HEADER] = CHUNKS_MAGIC;
    struct iovec part = {header, sizeof(header)};

    if (replace_open(w->path, REPLACE_WHOLE, w->log, &w->file) != 0)
        return TALLY_EIO;
    const int error = check_old(w);
    if (error != 0)
        return error;
    bytes_put_u32(header + 8, CHUNKS_VERSION);
    bytes_put_u32(header + 12, kind);
    w->size = sizeof(header);
    return write_all(w->file.fd, &part, 1) == 0 ? 0 : cannot_write(w);
}

int
chunks_create(const char *path, const struct tally_log *log,
              struct chunk_writer **writer)
{
    return chunks_create_kind(path, CHUNKS_KIND_RECORD, log, writer);
}

int
chunks_create_kind(const char *path, uint32_t kind, const struct tally_log *log,
                   struct chunk_writer **writer)
{
    struct chunk_writer *w = calloc(1, sizeof(*w));
    int error;

    if (w == NULL)
        return tally_fail(log, TALLY_ENOMEM, "out of memory");
    w->file.fd = w->file.folder = -1;
    w->log = log;
    w->path = strdup(path);
    w->zstd = ZSTD_createCCtx();
    if (w->path == NULL || w->zstd == NULL)
        error = tally_fail(log, TALLY_ENOMEM, "out of memory");
    else
        error = begin(w, kind);
    const int cause = errno;
    if (error != 0)
        chunks_abandon(&w);
    else
        *writer = w;
    errno = cause;
    return error;
}

/* Compresses into the writer's room. Returns the size, or 0 if the chunk shall
 * be stored as it is: it gets no smaller, or there is no memory. */
static size_t
compress(struct chunk_writer *w, const void *data, size_t size)
{
    const size_t needed = ZSTD_compressBound(size);

    if (needed > w->room_size) {
        uint8_t *const room = realloc(w->room, needed);
        if (room == NULL)
            return 0;
        w->room = room;
        w->room_size = needed;
    }
    const size_t n =
        ZSTD_compressCCtx(w->zstd, w->room, w->room_size, data, size, LEVEL);
    return !ZSTD_isError(n) && n < size ? n : 0;
}

/* Returns whether a reader expands so few stored bytes to so many. */
static bool
may_expand(uint64_t stored_size, uint64_t size)
{
    return size <= CHUNK_FREE + CHUNK_RATIO * stored_size;
}

/* Writes one chunk to the file. 0 or TALLY_EIO, logged. */
static int
store(struct chunk_writer *w, uint32_t type, const void *data, size_t size)
{
    static const uint8_t zeroes[CHUNK_ALIGN];
    uint8_t header[CHUNK_HEADER];
    size_t compressed = compress(w, data, size);
    if (!may_expand(compressed, size))
        compressed = 0;
    const void *const stored = compressed > 0 ? w->room : data;
    const size_t stored_size = compressed > 0 ? compressed : size;

    bytes_put_u32(header + CHUNK_AT_MAGIC, CHUNK_MAGIC);
    bytes_put_u32(header + CHUNK_AT_TYPE, type);
    bytes_put_u64(header + CHUNK_AT_STORED, stored_size);
    bytes_put_u64(header + CHUNK_AT_SIZE, size);
    bytes_put_u32(header + CHUNK_AT_FLAGS, compressed > 0 ? CHUNK_ZSTD : 0);
    bytes_put_u32(header + CHUNK_AT_CRC,
                  crc32c(crc32c(0, header, CHUNK_AT_CRC), stored, stored_size));
    struct iovec parts[] = {
        {header, sizeof(header)},
        {(void *)(uintptr_t)stored, stored_size},
        {(void *)(uintptr_t)zeroes, padding(stored_size)},
    };
    w->size += sizeof(header) + stored_size + padding(stored_size);
    return write_all(w->file.fd, parts, 3) == 0 ? 0 : cannot_write(w);
}

/* Writes one chunk, and puts the file in its place after the first. */
static int
write_chunk(struct chunk_writer *w, uint32_t type, const void *data,
            size_t size)
{
    if (w->error != 0)
        return w->error;
    w->error = store(w, type, data, size);
    if (w->error == 0 && !w->shown) {
        w->shown = replace_show(&w->file) == 0;
        if (!w->shown)
            w->error = cannot_write(w);
    }
    w->count += w->error == 0;
    return w->error;
}

uint64_t
chunks_size(const struct chunk_writer *w)
{
    return w->size;
}

int
chunks_write(struct chunk_writer *w, uint32_t type, const void *data,
             size_t size)
{
    assert(type != CHUNK_END);
    if (w->error == 0 && size > CHUNK_MAX)
        w->error = tally_fail(w->log, TALLY_ERANGE,
                              "cannot write %s: a chunk of %zu bytes, of at "
                              "most %" PRIu32,
                              w->path, size, CHUNK_MAX);
    return write_chunk(w, type, data, size);
}

static void
free_writer(struct chunk_writer *w)
{
    ZSTD_freeCCtx(w->zstd);
    free(w->room);
    free(w->path);
    free(w);
}

int
chunks_end(struct chunk_writer **writer)
{
    struct chunk_writer *const w = *writer;
    uint8_t count[8];

    if (w == NULL)
        return 0;
    *writer = NULL;
    bytes_put_u64(count, w->count);
    int error = write_chunk(w, CHUNK_END, count, sizeof(count));
    if (!w->shown)
        replace_discard(&w->file);
    else if (replace_commit(&w->file) != 0 && error == 0)
        error = cannot_write(w);
    free_writer(w);
    return error;
}

void
chunks_abandon(struct chunk_writer **writer)
{
    struct chunk_writer *const w = *writer;

    if (w == NULL)
        return;
    *writer = NULL;
    replace_discard(&w->file);
    free_writer(w);
}

/* Reads bytes of the file. Returns how many there are, fewer if the file has
 * shrunk since it was opened, or TALLY_EIO, logged. */
static ssize_t
read_at(const struct chunk_reader *r, uint8_t *data, size_t size, uint64_t at)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n =
            pread(r->fd, data + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tally_fail(r->log, TALLY_EIO,
                              "cannot read %s at byte %" PRIu64 ": %s", r->path,
                              at + done, strerror(errno));
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* Returns what a file of this kind is called, or NULL. */
static const char *
kind_name(uint32_t kind)
{
    return kind == CHUNKS_KIND_RECORD  ? "record"
           : kind == CHUNKS_KIND_TRACE ? "trace"
                                       : NULL;
}

/* Looks at the first bytes of the file. 0 or an error, logged. */
static int
check_file_header(struct chunk_reader *r)
{
    const size_t magic_size = sizeof(CHUNKS_MAGIC) - 1;
    uint8_t header[CHUNKS_FILE_HEADER];
    const ssize_t n = read_at(r, header, sizeof(header), 0);

    if (n < 0)
        return (int)n;
    if (n == 0)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s is not a %s of tally: it is empty", r->path,
                          kind_name(r->kind));
    if (memcmp(header, CHUNKS_MAGIC,
               (size_t)n < magic_size ? (size_t)n : magic_size) != 0)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s is not a %s of tally: at byte 0 is no %s",
                          r->path, kind_name(r->kind), CHUNKS_MAGIC);
    r->at = sizeof(header);
    if (n < (ssize_t)sizeof(header))
        return 0; /* the first chunk is not there either */
    const uint32_t version = bytes_get_u32(header + 8);
    if (version != CHUNKS_VERSION)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s is of version %" PRIu32 " (at byte 8), this "
                          "tally reads version %d%s",
                          r->path, version, CHUNKS_VERSION,
                          version > CHUNKS_VERSION ? ": use a newer tally"
                                                   : "");
    const uint32_t kind = bytes_get_u32(header + 12);
    if (kind != r->kind && kind_name(kind) != NULL)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s is not a %s of tally but a %s (tally %s)",
                          r->path, kind_name(r->kind), kind_name(kind),
                          kind == CHUNKS_KIND_TRACE ? "trace" : "report");
    if (kind != r->kind)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s is not a %s of tally but of kind %" PRIu32
                          " (at byte 12)",
                          r->path, kind_name(r->kind), kind);
    return 0;
}

static int
cannot_read(const char *path, const struct tally_log *log)
{
    return tally_fail(log, TALLY_EIO, "cannot read %s: %s", path,
                      strerror(errno));
}

/* Looks at the file that is open. 0 or an error, logged. */
static int
check_file(struct chunk_reader *r)
{
    struct stat st;

    if (fstat(r->fd, &st) != 0)
        return cannot_read(r->path, r->log);
    if (!S_ISREG(st.st_mode))
        return tally_fail(r->log, TALLY_EIO,
                          "cannot read %s: it is a %s; a %s is read from "
                          "a regular file",
                          r->path,
                          S_ISDIR(st.st_mode)    ? "folder"
                          : S_ISFIFO(st.st_mode) ? "pipe"
                                                 : "device",
                          kind_name(r->kind));
    r->size = (uint64_t)st.st_size;
    return check_file_header(r);
}

int
chunks_open(const char *path, const struct tally_log *log,
            struct chunk_reader **reader)
{
    return chunks_open_kind(path, CHUNKS_KIND_RECORD, log, reader);
}

/* Opens a file of the kind. */
static int
open_fd(int fd, const char *name, uint32_t kind, const struct tally_log *log,
        struct chunk_reader **reader)
{
    struct chunk_reader *r = calloc(1, sizeof(*r));
    int error;

    if (r == NULL) {
        close(fd);
        return tally_fail(log, TALLY_ENOMEM, "out of memory");
    }
    r->fd = fd;
    r->log = log;
    r->kind = kind;
    r->path = strdup(name);
    r->zstd = ZSTD_createDCtx();
    if (r->path == NULL || r->zstd == NULL ||
        ZSTD_isError(
            ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)))
        error = tally_fail(log, TALLY_ENOMEM, "out of memory");
    else
        error = check_file(r);
    if (error != 0)
        chunks_close(&r);
    else
        *reader = r;
    return error;
}

int
chunks_open_kind(const char *path, uint32_t kind, const struct tally_log *log,
                 struct chunk_reader **reader)
{
    /* A pipe without a writer does not block. */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return fd >= 0 ? open_fd(fd, path, kind, log, reader)
                   : cannot_read(path, log);
}

int
chunks_open_fd(int fd, const char *name, const struct tally_log *log,
               struct chunk_reader **reader)
{
    return open_fd(fd, name, CHUNKS_KIND_RECORD, log, reader);
}

static int
damaged(const struct chunk_reader *r, const char *reason)
{
    return tally_fail(r->log, TALLY_ESYNTAX,
                      "%s is damaged: the chunk at byte %" PRIu64
                      " %s; " ALL_BEFORE_IS_GOOD,
                      r->path, r->at, reason);
}

/* Notes that the next chunk is not all there, and returns 0. */
static int
cut_short(struct chunk_reader *r)
{
    r->cut = true;
    tally_logf(r->log, TALLY_LOG_WARNING,
               "%s is cut short: the chunk at byte %" PRIu64
               " is not all there; " ALL_BEFORE_IS_GOOD,
               r->path, r->at < r->size ? r->at : r->size);
    return 0;
}

static int
no_memory(const struct chunk_reader *r)
{
    return tally_fail(r->log, TALLY_ENOMEM,
                      "cannot read %s: no memory for the chunk at byte "
                      "%" PRIu64,
                      r->path, r->at);
}

/* Makes the room at least as large; keeps what is in it. 0 or TALLY_ENOMEM,
 * logged. */
static int
reserve(const struct chunk_reader *r, struct room *room, size_t size)
{
    if (room->data != NULL && size <= room->size)
        return 0;
    uint8_t *const data = realloc(room->data, size > 0 ? size : 1);
    if (data == NULL)
        return no_memory(r);
    room->data = data;
    room->size = size;
    return 0;
}

/* Expands the stored bytes to `size`. The room for them grows as they come: a
 * small frame in a chunk that claims to be large gets little. 0 or an error,
 * logged. */
static int
expand(struct chunk_reader *r, size_t stored_size, uint64_t size)
{
    ZSTD_inBuffer in = {r->stored.data, stored_size, 0};
    ZSTD_outBuffer out = {NULL, 0, 0};
    uint64_t room = FIRST_ROOM + 8 * (uint64_t)stored_size;
    size_t more;

    ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
    do {
        room = room < size ? room : size;
        const int error = reserve(r, &r->expanded, (size_t)room);
        if (error != 0)
            return error;
        out.dst = r->expanded.data;
        out.size = (size_t)room;
        more = ZSTD_decompressStream(r->zstd, &out, &in);
        if (ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation)
            return no_memory(r);
        if (ZSTD_isError(more))
            return damaged(r, "holds no zstd frame that can be expanded");
        room *= 2;
    } while (more != 0 && out.pos == out.size && out.size < size);
    return more == 0 && out.pos == size && in.pos == in.size
               ? 0
               : damaged(r, "expands to another size than its header says");
}

/* Returns why the stored bytes are not those that were written, or NULL. */
static const char *
stored_fault(const struct chunk_reader *r, const uint8_t *header,
             size_t stored_size)
{
    const uint8_t *const stored = r->stored.data;

    if (crc32c(crc32c(0, header, CHUNK_AT_CRC), stored, stored_size) !=
        bytes_get_u32(header + CHUNK_AT_CRC))
        return "has another checksum than its bytes";
    for (size_t i = 0; i < padding(stored_size); i++) {
        if (stored[stored_size + i] != 0)
            return "has more than zeroes for padding";
    }
    return NULL;
}

/* Makes the chunk's data of the stored bytes. 0 or an error, logged. */
static int
unpack(struct chunk_reader *r, const uint8_t *header, size_t stored_size,
       struct chunk *chunk)
{
    const uint64_t size = bytes_get_u64(header + CHUNK_AT_SIZE);
    const uint32_t flags = bytes_get_u32(header + CHUNK_AT_FLAGS);

    if (size > CHUNK_MAX)
        return damaged(r, "is larger than 1 GiB");
    if ((flags & ~CHUNK_ZSTD) != 0)
        return damaged(r, "has flags that this tally does not know");
    if (flags == 0 && size != stored_size)
        return damaged(r, "has two sizes without being compressed");
    if (!may_expand(stored_size, size))
        return damaged(r, "says that its few bytes are far too many");
    if (flags == CHUNK_ZSTD) {
        const int error = expand(r, stored_size, size);
        if (error != 0)
            return error;
    }
    *chunk = (struct chunk){
        .type = bytes_get_u32(header + CHUNK_AT_TYPE),
        .data = flags == CHUNK_ZSTD ? r->expanded.data : r->stored.data,
        .size = (size_t)size,
        .at = r->at,
    };
    return 0;
}

/* Ends the file with its last chunk. 0 or an error, logged. */
static int
finish(const struct chunk_reader *r, const struct chunk *end, uint64_t next)
{
    if (end->size != 8 || bytes_get_u64(end->data) != r->count)
        return damaged(r, "ends the file with another count of chunks");
    if (next != r->size)
        return damaged(r, "ends the file, but more bytes follow");
    return 0;
}

/* What read_chunk() returns of a chunk that is passed by. */
#define CHUNK_PASSED 2

/* Reads the next chunk; as chunks_next(), or returns CHUNK_PASSED. */
static int
read_chunk(struct chunk_reader *r, struct chunk *chunk)
{
    const size_t stored_max = ZSTD_compressBound(CHUNK_MAX);
    uint8_t header[CHUNK_HEADER];
    struct chunk found;

    if (r->at > r->size || r->size - r->at < sizeof(header))
        return cut_short(r);
    ssize_t n = read_at(r, header, sizeof(header), r->at);
    if (n < (ssize_t)sizeof(header))
        return n < 0 ? (int)n : cut_short(r);
    if (bytes_get_u32(header + CHUNK_AT_MAGIC) != CHUNK_MAGIC)
        return damaged(r, "does not begin as one");
    const uint64_t stored_size = bytes_get_u64(header + CHUNK_AT_STORED);
    if (stored_size > stored_max)
        return damaged(r, "is larger than 1 GiB");
    const size_t all = (size_t)stored_size + padding((size_t)stored_size);
    if (all > r->size - r->at - sizeof(header))
        return cut_short(r);
    int error = reserve(r, &r->stored, all);
    if (error != 0)
        return error;
    n = read_at(r, r->stored.data, all, r->at + sizeof(header));
    if (n < (ssize_t)all)
        return n < 0 ? (int)n : cut_short(r);
    const char *const fault = stored_fault(r, header, (size_t)stored_size);
    if (fault != NULL)
        return damaged(r, fault);
    const uint64_t next = r->at + sizeof(header) + all;
    if (r->at >= r->passed_from && r->at < r->passed_to) {
        r->at = next;
        r->count++;
        return CHUNK_PASSED;
    }
    error = unpack(r, header, (size_t)stored_size, &found);
    if (error != 0)
        return error;
    if (found.type == CHUNK_END)
        return finish(r, &found, next);
    r->at = next;
    r->count++;
    *chunk = found;
    return 1;
}

int
chunks_next(struct chunk_reader *r, struct chunk *chunk)
{
    if (r->error != 0)
        return r->error;
    if (r->ended)
        return 0;
    int result;
    do
        result = read_chunk(r, chunk);
    while (result == CHUNK_PASSED);
    r->error = result < 0 ? result : 0;
    r->ended = result == 0;
    return result;
}

int
chunks_take(struct chunk_reader *r, struct chunk *chunk, uint8_t **memory)
{
    struct room *const room =
        chunk->data == r->expanded.data ? &r->expanded : &r->stored;
    /* The room may be that of a larger chunk before. */
    uint8_t *const data =
        realloc(room->data, chunk->size > 0 ? chunk->size : 1);

    if (data == NULL)
        return no_memory(r);
    *room = (struct room){NULL, 0};
    chunk->data = *memory = data;
    return 0;
}

bool
chunks_peek(const struct chunk_reader *r, uint64_t *at, uint32_t *type)
{
    uint8_t header[CHUNK_HEADER];

    if (*at > r->size || r->size - *at < sizeof(header) ||
        pread(r->fd, header, sizeof(header), (off_t)*at) !=
            (ssize_t)sizeof(header) ||
        bytes_get_u32(header + CHUNK_AT_MAGIC) != CHUNK_MAGIC)
        return false;
    const uint64_t stored = bytes_get_u64(header + CHUNK_AT_STORED);
    const uint64_t room = r->size - *at - sizeof(header);
    if (stored > room || padding((size_t)stored) > room - stored)
        return false;
    *type = bytes_get_u32(header + CHUNK_AT_TYPE);
    *at += sizeof(header) + stored + padding((size_t)stored);
    return true;
}

void
chunks_pass_by(struct chunk_reader *r, uint64_t from, uint64_t to)
{
    r->passed_from = from;
    r->passed_to = to;
}

bool
chunks_cut(const struct chunk_reader *r)
{
    return r->cut;
}

void
chunks_close(struct chunk_reader **reader)
{
    struct chunk_reader *const r = *reader;

    if (r == NULL)
        return;
    *reader = NULL;
    if (r->fd >= 0)
        close(r->fd);
    ZSTD_freeDCtx(r->zstd);
    free(r->stored.data);
    free(r->expanded.data);
    free(r->path);
    free(r);
}
