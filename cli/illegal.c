/* SPDX-License-Identifier: MIT */
#include "cli/illegal.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/illegal_sets.h"
#include "cli/output.h"
#include "host/open.h"

static const struct illegal_set *
find_set(const char *zydis)
{
    for (const struct illegal_set *s = illegal_sets; s->prefix != NULL; s++) {
        if (strncmp(zydis, s->prefix, strlen(s->prefix)) == 0)
            return s;
    }
    return NULL;
}

/* Returns whether this host's processor has a feature, by its name in
 * /proc/cpuinfo. */
static bool
host_has(const char *flag)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192], word[32];
    bool has = false;

    snprintf(word, sizeof(word), " %s ", flag);
    while (file != NULL && !has && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        line[strcspn(line, "\n")] = ' ';
        has = strstr(line, word) != NULL;
        break;
    }
    if (file != NULL)
        fclose(file);
    return has;
}

static bool
host_counts(void)
{
    struct host_reason reason;

    return host_check(&reason) == HOST_OK;
}

/* Adds one thing that helps, after others. */
static void
add_mend(char *text, size_t size, const char *mend)
{
    const size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used > 0 ? ", or " : "", mend);
}

/* Writes the advice for a program that needs the instruction set; none for
 * NULL, a set that no option of a compiler leaves out. */
static void
advise(const struct illegal_set *set, const char *cpu,
       struct count_illegal *illegal)
{
    char *text = illegal->advice;
    const size_t size = sizeof(illegal->advice);

    if (set == NULL) {
        if (cpu != NULL && strcmp(cpu, "max") != 0)
            add_mend(text, size, "leave --cpu-model out");
        return;
    }
    add_mend(text, size, set->advice);
    if (set->max && (cpu == NULL || strcmp(cpu, "max") != 0))
        add_mend(text, size, "show it all that QEMU has (--cpu-model max)");
    if (host_has(set->flag) && host_counts())
        add_mend(text, size, "count it on this host (-m host)");
}

/* Names the file and the function that hold the instruction: by the file that
 * was mapped there, or else by the program's own. */
static void
name_place(const struct session_illegal *s,
           const struct session_process *process, struct count_illegal *illegal)
{
    struct program_functions functions = {0};
    const uint64_t address =
        s->file[0] != '\0' ? program_address(s->file, s->offset) : UINT64_MAX;
    const bool known = address != UINT64_MAX;

    illegal->file_address = known ? address : s->pc - process->load_bias;
    if (known) {
        memcpy(illegal->file, s->file, sizeof(illegal->file));
        illegal->library = strcmp(s->file, process->program) != 0 &&
                           !same_file(s->file, process->program);
    }
    program_functions(known ? s->file : process->program, &functions);
    const char *found = program_function_at(&functions, illegal->file_address);
    snprintf(illegal->function, sizeof(illegal->function), "%s",
             found != NULL ? found : "");
    program_functions_finish(&functions);
}

bool
illegal_explain(const struct session_result *result, const struct isa *isa,
                const char *cpu, struct count_illegal *illegal)
{
    const struct session_illegal *s = &result->illegal;
    struct insn insn;

    memset(illegal, 0, sizeof(*illegal));
    if (!s->found)
        return false;
    insn_decode(isa, s->bytes, s->size, s->pc, &insn);
    const char *name = insn_set(isa, s->bytes, s->size);
    illegal->trap = name != NULL && (insn.flags & INSN_ILLEGAL) != 0;
    /* QEMU has what all x86-64 processors have: the signal came from outside,
     * and this only happens to be where it ended a block. */
    if (name != NULL && *name == '\0' && !illegal->trap)
        return false;

    const struct session_process *process = &result->processes[s->process];
    const struct illegal_set *set = name != NULL ? find_set(name) : NULL;
    illegal->process = process;
    illegal->pc = s->pc;
    insn_text(isa, s->bytes, s->size, s->pc, illegal->text,
              sizeof(illegal->text));
    illegal->known = isa_decoder(isa)->set == NULL || name != NULL;
    if (!illegal->trap && name != NULL) {
        snprintf(illegal->set, sizeof(illegal->set), "%s",
                 set != NULL ? set->name : name);
        advise(set, cpu, illegal);
    }
    const size_t size = illegal->known && insn.size != 0
                            ? insn.size
                            : insn_bad_size(isa, s->bytes, s->size);
    for (size_t i = 0; i < size; i++)
        snprintf(illegal->bytes + 2 * i, 3, "%02x", s->bytes[i]);
    name_place(s, process, illegal);
    return true;
}

void
illegal_level_text(char *text, size_t size)
{
    const struct illegal_set *set = find_set("AVX512F");

    snprintf(text, size, "needs x86-64-v4 (AVX-512), which no QEMU has: %s%s",
             set->advice,
             host_has(set->flag) && host_counts()
                 ? ", or count it on this host (-m host)"
                 : "");
}

int
illegal_check_level(const struct program *program, bool talks)
{
    char text[200];

    if ((program->levels & PROGRAM_V4) == 0)
        return 0;
    illegal_level_text(text, sizeof(text));
    if (program->loader[0] != '\0')
        return tally_fail(&command_log, TALLY_EARCH, "%s: %s", program->path,
                          text);
    if (talks)
        escape_printf(stderr, "tally: %s: its file says that it %s\n",
                      program->path, text);
    return 0;
}
