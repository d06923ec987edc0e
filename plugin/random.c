/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/memory.h"

#define FIRST_KEY UINT64_C(0x74616c6c79000001)
#define STEP UINT64_C(0x9e3779b97f4a7c15) /* SplitMix64's */
/* Keep the keys of threads, children and executed programs apart. */
#define THREAD_SALT UINT64_C(0x5448524541440000)
#define FORK_SALT UINT64_C(0x464f524b00000000)
#define EXEC_SALT UINT64_C(0x4558454300000000)

#define UUID_PATH "/proc/sys/kernel/random/uuid"
#define UUID_SIZE 37 /* of the line of a UUID */

/* What a read of a file descriptor gives. */
enum source { SOURCE_OTHER, SOURCE_BYTES, SOURCE_UUID };

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void
random_begin(struct random *r, const char *key)
{
    r->key = key != NULL ? strtoull(key, NULL, 16) : FIRST_KEY;
}

uint64_t
random_executes(const struct random *r, const struct random_stream *stream)
{
    return mix((r->key ^ EXEC_SALT) + stream->at);
}

void
random_before_fork(struct random *r)
{
    r->forks++;
}

void
random_forks(struct random *r, struct random_stream *stream)
{
    r->key = mix((r->key ^ FORK_SALT) + r->forks);
    r->forks = 0;
    *stream = (struct random_stream){0};
}

/* Begins the stream of the calling thread, unless the thread has read before.
 */
static void
begin_stream(const struct random *r, struct random_stream *stream,
             uint32_t thread)
{
    if (stream->begun)
        return;
    stream->key = r->key;
    if (thread != 0)
        stream->key = mix((r->key ^ THREAD_SALT) + thread);
    stream->begun = true;
}

static void
next_bytes(struct random_stream *s, unsigned char *out, size_t size)
{
    for (size_t i = 0; i < size; i++, s->at++) {
        const uint64_t word = mix(s->key + (s->at / 8 + 1) * STEP);
        out[i] = (unsigned char)(word >> 8 * (s->at % 8));
    }
}

/* Makes a line as the kernel writes one: a UUID of version 4. */
static void
next_uuid(struct random_stream *stream, char line[UUID_SIZE + 1])
{
    unsigned char b[16];

    next_bytes(stream, b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(line, UUID_SIZE + 1,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x\n",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
}

/* Asks the kernel which file the descriptor names, because a descriptor may be
 * inherited, duplicated or sent. */
static enum source
source_of(int fd)
{
    char link[32], path[sizeof(UUID_PATH) + 1];
    struct stat st;

    if (fstat(fd, &st) != 0)
        return SOURCE_OTHER;
    if (S_ISCHR(st.st_mode))
        return major(st.st_rdev) == 1 &&
                       (minor(st.st_rdev) == 8 || minor(st.st_rdev) == 9)
                   ? SOURCE_BYTES
                   : SOURCE_OTHER;
    if (!S_ISREG(st.st_mode) || st.st_size != 0)
        return SOURCE_OTHER;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof(path));
    return n == sizeof(UUID_PATH) - 1 && memcmp(path, UUID_PATH, (size_t)n) == 0
               ? SOURCE_UUID
               : SOURCE_OTHER;
}

/* Overwrites `size` bytes of the guest's at `at`; `text` is a line that they
 * are a part of, or NULL. */
static void
overwrite(struct random_stream *stream, uint64_t at, uint64_t size,
          const char *text)
{
    unsigned char piece[256];

    while (size > 0) {
        const size_t n = size < sizeof(piece) ? (size_t)size : sizeof(piece);
        if (text == NULL)
            next_bytes(stream, piece, n);
        if (!plugin_write(at, text != NULL ? text : (const char *)piece, n))
            return;
        text = text != NULL ? text + n : NULL;
        at += n;
        size -= n;
    }
}

/* Overwrites what a read into `count` pieces of memory, listed at `list`, has
 * brought. */
static void
overwrite_pieces(const struct random *r, struct random_stream *stream,
                 uint64_t list, uint64_t count, uint64_t size, const char *text)
{
    for (uint64_t i = 0; i < count && size > 0; i++, list += 16) {
        uint64_t at = 0, length = 0;
        if (!plugin_read_word(r->isa, list, &at) ||
            !plugin_read_word(r->isa, list + 8, &length))
            return;
        length = length < size ? length : size;
        overwrite(stream, at, length, text);
        text = text != NULL ? text + length : NULL;
        size -= length;
    }
}

static void
fix_read(const struct random *r, struct random_stream *stream, uint32_t thread,
         const uint64_t args[4], uint64_t size, bool pieces)
{
    const enum source source = source_of((int)args[0]);
    char line[UUID_SIZE + 1];

    if (source == SOURCE_OTHER || (source == SOURCE_UUID && size > UUID_SIZE))
        return;
    begin_stream(r, stream, thread);
    if (source == SOURCE_UUID)
        next_uuid(stream, line);
    const char *const text = source == SOURCE_UUID ? line : NULL;
    if (pieces)
        overwrite_pieces(r, stream, args[1], args[2], size, text);
    else
        overwrite(stream, args[1], size, text);
    atomic_fetch_add(&r->session->random_fixed, size);
}

static void
note_left(const struct random *r, uint64_t fd, uint64_t size)
{
    if (source_of((int)fd) != SOURCE_OTHER)
        atomic_fetch_add(&r->session->random_left, size);
}

void
random_return(const struct random *r, struct random_stream *stream,
              uint32_t thread, int64_t number, const uint64_t args[4],
              int64_t result)
{
    const struct isa *isa = r->isa;
    const uint64_t size = (uint64_t)result;

    if (!r->fixed || result <= 0)
        return;
    if (call_is(CALL_GETRANDOM, isa, number)) {
        begin_stream(r, stream, thread);
        overwrite(stream, args[0], size, NULL);
        atomic_fetch_add(&r->session->random_fixed, size);
    } else if (call_is(CALL_READ, isa, number) ||
               call_is(CALL_PREAD, isa, number)) {
        fix_read(r, stream, thread, args, size, false);
    } else if (call_is(CALL_READV, isa, number) ||
               call_is(CALL_PREADV, isa, number)) {
        fix_read(r, stream, thread, args, size, true);
    } else if (call_is(CALL_SENDFILE, isa, number) ||
               call_is(CALL_SENDFILE64, isa, number)) {
        note_left(r, args[1], size);
    } else if (call_is(CALL_SPLICE, isa, number)) {
        note_left(r, args[0], size);
    }
}
