/* SPDX-License-Identifier: MIT */
/* What decoding says of any value of a register encodes to that value. */
#include "table/decode.h"
#include "table/encode.h"

#include "check.h"

/* What a register's counters count, as text, unless something is wrong. */
struct read_back {
    const struct counter_row *counters[8];
    char texts[8][SELECTION_TEXT];
    size_t count, missing;
    bool warned, off;
};

static void
read_counter(void *user, const struct counter_row *counter,
             const struct selection *selection, const char *note)
{
    struct read_back *r = user;

    (void)note;
    assert_true(r->count < COUNT(r->counters));
    r->missing += selection == NULL;
    if (selection == NULL)
        return;
    r->counters[r->count] = counter;
    selection_text(selection, r->texts[r->count++], SELECTION_TEXT);
    r->off = selection->off;
}

static void
read_warning(void *user, const char *text)
{
    static const char *const harmless[] = {"in no mode", "no more of",
                                           "it counts nothing"};
    struct read_back *r = user;

    for (size_t i = 0; i < COUNT(harmless); i++)
        if (strstr(text, harmless[i]) != NULL)
            return;
    r->warned = true;
}

static uint64_t
with_field(const struct register_row *row, int field, uint64_t value,
           uint64_t in)
{
    const uint64_t bits = field_bits(&row->fields[field]);

    return (value & ~bits) | (in << row->fields[field].low & bits);
}

/* An event in the fields of its counter; its modifiers at random. */
static uint64_t
random_choice(const struct machine_row *m, const struct counter_row *c,
              const struct register_row *row, uint64_t value, uint64_t *state)
{
    const struct event_row *e;

    do
        e = &m->events[next_random(state) % m->event_count];
    while ((e->counters >> (c - m->counters) & 1) == 0);
    const struct {
        int field, value;
    } parts[] = {{c->sl_field, e->sl},
                 {c->mask_field, e->mask},
                 {c->code_field, e->code},
                 {c->number_field, e->number - c->base},
                 {c->umask_field, (int)(next_random(state) % 16)}};
    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].field >= 0)
            value = with_field(row, parts[i].field, value,
                               (uint64_t)parts[i].value);
    for (size_t i = 0; i < c->fixed_count; i++)
        if (c->fixed[i].reg < 0)
            value =
                with_field(row, c->fixed[i].field, value, c->fixed[i].value);
    for (size_t i = 0; i < m->modifier_count; i++) {
        const int field =
            field_find(row, modifier_field(m, c, &m->modifiers[i]));
        if (field >= 0 && next_random(state) % 2 == 0)
            value = with_field(row, field, value, next_random(state) >> 20);
    }
    return value;
}

/* Encodes what decoding said; 1 if it was compared. */
static size_t
check_value(const struct machine_row *m, const struct register_row *row,
            uint64_t value, bool *off)
{
    struct read_back r = {.count = 0};
    const struct decode_sink sink = {
        .counter = read_counter, .warning = read_warning, .user = &r};
    struct write_list writes = {.count = 0};
    struct write_clash clash;
    struct heard heard;
    const struct tally_log log = listen(&heard);

    decode_register(m, row, value, &sink);
    if (r.warned || r.missing > 0 || r.count == 0)
        return 0;
    *off = *off || r.off;
    for (size_t i = 0; i < r.count; i++) {
        struct selection s;
        if (selection_parse(m, r.texts[i], strlen(r.texts[i]), &log, &s) != 0)
            fail_msg("%s: %s", m->name, heard.text);
        if (!encode_add(&writes, &s, (size_t)(r.counters[i] - m->counters),
                        &clash))
            fail_msg("%s: %s does not encode", m->name, r.texts[i]);
    }
    for (size_t i = 0; i < writes.count; i++)
        if (&m->registers[writes.rows[i].reg] == row &&
            writes.rows[i].value != value)
            fail_msg("%s: %s = 0x%llx, %s: encodes to 0x%llx", m->name,
                     row->name, (unsigned long long)value, r.texts[0],
                     (unsigned long long)writes.rows[i].value);
    return 1;
}

/* Returns whether counters can be told to count in no mode. */
static bool
has_modes(const struct machine_row *m)
{
    bool found = false;

    for (size_t i = 0; i < m->modifier_count; i++)
        found = found || m->modifiers[i].kind == MODIFIER_PRIVILEGE;
    return found;
}

/* Values of the fields that select; what they say encodes to the same. */
static void
test_every_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
        size_t compared = 0;
        bool off = false;
        for (unsigned n = 0; is_documented(m) && n < 4000; n++) {
            const struct counter_row *first =
                &m->counters[next_random(&random) % m->counter_count];
            const size_t instances = m->units[first->unit].instance_count;
            if (first->select == NULL)
                continue;
            const uint16_t reg =
                first->select[instances > 0 ? next_random(&random) % instances
                                            : 0];
            const struct register_row *row = &m->registers[reg];
            uint64_t value = register_reset(row);
            for (size_t c = 0; c < m->counter_count; c++)
                if (m->counters[c].unit == first->unit &&
                    m->counters[c].select != NULL &&
                    (m->counters[c].select[0] == first->select[0]))
                    value =
                        random_choice(m, &m->counters[c], row, value, &random);
            compared += check_value(m, row, value, &off);
        }
        assert_true(!is_documented(m) ||
                    (compared >= 300 && off == has_modes(m)));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
