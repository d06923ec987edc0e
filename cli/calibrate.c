/* SPDX-License-Identifier: MIT */
/* tally calibrate: measures the times that host-model has for this computer. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "calibrate/calibrate.h"
#include "calibrate/native.h"
#include "cli/command.h"
#include "cli/output.h"

enum { OPT_OUTPUT, OPT_DRY_RUN, OPT_FORMAT, OPT_JSON, OPT_QUIET };

static const struct option_row options[] = {
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the values there instead of where host-model finds "
                    "them"},
    [OPT_DRY_RUN] = {'n', "dry-run", NULL, "print the figures, write no file"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_QUIET] = {'q', "quiet", NULL, "say nothing of what is measured"},
    {0},
};

struct request {
    const char *output;
    bool dry_run, json, quiet;
};

static int
take_option(void *user, int option, const char *value)
{
    struct request *const r = user;

    switch (option) {
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_DRY_RUN:
        r->dry_run = true;
        return 0;
    case OPT_QUIET:
        r->quiet = true;
        return 0;
    default:
        return command_json(&command_calibrate, value, &r->json);
    }
}

static int
take_operand(void *user, char *word)
{
    (void)user;
    escape_printf(stderr,
                  "tally calibrate: it measures this computer, and takes no "
                  "'%s'; see tally calibrate --help\n",
                  word);
    return EXIT_USAGE;
}

/* Says what is measured: on a terminal in one line that changes, elsewhere in a
 * line for every fifth round and for each figure that is measured again. */
static void
show_progress(void *user, const char *figure, unsigned done, unsigned all,
              bool again)
{
    const struct request *const r = user;

    if (r->quiet)
        return;
    if (isatty(STDERR_FILENO))
        escape_printf(stderr, "\r tally: measuring %s%s, %u of %u\033[K",
                      figure, again ? " again" : "", done, all);
    else if (again && done == 1)
        escape_printf(stderr, "tally: measuring %s again: too noisy\n", figure);
    else if (!again && done % 5 == 1 && strcmp(figure, "clock") == 0)
        escape_printf(stderr, "tally: measuring, round %u of %u\n", done, all);
}

/* Logs a line of the measurement, in place of what show_progress() says. */
static void
log_line(void *user, enum tally_level level, const char *text)
{
    const struct request *const r = user;

    if (!r->quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    tally_logf(&command_log, level, "%s", text);
}

/* Fills in the date, and the names of the processor and kernel that are to be
 * measured. 0 or an error, logged. */
static int
describe_computer(struct calibration *c)
{
    const time_t seconds = time(NULL);
    struct utsname system;
    struct tm utc;

    if (!calibration_processor("/proc/cpuinfo", c->processor,
                               sizeof(c->processor)))
        return tally_fail(&command_log, TALLY_ESYSTEM,
                          "/proc/cpuinfo does not say which processor this "
                          "is; mount -t proc proc /proc");
    if (uname(&system) != 0 || gmtime_r(&seconds, &utc) == NULL)
        return tally_fail(&command_log, TALLY_ESYSTEM,
                          "the system does not say which it is: %s",
                          strerror(errno));
    snprintf(c->kernel, sizeof(c->kernel), "%s %.80s", system.sysname,
             system.release);
    strftime(c->date, sizeof(c->date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return 0;
}

/* Measures. The file's head is found first, since without one nothing could be
 * written after minutes. 0 or an error, logged. */
static int
measure(const struct request *r, struct calibrate_result *result)
{
    const struct calibrate_listener listener = {show_progress, (void *)r};
    const struct tally_log log = {log_line, (void *)r};
    struct calibration head = {.date = ""};
    struct calibrate_host host;
    struct native *native = NULL;
    int error = describe_computer(&head);

    if (error == 0)
        error = calibrate_host_find(&command_log, &host);
    if (error == 0) {
        const struct native_facts facts = {host.size, host.line, host.page};
        error = native_create(&facts, &command_log, &native);
    }
    if (error == 0) {
        const struct prober prober = {native_measure, native_renew, native};
        error = calibrate_run(&host, &prober, &listener, &log, result);
    }
    if (!r->quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    native_destroy(native);
    memcpy(result->calibration.date, head.date, sizeof(head.date));
    memcpy(result->calibration.processor, head.processor,
           sizeof(head.processor));
    memcpy(result->calibration.kernel, head.kernel, sizeof(head.kernel));
    return error;
}

/* Writes the parameter's value and where the value comes from. */
static void
print_param(const struct calibration *c, size_t id, FILE *out)
{
    const struct calibrated *const p = &c->params[id];
    char value[PARAM_TEXT_SIZE];

    param_text((int)id, p->value, value, sizeof(value));
    fprintf(out, "  %-16s %-14s ", tally_params[id].key, value);
    if (p->measured)
        fprintf(out, "+- %.1f %%\n", p->spread);
    else
        fprintf(out, "told by %s\n",
                strcmp(p->source, "cpuid") == 0 ? "CPUID" : "the system");
}

static void
print_text(const struct calibrate_result *result, FILE *out)
{
    const struct calibration *const c = &result->calibration;

    fprintf(out, "%s\n%s, %s\n\n", c->processor, c->kernel, c->date);
    for (size_t i = 0; i < result->count; i++) {
        const struct calibrate_figure *const f = &result->figures[i];
        if (!isfinite(f->value) || !isfinite(f->spread))
            fprintf(out, "  %-34s %9s\n", f->name, "not found");
        else
            fprintf(out, "  %-34s %9.2f %-8s +- %.1f %%%s\n", f->name, f->value,
                    f->unit, f->spread,
                    f->spread > CALIBRATE_SPREAD_MOST ? " (noisy)" : "");
    }
    fprintf(out, "\nparameters of host-model\n");
    for (size_t i = 0; i < PARAM_COUNT; i++)
        if (c->params[i].known)
            print_param(c, i, out);
}

static json_t *
number_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static int
print_json(const struct calibrate_result *result, FILE *out)
{
    const struct calibration *const c = &result->calibration;
    json_t *const figures = json_array(), *const params = json_array();

    for (size_t i = 0; i < result->count; i++) {
        const struct calibrate_figure *const f = &result->figures[i];
        json_array_append_new(
            figures,
            json_pack("{sssosssosb}", "name", f->name, "value",
                      number_json(f->value), "unit", f->unit, "spread_percent",
                      number_json(f->spread), "needed", f->needed));
    }
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        const struct calibrated *const p = &c->params[i];
        if (p->known)
            json_array_append_new(
                params,
                json_pack("{sssIssso}", "name", tally_params[i].key, "value",
                          (json_int_t)p->value, "source",
                          p->measured ? "measured" : p->source,
                          "spread_percent",
                          p->measured ? json_real(p->spread) : json_null()));
    }
    json_t *const o = json_pack("{sisssssssoso}", "schema", 1, "date", c->date,
                                "processor", c->processor, "kernel", c->kernel,
                                "figures", figures, "parameters", params);
    const int error =
        o == NULL ||
        json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0;
    json_decref(o);
    fputc('\n', out);
    return error;
}

/* Where the values go. */
struct place {
    char path[PATH_MAX]; /* "": nowhere */
    /* The path is host-model's own, whose folders need not be there yet. Its
     * folders and file are made when all is measured. */
    bool own;
    struct output out; /* with a file from open_place() on, if not `own` */
};

/* Finds where to write. 0 or a status. */
static int
find_place(const struct request *r, struct place *place)
{
    char *const path = place->path;

    *place = (struct place){.own = r->output == NULL};
    if (r->dry_run)
        return 0;
    if (place->own && calibration_path(path, sizeof(place->path)))
        return 0;
    if (!place->own && r->output[0] != '\0' &&
        (size_t)snprintf(path, sizeof(place->path), "%s", r->output) <
            sizeof(place->path))
        return 0;
    if (place->own)
        fputs("tally calibrate: no place for the file, as TALLY_HOST_MODEL is "
              "empty or HOME does not begin with /; -o FILE names one\n",
              stderr);
    else
        escape_printf(stderr, "tally calibrate: -o takes a file, not '%.40s'\n",
                      r->output);
    return EXIT_USAGE;
}

/* Makes the folders that are missing of a file's path; *made: how many. Returns
 * 0, or a status after saying why. */
static int
make_folders(const char *path, unsigned *made)
{
    char folder[PATH_MAX];

    *made = 0;
    snprintf(folder, sizeof(folder), "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) == 0) {
            ++*made;
        } else if (errno != EEXIST) {
            const int cause = errno;
            escape_printf(stderr, "tally: cannot make the folder %s: %s\n",
                          folder, strerror(cause));
            return output_status(cause);
        }
        *slash = '/';
    }
    return 0;
}

/* Removes the last `made` folders of a file's path. */
static void
remove_folders(const char *path, unsigned made)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", path);
    for (; made > 0; made--) {
        *strrchr(folder, '/') = '\0';
        rmdir(folder);
    }
}

/*
 * Refuses, before anything is measured, a place that cannot be written.
 * host-model's own place is tried and left as it was: its folders are made and
 * removed again, so that a measurement that is refused leaves none behind.
 * Returns 0, or a status after saying why.
 */
static int
open_place(struct place *place)
{
    unsigned made = 0;
    int status = 0;

    if (place->path[0] == '\0')
        return 0;
    if (place->own)
        status = make_folders(place->path, &made);
    if (status == 0)
        status = output_open(place->path, REPLACE_WHOLE, &place->out);
    if (place->own) {
        if (status == 0)
            output_close(&place->out, false);
        place->out.file = NULL;
        remove_folders(place->path, made);
    }
    return status;
}

/* Writes the file, and closes it; if nothing was measured (`status` not 0)
 * leaves what was there. Returns a status. */
static int
write_place(struct place *place, const struct calibrate_result *result,
            int status)
{
    struct output *const out = &place->out;
    unsigned made;

    if (place->path[0] == '\0')
        return status;
    if (status != 0) {
        if (out->file != NULL)
            output_close(out, false);
        return status;
    }
    if (place->own) {
        status = make_folders(place->path, &made);
        if (status == 0)
            status = output_open(place->path, REPLACE_WHOLE, out);
        if (status != 0)
            return status;
    }
    calibration_write(&result->calibration, out->file);
    calibrate_write_figures(result, out->file);
    const int error = output_end(out, ferror(out->file) != 0 ? TALLY_EIO : 0);
    return error != 0 ? output_unwritten(place->path) : 0;
}

/* Prints what was measured, and says where it was written. A status. */
static int
report(const struct request *r, const char *path,
       const struct calibrate_result *result)
{
    int error = 0;

    if (r->json)
        error = print_json(result, stdout);
    else
        print_text(result, stdout);
    if (error != 0 || fflush(stdout) != 0)
        return command_unwritten("output");
    if (path[0] == '\0')
        return 0;
    if (r->output == NULL)
        escape_printf(stderr, "tally: wrote %s, which host-model uses\n", path);
    else
        escape_printf(stderr,
                      "tally: wrote %s; host-model uses the file where "
                      "TALLY_HOST_MODEL names it\n",
                      path);
    return 0;
}

static int
run_calibrate(int argc, char **argv)
{
    struct request request = {0};
    struct place place = {.path = ""};
    struct calibrate_result *const result = calloc(1, sizeof(*result));
    int status = result == NULL
                     ? command_no_memory()
                     : command_read(&command_calibrate, argc, argv, take_option,
                                    take_operand, &request);

    if (status == 0)
        status = find_place(&request, &place);
    if (status == 0)
        status = open_place(&place);
    if (status == 0) {
        status = measure(&request, result) != 0 ? EXIT_OURS : 0;
        status = write_place(&place, result, status);
    }
    if (status == 0 && strcmp(place.path, "-") != 0)
        status = report(&request, place.path, result);
    if (status == COMMAND_HELP) {
        command_help(&command_calibrate, stdout);
        status = 0;
    }
    free(result);
    return status;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .summary = "measure this computer for host-model's times",
    .synopsis = "[OPTIONS]",
    .example = "  # Measure, and let host-model have the values from now on.\n"
               "  tally calibrate\n"
               "  # Only see the figures.\n"
               "  tally calibrate -n\n"
               "  # Keep the values of this computer in a file of a project.\n"
               "  tally calibrate -o host-model.toml",
    .options = options,
    .run = run_calibrate,
};
