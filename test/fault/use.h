/* SPDX-License-Identifier: MIT */
/*
 * What the programs share that use a library while a call fails: a program uses
 * its library three times and prints what each use counted, or that the use
 * failed; then how many descriptors and how much memory the uses left.
 *
 * What fails is the library's: the printing here takes no memory and calls the
 * kernel itself.
 */
#ifndef USE_H
#define USE_H

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define USES 3
#define USE_VALUES 4

/* Uses the library once and stores what was counted. Returns how many values,
 * or a negative number if the library said that the use failed. */
typedef int use_function(uint64_t values[USE_VALUES]);

static inline void
use_say(const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    const int length = vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    /* Not write(), which may be what fails. */
    if (syscall(SYS_write, STDOUT_FILENO, text, (size_t)length) != length)
        _exit(1);
}

/* Returns how many descriptors are open: those below 256, of which a use takes
 * few. */
static inline int
use_descriptors(void)
{
    int open = 0;

    for (int fd = 0; fd < 256; fd++)
        open += lseek(fd, 0, SEEK_CUR) != -1 || errno != EBADF;
    return open;
}

static inline size_t
use_memory(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static inline int
use_run(use_function *use)
{
    const int before = use_descriptors();

    for (int i = 0; i < USES; i++) {
        uint64_t values[USE_VALUES];
        const int count = use(values);
        if (count < 0) {
            use_say("failed\n");
            continue;
        }
        for (int v = 0; v < count; v++)
            use_say("%s%" PRIu64, v == 0 ? "counted " : " ", values[v]);
        use_say("\n");
    }
    use_say("descriptors %d\n", use_descriptors() - before);
    use_say("memory %zu\n", use_memory());
    return 0;
}

#endif
