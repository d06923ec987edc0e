/* SPDX-License-Identifier: MIT */
/*
 * The reader of dumps. All its time goes into the loop over a line's
 * characters: one look-up in a table for each, and no second pass that finds
 * the line's end. bench/dump.c compares the reader with `wc -l` and with the
 * twin of test/ref/.
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

/* Of a hexadecimal digit its value + 1; of any other character 0. */
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

/*
 * Reads fields up to the newline, which must follow somewhere. Returns the
 * number of fields; 0: the line is no list of hexadecimal numbers, and *next is
 * untouched.
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

/* Reads a line that is a record, after "-1" or "-1," if the buffer overran;
 * false: the line is none. */
static bool
read_record(const unsigned char *p, struct dump_record *record,
            const unsigned char **next)
{
    const bool overrun = p[0] == '-' && p[1] == '1';
    uint64_t v[VALUES_MAX];

    if (overrun)
        p += p[2] == ',' || p[2] == ' ' ? 3 : 2;
    const size_t count = read_fields(p, v, next);
    /* Of other calls than start and update only the first fields are known. */
    if (count < DUMP_START_FIELDS ||
        (v[2] == DUMP_CALL_START && count != DUMP_START_FIELDS) ||
        (v[2] == DUMP_CALL_UPDATE && count < DUMP_FIELDS))
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

/* Returns whether the caller gets the record. */
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

/* Notes that a dump begins. */
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

/* Notes that a dump ends. */
static void
end_dump(struct dump_reader *r)
{
    r->foreign = false;
    if (r->depth == 0)
        trouble(r, DUMP_UNSTARTED);
    else
        r->depth--;
}

/* Returns whether the byte is a blank, or part of a no-break space in UTF-8,
 * which text from a browser may hold. */
static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\xc2' ||
           c == '\xa0';
}

/* Reads the mark of a dump's start or end, which may have other text around it;
 * false: there is none. */
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

/* Takes the name of the dump's machine. */
static void
take_machine(struct dump_reader *r, const char *machine)
{
    memcpy(r->machine, machine, DUMP_NAME);
}

/* Takes the name of an event. */
static void
take_event(struct dump_reader *r, struct dump_event *event)
{
    memcpy(event->machine, r->machine, sizeof(event->machine));
    if (r->names != NULL && dump_names_add(r->names, event) != 0)
        r->crowded = true;
}

/* Reads the name of the machine or of an event, which may have other text in
 * front; false: the line has none. */
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

/* Notes a line that cannot be read. */
static void
tell_odd(struct dump_reader *r)
{
    if (r->depth == 0)
        trouble(r, DUMP_TEXT);
    else
        trouble(r, r->last ? DUMP_CUT : DUMP_DAMAGED);
}

/* Reads a line of JSON; true: the caller gets the record. */
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

/* Reads a line that is not simply a record; line[length] is a newline. True:
 * the caller gets the record. */
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
    /* A prompt, or another process, may have written in front of a record. */
    const unsigned char *next;
    size_t begin = length;
    while (begin > 0 && !is_blank(line[begin - 1]))
        begin--;
    if (begin > 0 && !r->last &&
        read_record((const unsigned char *)line + begin, record, &next)) {
        if (!r->foreign)
            trouble(r, DUMP_PREFIXED);
        return accept(r, record);
    }
    if (!r->foreign)
        tell_odd(r);
    return false;
}

/*
 * Reads the last line, if it has no newline: the end of its record may be lost,
 * which shows in JSON only. True: the caller gets the record.
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

/* Drops a line that is longer than the buffer: it is no record. */
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

/* Fills the buffer with whole lines. Returns 1, 0 at the end, or TALLY_EIO. */
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
