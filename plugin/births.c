/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/births.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/qemu.h"

/* A thread that was made and may not have begun; on the stack of its maker. */
struct birth {
    struct birth *next;
    pid_t thread;
    unsigned maker;
    bool begins; /* it knows its maker, */
    bool begun;  /* and all that has to do with its beginning is done */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct birth *first;
    bool over; /* nobody waits any more */
} births = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false};

/* Of this host thread: */
static __thread struct {
    bool makes;        /* it is in a call that makes a thread */
    bool told;         /* the thread of this call has begun */
    struct birth *own; /* while it begins itself */
} call;

void
births_call(const struct isa *isa, int64_t number, const uint64_t args[6])
{
    /* Earlier versions of QEMU have told of the thread before the call returns.
     * With CLONE_VFORK QEMU forks. The flags are the same for all guests. */
    call.makes = qemu_begins_late() && call_is(CALL_CLONE, isa, number) &&
                 (args[0] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM;
    call.told = false;
}

void
births_return(unsigned vcpu, int64_t result)
{
    struct birth birth = {.thread = (pid_t)result, .maker = vcpu};
    const bool waits = call.makes && !call.told && result > 0;

    call.makes = false;
    if (!waits)
        return;
    pthread_mutex_lock(&births.lock);
    birth.next = births.first;
    births.first = &birth;
    pthread_cond_broadcast(&births.changed);
    while (!birth.begun && (birth.begins || !births.over))
        pthread_cond_wait(&births.changed, &births.lock);
    struct birth **at = &births.first;
    while (*at != &birth)
        at = &(*at)->next;
    *at = birth.next;
    pthread_mutex_unlock(&births.lock);
}

/* Returns the birth of this thread, or NULL: its maker is still in its call. */
static struct birth *
own_birth(void)
{
    struct birth *birth = births.first;

    while (birth != NULL && birth->thread != gettid())
        birth = birth->next;
    return birth;
}

unsigned
births_begin(unsigned vcpu)
{
    if (call.makes || !qemu_begins_late()) {
        call.told = true;
        return vcpu;
    }
    pthread_mutex_lock(&births.lock);
    while ((call.own = own_birth()) == NULL && !births.over)
        pthread_cond_wait(&births.changed, &births.lock);
    const unsigned maker = call.own != NULL ? call.own->maker : 0;
    if (call.own != NULL)
        call.own->begins = true;
    pthread_mutex_unlock(&births.lock);
    return maker;
}

void
births_end(void)
{
    if (call.own == NULL)
        return;
    pthread_mutex_lock(&births.lock);
    call.own->begun = true;
    call.own = NULL;
    pthread_cond_broadcast(&births.changed);
    pthread_mutex_unlock(&births.lock);
}

void
births_stop(void)
{
    pthread_mutex_lock(&births.lock);
    births.over = true;
    pthread_cond_broadcast(&births.changed);
    pthread_mutex_unlock(&births.lock);
}

void
births_after_fork(void)
{
    pthread_mutex_init(&births.lock, NULL);
    pthread_cond_init(&births.changed, NULL);
    births.first = NULL;
}
