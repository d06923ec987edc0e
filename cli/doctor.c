/* SPDX-License-Identifier: MIT */
/* tally doctor: what this host can do, and what to install. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/illegal.h"
#include "host/event.h"
#include "host/open.h"
#include "profile/machine_choice.h"
#include "source/launch.h"
#include "source/plugin_path.h"
#include "source/program.h"
#include "source/qemu.h"

static const struct option_row options[] = {{0}};

static void
drop_line(void *user, enum tally_level level, const char *text)
{
    char *line = user;

    (void)level;
    snprintf(line, 512, "%s", text);
}

/* The command that builds a QEMU with all that tally uses. */
#define BUILD_QEMU "         scripts/setup qemu\n"

/* Prints the QEMU's version and that of its plugin interface, and ends no line.
 */
static void
print_version(const struct qemu_found *found)
{
    const unsigned interface = found->traits.interface;
    char version[64];

    qemu_version(found->path, version, sizeof(version));
    escape_printf(stdout, "         QEMU %s",
                  *version != '\0' ? version : "of unknown version");
    if (interface == 0)
        printf(", no plugins");
    else
        printf(", plugin interface %u%s", interface,
               interface == 4 ? " or later" : "");
}

/* Prints the QEMU's version, and what the QEMU can do. */
static void
print_traits(const struct qemu_found *found)
{
    const struct qemu_traits *const t = &found->traits;

    print_version(found);
    escape_printf(stdout, ": threads %s",
                  t->takes_turns
                      ? "take turns"
                      : "run at once, so that their counts vary, as the QEMU "
                        "exports no async_run_on_cpu");
    printf("; %s\n", t->tells_registers
                         ? "registers are read"
                         : "no registers are read, so that heap blocks of "
                           "static programs are not told apart");
}

/* Prints a QEMU that is there and not used, and why. */
static void
print_unused(const struct qemu_found *found, const struct qemu_found *used)
{
    char version[64], line[512] = "";
    const struct tally_log log = {drop_line, line};

    if (!qemu_is_usable(&found->traits)) {
        qemu_refuse(found, &log);
        escape_printf(stdout, "         not used: %s\n", line);
        return;
    }
    qemu_version(found->path, version, sizeof(version));
    escape_printf(stdout, "         not used: %s, QEMU %s: %s\n", found->path,
                  version,
                  found->traits.takes_turns == used->traits.takes_turns
                      ? "PATH comes first; TALLY_QEMU names another folder"
                      : "threads cannot take turns");
}

/* Checks the QEMU for programs of an ISA. Prints which QEMU is used and what
 * the QEMU can do, which others there are, and the command that mends what is
 * lacking. */
static bool
check_qemu(const struct isa *isa)
{
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    struct qemu_search search;
    struct qemu_found first;

    const bool ok = launch_find_qemu(isa, NULL, &log, &first) == 0;
    qemu_find(isa, &search);
    const struct qemu_found *const used = ok ? search.used : NULL;
    const bool full = used != NULL && used->traits.takes_turns &&
                      used->traits.tells_registers;

    escape_printf(stdout, "  %-6s %s programs: %s\n",
                  full ? "ok"
                  : ok ? "maybe"
                       : "no",
                  isa->name, ok ? first.path : line);
    if (used != NULL)
        print_traits(used);
    else if (search.count > 0) {
        print_version(&search.found[0]);
        putchar('\n');
    }
    for (size_t i = 0; used != NULL && i < search.count; i++)
        if (&search.found[i] != used)
            print_unused(&search.found[i], used);
    if (!full)
        printf(BUILD_QEMU);
    return ok;
}

static bool
check_plugin(void)
{
    char path[PATH_MAX], line[512] = "";
    const struct tally_log log = {drop_line, line};
    const bool ok = plugin_find(&log, path, sizeof(path)) == 0;

    escape_printf(stdout, "  %-6s plugin: %s\n", ok ? "ok" : "no",
                  ok ? path : line);
    return ok;
}

static void
check_sysroot(const struct isa *isa)
{
    const bool ok = access(isa->sysroot, X_OK) == 0;

    escape_printf(stdout, "  %-6s dynamic %s programs: %s%s%s\n",
                  ok ? "ok" : "maybe", isa->name, isa->sysroot,
                  ok ? "" : " is missing: apt install ",
                  ok ? "" : isa->loader_package);
}

static bool
check_memory(void)
{
    struct session_request request = {0};
    struct session_header *header = NULL;
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    int fd = -1;
    const bool ok = session_create(&request, &log, &fd, &header) == 0;

    escape_printf(stdout, "  %-6s shared memory%s%s\n", ok ? "ok" : "no",
                  ok ? "" : ": ", line);
    if (ok)
        session_destroy(fd, header);
    return ok;
}

/* Checks that /proc is mounted. Prints the line if /proc is missing, or if
 * `shown`. */
static bool
check_proc(bool shown)
{
    const bool ok = access("/proc/self/fd", X_OK) == 0;

    if (!ok)
        printf("  no     /proc: it is not mounted, and tally and QEMU find "
               "their memory there\n"
               "         mount -t proc proc /proc\n");
    else if (shown)
        printf("  ok     /proc\n");
    return ok;
}

/* Runs the command and writes its standard error into the file. Returns the
 * status that waitpid() gives, or -1. */
static int
run_into(int fd, char *const *argv)
{
    posix_spawn_file_actions_t files;
    int status = -1;
    pid_t pid;

    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    /* A parent that ignores SIGCHLD has children that wait for none. */
    signal(SIGCHLD, SIG_DFL);
    if (posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) !=
            0 ||
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) !=
            0 ||
        posix_spawn_file_actions_adddup2(&files, fd, 2) != 0 ||
        posix_spawn(&pid, argv[0], &files, NULL, argv, environ) != 0 ||
        TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) < 0)
        status = -1;
    posix_spawn_file_actions_destroy(&files);
    return status;
}

/* Counts a shell that does nothing, as a user would count it. Returns whether
 * that works; if not, `line` has what was said first. */
static bool
try_run(char *line, size_t size)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    const int fd = memfd_create("tally-doctor", MFD_CLOEXEC);

    line[0] = '\0';
    if (length < 0 || fd < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    self[length] = '\0';
    char *const argv[] = {
        self, "count",     "-q", "-m",      "host-model", "-e", "instructions",
        "-o", "/dev/null", "--", "/bin/sh", "-c",         ":",  NULL};
    const int status = run_into(fd, argv);
    const ssize_t got = pread(fd, line, size - 1, 0);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    close(fd);
    return status == 0;
}

/* Returns whether programs of this host count on host-model if no machine is
 * named. */
static bool
counts_on_host_model(void)
{
    struct utsname name;

    if (uname(&name) != 0)
        return false;
    for (const struct isa *isa = isa_rows; isa < isa_rows + ISA_COUNT; isa++)
        if (strcmp(isa->name, name.machine) == 0)
            return strcmp(isa->machine, "host-model") == 0;
    return false;
}

/* Checks that a run on host-model works, on a host whose programs count there.
 * Prints the line if the run fails, or if `shown`. */
static bool
check_run(bool shown)
{
    struct rlimit room;
    char line[512];

    if (!counts_on_host_model())
        return true;
    const bool ok = try_run(line, sizeof(line));
    if (ok && !shown)
        return true;
    escape_printf(stdout, "  %-6s a run of /bin/sh on host-model%s%s\n",
                  ok ? "ok" : "no", ok ? "" : ": ",
                  ok           ? ""
                  : *line != 0 ? line
                               : "it failed without a word");
    if (!ok && getrlimit(RLIMIT_AS, &room) == 0 &&
        room.rlim_cur != RLIM_INFINITY)
        printf("         the address space of a process is limited to %.1f GB, "
               "and QEMU may need 16 GB:\n"
               "         ulimit -v unlimited\n",
               (double)room.rlim_cur * 1e-9);
    return ok;
}

/* Prints what helps on a line of its own, so that it can be copied. */
static bool
tell(const char *what, const struct host_reason *reason)
{
    const bool ok = reason->why == HOST_OK;

    escape_printf(stdout, "  %-6s %s%s%s\n", ok ? "ok" : "no", what,
                  ok ? "" : ": ", reason->text);
    if (reason->mend[0] != '\0')
        escape_printf(stdout, "         %s\n", reason->mend);
    return ok;
}

/* Returns whether an event opens, as it would be counted. */
static bool
check_event(const char *what, const char *name, pid_t pid, int cpu)
{
    struct host_reason reason = {.why = HOST_UNSUPPORTED};
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    struct host_event *events;
    size_t count;

    if (host_event_list_parse(name, &log, &events, &count) != 0) {
        snprintf(reason.text, sizeof(reason.text), "%.*s",
                 (int)sizeof(reason.text) - 1, line);
        return tell(what, &reason);
    }
    const int fd = host_open(&events[0].attr, pid, cpu, -1, 0, &reason);
    if (fd >= 0)
        close(fd);
    free(events);
    return tell(what, &reason);
}

static void
tell_paranoid(const struct host_facts *facts)
{
    const long level = facts->paranoid;

    if (!facts->has_paranoid)
        return;
    escape_printf(
        stdout, "         perf_event_paranoid is %ld: users count %s\n", level,
        level > 2   ? "nothing without CAP_PERFMON (2 lets them)"
        : level > 1 ? "at user level only (1 adds the kernel, 0 whole cpus)"
        : level > 0 ? "their own programs (0 adds whole cpus)"
                    : "whole cpus, too");
}

/* Reports what this host's own counters can count, and if nothing, why. Returns
 * whether they count the processor's own work. */
static bool
check_host(void)
{
    struct host_reason reason = {.why = HOST_OK};
    struct host_facts facts;

    printf("this host's own counters\n");
    host_facts_find(NULL, -1, &facts);
    tell_paranoid(&facts);
    /* Where not even this opens, no other event does, for the same reason. */
    if (!facts.software_opens) {
        check_event("any event", "page-faults:u", 0, -1);
        return false;
    }
    const bool hardware = host_check(&reason) == HOST_OK;
    tell("hardware events", &reason);
    if (hardware && facts.nmi_watchdog == 1)
        escape_printf(stdout,
                      "  %-6s the NMI watchdog holds one counter\n"
                      "         sudo sysctl kernel.nmi_watchdog=0\n",
                      "maybe");
    check_event("software events", "page-faults:u", 0, -1);
    check_event("the kernel's part", "task-clock", 0, -1);
    check_event("whole cpus (-a)", "task-clock", -1, sched_getcpu());
    check_event("tracepoints", "sched:sched_switch", 0, -1);
    return hardware;
}

/* Reports where tally count counts the program if no machine is named. */
static bool
check_machine(const struct program *p)
{
    const struct machine_row *machine = NULL;
    struct host_reason reason;
    struct utsname name;
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    bool foreign = false;

    const bool native =
        uname(&name) == 0 && strcmp(p->isa->name, name.machine) == 0;
    if (native && host_check(&reason) == HOST_OK) {
        printf("  ok     counted on this host's own counters; emulated with -m "
               "host-model\n");
        return true;
    }
    const bool ok =
        machine_choose(NULL, p, false, &log, &machine, &foreign) == 0;
    escape_printf(stdout, "  %-6s counted on %s\n", ok ? "ok" : "no",
                  ok ? machine->name : line);
    return ok;
}

/* Checks that QEMU for the program is installed, and prints the CPU model that
 * QEMU emulates, and what the QEMU can do. */
static bool
check_emulator(const struct program *p)
{
    struct qemu_found found;
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    const bool ok = launch_find_qemu(p->isa, NULL, &log, &found) == 0;
    const char *cpu = p->isa->cpu_name;

    escape_printf(stdout, "  %-6s QEMU: %s%s%s\n", ok ? "ok" : "no",
                  ok ? found.path : line,
                  ok && cpu != NULL ? ", CPU model " : "",
                  ok && cpu != NULL ? cpu : "");
    if (ok) {
        print_traits(&found);
    }
    if (!ok || !found.traits.takes_turns)
        printf(BUILD_QEMU);
    return ok;
}

static bool
check_loader(const struct program *p)
{
    char line[512] = "";
    const struct tally_log log = {drop_line, line};
    const bool ok = launch_check_loader(p, NULL, &log) == 0;

    if (p->loader[0] == '\0')
        printf("         static\n");
    else
        escape_printf(stdout, "  %-6s dynamic, loader %s\n", ok ? "ok" : "no",
                      ok ? p->loader : line);
    return ok;
}

/* Reports what the program's file says that the program needs. Nothing checks a
 * static one. */
static bool
check_level(const struct program *p)
{
    const bool dynamic = p->loader[0] != '\0';
    char text[200];

    if ((p->levels & PROGRAM_V4) == 0)
        return true;
    illegal_level_text(text, sizeof(text));
    escape_printf(stdout, "  %-6s %s\n", dynamic ? "no" : "maybe", text);
    return !dynamic;
}

/* Reports what the program, and this host for the program, lack. Returns the
 * status of tally count, which refuses what no host can count, and fails where
 * this host lacks something. */
static int
check_program(char **argv)
{
    struct program p;

    if (program_open(argv, &command_log, &p) != 0)
        return EXIT_USAGE;
    escape_printf(stdout, "%s\n", argv[0]);
    escape_printf(stdout, "  ok     a program for %s: %s\n", p.isa->name,
                  p.path);
    bool ok = check_loader(&p);
    const bool refused = !check_level(&p);
    ok &= check_emulator(&p);
    ok &= check_machine(&p);
    ok &= check_proc(false);
    if (ok)
        ok &= check_run(false);
    if (elf_has_section(p.path, ".symtab"))
        printf("  ok     symbols: functions can be named (--from, --to)\n");
    else
        printf("  maybe  no symbols: --from and --to find exported functions "
               "only; do not strip it\n");
    if (elf_has_section(p.path, ".debug_line"))
        printf("  ok     debug information: lines can be named\n");
    else
        printf("  maybe  no debug information: compile it with -g, or install "
               "its -dbgsym package\n");
    program_close(&p);
    return refused ? EXIT_USAGE : ok ? 0 : EXIT_OURS;
}

static int
run_doctor(int argc, char **argv)
{
    struct option_walk walk = command_walk(&command_doctor, argc, argv);
    const char *value;
    const int option = command_option(&walk, &value);
    bool ok = true;

    if (option == COMMAND_HELP) {
        command_help(&command_doctor, stdout);
        return 0;
    }
    if (option == COMMAND_BAD)
        return EXIT_USAGE;
    if (walk.next + 1 < argc) {
        escape_printf(stderr, "tally doctor: one program, not '%s' too\n",
                      argv[walk.next + 1]);
        return EXIT_USAGE;
    }
    if (walk.next < argc)
        return check_program(argv + walk.next);
    printf("emulated machines\n");
    for (size_t i = 0; i < ISA_COUNT; i++)
        ok &= check_qemu(&isa_rows[i]);
    ok &= check_plugin();
    ok &= check_memory();
    ok &= check_proc(true);
    if (ok)
        ok &= check_run(true);
    for (size_t i = 0; i < ISA_COUNT; i++)
        if (isa_rows[i].sysroot != NULL)
            check_sysroot(&isa_rows[i]);
    const bool host = check_host();
    escape_printf(stdout, "%s%s\n",
                  ok ? "tally count works here on modelled machines"
                     : "tally count does not work here for what is marked no",
                  ok && host ? " and on the host's counters" : "");
    return ok ? 0 : EXIT_OURS;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "tell what this host, or a program, lacks for counting",
    .synopsis = "[PROGRAM]",
    .example = "  # Say what can be counted here, and what would help.\n"
               "  tally doctor\n"
               "  # Say how one program would be counted.\n"
               "  tally doctor ./program",
    .options = options,
    .run = run_doctor,
};
