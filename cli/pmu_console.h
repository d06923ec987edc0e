/* SPDX-License-Identifier: MIT */
/*
 * The console of tally-pmu(1): takes lines, works on a monitor of tally/pmu.h,
 * and hands over what came of each. It neither prints nor exits; the command
 * and the fuzz target are around it.
 */
#ifndef TALLY_CLI_PMU_CONSOLE_H
#define TALLY_CLI_PMU_CONSOLE_H

#include <stdio.h>

#include "cli/pmu_words.h"
#include "table/table.h"
#include "tally/pmu.h"

enum pmu_verdict {
    PMU_NOTHING, /* a comment, an empty line */
    PMU_DONE,
    PMU_UNMET, /* the result is not the one that the line expects */
    PMU_WRONG, /* the line cannot be carried out: `message` */
};

struct pmu_result {
    enum pmu_verdict verdict;
    unsigned long line;  /* its number */
    const char *row;     /* NAME=VALUE of the loops around it; "": none */
    const char *command; /* NULL: unknown */
    char name[128];      /* register, or what else was named; "": nothing */
    bool has_value;      /* what a read or a call gave */
    uint64_t value;
    uint32_t traps;      /* pending of the strand, afterwards */
    char text[PMU_LINE]; /* the result in words */
    const char *wanted;  /* "": nothing was expected */
    char message[2 * PMU_LINE];
};

struct pmu_console {
    const struct machine_row *machine; /* NULL: none yet */
    struct tally_pmu_options options;
    struct tally_pmu *pmu, *saved; /* `saved` is valid if has_saved */
    bool has_saved;
    /* A line lacked memory, and was told of as wrong; the rest of the line, or
     * of its loop, was not carried out. The caller clears the flag. */
    bool no_memory;
    unsigned strand;       /* of lines that name none */
    unsigned long line;    /* lines so far; the caller counts those it keeps */
    struct pmu_loop *loop; /* being read; NULL: none */
    size_t loop_steps;     /* lines that a loop carries out at most */
    /* Called for each result; it lives until the function returns. */
    void (*tell)(void *user, const struct pmu_result *result);
    /* Opens a file that a line names, for reading; NULL with errno set. A
     * console without this function reads none. */
    FILE *(*open_file)(void *user, const char *path);
    void *user;
};

struct pmu_verb {
    const char *name, *words, *brief;
};

/* All commands, the last with a NULL name. */
const struct pmu_verb *pmu_verb(size_t index);

struct pmu_loop;

/* A console without a machine. */
void pmu_console_init(struct pmu_console *console,
                      void (*tell)(void *user, const struct pmu_result *result),
                      void *user);
void pmu_console_finish(struct pmu_console *console);

/* Makes the monitor of a machine anew; 0 or an error, logged. */
int pmu_console_machine(struct pmu_console *console,
                        const struct tally_pmu_options *options,
                        const struct tally_log *log);

/* Carries out the next line, at the end of a loop the loop; the worst verdict
 * of what it told. */
enum pmu_verdict
pmu_console_line(struct pmu_console *console, const char *text);

/* No more lines come; tells of a loop without its end. */
enum pmu_verdict pmu_console_end(struct pmu_console *console);

/* The names of trap bits, by commas; "none". */
void pmu_traps_text(uint32_t traps, char *text, size_t size);

#endif
