/* SPDX-License-Identifier: MIT */
#include "source/launch.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "source/qemu.h"
#include "source/setting.h"

extern char **environ;

/* The size of strings and pointers on the stack is rounded up to this. */
#define PAD_STEP 16384u
/* At its top stand PWD and the program's path; together they take this. */
#define PAD_TOP 4096u

/* With each layout the stack begins so many bytes further down, modulo the
 * second: the steps are of 16 bytes, and 9 layouts are spread over a page. */
#define LAYOUT_SHIFT 1840u
#define SHIFT_END 4096u

/* The date at which programs begin in a fixed environment: 2000-01-01, in ns.
 */
#define CLEAN_EPOCH UINT64_C(946684800000000000)

static const char *const clean_environment[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C", "TZ=UTC"};

/* A file that QEMU can open and cannot run. */
#define NO_PROGRAM "/dev/null"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
find_named(const char *name, char *path)
{
    if (strchr(name, '/') == NULL)
        return path_search(name, path);
    snprintf(path, PATH_MAX, "%s", name);
    return path_executable(path);
}

/* Logs where QEMU was looked for. */
static int
refuse_missing(const struct isa *isa, const struct tally_log *log)
{
    char folder[PATH_MAX];

    if (qemu_folder(folder))
        return tally_fail(log, TALLY_EQEMU,
                          "TALLY_QEMU: there is no qemu-%s in %s", isa->name,
                          folder);
    return tally_fail(log, TALLY_EQEMU,
                      "qemu-%s not found: install it (Debian 12: apt install "
                      "qemu-user), build it (scripts/setup qemu), or name it "
                      "with --qemu",
                      isa->name);
}

/* The QEMU of another ISA would say so below our long path of the program. */
static int
check_qemu_isa(const struct isa *isa, const char *path,
               const struct tally_log *log)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    if (strncmp(name, "qemu-", 5) != 0)
        return 0;
    for (const struct isa *i = isa_rows; i < isa_rows + ISA_COUNT; i++)
        if (i != isa && strcmp(name + 5, i->name) == 0)
            return tally_fail(log, TALLY_EQEMU,
                              "%s runs %s programs, and this one is for %s",
                              path, i->name, isa->name);
    return 0;
}

int
launch_find_qemu(const struct isa *isa, const char *wanted,
                 const struct tally_log *log, struct qemu_found *found)
{
    struct qemu_search search;

    if (wanted == NULL) {
        qemu_find(isa, &search);
        if (search.count == 0)
            return refuse_missing(isa, log);
        if (search.used == NULL)
            return qemu_refuse(&search.found[0], log);
    } else {
        struct qemu_found *const named = &search.found[0];
        if (!find_named(wanted, named->path))
            return tally_fail(log, TALLY_EQEMU, "%s not found", wanted);
        qemu_read(named->path, isa, &named->traits);
        if (!qemu_is_usable(&named->traits))
            return qemu_refuse(named, log);
        search.used = named;
    }
    *found = *search.used;
    return check_qemu_isa(isa, found->path, log);
}

/* A growing vector of owned strings. */
struct words {
    char **word;
    size_t count, room;
    bool failed;
};

static void
words_add(struct words *w, char *word)
{
    if (w->count + 1 >= w->room) {
        const size_t room = w->room ? w->room * 2 : 64;
        char **grown = realloc(w->word, room * sizeof(*grown));
        if (grown == NULL) {
            w->failed = true;
            free(word);
            return;
        }
        w->word = grown;
        w->room = room;
    }
    w->failed |= word == NULL;
    w->word[w->count] = word;
    w->count += word != NULL;
    w->word[w->count] = NULL;
}

static void
words_copy(struct words *w, const char *text)
{
    words_add(w, strdup(text));
}

static void
free_words(char **words)
{
    for (char **w = words; w != NULL && *w != NULL; w++)
        free(*w);
    free(words);
}

struct complaint {
    char *text;
    size_t size;
};

/* Copies what QEMU says of the model, a line of standard error that is neither
 * a warning nor about the file; "" if there is none. */
static void
read_complaint(void *user, FILE *said)
{
    const struct complaint *c = user;
    char line[512];

    *c->text = '\0';
    while (fgets(line, sizeof(line), said) != NULL) {
        const char *at = strstr(line, ": ");
        if (*c->text != '\0' || at == NULL ||
            strstr(line, NO_PROGRAM) != NULL ||
            strncmp(at + 2, "warning:", 8) == 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(c->text, c->size, "%s", at + 2);
    }
}

/* Starts QEMU with the model on a file that is no program; fills in what QEMU
 * says of the model, "" if nothing. 0, or an errno where QEMU did not start. */
static int
try_cpu(const char *qemu, const char *cpu, char *text, size_t size)
{
    char *const argv[] = {(char *)qemu, (char *)"-cpu", (char *)cpu,
                          (char *)NO_PROGRAM, NULL};
    struct complaint c = {text, size};

    return qemu_run(qemu, argv, STDERR_FILENO, read_complaint, &c);
}

/* Checks the CPU model that was asked for, if one was. */
static int
check_cpu(const struct isa *isa, const char *qemu, const char *cpu,
          const struct tally_log *log)
{
    char text[256] = "";

    if (cpu == NULL)
        return 0;
    if (strcmp(cpu, "help") == 0 || strcmp(cpu, "?") == 0)
        strcpy(text, "no model");
    else if (try_cpu(qemu, cpu, text, sizeof(text)) != 0 || *text == '\0')
        return 0;
    return tally_fail(log, TALLY_EUNKNOWN,
                      "--cpu-model %s: %s; qemu-%s -cpu help lists the models",
                      cpu, text, isa->name);
}

int
launch_check(const struct launch_options *options, const struct isa *isa,
             const struct tally_log *log)
{
    const char *const sysroot = options->sysroot;
    struct qemu_found qemu;

    if (options->trace != NULL)
        return 0;
    if (sysroot != NULL && access(sysroot, X_OK) != 0)
        return tally_fail(log, TALLY_EPROGRAM, "--sysroot %s: %s", sysroot,
                          strerror(errno));
    const int error = launch_find_qemu(
        isa, options->qemu, options->qemu != NULL ? log : NULL, &qemu);
    if (error != 0)
        return options->qemu != NULL ? error : 0;
    return check_cpu(isa, qemu.path, options->cpu, log);
}

static int
add_arg(struct session_request *r, const char *arg, const struct tally_log *log)
{
    if (r->qemu_arg_count == SESSION_ARGS ||
        strlen(arg) >= sizeof(r->qemu_args[0]))
        return tally_fail(log, TALLY_ERANGE, "'%.40s...' is too long", arg);
    strcpy(r->qemu_args[r->qemu_arg_count++], arg);
    return 0;
}

static int
add_pair(struct session_request *r, const char *option, const char *value,
         const struct tally_log *log)
{
    const int error = add_arg(r, option, log);

    return error != 0 ? error : add_arg(r, value, log);
}

/* Returns the cross libc's root for the program, or NULL where there is none.
 */
static const char *
own_sysroot(const struct program *program)
{
    const char *sysroot = program->isa->sysroot;

    return sysroot != NULL && access(sysroot, X_OK) == 0 ? sysroot : NULL;
}

const char *
trace_part_name(enum trace_part part)
{
    static const char *const names[] = {
        [TRACE_PART_ALL] = "whole",
        [TRACE_PART_ASKED] = "part",
        [TRACE_PART_EARLY] = "ends-before-program",
        [TRACE_PART_CUT] = "cut",
        [TRACE_PART_DAMAGED] = "damaged",
    };

    return names[part];
}

int
launch_check_loader(const struct program *program, const char *sysroot,
                    const struct tally_log *log)
{
    char path[2 * PATH_MAX];

    if (sysroot == NULL)
        sysroot = own_sysroot(program);
    if (program->loader[0] == '\0')
        return 0;
    snprintf(path, sizeof(path), "%s%s", sysroot ? sysroot : "",
             program->loader);
    if (access(path, F_OK) == 0 || access(program->loader, F_OK) == 0)
        return 0;
    return tally_fail(log, TALLY_EPROGRAM,
                      "%s: its loader %s is not under %s: install %s, or name "
                      "the root that has it with --sysroot",
                      program->path, program->loader, sysroot ? sysroot : "/",
                      program->isa->loader_package);
}

/* Has the guest preload the library, before what it preloads anyway. */
static int
add_objects(struct session_request *r, const char *library, bool replays,
            const struct tally_log *log)
{
    const char *const others = getenv("LD_PRELOAD");
    char variable[COUNTS_NAME + PATH_MAX];

    snprintf(r->objects, sizeof(r->objects), "%s", library);
    if (replays)
        return 0; /* the program has run */
    const int length =
        snprintf(variable, sizeof(variable), "LD_PRELOAD=%s%s%s", library,
                 others != NULL && *others != '\0' ? ":" : "",
                 others != NULL ? others : "");
    if ((size_t)length >= sizeof(variable) || strchr(variable, ',') != NULL)
        return tally_fail(log, TALLY_ERANGE,
                          "LD_PRELOAD is longer than %d bytes, or has a comma, "
                          "which QEMU does not take: %s",
                          PATH_MAX, others);
    return add_pair(r, "-E", variable, log);
}

/* The allocators of C libraries, by what they take. */
static const struct {
    const char *name;
    uint32_t kind;
} library_allocators[] = {
    {"malloc", ALLOCATOR_SIZE},
    {"calloc", ALLOCATOR_CALLOC},
    {"realloc", ALLOCATOR_REALLOC},
    {"free", ALLOCATOR_FREE},
    {"cfree", ALLOCATOR_FREE},
    {"memalign", ALLOCATOR_ALIGNED},
    {"aligned_alloc", ALLOCATOR_ALIGNED},
    {"posix_memalign", ALLOCATOR_POSIX_MEMALIGN},
    {"valloc", ALLOCATOR_SIZE},
    {"pvalloc", ALLOCATOR_SIZE},
};

int
launch_find_registers(const struct launch_options *options,
                      const struct program *program,
                      const struct tally_log *log, const char **reason)
{
    struct qemu_found qemu;
    uint64_t address;
    int error = launch_find_qemu(program->isa, options->qemu, log, &qemu);

    if (error != 0)
        return error;
    *reason = NULL;
    if (program_symbol(qemu.path, program->isa->register_reader, NULL,
                       &address) != 0)
        *reason = "the program is static, and this QEMU tells no registers";
    if (*reason != NULL && options->allocator_count != 0)
        return tally_fail(log, TALLY_EQEMU,
                          "--allocator needs a QEMU that tells registers, and "
                          "%s does not: it exports no such function",
                          qemu.path);
    for (size_t i = 0; error == 0 && i < options->allocator_count; i++)
        error = program_symbol(program->path, options->allocators[i].name, log,
                               &address);
    return error;
}

const char *
launch_heap_reason(const struct program *program)
{
    uint64_t address;

    return program_symbol(program->path, "malloc", NULL, &address) == 0
               ? NULL
               : "the program is static and has no function named malloc";
}

static void
add_allocator(struct session_request *r, const char *name, uint64_t address,
              uint32_t kind, uint32_t argument)
{
    struct session_allocator *a = &r->allocators[r->allocator_count++];

    *a = (struct session_allocator){address, kind, argument, ""};
    strcpy(a->name, name);
}

/* Notes the allocators that registers tell of: those that were asked for, and
 * the C library's where it is a part of the program. */
static int
add_allocators(const struct launch_options *options,
               const struct program *program, const struct tally_log *log,
               struct session_request *r)
{
    static_assert(COUNT(library_allocators) + 16 <= SESSION_ALLOCATORS,
                  "there is room");
    uint64_t address;

    for (size_t i = 0; i < options->allocator_count; i++) {
        const struct launch_allocator *a = &options->allocators[i];
        const int error = program_symbol(program->path, a->name, log, &address);
        if (error != 0)
            return error;
        add_allocator(r, a->name, address, ALLOCATOR_SIZE, a->argument);
    }
    if (program_symbol(program->path, "malloc", NULL, &address) != 0)
        return 0;
    for (size_t i = 0; i < COUNT(library_allocators); i++) {
        const char *const name = library_allocators[i].name;
        if (program_symbol(program->path, name, NULL, &address) == 0)
            add_allocator(r, name, address, library_allocators[i].kind, 1);
    }
    return 0;
}

static uint64_t
host_date(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
launch_quantum(const struct launch_options *options)
{
    return options->parallel       ? 0
           : options->quantum != 0 ? options->quantum
                                   : LAUNCH_QUANTUM;
}

int
launch_request(const struct launch_options *options,
               const struct program *program, const struct tally_log *log,
               struct session_request *r)
{
    const char *sysroot = options->sysroot;
    const char *cpu = options->cpu ? options->cpu : program->isa->cpu;
    int error = 0;

    if (sysroot == NULL)
        sysroot = own_sysroot(program);
    if (options->trace == NULL)
        error = launch_check_loader(program, sysroot, log);
    if (error == 0 && strlen(options->plugin) >= sizeof(r->plugin))
        error = tally_fail(log, TALLY_ERANGE, "the plugin's path is too long");
    if (error != 0)
        return error;
    strcpy(r->plugin, options->plugin);
    if (sysroot != NULL)
        error = add_pair(r, "-L", sysroot, log);
    if (error == 0 && cpu != NULL)
        error = add_pair(r, "-cpu", cpu, log);
    if (error == 0 && !options->real_random)
        error = add_pair(r, "-seed", "1", log);
    if (error == 0 && options->objects != NULL)
        error = add_objects(r, options->objects, options->trace != NULL, log);
    if (error == 0 && options->objects != NULL)
        error = add_allocators(options, program, log, r);
    r->fixed_random = options->clean_env && !options->real_random;
    r->turns_asked = options->quantum != 0 || options->by_cycles;
    r->by_cycles = options->by_cycles || options->trace_by_cycles;
    r->quantum = options->trace != NULL ? options->trace_quantum
                                        : launch_quantum(options);
    r->processors =
        options->processors != 0 ? options->processors : LAUNCH_PROCESSORS;
    r->epoch = options->clean_env ? CLEAN_EPOCH : host_date();
    return error;
}

static void
words_reverse(struct words *w)
{
    for (size_t i = 0; i < w->count / 2; i++) {
        char *word = w->word[i];
        w->word[i] = w->word[w->count - 1 - i];
        w->word[w->count - 1 - i] = word;
    }
}

/* Adds a variable that brings `used` bytes up to a multiple of `step`. */
static void
words_pad(struct words *w, size_t used, size_t step)
{
    static const char name[] = "TALLY_PAD=";
    const size_t least = used + sizeof(name) + 8;
    const size_t fill = (step - least % step) % step;
    char *text = malloc(sizeof(name) + fill);

    if (text != NULL) {
        memcpy(text, name, sizeof(name) - 1);
        memset(text + sizeof(name) - 1, '.', fill);
        text[sizeof(name) - 1 + fill] = '\0';
    }
    words_add(w, text);
}

static bool
has_name(const char *variable, const char *name)
{
    const size_t n = strlen(name);

    return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

bool
launch_takes_variable(const char *variable)
{
    return !has_name(variable, "PWD") && !has_name(variable, "OLDPWD") &&
           !has_name(variable, "_") && !has_name(variable, "TALLY_PAD") &&
           !has_name(variable, "TALLY_QEMU") &&
           !has_name(variable, "TALLY_HOST_MODEL") && !setting_is(variable);
}

/* Adds a variable, unless the options have one of its name. */
static void
add_variable(struct words *env, const char *variable,
             const struct launch_options *options)
{
    const size_t name = strcspn(variable, "=") + 1;

    for (size_t i = 0; i < options->variable_count; i++) {
        if (strncmp(variable, options->variables[i], name) == 0)
            return;
    }
    words_copy(env, variable);
}

/* Without the variables that depend on where and how we were started, and those
 * that change how QEMU runs. */
static void
add_environment(struct words *env, const struct launch_options *options,
                const struct program *program)
{
    char *self = NULL;

    for (char **e = environ; *e != NULL; e++) {
        if (launch_takes_variable(*e))
            add_variable(env, *e, options);
    }
    /* As a shell sets it for what it starts. */
    words_add(env, asprintf(&self, "_=%s", program->path) < 0 ? NULL : self);
}

static size_t
stack_bytes(char *const *words)
{
    size_t bytes = 0;

    for (; *words != NULL; words++)
        bytes += strlen(*words) + 1 + 8;
    return bytes;
}

/*
 * Returns the path with as many "./" as bring it and `used` bytes up to
 * PAD_TOP: the kernel shows it to the program at the top of the stack, where no
 * padding variable can stand.
 */
static char *
padded_path(const char *path, size_t used)
{
    const size_t length = strlen(path) + 1;
    const size_t least = used + length;
    const size_t room = least + 3 < PAD_TOP ? PAD_TOP - least : 0;
    char *text = malloc(length + room);

    if (text == NULL)
        return NULL;
    char *at = text;
    if (*path == '/') {
        *at++ = '/';
        path++;
    }
    for (size_t i = 1; i < room; i += 2)
        at = stpcpy(at, "./");
    if (room % 2 != 0)
        *at++ = '/';
    strcpy(at, path);
    return text;
}

/*
 * From the top of the stack down: the program's path, PWD, the padding, the
 * other variables, the arguments, the pointers. PWD begins at a fixed place,
 * and so does all from the padding down; a line that the program reads is the
 * same line wherever it was started.
 */
static int
build_env(const struct launch_options *options, const struct program *program,
          const struct session_request *r, struct launch *launch)
{
    const uint64_t shift = r->params[PARAM_LAYOUT] * LAYOUT_SHIFT % SHIFT_END;
    struct words env = {0};
    const char *pwd = options->clean_env ? NULL : getenv("PWD");
    char *text = NULL;

    if (options->clean_env) {
        for (size_t i = 0; i < COUNT(clean_environment); i++)
            add_variable(&env, clean_environment[i], options);
    } else {
        add_environment(&env, options, program);
    }
    for (size_t i = 0; i < options->variable_count; i++)
        words_copy(&env, options->variables[i]);
    if (asprintf(&text, "PWD=%s", pwd ? pwd : "/") < 0)
        text = NULL;
    if (!env.failed && text != NULL) {
        words_pad(&env,
                  stack_bytes(program->argv) + stack_bytes(env.word) + 8 +
                      PAD_STEP - shift,
                  PAD_STEP);
        launch->path = padded_path(program->path, strlen(text) + 1);
    }
    words_add(&env, text);
    if (qemu_reverses_environment(&launch->qemu.traits))
        words_reverse(&env);
    launch->env = env.word;
    return env.failed || launch->path == NULL ? TALLY_ENOMEM : 0;
}

static char *
plugin_option(const struct session_request *r, const char *session,
              const char *program)
{
    char *text = NULL;
    const char *parts[] = {r->plugin, session, program};
    char escaped[3][2 * PATH_MAX];

    for (size_t i = 0; i < COUNT(parts); i++) {
        size_t n = 0;
        for (const char *c = parts[i]; *c && n + 3 < sizeof(escaped[i]); c++) {
            escaped[i][n++] = *c;
            if (*c == ',') /* QEMU's option syntax */
                escaped[i][n++] = ',';
        }
        escaped[i][n] = '\0';
    }
    if (asprintf(&text, "%s,session=%s,name=%s", escaped[0], escaped[1],
                 escaped[2]) < 0)
        return NULL;
    return text;
}

/* Has the program that replays a trace stand for QEMU. */
static int
find_replayer(const struct launch_options *options, const struct tally_log *log,
              struct qemu_found *found)
{
    if (strlen(options->replayer) >= sizeof(found->path))
        return tally_fail(log, TALLY_ERANGE, "%s: the path is too long",
                          options->replayer);
    *found = (struct qemu_found){.traits = {.interface = 1}};
    strcpy(found->path, options->replayer);
    return 0;
}

int
launch_build(const struct launch_options *options,
             const struct program *program, const struct session_request *r,
             const char *session, const struct tally_log *log,
             struct launch *launch)
{
    struct words argv = {0};
    int error;

    memset(launch, 0, sizeof(*launch));
    if (options->trace != NULL)
        error = find_replayer(options, log, &launch->qemu);
    else
        error =
            launch_find_qemu(program->isa, options->qemu, log, &launch->qemu);
    if (error != 0)
        return error;
    words_copy(&argv, launch->qemu.path);
    words_copy(&argv, "-0");
    words_copy(&argv, program->argv[0]);
    for (uint32_t i = 0; i < r->qemu_arg_count; i++)
        words_copy(&argv, r->qemu_args[i]);
    if (options->debugger != NULL) {
        words_copy(&argv, "-g");
        words_copy(&argv, options->debugger);
    }
    if (options->trace != NULL) {
        words_copy(&argv, "-replay");
        words_copy(&argv, options->trace);
    }
    if (options->tracer != NULL) {
        words_copy(&argv, "-plugin");
        words_copy(&argv, options->tracer);
    }
    words_copy(&argv, "-plugin");
    words_add(&argv, plugin_option(r, session, program->path));
    if (error == 0)
        error = build_env(options, program, r, launch);
    words_copy(&argv, launch->path ? launch->path : program->path);
    for (char **a = program->argv + 1; program->argv[0] && *a != NULL; a++)
        words_copy(&argv, *a);
    launch->argv = argv.word;
    if (error != 0 || argv.failed) {
        launch_finish(launch);
        return tally_fail(log, TALLY_ENOMEM, "out of memory");
    }
    return 0;
}

void
launch_finish(struct launch *launch)
{
    free_words(launch->argv);
    free_words(launch->env);
    free(launch->path);
    memset(launch, 0, sizeof(*launch));
}
