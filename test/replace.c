/* SPDX-License-Identifier: MIT */
/* Files that are replaced whole or not at all. */
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

static char folder[] = "/tmp/tally-replace-XXXXXX";
static char message[512];

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(message, sizeof(message), "%s", text);
}

static const struct tally_log log_message = {keep_message, NULL};

/* Returns the path of a file in the folder; the next call's overwrites it. */
static const char *
in_folder(const char *name)
{
    static char path[2][512];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

/* Makes a file of the mode that holds the text. */
static void
make(const char *name, const char *text, mode_t mode)
{
    const int fd =
        open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void
assert_holds(const char *name, const char *text)
{
    char held[256] = "";
    const int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(read(fd, held, sizeof(held) - 1) >= 0);
    assert_string_equal(held, text);
    close(fd);
}

static mode_t
mode_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(in_folder(name), &st), 0);
    return st.st_mode & 07777;
}

static unsigned
files(void)
{
    DIR *all = opendir(folder);
    unsigned count = 0;

    assert_non_null(all);
    while (readdir(all) != NULL)
        count++;
    closedir(all);
    return count - 2;
}

static int
setup(void **unused)
{
    (void)unused;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    umask(022);
    return mkdtemp(folder) == NULL;
}

static int
teardown(void **unused)
{
    DIR *all = opendir(folder);
    const struct dirent *entry;

    (void)unused;
    chmod(folder, 0700);
    while ((entry = readdir(all)) != NULL)
        unlinkat(dirfd(all), entry->d_name, 0);
    closedir(all);
    return rmdir(folder);
}

static void
write_text(const struct replace *r, const char *text)
{
    assert_int_equal(write(r->fd, text, strlen(text)), strlen(text));
}

/* Replaces the file's contents. */
static void
replace(const char *name, const char *text)
{
    struct replace r;

    assert_int_equal(
        replace_open(in_folder(name), REPLACE_WHOLE, &log_message, &r), 0);
    write_text(&r, text);
    assert_int_equal(replace_commit(&r), 0);
    assert_int_equal(r.fd, -1);
    assert_holds(name, text);
}

static void
test_new(void **unused)
{
    (void)unused;
    replace("a", "new");
    assert_int_equal(mode_of("a"), 0644);
    umask(077);
    replace("b", "private");
    assert_int_equal(mode_of("b"), 0600);
    assert_int_equal(files(), 2);
}

static void
test_keeps_mode(void **unused)
{
    static const mode_t modes[] = {0600, 0640, 0666, 0755, 0200};

    (void)unused;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        make("a", "an old text that is longer", modes[i]);
        struct replace r;
        assert_int_equal(replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r),
                         0);
        write_text(&r, "new");
        assert_int_equal(replace_commit(&r), 0);
        assert_int_equal(mode_of("a"), modes[i]);
    }
    assert_int_equal(files(), 1);
}

/* Until the end the old file is there, and no other. */
static void
test_whole_or_not(void **unused)
{
    struct replace r;

    (void)unused;
    make("a", "old", 0600);
    assert_int_equal(replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r), 0);
    write_text(&r, "new");
    assert_holds("a", "old");
    replace_discard(&r);
    assert_holds("a", "old");
    assert_int_equal(files(), 1);
}

/* A file system without O_TMPFILE keeps the name of what was begun. */
static void
test_killed(void **unused)
{
    struct replace r;

    (void)unused;
    make("a", "old", 0600);
    assert_int_equal(replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r), 0);
    const bool named = r.place == REPLACE_NAMED;
    replace_discard(&r);
    const pid_t pid = fork();
    if (pid == 0) {
        if (replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r) == 0 &&
            write(r.fd, "new", 3) == 3)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_holds("a", "old");
    assert_int_equal(files(), named ? 2 : 1);
}

/* Makes of the file one as where a file system has none without a name. */
static void
give_name(struct replace *r)
{
    close(r->fd);
    strcpy(r->temporary, "a name of its own");
    r->place = REPLACE_NAMED;
    r->fd = openat(r->folder, r->temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(r->fd >= 0);
}

/* On such a file system, too, the file is replaced whole. */
static void
test_named(void **unused)
{
    struct replace r;

    (void)unused;
    make("a", "old", 0640);
    assert_int_equal(replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r), 0);
    give_name(&r);
    write_text(&r, "new");
    assert_int_equal(replace_commit(&r), 0);
    assert_holds("a", "new");
    assert_int_equal(mode_of("a"), 0640);
    assert_int_equal(files(), 1);
}

/* A file that is shown grows in its place; the old one has another name. */
static void
check_show(bool named)
{
    struct replace r;

    make("a", "old", 0640);
    make("a.old", "older", 0600);
    assert_int_equal(replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r), 0);
    if (named)
        give_name(&r);
    write_text(&r, "new");
    assert_int_equal(replace_show(&r), 0);
    assert_holds("a", "new");
    assert_holds("a.old", "old");
    assert_int_equal(mode_of("a"), 0640);
    write_text(&r, " and more");
    assert_int_equal(replace_show(&r), 0);
    assert_int_equal(replace_commit(&r), 0);
    assert_holds("a", "new and more");
    assert_int_equal(files(), 2);
}

static void
test_show(void **unused)
{
    (void)unused;
    check_show(false);
    check_show(true);
}

/* What is discarded after all gives the old file its name back. */
static void
test_take_back(void **unused)
{
    struct replace r;

    (void)unused;
    make("a", "old", 0600);
    for (int i = 0; i < 2; i++) {
        const char *const name = i == 0 ? "a" : "b";
        assert_int_equal(replace_open(in_folder(name), REPLACE_WHOLE, NULL, &r),
                         0);
        write_text(&r, "new");
        assert_int_equal(replace_show(&r), 0);
        replace_discard(&r);
        assert_holds("a", "old");
        assert_int_equal(files(), 1);
    }
}

/* Without a place for the old file, the old one stays. */
static void
test_show_refused(void **unused)
{
    char name[NAME_MAX + 1];
    struct replace r;

    (void)unused;
    memset(name, 'a', sizeof(name));
    name[NAME_MAX - 3] = '\0';
    make(name, "old", 0600);
    assert_int_equal(replace_open(in_folder(name), REPLACE_WHOLE, NULL, &r), 0);
    write_text(&r, "new");
    assert_int_equal(replace_show(&r), TALLY_EIO);
    assert_int_equal(errno, ENAMETOOLONG);
    replace_discard(&r);
    assert_holds(name, "old");
    assert_int_equal(files(), 1);
}

static void
test_links(void **unused)
{
    (void)unused;
    make("a", "old", 0600);
    assert_int_equal(symlink("a", in_folder("b")), 0);
    assert_int_equal(symlink(in_folder("b"), in_folder("c")), 0);
    replace("c", "new");
    assert_holds("a", "new");
    assert_int_equal(symlink("new", in_folder("d")), 0);
    replace("d", "made");
    assert_holds("new", "made");
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    struct replace r;
    assert_int_equal(
        replace_open(in_folder("loop"), REPLACE_WHOLE, &log_message, &r),
        TALLY_EIO);
    assert_non_null(strstr(message, strerror(ELOOP)));
}

static void
test_follow_append(void **unused)
{
    struct replace r;

    (void)unused;
    make("a", "old", 0600);
    assert_int_equal(replace_open(in_folder("a"), REPLACE_APPEND, NULL, &r), 0);
    write_text(&r, " and more");
    assert_int_equal(replace_commit(&r), 0);
    assert_holds("a", "old and more");
    assert_int_equal(replace_open(in_folder("a"), REPLACE_FOLLOW, NULL, &r), 0);
    assert_holds("a", "");
    write_text(&r, "new");
    assert_holds("a", "new");
    replace_discard(&r);
    assert_holds("a", "new");
    assert_int_equal(mode_of("a"), 0600);
}

static void
test_special(void **unused)
{
    struct replace r;
    int ends[2];
    char path[32], got[8] = "";

    (void)unused;
    assert_int_equal(replace_open("/dev/null", REPLACE_WHOLE, NULL, &r), 0);
    write_text(&r, "gone");
    assert_int_equal(replace_commit(&r), 0);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    assert_int_equal(replace_open(path, REPLACE_WHOLE, NULL, &r), 0);
    write_text(&r, "here");
    assert_int_equal(replace_commit(&r), 0);
    assert_int_equal(read(ends[0], got, sizeof(got) - 1), 4);
    assert_string_equal(got, "here");
    close(ends[0]);
    close(ends[1]);
}

static void
test_refused(void **unused)
{
    static const struct {
        int line;
        const char *path;
        int error;
    } rows[] = {
        {__LINE__, "", ENOENT},
        {__LINE__, "/", EISDIR},
        {__LINE__, "/tmp/", EISDIR},
        {__LINE__, ".", EISDIR},
        {__LINE__, "/nonexistent/a", ENOENT},
        {__LINE__, "/dev/null/a", ENOTDIR},
        {__LINE__, "/dev/fd/99999", EBADF},
        {__LINE__, "/proc/none", ENOENT},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct replace r;
        message[0] = '\0';
        if (replace_open(rows[i].path, REPLACE_WHOLE, &log_message, &r) !=
                TALLY_EIO ||
            r.fd != -1 || r.folder != -1 ||
            strstr(message, strerror(rows[i].error)) == NULL)
            fail_msg("line %d: %s", rows[i].line, message);
        replace_discard(&r);
    }
}

/* Runs `job` as another user; true where it returned true. Only root can. */
static bool
as_nobody(bool (*job)(void))
{
    int status = 1;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(setgid(NOBODY) == 0 && setuid(NOBODY) == 0 && job() ? 0 : 1);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
plant_link(void)
{
    return symlink("/etc/passwd", in_folder("planted")) == 0 &&
           symlink("planted", in_folder("second")) == 0;
}

static bool
plant_file(void)
{
    const mode_t mask = umask(0);
    const int fd = open(in_folder("file"), O_WRONLY | O_CREAT, 0666);

    umask(mask);

    return fd >= 0 && close(fd) == 0;
}

/* A link or a file of another user in a folder as /tmp is not written to. */
static void
test_planted(void **unused)
{
    static const char *const names[] = {"planted", "second", "file"};

    (void)unused;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(folder, 01777), 0);
    assert_true(as_nobody(plant_link) && as_nobody(plant_file));
    for (size_t i = 0; i < 3; i++) {
        for (int way = REPLACE_WHOLE; way <= REPLACE_APPEND; way++) {
            struct replace r;
            assert_int_equal(replace_open(in_folder(names[i]),
                                          (enum replace_way)way, &log_message,
                                          &r),
                             TALLY_EIO);
            assert_non_null(strstr(message, "another user's"));
        }
    }
    assert_int_equal(chmod(folder, 0777), 0); /* the file's alone */
    replace("file", "new");
}

/* What another user puts there after the file was opened is replaced, and its
 * mode and owner are not taken over. */
static void
test_planted_later(void **unused)
{
    static const char *const names[] = {"planted", "file"};

    (void)unused;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(folder, 01777), 0);
    const mode_t mask = umask(022);
    for (size_t i = 0; i < 2; i++) {
        struct replace r;
        struct stat st;
        assert_int_equal(
            replace_open(in_folder(names[i]), REPLACE_WHOLE, &log_message, &r),
            0);
        assert_true(as_nobody(i == 0 ? plant_link : plant_file));
        assert_int_equal(replace_commit(&r), 0);
        assert_int_equal(lstat(in_folder(names[i]), &st), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0644);
        assert_int_equal(st.st_uid, 0);
    }
    umask(mask);
}

static bool
write_here(void)
{
    struct replace r;

    return replace_open(in_folder("a"), REPLACE_WHOLE, NULL, &r) == 0 &&
           r.place == REPLACE_MEMORY && write(r.fd, "new", 3) == 3 &&
           replace_commit(&r) == 0;
}

static bool
write_nothing(void)
{
    struct replace r;

    return replace_open(in_folder("b"), REPLACE_WHOLE, NULL, &r) == TALLY_EIO;
}

/* The file can be written, the folder cannot. */
static void
test_closed_folder(void **unused)
{
    (void)unused;
    make("a", "an old text that is longer", 0666);
    make("b", "not theirs", 0644);
    assert_int_equal(chmod(folder, 0555), 0);
    if (geteuid() == 0) {
        assert_true(as_nobody(write_here));
        assert_true(as_nobody(write_nothing));
    } else {
        assert_true(write_here());
    }
    assert_holds("a", "new");
    assert_holds("b", "not theirs");
    assert_int_equal(mode_of("a"), 0666);
    assert_int_equal(files(), 2);
}

/* Root that replaces a user's file leaves it the user's. */
static void
test_keeps_owner(void **unused)
{
    struct stat st;

    (void)unused;
    if (geteuid() != 0)
        skip();
    make("a", "old", 0600);
    assert_int_equal(chown(in_folder("a"), NOBODY, NOBODY), 0);
    replace("a", "new");
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(st.st_gid, NOBODY);
    assert_int_equal(mode_of("a"), 0600);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_new),           CASE(test_keeps_mode),
        CASE(test_whole_or_not),  CASE(test_killed),
        CASE(test_named),         CASE(test_links),
        CASE(test_follow_append), CASE(test_special),
        CASE(test_refused),       CASE(test_planted),
        CASE(test_planted_later), CASE(test_closed_folder),
        CASE(test_keeps_owner),   CASE(test_show),
        CASE(test_take_back),     CASE(test_show_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
