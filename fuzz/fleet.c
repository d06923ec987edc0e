/* SPDX-License-Identifier: MIT */
/* Whatever text as a report for monitoring: of tally check, or of tally count
 * -j. What is written of it keeps to the format, line by line. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/metrics.h"
#include "fuzz/fuzz.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

/* Returns the end of a name, which is at `text` if there is one. */
static const char *
pass_name(const char *text)
{
    return text + strspn(text, "abcdefghijklmnopqrstuvwxyz_");
}

/* Returns what is behind the value of a label, which begins at `text`. */
static const char *
pass_value(const char *text)
{
    fuzz_check(*text == '"');
    for (text++; *text != '"'; text++) {
        fuzz_check((unsigned char)*text >= ' ');
        if (*text == '\\') {
            text++;
            fuzz_check(*text == '\\' || *text == '"');
        }
    }
    return text + 1;
}

/* Checks a line of a sample: a name, labels, a number. */
static void
check_sample(const char *line)
{
    const char *at = pass_name(line);
    char *end;

    fuzz_check(strncmp(line, "tally_", 6) == 0);
    if (*at == '{') {
        do {
            const char *const name = at + 1;
            at = pass_name(name);
            fuzz_check(at > name && *at == '=');
            at = pass_value(at + 1);
        } while (*at == ',');
        fuzz_check(*at == '}');
        at++;
    }
    fuzz_check(*at == ' ');
    strtod(at + 1, &end);
    fuzz_check(end > at + 1 && *end == '\0');
}

static void
check_text(char *text)
{
    bool ended = false;

    for (char *line = strtok(text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        fuzz_check(!ended);
        ended = strcmp(line, "# EOF") == 0;
        if (line[0] != '#')
            check_sample(line);
        else
            fuzz_check(ended || strncmp(line, "# TYPE tally_", 13) == 0 ||
                       strncmp(line, "# UNIT tally_", 13) == 0 ||
                       strncmp(line, "# HELP tally_", 13) == 0);
    }
    fuzz_check(ended);
}

/* Adds the report. Returns whether it is one. */
static bool
add(struct exposition *e, const char *text, size_t size)
{
    struct fleet_results results = {0};
    struct count_document *document = NULL;

    if (fleet_document_kind(text, size) == FLEET_CHECK) {
        if (fleet_results_read_text(text, size, "input", &hear, &results) != 0)
            return false;
        fleet_add_results(e, &results);
        fleet_results_finish(&results);
        return true;
    }
    if (count_document_read(text, size, "input", &hear, &document) != 0)
        return false;
    fleet_add_count(e, document);
    count_document_destroy(document);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct exposition *e = NULL;
    char *text = NULL;
    size_t length;

    fuzz_check(fleet_metrics_create("1", &e) == 0);
    if (add(e, (const char *)data, size)) {
        FILE *const out = open_memstream(&text, &length);
        fuzz_check(out != NULL);
        fuzz_check(exposition_write(e, EXPOSITION_OPENMETRICS, out) == 0);
        fclose(out);
        check_text(text);
        free(text);
    }
    exposition_destroy(e);
    return 0;
}
