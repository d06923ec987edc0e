/* SPDX-License-Identifier: MIT */
#include "source/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "source/program.h"
#include "source/setting.h"

extern char **environ;

/* Functions whose presence tells what a QEMU can do. Those of the first rows
 * came with versions 1 to 4 of the plugin interface (include/qemu/qemu-plugin.h
 * of QEMU 7.2, 9.0, 9.1 and 10.0). */
enum {
    EXPORT_PLUGINS,
    EXPORT_VERSION_2,
    EXPORT_VERSION_3,
    EXPORT_VERSION_4,
    EXPORT_PATH,
    EXPORT_CODE,
    EXPORT_WORK,
    EXPORT_CPU,
    EXPORT_REGISTERS,
    EXPORT_COUNT
};

static bool
has_all(uint32_t exports, uint32_t wanted)
{
    return (exports & wanted) == wanted;
}

void
qemu_read(const char *path, const struct isa *isa, struct qemu_traits *traits)
{
    const char *const names[EXPORT_COUNT] = {
        [EXPORT_PLUGINS] = "qemu_plugin_register_vcpu_tb_exec_cb",
        [EXPORT_VERSION_2] = "qemu_plugin_scoreboard_new",
        [EXPORT_VERSION_3] = "qemu_plugin_register_vcpu_tb_exec_cond_cb",
        [EXPORT_VERSION_4] = "qemu_plugin_read_memory_vaddr",
        [EXPORT_PATH] = "qemu_plugin_path_to_binary",
        [EXPORT_CODE] = "qemu_plugin_start_code",
        [EXPORT_WORK] = "async_run_on_cpu",
        [EXPORT_CPU] = "qemu_get_cpu",
        [EXPORT_REGISTERS] = isa->register_reader,
    };
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *traits = (struct qemu_traits){.error = file < 0 ? errno : 0};
    if (file < 0)
        return;
    close(file);
    const uint32_t exports = elf_exports(path, names, EXPORT_COUNT);
    if (has_all(exports, 1u << EXPORT_PLUGINS)) {
        traits->interface = 1;
        for (unsigned i = EXPORT_VERSION_2; i <= EXPORT_VERSION_4; i++)
            if (has_all(exports, 1u << i))
                traits->interface = i + 1;
    }
    traits->tells_program =
        has_all(exports, 1u << EXPORT_PATH | 1u << EXPORT_CODE);
    traits->takes_turns =
        has_all(exports, 1u << EXPORT_WORK | 1u << EXPORT_CPU);
    traits->tells_registers =
        has_all(exports, 1u << EXPORT_REGISTERS | 1u << EXPORT_CPU);
}

bool
qemu_is_usable(const struct qemu_traits *traits)
{
    return traits->interface != 0 && traits->tells_program;
}

bool
qemu_reverses_environment(const struct qemu_traits *traits)
{
    return traits->interface == 1;
}

static const char *
set_variable(const char *name)
{
    const char *const value = getenv(name);

    return value != NULL && *value != '\0' ? value : NULL;
}

bool
qemu_folder(char *folder)
{
    const char *const named = set_variable("TALLY_QEMU");
    const char *const cache = set_variable("XDG_CACHE_HOME");
    const char *const home = set_variable("HOME");
    int length = 0;

    if (named != NULL)
        length = snprintf(folder, PATH_MAX, "%s", named);
    else if (cache != NULL)
        length = snprintf(folder, PATH_MAX, "%s/tally/qemu", cache);
    else if (home != NULL)
        length = snprintf(folder, PATH_MAX, "%s/.cache/tally/qemu", home);
    if (length == 0 || length >= PATH_MAX)
        *folder = '\0';
    return named != NULL;
}

/* Adds the program at found[count].path to what was found, if it is one. */
static void
add_found(struct qemu_search *search, const struct isa *isa)
{
    struct qemu_found *const found = &search->found[search->count];

    qemu_read(found->path, isa, &found->traits);
    search->count++;
    if (!qemu_is_usable(&found->traits))
        return;
    if (search->used == NULL ||
        (found->traits.takes_turns && !search->used->traits.takes_turns))
        search->used = found;
}

void
qemu_find(const struct isa *isa, struct qemu_search *search)
{
    char folder[PATH_MAX], name[64], *path;

    search->count = 0;
    search->used = NULL;
    const bool named = qemu_folder(folder);
    snprintf(name, sizeof(name), "qemu-%s", isa->name);
    if (!named && path_search(name, search->found[0].path))
        add_found(search, isa);
    path = search->found[search->count].path;
    if (*folder != '\0' &&
        snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
        path_executable(path))
        add_found(search, isa);
}

int
qemu_refuse(const struct qemu_found *found, const struct tally_log *log)
{
    if (found->traits.error != 0)
        return tally_fail(log, TALLY_EQEMU, "cannot read %s: %s", found->path,
                          strerror(found->traits.error));
    if (found->traits.interface == 0)
        return tally_fail(log, TALLY_EQEMU,
                          "%s is built without plugins (as Debian 13's static "
                          "qemu-user is): scripts/setup qemu builds one with "
                          "plugins, --qemu or TALLY_QEMU names another",
                          found->path);
    return tally_fail(log, TALLY_EQEMU,
                      "%s does not tell plugins which program runs, as QEMU "
                      "10.0 does not: scripts/setup qemu builds one that does, "
                      "--qemu or TALLY_QEMU names another",
                      found->path);
}

/* Returns the environment without the variables that change how QEMU runs, in
 * one block of memory, or NULL. */
static char **
plain_environment(void)
{
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    char **const plain = calloc(count + 1, sizeof(*plain));
    if (plain == NULL)
        return NULL;
    count = 0;
    for (char **e = environ; *e != NULL; e++)
        if (!setting_is(*e))
            plain[count++] = *e;
    return plain;
}

/* Starts QEMU with `end` as its descriptor `stream`, and nothing as the other
 * one. Returns 0 or an errno. */
static int
start(const char *path, char *const *argv, int stream, int end, pid_t *pid)
{
    const int other = stream == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
    posix_spawn_file_actions_t actions;
    char **const plain = plain_environment();
    int error =
        plain == NULL ? ENOMEM : posix_spawn_file_actions_init(&actions);

    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, other, "/dev/null",
                                                 O_WRONLY, 0);
        if (error == 0)
            error = posix_spawn_file_actions_adddup2(&actions, end, stream);
        if (error == 0)
            error = posix_spawn(pid, path, &actions, NULL, argv, plain);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(plain);
    return error;
}

int
qemu_run(const char *path, char *const *argv, int stream, qemu_reader *read,
         void *user)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    FILE *said = fdopen(ends[0], "r");
    const int error =
        said == NULL ? errno : start(path, argv, stream, ends[1], &pid);
    close(ends[1]);
    if (error == 0) {
        read(user, said);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (said != NULL)
        fclose(said);
    else
        close(ends[0]);
    return error;
}

struct version {
    char *text;
    size_t size;
};

/* Copies the number from "qemu-x86_64 version 7.2.22 (Debian ...)". */
static void
read_version(void *user, FILE *said)
{
    static const char before[] = " version ";
    const struct version *v = user;
    char line[512];

    while (fgets(line, sizeof(line), said) != NULL) {
        const char *at = strstr(line, before);
        if (*v->text != '\0' || at == NULL)
            continue;
        at += sizeof(before) - 1;
        snprintf(v->text, v->size, "%.*s", (int)strcspn(at, " \n"), at);
    }
}

void
qemu_version(const char *path, char *text, size_t size)
{
    char *const argv[] = {(char *)path, (char *)"--version", NULL};
    struct version v = {text, size};

    *text = '\0';
    qemu_run(path, argv, STDOUT_FILENO, read_version, &v);
}
