/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "table/table.h"
#include "table/text.h"

#define COMMAND_NOTHING (-4) /* an option that changes nothing */
#define OPTIONS_MOST 128     /* of one command */

/* Writes a line of the log. */
static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    escape_printf(stderr, "tally: %s%s\n",
                  level == TALLY_LOG_WARNING ? "warning: " : "", text);
}

const struct tally_log command_log = {write_line, NULL};

/* Writes the line of one option. */
static void
option_help(const struct option_row *row, FILE *out)
{
    char left[64];
    char letter[4] = "   ";

    if (row->letter != 0)
        snprintf(letter, sizeof(letter), "-%c,", row->letter);
    snprintf(left, sizeof(left), "%s --%s%s%s", letter, row->name,
             row->argument && row->argument[0] != '[' ? " " : "",
             row->argument ? row->argument : "");
    fprintf(out, "  %-30s %s\n", left, row->help);
}

void
command_help(const struct command *command, FILE *out)
{
    const struct option_group *group = command->groups;

    fprintf(out, "tally %s: %s\n\nusage: tally %s %s\n\n", command->name,
            command->summary, command->name, command->synopsis);
    for (int i = 0; command->options[i].name != NULL; i++) {
        if (group != NULL && group->title != NULL && group->first == i)
            fprintf(out, "%s%s:\n", i == 0 ? "" : "\n", group++->title);
        option_help(&command->options[i], out);
    }
    if (command->more != NULL)
        command->more(out);
    fprintf(out, "\nexamples:\n%s\n", command->example);
}

/* Says what is wrong with an option. */
static int
usage_error(const struct option_walk *w, const char *what, const char *option)
{
    escape_printf(stderr, "tally %s: %s %s; see tally %s --help\n",
                  w->command->name, what, option, w->command->name);
    return COMMAND_BAD;
}

/* Takes the value of an option, which stands in the same word or in the next.
 */
static int
take_value(struct option_walk *w, int index, const char *inline_value,
           const char **value)
{
    const struct option_row *row = &w->command->options[index];

    *value = inline_value;
    if (row->argument == NULL)
        return inline_value
                   ? usage_error(w, "no value belongs to", w->argv[w->next - 1])
                   : index;
    if (inline_value == NULL && row->argument[0] != '[') {
        /* `--` ends the options: a value that is meant so is written in the
         * option's own word. */
        if (w->next >= w->argc || strcmp(w->argv[w->next], "--") == 0)
            return usage_error(w, "a value is missing after",
                               w->argv[w->next - 1]);
        *value = w->argv[w->next++];
    }
    return index;
}

/* Returns the other tool's option of this letter, or of this long name; or
 * NULL.
 */
static const struct other_option *
find_other(const struct option_walk *w, char letter, const char *name,
           size_t length)
{
    const struct other_option *o = w->command->others;

    for (; o != NULL && o->name != NULL; o++)
        if (letter != 0 ? o->letter == letter
                        : !o->subcommand && strlen(o->name) == length &&
                              strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

/* Returns the command's own option for an option of the other tool, or
 * COMMAND_NOTHING if nothing is to be done, or COMMAND_BAD after a refusal. */
static int
take_other(const struct command *command, const struct other_option *other,
           const char *option)
{
    for (int i = 0; other->own != NULL; i++)
        if (strcmp(command->options[i].name, other->own) == 0)
            return i;
    if (other->advice == NULL)
        return COMMAND_NOTHING;
    escape_printf(stderr, "tally %s: there is no %s: %s\n", command->name,
                  option, other->advice);
    return COMMAND_BAD;
}

/* Takes an option of a long name. */
static int
long_option(struct option_walk *w, const char *text, const char **value)
{
    const size_t length = strcspn(text, "=");
    const char *given = text[length] ? text + length + 1 : NULL;
    char dashed[OPTIONS_MOST][40];
    const char *names[OPTIONS_MOST];
    size_t count = 0;

    for (int i = 0; w->command->options[i].name != NULL; i++) {
        const char *name = w->command->options[i].name;
        assert(count < OPTIONS_MOST);
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            return take_value(w, i, given, value);
        snprintf(dashed[count], sizeof(dashed[count]), "--%s", name);
        names[count] = dashed[count];
        count++;
    }
    char word[64], near[128];
    const struct other_option *other = find_other(w, 0, text, length);
    snprintf(word, sizeof(word), "--%.*s", (int)length, text);
    if (other != NULL)
        return take_other(w->command, other, word);
    near_names(word, names, count, 3, near, sizeof(near));
    escape_printf(stderr,
                  "tally %s: unknown option %s%s%s%s; see tally %s --help\n",
                  w->command->name, word, *near ? "; did you mean " : "", near,
                  *near ? "?" : "", w->command->name);
    return COMMAND_BAD;
}

/* Takes an option of one letter. */
static int
short_option(struct option_walk *w, const char **value)
{
    const char letter = *w->cluster++;
    const char *rest = *w->cluster ? w->cluster : NULL;
    char text[3] = {'-', letter, '\0'};

    for (int i = 0; w->command->options[i].name != NULL; i++) {
        if (w->command->options[i].letter != letter)
            continue;
        if (w->command->options[i].argument == NULL) {
            *value = NULL;
            return i;
        }
        w->cluster = NULL;
        return take_value(w, i, rest, value);
    }
    const struct other_option *other = find_other(w, letter, "", 0);
    return other != NULL ? take_other(w->command, other, text)
                         : usage_error(w, "unknown option", text);
}

/* Takes the next option, or COMMAND_NOTHING. */
static int
next_option(struct option_walk *w, const char **value)
{
    *value = NULL;
    if (w->next == 0)
        w->next = 1;
    if (w->cluster != NULL && *w->cluster != '\0')
        return short_option(w, value);
    if (w->next >= w->argc)
        return COMMAND_END;

    const char *word = w->argv[w->next];
    if (word[0] != '-' || word[1] == '\0')
        return COMMAND_END;
    w->next++;
    if (strcmp(word, "--") == 0)
        return COMMAND_END;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return COMMAND_HELP;
    if (word[1] == '-')
        return long_option(w, word + 2, value);
    w->cluster = word + 1;
    return short_option(w, value);
}

/* Finds the form of report that an option of a command asks for: the options
 * that do have one name in all commands. Returns how the option is written;
 * NULL: it asks for no form. */
static const char *
form_of(const struct option_row *row, const char *value, const char **form)
{
    if (strcmp(row->name, "format") == 0) {
        *form = value;
        return "--format";
    }
    if (strcmp(row->name, "field-separator") == 0) {
        *form = "csv";
        return "-x";
    }
    if (row->argument != NULL || strcmp(row->name, "json") != 0)
        return NULL;
    *form = "json";
    return row->letter == 'j' ? "-j" : "--json";
}

/* Returns an option that was taken, or COMMAND_BAD: it wants another form of
 * report than one before it. */
static int
check_form(struct option_walk *w, int option, const char *value)
{
    const char *form;
    const char *const own = form_of(&w->command->options[option], value, &form);

    if (own == NULL)
        return option;
    if (w->form != NULL && strcmp(w->form_option, own) != 0 &&
        strcmp(w->form, form) != 0) {
        fprintf(stderr,
                "tally %s: %s and %s want two forms of report; give one; "
                "see tally %s --help\n",
                w->command->name, w->form_option, own, w->command->name);
        return COMMAND_BAD;
    }
    w->form = form;
    w->form_option = own;
    return option;
}

struct option_walk
command_walk(const struct command *command, int argc, char **argv)
{
    return (struct option_walk){.command = command, .argc = argc, .argv = argv};
}

int
command_subcommand(const struct command *command, const char *word)
{
    const struct other_option *other = command->others;

    for (; other != NULL && other->name != NULL; other++)
        if (other->subcommand && strcmp(other->name, word) == 0)
            return take_other(command, other, word);
    return 0;
}

int
command_option(struct option_walk *w, const char **value)
{
    int option;

    do
        option = next_option(w, value);
    while (option == COMMAND_NOTHING);
    return option >= 0 ? check_form(w, option, *value) : option;
}

int
command_read_options(const struct command *command, int argc, char **argv,
                     int (*option)(void *user, int option, const char *value),
                     void *user, int *operand)
{
    struct option_walk walk = command_walk(command, argc, argv);
    const char *value;
    int found, status = 0;

    while (status == 0 && (found = command_option(&walk, &value)) >= 0)
        status = option(user, found, value);
    *operand = walk.next;
    return status != 0             ? status
           : found == COMMAND_END  ? 0
           : found == COMMAND_HELP ? COMMAND_HELP
                                   : EXIT_USAGE;
}

int
command_read(const struct command *command, int argc, char **argv,
             int (*option)(void *user, int option, const char *value),
             int (*operand)(void *user, char *word), void *user)
{
    struct option_walk walk = command_walk(command, argc, argv);
    const char *value;
    int status = 0;

    while (status == 0) {
        const int found = command_option(&walk, &value);
        if (found == COMMAND_HELP)
            return COMMAND_HELP;
        if (found == COMMAND_BAD)
            return EXIT_USAGE;
        if (found >= 0)
            status = option(user, found, value);
        else if (walk.next < argc)
            status = operand(user, argv[walk.next++]);
        else
            break;
    }
    return status;
}

int
command_unwritten(const char *what)
{
    if (errno == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    escape_printf(stderr, "tally: cannot write the %s: %s\n", what,
                  strerror(errno));
    return EXIT_OURS;
}

int
command_no_memory(void)
{
    tally_fail(&command_log, TALLY_ENOMEM, "no memory");
    return EXIT_OURS;
}

bool
command_close_text(FILE *out, char *const *text)
{
    /* Where its last step finds no memory, glibc's fclose() returns 0 and
     * leaves no text. */
    return fclose(out) == 0 && *text != NULL;
}

int
command_page_alone(const struct command *command, const char *page,
                   const char *form, const char *has)
{
    if (page == NULL || form == NULL)
        return 0;
    fprintf(stderr, "tally %s: --%s does not go with --html: the page has %s\n",
            command->name, form, has);
    return EXIT_USAGE;
}

int
command_debug_dir(const struct command *command, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    escape_printf(stderr, "tally %s: --debug-dir takes a folder, not '%s'\n",
                  command->name, path);
    return EXIT_USAGE;
}

int
command_add_debug_dir(const struct command *command, struct debug_dirs *dirs,
                      const char *path)
{
    if (dirs->count == DEBUG_DIRS_MOST) {
        fprintf(stderr, "tally %s: more than %u --debug-dir\n", command->name,
                DEBUG_DIRS_MOST);
        return EXIT_USAGE;
    }
    dirs->paths[dirs->count++] = path;
    return command_debug_dir(command, path);
}

int
command_join(char **list, const char *more)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", *list != NULL ? *list : "",
                 *list != NULL ? "," : "", more) < 0)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory");
    free(*list);
    *list = joined;
    return 0;
}

bool
command_number(const char *text, uint64_t least, uint64_t most,
               uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
           *number >= least && *number <= most;
}

int
command_form(const struct command *command, const char *value,
             const char *const *forms, int *form)
{
    char text[64];
    size_t count = 0;

    for (; forms[count] != NULL; count++)
        if (strcmp(value, forms[count]) == 0) {
            *form = (int)count;
            return 0;
        }
    join_words(forms, count, text, sizeof(text));
    escape_printf(
        stderr, "tally %s: --format takes %s, not '%s'; see tally %s --help\n",
        command->name, text, shown(value, strlen(value)).text, command->name);
    return EXIT_USAGE;
}

int
command_json(const struct command *command, const char *value, bool *json)
{
    static const char *const forms[] = {"text", "json", NULL};
    int form = 1;
    const int status =
        value != NULL ? command_form(command, value, forms, &form) : 0;

    *json = form == 1;
    return status;
}

int
command_machine(const char *name, const struct machine_row **machine)
{
    *machine = machine_find(name);
    if (*machine == NULL)
        machine_unknown(name, &command_log);
    return *machine != NULL ? 0 : EXIT_USAGE;
}

char *
command_text(char *const *argv)
{
    size_t size = 1;

    for (char *const *a = argv; *a != NULL; a++)
        size += strlen(*a) + 1;
    char *text = malloc(size), *at = text;
    if (text == NULL)
        return NULL;
    *text = '\0';
    for (char *const *a = argv; *a != NULL; a++)
        at += sprintf(at, "%s%s", a == argv ? "" : " ", *a);
    return text;
}

int
command_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int
command_color(const char *word, FILE *out)
{
    const char *no_color = getenv("NO_COLOR");

    if (word == NULL || strcmp(word, "auto") == 0)
        return isatty(fileno(out)) && (no_color == NULL || *no_color == '\0');
    if (strcmp(word, "always") == 0)
        return 1;
    return strcmp(word, "never") == 0 ? 0 : -1;
}
