/* SPDX-License-Identifier: MIT */
#include "record/run_note.h"

#include <string.h>
#include <sys/wait.h>

#include "profile/session.h"

void
run_note_write(const struct record *record, const char *indent, FILE *out)
{
    if (!record->cut && WIFSIGNALED(record->status)) {
        const char *const name = sigabbrev_np(WTERMSIG(record->status));
        fprintf(out, "%sthe program was killed by SIG%s\n", indent,
                name != NULL ? name : "?");
    }
    if (record->trace != NULL &&
        strcmp(record->trace, trace_part_name(TRACE_PART_ASKED)) == 0)
        fprintf(out,
                "%sof a trace that has a part of the run; caches were empty "
                "where the part begins\n",
                indent);
    if (record->trace != NULL &&
        strcmp(record->trace, trace_part_name(TRACE_PART_EARLY)) == 0)
        fprintf(out, "%sof a trace that ends before its program\n", indent);
    if (record->moves.count != 0)
        fprintf(out,
                "%sthe caches saw data of %u object%s at other addresses than "
                "the program has (--move)\n",
                indent, record->moves.count,
                record->moves.count == 1 ? "" : "s");
    if (record->left_early)
        fprintf(out,
                "%sa signal, or a write to a block's own page, left a block of "
                "code before its end:\n%scounts are estimated\n",
                indent, indent);
}

/* The member and the words of each reason why another run may differ. */
static const struct {
    enum session_varies reason;
    const char *member, *words;
} reasons[] = {
    {SESSION_BESIDE, "side_by_side", "threads or processes ran side by side"},
    {SESSION_OUTSIDE, "outside", "something outside ended a wait"},
    {SESSION_SIGNALLED, "signalled", "a signal came from outside"},
};

const char *
run_note_reason(unsigned varies)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if ((varies & reasons[i].reason) != 0)
            return reasons[i].words;
    }
    return NULL;
}

void
run_note_set(json_t *object, unsigned varies)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        json_object_set_new(object, reasons[i].member,
                            json_boolean((varies & reasons[i].reason) != 0));
}

unsigned
run_note_get(const json_t *object)
{
    unsigned varies = 0;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (json_is_true(json_object_get(object, reasons[i].member)))
            varies |= reasons[i].reason;
    }
    return varies;
}

void
run_note_varies(unsigned varies, const char *indent, const char *end, FILE *out)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if ((varies & reasons[i].reason) != 0)
            fprintf(out, "%s%s: %s\n", indent, reasons[i].words, end);
    }
}
