/* SPDX-License-Identifier: MIT */
#include "cli/illegal.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "host/open.h"

#define REBUILD "build it for x86-64-v3 (-march=x86-64-v3)"

/*
 * Sets of instructions that the pinned CPU model lacks: the beginning of
 * Zydis' name, its name for people, its name in /proc/cpuinfo, whether QEMU
 * 7.2 has it in --cpu-model max, and what else helps.
 */
static const struct set {
    const char *zydis, *name, *flag;
    bool max;
    const char *mend;
} sets[] = {
    {"AVX512ER", "AVX-512ER", "avx512er", false, REBUILD},
    {"AVX512", "AVX-512", "avx512f", false, REBUILD},
    {"AMX", "AMX", "amx_tile", false, REBUILD},
    {"AVX_VNNI", "AVX-VNNI", "avx_vnni", false, REBUILD},
    {"AVX_GFNI", "GFNI", "gfni", false, REBUILD},
    {"GFNI", "GFNI", "gfni", false, REBUILD},
    {"VAES", "VAES", "vaes", true, REBUILD},
    {"VPCLMULQDQ", "VPCLMULQDQ", "vpclmulqdq", false, REBUILD},
    {"SHA", "SHA", "sha_ni", false, REBUILD},
    {"ADOX_ADCX", "ADX", "adx", true, REBUILD},
    {"RDSEED", "RDSEED", "rdseed", false, REBUILD},
    {"RTM", "TSX", "rtm", false, REBUILD},
    {"SSE4A", "SSE4A", "sse4a", true, REBUILD},
    {"XOP", "XOP", "xop", false, REBUILD},
    {"FMA4", "FMA4", "fma4", false, REBUILD},
    {"TBM", "TBM", "tbm", false, REBUILD},
    {"AMD3DNOW", "3DNow!", "3dnow", true, REBUILD},
    {"CLWB", "CLWB", "clwb", true, NULL},
    {"CLFLUSHOPT", "CLFLUSHOPT", "clflushopt", true, NULL},
    {"RDPID", "RDPID", "rdpid", false, NULL},
    {"PKU", "PKU", "pku", true, NULL},
};

#define SETS (sizeof(sets) / sizeof(sets[0]))

static const struct set *
find_set(const char *zydis)
{
    for (size_t i = 0; i < SETS; i++) {
        if (strncmp(zydis, sets[i].zydis, strlen(sets[i].zydis)) == 0)
            return &sets[i];
    }
    return NULL;
}

/* Whether this host's processor has a feature, by its name in /proc/cpuinfo. */
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

static void
advise(const struct set *set, const char *cpu, struct count_illegal *illegal)
{
    char *text = illegal->advice;
    const size_t size = sizeof(illegal->advice);

    if (set == NULL) {
        if (cpu != NULL && strcmp(cpu, "max") != 0)
            add_mend(text, size, "leave --cpu-model out");
        return;
    }
    if (set->mend != NULL)
        add_mend(text, size, set->mend);
    if (set->max && (cpu == NULL || strcmp(cpu, "max") != 0))
        add_mend(text, size, "show it all that QEMU has (--cpu-model max)");
    if (host_has(set->flag) && host_counts())
        add_mend(text, size, "count it on this host (-m host)");
}

/* The function that holds the address, where the program's file names it. */
static void
name_function(const struct session_process *process, uint64_t pc, char *name,
              size_t size)
{
    struct program_functions functions = {0};

    program_functions(process->program, &functions);
    const char *found =
        program_function_at(&functions, pc - process->load_bias);
    snprintf(name, size, "%s", found != NULL ? found : "");
    program_functions_finish(&functions);
}

bool
illegal_explain(const struct session_result *result, enum isa isa,
                const char *cpu, struct count_illegal *illegal)
{
    const struct session_illegal *s = &result->illegal;
    struct insn insn;

    memset(illegal, 0, sizeof(*illegal));
    if (!s->found)
        return false;
    insn_decode(isa, s->bytes, s->size, s->pc, &insn);
    const char *name = insn_set(isa, s->bytes, s->size);
    illegal->trap =
        isa == ISA_X86_64 && name != NULL && (insn.flags & INSN_ILLEGAL) != 0;
    /* QEMU has what all x86-64 processors have: the signal came from outside,
     * and this only happens to be where it ended a block. */
    if (name != NULL && *name == '\0' && !illegal->trap)
        return false;

    const struct session_process *process = &result->processes[s->process];
    const struct set *set = name != NULL ? find_set(name) : NULL;
    illegal->process = process;
    illegal->pc = s->pc;
    insn_text(isa, s->bytes, s->size, s->pc, illegal->text,
              sizeof(illegal->text));
    illegal->known = isa != ISA_X86_64 || name != NULL;
    if (!illegal->trap && name != NULL) {
        snprintf(illegal->set, sizeof(illegal->set), "%s",
                 set != NULL ? set->name : name);
        advise(set, cpu, illegal);
    }
    const size_t size = illegal->known && insn.size != 0 ? insn.size : s->size;
    for (size_t i = 0; i < size; i++)
        snprintf(illegal->bytes + 2 * i, 3, "%02x", s->bytes[i]);
    name_function(process, s->pc, illegal->function, sizeof(illegal->function));
    return true;
}

void
illegal_level_text(char *text, size_t size)
{
    snprintf(text, size,
             "needs x86-64-v4 (AVX-512), which no QEMU has: " REBUILD "%s",
             host_has("avx512f") && host_counts()
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
        fprintf(stderr, "tally: %s: its file says that it %s\n", program->path,
                text);
    return 0;
}
