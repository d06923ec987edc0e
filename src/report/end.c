/* SPDX-License-Identifier: MIT */
/* Prints how a program ended, in the report for people. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/escape.h"
#include "report/count_report.h"

static void
print(const struct count_report *r, const struct count_illegal *i, FILE *out)
{
    const bool child = i->process != r->last->processes;

    escape_printf(out, "  %s%sit died of %s", child ? i->process->program : "",
                  child ? ": " : "", i->known ? i->text : i->bytes);
    if (i->set[0] != '\0')
        escape_printf(out, " (%s)", i->set);
    fprintf(out, " at 0x%" PRIx64, i->pc);
    if (i->library)
        escape_printf(out, " (0x%" PRIx64 " of %s)", i->file_address, i->file);
    else if (i->process->load_bias != 0)
        fprintf(out, " (0x%" PRIx64 " of the file)", i->file_address);
    if (i->function[0] != '\0')
        escape_printf(out, " in %s", i->function);
    if (i->trap)
        escape_printf(out, ", which is made to fail%s\n",
                      strcmp(i->text, "ud2") == 0
                          ? ": compilers put it where a program must not come "
                            "(__builtin_trap)"
                          : "");
    else if (!i->known)
        fprintf(out, ", no x86-64 instruction\n");
    else if (i->set[0] == '\0')
        fprintf(out, ", which QEMU lacks, or which is no instruction\n");
    else
        escape_printf(out, ", which QEMU as %s lacks\n", r->cpu_name);
    if (i->advice[0] != '\0')
        escape_printf(out, "  what helps: %s\n", i->advice);
}

void
report_end_text(const struct count_report *r, FILE *out)
{
    const int status = r->last->status;
    char text[64];

    report_status(status, text, sizeof(text));
    if (*text != '\0')
        escape_printf(out, "  the program %s%s\n",
                      WIFSIGNALED(status) ? "was " : "", text);
    if (r->illegal != NULL)
        print(r, r->illegal, out);
    else if (r->isa != NULL && WIFSIGNALED(status) &&
             WTERMSIG(status) == SIGILL)
        fprintf(out, "  no illegal instruction of its own was seen: it sent "
                     "itself the signal, or another process did\n");
}
