/* SPDX-License-Identifier: MIT */
/*
 * args: prints its arguments, one a line, and how many environment variables
 * it was given: what reached the program, through exec, PATH and #!.
 */
#include <stdio.h>

extern char **environ;

int
main(int argc, char **argv)
{
    int variables = 0;

    while (environ[variables] != NULL)
        variables++;
    for (int i = 0; i < argc; i++)
        printf("argv[%d] %s\n", i, argv[i]);
    printf("environment %d\n", variables);
    return 0;
}
