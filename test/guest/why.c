/* SPDX-License-Identifier: MIT */
/*
 * why FORM [N]: accesses whose misses, and the reasons of these, follow from
 * arithmetic, for an L1D of 32 KB in 8 ways with lines of 64 bytes: 64 sets.
 *   columns  a matrix whose rows are 4 KB apart, by columns
 *   chase    a list of 4096 lines, made and walked in one order far from that
 *            of addresses
 *   values   the same list, whose values are loaded before where it goes on
 *   loop     10 passes over N lines that follow each other
 *   mixed    300 passes over 600 lines, then 10 over 2100
 *   pair     two arrays by turns, each of one line for each of 64 sets
 *   fork     a child goes by columns, and the program waits for it
 *   exec     executes itself for the form columns
 *   status   by columns, and exits with N
 *   killed   by columns, and kills itself
 * Each walk is of one function that keeps all else in registers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64
#define ROWS 16
#define COLUMNS 512
#define NODES 4096
#define PASSES 3
#define APART __attribute__((noinline, noclone))
#define PAGE __attribute__((aligned(4096)))

struct node {
    struct node *next;
    long value;
    char rest[LINE - sizeof(struct node *) - sizeof(long)];
};

static volatile long matrix[ROWS][COLUMNS] PAGE;
static struct node nodes[NODES] PAGE;
static volatile char lines[65536][LINE] PAGE;
static volatile long left[COLUMNS] PAGE, right[COLUMNS] PAGE;

APART static void
go_by_columns(void)
{
    for (int column = 0; column < COLUMNS; column++)
        for (int row = 0; row < ROWS; row++)
            (void)matrix[row][column]; /* LINE columns */
}

/* Makes a list whose order is far from that of addresses; without a call, which
 * would ask for a line of the stack. */
static inline __attribute__((always_inline)) void
make_list(void)
{
    unsigned at = 0;

    for (int i = 1; i < NODES; i++) {
        const unsigned next = (unsigned)i * 2654435761u % NODES;
        *(struct node *volatile *)&nodes[at].next =
            &nodes[next]; /* LINE make */
        at = next;
    }
    *(struct node *volatile *)&nodes[at].next = NULL;
}

APART static void
chase(void)
{
    make_list();
    for (int pass = 0; pass < PASSES; pass++)
        for (struct node *n = nodes; n != NULL;)
            n = *(struct node *volatile *)&n->next; /* LINE follow */
}

APART static void
add_values(void)
{
    make_list();
    for (int pass = 0; pass < PASSES; pass++) {
        for (struct node *n = nodes; n != NULL;) {
            (void)*(volatile long *)&n->value;      /* LINE value */
            n = *(struct node *volatile *)&n->next; /* LINE next */
        }
    }
}

APART static void
loop(int count, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < count; i++)
            (void)lines[i][0];
}

APART static void
take_turns(void)
{
    for (int i = 0; i < COLUMNS; i++) {
        (void)left[i];  /* LINE left */
        (void)right[i]; /* LINE right */
    }
}

static void
fork_child(void)
{
    const pid_t child = fork();

    if (child == 0) {
        go_by_columns();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int
main(int argc, char **argv)
{
    const char *const form = argc > 1 ? argv[1] : "";

    if (strcmp(form, "chase") == 0) {
        chase();
    } else if (strcmp(form, "values") == 0) {
        add_values();
    } else if (strcmp(form, "loop") == 0 && argc > 2) {
        loop(atoi(argv[2]), 10);
    } else if (strcmp(form, "mixed") == 0) {
        loop(600, 300);
        loop(2100, 10);
    } else if (strcmp(form, "pair") == 0) {
        take_turns();
    } else if (strcmp(form, "fork") == 0) {
        fork_child();
    } else if (strcmp(form, "exec") == 0) {
        execl(argv[0], argv[0], "columns", (char *)NULL);
        return 1;
    } else {
        go_by_columns();
    }
    if (strcmp(form, "killed") == 0)
        raise(SIGKILL);
    puts("done");
    return strcmp(form, "status") == 0 && argc > 2 ? atoi(argv[2]) : 0;
}
