/* SPDX-License-Identifier: MIT */
#include "ref/dump_ref.h"

#include <inttypes.h>
#include <string.h>

#define LINE_SIZE 4096

static bool
is_end(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* The user words behind the ninth field. */
static bool
read_words(const char *text, struct dump_record *r)
{
    int used = 0;

    r->word_count = 0;
    while (sscanf(text, ",%" SCNx64 "%n", &r->words[r->word_count], &used) ==
           1) {
        text += used;
        if (++r->word_count == DUMP_WORDS)
            break;
    }
    return is_end(text);
}

static bool
read_line(const char *line, struct dump_record *r)
{
    int used = 0;

    *r = (struct dump_record){.overrun = strncmp(line, "-1", 2) == 0};
    if (r->overrun)
        line += line[2] == ',' ? 3 : 2;
    if (sscanf(line,
               "%" SCNx64 ",%" SCNx64 ",%" SCNx64 ",%" SCNx64 ",%" SCNx64
               ",%" SCNx64 ",%" SCNx64 ",%" SCNx64 "%n",
               &r->cpu, &r->caller, &r->call, &r->cycles, &r->pc, &r->group,
               &r->hi, &r->lo, &used) != 8)
        return false;
    line += used;
    if (r->call == DUMP_CALL_START)
        return is_end(line);
    if (r->call != DUMP_CALL_UPDATE ||
        sscanf(line, ",%" SCNx64 "%n", &r->overflow, &used) != 1)
        return false;
    return read_words(line + used, r);
}

void
dump_ref_read(FILE *file,
              void (*take)(void *user, const struct dump_record *record),
              void *user)
{
    char line[LINE_SIZE];
    struct dump_record record;
    bool inside = false;

    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "TEJA_PROFILE_DUMP_START," DUMP_VERSION, 30) == 0)
            inside = true;
        else if (strncmp(line, "TEJA_PROFILE_DUMP_END", 21) == 0)
            inside = false;
        else if (inside && read_line(line, &record))
            take(user, &record);
    }
}
