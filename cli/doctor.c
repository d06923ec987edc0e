/* SPDX-License-Identifier: MIT */
/* tally doctor: what this host can do, and what to install. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "source/launch.h"
#include "source/plugin_path.h"

static const struct option_row options[] = {{0}};

static void
drop_line(void *user, enum tally_level level, const char *text)
{
    char *line = user;

    (void)level;
    snprintf(line, 512, "%s", text);
}

static bool
check_qemu(enum isa isa)
{
    char path[PATH_MAX], line[512] = "";
    const struct tally_log log = {drop_line, line};
    const bool ok = launch_find_qemu(isa, NULL, &log, path) == 0;

    printf("  %-6s %s programs: %s\n", ok ? "ok" : "no", isa_name(isa),
           ok ? path : line);
    return ok;
}

static bool
check_plugin(void)
{
    char path[PATH_MAX], line[512] = "";
    const struct tally_log log = {drop_line, line};
    const bool ok = plugin_find(&log, path, sizeof(path)) == 0;

    printf("  %-6s plugin: %s\n", ok ? "ok" : "no", ok ? path : line);
    return ok;
}

static void
check_sysroot(const char *triplet, const char *package)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "/usr/%s", triplet);
    const bool ok = access(path, X_OK) == 0;
    printf("  %-6s dynamic %.7s programs: %s%s%s\n", ok ? "ok" : "maybe",
           triplet, path, ok ? "" : " is missing: apt install ",
           ok ? "" : package);
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

    printf("  %-6s shared memory%s%s\n", ok ? "ok" : "no", ok ? "" : ": ",
           line);
    if (ok)
        session_destroy(fd, header);
    return ok;
}

static int
run_doctor(int argc, char **argv)
{
    struct option_walk walk = {&command_doctor, argc, argv, 0, NULL};
    const char *value;
    const int option = command_option(&walk, &value);
    bool ok = true;

    if (option == COMMAND_HELP) {
        command_help(&command_doctor, stdout);
        return 0;
    }
    if (option == COMMAND_BAD || walk.next < argc) {
        if (option != COMMAND_BAD)
            fprintf(stderr, "tally doctor: takes no '%s'\n", argv[walk.next]);
        return EXIT_USAGE;
    }
    printf("emulated machines\n");
    for (int isa = 0; isa < ISA_COUNT; isa++)
        ok &= check_qemu((enum isa)isa);
    ok &= check_plugin();
    ok &= check_memory();
    check_sysroot("sparc64-linux-gnu", "libc6-sparc64-cross");
    printf("%s\n", ok ? "tally count works here"
                      : "tally count does not work here for what is marked no");
    return ok ? 0 : EXIT_OURS;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "tell what this host can do and what to install",
    .synopsis = "",
    .example = "  tally doctor",
    .options = options,
    .run = run_doctor,
};
