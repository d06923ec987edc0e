/* SPDX-License-Identifier: MIT */
/* Any bytes as a list of selections, which is then planned; the first byte
 * chooses the machine. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "table/plan.h"

/* More are planned group by group, which tests do; here it would be slow. */
#define PLANNED_MAX 8

/* What was read is written so that it reads back the same. */
static void
check_text(const struct selection *s)
{
    char text[SELECTION_TEXT];
    struct selection back;

    selection_text(s, text, sizeof(text));
    fuzz_check(strlen(text) + 1 < sizeof(text));
    fuzz_check(selection_parse(s->machine, text, strlen(text), NULL, &back) ==
               0);
    fuzz_check(back.event == s->event && back.sl == s->sl &&
               back.mask == s->mask && back.unit == s->unit &&
               back.umask_value == s->umask_value &&
               back.instance == s->instance && back.off == s->off);
    fuzz_check(memcmp(back.values, s->values, sizeof(back.values)) == 0);
}

static void
check_plan(const struct selection *list, size_t count,
           const struct tally_log *log)
{
    struct write_list writes;
    struct plan plan;

    if (count > PLANNED_MAX || plan_make(list, count, log, &plan) != 0)
        return;
    fuzz_check(plan.group_count > 0 && plan.group_count <= count);
    for (size_t i = 0; i < plan.group_count; i++)
        plan_encode(list, count, &plan, i, &writes);
    plan_finish(&plan);
}

static void
parse(const struct machine_row *machine, const char *text,
      const struct tally_log *log)
{
    struct selection *list = NULL;
    size_t count = 0;
    const int error = selection_list_parse(machine, text, log, &list, &count);

    fuzz_check((error == 0) == (count > 0));
    fuzz_check((error == 0) == (list != NULL));
    for (size_t i = 0; i < count; i++)
        check_text(&list[i]);
    if (error == 0)
        check_plan(list, count, log);
    free(list);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_log log = {.write = fuzz_hear};

    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    parse(&tally_machines[data[0] % MACHINE_COUNT], text, &log);
    free(text);
    return 0;
}
