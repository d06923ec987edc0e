/* SPDX-License-Identifier: MIT */
#include "source/calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "source/processor.h"
#include "table/text.h"

#define NAMED_BY "TALLY_HOST_MODEL"
#define FILE_MOST 65536 /* bytes */
#define SPREAD_MOST 100 /* per cent */
/* Of a parameter: tally calibrate refuses what spreads more. */
#define SPREAD_USED 20

static const enum param_id given[] = {
    PARAM_CLOCK,        PARAM_LATENCY_LOAD, PARAM_TIME_L2,
    PARAM_TIME_L3,      PARAM_TIME_MEMORY,  PARAM_TIME_LINE,
    PARAM_TIME_WALK,    PARAM_STLB_TIME,    PARAM_TLB_PAGE,
    PARAM_ITLB_ENTRIES, PARAM_DTLB_ENTRIES, PARAM_STLB_ENTRIES,
    PARAM_STLB_WAYS,    PARAM_L1D_MISSES,   PARAM_TIME_MISPREDICT,
    PARAM_TIME_ISSUE,   PARAM_UNITS_ALU,
};

#define GIVEN (sizeof(given) / sizeof(given[0]))

bool
calibration_gives(enum param_id id)
{
    for (size_t i = 0; i < GIVEN; i++)
        if (given[i] == id)
            return true;
    return false;
}

/* Where the reader is in the file. */
struct reading {
    const char *at; /* in the line */
    const char *path;
    unsigned line;
    const struct tally_log *log;
    struct calibration *c;
    enum { IN_HEAD, IN_PARAMETERS, IN_FIGURES } part;
};

/* Logs what is wrong in the line, and what would be right. */
__attribute__((format(printf, 2, 3))) static int
bad(const struct reading *r, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return tally_fail(r->log, TALLY_ESYNTAX, "%s:%u: %s", r->path, r->line,
                      text);
}

static void
skip_blanks(struct reading *r)
{
    r->at += strspn(r->at, " \t\r");
}

/* Takes a sign and the blanks around it. Returns whether it is there. */
static bool
take(struct reading *r, char sign)
{
    skip_blanks(r);
    if (*r->at != sign)
        return false;
    r->at++;
    skip_blanks(r);
    return true;
}

/* Returns whether only blanks or a comment are left of the line. */
static bool
ends(struct reading *r)
{
    skip_blanks(r);
    return *r->at == '\0' || *r->at == '#';
}

/* Reads a text in quotes, without escapes; printable ASCII alone. */
static bool
read_text(struct reading *r, char *text)
{
    size_t used = 0;

    if (!take(r, '"'))
        return false;
    /* take() skips blanks behind the quote too: a text begins with none. */
    for (; *r->at != '"'; r->at++) {
        if (*r->at < ' ' || *r->at > '~' || *r->at == '\\' ||
            used == CALIBRATION_TEXT - 1)
            return false;
        text[used++] = *r->at;
    }
    text[used] = '\0';
    return take(r, '"');
}

/* Reads a bare word or a text in quotes as a key. */
static bool
read_key(struct reading *r, char *key)
{
    size_t length;

    skip_blanks(r);
    if (*r->at == '"')
        return read_text(r, key);
    length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (length == 0 || length >= CALIBRATION_TEXT)
        return false;
    memcpy(key, r->at, length);
    key[length] = '\0';
    r->at += length;
    return true;
}

/* Reads a number in decimal, which strtod() would read in the locale's way. */
static bool
read_number(struct reading *r, double *number)
{
    double scale = 1;

    *number = 0;
    skip_blanks(r);
    if (*r->at < '0' || *r->at > '9')
        return false;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        *number = 10 * *number + (*r->at - '0');
    if (*r->at == '.') {
        for (r->at++; *r->at >= '0' && *r->at <= '9'; r->at++)
            *number += (scale /= 10) * (*r->at - '0');
        if (scale == 1)
            return false;
    }
    return isfinite(*number);
}

/* A row's table: { value = 10, spread = 1.2 }. */
struct row {
    char value[CALIBRATION_TEXT]; /* as --set takes it */
    char source[CALIBRATION_TEXT];
    char unit[CALIBRATION_TEXT];
    double spread; /* < 0: none */
};

/* Reads the value of a row: a number, or a text such as "3.5G". */
static bool
read_value(struct reading *r, char *value)
{
    size_t length;

    skip_blanks(r);
    if (*r->at == '"')
        return read_text(r, value);
    length = strspn(r->at, "0123456789.");
    if (length == 0 || length >= CALIBRATION_TEXT)
        return false;
    memcpy(value, r->at, length);
    value[length] = '\0';
    r->at += length;
    return true;
}

/* Reads one KEY = VALUE of a row. */
static int
read_member(struct reading *r, struct row *row)
{
    char key[CALIBRATION_TEXT];

    if (!read_key(r, key) || !take(r, '='))
        return bad(r, "a row is { value = 10, spread = 1.2 }");
    if (strcmp(key, "value") == 0 && row->value[0] == '\0')
        return read_value(r, row->value)
                   ? 0
                   : bad(r, "value must be a number or a text such as "
                            "\"3.5G\"");
    if (strcmp(key, "spread") == 0 && row->spread < 0)
        return read_number(r, &row->spread) && row->spread <= SPREAD_MOST
                   ? 0
                   : bad(r, "spread must be per cent, 0 to %d", SPREAD_MOST);
    if (strcmp(key, "source") == 0 && row->source[0] == '\0')
        return read_text(r, row->source) &&
                       (strcmp(row->source, "cpuid") == 0 ||
                        strcmp(row->source, "system") == 0)
                   ? 0
                   : bad(r, "source must be \"cpuid\" or \"system\"");
    if (strcmp(key, "unit") == 0 && row->unit[0] == '\0' &&
        r->part == IN_FIGURES)
        return read_text(r, row->unit)
                   ? 0
                   : bad(r, "unit must be a text in quotes");
    return bad(r,
               "'%s' must not be here, or not twice: a row has value and "
               "spread, or value and source",
               key);
}

/* Reads the table behind a row's name. */
static int
read_row(struct reading *r, struct row *row)
{
    int error = 0;

    *row = (struct row){.spread = -1};
    if (!take(r, '=') || !take(r, '{'))
        return bad(r, "a row is \"NAME\" = { value = 10, spread = 1.2 }");
    do
        error = read_member(r, row);
    while (error == 0 && take(r, ','));
    if (error != 0)
        return error;
    if (!take(r, '}') || !ends(r))
        return bad(r, "a row ends with } and nothing behind it");
    if (row->value[0] == '\0')
        return bad(r, "the row has no value");
    if ((row->spread < 0) == (row->source[0] == '\0'))
        return bad(r, "a row has either a spread or a source");
    return 0;
}

/* Logs one line of another reader behind the place in the file. */
static void
place_line(void *user, enum tally_level level, const char *text)
{
    const struct reading *const r = user;

    tally_logf(r->log, level, "%s:%u: %s", r->path, r->line, text);
}

static int
read_parameter(struct reading *r, const char *name)
{
    const struct tally_log log = {place_line, r};
    const int id = param_find(name);
    struct calibrated *p;
    struct row row;
    uint64_t value;
    int error;

    if (id < 0 || !calibration_gives((enum param_id)id))
        return bad(r,
                   "'%s' is no parameter that tally calibrate measures; "
                   "tally count --set sets others",
                   name);
    p = &r->c->params[id];
    if (p->known)
        return bad(r, "'%s' has two rows; leave one", name);
    error = read_row(r, &row);
    if (error == 0)
        error = param_parse(id, row.value, &log, &value);
    if (error == 0 && row.spread > SPREAD_USED)
        error = bad(r, "the spread of a parameter must be per cent, 0 to %d",
                    SPREAD_USED);
    if (error != 0)
        return error;
    *p = (struct calibrated){.known = true,
                             .measured = row.source[0] == '\0',
                             .spread = row.spread < 0 ? 0 : row.spread,
                             .value = value};
    snprintf(p->source, sizeof(p->source), "%.15s", row.source);
    return 0;
}

/* Reads a number of `digits` digits and the sign behind it; '\0': the end of
 * the text. Returns the number, or -1 where there is another text. */
static int
read_digits(const char **text, unsigned digits, char behind)
{
    int number = 0;

    for (; digits > 0; digits--, ++*text) {
        if (**text < '0' || **text > '9')
            return -1;
        number = 10 * number + (**text - '0');
    }
    if (**text != behind)
        return -1;
    if (behind != '\0')
        ++*text;
    return number;
}

static int
days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

/* Returns whether the text is a day, or a second of a day in UTC:
 * YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ. */
static bool
is_date(const char *text)
{
    const char *at = text;
    const bool has_time = strlen(text) > strlen("YYYY-MM-DD");
    const int year = read_digits(&at, 4, '-');
    const int month = year < 0 ? -1 : read_digits(&at, 2, '-');
    const int day = month < 0 ? -1 : read_digits(&at, 2, has_time ? 'T' : '\0');

    if (day < 1 || month < 1 || month > 12 || day > days_of(year, month))
        return false;
    if (!has_time)
        return true;
    const int hour = read_digits(&at, 2, ':');
    const int minute = hour < 0 ? -1 : read_digits(&at, 2, ':');
    const int second = minute < 0 ? -1 : read_digits(&at, 2, 'Z');

    /* A minute with a leap second has a second 60. */
    return second >= 0 && *at == '\0' && hour <= 23 && minute <= 59 &&
           second <= 60;
}

/* Reads a row of the head: date, processor or kernel. */
static int
read_head(struct reading *r, const char *name)
{
    char *const text = strcmp(name, "date") == 0        ? r->c->date
                       : strcmp(name, "processor") == 0 ? r->c->processor
                       : strcmp(name, "kernel") == 0    ? r->c->kernel
                                                        : NULL;

    if (text == NULL)
        return bad(r,
                   "'%s' must not be here: date, processor and kernel stand "
                   "before [parameter]",
                   name);
    if (text[0] != '\0')
        return bad(r, "'%s' stands twice; leave one", name);
    if (!take(r, '=') || !read_text(r, text) || text[0] == '\0' || !ends(r))
        return bad(r,
                   "%s must be a text in quotes, of printable ASCII, of 1 "
                   "to %d bytes",
                   name, CALIBRATION_TEXT - 1);
    if (text == r->c->date && !is_date(text))
        return bad(r,
                   "date must be a day such as \"2026-11-29\", or a second in "
                   "UTC such as \"2026-11-29T04:30:00Z\", not \"%.40s\"",
                   text);
    return 0;
}

/* Refuses a name with points that stands without quotes, which TOML reads as
 * the name of a table. */
static int
refuse_bare(const struct reading *r, const char *name)
{
    const size_t length =
        strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_-.");

    return bad(r, "a name with a point needs quotes: \"%.60s%.*s\"", name,
               length < 60 ? (int)length : 60, r->at);
}

static int
read_line(struct reading *r)
{
    char name[CALIBRATION_TEXT];
    struct row row;

    if (ends(r))
        return 0;
    if (take(r, '[')) {
        const bool named = read_key(r, name) && take(r, ']') && ends(r);
        if (named && strcmp(name, "parameter") == 0 && r->part == IN_HEAD)
            r->part = IN_PARAMETERS;
        else if (named && strcmp(name, "figure") == 0 && r->part != IN_FIGURES)
            r->part = IN_FIGURES;
        else
            return bad(r, "the tables are [parameter] and, behind it, "
                          "[figure], each once");
        return 0;
    }
    if (!read_key(r, name))
        return bad(r, "a line is NAME = VALUE, [parameter], [figure] or a "
                      "comment");
    if (*r->at == '.')
        return refuse_bare(r, name);
    return r->part == IN_HEAD         ? read_head(r, name)
           : r->part == IN_PARAMETERS ? read_parameter(r, name)
                                      : read_row(r, &row);
}

int
calibration_parse(const char *text, size_t size, const char *path,
                  const struct tally_log *log, struct calibration *c)
{
    struct reading r = {.path = path, .log = log, .c = c, .part = IN_HEAD};
    char line[512];
    int error = 0;

    *c = (struct calibration){.date = ""};
    for (size_t at = 0; error == 0 && at < size;) {
        const char *const end = memchr(text + at, '\n', size - at);
        const size_t length =
            end != NULL ? (size_t)(end - text) - at : size - at;
        r.line++;
        r.at = line;
        if (length >= sizeof(line) || memchr(text + at, '\0', length) != NULL)
            return bad(&r, "a line has up to %zu bytes, and none is 0",
                       sizeof(line) - 1);
        memcpy(line, text + at, length);
        line[length] = '\0';
        error = read_line(&r);
        at += length + 1;
    }
    if (error != 0)
        return error;
    r.line += r.line == 0;
    if (c->date[0] == '\0' || c->processor[0] == '\0' || c->kernel[0] == '\0')
        return bad(&r,
                   "the file ends without %s; date, processor and kernel "
                   "stand before [parameter]",
                   c->date[0] == '\0'        ? "date"
                   : c->processor[0] == '\0' ? "processor"
                                             : "kernel");
    return 0;
}

/* Writes a parameter's value as calibration_parse() takes it. */
static void
write_value(enum param_id id, uint64_t value, FILE *out)
{
    char text[PARAM_TEXT_SIZE];

    if (tally_params[id].kind == PARAM_KIND_HERTZ ||
        tally_params[id].kind == PARAM_KIND_SIZE) {
        param_text((int)id, value, text, sizeof(text));
        fprintf(out, "\"%s\"", text);
    } else {
        fprintf(out, "%" PRIu64, value);
    }
}

void
calibration_write(const struct calibration *c, FILE *out)
{
    fprintf(out,
            "# Written by tally calibrate. tally's host-model has these values "
            "as long as\n# the processor is this one.\n\n");
    fprintf(out, "date = \"%s\"\nprocessor = \"%s\"\nkernel = \"%s\"\n",
            c->date, c->processor, c->kernel);
    fprintf(out, "\n[parameter]\n");
    for (size_t i = 0; i < GIVEN; i++) {
        const struct calibrated *const p = &c->params[given[i]];
        if (!p->known)
            continue;
        fprintf(out, "\"%s\" = { value = ", tally_params[given[i]].key);
        write_value(given[i], p->value, out);
        if (p->measured)
            fprintf(out, ", spread = %.1f }\n", p->spread);
        else
            fprintf(out, ", source = \"%s\" }\n", p->source);
    }
}

bool
calibration_is_off(void)
{
    const char *const own = getenv(NAMED_BY);

    return own != NULL && own[0] == '\0';
}

bool
calibration_path(char *path, size_t size)
{
    const char *const own = getenv(NAMED_BY);
    const char *const config = getenv("XDG_CONFIG_HOME");
    const char *const home = getenv("HOME");
    int length;

    if (own != NULL)
        length = snprintf(path, size, "%s", own);
    else if (config != NULL && config[0] == '/')
        length = snprintf(path, size, "%s/tally/host-model.toml", config);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, size, "%s/.config/tally/host-model.toml", home);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

/* Appends the value behind the colon of a line of /proc/cpuinfo, where the
 * line is that of `key`. */
static void
add_fact(const char *line, const char *key, const char *name, char *text,
         size_t size)
{
    const char *const value = processor_value(line, key);
    const size_t used = strlen(text);

    if (value == NULL)
        return;
    snprintf(text + used, size - used, "%s%s%s%.*s", used > 0 ? ", " : "", name,
             name[0] != '\0' ? " " : "", (int)strcspn(value, "\n"), value);
}

bool
calibration_processor(const char *cpuinfo, char *text, size_t size)
{
    static const struct {
        const char *key, *name;
    } facts[] = {
        {"model name", ""},
        {"cpu family", "family"},
        {"model", "model"},
        {"stepping", "stepping"},
        {"CPU implementer", "Arm implementer"},
        {"CPU part", "part"},
        {"CPU variant", "variant"},
        {"CPU revision", "revision"},
    };
    char line[512];
    FILE *const file = fopen(cpuinfo, "re");
    char all[sizeof(facts) / sizeof(facts[0])][CALIBRATION_TEXT] = {""};

    text[0] = '\0';
    if (file == NULL)
        return false;
    /* An empty line ends the first processor. */
    while (fgets(line, sizeof(line), file) != NULL && line[0] != '\n')
        for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
            if (all[i][0] == '\0')
                add_fact(line, facts[i].key, facts[i].name, all[i],
                         sizeof(all[i]));
    fclose(file);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const size_t used = strlen(text);
        if (all[i][0] != '\0')
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                     all[i]);
    }
    /* What the file of tally calibrate cannot have. */
    for (char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            *c = '?';
    return text[0] != '\0';
}

/* Turns an error of the reader into a warning that says what follows. */
static void
warn_line(void *user, enum tally_level level, const char *text)
{
    (void)level;
    tally_logf(user, TALLY_LOG_WARNING,
               "%s; not used, and tally calibrate writes the file anew", text);
}

bool
calibration_find(const struct tally_log *log, struct calibration *c)
{
    const struct tally_log warn = {warn_line, (void *)log};
    char path[PATH_MAX], here[CALIBRATION_TEXT] = "";
    size_t size;

    *c = (struct calibration){.date = ""};
    if (!calibration_path(path, sizeof(path)))
        return false;
    char *const text = input_read(path, FILE_MOST, &size);
    if (text == NULL && errno == ENOENT && getenv(NAMED_BY) == NULL)
        return false;
    if (text == NULL) {
        tally_logf(log, TALLY_LOG_WARNING,
                   "cannot read %s: %s; host-model has no measured times", path,
                   input_reason(errno));
        return false;
    }
    bool usable = calibration_parse(text, size, path, &warn, c) == 0;
    free(text);
    if (usable) {
        calibration_processor("/proc/cpuinfo", here, sizeof(here));
        usable = strcmp(here, c->processor) == 0;
        if (!usable)
            tally_logf(log, TALLY_LOG_WARNING,
                       "%s was measured on '%s', and this is '%s'; not used, "
                       "and tally calibrate measures this one",
                       path, c->processor, here);
    }
    if (!usable)
        *c = (struct calibration){.date = ""};
    return usable;
}
