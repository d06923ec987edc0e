/* SPDX-License-Identifier: MIT */
/*
 * Lines as NAME=VALUE of the profiler's properties, by name or by variable of
 * the environment: what is taken is in its bounds, reads back, and what is
 * refused changes nothing and has one message.
 */
#include "fuzz/fuzz.h"
#include "lib/profiler_state.h"

static void
count_message(void *user, enum tally_level level, const char *text)
{
    fuzz_hear_any(user, level, text);
    ++*(unsigned *)user;
}

static void
check_path(const char *path)
{
    char to[64];

    if (profiler_path(path, to, sizeof(to)))
        fuzz_check(strlen(to) < sizeof(to) &&
                   (strstr(path, "%p") != NULL || strcmp(path, to) == 0));
}

static void
check(const struct profiler_properties *p)
{
    fuzz_check(p->log_table_size <= CALL_LOG_SIZE_MAX);
    fuzz_check(p->user_data_size <= DUMP_WORDS);
    fuzz_check(p->counter_bits <= 64);
    fuzz_check(memchr(p->buffer_file, '\0', sizeof(p->buffer_file)) != NULL);
    fuzz_check(memchr(p->dump_file, '\0', sizeof(p->dump_file)) != NULL);
    fuzz_check(memchr(p->events, '\0', sizeof(p->events)) != NULL);
    check_path(p->dump_file);
}

/* Sets one property; then the same by its variable, with the same result. */
static void
set(struct profiler_properties *p, const char *name, const char *value)
{
    static struct profiler_properties before, by_variable;
    unsigned messages = 0;
    const struct tally_log log = {count_message, &messages};
    char variable[PROFILER_VARIABLE];

    before = by_variable = *p;
    const int error = profiler_property(p, name, name, value, &log);
    fuzz_check(messages == (error != 0));
    fuzz_check(error == 0 || memcmp(p, &before, sizeof(before)) == 0);
    check(p);
    if (error == TALLY_EUNKNOWN)
        return;
    profiler_variable(name, variable);
    fuzz_check(setenv(variable, value, 1) == 0);
    fuzz_check(profiler_environment(&by_variable, &log) == error);
    fuzz_check(unsetenv(variable) == 0);
    fuzz_check(memcmp(p, &by_variable, sizeof(*p)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct profiler_properties properties;
    char *const text = fuzz_text(data, size);

    memset(&properties, 0, sizeof(properties));
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *value = line;
        const char *const name = strsep(&value, "=");
        if (value != NULL)
            set(&properties, name, value);
    }
    free(text);
    return 0;
}
