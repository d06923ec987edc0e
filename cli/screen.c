/* SPDX-License-Identifier: MIT */
#include "cli/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"

#define FOLD 80
#define FOLD_MAX 100 /* longer lines of prose are hard to read */
/* Says nothing where there is no less. */
#define PAGER "command -v less >/dev/null || exit 127; exec less -FRX"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* Returns a terminal's size: what it says, else the environment, else the
 * usual. */
static size_t
terminal_size(unsigned short said, const char *variable, size_t usual)
{
    const char *text = getenv(variable);
    const long value = text != NULL ? strtol(text, NULL, 10) : 0;

    if (said > 0)
        return said;
    return value > 0 && value < 10000 ? (size_t)value : usual;
}

int
screen_open(struct screen *s, const char *color)
{
    const int wanted = command_color(color, stdout);
    struct winsize size = {0};

    *s = (struct screen){.fold = FOLD, .color = wanted == 1};
    if (wanted < 0) {
        escape_printf(stderr,
                      "tally: --color takes auto, always or never, not '%s'\n",
                      color);
        return EXIT_USAGE;
    }
    if (isatty(STDOUT_FILENO)) {
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        s->width = terminal_size(size.ws_col, "COLUMNS", FOLD);
        s->rows = terminal_size(size.ws_row, "LINES", 24);
        s->fold = s->width < FOLD_MAX ? s->width : FOLD_MAX;
    }
    s->out = open_memstream(&s->text, &s->size);
    if (s->out != NULL)
        return 0;
    fprintf(stderr, "tally: no memory for the screen\n");
    return EXIT_OURS;
}

static size_t
lines(const struct screen *s)
{
    size_t count = 0;

    for (size_t i = 0; i < s->size; i++)
        count += s->text[i] == '\n';
    return count;
}

/* False if there is no pager that runs. */
static bool
page(const struct screen *s)
{
    const char *pager = getenv("PAGER");

    if (pager == NULL)
        pager = PAGER;
    if (*pager == '\0' || strcmp(pager, "cat") == 0)
        return false;
    /* A bare "less" would show colours as codes. */
    setenv("LESS", "FRX", 0);
    FILE *pipe = popen(pager, "w");
    if (pipe == NULL)
        return false;
    /* A person who quits before the end has seen enough. */
    fwrite(s->text, 1, s->size, pipe);
    const int status = pclose(pipe);
    return !WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_MISSING &&
                                  WEXITSTATUS(status) != EXIT_CANNOT);
}

/* Nothing stays in a buffer that main() would fail to write once more. */
static int
write_all(const struct screen *s)
{
    for (size_t at = 0; at < s->size;) {
        const ssize_t n = write(STDOUT_FILENO, s->text + at, s->size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return command_unwritten("output");
        at += (size_t)n;
    }
    return 0;
}

int
screen_close(struct screen *s)
{
    int status = 0;

    if (!command_close_text(s->out, &s->text)) {
        fprintf(stderr, "tally: no memory for the screen\n");
        status = EXIT_OURS;
    } else if (s->rows == 0 || lines(s) < s->rows || !page(s)) {
        status = write_all(s);
    }
    free(s->text);
    return status;
}

void
screen_heading(struct screen *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    for (; *format == '\n'; format++)
        fputc('\n', s->out);
    fputs(s->color ? BOLD : "", s->out);
    vfprintf(s->out, format, args);
    fputs(s->color ? PLAIN "\n" : "\n", s->out);
    va_end(args);
}

void
screen_rest(struct screen *s, size_t used, const char *text)
{
    const size_t length = strlen(text);
    const size_t room = s->width > used + 3 ? s->width - used : 3;

    if (s->width == 0 || length <= room)
        fprintf(s->out, "%s\n", text);
    else
        fprintf(s->out, "%.*s...\n", (int)(room - 3), text);
}

void
screen_prose(struct screen *s, size_t used, size_t indent, const char *text)
{
    size_t column = used;
    bool first = true;

    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > s->fold) {
            fprintf(s->out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        fprintf(s->out, "%s%.*s", first ? "" : " ", (int)length, text);
        column += length + !first;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fprintf(s->out, "\n");
}

void
screen_item(struct screen *s, const char *label, const char *text)
{
    fprintf(s->out, "  %-*s", SCREEN_LABEL - 2, label);
    screen_prose(s, SCREEN_LABEL, SCREEN_LABEL, text);
}

void
screen_itemf(struct screen *s, const char *label, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    screen_item(s, label, text);
}
