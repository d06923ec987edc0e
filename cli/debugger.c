/* SPDX-License-Identifier: MIT */
#include "cli/debugger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/measured.h"
#include "names/names.h"

#define SOCKET_US 5000 /* between looks for the socket */
#define WORDS (2u * DEBUGGER_COMMANDS + 24u)

/* Words of GDB's command line. */
struct words {
    const char *word[WORDS];
    size_t count;
};

static void
add_word(struct words *w, const char *word)
{
    w->word[w->count++] = word;
}

static void
add_pair(struct words *w, const char *option, const char *word)
{
    add_word(w, option);
    add_word(w, word);
}

int
debugger_open(struct debugger *d, const struct program *program)
{
    const char *const folder = path_scratch();

    if (!path_search("gdb-multiarch", d->gdb) &&
        (!measured_is_native(program->argv) || !path_search("gdb", d->gdb))) {
        fprintf(stderr, "tally at: --gdb needs gdb-multiarch, which is not in "
                        "PATH: install the package gdb-multiarch\n");
        return EXIT_OURS;
    }
    const int length =
        snprintf(d->folder, sizeof(d->folder), "%s/tally-XXXXXX", folder);
    if ((size_t)length + sizeof("/gdb") > sizeof(d->folder))
        errno = ENAMETOOLONG;
    else if (mkdtemp(d->folder) != NULL) {
        memcpy(d->socket, d->folder, (size_t)length);
        strcpy(d->socket + length, "/gdb");
        memcpy(d->script, d->folder, (size_t)length);
        strcpy(d->script + length, "/sym");
        return 0;
    }
    escape_printf(stderr,
                  "tally at: no folder for the debugger's socket in %s: %s; "
                  "TMPDIR names another\n",
                  folder, strerror(errno));
    d->folder[0] = '\0';
    return EXIT_OURS;
}

/* Returns whether QEMU listens at the socket: the path is there a little
 * earlier, when GDB would be refused. */
static bool
is_listening(const char *path)
{
    static const char *const listens = "00010000"; /* __SO_ACCEPTCON */
    FILE *const in = fopen("/proc/net/unix", "re");
    char line[512], flags[16], name[DEBUGGER_SOCKET];
    bool found = false;

    while (in != NULL && !found && fgets(line, sizeof(line), in) != NULL)
        found = sscanf(line, "%*s %*s %*s %15s %*s %*s %*s %107s", flags,
                       name) == 2 &&
                strcmp(flags, listens) == 0 && strcmp(name, path) == 0;
    if (in != NULL)
        fclose(in);
    return found;
}

/* Waits in the new process for the socket, and executes GDB. */
static __attribute__((noreturn)) void
run(const struct debugger *d, const struct words *words, pid_t parent)
{
    while (!is_listening(d->socket)) {
        if (getppid() != parent)
            _exit(EXIT_OURS);
        usleep(SOCKET_US);
    }
    /* GDB stopped alone would leave nobody to continue it. */
    signal(SIGTSTP, SIG_IGN);
    execv(d->gdb, (char *const *)(uintptr_t)words->word);
    _exit(EXIT_OURS);
}

/* Gives the foreground of the terminal to a process group. */
static void
give_terminal(const struct debugger *d, pid_t group)
{
    sigset_t background, old;

    if (d->terminal == 0)
        return;
    sigemptyset(&background);
    sigaddset(&background, SIGTTOU);
    sigprocmask(SIG_BLOCK, &background, &old);
    tcsetpgrp(d->terminal, group);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Leaves a terminal to GDB, in a process group of its own: Ctrl-C at its prompt
 * would end QEMU's connection. */
static void
leave_terminal(struct debugger *d)
{
    if (!isatty(STDIN_FILENO))
        return;
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) {
        d->terminal = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (d->terminal < 0)
            d->terminal = 0;
        setpgid(d->pid, d->pid);
        give_terminal(d, d->pid);
    }
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    if (none > STDIN_FILENO)
        close(none);
}

/* Returns whether GDB reads a path as it stands. */
static bool
is_plain(const char *path)
{
    return *path == '/' && strpbrk(path, " \t\n\"'\\#") == NULL &&
           escape_is_plain(path, ESCAPE_LINE);
}

/* Returns whether a file of this path came before in the point. */
static bool
is_repeated(const struct point *point, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(point->files[i], point->files[index]) == 0)
            return true;
    }
    return false;
}

void
debugger_symbols(const struct debugger *d, const struct point *point)
{
    FILE *const out = fopen(d->script, "w");
    struct names *names = NULL;

    if (out == NULL || names_create(NULL, NULL, &names) != 0) {
        if (out != NULL)
            fclose(out);
        return;
    }
    for (uint32_t i = 0; i < point->map_count; i++) {
        const char *const path = point->files[i];
        unsigned file;
        if (!is_plain(path) || is_repeated(point, i) ||
            names_add(names, path, NULL, 0, &file) != 0)
            continue;
        const uint64_t address =
            names_address(names, file, point->maps[i].offset);
        if (address != UINT64_MAX)
            fprintf(out, "add-symbol-file %s -o 0x%" PRIx64 "\n", path,
                    point->maps[i].first - address);
    }
    names_destroy(names);
    fclose(out);
}

int
debugger_start(struct debugger *d, const struct program *program,
               const char *const *orders, size_t count)
{
    struct words w = {.count = 0};
    char target[DEBUGGER_SOCKET + 16], root[DEBUGGER_SOCKET + 16];
    char source[DEBUGGER_SOCKET + 16];
    const pid_t parent = getpid();
    FILE *const script = fopen(d->script, "w");

    if (script != NULL)
        fclose(script);
    snprintf(target, sizeof(target), "target remote %s", d->socket);
    /* Where GDB finds no loader to set breakpoints in. */
    snprintf(root, sizeof(root), "set sysroot %s", d->folder);
    snprintf(source, sizeof(source), "source %s", d->script);
    add_pair(&w, d->gdb, "-q");
    if (count != 0)
        add_word(&w, "-batch");
    add_pair(&w, "-iex", "set confirm off");
    add_pair(&w, "-iex", "set pagination off");
    add_pair(&w, "-iex", root);
    /* QEMU 10.0 would name the program by the path that it was started with,
     * which is longer than GDB takes (source/launch.c). GDB knows the program.
     */
    add_pair(&w, "-iex", "set remote pid-to-exec-file-packet off");
    add_pair(&w, "-ex", target);
    add_pair(&w, "-ex", "continue");
    add_pair(&w, "-ex", source);
    for (size_t i = 0; i < count; i++)
        add_pair(&w, "-ex", orders[i]);
    add_pair(&w, "-e", program->path);
    add_word(&w, NULL);
    d->pid = fork();
    if (d->pid == 0)
        run(d, &w, parent);
    if (d->pid < 0) {
        d->pid = 0;
        fprintf(stderr, "tally at: cannot start %s: %s\n", d->gdb,
                strerror(errno));
        return EXIT_OURS;
    }
    if (count == 0)
        leave_terminal(d);
    return 0;
}

void
debugger_wait(struct debugger *d)
{
    while (d->pid != 0 && waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    d->pid = 0;
    give_terminal(d, getpgrp());
    if (d->terminal != 0)
        close(d->terminal);
    d->terminal = 0;
}

void
debugger_finish(struct debugger *d)
{
    if (d->pid != 0)
        kill(d->pid, SIGTERM);
    debugger_wait(d);
    if (d->folder[0] == '\0')
        return;
    unlink(d->socket);
    unlink(d->script);
    rmdir(d->folder);
}
