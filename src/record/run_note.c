/* SPDX-License-Identifier: MIT */
#include "record/run_note.h"

#include <string.h>
#include <sys/wait.h>

void
run_note_write(const struct record *record, const char *indent, FILE *out)
{
    if (!record->cut && WIFSIGNALED(record->status)) {
        const char *const name = sigabbrev_np(WTERMSIG(record->status));
        fprintf(out, "%sthe program was killed by SIG%s\n", indent,
                name != NULL ? name : "?");
    }
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
