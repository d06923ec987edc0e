/* SPDX-License-Identifier: MIT */
/* tally-ecadmin: which events the whole system counts, as IRIX's ecadmin. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "ec.h"
#include "sys/syssgi.h"

#define NAME "tally-ecadmin"
#define MODES (VIRTUAL_USER | VIRTUAL_KERNEL)

static void
print_usage(FILE *out)
{
    fprintf(out,
            "usage: " NAME " [-aDlMr] [-d EVENT,...] [-e EVENT,...]\n\n"
            "  -a          enable all events that this host has\n"
            "  -d EVENTS   disable these, by number or name\n"
            "  -e EVENTS   enable these; ? lists all there are\n"
            "  -l          list those that are enabled\n"
            "  -M          allow processors of several kinds (there is one)\n"
            "  -r          release the counters\n"
            "  -D          say what is asked of the system\n"
            "  -h          this\n\n"
            "example:\n  " NAME " -e 0,15 && tally-ecstats -s 1 1\n");
}

static void
list_known(int processor)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        char name[64];
        ec_name(processor, i, name, sizeof(name));
        printf("%2u %s\n", i, name);
    }
}

static uint16_t
spec_of(int processor, unsigned event)
{
    const unsigned number =
        processor == 12000 ? event : event % HWPERF_CNT1BASE;

    return (uint16_t)(number << 5 | VIRTUAL_INTERRUPT | MODES);
}

/* Returns whether this host has it: by asking. */
static bool
is_here(int processor, unsigned event)
{
    hwperf_profevctrarg_t args;

    memset(&args, 0, sizeof(args));
    args.hwp_evctrargs.hwp_evctrl[event].hwperf_spec =
        (short)spec_of(processor, event);
    if (syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &args) < 0)
        return false;
    syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS);
    return true;
}

/* Marks the events of a list. 0, or 2 with a message. */
static int
take_list(int processor, char option, char *list, bool *marks)
{
    for (char *rest = list, *word; (word = strsep(&rest, ",")) != NULL;) {
        const int event = ec_find(processor, word);
        if (event < 0) {
            escape_printf(stderr,
                          NAME ": -%c: no event '%s'; " NAME
                               " -e '?' lists them\n",
                          option, word);
            return 2;
        }
        marks[event] = true;
    }
    return 0;
}

struct request {
    bool all, list, release, talk, known;
    bool enable[VIRTUAL_EVENTS], disable[VIRTUAL_EVENTS];
};

static int
read_request(int argc, char **argv, int processor, struct request *r)
{
    int option, status = 0;

    while (status == 0 && (option = getopt(argc, argv, "+aDlMrd:e:h")) != -1)
        switch (option) {
        case 'a':
            r->all = true;
            break;
        case 'D':
            r->talk = true;
            break;
        case 'l':
            r->list = true;
            break;
        case 'M':
            break;
        case 'r':
            r->release = true;
            break;
        case 'd':
            status = take_list(processor, 'd', optarg, r->disable);
            break;
        case 'e':
            r->known = r->known || strcmp(optarg, "?") == 0;
            r->all = r->all || strcmp(optarg, "*") == 0;
            if (strcmp(optarg, "?") != 0 && strcmp(optarg, "*") != 0)
                status = take_list(processor, 'e', optarg, r->enable);
            break;
        case 'h':
            print_usage(stdout);
            exit(0);
        default:
            return 2;
        }
    if (status == 0 && (optind < argc || argc == 1)) {
        print_usage(stderr);
        status = 2;
    }
    return status;
}

static int
list_enabled(void)
{
    struct ec_counts counts;
    bool kept = false;
    struct ec_state *s = ec_open(NAME, false, &kept);

    if (s == NULL)
        return 1;
    if (!kept) {
        fprintf(stderr, NAME ": no event counters are enabled\n");
        return 1;
    }
    if (!ec_read(s, &counts))
        return ec_unreadable(NAME);
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        char name[64];
        if (counts.spec[i] == 0)
            continue;
        ec_name(s->processor, i, name, sizeof(name));
        printf("%2u %s\n", i, name);
    }
    return 0;
}

/* What shall be counted from now on; false: what is counted cannot be read. */
static bool
make_wanted(const struct request *r, struct ec_state *s, bool kept,
            uint16_t wanted[VIRTUAL_EVENTS])
{
    struct ec_counts counts = {0};

    if (kept && !r->release && !ec_read(s, &counts))
        return false;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const bool more = r->enable[i] || (r->all && is_here(s->processor, i));
        wanted[i] = r->release || r->disable[i] ? 0
                    : more                      ? spec_of(s->processor, i)
                                                : counts.spec[i];
    }
    return true;
}

static int
change(const struct request *r)
{
    uint16_t wanted[VIRTUAL_EVENTS];
    bool kept = false, any = false;

    if (geteuid() != 0) {
        fprintf(stderr, NAME ": only root changes global event counters\n");
        return 1;
    }
    struct ec_state *s = ec_open(NAME, true, &kept);
    if (s == NULL)
        return 1;
    if (!make_wanted(r, s, kept, wanted))
        return ec_unreadable(NAME);
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        any = any || wanted[i] != 0;
    if (!any && !kept) {
        ec_remove();
        return 0; /* there is nothing to release */
    }
    if (r->talk)
        fprintf(stderr, NAME ": %s\n",
                !any   ? "HWPERF_RELSYSCNTRS"
                : kept ? "HWPERF_SET_SYSEVCTRL"
                       : "HWPERF_ENSYSCNTRS");
    if (!kept && ec_keep(s) != 0) {
        fprintf(stderr, NAME ": cannot fork: %s\n", strerror(errno));
        ec_remove();
        return 1;
    }
    const int error = ec_ask(s, wanted);
    /* Nobody keeps counters that were released or never there; a keeper that
     * did not answer in time may still come. */
    if (error == 0 ? !any : !kept && error != ETIMEDOUT)
        ec_remove();
    if (error != 0)
        fprintf(stderr, NAME ": the system refuses: %s\n", strerror(error));
    return error == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
    struct request r = {0};
    const int processor = irix_processor();
    int status = read_request(argc, argv, processor, &r);

    if (status != 0)
        return status;
    if (r.known) {
        list_known(processor);
        return 0;
    }
    bool changes = r.all || r.release;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        changes = changes || r.enable[i] || r.disable[i];
    if (changes)
        status = change(&r);
    return status == 0 && r.list ? list_enabled() : status;
}
