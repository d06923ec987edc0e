/* SPDX-License-Identifier: MIT */
/*
 * The container of tally's record files: a header and chunks, each with its
 * checksum. doc/format/record.md has the layout; what is in a chunk the caller
 * knows.
 *
 * Where the file is while it is written: at first in a file that nobody sees,
 * and from the first chunk on at its path, where it grows chunk by chunk. So a
 * run that cannot start leaves the record of the run before as it is, and a
 * killed run leaves its own record at the path, not that of the run before,
 * which a reader would take for the new one. The file that was at the path is
 * then PATH.old, as perf record names it; an older PATH.old is lost, and is
 * refused at once if it is no record of tally. A path that is no regular file,
 * or is /dev/stdout or /dev/fd/N, is written from its start, directly.
 *
 * What is not whole does not look whole: the last chunk of a whole file says
 * how many chunks came before it. A kill of the writer loses the chunk that was
 * being written; a power failure can lose more, as nothing waits for the disk.
 *
 * A writer or reader is used by one thread at a time.
 */
#ifndef TALLY_RECORD_CHUNKS_H
#define TALLY_RECORD_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The layout; numbers are little endian. */
#define CHUNKS_MAGIC "TALLYREC" /* the first 8 bytes of the file */
#define CHUNKS_VERSION 1        /* u32 at byte 8 */
#define CHUNKS_KIND_RECORD 1    /* u32 at byte 12 */
#define CHUNKS_KIND_TRACE 2
#define CHUNKS_FILE_HEADER 16  /* bytes */
#define CHUNK_MAGIC 0x4b4e4843 /* "CHNK" */
#define CHUNK_HEADER 32        /* bytes */
#define CHUNK_ALIGN 8          /* a chunk's size is a multiple of it */
#define CHUNK_ZSTD UINT32_C(1) /* flag: the stored bytes are a zstd frame */
#define CHUNK_END 0x444e45     /* type: "END" */
#define CHUNK_MAX (UINT32_C(1) << 30) /* bytes before compression */
/* Bytes before compression that a reader gives memory for: so many, and so many
 * more for each stored byte. The writer stores what has more as it is. */
#define CHUNK_FREE (UINT32_C(1) << 26)
#define CHUNK_RATIO 256u

/* Where a chunk's header has what. */
enum chunk_field {
    CHUNK_AT_MAGIC = 0,  /* u32 */
    CHUNK_AT_TYPE = 4,   /* u32 */
    CHUNK_AT_STORED = 8, /* u64: bytes in the file, without the padding */
    CHUNK_AT_SIZE = 16,  /* u64: bytes before compression */
    CHUNK_AT_FLAGS = 24, /* u32 */
    CHUNK_AT_CRC = 28,   /* u32: of the 28 bytes before and the stored bytes */
};

/* A file that is being written. */
struct chunk_writer;

/*
 * Opens what shall be the file at `path`, and writes its header where nobody
 * sees it yet. `log` stays the caller's and is used until the end. 0, or
 * TALLY_EIO with errno or TALLY_ENOMEM, logged; *writer is then untouched.
 */
int chunks_create(const char *path, const struct tally_log *log,
                  struct chunk_writer **writer);

/* The same of a file of another kind than a record. */
int
chunks_create_kind(const char *path, uint32_t kind, const struct tally_log *log,
                   struct chunk_writer **writer);

/* Returns how many bytes were written to the file. */
uint64_t chunks_size(const struct chunk_writer *writer);

/*
 * Writes one chunk of at most CHUNK_MAX bytes, of any type but CHUNK_END; data
 * may be NULL if size is 0. All of it is in the file when the call returns, and
 * after the first the file is at its path. 0, or TALLY_EIO or (size)
 * TALLY_ERANGE, logged; all further calls then return that error and log
 * nothing.
 */
int chunks_write(struct chunk_writer *writer, uint32_t type, const void *data,
                 size_t size);

/*
 * Writes the last chunk, closes the file, frees the writer and sets *writer to
 * NULL. After an error the chunks that were written stay, in a file that is cut
 * short; if there were none, the old file stays. 0 or the error, logged.
 * Accepts NULL in *writer.
 */
int chunks_end(struct chunk_writer **writer);

/*
 * Frees the writer and sets *writer to NULL, for a run that has left nothing
 * worth keeping: the file that was at the path is there again. (An older
 * PATH.old is back only if no chunk was written.) Accepts NULL in *writer.
 */
void chunks_abandon(struct chunk_writer **writer);

/* A file that is being read. */
struct chunk_reader;

/* What chunks_next() has read. */
struct chunk {
    uint32_t type;       /* perhaps one that the caller does not know */
    const uint8_t *data; /* the reader's, until its next call */
    size_t size;
    uint64_t at; /* byte of the file where the chunk begins */
};

/*
 * Opens a record. It is read as long as it is now, even if it grows. `log`
 * stays the caller's and is used until chunks_close(). 0, or logged: TALLY_EIO
 * if there is no such file or it is no regular one, TALLY_ESYNTAX if it is no
 * record or of another version, TALLY_ENOMEM. *reader is then untouched.
 */
int chunks_open(const char *path, const struct tally_log *log,
                struct chunk_reader **reader);

/* The same of a file of another kind than a record. */
int chunks_open_kind(const char *path, uint32_t kind,
                     const struct tally_log *log, struct chunk_reader **reader);

/* The same of a record that is open; the reader closes `fd`, also on failure.
 * Messages call the file `name`. */
int chunks_open_fd(int fd, const char *name, const struct tally_log *log,
                   struct chunk_reader **reader);

/*
 * Reads the next chunk. 1, or 0 after the last: of a whole file, or of one that
 * is cut short, which is logged as a warning. Or an error, logged, which all
 * further calls return too: TALLY_ESYNTAX for a damaged chunk, TALLY_EIO,
 * TALLY_ENOMEM. What was read before is good. *chunk is set with 1 only.
 *
 * The memory that a file can ask for follows from the bytes that it has: those
 * of a chunk are checked before they are expanded, and the room for them grows
 * as they come, whatever size the chunk's header says; a chunk of more than
 * CHUNK_FREE bytes and CHUNK_RATIO times those stored is damaged.
 */
int chunks_next(struct chunk_reader *reader, struct chunk *chunk);

/*
 * Hands the memory of the data of the chunk that chunks_next() returned last to
 * the caller, who frees *memory; chunk->data is its first byte. 0 or
 * TALLY_ENOMEM, logged; the data then stay the reader's.
 */
int
chunks_take(struct chunk_reader *reader, struct chunk *chunk, uint8_t **memory);

/*
 * Reads the header of the chunk that begins at byte *at, the first at
 * CHUNKS_FILE_HEADER, and nothing else of it: its type goes to *type, and the
 * byte behind it to *at. Returns false, and logs nothing, where no whole chunk
 * begins. Moves nothing for chunks_next().
 */
bool
chunks_peek(const struct chunk_reader *reader, uint64_t *at, uint32_t *type);

/* From now on chunks_next() passes by all chunks that begin at byte `from` or
 * behind it and before byte `to`. It compares their checksums, and expands
 * none. */
void chunks_pass_by(struct chunk_reader *reader, uint64_t from, uint64_t to);

/* Returns whether the file has no end; true only after chunks_next() returned
 * 0. */
bool chunks_cut(const struct chunk_reader *reader);

/* Frees the reader and sets *reader to NULL. Accepts NULL in *reader. */
void chunks_close(struct chunk_reader **reader);

#endif
