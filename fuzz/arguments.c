/* SPDX-License-Identifier: MIT */
/*
 * Lines as the arguments of `tally count`, then of what -p, -t and -C name, or
 * of `tally perfex`. What is refused gets one line and status 2, what is taken
 * gets none. Bit 0 of the first byte chooses perfex, bit 1 gives the first
 * argument in T5_EVENT0 too, bit 2 calls the command stat.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/host_targets.h"
#include "cli/perfex_request.h"
#include "fuzz/fuzz.h"

#define ARGUMENTS 64

const struct command command_count = {
    .name = "count",
    .options = count_options,
    .groups = count_groups,
    .others = perf_stat_options,
};

const struct command command_perfex = {
    .name = "perfex",
    .options = perfex_options,
};

/* Checks that a number list that was taken has its numbers in their bounds. */
static int
find_targets(const struct count_request *request)
{
    struct host_targets targets;
    const int status = host_targets_find(request, &targets);
    char *const text = host_targets_text(request);

    if (status == 0) {
        fuzz_check((targets.pid_count > 0) == (request->pids != NULL));
        fuzz_check((targets.tid_count > 0) == (request->tids != NULL));
        fuzz_check(!targets.whole_cpus || CPU_COUNT(&targets.cpus) > 0);
        for (size_t i = 0; i < targets.pid_count; i++)
            fuzz_check(targets.pids[i] > 0);
        for (size_t i = 0; i < targets.tid_count; i++)
            fuzz_check(targets.tids[i] > 0);
    }
    free(text);
    host_targets_finish(&targets);
    return status;
}

static int
read_count(int argc, char **argv)
{
    struct count_request request;
    int operand = 0;
    int status = count_request_read(argc, argv, &request, &operand);

    if (status == 0) {
        fuzz_check(operand > 0 && operand <= argc);
        fuzz_check(request.runs > 0 && request.filter_count <= CODE_RANGES);
        status = find_targets(&request);
    }
    count_request_finish(&request);
    return status;
}

static int
read_perfex(int argc, char **argv)
{
    struct perfex_request request;
    int operand = 0;
    const int status = perfex_request_read(argc, argv, &request, &operand);

    fuzz_check(status != 0 || (operand > 0 && operand <= argc));
    perfex_request_finish(&request);
    return status;
}

/* Checks that there is one line, of characters that a terminal shows. */
static void
check_line(const char *text, size_t size)
{
    fuzz_check(size > 1 && text[size - 1] == '\n');
    for (size_t i = 0; i + 1 < size; i++)
        fuzz_check((unsigned char)text[i] >= ' ' && text[i] != '\x7f');
}

static int
split(char *text, char **argv)
{
    int argc = 1;

    for (char *rest = text; rest != NULL && argc < ARGUMENTS;)
        argv[argc++] = strsep(&rest, "\n");
    argv[argc] = NULL;
    return argc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char count[] = "count", stat[] = "stat";
    char *argv[ARGUMENTS + 1], *told = NULL;
    size_t told_size = 0;
    FILE *const terminal = stderr;

    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    const int argc = split(text, argv);
    argv[0] = data[0] & 4 ? stat : count;
    if (data[0] & 2)
        setenv("T5_EVENT0", argv[1], 1);
    setenv("PATH", "", 1); /* a program that is there is no subcommand */
    stderr = open_memstream(&told, &told_size);
    fuzz_check(stderr != NULL);
    const int status =
        data[0] & 1 ? read_perfex(argc, argv) : read_count(argc, argv);
    fclose(stderr);
    stderr = terminal;
    fuzz_check(status == 0 || status == EXIT_USAGE || status == COMMAND_HELP);
    if (status == EXIT_USAGE)
        check_line(told, told_size);
    else
        fuzz_check(told_size == 0);
    unsetenv("T5_EVENT0");
    free(told);
    free(text);
    return 0;
}
