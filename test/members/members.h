/* SPDX-License-Identifier: MIT */
/* Structures whose members members.c goes through. */
#ifndef TALLY_TEST_MEMBERS_H
#define TALLY_TEST_MEMBERS_H

struct shard {
    long id;
    long count; /* LINE count */
    long sum;   /* LINE sum */
    long rest[5];
};

struct point {
    double x, y; /* LINE point */
};

struct cell {
    long key;
    struct point at[2];
    long unused[3];
};

struct node {
    long value;
    long unused[6];
    struct node *next; /* LINE next */
};

union word {
    long number;
    double real;
};

struct mixed {
    union word both; /* LINE both */
    long unused[6];
    unsigned low : 3, middle : 20, high : 9; /* LINE middle */
    int behind;
};

#endif
