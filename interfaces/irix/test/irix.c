/* SPDX-License-Identifier: MIT */
/*
 * The IRIX calls as a program makes them, over virtual counters on emulated
 * CPUs: what ioctl and syssgi make of structures, results and errors. What the
 * counters themselves do test/virtual.c tests.
 */
#include "interfaces/irix/irix_virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interfaces/irix/sys/procfs.h"
#include "interfaces/irix/sys/profil.h"
#include "interfaces/irix/sys/syssgi.h"
#include "test/virtual_rig.h"

enum { ROOT = 11, A = 101, B = 102, OTHER = 203 };

struct world {
    struct rig *rig;
    struct irix_virtual irix;
};

/* root, two of group 1, one of group 2; A calls. */
static struct world *
make_world(const char *machine, unsigned cpus)
{
    struct world *const w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->rig = rig_make(machine, cpus);
    w->irix.system = &w->rig->system;
    w->irix.caller = A;
    irix_virtual_add(&w->irix, ROOT, 0, true);
    irix_virtual_add(&w->irix, A, 1, false);
    irix_virtual_add(&w->irix, B, 1, false);
    irix_virtual_add(&w->irix, OTHER, 2, false);
    irix_system_set(&irix_virtual_ops, &w->irix);
    return w;
}

static void
free_world(struct world *w)
{
    irix_system_set(NULL, NULL);
    free(w->rig);
    free(w);
}

static void
run(struct world *w, unsigned cpu, pid_t pid)
{
    rig_run(w->rig, cpu, irix_virtual_find(&w->irix, pid));
}

static int
open_process(pid_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%05d", (int)pid);
    return open(path, O_RDWR);
}

static void
ask(hwperf_profevctrarg_t *args, unsigned index, unsigned mode)
{
    hwperf_ctrl_t *c = &args->hwp_evctrargs.hwp_evctrl[index];

    c->hwperf_creg.hwp_ev = index % HWPERF_CNT1BASE & 0x7ff;
    c->hwperf_creg.hwp_ie = 1;
    c->hwperf_creg.hwp_mode = mode & 0xf;
}

static hwperf_profevctrarg_t
one(unsigned index, unsigned mode)
{
    hwperf_profevctrarg_t args;

    memset(&args, 0, sizeof(args));
    ask(&args, index, mode);
    return args;
}

static void
fails(int result, int error)
{
    assert_int_equal(result, -1);
    assert_int_equal(errno, error);
    errno = 0;
}

/* I50 I51: the bit fields are the word that the register takes. */
static void
test_structures(void **state)
{
    hwperf_ctrl_t c = {0};

    (void)state;
    c.hwperf_creg.hwp_ev = 9;
    c.hwperf_creg.hwp_ie = 1;
    c.hwperf_creg.hwp_mode = HWPERF_CNTEN_U;
    assert_int_equal(c.hwperf_spec, 9 << 5 | 1 << 4 | 8);
    assert_int_equal(sizeof(c), 2);
    assert_int_equal(sizeof(hwperf_eventctrl_t), 64);
    assert_int_equal(sizeof(hwperf_profevctrarg_t), 64 + 128 + 4);
    assert_int_equal(sizeof(hwperf_cntr_t), 256);
    assert_int_equal(HWPERF_EVENTMAX, VIRTUAL_EVENTS);
    assert_int_equal(HWPERF_CNTEN_K, VIRTUAL_KERNEL);
    assert_int_equal(HWPERF_CNTEN_EXL, VIRTUAL_EXCEPTION);
}

/* The page's example: start, read, release, and the counts stay. */
static void
test_example(void **state)
{
    struct world *const w = make_world("r10000", 1);
    hwperf_profevctrarg_t args = one(9, HWPERF_CNTEN_U);
    hwperf_eventctrl_t control;
    hwperf_cntr_t counts;

    (void)state;
    ask(&args, 25, HWPERF_CNTEN_U);
    const int fd = open_process(A);
    assert_true(fd >= 0);
    run(w, 0, A);
    const int first = ioctl(fd, PIOCENEVCTRS, (void *)&args);
    assert_true(first > 0);
    rig_occur(w->rig, 0, 9, 5);
    rig_occur(w->rig, 0, 25, UINT64_C(7));
    assert_int_equal(ioctl(fd, PIOCGETEVCTRS, (void *)&counts), first);
    assert_int_equal(counts.hwp_evctr[9], 5);
    assert_int_equal(counts.hwp_evctr[25], 7);
    assert_int_equal(counts.hwp_evctr[0], 0);
    assert_int_equal(ioctl(fd, PIOCGETEVCTRL, (void *)&control), first);
    assert_memory_equal(&control, &args.hwp_evctrargs, sizeof(control));
    assert_int_equal(ioctl(fd, PIOCRELEVCTRS), 0);
    rig_occur(w->rig, 0, 9, 1);
    assert_int_equal(ioctl(fd, PIOCGETEVCTRS, (void *)&counts), first);
    assert_int_equal(counts.hwp_evctr[9], 5);
    close(fd);
    free_world(w);
}

/* I40: a change is a new generation. */
static void
test_change(void **state)
{
    struct world *const w = make_world("r10000", 1);
    hwperf_profevctrarg_t args = one(9, HWPERF_CNTEN_U);
    const int fd = open_process(A);

    (void)state;
    fails(ioctl(fd, PIOCSETEVCTRL, (void *)&args), EINVAL);
    const int first = ioctl(fd, PIOCENEVCTRS, (void *)&args);
    assert_int_equal(ioctl(fd, PIOCSETEVCTRL, (void *)&args), first + 1);
    assert_int_equal(ioctl(fd, PIOCSETEVCTRL, (void *)&args), first + 2);
    close(fd);
    free_world(w);
}

/* Section D: who may, and with what. */
static void
test_errors(void **state)
{
    struct world *const w = make_world("r10000", 2);
    hwperf_profevctrarg_t good = one(9, HWPERF_CNTEN_U);
    hwperf_profevctrarg_t kernel = one(9, HWPERF_CNTEN_K);
    hwperf_profevctrarg_t nothing, bad = good;
    const int own = open_process(A), other = open_process(OTHER);

    (void)state;
    memset(&nothing, 0, sizeof(nothing));
    fails(open_process(999), ENOENT);
    fails(ioctl(own, PIOCENEVCTRS, NULL), EFAULT);
    fails(ioctl(own, PIOCENEVCTRS, (void *)&nothing), EINVAL);
    bad.hwp_ovflw_freq[9] = -1;
    fails(ioctl(own, PIOCENEVCTRS, (void *)&bad), EINVAL);
    bad = good;
    bad.hwp_ovflw_sig = 33;
    fails(ioctl(own, PIOCENEVCTRS, (void *)&bad), EINVAL);
    bad = good;
    bad.hwp_evctrargs.hwp_evctrl[9].hwperf_creg.hwp_ev = 8;
    fails(ioctl(own, PIOCENEVCTRS, (void *)&bad), EINVAL);
    fails(ioctl(own, PIOCENEVCTRS, (void *)&kernel), EPERM);
    fails(ioctl(other, PIOCENEVCTRS, (void *)&good), EPERM);
    run(w, 1, B);
    const int b = open_process(B);
    assert_true(ioctl(b, PIOCENEVCTRS, (void *)&good) > 0);
    w->irix.caller = ROOT;
    fails(ioctl(own, PIOCENEVCTRS, (void *)&kernel), EBUSY);
    irix_virtual_exit(&w->irix, OTHER, 0, false);
    fails(ioctl(other, PIOCENEVCTRS, (void *)&good), ESRCH);
    close(own);
    close(other);
    close(b);
    free_world(w);
}

/* I32 I35 I36 and section G, through syssgi. */
static void
test_system_mode(void **state)
{
    struct world *const w = make_world("r10000", 2);
    hwperf_profevctrarg_t user = one(9, HWPERF_CNTEN_U);
    hwperf_profevctrarg_t whole = one(9, HWPERF_CNTEN_K | HWPERF_CNTEN_U);
    hwperf_eventctrl_t control;
    hwperf_cntr_t counts;
    const int fd = open_process(A);

    (void)state;
    run(w, 0, A);
    const int before = ioctl(fd, PIOCENEVCTRS, (void *)&user);
    fails(syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &whole), EPERM);
    fails(syssgi(SGI_EVENTCTR, HWPERF_GET_SYSEVCTRL, &control), EINVAL);
    w->irix.caller = ROOT;
    fails(syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &user), EINVAL);
    const int first = syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &whole);
    assert_true(first > 0);
    fails(syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &whole), EBUSY);
    assert_int_equal(ioctl(fd, PIOCGETEVCTRS, (void *)&counts), before + 1);
    rig_occur(w->rig, 0, 9, 3);
    rig_occur(w->rig, 1, 9, 4);
    assert_int_equal(syssgi(SGI_EVENTCTR, HWPERF_GET_SYSCNTRS, &counts), first);
    assert_int_equal(counts.hwp_evctr[9], 7);
    assert_true(syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, 1, &counts) > 0);
    assert_int_equal(counts.hwp_evctr[9], 4);
    assert_int_equal(syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, 2, &counts), 0);
    assert_true(syssgi(SGI_EVENTCTR, HWPERF_GET_SYSEVCTRL, &control) > 0);
    assert_memory_equal(&control, &whole.hwp_evctrargs, sizeof(control));
    assert_int_equal(syssgi(SGI_EVENTCTR, HWPERF_SET_SYSEVCTRL, &whole),
                     first + 1);
    w->irix.caller = A;
    fails(syssgi(SGI_EVENTCTR, HWPERF_SET_SYSEVCTRL, &whole), EPERM);
    fails(ioctl(fd, PIOCENEVCTRS, (void *)&user), EBUSY);
    w->irix.caller = ROOT;
    assert_int_equal(syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS), 0);
    assert_int_equal(ioctl(fd, PIOCENEVCTRS, (void *)&user), before + 2);
    fails(syssgi(SGI_EVENTCTR, 99, &user), EINVAL);
    fails(syssgi(1, HWPERF_RELSYSCNTRS), EINVAL);
    close(fd);
    free_world(w);
}

/* I24 PIOCSAVECCNTRS: without a wait. */
static void
test_save(void **state)
{
    struct world *const w = make_world("r10000", 1);
    hwperf_profevctrarg_t args = one(9, HWPERF_CNTEN_U);
    hwperf_cntr_t counts;
    const int parent = open_process(A), child = open_process(B);

    (void)state;
    run(w, 0, B);
    assert_true(ioctl(child, PIOCENEVCTRS, (void *)&args) > 0);
    assert_int_equal(ioctl(child, PIOCSAVECCNTRS), 0);
    rig_occur(w->rig, 0, 9, 6);
    rig_run(w->rig, 0, NULL);
    irix_virtual_exit(&w->irix, B, A, false);
    assert_true(ioctl(parent, PIOCGETEVCTRS, (void *)&counts) > 0);
    assert_int_equal(counts.hwp_evctr[9], 6);
    close(parent);
    close(child);
    free_world(w);
}

/* I62: buckets by program counter. */
static void
test_profile(void **state)
{
    struct world *const w = make_world("r10000", 1);
    hwperf_profevctrarg_t args = one(9, HWPERF_CNTEN_U);
    unsigned short buckets[8] = {0};
    struct prof prof = {buckets, sizeof(buckets), (void *)0x1000, 65536};

    (void)state;
    run(w, 0, A);
    fails(syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, &args, NULL, 1), EINVAL);
    fails(syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, &args, &prof, 0), EINVAL);
    fails(syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, &args, &prof, 1), EINVAL);
    args.hwp_ovflw_freq[9] = 10;
    assert_true(syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, &args, &prof, 1) > 0);
    w->rig->pc = 0x1004;
    rig_occur(w->rig, 0, 9, 10);
    assert_int_equal(buckets[2], 1);
    free_world(w);
}

/* Files that are not for the counters pass; copies of those that are, too. */
static void
test_other_files(void **state)
{
    struct world *const w = make_world("r12000", 1);
    hwperf_profevctrarg_t args;
    int ends[2], waiting = 0;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    assert_int_equal(ioctl(ends[0], FIONREAD, &waiting), 0);
    assert_int_equal(waiting, 3);
    fails(ioctl(ends[0], PIOCRELEVCTRS), ENOTTY);
    const int file = open("/proc/self/stat", O_RDONLY);
    assert_true(file >= 0);
    fails(open("/nonexistent/file", O_RDONLY), ENOENT);
    fails(open("/proc/00999", O_RDWR), ENOENT);
    const int fd = open_process(A), copy = dup(fd);
    close(fd);
    memset(&args, 0, sizeof(args));
    args.hwp_evctrargs.hwp_evctrl[25].hwperf_spec = 25 << 5 | HWPERF_CNTEN_U;
    assert_true(ioctl(copy, PIOCENEVCTRS, (void *)&args) > 0);
    close(copy);
    fails(ioctl(copy, PIOCRELEVCTRS), EBADF);
    close(file);
    close(ends[0]);
    close(ends[1]);
    free_world(w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structures),  cmocka_unit_test(test_example),
        cmocka_unit_test(test_change),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_system_mode), cmocka_unit_test(test_save),
        cmocka_unit_test(test_profile),     cmocka_unit_test(test_other_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
