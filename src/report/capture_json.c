/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "report/capture.h"
#include "report/json_text.h"

static json_t *
hexadecimal(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    return json_string(text);
}

static json_t *
name_json(struct capture_names *names, unsigned process, uint64_t address)
{
    const char *name = capture_name(names, process, address);

    return name != NULL ? report_json_text(name) : json_null();
}

static json_t *
buffer_json(const struct capture_request *r, const struct capture_record *c)
{
    struct capture_entry entries[CAPTURE_ENTRIES];
    const size_t most = r->retired ? CAPTURE_ENTRIES : r->traced;
    const size_t count = capture_entries(r, c, most, entries);
    json_t *a = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct capture_entry *const e = &entries[i];
        json_t *o = json_object();
        json_object_set_new(o, "register", json_sprintf("PMD%u", e->number));
        json_object_set_new(o, "value", hexadecimal(e->value));
        json_object_set_new(o, "address", hexadecimal(e->address));
        if (r->retired) {
            json_object_set_new(o, "cycles", json_integer(e->cycles));
            json_object_set_new(o, "early", json_boolean(e->early));
        } else {
            json_object_set_new(o, "source", json_boolean(e->source));
        }
        if (!r->retired && e->source) {
            json_object_set_new(o, "mispredicted",
                                json_boolean(e->mispredicted));
            json_object_set_new(o, "taken", json_boolean(e->slot != 3));
        }
        json_array_append_new(a, o);
    }
    return a;
}

static json_t *
registers_json(const struct capture_request *r, const struct capture_record *c)
{
    static const char *const data[] = {"PMD32", "PMD33", "PMD36"};
    static const char *const inst[] = {"PMD34", "PMD35"};
    const bool load = r->ear == CAPTURE_LOAD || r->ear == CAPTURE_DTLB;
    json_t *o = json_object();

    for (unsigned i = 0; r->ear != CAPTURE_NONE && i < (load ? 3 : 2); i++)
        json_object_set_new(o, load ? data[i] : inst[i],
                            hexadecimal(c->ear[i]));
    if (capture_buffered(r)) {
        json_object_set_new(o, "PMD38", hexadecimal(c->index));
        json_object_set_new(o, "PMD39", hexadecimal(c->extension));
    }
    return o;
}

static json_t *
record_json(const struct capture_request *r, struct capture_names *names,
            const struct session_capture *s)
{
    const struct capture_record *c = &s->record;
    json_t *o = json_object();

    json_object_set_new(o, "process", json_integer(s->process));
    json_object_set_new(o, "thread", json_integer(c->thread));
    json_object_set_new(o, "ended", json_boolean(c->ended));
    if (!c->ended) {
        json_object_set_new(o, "instruction", hexadecimal(c->pc));
        json_object_set_new(o, "function", name_json(names, s->process, c->pc));
    }
    if (r->ear == CAPTURE_LOAD || r->ear == CAPTURE_DTLB)
        json_object_set_new(o, "address", hexadecimal(c->address));
    if (r->ear != CAPTURE_NONE) {
        json_object_set_new(o, "served",
                            json_string(capture_level_name(c->level)));
        json_object_set_new(o, "latency",
                            c->latency != 0 ? json_integer(c->latency)
                                            : json_null());
    }
    json_object_set_new(o, "registers", registers_json(r, c));
    if (capture_buffered(r))
        json_object_set_new(o, "entries", buffer_json(r, c));
    return o;
}

json_t *
report_capture_json(const struct count_report *r)
{
    const struct session_result *s = r->last;
    struct capture_names names;
    json_t *o = json_object(), *records = json_array();
    char what[80];

    capture_names(s, &names);
    for (size_t i = 0; i < s->capture_count; i++)
        json_array_append_new(records,
                              record_json(r->capture, &names, &s->captures[i]));
    capture_names_finish(&names);
    capture_text(r->capture, what, sizeof(what));
    json_object_set_new(o, "what", json_string(what));
    json_object_set_new(o, "period",
                        json_integer((json_int_t)r->capture->period));
    json_object_set_new(o, "lost", json_integer((json_int_t)s->captures_lost));
    json_object_set_new(o, "records", records);
    return o;
}
