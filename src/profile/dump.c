/* SPDX-License-Identifier: MIT */
/*
 * The reader. The loop over a line's characters is all of its time: a table
 * look-up each, no second pass for the line's end. bench/dump.c compares it
 * with `wc -l` and with the twin of test/ref/.
 */
#include "profile/dump_names.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE (256u << 10)
#define START_MARK "TEJA_PROFILE_DUMP_START"
#define END_MARK "TEJA_PROFILE_DUMP_END"
#define HEADER_MARK "CPUID,"
#define VALUES_MAX (DUMP_FIELDS + DUMP_WORDS)
#define DIGITS_MAX 16

/* A digit's value + 1; 0 for everything else. */
static const unsigned char digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

int
dump_reader_init(struct dump_reader *r, const char *file, dump_fill_fn fill,
                 void *user, struct dump_troubles *troubles)
{
    *r = (struct dump_reader){
        .file = file, .fill = fill, .user = user, .troubles = troubles};
    r->data = malloc(BUFFER_SIZE);
    return r->data != NULL ? 0 : TALLY_ENOMEM;
}

void
dump_reader_finish(struct dump_reader *r)
{
    free(r->data);
    r->data = NULL;
}

static void
trouble(struct dump_reader *r, enum dump_trouble what)
{
    dump_trouble_add(r->troubles, what, r->file, r->line);
}

/* The bytes before the first record's blank-free fields, "-1" or "-1,". */
static const unsigned char *
skip_overrun(const unsigned char *p, bool *overrun)
{
    *overrun = p[0] == '-' && p[1] == '1';
    if (!*overrun)
        return p;
    p += 2;
    return *p == ',' || *p == ' ' ? p + 1 : p;
}

/*
 * Reads fields up to the newline, which must come. The number of fields, or 0:
 * this is no list of hexadecimal numbers; *next is then untouched.
 */
static size_t
read_fields(const unsigned char *p, uint64_t *values,
            const unsigned char **next)
{
    size_t count = 0;

    for (;; p++) {
        const unsigned char *const first = p;
        uint64_t value = 0;
        unsigned d;
        for (; (d = digit[*p]) != 0; p++)
            value = value << 4 | (d - 1);
        if (p == first || p - first > DIGITS_MAX || count == VALUES_MAX)
            return 0;
        values[count++] = value;
        if (*p != ',')
            break;
    }
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    if (*p != '\n')
        return 0;
    *next = p + 1;
    return count;
}

/* Returns whether so many fields make a call; of others only the first eight
 * are known.
 */
static bool
is_call(uint64_t call, size_t count)
{
    if (call == DUMP_CALL_START)
        return count == DUMP_START_FIELDS;
    return count >=
           (call == DUMP_CALL_UPDATE ? DUMP_FIELDS : DUMP_START_FIELDS);
}

static bool
read_record(const unsigned char *p, struct dump_record *record,
            const unsigned char **next)
{
    uint64_t v[VALUES_MAX];
    bool overrun;

    p = skip_overrun(p, &overrun);
    const size_t count = read_fields(p, v, next);
    if (count < DUMP_START_FIELDS || !is_call(v[2], count))
        return false;
    record->cpu = v[0];
    record->caller = v[1];
    record->call = v[2];
    record->cycles = v[3];
    record->pc = v[4];
    record->group = v[5];
    record->hi = v[6];
    record->lo = v[7];
    record->overrun = overrun;
    record->overflow = 0;
    record->word_count = 0;
    if (count > DUMP_START_FIELDS)
        record->overflow = v[8];
    if (count > DUMP_FIELDS) {
        record->word_count = count - DUMP_FIELDS;
        memcpy(record->words, v + DUMP_FIELDS, record->word_count * sizeof(*v));
    }
    return true;
}

/* Returns whether the caller gets it. */
static bool
accept(struct dump_reader *r, const struct dump_record *record)
{
    if (r->foreign)
        return false;
    if (record->call != DUMP_CALL_START && record->call != DUMP_CALL_UPDATE) {
        trouble(r, DUMP_OTHER_CALL);
        return false;
    }
    if (r->depth == 0)
        trouble(r, DUMP_OUTSIDE);
    return true;
}

static void
begin_dump(struct dump_reader *r, const char *version, size_t length)
{
    if (r->depth > 0)
        trouble(r, DUMP_INSIDE);
    r->depth++;
    r->dumps++;
    r->foreign = length != strlen(DUMP_VERSION) ||
                 memcmp(version, DUMP_VERSION, length) != 0;
    if (r->foreign)
        trouble(r, DUMP_OTHER_VERSION);
}

static void
end_dump(struct dump_reader *r)
{
    r->foreign = false;
    if (r->depth == 0)
        trouble(r, DUMP_UNSTARTED);
    else
        r->depth--;
}

/* Also the two bytes of a no-break space, which a browser's text may hold. */
static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\xc2' ||
           c == '\xa0';
}

/* A mark, with whatever stands around it; true if there is one. */
static bool
read_mark(struct dump_reader *r, const char *line, size_t length)
{
    const char *mark = memmem(line, length, START_MARK, sizeof(START_MARK) - 1);

    if (mark != NULL) {
        const char *version = mark + sizeof(START_MARK) - 1;
        const char *const end = line + length;
        size_t size = 0;
        version += version < end && *version == ',';
        while (version + size < end && !is_blank(version[size]))
            size++;
        begin_dump(r, version, size);
        return true;
    }
    if (memmem(line, length, END_MARK, sizeof(END_MARK) - 1) == NULL)
        return false;
    end_dump(r);
    return true;
}

static void
take_machine(struct dump_reader *r, const char *machine)
{
    memcpy(r->machine, machine, DUMP_NAME);
}

static void
take_event(struct dump_reader *r, struct dump_event *event)
{
    memcpy(event->machine, r->machine, sizeof(event->machine));
    if (r->names != NULL && dump_names_add(r->names, event) != 0)
        r->crowded = true;
}

/* Reads a line that names the machine or an event; true if it is one. Other
 * text may stand in front. */
static bool
read_name(struct dump_reader *r, const char *line, size_t length)
{
    struct dump_event event;
    char machine[DUMP_NAME];
    const char *const end = line + length;
    const char *mark =
        memmem(line, length, DUMP_EVENT_MARK, sizeof(DUMP_EVENT_MARK) - 1);

    if (r->last)
        return false;
    if (mark != NULL) {
        mark += sizeof(DUMP_EVENT_MARK) - 1;
        if (!dump_event_parse(mark, (size_t)(end - mark), &event))
            return false;
        take_event(r, &event);
        return true;
    }
    mark =
        memmem(line, length, DUMP_MACHINE_MARK, sizeof(DUMP_MACHINE_MARK) - 1);
    if (mark == NULL)
        return false;
    mark += sizeof(DUMP_MACHINE_MARK) - 1;
    if (!dump_machine_parse(mark, (size_t)(end - mark), machine))
        return false;
    take_machine(r, machine);
    return true;
}

static void
tell_odd(struct dump_reader *r)
{
    if (r->depth == 0)
        trouble(r, DUMP_TEXT);
    else
        trouble(r, r->last ? DUMP_CUT : DUMP_DAMAGED);
}

static bool
read_json(struct dump_reader *r, const char *line, size_t length,
          struct dump_record *record)
{
    struct dump_event event;

    switch (dump_json_parse(line, length, record, &event)) {
    case DUMP_JSON_RECORD:
        return accept(r, record);
    case DUMP_JSON_START:
        begin_dump(r, event.name, strlen(event.name));
        return false;
    case DUMP_JSON_MACHINE:
        take_machine(r, event.machine);
        return false;
    case DUMP_JSON_EVENT:
        take_event(r, &event);
        return false;
    case DUMP_JSON_END:
        end_dump(r);
        return false;
    default:
        tell_odd(r);
        return false;
    }
}

/* A record behind other text: what a prompt or another process wrote. */
static bool
read_behind(struct dump_reader *r, const char *line, size_t length,
            struct dump_record *record)
{
    const unsigned char *next;
    size_t begin = length;

    while (begin > 0 && !is_blank(line[begin - 1]))
        begin--;
    if (begin == 0 || r->last ||
        !read_record((const unsigned char *)line + begin, record, &next))
        return false;
    if (!r->foreign)
        trouble(r, DUMP_PREFIXED);
    return true;
}

/* A line that is no plain record; a newline stands at its `length`. */
static bool
read_odd_line(struct dump_reader *r, const char *line, size_t length,
              struct dump_record *record)
{
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    while (length > 0 && is_blank(*line)) {
        line++;
        length--;
    }
    if (length == 0 || read_mark(r, line, length) ||
        (*line != '{' && read_name(r, line, length)))
        return false;
    if (length >= sizeof(HEADER_MARK) - 1 &&
        memcmp(line, HEADER_MARK, sizeof(HEADER_MARK) - 1) == 0)
        return false;
    if (*line == '{')
        return read_json(r, line, length, record);
    if (read_behind(r, line, length, record))
        return accept(r, record);
    if (!r->foreign)
        tell_odd(r);
    return false;
}

/*
 * What is left at the end has no newline: the end of a record may be lost,
 * which only JSON shows. Whether a record is left.
 */
static bool
read_rest(struct dump_reader *r, struct dump_record *record)
{
    char *const line = (char *)r->data + r->begin;
    const size_t length = r->end - r->begin;

    r->begin = r->end;
    if (length == 0)
        return false;
    r->line++;
    r->last = true;
    line[length] = '\n';
    return read_odd_line(r, line, length, record);
}

/* A line that no buffer holds is no record: its bytes go, up to its end. */
static void
drop_long(struct dump_reader *r)
{
    r->begin = r->end = 0;
    r->line++;
    trouble(r, DUMP_LONG);
    for (;;) {
        const long got = r->fill(r->user, r->data, BUFFER_SIZE - 1);
        const unsigned char *newline =
            got > 0 ? memchr(r->data, '\n', (size_t)got) : NULL;
        if (got <= 0) {
            r->at_end = true;
            return;
        }
        if (newline != NULL) {
            r->end = (size_t)(r->data + got - newline) - 1;
            memmove(r->data, newline + 1, r->end);
            return;
        }
    }
}

/* Whole lines into the buffer: 1, or 0 at the end, or TALLY_EIO. */
static int
fill(struct dump_reader *r)
{
    const unsigned char *newline = NULL;

    memmove(r->data, r->data + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = r->lines = 0;
    while (newline == NULL && !r->at_end) {
        /* One byte stays free, for the newline that the last line lacks. */
        if (r->end == BUFFER_SIZE - 1)
            drop_long(r);
        else {
            const long got =
                r->fill(r->user, r->data + r->end, BUFFER_SIZE - 1 - r->end);
            if (got < 0)
                return TALLY_EIO;
            r->at_end = got == 0;
            r->end += (size_t)got;
        }
        newline = memrchr(r->data + r->begin, '\n', r->end - r->begin);
    }
    if (newline != NULL)
        r->lines = (size_t)(newline - r->data) + 1;
    return newline != NULL;
}

int
dump_next(struct dump_reader *r, struct dump_record *record)
{
    for (;;) {
        while (r->begin < r->lines) {
            const unsigned char *const p = r->data + r->begin;
            const unsigned char *next;
            r->line++;
            if (read_record(p, record, &next)) {
                r->begin = (size_t)(next - r->data);
                if (accept(r, record))
                    return 1;
                continue;
            }
            next = memchr(p, '\n', r->lines - r->begin);
            r->begin = (size_t)(next - r->data) + 1;
            if (read_odd_line(r, (const char *)p, (size_t)(next - p), record))
                return 1;
        }
        const int more = r->crowded ? TALLY_ENOMEM : fill(r);
        if (more < 0)
            return more;
        if (more == 0 && read_rest(r, record))
            return 1;
        if (more == 0) {
            for (; r->depth > 0; r->depth--)
                trouble(r, DUMP_UNENDED);
            return 0;
        }
    }
}
