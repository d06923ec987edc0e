/* SPDX-License-Identifier: MIT */
/*
 * thrown: unwinds as an exception does. thrower() leaves middle(), whose
 * landing pad calls after(); outer() then goes on and calls later(). Three
 * times.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#include "loop.h"

#define APART __attribute__((noinline, noclone, noipa))

static jmp_buf outermost;
static struct _Unwind_Exception exception;

/* Goes on until there is no further function, so that all landing pads run. */
static _Unwind_Reason_Code
stop(int version, _Unwind_Action action, _Unwind_Exception_Class class,
     struct _Unwind_Exception *thrown, struct _Unwind_Context *context,
     void *user)
{
    (void)version, (void)class, (void)thrown, (void)context, (void)user;
    if (action & _UA_END_OF_STACK)
        longjmp(outermost, 1);
    return _URC_NO_REASON;
}

static APART void
thrower(void)
{
    _Unwind_ForcedUnwind(&exception, stop, NULL);
    abort();
}

static APART void
after(const int *held)
{
    (void)held;
    loop(1000);
}

static APART void
later(void)
{
    loop(2000);
}

static APART void
middle(void)
{
    const __attribute__((cleanup(after))) int held = 1;

    thrower();
    printf("%d\n", held);
}

static APART void
outer(void)
{
    if (setjmp(outermost) == 0)
        middle();
    later();
    __asm__ volatile(""); /* no tail call */
}

int
main(void)
{
    for (int i = 0; i < 3; i++)
        outer();
    return 0;
}
