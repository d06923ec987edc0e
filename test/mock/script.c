/* SPDX-License-Identifier: MIT */
/* Reads the script of a mock machine: a word, then values and key=value. */
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 32 };

struct line {
    const char *path;
    unsigned number;
    char *words[WORDS];
    unsigned count;
};

static void __attribute__((noreturn))
refuse(const struct line *line, const char *what)
{
    dprintf(2, "mock: %s:%u: %s\n", line->path, line->number, what);
    _exit(99);
}

static int64_t
number(const struct line *line, const char *text)
{
    char *end;
    errno = 0;
    const long long value = text[0] == '-' ? strtoll(text, &end, 0)
                                           : (long long)strtoull(text, &end, 0);

    if (errno || end == text || *end)
        refuse(line, "not a number");
    return value;
}

static unsigned
small(const struct line *line, const char *text)
{
    return (unsigned)number(line, text);
}

/* The value behind `key=` in the line, or NULL. */
static const char *
value_of(const struct line *line, const char *key)
{
    const size_t length = strlen(key);

    for (unsigned i = 1; i < line->count; i++) {
        const char *word = line->words[i];
        if (!strncmp(word, key, length) && word[length] == '=')
            return word + length + 1;
    }
    return NULL;
}

static bool
has_word(const struct line *line, const char *wanted)
{
    for (unsigned i = 1; i < line->count; i++)
        if (!strcmp(line->words[i], wanted))
            return true;
    return false;
}

static const char *
word(const struct line *line, unsigned index)
{
    if (index >= line->count)
        refuse(line, "a value is missing");
    return line->words[index];
}

static int64_t
number_of(const struct line *line, const char *key, int64_t otherwise)
{
    const char *text = value_of(line, key);

    return text ? number(line, text) : otherwise;
}

/* 0-3,8 */
static cpu_set_t
cpu_list(const struct line *line, const char *text)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    while (*text) {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
        }
        if (end == text)
            refuse(line, "not a list of cpus");
        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_SET(first, &set);
        text = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            refuse(line, "not a list of cpus");
    }
    return set;
}

static cpu_set_t
all_cpus(const struct mock_machine *machine)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (unsigned cpu = 0; cpu < machine->cpu_count; cpu++)
        CPU_SET(cpu, &set);
    return set;
}

static void
read_cpus(const struct line *line, struct mock_machine *machine)
{
    machine->cpu_count = small(line, word(line, 1));
    machine->online = all_cpus(machine);
}

static uint64_t
bits(const struct line *line, const char *text)
{
    const cpu_set_t set = cpu_list(line, text);
    uint64_t result = 0;

    for (unsigned bit = 0; bit < 64; bit++)
        if (CPU_ISSET(bit, &set))
            result |= 1ull << bit;
    return result;
}

static void
read_pmu(const struct line *line, struct mock_machine *machine)
{
    if (machine->pmu_count == MOCK_PMUS)
        refuse(line, "too many PMUs");
    struct mock_pmu *pmu = &machine->pmus[machine->pmu_count++];
    const char *cpus = value_of(line, "cpumask");
    const char *fixed = value_of(line, "fixed");

    if (!cpus)
        cpus = value_of(line, "cpus");
    snprintf(pmu->name, sizeof(pmu->name), "%s", word(line, 1));
    pmu->type = (uint32_t)number_of(line, "type", 4);
    pmu->core = has_word(line, "core");
    pmu->uncore = has_word(line, "uncore");
    pmu->topdown = has_word(line, "topdown");
    pmu->software = has_word(line, "software");
    pmu->cpus = cpus ? cpu_list(line, cpus) : all_cpus(machine);
    pmu->counters = (unsigned)number_of(line, "counters", 0);
    pmu->taken = (unsigned)number_of(line, "taken", 0);
    pmu->fixed = fixed ? bits(line, fixed) : 0;
    pmu->share = (unsigned)number_of(line, "share", 100);
    pmu->steal = (unsigned)number_of(line, "steal", 0);
    pmu->precise = (unsigned)number_of(line, "precise", 0);
}

static void
read_rate(const struct line *line, struct mock_machine *machine)
{
    if (machine->rate_count == MOCK_RATES)
        refuse(line, "too many rates");
    const bool dead = !strcmp(line->words[0], "dead");

    machine->rates[machine->rate_count++] = (struct mock_rate){
        .type = (uint32_t)number(line, word(line, 1)),
        .config = (uint64_t)number(line, word(line, 2)),
        .per_ms = dead ? 0 : (uint64_t)number(line, word(line, 3)),
    };
}

static int
error_of(const struct line *line, const char *name)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {
        {"E2BIG", E2BIG},           {"EACCES", EACCES}, {"EAGAIN", EAGAIN},
        {"EBADF", EBADF},           {"EBUSY", EBUSY},   {"EINTR", EINTR},
        {"EINVAL", EINVAL},         {"EIO", EIO},       {"EMFILE", EMFILE},
        {"ENFILE", ENFILE},         {"ENODEV", ENODEV}, {"ENOENT", ENOENT},
        {"ENOMEM", ENOMEM},         {"ENOSPC", ENOSPC}, {"ENOSYS", ENOSYS},
        {"EOPNOTSUPP", EOPNOTSUPP}, {"EPERM", EPERM},   {"ESRCH", ESRCH},
        {"END", MOCK_END},          {"STOP", MOCK_STOP}};

    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (!strcmp(errors[i].name, name))
            return errors[i].error;
    refuse(line, "unknown error name");
}

static enum mock_call
call_of(const struct line *line, const char *name)
{
    static const char *const names[] = {"open", "read", "ioctl", "mmap"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(names[i], name))
            return (enum mock_call)i;
    refuse(line, "fail takes open, read, ioctl or mmap");
}

static void
read_fault(const struct line *line, struct mock_machine *machine)
{
    if (machine->fault_count == MOCK_FAULTS)
        refuse(line, "too many faults");
    machine->faults[machine->fault_count++] = (struct mock_fault){
        .call = call_of(line, word(line, 1)),
        .error = error_of(line, word(line, 2)),
        .type = number_of(line, "type", -2),
        .config = number_of(line, "config", -2),
        .cpu = number_of(line, "cpu", -2),
        .after = (unsigned)number_of(line, "after", 0),
        .times = (unsigned)number_of(line, "times", 0),
    };
}

static void
read_line(const struct line *line, struct mock_machine *machine)
{
    /* What tree.py turns into files. */
    static const char *const others[] = {"format",  "event",   "file",
                                         "seccomp", "tracefs", "watchdog"};
    const char *first = line->words[0];

    if (!strcmp(first, "cpus"))
        read_cpus(line, machine);
    else if (!strcmp(first, "online"))
        machine->online = cpu_list(line, word(line, 1));
    else if (!strcmp(first, "paranoid"))
        machine->paranoid = (int)number(line, word(line, 1));
    else if (!strcmp(first, "capable"))
        machine->capable = !strcmp(word(line, 1), "yes");
    else if (!strcmp(first, "clock"))
        machine->step = strcmp(word(line, 1), "real")
                            ? (uint64_t)number(line, word(line, 2))
                            : 0;
    else if (!strcmp(first, "without")) {
        machine->without_exclude_guest |= has_word(line, "exclude_guest");
        machine->without_cloexec |= has_word(line, "cloexec");
        machine->without_lost |= has_word(line, "lost");
    } else if (!strcmp(first, "pmu"))
        read_pmu(line, machine);
    else if (!strcmp(first, "rate") || !strcmp(first, "dead"))
        read_rate(line, machine);
    else if (!strcmp(first, "fail"))
        read_fault(line, machine);
    else {
        for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            if (!strcmp(first, others[i]))
                return;
        refuse(line, "unknown word");
    }
}

static void
split(char *text, struct line *line)
{
    char *rest = NULL;

    line->count = 0;
    text[strcspn(text, "#\n")] = '\0';
    for (char *at = strtok_r(text, " \t", &rest); at;
         at = strtok_r(NULL, " \t", &rest)) {
        if (line->count == WORDS)
            refuse(line, "too many words");
        line->words[line->count++] = at;
    }
}

void
mock_script_read(const char *path, struct mock_machine *machine)
{
    struct line line = {.path = path};
    char text[1024];
    FILE *file = fopen(path, "re");

    *machine = (struct mock_machine){
        .cpu_count = 1, .paranoid = -1, .capable = true, .step = 1000000};
    CPU_SET(0, &machine->online);
    if (!file)
        refuse(&line, strerror(errno));
    while (fgets(text, sizeof(text), file)) {
        line.number++;
        split(text, &line);
        if (line.count)
            read_line(&line, machine);
    }
    fclose(file);
}
