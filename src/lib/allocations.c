/* SPDX-License-Identifier: MIT */
/*
 * A library that tally preloads in the programs of a recording with objects:
 * it stands before the program's allocator, hands each call on, and reports to
 * the plugin what the allocator has given and takes back. The plugin counts
 * nothing of this library's own code.
 *
 * It needs nothing of any C library but dlsym(), so that one object serves all,
 * and leaves errno alone.
 */
#include <stddef.h>
#include <stdint.h>

#include "gateway/guest_calls.h"
#include "gateway/protocol.h"

#define PUBLIC __attribute__((visibility("default")))
#define NEXT ((void *)-1L) /* RTLD_NEXT */
#define EARLY 4096u /* bytes for who allocates while we look for malloc */

/* What stands before the program's allocator. */
PUBLIC void *malloc(size_t size);
PUBLIC void *calloc(size_t count, size_t size);
PUBLIC void *realloc(void *old, size_t size);
PUBLIC void free(void *given);
PUBLIC void *memalign(size_t alignment, size_t size);
PUBLIC void *aligned_alloc(size_t alignment, size_t size);
PUBLIC int posix_memalign(void **given, size_t alignment, size_t size);
PUBLIC void *valloc(size_t size);
PUBLIC void *pvalloc(size_t size);

/* Of the C library; before glibc 2.34 dlsym() is in a library that a program
 * may lack, and the allocator has these names, too. */
#define WEAK __attribute__((weak))
extern WEAK void *dlsym(void *handle, const char *name);
extern WEAK void *__libc_malloc(size_t size);
extern WEAK void *__libc_calloc(size_t count, size_t size);
extern WEAK void *__libc_realloc(void *old, size_t size);
extern WEAK void *__libc_memalign(size_t alignment, size_t size);
extern WEAK void *__libc_valloc(size_t size);
extern WEAK void *__libc_pvalloc(size_t size);
extern WEAK void __libc_free(void *given);

/* Makes the system call that no kernel has; its result does not matter. */
static void
ring(uint64_t allocator, const void *given, size_t size, const void *taken)
{
    guest_call_five(GATEWAY_CALL, GATEWAY_ALLOCATION, allocator,
                    (uintptr_t)given, size, (uintptr_t)taken);
}

/* The program's allocator, once it is found. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} next;

/* Memory for those who allocate while dlsym() runs; it is never given back. */
static struct {
    _Alignas(16) char bytes[EARLY];
    size_t used;
} early;
static int searching;

static void *
early_alloc(size_t size)
{
    const size_t rounded = (size + 15) / 16 * 16;
    char *at = early.bytes + early.used;

    if (size > EARLY || rounded > EARLY - early.used)
        return NULL;
    early.used += rounded;
    return at;
}

static int
is_early(const void *at)
{
    return (const char *)at >= early.bytes &&
           (const char *)at < early.bytes + EARLY;
}

/* Takes glibc's own allocator, by names that need no dlsym(). */
static void
take_glibc(void)
{
    next.malloc = __libc_malloc;
    next.calloc = __libc_calloc;
    next.realloc = __libc_realloc;
    next.memalign = __libc_memalign;
    next.aligned_alloc = __libc_memalign;
    next.valloc = __libc_valloc;
    next.pvalloc = __libc_pvalloc;
    next.free = __libc_free;
}

/* Finds the allocator; false: it is being found. */
static int
find(void)
{
    if (next.free != NULL)
        return 1;
    if (searching)
        return 0;
    if (dlsym == NULL) {
        take_glibc();
        return next.free != NULL;
    }
    searching = 1;
    *(void **)&next.malloc = dlsym(NEXT, "malloc");
    *(void **)&next.calloc = dlsym(NEXT, "calloc");
    *(void **)&next.realloc = dlsym(NEXT, "realloc");
    *(void **)&next.memalign = dlsym(NEXT, "memalign");
    *(void **)&next.aligned_alloc = dlsym(NEXT, "aligned_alloc");
    *(void **)&next.posix_memalign = dlsym(NEXT, "posix_memalign");
    *(void **)&next.valloc = dlsym(NEXT, "valloc");
    *(void **)&next.pvalloc = dlsym(NEXT, "pvalloc");
    *(void **)&next.free = dlsym(NEXT, "free");
    searching = 0;
    return next.free != NULL;
}

void *
malloc(size_t size)
{
    if (!find())
        return early_alloc(size);
    void *given = next.malloc(size);
    ring(GATEWAY_MALLOC, given, size, NULL);
    return given;
}

void *
calloc(size_t count, size_t size)
{
    if (!find())
        return size == 0 || count <= EARLY / size ? early_alloc(count * size)
                                                  : NULL;
    void *given = next.calloc(count, size);
    ring(GATEWAY_CALLOC, given, count * size, NULL);
    return given;
}

void
free(void *given)
{
    if (given == NULL || is_early(given) || !find())
        return;
    ring(GATEWAY_FREE, NULL, 0, given);
    next.free(given);
}

void *
realloc(void *old, size_t size)
{
    if (!find())
        return old == NULL ? early_alloc(size) : NULL;
    if (is_early(old)) {
        char *moved = malloc(size);
        const size_t most = (size_t)(early.bytes + EARLY - (char *)old);
        for (size_t i = 0; moved != NULL && i < size && i < most; i++)
            moved[i] = ((volatile char *)old)[i];
        return moved;
    }
    void *given = next.realloc(old, size);
    if (given != NULL || size == 0)
        ring(GATEWAY_REALLOC, given, size, old);
    return given;
}

void *
memalign(size_t alignment, size_t size)
{
    if (!find() || next.memalign == NULL)
        return NULL;
    void *given = next.memalign(alignment, size);
    ring(GATEWAY_ALIGNED_ALLOC, given, size, NULL);
    return given;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    if (!find() || next.aligned_alloc == NULL)
        return NULL;
    void *given = next.aligned_alloc(alignment, size);
    ring(GATEWAY_ALIGNED_ALLOC, given, size, NULL);
    return given;
}

int
posix_memalign(void **given, size_t alignment, size_t size)
{
    int error = 12; /* ENOMEM */

    if (!find())
        return error;
    if (next.posix_memalign != NULL) {
        error = next.posix_memalign(given, alignment, size);
    } else if (next.memalign != NULL) {
        void *const aligned = next.memalign(alignment, size);
        error = aligned != NULL ? 0 : error;
        *given = aligned != NULL ? aligned : *given;
    }
    if (error == 0)
        ring(GATEWAY_POSIX_MEMALIGN, *given, size, NULL);
    return error;
}

void *
valloc(size_t size)
{
    if (!find() || next.valloc == NULL)
        return NULL;
    void *given = next.valloc(size);
    ring(GATEWAY_ALIGNED_ALLOC, given, size, NULL);
    return given;
}

void *
pvalloc(size_t size)
{
    if (!find() || next.pvalloc == NULL)
        return NULL;
    void *given = next.pvalloc(size);
    ring(GATEWAY_ALIGNED_ALLOC, given, size, NULL);
    return given;
}

/* Finds the allocator before a second thread could ask for it. */
__attribute__((constructor)) static void
begin(void)
{
    find();
}
