/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

const void *
plugin_memory(uint64_t addr)
{
    /* guest_base, which QEMU exports in user mode; absent means 0 */
    static const uintptr_t *base;

    if (base == NULL)
        base = dlsym(RTLD_DEFAULT, "guest_base");
    return (const void *)((uintptr_t)addr + (base ? *base : 0));
}

/* The calls name the calling thread: the process's first thread has no memory
 * any more once it has ended alone. */
static struct iovec
guest_piece(uint64_t addr, size_t size)
{
    return (struct iovec){(void *)(uintptr_t)plugin_memory(addr), size};
}

bool
plugin_read(uint64_t addr, void *out, size_t size)
{
    const struct iovec here = {out, size}, there = guest_piece(addr, size);

    return process_vm_readv(gettid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool
plugin_read_word(const struct isa *isa, uint64_t addr, uint64_t *word)
{
    if (!plugin_read(addr, word, sizeof(*word)))
        return false;
    *word = plugin_guest_word(isa, *word);
    return true;
}

/* Reads up to the end of a page at a time, as the next may not be there. */
char *
plugin_read_string(uint64_t addr, size_t most)
{
    char *text = NULL;

    for (size_t size = 0; size < most;) {
        const size_t piece = PAGE - (addr + size) % PAGE;
        char *const more = realloc(text, size + piece);
        if (more == NULL)
            break;
        text = more;
        if (!plugin_read(addr + size, text + size, piece))
            break;
        const char *const end = memchr(text + size, '\0', piece);
        size += piece;
        if (end != NULL && (size_t)(end - text) < most)
            return text;
    }
    free(text);
    return NULL;
}

bool
plugin_write(uint64_t addr, const void *in, size_t size)
{
    const struct iovec here = {(void *)(uintptr_t)in, size};
    const struct iovec there = guest_piece(addr, size);

    return process_vm_writev(gettid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

void
plugin_no_memory(struct counts_head *head, const char *what)
{
    fprintf(stderr, "tally: out of memory for %s\n", what);
    atomic_fetch_add(&head->lost, 1);
    _exit(125);
}
