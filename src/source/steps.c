/* SPDX-License-Identifier: MIT */
#include "source/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/process_counts.h"

#define WAYS_MOST 64u /* as machine/watched.h writes */

/* Returns whether the words of a step are as many as its kind has. */
static bool
check_words(const struct steps *s, const struct run_step *step, uint32_t kind)
{
    switch (kind) {
    case STEPS_SETS:
        return step->word_count == 2 * s->ways;
    case STEPS_BRANCHES:
        return step->word_count == STEP_BRANCH_WORDS;
    default:
        return true;
    }
}

static bool
check_step(const struct steps *s, const struct run_step *step, uint32_t kind)
{
    const uint32_t words = atomic_load(&s->word_count);
    const uint32_t places = atomic_load(&s->place_count);
    const uint32_t named = kind == STEPS_BUBBLES ? step->size : 1;

    if (step->word > words || step->word_count > words - step->word ||
        step->place > places || step->class >= POINT_CLASSES ||
        step->flags > STEP_FLAGS || !check_words(s, step, kind))
        return false;
    if (step->place != 0 && named > places - (step->place - 1))
        return false;
    for (uint32_t i = 0; kind == STEPS_BUBBLES && i < step->word_count; i++) {
        const uint64_t word = s->words[step->word + i];
        if (STEP_GAIN_SIGNAL(word) >= SIGNAL_COUNT ||
            STEP_GAIN_INSTRUCTION(word) >= step->size)
            return false;
    }
    return true;
}

bool
steps_check(struct steps *s, uint32_t kind)
{
    const uint32_t count = atomic_load(&s->count);
    const uint32_t places = atomic_load(&s->place_count);
    bool good = count <= STEPS_MOST && places <= STEPS_PLACES &&
                atomic_load(&s->word_count) <= STEPS_WORDS &&
                atomic_load(&s->end) < STEPS_ENDS && s->ways <= WAYS_MOST;

    for (uint32_t i = 0; good && i < places; i++)
        good =
            s->places[i].file <= POINT_FILES && s->places[i].size <= POINT_CODE;
    for (uint32_t i = 0; good && i < count; i++)
        good = check_step(s, &s->steps[i], kind);
    for (unsigned i = 0; i < POINT_FILES; i++)
        s->files[i][POINT_PATH - 1] = '\0';
    return good;
}

int
steps_read(int fd, uint32_t kind, struct steps **steps)
{
    const off_t first = (off_t)offsetof(struct session_header, steps);
    struct steps *const s = malloc(sizeof(*s));
    size_t done = 0;

    if (s == NULL)
        return TALLY_ENOMEM;
    while (done < sizeof(*s)) {
        const ssize_t n =
            pread(fd, (char *)s + done, sizeof(*s) - done, first + (off_t)done);
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            free(s);
            return TALLY_ESYSTEM;
        }
        done += (size_t)n;
    }
    if (!steps_check(s, kind)) {
        free(s);
        return TALLY_EPROGRAM;
    }
    *steps = s;
    return 0;
}
