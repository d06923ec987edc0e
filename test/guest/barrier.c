/* SPDX-License-Identifier: MIT */
/*
 * barrier: writes to a page that may not be written, in blocks that end with a
 * call, a return and a jump. The handler of the signal allows it each time, as
 * collectors of garbage do, and calls mend().
 */
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "loop.h"

#define APART __attribute__((noinline, noclone, noipa))
#define SIZE 65536 /* a multiple of any page */

static char *page;

static APART void
mend(void)
{
    loop(100);
}

static void
handle(int signal)
{
    (void)signal;
    mend();
    mprotect(page, SIZE, PROT_READ | PROT_WRITE);
}

static APART void
protect(void)
{
    mprotect(page, SIZE, PROT_READ);
}

static APART void
after(void)
{
    loop(200);
}

static APART void
before_call(void)
{
    protect();
    page[0] = 1;
    after();
    __asm__ volatile(""); /* no tail call */
}

static APART void
before_return(void)
{
    protect();
    page[0] = 1;
}

static APART void
before_jump(int wanted)
{
    protect();
    if (wanted) {
        page[1] = 1;
        goto end;
    }
    after();
end:
    page[2] = 1;
    after();
    __asm__ volatile("");
}

int
main(void)
{
    page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (page == MAP_FAILED || signal(SIGSEGV, handle) == SIG_ERR)
        return 1;
    before_call();
    after();
    before_return();
    after();
    before_jump(1);
    after();
    return 0;
}
