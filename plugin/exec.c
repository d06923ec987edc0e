/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Following execve. QEMU hands the call to the host's kernel, which does not
 * know a foreign program, or runs one of its own without us. So for a program
 * of the guest's machine the plugin itself executes QEMU on it; for all others
 * it notes the name as uncounted, lets the call go on, and takes the note back
 * if the call returns.
 */
#include "plugin/exec.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/vcounter_processes.h"
#include "plugin/plugin.h"
#include "plugin/qemu.h"
#include "source/setting.h"

#define SCRIPT_DEPTH 4

/* Finds the length of a guest's NULL-terminated vector; false if part of it is
 * not there. */
static bool
guest_count(uint64_t addr, size_t *count)
{
    uint64_t string = 1;
    char first;

    for (*count = 0; addr != 0; addr += 8, ++*count) {
        if (!plugin_read_word(tally_plugin.shape.isa, addr, &string))
            return false;
        if (string == 0)
            return true;
        if (!plugin_read(string, &first, 1))
            return false;
    }
    return true;
}

/*
 * Returns a copy of the vector with room for `extra` more strings. NULL: the
 * guest's pointers are bad, which QEMU tells the guest.
 */
static const char **
guest_vector(uint64_t addr, size_t extra, size_t *count)
{
    if (!guest_count(addr, count))
        return NULL;
    const char **out = calloc(*count + extra + 1, sizeof(*out));
    if (out == NULL)
        plugin_no_memory(tally_plugin.process.head,
                         "the arguments of a program");
    for (size_t i = 0; i < *count; i++) {
        uint64_t string = 0;
        plugin_read_word(tally_plugin.shape.isa, addr + 8 * i, &string);
        out[i] = plugin_memory(string);
    }
    return out;
}

/* Takes out the variables that change how QEMU runs. Programs that the host
 * executes keep them. */
static void
drop_settings(const char **env)
{
    const char **kept = env;

    for (; *env != NULL; env++)
        if (!setting_is(*env))
            *kept++ = *env;
    *kept = NULL;
}

enum file_kind {
    FILE_OTHER, /* none, or one that only the host's kernel may know */
    FILE_OURS,
    FILE_SCRIPT,
};

/* Returns what kind of file it is. Writes the first line of a script to `head`.
 */
static enum file_kind
classify(const struct plugin *p, const char *path, char *head, size_t size)
{
    struct stat st;
    Elf64_Ehdr elf;

    /* Opening a FIFO would wait for its writer. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return FILE_OTHER;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, size - 1);

    if (fd >= 0)
        close(fd);
    if (n < 2 || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return FILE_OTHER;
    head[n] = '\0';
    if (head[0] == '#' && head[1] == '!')
        return FILE_SCRIPT;
    if ((size_t)n < sizeof(elf) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return FILE_OTHER;
    memcpy(&elf, head, sizeof(elf));
    /* Our own QEMU runs programs of the same machine and order of bytes. */
    return isa_of_elf(&elf) == p->shape.isa ? FILE_OURS : FILE_OTHER;
}

/* Splits a line "#!interpreter [argument]". */
static bool
parse_script(char *head, char **interpreter, char **argument)
{
    char *line = head + 2;

    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, " \t");
    *interpreter = line;
    line += strcspn(line, " \t");
    if (*line != '\0')
        *line++ = '\0';
    line += strspn(line, " \t");
    *argument = line;
    for (size_t n = strlen(line); n > 0 && strchr(" \t\r", line[n - 1]); n--)
        line[n - 1] = '\0';
    return **interpreter != '\0';
}

static void
note_leaving(struct plugin *p, struct exec_leaving *leaving, const char *path)
{
    if (!leaving->noted)
        leaving->place = session_note_uncounted(p->session, path);
    leaving->noted = true;
}

void
plugin_execve_fails(struct exec_leaving *leaving)
{
    if (leaving->noted)
        session_forget_uncounted(tally_plugin.session, leaving->place);
    leaving->noted = false;
}

/* Writes the sums of the process. If the call fails, counting goes on. */
static void
fold_before_exec(struct plugin *p)
{
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (p->counts[i] == NULL || p->counts[i] == p->spare)
            continue;
        strand_drain(tally_plugin.strands[i]);
        recording_fold(p, i);
        counts_fold(&p->process, p->counts[i]);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Writes `text` with each comma doubled, as the syntax of QEMU's options wants
 * it. */
static void
escape_commas(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text != '\0' && n + 3 < size; text++) {
        out[n++] = *text;
        if (*text == ',')
            out[n++] = ',';
    }
    out[n] = '\0';
}

/* Executes our own QEMU on the program. Returns where that fails: QEMU then
 * makes the guest's call, with which the host may run the program. */
static void
run_qemu(struct plugin *p, const char *path, const char *shown,
         const char **args, size_t count, char *const *envp,
         uint64_t random_key, struct exec_leaving *leaving)
{
    const struct session_request *r = &p->request;
    const char **argv = calloc(count + r->qemu_arg_count + 8, sizeof(*argv));
    char plugin[8 * PLUGIN_PATH];
    char library[2 * PLUGIN_PATH], name[2 * PLUGIN_PATH];
    size_t n = 0;

    /* Without the plugin QEMU would not start. */
    if (argv == NULL || faccessat(AT_FDCWD, r->plugin, R_OK, AT_EACCESS) != 0) {
        free(argv);
        return;
    }
    const int session = reach_hand_on(&p->reach);
    /* Where no descriptor is free in this process there may be one after
     * execve, which closes descriptors. */
    if (session < 0 && errno != EMFILE && errno != ENFILE)
        note_leaving(p, leaving, path);
    escape_commas(r->plugin, library, sizeof(library));
    escape_commas(shown, name, sizeof(name));
    snprintf(plugin, sizeof(plugin),
             "%s,session=%s,inherited=%d,previous=%u,span=%d,random=%" PRIx64
             ",time=%" PRIu64 ",processors=%" PRIx64 ",name=%s",
             library, p->session_place, session, p->counts_index,
             (int)p->span_open, random_key, schedule_time(&p->schedule),
             schedule_processors(&p->schedule), name);
    argv[n++] = "qemu";
    argv[n++] = "-0";
    argv[n++] = count > 0 ? args[0] : path;
    for (uint32_t i = 0; i < r->qemu_arg_count && i < SESSION_ARGS; i++)
        argv[n++] = r->qemu_args[i];
    argv[n++] = "-plugin";
    argv[n++] = plugin;
    argv[n++] = path;
    for (size_t i = 1; i < count; i++)
        argv[n++] = args[i];
    vcounter_before_exec();
    session_note_rights(p->session, path);
    fold_before_exec(p);
    processors_release(&tally_plugin.schedule.processors);
    execve("/proc/self/exe", (char *const *)argv, envp);
    vcounter_after_exec();
    reach_take_back(&p->reach, session);
    free(argv);
}

/* Replaces scripts by their interpreters. Returns the kind of the program that
 * is to be run. */
static enum file_kind
resolve(struct plugin *p, const char **path, const char **args, size_t *count,
        char heads[SCRIPT_DEPTH][COUNTS_NAME])
{
    char elf[sizeof(Elf64_Ehdr) + 1];

    for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
        char *interpreter, *argument;
        enum file_kind kind = classify(p, *path, heads[depth], COUNTS_NAME);
        if (kind != FILE_SCRIPT)
            return kind;
        if (!parse_script(heads[depth], &interpreter, &argument))
            return FILE_OTHER;
        const size_t extra = *argument != '\0' ? 2 : 1;
        const size_t rest = *count > 0 ? *count - 1 : 0;
        memmove(args + 1 + extra, args + 1, rest * sizeof(*args));
        args[0] = interpreter;
        if (extra == 2)
            args[1] = argument;
        args[extra] = *path;
        *count = rest + 1 + extra;
        *path = interpreter;
    }
    return classify(p, *path, elf, sizeof(elf)) == FILE_OURS ? FILE_OURS
                                                             : FILE_OTHER;
}

void
plugin_note_program(void)
{
    const char *const path = qemu_plugin_path_to_binary();

    tally_plugin.program = path != NULL ? realpath(path, NULL) : NULL;
}

static bool
is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Returns the path of the file that the guest means: its own /proc/self names
 * its program and files, not QEMU's. */
static const char *
own_path(const char *path, char *room, size_t size)
{
    if (strcmp(path, "/proc/self/exe") == 0)
        return tally_plugin.program != NULL ? tally_plugin.program
                                            : qemu_plugin_path_to_binary();
    if (strncmp(path, "/proc/self/fd/", 14) != 0 &&
        strncmp(path, "/dev/fd/", 8) != 0)
        return path;
    const ssize_t n = readlink(path, room, size - 1);
    if (n <= 0)
        return path;
    room[n] = '\0';
    return is_same_file(path, room) ? room : path;
}

/* QEMU opens a program without a path, such as a memory file, by its
 * descriptor, which a guest's fexecve() has the kernel close. Returns a copy
 * that stays open, with its path in `room`, or -1: there is no need of one. */
static int
keep_program(const char **path, char *room, size_t size)
{
    char after;
    int fd;

    if ((sscanf(*path, "/proc/self/fd/%d%c", &fd, &after) != 1 &&
         sscanf(*path, "/dev/fd/%d%c", &fd, &after) != 1) ||
        (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
        return -1;
    const int copy = fcntl(fd, F_DUPFD, fd);
    if (copy >= 0) {
        snprintf(room, size, "/proc/self/fd/%d", copy);
        *path = room;
    }
    return copy;
}

/* Executes the program of the path, which is freed, if it can be counted. */
static void
execute(char *asked, uint64_t argv_at, uint64_t envp_at, uint64_t random_key,
        struct exec_leaving *leaving)
{
    struct plugin *p = &tally_plugin;
    char heads[SCRIPT_DEPTH][COUNTS_NAME], link[COUNTS_NAME];
    char own[COUNTS_NAME], target[COUNTS_NAME];
    size_t count = 0, env_count = 0;

    const char *path = own_path(asked, link, sizeof(link));
    const char **args = guest_vector(argv_at, 2 * SCRIPT_DEPTH, &count);
    const char **env = guest_vector(envp_at, 0, &env_count);
    if (args != NULL && env != NULL &&
        resolve(p, &path, args, &count, heads) == FILE_OURS) {
        const char *const name = path;
        const int copy = keep_program(&path, own, sizeof(own));
        const ssize_t n = readlink(path, target, sizeof(target) - 1);
        target[strncmp(path, "/proc/self/fd/", 14) == 0 && n > 0 ? n : 0] =
            '\0';
        drop_settings(env);
        run_qemu(p, path, *target != '\0' ? target : name, args, count,
                 (char *const *)env, random_key, leaving);
        path = name;
        if (copy >= 0)
            close(copy);
    }
    note_leaving(p, leaving, path);
    free(args);
    free(env);
    free(asked);
}

void
plugin_execve(uint64_t path_at, uint64_t argv_at, uint64_t envp_at,
              uint64_t random_key, struct exec_leaving *leaving)
{
    char *const path = plugin_read_string(path_at, PATH_MAX);

    if (path != NULL) /* else QEMU tells the guest */
        execute(path, argv_at, envp_at, random_key, leaving);
}

/* Returns a path of what execveat() means, to be freed, or NULL: what QEMU
 * refuses. */
static char *
path_beneath(int folder, const char *path, uint64_t flags)
{
    char *whole = NULL;
    struct stat found;

    if ((*path == '\0' && (flags & AT_EMPTY_PATH) == 0) ||
        ((flags & AT_SYMLINK_NOFOLLOW) != 0 &&
         fstatat(folder, path, &found,
                 AT_SYMLINK_NOFOLLOW | (int)(flags & AT_EMPTY_PATH)) == 0 &&
         S_ISLNK(found.st_mode)))
        return NULL;
    if (*path == '/' || folder == AT_FDCWD)
        return strdup(path);
    if (asprintf(&whole, "/proc/self/fd/%d%s%s", folder,
                 *path == '\0' ? "" : "/", path) < 0)
        return NULL;
    return whole;
}

void
plugin_execveat(const uint64_t args[5], uint64_t random_key,
                struct exec_leaving *leaving)
{
    char *const path = plugin_read_string(args[1], PATH_MAX);

    if (path == NULL)
        return;
    if (qemu_has_execveat()) {
        char *const whole = path_beneath((int)args[0], path, args[4]);
        if (whole != NULL)
            execute(whole, args[2], args[3], random_key, leaving);
    } else {
        note_leaving(&tally_plugin, leaving,
                     *path != '\0' ? path : "a program by its file");
    }
    free(path);
}
