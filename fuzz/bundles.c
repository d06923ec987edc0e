/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file of IA-64 bundles, which a Montecito's monitor retires; a
 * wrong file retires nothing, and a right one the same as before.
 */
#include "cli/pmu_console.h"

#include "fuzz/fuzz.h"

/* PMD4 counts retired instructions of PMC4. */
#define COUNTER "PMD4"

struct heard {
    bool wrong;
    char text[sizeof(((struct pmu_result *)0)->text)]; /* the last answer */
};

struct file {
    const void *bytes;
    size_t size;
    struct heard heard;
};

static void
tell(void *user, const struct pmu_result *r)
{
    struct file *const f = user;

    fuzz_hear(NULL, TALLY_LOG_INFO,
              r->verdict == PMU_WRONG ? r->message : r->text);
    f->heard.wrong = r->verdict == PMU_WRONG;
    memcpy(f->heard.text, r->text, sizeof(r->text));
}

static FILE *
open_file(void *user, const char *path)
{
    const struct file *const f = user;

    (void)path;
    return f->size > 0 ? fmemopen((void *)(uintptr_t)f->bytes, f->size, "r")
                       : NULL;
}

static struct heard
say(struct pmu_console *console, struct file *f, const char *line)
{
    char copy[64];

    snprintf(copy, sizeof(copy), "%s", line);
    f->heard = (struct heard){0};
    (void)pmu_console_line(console, copy);
    return f->heard;
}

/* Returns the counter's value. */
static uint64_t
counted(struct pmu_console *console, struct file *f)
{
    const struct heard h = say(console, f, "read " COUNTER);

    fuzz_check(!h.wrong);
    return strtoull(h.text, NULL, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file f = {data, size, {0}};
    struct tally_pmu_options options;
    struct pmu_console console;

    pmu_console_init(&console, tell, &f);
    console.open_file = open_file;
    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "montecito";
    fuzz_check(pmu_console_machine(&console, &options, NULL) == 0);
    fuzz_check(!say(&console, &f, "write PMC0 0").wrong);
    fuzz_check(!say(&console, &f, "write PMC4 0x80f").wrong);
    const uint64_t before = counted(&console, &f);
    const bool wrong = say(&console, &f, "bundles f").wrong;
    const uint64_t once = counted(&console, &f) - before;
    fuzz_check(!wrong || once == 0);
    fuzz_check(say(&console, &f, "bundles f").wrong == wrong);
    fuzz_check(counted(&console, &f) - before == 2 * once);
    pmu_console_finish(&console);
    return 0;
}
