/* SPDX-License-Identifier: MIT */
/* Whatever text as two reports of tally check, split at the first byte 0: what
 * they tell together as text and as a page. */
#include <stdlib.h>
#include <string.h>

#include "check/history.h"
#include "fuzz/fuzz.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

/* Each point is compared with an earlier one of its series, or with none. */
static void
check_series(const struct check_history *h)
{
    for (size_t i = 0; i < h->series_count; i++) {
        const struct check_series *const s = &h->series[i];
        fuzz_check(s->count > 0);
        for (size_t k = 0; k < s->count; k++) {
            const struct check_point *const p = &s->points[k];
            fuzz_check(p->result < h->result_count && p->before <= k);
            fuzz_check(p->before != k || !p->moved);
            fuzz_check(strcmp(s->points[p->before].key, p->key) == 0);
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *const split = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t first = split != NULL ? (size_t)(split - data) : size;
    struct check_history h = {0};

    check_history_add(&h, (const char *)data, first, "b.json", &hear);
    if (split != NULL)
        check_history_add(&h, (const char *)split + 1, size - first - 1,
                          "a.json", &hear);
    if (h.result_count > 0) {
        char *text = NULL;
        size_t length = 0;
        FILE *const out = open_memstream(&text, &length);
        fuzz_check(check_history_order(&h) == 0);
        check_series(&h);
        fuzz_check(out != NULL && check_history_text(&h, out) == 0);
        fuzz_check(check_history_page(&h, out) == 0);
        fclose(out);
        free(text);
    }
    check_history_finish(&h);
    return 0;
}
