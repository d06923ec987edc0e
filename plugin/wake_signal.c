/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/wake_signal.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The signal by which the C library has all threads change their user. It
 * blocks the signal in no thread, and lets nobody name it: so the kernel is
 * asked. */
#define WAKE_SIGNAL 33

/* The kernel's struct sigaction, of x86-64 and aarch64. */
struct kernel_action {
    void (*handler)(int number);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

#ifdef __x86_64__
/* On x86-64 the process has to say how a handler returns: by rt_sigreturn. */
#define KERNEL_RESTORER 0x04000000u
void wake_signal_return(void);
__asm__(".text\n"
        ".hidden wake_signal_return\n"
        ".globl wake_signal_return\n"
        ".type wake_signal_return, @function\n"
        "wake_signal_return:\n"
        "    mov $15, %eax\n"
        "    syscall\n"
        ".size wake_signal_return, . - wake_signal_return\n");
#endif

static void
do_nothing(int number)
{
    (void)number;
}

bool
wake_signal_handle(void)
{
    const struct kernel_action action = {
        .handler = do_nothing,
#ifdef __x86_64__
        .flags = KERNEL_RESTORER,
        .restorer = wake_signal_return,
#endif
    };

    return syscall(SYS_rt_sigaction, WAKE_SIGNAL, &action, NULL,
                   sizeof(action.mask)) == 0;
}

void
wake_signal_send(pid_t thread)
{
    syscall(SYS_tgkill, getpid(), thread, WAKE_SIGNAL);
}
