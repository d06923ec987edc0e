/* SPDX-License-Identifier: MIT */
/* children N P: N children, 20 at a time, each touches P pages and ends. */
#include <sys/wait.h>

#include "touch.h"

#define AT_ONCE 20

int
main(int argc, char **argv)
{
    const size_t n = number(argv, argc, 1), pages = number(argv, argc, 2);
    char *area = pages_map(pages);

    for (size_t i = 0; i < n; i++) {
        const pid_t child = fork();
        if (child < 0)
            return 9;
        if (child == 0) {
            pages_touch(area, 0, pages);
            _exit(0);
        }
        if (i >= AT_ONCE)
            wait(NULL);
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
