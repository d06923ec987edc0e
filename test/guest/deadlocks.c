/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for what never comes: deadlocks KIND N. Before the last
 * lock that a thread takes it works for N rounds of a loop, of 2 instructions
 * each; test/locks.py says what follows. SIGINT ends most kinds.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both_hold;
static pthread_t ring[3];
static sem_t posted;
static long rounds;

/* Takes both locks, once the other thread holds the one that is taken last. */
__attribute__((noinline)) static void
take(pthread_mutex_t *a, pthread_mutex_t *b)
{
    pthread_mutex_lock(a);
    pthread_barrier_wait(&both_hold);
    loop((unsigned long)rounds);
    pthread_mutex_lock(b);
    pthread_mutex_unlock(b);
    pthread_mutex_unlock(a);
}

static void *
up(void *data)
{
    take(&first_lock, &second_lock);
    return data;
}

static void *
down(void *data)
{
    take(&second_lock, &first_lock);
    return data;
}

/* Waits for a condition that nobody signals. */
static void *
hopes(void *data)
{
    pthread_mutex_lock(&first_lock);
    pthread_barrier_wait(&both_hold);
    for (;;)
        pthread_cond_wait(&never, &first_lock);
    return data;
}

/* Waits for the end of the next thread of a ring, once all are there. */
static void *
follows(void *data)
{
    pthread_barrier_wait(&both_hold);
    pthread_join(ring[((long)data + 1) % 3], NULL);
    return NULL;
}

/* Ends with the lock held. */
static void *
keeps(void *data)
{
    pthread_mutex_lock(&first_lock);
    return data;
}

static void
post(int signal)
{
    (void)signal;
    sem_post(&posted);
}

/* Waits until the handler of a signal posts the semaphore. */
static void
await_signal(int signal_number)
{
    signal(signal_number, post);
    if (signal_number == SIGALRM)
        alarm(1);
    else if (signal_number == SIGCHLD && fork() == 0)
        exit(getchar() != EOF);
    if (signal_number == SIGUSR1) {
        puts("waiting");
        fflush(stdout);
    }
    while (sem_wait(&posted) != 0)
        continue;
}

/* Holds a lock, and waits for a line of standard input. */
static void *
reads(void *data)
{
    char line[16];

    pthread_mutex_lock(&first_lock);
    pthread_barrier_wait(&both_hold);
    puts("reading");
    fflush(stdout);
    while (read(STDIN_FILENO, line, sizeof(line)) > 0)
        continue;
    pthread_mutex_unlock(&first_lock);
    return data;
}

/* Takes the lock that the reader holds. */
static void *
queues(void *data)
{
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&first_lock);
    pthread_mutex_unlock(&first_lock);
    return data;
}

static void
run(int count, void *(*const functions[])(void *))
{
    pthread_t threads[2];

    pthread_barrier_init(&both_hold, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void
leave(int number)
{
    (void)number;
    _exit(0);
}

/* Says so once the first thread waits. */
static void *
says(void *data)
{
    usleep(10000);
    fputs("waits\n", stderr);
    for (;;)
        usleep(1000);
    return data;
}

/* Waits for a signal whose handler ends the program. */
static void
await_end(void)
{
    const struct sigaction action = {.sa_handler = leave};
    pthread_t thread;

    sigaction(SIGTERM, &action, NULL);
    pthread_create(&thread, NULL, says, NULL);
    pause();
}

int
main(int argc, char **argv)
{
    const char *const kind = argc > 1 ? argv[1] : "";

    rounds = argc > 2 ? atol(argv[2]) : 1000;
    if (strcmp(kind, "order") == 0) {
        run(2, (void *(*[])(void *)){up, down});
    } else if (strcmp(kind, "condition") == 0) {
        run(1, (void *(*[])(void *)){hopes});
    } else if (strcmp(kind, "ring") == 0) {
        pthread_barrier_init(&both_hold, NULL, 3);
        for (long i = 0; i < 3; i++)
            pthread_create(&ring[i], NULL, follows, (void *)i);
        pthread_exit(NULL);
    } else if (strcmp(kind, "self") == 0) {
        pthread_mutex_lock(&first_lock);
        pthread_mutex_lock(&first_lock);
    } else if (strcmp(kind, "kept") == 0) {
        run(1, (void *(*[])(void *)){keeps});
        pthread_mutex_lock(&first_lock);
    } else if (strcmp(kind, "alarm") == 0) {
        await_signal(SIGALRM);
    } else if (strcmp(kind, "child") == 0) {
        await_signal(SIGCHLD);
    } else if (strcmp(kind, "signal") == 0) {
        await_signal(SIGUSR1);
    } else if (strcmp(kind, "handler") == 0) {
        await_end();
    } else if (strcmp(kind, "input") == 0) {
        run(2, (void *(*[])(void *)){reads, queues});
    } else if (strcmp(kind, "pool") == 0) {
        pthread_t thread;
        pthread_barrier_init(&both_hold, NULL, 2);
        pthread_create(&thread, NULL, hopes, NULL);
        pthread_barrier_wait(&both_hold);
        pthread_mutex_lock(&first_lock); /* is free once the thread waits */
    } else {
        fprintf(stderr, "usage: deadlocks KIND N\n");
        return 2;
    }
    return 0;
}
