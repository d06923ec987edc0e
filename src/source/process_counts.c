/* SPDX-License-Identifier: MIT */
#include "source/process_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "source/counts_layout.h"

static int
map_header(int fd, struct session_header **header)
{
    void *memory =
        mmap(NULL, HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return TALLY_ESYSTEM;
    *header = memory;
    return 0;
}

int
session_create(const struct session_request *request,
               const struct tally_log *log, int *fd,
               struct session_header **header)
{
    const int file = memfd_create("tally", MFD_CLOEXEC);

    /* Under ulimit -f this is an error to tell, not a death. */
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    const bool sized = file >= 0 && ftruncate(file, (off_t)SESSION_SIZE) == 0;
    signal(SIGXFSZ, old);
    if (!sized || map_header(file, header) != 0) {
        const int error =
            tally_fail(log, TALLY_ESYSTEM, "cannot create shared memory: %s",
                       strerror(errno));
        if (file >= 0)
            close(file);
        return error;
    }
    (*header)->magic = SESSION_MAGIC;
    (*header)->header_size = HEADER_SIZE;
    (*header)->counts_size = COUNTS_SIZE;
    memcpy(&(*header)->request, request, sizeof(*request));
    *fd = file;
    return 0;
}

void
session_destroy(int fd, struct session_header *header)
{
    if (header != NULL)
        munmap(header, HEADER_SIZE);
    if (fd >= 0)
        close(fd);
}

/* Adds bytes to a checksum. */
static uint64_t
mix(uint64_t sum, const void *bytes, size_t size)
{
    const char *from = bytes;

    for (size_t left = size; left > 0;) {
        const size_t n = left < sizeof(uint64_t) ? left : sizeof(uint64_t);
        uint64_t word = 0;
        memcpy(&word, from, n);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
        from += n;
        left -= n;
    }
    return sum;
}

static uint64_t
mix_word(uint64_t sum, uint64_t word)
{
    return mix(sum, &word, sizeof(word));
}

static uint64_t
checksum_of(const struct session_request *request)
{
    return mix(SESSION_MAGIC, request, sizeof(*request));
}

int
session_place(int fd, const struct session_request *request, char *place,
              size_t size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return TALLY_ESYSTEM;
    snprintf(place, size, "/proc/%d/fd/%d@%" PRIx64 ".%" PRIx64 ".%" PRIx64,
             (int)getpid(), fd, (uint64_t)st.st_dev, (uint64_t)st.st_ino,
             checksum_of(request));
    return 0;
}

/* Returns whether this is the file of the session: its identity, its size. */
static bool
is_session(const struct stat *st, uint64_t device, uint64_t inode)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_dev == device &&
           (uint64_t)st->st_ino == inode &&
           (uint64_t)st->st_size == SESSION_SIZE;
}

/* Splits a place into its path and the file's identity. */
static bool
parse_place(const char *place, char *path, uint64_t *device, uint64_t *inode)
{
    const size_t length = strcspn(place, "@");

    if (length >= SESSION_PLACE ||
        sscanf(place + length, "@%" SCNx64 ".%" SCNx64, device, inode) != 2)
        return false;
    memcpy(path, place, length);
    path[length] = '\0';
    return true;
}

bool
session_is_open(int fd, const char *place)
{
    char path[SESSION_PLACE];
    uint64_t device, inode;
    struct stat st;

    return parse_place(place, path, &device, &inode) && fstat(fd, &st) == 0 &&
           is_session(&st, device, inode);
}

int
session_open(const char *place)
{
    char path[SESSION_PLACE];
    uint64_t device, inode;
    struct stat st;

    if (!parse_place(place, path, &device, &inode)) {
        errno = EINVAL;
        return -1;
    }
    /* Opening a device or a pipe can do something or wait: look first. */
    if (stat(path, &st) != 0)
        return -1;
    const int fd = is_session(&st, device, inode)
                       ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
                       : (errno = ESTALE, -1);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !is_session(&st, device, inode))) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

bool
session_is_whole(const struct session_header *header)
{
    return header->magic == SESSION_MAGIC &&
           header->header_size == HEADER_SIZE &&
           header->counts_size == COUNTS_SIZE;
}

/* Returns whether the copy is what the place says that the session asks for. */
static bool
is_asked(const struct session_request *request, const char *place)
{
    uint64_t sum;

    return sscanf(place, "%*[^@]@%*[^.].%*[^.].%" SCNx64, &sum) == 1 &&
           sum == checksum_of(request);
}

int
session_attach(const char *place, const struct tally_log *log, int fd,
               struct session_header **header, struct session_request *request)
{
    if (fd < 0)
        return tally_fail(
            log, TALLY_ESYSTEM, "cannot open the session %s: %s", place,
            errno == ESTALE ? "another file is there" : strerror(errno));
    if (map_header(fd, header) != 0)
        return tally_fail(log, TALLY_ESYSTEM, "cannot map %s: %s", place,
                          strerror(errno));
    memcpy(request, &(*header)->request, sizeof(*request));
    if (!session_is_whole(*header) || !is_asked(request, place)) {
        session_destroy(-1, *header);
        return tally_fail(log, TALLY_ESYSTEM,
                          "%s is not a session of this version of tally",
                          place);
    }
    return 0;
}

void *
session_map_vcounters(const struct session_header *header, void *at)
{
    void *const place =
        mmap(at, SESSION_VCOUNTERS, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);

    /* Older kernels take the address as a hint. */
    if (place != MAP_FAILED && place != at)
        munmap(place, SESSION_VCOUNTERS);
    if (place != at)
        return NULL;
    void *const memory =
        mremap((void *)(uintptr_t)header->vcounters, 0, SESSION_VCOUNTERS,
               MREMAP_MAYMOVE | MREMAP_FIXED, at);
    return memory == at ? at : NULL;
}

static uint64_t
counts_offset(unsigned index)
{
    return HEADER_SIZE + COUNTS_SIZE * index;
}

/* Memory of the file at `offset`, from other memory of it: without a file to
 * open. remap_file_pages() is deprecated, so this comes second. */
static void *
map_again(const struct session_header *header, void *at, size_t size,
          uint64_t offset)
{
    void *const from = (void *)(uintptr_t)header;
    void *memory = mremap(from, 0, size, MREMAP_MAYMOVE);

    if (memory == MAP_FAILED)
        return memory;
    if (remap_file_pages(memory, size, 0, offset / PAGE, MAP_NONBLOCK) != 0) {
        munmap(memory, size);
        return MAP_FAILED;
    }
    return at == NULL
               ? memory
               : mremap(memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at);
}

void *
counts_map_memory(const struct process_counts *process, void *at, size_t size,
                  uint64_t offset)
{
    const int flags = MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0);

    if (process->fd < 0 && process->session != NULL)
        return map_again(process->session, at, size, offset);
    return mmap(at, size, PROT_READ | PROT_WRITE, flags, process->fd,
                (off_t)offset);
}

/* Maps all but the strands in one piece. */
static int
map_counts(struct process_counts *process, unsigned index, void *at)
{
    char *memory =
        counts_map_memory(process, at, STRANDS_AT, counts_offset(index));

    if (memory == MAP_FAILED)
        return TALLY_ESYSTEM;
    process->head = (void *)memory;
    process->infos = (void *)(memory + INFOS_AT);
    process->kinds = (void *)(memory + KINDS_AT);
    process->threads = (void *)(memory + THREADS_AT);
    process->snapshots = (void *)(memory + SNAPSHOTS_AT);
    process->captures = (void *)(memory + CAPTURES_AT);
    process->offset = counts_offset(index);
    return 0;
}

int
counts_map_session(const struct session_header *header, int fd, unsigned index,
                   struct process_counts *process)
{
    if (index >= SESSION_PROCESSES) {
        errno = EINVAL;
        return TALLY_ESYSTEM;
    }
    process->fd = fd;
    process->session = header;
    return map_counts(process, index, NULL);
}

int
counts_map(int fd, unsigned index, struct process_counts *process)
{
    return counts_map_session(NULL, fd, index, process);
}

void
counts_unmap(struct process_counts *process)
{
    if (process->head != NULL)
        munmap(process->head, STRANDS_AT);
    process->head = NULL;
}

int
counts_remap(struct process_counts *process, unsigned index)
{
    return map_counts(process, index, process->head);
}

struct counts_strand *
counts_map_strand(const struct process_counts *process, unsigned slot, void *at)
{
    const uint64_t offset = process->offset + STRANDS_AT + STRAND_SIZE * slot;
    void *memory = counts_map_memory(process, at, STRAND_SIZE, offset);

    return memory == MAP_FAILED ? NULL : memory;
}

void
counts_unmap_strand(struct counts_strand *strand)
{
    if (strand != NULL)
        munmap(strand, STRAND_SIZE);
}

/* Returns a number of records that another process may have written. */
static unsigned
bounded(const atomic_uint *number, unsigned most)
{
    const unsigned value = atomic_load(number);

    return value < most ? value : most;
}

unsigned
counts_slices(const struct process_counts *process)
{
    const unsigned slices = process->head->slices;

    return slices == 0 ? 1 : slices < COUNTS_SLICES ? slices : COUNTS_SLICES;
}

static uint64_t
load_count(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

void
counts_sum(const struct process_counts *process,
           const struct counts_strand *strand, unsigned slice,
           struct totals *sum)
{
    const unsigned blocks = bounded(&process->head->blocks, COUNTS_BLOCKS);

    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        sum->signal[s] = load_count(&strand->totals[slice].signal[s]);
    for (unsigned b = 0; b < blocks; b++) {
        const uint64_t count = load_count(&strand->exec[slice][b]);
        if (count == 0)
            continue;
        const int16_t *fixed = counts_info(process, b)->fixed;
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            sum->signal[s] += count * (uint64_t)(int64_t)fixed[s];
    }
}

/* Of fixed signals, blocks raise all and accesses that are kept apart once
 * more, in slices of their own. */
static void
add_slice(const struct process_counts *process, unsigned slice,
          const struct totals *count, struct totals *sum)
{
    struct totals more = *count;

    if (slice >= process->head->own_slices)
        memset(more.signal, 0, SIGNAL_FIXED_COUNT * sizeof(*more.signal));
    totals_add(sum, &more);
}

static void
add_strand(const struct process_counts *process,
           const struct counts_strand *strand, struct totals *sum)
{
    for (unsigned slice = 0; slice < counts_slices(process); slice++) {
        struct totals one;
        counts_sum(process, strand, slice, &one);
        add_slice(process, slice, &one, sum);
    }
}

void
counts_sum_all(const struct process_counts *process,
               const struct counts_strand *strand, struct totals *sum)
{
    *sum = strand->folded;
    add_strand(process, strand, sum);
}

void
counts_sum_now(const struct process_counts *process,
               const struct counts_strand *strand, struct totals *sum)
{
    memset(sum, 0, sizeof(*sum));
    add_strand(process, strand, sum);
}

void
counts_each_ended(const struct process_counts *process,
                  void (*take)(void *user, const struct process_counts *process,
                               uint32_t strand, struct totals *sum),
                  void *user)
{
    const unsigned ended = bounded(&process->head->threads, COUNTS_THREADS);
    struct totals sum;

    for (unsigned i = 0; i < ended; i++) {
        const struct counts_thread *t = &process->threads[i];
        memset(&sum, 0, sizeof(sum));
        for (unsigned slice = 0; slice < counts_slices(process); slice++)
            add_slice(process, slice, &t->totals[slice], &sum);
        take(user, process, t->strand, &sum);
    }
}

void
counts_each(const struct process_counts *process,
            void (*take)(void *user, const struct process_counts *process,
                         uint32_t strand, struct totals *sum),
            void *user)
{
    const unsigned strands = bounded(&process->head->strands, COUNTS_STRANDS);
    struct totals sum;

    counts_each_ended(process, take, user);
    for (unsigned i = 0; i < strands; i++) {
        struct counts_strand *s = counts_map_strand(process, i, NULL);
        if (s == NULL)
            continue;
        counts_sum_now(process, s, &sum);
        take(user, process, s->strand, &sum);
        counts_unmap_strand(s);
    }
}

void
counts_snap(struct process_counts *process, const struct counts_strand *strand,
            uint64_t boundary, const struct totals *sum)
{
    const unsigned index = atomic_load(&process->head->snapshots);

    if (index >= COUNTS_SNAPSHOTS)
        return;
    process->snapshots[index] = (struct counts_snapshot){
        .thread = strand->thread,
        .boundary = boundary,
        .totals = *sum,
    };
    atomic_store(&process->head->snapshots, index + 1);
}

void
counts_capture(struct process_counts *process,
               const struct capture_record *record)
{
    const unsigned index = atomic_fetch_add(&process->head->captures, 1);

    if (index < COUNTS_CAPTURES)
        process->captures[index] = *record;
}

static int
overlay(void *at, size_t size)
{
    void *memory =
        mmap(at, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

    return memory == MAP_FAILED ? TALLY_ESYSTEM : 0;
}

int
counts_detach(struct process_counts *process, struct counts_strand *strand)
{
    const int error = overlay(process->head, STRANDS_AT);

    return error != 0 || strand == NULL ? error : overlay(strand, STRAND_SIZE);
}

void
counts_clear(void *memory, size_t size)
{
    char *const end = (char *)memory + size;
    char *const first =
        (char *)(((uintptr_t)memory + PAGE - 1) & -(uintptr_t)PAGE);
    char *const last = (char *)((uintptr_t)end & -(uintptr_t)PAGE);

    /* Fails where a child that counts for nobody has memory of its own. */
    if (first >= last ||
        madvise(first, (size_t)(last - first), MADV_REMOVE) != 0) {
        memset(memory, 0, size);
        return;
    }
    memset(memory, 0, (size_t)(first - (char *)memory));
    memset(last, 0, (size_t)(end - last));
}

void
counts_fold(struct process_counts *process, struct counts_strand *strand)
{
    const unsigned index = atomic_load(&process->head->threads);
    const unsigned blocks = bounded(&process->head->blocks, COUNTS_BLOCKS);
    struct counts_thread *thread =
        &process->threads[index < COUNTS_THREADS ? index : COUNTS_THREADS - 1];
    struct totals sum;

    thread->strand = strand->strand;
    thread->thread = strand->thread;
    thread->maker = strand->maker;
    thread->born = strand->born;
    const unsigned slices = counts_slices(process);
    for (unsigned slice = 0; slice < slices; slice++) {
        counts_sum(process, strand, slice, &sum);
        totals_add(&thread->totals[slice], &sum);
        add_slice(process, slice, &sum, &strand->folded);
        counts_clear(strand->exec[slice], blocks * sizeof(uint64_t));
    }
    process->head->seals -= thread->seal;
    thread->seal = counts_thread_seal(
        thread, slices,
        process->offset + (uint64_t)(thread - process->threads));
    process->head->seals += thread->seal;
    if (index < COUNTS_THREADS)
        atomic_store(&process->head->threads, index + 1);
    else /* the record's first thread has not been counted here */
        atomic_store(&process->head->heaped,
                     atomic_load(&process->head->heaped) +
                         (atomic_load(&process->head->heaped) == 0 ? 2 : 1));
    memset(&strand->totals, 0, sizeof(strand->totals));
    counts_clear(strand->exec[COUNTS_OUTSIDE], blocks * sizeof(uint64_t));
}

uint64_t
counts_thread_seal(const struct counts_thread *t, unsigned slices,
                   uint64_t place)
{
    uint64_t sum = mix_word(place, t->strand);

    sum = mix_word(sum, t->thread);
    sum = mix_word(sum, t->maker);
    sum = mix_word(sum, t->born);
    return mix(sum, t->totals, slices * sizeof(*t->totals));
}

uint64_t
counts_head_seal(const struct counts_head *h, uint64_t threads)
{
    uint64_t sum = mix_word(threads, h->threads);

    sum = mix_word(sum, (uint64_t)h->pid << 32 | (uint32_t)h->parent);
    sum = mix_word(sum, h->begin);
    sum = mix_word(sum, h->heaped);
    sum = mix_word(sum, h->components);
    sum = mix_word(sum, h->load_bias);
    return mix(sum, h->program, sizeof(h->program));
}

void
counts_end(struct process_counts *process)
{
    struct counts_head *const head = process->head;

    head->seal = counts_head_seal(head, head->seals);
    atomic_store(&head->state, COUNTS_ENDED);
}

void
counts_release(struct process_counts *process, unsigned strands)
{
    madvise(process->infos, THREADS_AT - INFOS_AT, MADV_REMOVE);
    for (unsigned s = 0; s < strands && s < COUNTS_STRANDS; s++) {
        struct counts_strand *strand = counts_map_strand(process, s, NULL);
        if (strand != NULL)
            madvise(strand, STRAND_SIZE, MADV_REMOVE);
        counts_unmap_strand(strand);
    }
}

unsigned
session_note_uncounted(struct session_header *header, const char *name)
{
    atomic_fetch_add(&header->uncounted, 1);
    for (unsigned i = 0; i < SESSION_UNCOUNTED; i++) {
        unsigned none = 0;
        if (atomic_compare_exchange_strong(&header->uncounted_taken[i], &none,
                                           1)) {
            snprintf(header->uncounted_names[i], COUNTS_NAME, "%s", name);
            return i;
        }
    }
    return SESSION_UNCOUNTED;
}

void
session_forget_uncounted(struct session_header *header, unsigned place)
{
    if (place < SESSION_UNCOUNTED)
        atomic_store(&header->uncounted_taken[place], 0);
    atomic_fetch_sub(&header->uncounted, 1);
}

/* Returns whether the kernel would give the file's rights to who executes it.
 */
static bool
has_rights(const char *path)
{
    struct stat st;
    struct statvfs fs;

    if (stat(path, &st) != 0 ||
        (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0))
        return false;
    const bool user = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
    const bool group = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
                       st.st_gid != getegid();
    return user || group;
}

void
session_note_rights(struct session_header *header, const char *path)
{
    if (!has_rights(path))
        return;
    const unsigned known = atomic_load(&header->rightless);
    for (unsigned i = 0; i < known && i < SESSION_UNCOUNTED; i++)
        if (strncmp(header->rightless_names[i], path, COUNTS_NAME - 1) == 0)
            return;
    const unsigned n = atomic_fetch_add(&header->rightless, 1);
    if (n < SESSION_UNCOUNTED)
        snprintf(header->rightless_names[n], COUNTS_NAME, "%s", path);
}

void
totals_add(struct totals *sum, const struct totals *more)
{
    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        sum->signal[s] += more->signal[s];
}
