/* SPDX-License-Identifier: MIT */
#include "cli/pmu_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pmu_verbs.h"
#include "table/text.h"

struct loop_line {
    char *text;
    unsigned long number;
    /* Of a `for`, else 0: the first line of what is repeated; its `end`. */
    size_t body, end;
    bool has_rows; /* values stand in lines of their own */
};

/* A loop as it is read, with those that are in it. */
struct pmu_loop {
    struct loop_line *lines;
    size_t count, room;
    size_t open[PMU_LOOP_DEPTH]; /* each `for` whose `end` is to come */
    size_t depth;
    bool in_rows;        /* of the innermost `for` */
    const char *refused; /* why it cannot be carried out; NULL: it can */
    unsigned long refused_at;
};

/* A line cut into words; those in quotes are one each, without the quotes. */
struct cells {
    char text[PMU_LINE];
    char *words[PMU_WORDS];
    size_t count;
};

/* The variables of a loop and their values in the row at hand. */
struct scope {
    const struct scope *outer;
    char *const *names;
    char *const *values;
    size_t count;
    char row[256]; /* NAME=VALUE of all loops, the outermost first */
};

/* A loop that is carried out. */
struct walk {
    struct pmu_console *console;
    const struct pmu_loop *loop;
    size_t steps;
    enum pmu_verdict worst;
};

/* Cuts `cells->text` in place, off at a # that begins a word. */
static int
cut_cells(struct cells *cells, const struct tally_log *log)
{
    char *c = cells->text;

    cells->count = 0;
    for (;;) {
        c += strspn(c, PMU_BLANKS);
        if (*c == '\0' || *c == '#')
            return 0;
        if (cells->count == PMU_WORDS)
            return tally_fail(log, TALLY_ESYNTAX, "more than %d words",
                              PMU_WORDS);
        const bool quoted = *c == '"';
        c += quoted;
        cells->words[cells->count++] = c;
        c += strcspn(c, quoted ? "\"" : PMU_BLANKS);
        if (quoted && *c == '\0')
            return tally_fail(log, TALLY_ESYNTAX, "a quote has no end");
        if (quoted && c[1] != '\0' && strchr(PMU_BLANKS, c[1]) == NULL)
            return tally_fail(log, TALLY_ESYNTAX,
                              "a blank stands behind a quoted value");
        if (*c != '\0')
            *c++ = '\0';
    }
}

/* Returns whether nothing follows `in`. */
static bool
has_rows(const char *text)
{
    struct cells cells;

    snprintf(cells.text, sizeof(cells.text), "%s", text);
    return cut_cells(&cells, NULL) == 0 && cells.count > 0 &&
           same_name(cells.words[cells.count - 1], "in");
}

/* Returns whether a ; stands in the line outside of quotes and comments. */
static bool
has_more_commands(const char *text)
{
    bool quoted = false;

    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == ';')
            return true;
        else if (!quoted && text[i] == '#' && pmu_word_begins(text, i))
            return false;
    }
    return false;
}

static const char only_for[] =
    "`for`, the lines of a loop and `end` stand in a line each; a value with a "
    "; stands in quotes";

static void
refuse(struct pmu_loop *loop, unsigned long number, const char *why)
{
    if (loop->refused != NULL)
        return;
    loop->refused = why;
    loop->refused_at = number;
}

static void
drop(struct pmu_loop *loop)
{
    if (loop == NULL)
        return;
    for (size_t i = 0; i < loop->count; i++)
        free(loop->lines[i].text);
    free(loop->lines);
    free(loop);
}

/* Adds a line; false without memory. */
static bool
keep(struct pmu_loop *loop, const char *text, unsigned long number)
{
    if (loop->count == loop->room) {
        const size_t room = loop->room == 0 ? 32 : 2 * loop->room;
        struct loop_line *const lines =
            realloc(loop->lines, room * sizeof(*lines));
        if (lines == NULL)
            return false;
        loop->lines = lines;
        loop->room = room;
    }
    char *const copy = strdup(text);
    if (copy == NULL)
        return false;
    loop->lines[loop->count++] =
        (struct loop_line){.text = copy, .number = number};
    return true;
}

/* Refuses a loop with a line `do` or `end` that goes on. */
static void
refuse_more(struct pmu_loop *loop, const char *text, unsigned long number)
{
    text += strspn(text, PMU_BLANKS);
    text += strcspn(text, PMU_BLANKS ";");
    text += strspn(text, PMU_BLANKS ";");
    if (*text != '\0' && *text != '#')
        refuse(loop, number, "nothing stands behind `do` or `end` in a line");
}

/* Takes in where loops begin and end. What is refused already is only read to
 * its last `end`. */
static void
follow(struct pmu_loop *loop, const char *text, unsigned long number)
{
    struct loop_line *const lines = loop->refused == NULL ? loop->lines : NULL;
    const size_t at = loop->count - 1;

    if (pmu_begins_with(text, "end") || pmu_begins_with(text, "do"))
        refuse_more(loop, text, number);
    if (loop->in_rows && pmu_begins_with(text, "do")) {
        if (lines != NULL)
            lines[loop->open[loop->depth - 1]].body = at + 1;
        loop->in_rows = false;
    } else if (pmu_begins_with(text, "end")) {
        loop->depth--;
        if (loop->in_rows)
            refuse(loop, number, "a line `do` stands behind the rows of `for`");
        if (lines != NULL)
            lines[loop->open[loop->depth]].end = at;
        loop->in_rows = false;
    } else if (!loop->in_rows && pmu_begins_with(text, "for")) {
        loop->in_rows = has_rows(text);
        if (has_more_commands(text))
            refuse(loop, number, only_for);
        if (loop->depth == PMU_LOOP_DEPTH) {
            refuse(loop, number, "no more than 4 loops stand in each other");
        } else if (lines != NULL) {
            lines[at].has_rows = loop->in_rows;
            lines[at].body = at + 1;
            loop->open[loop->depth] = at;
        }
        loop->depth++;
    }
}

static void
tell_wrong(struct pmu_console *c, unsigned long number,
           const struct scope *scope, struct pmu_result *r)
{
    r->verdict = PMU_WRONG;
    r->line = number;
    r->row = scope != NULL ? scope->row : "";
    r->wanted = "";
    if (c->pmu != NULL)
        r->traps = tally_pmu_pending(c->pmu, c->strand);
    c->tell(c->user, r);
}

/* Tells of a wrong line of a walk, whose message is in the result. */
static void
walk_wrong(struct walk *w, const struct loop_line *line,
           const struct scope *scope, struct pmu_result *r)
{
    tell_wrong(w->console, line->number, scope, r);
    w->worst = PMU_WRONG;
}

static const char *
find_variable(const struct scope *scope, const char *name)
{
    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->count; i++) {
            if (strcmp(scope->names[i], name) == 0)
                return scope->values[i];
        }
    }
    return NULL;
}

static int
no_variable(const struct scope *scope, const char *name,
            const struct tally_log *log)
{
    const char *names[PMU_LOOP_DEPTH * PMU_WORDS];
    size_t count = 0;
    char near[64];

    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->count; i++)
            names[count++] = scope->names[i];
    }
    near_names(name, names, count, 2, near, sizeof(near));
    return tally_fail(log, TALLY_EUNKNOWN,
                      "no loop around has a variable '%s'%s%s%s",
                      shown(name, strlen(name)).text,
                      *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static bool
names_variable(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Moves the name that follows a $ to `name`, as $NAME or ${NAME}. */
static int
take_name(const char **text, char *name, size_t size,
          const struct tally_log *log)
{
    const bool braced = **text == '{';
    size_t length = 0;

    *text += braced;
    while (names_variable((*text)[length]))
        length++;
    if (length == 0 || length >= size || (braced && (*text)[length] != '}'))
        return tally_fail(log, TALLY_ESYNTAX,
                          "behind $ stands the name of a variable, NAME or "
                          "{NAME}");
    snprintf(name, size, "%.*s", (int)length, *text);
    *text += length + braced;
    return 0;
}

/* Writes a line with the values of its variables, but of a comment as it is. */
static int
fill_in(const struct scope *scope, const char *text, char *filled,
        const struct tally_log *log)
{
    size_t used = 0;

    while (*text != '\0') {
        const char *part = text;
        char name[32];
        size_t length = 1;

        if (*text == '#' && pmu_word_begins(filled, used)) {
            length = strlen(text);
            text += length;
        } else if (*text == '$') {
            text++;
            const int error = take_name(&text, name, sizeof(name), log);
            if (error != 0)
                return error;
            part = find_variable(scope, name);
            if (part == NULL)
                return no_variable(scope, name, log);
            length = strlen(part);
        } else {
            text++;
        }
        if (length >= PMU_LINE - used)
            return tally_fail(log, TALLY_ESYNTAX, "longer than %d characters",
                              PMU_LINE - 1);
        memcpy(filled + used, part, length);
        used += length;
    }
    filled[used] = '\0';
    return 0;
}

/* The same, cut into cells. */
static int
fill_cells(const struct scope *scope, const char *text, struct cells *cells,
           const struct tally_log *log)
{
    const int error = fill_in(scope, text, cells->text, log);

    return error != 0 ? error : cut_cells(cells, log);
}

/* Writes the row at hand for messages, unprintable bytes as '?'. */
static void
name_row(struct scope *scope)
{
    size_t used = 0;

    scope->row[0] = '\0';
    if (scope->outer != NULL)
        used = (size_t)snprintf(scope->row, sizeof(scope->row), "%s",
                                scope->outer->row);
    for (size_t i = 0; i < scope->count && used < sizeof(scope->row); i++)
        used += (size_t)snprintf(scope->row + used, sizeof(scope->row) - used,
                                 "%s%s=%s", used > 0 ? " " : "",
                                 scope->names[i], scope->values[i]);
    for (char *c = scope->row; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
}

static void
walk_lines(struct walk *w, size_t first, size_t end, const struct scope *scope);

/* Returns whether one more line or row may come. */
static bool
may_step(struct walk *w, const struct loop_line *line,
         const struct scope *scope)
{
    struct pmu_result r = {.wanted = ""};

    if (w->console->no_memory || w->steps > w->console->loop_steps)
        return false;
    if (++w->steps <= w->console->loop_steps)
        return true;
    snprintf(r.message, sizeof(r.message),
             "a loop carries out at most %zu lines; it ends here",
             w->console->loop_steps);
    walk_wrong(w, line, scope, &r);
    return false;
}

/* Carries out what is repeated for the row at hand. */
static void
walk_row(struct walk *w, const struct loop_line *head, struct scope *scope)
{
    name_row(scope);
    const bool has_do = pmu_begins_with(w->loop->lines[head->body].text, "do");
    walk_lines(w, head->body + (has_do && !head->has_rows), head->end, scope);
}

/* Reads FIRST..LAST. */
static bool
is_range(const char *word, uint64_t *first, uint64_t *last)
{
    const char *const dots = strstr(word, "..");
    char text[32];

    if (dots == NULL || (size_t)(dots - word) >= sizeof(text))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)(dots - word), word);
    return pmu_number(text, first) && pmu_number(dots + 2, last);
}

static void
walk_range(struct walk *w, const struct loop_line *head, struct scope *scope,
           uint64_t first, uint64_t last)
{
    char text[32];
    char *value = text;

    scope->values = &value;
    for (uint64_t i = first; may_step(w, head, scope); i++) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
        walk_row(w, head, scope);
        if (i == last)
            break;
    }
    scope->values = NULL;
}

/* Values that stand behind `in`. */
static int
walk_values(struct walk *w, const struct loop_line *head, struct scope *scope,
            char *const *values, size_t count, const struct tally_log *log)
{
    uint64_t first, last;

    if (count % scope->count != 0)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%zu values do not fill rows of %zu variables", count,
                          scope->count);
    for (size_t i = 0; i < count; i += scope->count) {
        if (scope->count == 1 && is_range(values[i], &first, &last)) {
            if (first > last)
                return tally_fail(log, TALLY_ERANGE, "%s goes downwards",
                                  shown(values[i], strlen(values[i])).text);
            walk_range(w, head, scope, first, last);
        } else if (may_step(w, head, scope)) {
            scope->values = values + i;
            walk_row(w, head, scope);
        }
    }
    return 0;
}

/* Reads the rows in lines of their own, between a `for` and its `do`. */
static void
walk_table(struct walk *w, const struct loop_line *head, struct scope *scope)
{
    const struct loop_line *const end = &w->loop->lines[head->body - 1];

    for (const struct loop_line *line = head + 1; line < end; line++) {
        struct pmu_result r = {.wanted = ""};
        const struct tally_log log = {pmu_hear, &r};
        struct cells cells;

        if (pmu_says_nothing(line->text))
            continue;
        /* A row with an error is a step too: a loop around may repeat it. */
        if (!may_step(w, line, scope))
            return;
        int error = fill_cells(scope->outer, line->text, &cells, &log);
        if (error == 0 && cells.count != scope->count)
            error = tally_fail(&log, TALLY_ESYNTAX,
                               "a row of %zu values for %zu variables",
                               cells.count, scope->count);
        if (error != 0) {
            walk_wrong(w, line, scope->outer, &r);
            continue;
        }
        scope->values = cells.words;
        walk_row(w, head, scope);
    }
}

static int
check_names(const struct scope *scope, const struct tally_log *log)
{
    for (size_t i = 0; i < scope->count; i++) {
        const char *const name = scope->names[i];
        size_t length = 0;

        while (names_variable(name[length]))
            length++;
        bool twice = find_variable(scope->outer, name) != NULL;
        for (size_t k = 0; k < i; k++)
            twice |= strcmp(scope->names[k], name) == 0;
        if (length == 0 || length > 31 || name[length] != '\0')
            return tally_fail(log, TALLY_ESYNTAX,
                              "a variable is 1 to 31 letters and digits, not "
                              "'%s'",
                              shown(name, strlen(name)).text);
        if (twice)
            return tally_fail(log, TALLY_ESYNTAX, "'%s' is a variable already",
                              name);
    }
    return 0;
}

static int
walk_head(struct walk *w, const struct loop_line *head,
          const struct scope *outer, const struct tally_log *log)
{
    struct cells cells;
    size_t in = 1;
    int error = fill_cells(outer, head->text, &cells, log);

    if (error != 0)
        return error;
    while (in < cells.count && !same_name(cells.words[in], "in"))
        in++;
    if (in == 1 || in == cells.count)
        return tally_fail(log, TALLY_ESYNTAX, "it is: for NAME... in VALUE...");
    struct scope scope = {
        .outer = outer, .names = cells.words + 1, .count = in - 1};
    error = check_names(&scope, log);
    if (error != 0)
        return error;
    if (!head->has_rows)
        return walk_values(w, head, &scope, cells.words + in + 1,
                           cells.count - in - 1, log);
    walk_table(w, head, &scope);
    return 0;
}

static void
walk_for(struct walk *w, const struct loop_line *head,
         const struct scope *scope)
{
    struct pmu_result r = {.command = "for", .wanted = ""};
    const struct tally_log log = {pmu_hear, &r};

    if (walk_head(w, head, scope, &log) != 0)
        walk_wrong(w, head, scope, &r);
}

static void
walk_line(struct walk *w, const struct loop_line *line,
          const struct scope *scope)
{
    struct pmu_result r = {.wanted = ""};
    const struct tally_log log = {pmu_hear, &r};
    char text[PMU_LINE];

    if (fill_in(scope, line->text, text, &log) != 0) {
        walk_wrong(w, line, scope, &r);
        return;
    }
    const enum pmu_verdict verdict =
        pmu_do_line(w->console, text, line->number, scope->row);
    w->worst = verdict > w->worst ? verdict : w->worst;
}

/* Carries out the lines from `first` to before `end`, loops among them. */
static void
walk_lines(struct walk *w, size_t first, size_t end, const struct scope *scope)
{
    for (size_t i = first; i < end; i++) {
        const struct loop_line *const line = &w->loop->lines[i];

        if (pmu_says_nothing(line->text) && strncmp(line->text, "#:", 2) != 0)
            continue;
        if (!may_step(w, line, scope))
            return;
        if (line->body != 0) {
            walk_for(w, line, scope);
            i = line->end;
        } else {
            walk_line(w, line, scope);
        }
    }
}

bool
pmu_loop_takes(const struct pmu_console *c, const char *text)
{
    return c->loop != NULL || pmu_begins_with(text, "for");
}

/* Carries out the loop that has been read, and forgets it. */
static enum pmu_verdict
walk_loop(struct pmu_console *c)
{
    struct pmu_loop *const loop = c->loop;
    struct walk w = {.console = c, .loop = loop, .worst = PMU_NOTHING};
    struct pmu_result r = {.command = "for"};

    c->loop = NULL;
    if (loop->refused != NULL) {
        snprintf(r.message, sizeof(r.message), "%s", loop->refused);
        tell_wrong(c, loop->refused_at, NULL, &r);
        w.worst = PMU_WRONG;
    } else {
        walk_for(&w, &loop->lines[0], NULL);
    }
    drop(loop);
    return w.worst;
}

enum pmu_verdict
pmu_loop_line(struct pmu_console *c, const char *text)
{
    if (c->loop == NULL && has_more_commands(text)) {
        struct pmu_result r = {.command = "for"};
        snprintf(r.message, sizeof(r.message), "%s", only_for);
        tell_wrong(c, c->line, NULL, &r);
        return PMU_WRONG;
    }
    struct pmu_loop *const loop =
        c->loop != NULL ? c->loop : calloc(1, sizeof(*loop));

    c->loop = loop;
    if (loop != NULL && loop->count == PMU_LOOP_LINES)
        refuse(loop, c->line, "a loop has at most 4096 lines");
    if (loop == NULL || (loop->refused == NULL && !keep(loop, text, c->line))) {
        struct pmu_result r = {.command = "for", .message = "no memory"};
        c->loop = NULL;
        c->no_memory = true;
        tell_wrong(c, c->line, NULL, &r);
        drop(loop);
        return PMU_WRONG;
    }
    follow(loop, text, c->line);
    return loop->depth == 0 ? walk_loop(c) : PMU_NOTHING;
}

enum pmu_verdict
pmu_loop_finish(struct pmu_console *c)
{
    struct pmu_result r = {.command = "for",
                           .message = "a loop that begins here has no `end`"};

    if (c->loop == NULL)
        return PMU_NOTHING;
    struct pmu_loop *const loop = c->loop;
    c->loop = NULL;
    tell_wrong(c, loop->count > 0 ? loop->lines[0].number : c->line, NULL, &r);
    drop(loop);
    return PMU_WRONG;
}
