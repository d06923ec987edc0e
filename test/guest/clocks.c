/* SPDX-License-Identifier: MIT */
/*
 * clocks WHAT [N]: what a program sees of time and of processors, a line each.
 *
 *   loop N      ns between two looks at the clock around N turns of a loop
 *   dates       seconds of time(), gettimeofday() and clock_gettime()
 *   waits       threads that wait for some time, each by another call: the name
 *               and the milliseconds since the start, in order of their end
 *   word N      N threads that wait on one word for N, N - 1, ... milliseconds,
 *               and one that is woken after them
 *   late        a thread wakes another on a condition that waits for a second,
 *               after N million turns of a loop
 *   files N     threads that wait for a file for 20 ms, each by another call,
 *               while the first runs N million turns of a loop and then writes
 *               to a pipe: how many files are ready, and what the call says
 *   rivals N    two threads that wait for one file for 20 ms in the same way,
 *               and read what it has once the first has run N million turns
 *               of a loop and has written a byte: which of them finds it, and
 *               when the other one's wait ends
 *   outlive     a thread waits twice after the first thread has ended
 *   inherit     how two waits for a mutex with priority inheritance end, which
 *               another thread holds for 60 ms: of 20 ms, and of a second
 *   signal      a thread ends the wait of another by a signal after 50 ms
 *   strikes N   two threads send each other N signals, while four sleep for
 *               50 us again and again: how many of these sleeps were shorter
 *   await N     a thread asks for a signal for 500 ms, which the first sends it
 *               after N million turns of a loop, and for another for 20 ms
 *   queue       how waits for a queue of messages end: to send for 10 ms, to
 *               receive for 20 ms and, where a message comes after 30 ms, for a
 *               second
 *   timer       a timer that is set to a time 20 ms from now
 *   poll        a timer of 2 ms, whose file is read without waiting until it is
 *               over, in a program that has had another thread
 *   beat        a thread reads a timer of 10 ms until 50 ms have passed, while
 *               the first waits for it: how often, at least 4 times
 *   work        a thread works until its processor clock, which the first asks
 *               for, says 1 ms
 *   parent      a child changes a word in shared memory that its parent looks
 *               at
 *   input       reads all input, in a program that has had another thread
 *   asks        such a program asks for its number and for the system's memory
 *   ticks N     readings of the processor's own counter around N turns of a
 *               loop, in each of two threads; x86-64 alone
 *   usage       ns of processor time of the process and of a thread
 *   executes    milliseconds at the start of a program, of its child, and of
 *               what that executes
 *   processors  their numbers, by sysconf(), by affinity, and by getcpu()
 *   affinity    processors of a thread before and after it chooses two
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000L
#define SECOND 1000000000L

static long start;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static unsigned word;

static long
now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec
after(clockid_t clock, long ns)
{
    const long then = (clock < 0 ? 0 : now(clock)) + ns;

    return (struct timespec){then / SECOND, then % SECOND};
}

static void
spend(long turns)
{
    for (volatile long i = 0; i < turns; i++)
        ;
}

static void
say(const char *what)
{
    printf("%s %ld\n", what, (now(CLOCK_MONOTONIC) - start) / MILLISECOND);
    fflush(stdout);
}

/* Each waits for a number of ms. */
static void
by_nanosleep(long ms)
{
    const struct timespec t = after(-1, ms * MILLISECOND);

    nanosleep(&t, NULL);
}

static void
until_nanosleep(long ms)
{
    const struct timespec t = after(CLOCK_REALTIME, ms * MILLISECOND);

    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static void
by_poll(long ms)
{
    poll(NULL, 0, (int)ms);
}

static void
by_ppoll(long ms)
{
    const struct timespec t = after(-1, ms * MILLISECOND);

    ppoll(NULL, 0, &t, NULL);
}

static void
by_select(long ms)
{
    struct timeval t = {ms / 1000, ms % 1000 * 1000};

    select(0, NULL, NULL, NULL, &t);
}

static void
by_epoll(long ms)
{
    struct epoll_event event;
    const int file = epoll_create1(0);

    epoll_wait(file, &event, 1, (int)ms);
    close(file);
}

static void
by_condition(long ms)
{
    const struct timespec t = after(CLOCK_REALTIME, ms * MILLISECOND);

    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &t) == 0)
        ;
    pthread_mutex_unlock(&mutex);
}

static void
by_semaphore(long ms)
{
    const struct timespec t = after(CLOCK_REALTIME, ms * MILLISECOND);

    if (sem_timedwait(&semaphore, &t) == 0 || errno != ETIMEDOUT)
        printf("sem_timedwait: %s\n", strerror(errno));
}

static void
by_futex(long ms)
{
    const struct timespec t = after(-1, ms * MILLISECOND);

    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) == 0 ||
        errno != ETIMEDOUT)
        printf("futex: %s\n", strerror(errno));
}

static void
by_signal(long ms)
{
    const struct timespec t = after(-1, ms * MILLISECOND);
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (sigtimedwait(&set, NULL, &t) != -1 || errno != EAGAIN)
        printf("sigtimedwait: %s\n", strerror(errno));
}

static const struct wait {
    const char *name;
    void (*wait)(long ms);
    long ms;
} waits[] = {
    {"clock_nanosleep", until_nanosleep, 30},
    {"poll", by_poll, 60},
    {"nanosleep", by_nanosleep, 10},
    {"epoll_wait", by_epoll, 80},
    {"pthread_cond_timedwait", by_condition, 50},
    {"ppoll", by_ppoll, 20},
    {"sem_timedwait", by_semaphore, 70},
    {"select", by_select, 90},
    {"futex", by_futex, 40},
    {"sigtimedwait", by_signal, 15},
};

#define WAITS (sizeof(waits) / sizeof(waits[0]))

static void *
wait_one(void *data)
{
    const struct wait *const w = data;

    w->wait(w->ms);
    say(w->name);
    return NULL;
}

static void
wait_all(void)
{
    pthread_t threads[WAITS];

    for (size_t i = 0; i < WAITS; i++)
        pthread_create(&threads[i], NULL, wait_one, (void *)&waits[i]);
    spend(3000000); /* some come to their time while the others run */
    for (size_t i = 0; i < WAITS; i++)
        pthread_join(threads[i], NULL);
}

static void *
wait_on_word(void *data)
{
    const long ms = (long)data;
    const struct timespec t = after(-1, ms * MILLISECOND);
    char name[32];

    const long got = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0,
                             ms == 0 ? NULL : &t, NULL, 0);
    snprintf(name, sizeof(name), "%ld %s", ms,
             got == 0 ? "woken" : strerror(errno));
    say(name);
    return NULL;
}

static void
wait_on_one_word(long count)
{
    pthread_t threads[17];

    if (count < 1 || count > 16)
        exit(2);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, wait_on_word, (void *)(count - i));
    pthread_create(&threads[count], NULL, wait_on_word, NULL);
    by_nanosleep(count + 5);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0);
    for (long i = 0; i <= count; i++)
        pthread_join(threads[i], NULL);
}

static void *
wait_a_second(void *data)
{
    const struct timespec t = after(CLOCK_REALTIME, SECOND);

    (void)data;
    pthread_mutex_lock(&mutex);
    const int got = pthread_cond_timedwait(&condition, &mutex, &t);
    pthread_mutex_unlock(&mutex);
    say(got == 0 ? "woken" : strerror(got));
    return NULL;
}

static void
wake_late(long millions)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_a_second, NULL);
    sched_yield();
    spend(millions * 1000000);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static int ends[2];

static int
file_by_poll(void)
{
    struct pollfd files[] = {{-1, POLLIN, 0}, {ends[0], POLLIN, 0}};
    const int ready = poll(files, 2, 20);

    return ready * 10 + (files[1].revents == POLLIN);
}

static int
file_by_ppoll(void)
{
    const struct timespec t = {.tv_nsec = 20 * MILLISECOND};
    struct pollfd file = {ends[0], POLLIN | POLLPRI, 0};
    const int ready = ppoll(&file, 1, &t, NULL);

    return ready * 10 + (file.revents == POLLIN);
}

static int
file_by_select(void)
{
    struct timeval t = {.tv_usec = 20000};
    fd_set reads, errors;

    FD_ZERO(&reads);
    FD_ZERO(&errors);
    FD_SET(ends[0], &reads);
    FD_SET(ends[0], &errors);
    const int ready = select(ends[0] + 1, &reads, NULL, &errors, &t);
    return ready * 10 +
           (FD_ISSET(ends[0], &reads) && !FD_ISSET(ends[0], &errors));
}

static int
file_by_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x123456789};
    struct epoll_event found = {0};
    const int file = epoll_create1(0);

    epoll_ctl(file, EPOLL_CTL_ADD, ends[0], &event);
    const int ready = epoll_wait(file, &found, 1, 20);
    return ready * 10 +
           (found.events == EPOLLIN && found.data.u64 == 0x123456789);
}

static const struct file_wait {
    const char *name;
    int (*wait)(void);
} file_waits[] = {
    {"poll", file_by_poll},
    {"ppoll", file_by_ppoll},
    {"select", file_by_select},
    {"epoll_wait", file_by_epoll},
};

#define FILE_WAITS (sizeof(file_waits) / sizeof(file_waits[0]))

static void *
wait_for_file(void *data)
{
    const struct file_wait *const w = data;
    const int found = w->wait();

    printf("%s %d %d\n", w->name, found / 10, found % 10);
    return NULL;
}

static void
wait_for_files(long millions)
{
    pthread_t threads[FILE_WAITS];

    if (pipe(ends) != 0)
        exit(1);
    for (size_t i = 0; i < FILE_WAITS; i++)
        pthread_create(&threads[i], NULL, wait_for_file,
                       (void *)&file_waits[i]);
    sched_yield();
    spend(millions * 1000000);
    if (write(ends[1], "", 1) != 1)
        exit(1);
    for (size_t i = 0; i < FILE_WAITS; i++)
        pthread_join(threads[i], NULL);
}

/* Waits for the pipe by the epoll file that both threads have. */
static void *
rival(void *data)
{
    const int *const file = data;
    struct epoll_event found;
    char byte;

    while (epoll_wait(*file, &found, 1, 20) == 1) {
        if (read(ends[0], &byte, 1) == 1) {
            puts("found");
            return NULL;
        }
    }
    say("none");
    return NULL;
}

static void
have_rivals(long millions)
{
    struct epoll_event event = {.events = EPOLLIN};
    int file = epoll_create1(0);
    pthread_t threads[2];

    if (pipe2(ends, O_NONBLOCK) != 0)
        exit(1);
    epoll_ctl(file, EPOLL_CTL_ADD, ends[0], &event);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, rival, &file);
    sched_yield();
    spend(millions * 1000000);
    if (write(ends[1], "", 1) != 1)
        exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void *
wait_twice(void *data)
{
    (void)data;
    for (int i = 0; i < 2; i++) {
        by_nanosleep(20);
        say("alone");
    }
    return NULL;
}

static void
outlive(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_twice, NULL);
    pthread_exit(NULL);
}

static void *
hold_mutex(void *data)
{
    pthread_mutex_lock(data);
    by_nanosleep(60);
    pthread_mutex_unlock(data);
    return NULL;
}

static void
inherit(void)
{
    static const long waits[] = {20, 1000};
    pthread_mutexattr_t attributes;
    pthread_mutex_t inherits;
    pthread_t thread;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherits, &attributes);
    pthread_create(&thread, NULL, hold_mutex, &inherits);
    by_nanosleep(10);
    for (int i = 0; i < 2; i++) {
        const struct timespec t = after(CLOCK_REALTIME, waits[i] * MILLISECOND);
        say(pthread_mutex_timedlock(&inherits, &t) == 0 ? "locked" : "late");
    }
    pthread_join(thread, NULL);
}

static void
do_nothing(int number)
{
    (void)number;
}

static void *
send_signal(void *data)
{
    by_nanosleep(50);
    pthread_kill(*(const pthread_t *)data, SIGUSR1);
    return NULL;
}

static void
interrupt(void)
{
    const struct sigaction action = {.sa_handler = do_nothing};
    const pthread_t self = pthread_self();
    const struct timespec t = after(CLOCK_REALTIME, 100 * MILLISECOND);
    pthread_t thread;

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, send_signal, (void *)&self);
    const int got = sem_timedwait(&semaphore, &t);
    say(got != 0 && errno == EINTR ? "interrupted" : "not");
    pthread_join(thread, NULL);
}

static bool struck_all;
static int short_sleeps;

static void *
sleep_again(void *data)
{
    while (!__atomic_load_n(&struck_all, __ATOMIC_RELAXED)) {
        const long from = now(CLOCK_MONOTONIC);
        nanosleep(&(struct timespec){0, 50000}, NULL);
        if (now(CLOCK_MONOTONIC) < from + 50000)
            __atomic_add_fetch(&short_sleeps, 1, __ATOMIC_RELAXED);
    }
    return data;
}

static pthread_t striker;
static long strikes;

static void *
strike_back(void *data)
{
    for (long i = 0; i < strikes; i++) {
        pthread_kill(striker, SIGUSR1);
        spend(1000);
    }
    return data;
}

static void
strike(long count)
{
    const struct sigaction action = {.sa_handler = do_nothing,
                                     .sa_flags = SA_RESTART};
    pthread_t sleepers[4], other;

    sigaction(SIGUSR1, &action, NULL);
    striker = pthread_self();
    strikes = count;
    for (int i = 0; i < 4; i++)
        pthread_create(&sleepers[i], NULL, sleep_again, NULL);
    pthread_create(&other, NULL, strike_back, NULL);
    for (long i = 0; i < count; i++) {
        pthread_kill(other, SIGUSR1);
        spend(1000);
    }
    pthread_join(other, NULL);
    __atomic_store_n(&struck_all, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(sleepers[i], NULL);
    printf("%d\n", short_sleeps);
}

static void *
ask_for_signal(void *data)
{
    const struct timespec t = after(-1, 500 * MILLISECOND);
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    const int got = sigtimedwait(&set, NULL, &t);
    say(got == SIGUSR1 ? "signal" : strerror(errno));
    by_signal(20);
    say("none");
    return data;
}

static void
await_signal(long turns)
{
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, ask_for_signal, NULL);
    spend(turns * 1000000);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
}

/* Queues of one message each: a full one, and two that are empty. */
enum { FULL, EMPTY, LATE, QUEUES };
static mqd_t queues[QUEUES];

static void *
use_queue(void *data)
{
    const mqd_t *const queue = data;
    const bool sends = queue == &queues[FULL];
    const struct timespec t =
        after(CLOCK_REALTIME, sends                     ? 10 * MILLISECOND
                              : queue == &queues[EMPTY] ? 20 * MILLISECOND
                                                        : SECOND);
    char byte = 0;

    const ssize_t got = sends ? mq_timedsend(*queue, &byte, 1, 0, &t)
                              : mq_timedreceive(*queue, &byte, 1, NULL, &t);
    say(got == 1 ? "message" : got == 0 ? "sent" : strerror(errno));
    return NULL;
}

static void
use_queues(void)
{
    const struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    pthread_t threads[QUEUES];
    char name[32];

    for (int i = 0; i < QUEUES; i++) {
        snprintf(name, sizeof(name), "/tally-%ld-%d", (long)getpid(), i);
        queues[i] = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
        if (queues[i] == (mqd_t)-1) {
            puts("none");
            return;
        }
        mq_unlink(name);
    }
    mq_send(queues[FULL], "x", 1, 0);
    for (int i = 0; i < QUEUES; i++)
        pthread_create(&threads[i], NULL, use_queue, &queues[i]);
    by_nanosleep(30);
    mq_send(queues[LATE], "x", 1, 0);
    for (int i = 0; i < QUEUES; i++)
        pthread_join(threads[i], NULL);
}

static void
set_timer(void)
{
    const struct itimerspec at = {.it_value =
                                      after(CLOCK_MONOTONIC, 20 * MILLISECOND)};
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    unsigned long times = 0;

    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
    if (read(timer, &times, sizeof(times)) == sizeof(times))
        say("timer");
}

static void *
do_thread(void *data)
{
    return data;
}

static void
have_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, do_thread, NULL);
    pthread_join(thread, NULL);
}

static void
poll_timer(void)
{
    const struct itimerspec at = {.it_value = {0, 2 * MILLISECOND}};
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    unsigned long times = 0;

    have_thread();
    timerfd_settime(timer, 0, &at, NULL);
    while (read(timer, &times, sizeof(times)) != sizeof(times))
        ;
    puts("over");
}

static void *
read_beats(void *data)
{
    const struct itimerspec at = {{0, 10 * MILLISECOND}, {0, 10 * MILLISECOND}};
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const long from = now(CLOCK_MONOTONIC);
    unsigned long times = 0, beats = 0;

    timerfd_settime(timer, 0, &at, NULL);
    while (now(CLOCK_MONOTONIC) < from + 50 * MILLISECOND) {
        if (read(timer, &times, sizeof(times)) != sizeof(times))
            return data;
        beats += times;
    }
    printf("%d\n", beats >= 4 && beats < 1000);
    return data;
}

static void
beat(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, read_beats, NULL);
    pthread_join(thread, NULL);
}

static void *
spend_all(void *data)
{
    while (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0)
        spend(100);
    return data;
}

static void
watch_worker(void)
{
    pthread_t thread;
    clockid_t clock;

    pthread_create(&thread, NULL, spend_all, NULL);
    pthread_getcpuclockid(thread, &clock);
    while (now(clock) < MILLISECOND)
        sched_yield();
    __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    puts("worked");
}

static void
have_child(void)
{
    unsigned *const shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();

    if (child == 0) {
        spend(1000);
        __atomic_store_n(shared, 1, __ATOMIC_RELEASE);
        _exit(0);
    }
    while (__atomic_load_n(shared, __ATOMIC_ACQUIRE) == 0)
        ;
    waitpid(child, NULL, 0);
    puts("changed");
}

static void
read_input(void)
{
    char bytes[100];
    ssize_t n;

    have_thread();
    while ((n = read(0, bytes, sizeof(bytes))) > 0)
        spend(n);
    puts("read");
}

static void
ask(void)
{
    struct sysinfo info;

    have_thread();
    printf("%d\n", getpid() > 0 && sysinfo(&info) == 0);
}

#ifdef __x86_64__
static void *
read_ticks(void *data)
{
    unsigned long *const ticks = data;

    ticks[1] = __builtin_ia32_rdtsc();
    spend((long)ticks[0]);
    ticks[2] = __builtin_ia32_rdtsc();
    return NULL;
}

static void
tell_ticks(long turns)
{
    unsigned long ticks[2][3] = {{(unsigned long)turns},
                                 {(unsigned long)turns}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_ticks, ticks[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        printf("%lu %lu\n", ticks[i][1], ticks[i][2]);
    }
}
#endif

static void *
use(void *data)
{
    struct rusage usage;

    spend((long)data);
    getrusage(RUSAGE_THREAD, &usage);
    printf("thread %ld\n", now(CLOCK_THREAD_CPUTIME_ID));
    printf("rusage %ld\n", (long)usage.ru_utime.tv_usec * 1000);
    return NULL;
}

static void
tell_usage(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, use, (void *)200000L);
    pthread_join(thread, NULL);
    by_nanosleep(50);
    printf("process %ld\n", now(CLOCK_PROCESS_CPUTIME_ID));
}

static void
execute(char *self)
{
    say("parent");
    by_nanosleep(20);
    const pid_t child = fork();
    if (child == 0) {
        char origin[32];
        say("child");
        by_nanosleep(20);
        snprintf(origin, sizeof(origin), "%ld", start);
        execl(self, self, "executed", origin, NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static void
tell_dates(void)
{
    struct timeval t;

    gettimeofday(&t, NULL);
    printf("%ld %ld %ld\n", (long)time(NULL), (long)t.tv_sec,
           now(CLOCK_REALTIME) / SECOND);
}

static int
count_allowed(pid_t thread)
{
    cpu_set_t set;

    return sched_getaffinity(thread, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                             : -1;
}

static void *
tell_current(void *data)
{
    unsigned cpu = 99, node = 99;

    (void)data;
    syscall(SYS_getcpu, &cpu, &node, NULL);
    printf("getcpu %u %u\n", cpu, node);
    return NULL;
}

static void
tell_processors(void)
{
    pthread_t thread;

    printf("online %ld\nconfigured %ld\nallowed %d\n",
           sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF),
           count_allowed(0));
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, tell_current, NULL);
        pthread_join(thread, NULL);
    }
}

static void *
choose(void *data)
{
    cpu_set_t set;
    const pid_t self = (pid_t)syscall(SYS_gettid);

    (void)data;
    printf("before %d\n", count_allowed(self));
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    CPU_SET(3, &set);
    printf("set %d\n", sched_setaffinity(self, sizeof(set), &set));
    printf("after %d %d %d\n", count_allowed(self), count_allowed(0),
           CPU_ISSET(3, &set));
    CPU_ZERO(&set);
    CPU_SET(40, &set);
    printf("none %d\n", sched_setaffinity(0, sizeof(set), &set));
    return NULL;
}

static void
choose_processors(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, choose, NULL);
    pthread_join(thread, NULL);
    printf("first %d\n", count_allowed(0));
}

int
main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    const long number = argc > 2 ? strtol(argv[2], NULL, 0) : 0;

    start = now(CLOCK_MONOTONIC);
    sem_init(&semaphore, 0, 0);
    if (strcmp(what, "loop") == 0) {
        const long from = now(CLOCK_MONOTONIC);
        spend(number);
        printf("%ld\n", now(CLOCK_MONOTONIC) - from);
    } else if (strcmp(what, "dates") == 0) {
        tell_dates();
    } else if (strcmp(what, "waits") == 0) {
        wait_all();
    } else if (strcmp(what, "word") == 0) {
        wait_on_one_word(number);
    } else if (strcmp(what, "late") == 0) {
        wake_late(number);
    } else if (strcmp(what, "files") == 0) {
        wait_for_files(number);
    } else if (strcmp(what, "rivals") == 0) {
        have_rivals(number);
    } else if (strcmp(what, "outlive") == 0) {
        outlive();
    } else if (strcmp(what, "inherit") == 0) {
        inherit();
    } else if (strcmp(what, "signal") == 0) {
        interrupt();
    } else if (strcmp(what, "strikes") == 0) {
        strike(number);
    } else if (strcmp(what, "await") == 0) {
        await_signal(number);
    } else if (strcmp(what, "queue") == 0) {
        use_queues();
    } else if (strcmp(what, "timer") == 0) {
        set_timer();
    } else if (strcmp(what, "poll") == 0) {
        poll_timer();
    } else if (strcmp(what, "beat") == 0) {
        beat();
    } else if (strcmp(what, "work") == 0) {
        watch_worker();
    } else if (strcmp(what, "parent") == 0) {
        have_child();
    } else if (strcmp(what, "input") == 0) {
        read_input();
    } else if (strcmp(what, "asks") == 0) {
        ask();
#ifdef __x86_64__
    } else if (strcmp(what, "ticks") == 0) {
        tell_ticks(number);
#endif
    } else if (strcmp(what, "usage") == 0) {
        tell_usage();
    } else if (strcmp(what, "executes") == 0) {
        execute(argv[0]);
    } else if (strcmp(what, "executed") == 0) {
        start = number;
        say("executed");
    } else if (strcmp(what, "processors") == 0) {
        tell_processors();
    } else if (strcmp(what, "affinity") == 0) {
        choose_processors();
    } else {
        fprintf(stderr, "usage: clocks WHAT [N]\n");
        return 2;
    }
    return 0;
}
