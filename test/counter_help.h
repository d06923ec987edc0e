/* SPDX-License-Identifier: MIT */
/* What the tests of the public counters share: faults that can be counted. */
#ifndef TALLY_TEST_COUNTER_HELP_H
#define TALLY_TEST_COUNTER_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <tally/counter.h>

#include "open_files.h"

#define PAGES 100
#define THREADS 8

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* An upper bound of faults: the shadow memory of sanitizers faults too. */
#ifdef SANITIZED
#define MOST(count) UINT32_MAX
#else
#define MOST(count) (count)
#endif

struct line {
    char text[512];
};

static inline void
keep_line(void *user, enum tally_level level, const char *text)
{
    struct line *line = user;

    (void)level;
    snprintf(line->text, sizeof(line->text), "%s", text);
}

/* A page each is touched for the first time: as many faults. */
static inline void
touch_pages(size_t pages)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, pages * size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    madvise(memory, pages * size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)memory)[i * size] = 1;
    munmap(memory, pages * size);
}

static inline void
touch_more(void)
{
    touch_pages(PAGES);
}

static inline void
spin(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

static inline struct tally_counter_options
defaults(void)
{
    struct tally_counter_options options;

    tally_counter_options_init(&options, sizeof(options));
    return options;
}

static inline struct tally_counter *
open_with(const struct tally_counter_options *options, const char *events)
{
    struct tally_counter *c = NULL;

    assert_int_equal(tally_counter_open(options, &c), 0);
    const int error = tally_counter_add(c, events);
    if (error == TALLY_EPERMISSION) {
        tally_counter_close(c);
        skip();
    }
    assert_int_equal(error, 0);
    return c;
}

static inline uint64_t
first_value(const struct tally_counter *c)
{
    struct tally_reading r[8];

    assert_int_equal(tally_counter_read(c, r, 8), 0);
    return r[0].value;
}

#endif
