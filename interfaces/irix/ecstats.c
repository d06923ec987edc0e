/* SPDX-License-Identifier: MIT */
/* tally-ecstats: what the whole system counts, as IRIX's ecstats. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/escape.h"
#include "ec.h"

#define NAME "tally-ecstats"
#define INTERVAL_S 5

struct options {
    struct ec_view view;
    long samples; /* 0: forever */
    double interval_s;
};

static void
print_usage(FILE *out)
{
    fprintf(out,
            "usage: " NAME " [-aCDefr] [-s SAMPLES] [INTERVAL]\n\n"
            "  -a          absolute counts; -r: rates a second (the default)\n"
            "  -C          fill the screen; keys a e f r q and ^L\n"
            "  -e          enabled events (the default); -f: all\n"
            "  -s SAMPLES  so many, then end\n"
            "  -D          say of which generation the counts are\n"
            "  -h          this\n\n"
            "INTERVAL is in seconds, 5 unless given. A * marks what is scaled, "
            "because its event\nshared a counter with others.\n\n"
            "example:\n  tally-ecadmin -e 0,15 && " NAME " -s 1 1\n");
}

static bool
read_seconds(const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds >= 0.05 &&
           *seconds <= 1000000;
}

static int
bad(const char *what, const char *value)
{
    escape_printf(stderr, NAME ": %s, not '%s'; see " NAME " -h\n", what,
                  value);
    return 2;
}

static int
read_options(int argc, char **argv, struct options *o)
{
    int option;
    char *end;

    *o = (struct options){.interval_s = INTERVAL_S};
    while ((option = getopt(argc, argv, "+aCDefrs:h")) != -1)
        switch (option) {
        case 'a':
        case 'r':
            o->view.absolute = option == 'a';
            break;
        case 'C':
            o->view.screen = true;
            break;
        case 'D':
            o->view.talk = true;
            break;
        case 'e':
        case 'f':
            o->view.all = option == 'f';
            break;
        case 's':
            o->samples = strtol(optarg, &end, 10);
            if (*end != '\0' || o->samples < 1)
                return bad("-s takes how many samples", optarg);
            break;
        case 'h':
            print_usage(stdout);
            exit(0);
        default:
            return 2;
        }
    if (optind < argc && !read_seconds(argv[optind], &o->interval_s))
        return bad("the interval is 0.05 to 1000000 seconds", argv[optind]);
    if (optind + 1 < argc)
        return bad("there is one interval", argv[optind + 1]);
    return 0;
}

/* Waits, and takes keys where the screen is filled; false: q. */
static bool
wait_keys(struct options *o)
{
    struct pollfd keys = {.fd = o->view.screen ? STDIN_FILENO : -1,
                          .events = POLLIN};
    char key;

    if (poll(&keys, 1, (int)(o->interval_s * 1000)) <= 0 ||
        read(STDIN_FILENO, &key, 1) != 1)
        return true;
    if (key == 'a' || key == 'r')
        o->view.absolute = key == 'a';
    if (key == 'e' || key == 'f')
        o->view.all = key == 'f';
    return key != 'q';
}

int
main(int argc, char **argv)
{
    struct termios old, raw;
    struct options o;
    struct ec_counts from, to;
    bool kept = false;
    const int status = read_options(argc, argv, &o);

    if (status != 0)
        return status;
    struct ec_state *s = ec_open(NAME, false, &kept);
    if (s == NULL)
        return 1;
    if (!kept) {
        fprintf(stderr, NAME ": no event counters are enabled; tally-ecadmin "
                             "-e enables them\n");
        return 1;
    }
    const bool terminal = o.view.screen && tcgetattr(STDIN_FILENO, &old) == 0;
    if (terminal) {
        raw = old;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    bool whole = ec_read(s, &from);
    for (long n = 0;
         whole && (o.samples == 0 || n < o.samples) && wait_keys(&o); n++) {
        whole = ec_read(s, &to);
        if (whole)
            ec_print(stdout, &o.view, s->processor, &from, &to);
        fflush(stdout);
        if (ferror(stdout))
            break;
        from = to;
    }
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSANOW, &old);
    if (!whole)
        return ec_unreadable(NAME);
    return ferror(stdout) ? 1 : 0;
}
