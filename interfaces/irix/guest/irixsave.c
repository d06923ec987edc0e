/* SPDX-License-Identifier: MIT */
/*
 * What of a child's counts a parent has in the end: not without a wait, with
 * PIOCSAVECCNTRS without one, and with a wait. The child inherits the events.
 * Prints for each what 5000 turns more are.
 */
#include "family.h"

enum how { FORGOTTEN, SAVED, AWAITED };

/* The parent must be in wait() before the child ends. */
static void
child(enum how how, unsigned long turns, int gate)
{
    char one;

    loop(turns);
    if (how == AWAITED)
        await_sleep(getppid());
    else if (read(gate, &one, 1) < 0)
        _exit(3);
    _exit(0);
}

/* A child that is no zombie is gone for us, too. */
static void
await_end(pid_t pid)
{
    char path[32], state = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (state != 'Z') {
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            exit(3);
        fclose(file);
        usleep(2000);
    }
}

/* What the parent's counts, which stand, rise by. */
static unsigned long long
rise(int own, enum how how, unsigned long turns)
{
    int generation, gate[2];

    start(own, U);
    if (pipe(gate) != 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        child(how, turns, gate[0]);
    }
    close(gate[0]);
    const int fd = open_counters(pid);
    if (how == SAVED && ioctl(fd, PIOCSAVECCNTRS) != 0)
        exit(3);
    ioctl(own, PIOCRELEVCTRS);
    const unsigned long long before = count(own, &generation);
    if (how != AWAITED) {
        close(gate[1]);
        await_end(pid);
    }
    if (how == AWAITED)
        waitpid(pid, NULL, 0);
    const unsigned long long after = count(own, &generation);
    if (how != AWAITED)
        waitpid(pid, NULL, 0);
    else
        close(gate[1]);
    close(fd);
    return after - before;
}

int
main(void)
{
    const int own = open_counters(getpid());

    printf("forgotten %llu\n", rise(own, FORGOTTEN, 1000));
    const unsigned long long saved = rise(own, SAVED, 1000);
    printf("saved %d %llu\n", saved >= 3000 && saved < 4000,
           rise(own, SAVED, 6000) - saved);
    printf("awaited %d\n", rise(own, AWAITED, 6000) >= 18000);
    return 0;
}
