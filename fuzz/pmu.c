/* SPDX-License-Identifier: MIT */
/*
 * Any lines to the console of the register models; the first byte chooses the
 * machine.
 */
#include "cli/pmu_console.h"

#include "fuzz/fuzz.h"

/* Whatever is told is one line of printable text. */
static void
tell(void *user, const struct pmu_result *r)
{
    fuzz_check(r->verdict != PMU_NOTHING);
    if (r->verdict == PMU_WRONG)
        fuzz_hear(user, TALLY_LOG_ERROR, r->message);
    else
        fuzz_hear(user, TALLY_LOG_INFO, r->text);
    if (r->name[0] != '\0')
        fuzz_hear(user, TALLY_LOG_INFO, r->name);
    if (r->wanted[0] != '\0')
        fuzz_hear(user, TALLY_LOG_INFO, r->wanted);
    if (r->row[0] != '\0')
        fuzz_hear(user, TALLY_LOG_INFO, r->row);
}

/* A file is what stands from the first "ip," of the input on. */
static FILE *
open_file(void *user, const char *path)
{
    char *const at = strstr(user, "ip,");

    (void)path;
    return at != NULL ? fmemopen(at, strlen(at), "r") : NULL;
}

static void
open_machine(struct pmu_console *console, unsigned choice)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = tally_machines[choice % MACHINE_COUNT].name;
    (void)pmu_console_machine(console, &options, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pmu_console console;
    char *text, *file, *line;

    if (size == 0)
        return 0;
    text = fuzz_text(data + 1, size - 1);
    file = fuzz_text(data + 1, size - 1);
    pmu_console_init(&console, tell, file);
    console.open_file = open_file;
    console.loop_steps = 100; /* a step can be a dump of all registers */
    open_machine(&console, data[0]);
    for (char *next = text; next != NULL;) {
        line = strsep(&next, "\n");
        (void)pmu_console_line(&console, line);
    }
    (void)pmu_console_end(&console);
    free(text);
    free(file);
    pmu_console_finish(&console);
    return 0;
}
