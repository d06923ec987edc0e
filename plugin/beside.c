/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/beside.h"

#include <sys/stat.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/early.h"
#include "plugin/memory.h"

/* Numbers that are the same for the guests of all architectures. */
#define GUEST_EINTR 4
#define GUEST_ECHILD 10
#define GUEST_EAGAIN 11
#define GUEST_WNOHANG 1u
#define GUEST_WNOWAIT 0x01000000u
#define GUEST_PROT_WRITE 2u
#define GUEST_MAP_SHARED 1u

/* The result of a call that a signal's handler interrupts, as QEMU returns it,
 * and that the guest makes again after the handler. */
#define QEMU_ERESTARTSYS 512

void
beside_forks(struct beside *b)
{
    struct counts_head *const head = b->process->head;

    b->forked = true;
    if (atomic_fetch_add(&head->children, 1) > 0 || b->shares)
        atomic_store(&head->beside, 1);
}

void
beside_is_child(struct beside *b)
{
    atomic_store(&b->raised, 0);
}

void
beside_ends(const struct beside *b)
{
    struct counts_head *const head = b->process->head;

    if (atomic_load(&head->children) > 0)
        atomic_store(&head->beside, 1);
}

/* Notes a signal that the process sends itself. Which thread gets a signal that
 * names the process alone is the kernel's choice, and depends on who has been
 * interrupted by the signals before. */
static void
note_raised(struct beside *b, bool thread)
{
    atomic_store(&b->process->head->raised, 1);
    if (thread || atomic_load(&b->raised) == 0)
        atomic_fetch_add(&b->raised, 1);
}

/* The handler of a signal that the process has sent itself has returned, or the
 * signal was asked for. Returns false where it has sent none. */
static bool
end_raised(struct beside *b)
{
    unsigned raised = atomic_load(&b->raised);

    while (raised > 0 &&
           !atomic_compare_exchange_weak(&b->raised, &raised, raised - 1))
        continue;
    return raised > 0;
}

/* Returns whether the call maps memory that children share, which the process
 * may write. */
static bool
maps_shared(const struct isa *isa, int64_t number, const uint64_t args[4])
{
    return call_is(CALL_MMAP, isa, number) &&
           (args[3] & GUEST_MAP_SHARED) != 0 &&
           (args[2] & GUEST_PROT_WRITE) != 0;
}

/* Returns whether rt_sigaction() with these arguments sets a handler: a
 * function, not one of the two words that name what the kernel does. */
static bool
sets_handler(const struct beside *b, const uint64_t args[4])
{
    uint64_t handler;

    return args[1] != 0 &&
           plugin_read_word(b->isa, args[1] + b->isa->handler_at, &handler) &&
           handler > 1;
}

void
beside_syscall(struct beside *b, int64_t number, const uint64_t args[4])
{
    bool thread;

    b->shares |= maps_shared(b->isa, number, args);
    if (call_is(CALL_RT_SIGACTION, b->isa, number)) {
        b->handles |=
            !early_is_raised(b->isa, args[0]) && sets_handler(b, args);
    } else if (call_signals_own(b->isa, number, args, &thread)) {
        note_raised(b, thread);
    }
}

/* Returns whether the file is a pipe or socket that the first program was not
 * started with: another process of the tree has the other end. */
static bool
is_of_tree(const struct session_request *r, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
        return false;
    for (size_t i = 0; i < SESSION_STANDARD; i++)
        if (r->standard[i].device == st.st_dev &&
            r->standard[i].inode == st.st_ino)
            return false;
    return true;
}

/* Notes the end of a call that waits for children, with these options. */
static void
note_wait(struct counts_head *head, uint64_t options, int64_t result,
          bool reaped)
{
    const unsigned children = atomic_load(&head->children);

    if ((options & GUEST_WNOHANG) && children > 0)
        atomic_store(&head->beside, 1);
    if (result == -GUEST_ECHILD)
        atomic_store(&head->children, 0);
    else if (reaped && children > 0)
        atomic_fetch_sub(&head->children, 1);
}

/* Notes the return of a handler. A handler that interrupted no call and whose
 * signal no thread of the process sent began at a point that a timer chose, or
 * another process by its speed. */
static void
note_handler(struct beside *b, struct beside_signals *signals, bool parent)
{
    struct counts_head *const head = b->process->head;
    const bool raised = end_raised(b);

    if (signals->interrupted > 0)
        signals->interrupted--;
    else if (raised)
        return;
    else if (parent)
        atomic_store(&head->beside, 1);
    else if (b->handles && !b->forked)
        atomic_fetch_add(&head->signalled, 1);
}

void
beside_return(struct beside *b, struct beside_signals *signals, int64_t number,
              const uint64_t args[4], int64_t result)
{
    struct counts_head *const head = b->process->head;
    const struct isa *isa = b->isa;
    const bool parent = atomic_load(&head->children) > 0;

    if (result == -QEMU_ERESTARTSYS || result == -GUEST_EINTR)
        signals->interrupted++;
    if (call_is(CALL_RT_SIGRETURN, isa, number))
        note_handler(b, signals, parent);
    if (call_is(CALL_RT_SIGTIMEDWAIT, isa, number) && result > 0)
        end_raised(b);
    if (!parent && head->parent == 0)
        return;
    if (call_is(CALL_WAIT4, isa, number) || call_is(CALL_WAITPID, isa, number))
        note_wait(head, args[2], result, result > 0);
    else if (call_is(CALL_WAITID, isa, number))
        note_wait(head, args[3], result,
                  result == 0 && (args[3] & GUEST_WNOWAIT) == 0);
    else if (parent &&
             (call_waits_for_files(isa, number) ||
              (call_sends_signal(isa, number) && (pid_t)args[0] != getpid())))
        atomic_store(&head->beside, 1);
    else if ((result > 0 || result == -GUEST_EAGAIN) &&
             call_reads(isa, number) && is_of_tree(b->request, (int)args[0]))
        atomic_store(&head->beside, 1);
}
