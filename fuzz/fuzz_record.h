/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of records and their reports share. */
#ifndef TALLY_FUZZ_FUZZ_RECORD_H
#define TALLY_FUZZ_FUZZ_RECORD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "record/chunks.h"
#include "record/resolver.h"

/* The kinds of chunks that an input of a target may have. */
struct fuzz_chunks {
    const uint32_t *types;
    size_t count;
};

/* Returns the kind of a chunk by its byte in the input. */
static inline uint32_t
fuzz_chunk_type(const struct fuzz_chunks *c, uint8_t byte)
{
    return c->types[byte % c->count];
}

/* Writes the chunks that an input lists: a byte that says which kind, two bytes
 * of length, and the contents. Ends the file. Returns whether that went well.
 */
static inline bool
fuzz_write_chunks(struct chunk_writer *writer, const struct fuzz_chunks *c,
                  const uint8_t *data, size_t size)
{
    while (size >= 3) {
        const size_t wanted = (size_t)data[1] | (size_t)data[2] << 8;
        const size_t length = wanted < size - 3 ? wanted : size - 3;
        chunks_write(writer, fuzz_chunk_type(c, data[0]), data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    return chunks_end(&writer) == 0;
}

/* Has `write` write the input to a file as a record, and `look` look at the
 * record if it can be read, with names of no file of this computer. */
static inline void
fuzz_look(bool (*write)(const char *path, const uint8_t *data, size_t size),
          void (*look)(const struct record *record, struct resolver *resolver),
          const struct tally_log *log, const uint8_t *data, size_t size)
{
    const int fd = memfd_create("record", MFD_CLOEXEC);
    const struct resolver_options names = {0};
    struct record *record = NULL;
    struct resolver *resolver = NULL;
    char path[64];

    fuzz_check(fd >= 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    if (write(path, data, size) && record_open(path, log, &record) == 0) {
        for (size_t i = 0; i < record->image_count; i++)
            record->images[i].path[0] = '\0';
        fuzz_check(resolver_create(record, &names, log, &resolver) == 0);
        look(record, resolver);
        resolver_destroy(resolver);
    }
    record_close(record);
    close(fd);
}

#endif
