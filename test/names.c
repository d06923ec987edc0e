/* SPDX-License-Identifier: MIT */
/*
 * Names of places in ELF files: those of small programs made for this test,
 * compared with what addr2line says, and files that are no good.
 */
#include "names/names.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "names/demangle.h"
#include "names/elf_file.h"
#include "names/span.h"

#define FRAMES 16
#define COMPARED 200
#define LOOK_UPS 100000
#define FUNCTIONS 20000

static char message[512];

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(message, sizeof(message), "%s", text);
}

static const struct tally_log log_message = {keep_message, NULL};

/* Returns the path of a program of this test; the next call overwrites it. */
static const char *
program(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/names_%s", NAMES_PROGRAMS, name);
    return path;
}

/* Skips the case if the program could not be made here. */
static const char *
program_or_skip(const char *name)
{
    const char *path = program(name);

    if (access(path, R_OK) != 0)
        skip();
    return path;
}

/* Names of one file. */
static struct names *
names_of(const char *path)
{
    struct names *names = NULL;
    unsigned file = 99;

    assert_int_equal(names_create(NULL, &log_message, &names), 0);
    assert_int_equal(names_add(names, path, NULL, 0, &file), 0);
    assert_int_equal(file, 0);
    return names;
}

struct function {
    char *name, *mangled;
    uint64_t offset, size;
};

struct functions {
    struct function all[FUNCTIONS];
    size_t count;
};

static void
take_function(void *user, const char *function, const char *mangled,
              uint64_t offset, uint64_t size)
{
    struct functions *f = user;

    assert_non_null(function);
    if (f->count < FUNCTIONS)
        f->all[f->count++] = (struct function){
            strdup(function), mangled ? strdup(mangled) : NULL, offset, size};
}

/* Returns the functions of the first file, which come by place and name, each
 * once. */
static struct functions *
functions_of(struct names *names)
{
    struct functions *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    names_each_function(names, 0, take_function, f);
    for (size_t i = 1; i < f->count; i++) {
        const struct function *a = &f->all[i - 1], *b = &f->all[i];
        assert_true(a->offset < b->offset ||
                    (a->offset == b->offset && strcmp(a->name, b->name) < 0));
    }
    return f;
}

static void
free_functions(struct functions *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->all[i].name);
        free(f->all[i].mangled);
    }
    free(f);
}

/* Returns the function with the name; the test fails if there is none. */
static const struct function *
function_named(const struct functions *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->all[i].name, name) == 0)
            return &f->all[i];
    fail_msg("no function %s", name);
    return NULL;
}

static bool
ends_in(const char *text, const char *end)
{
    return text != NULL && strlen(text) >= strlen(end) &&
           strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Returns whether line `number` of the source begins with the text. */
static bool
line_begins(const char *path, unsigned number, const char *text)
{
    char line[256] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    for (unsigned i = 0; i < number; i++)
        if (fgets(line, sizeof(line), file) == NULL)
            line[0] = '\0';
    fclose(file);
    return number > 0 && strncmp(line, text, strlen(text)) == 0;
}

/* Checks what holds of all frames of a place of copies.c with debug
 * information; returns how many copies the place is in. */
static size_t
check_frames(const struct name_frame *frames, size_t count, const char *outer,
             uint64_t offset)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(ends_in(frames[i].file, "/test/names/copies.c"));
        assert_int_equal(frames[i].file[0], '/');
        assert_true(frames[i].line > 0);
        assert_int_equal(frames[i].function_offset, offset);
        assert_string_equal(frames[i].function, frames[i].mangled);
        assert_true(line_begins(frames[i].file, frames[i].function_line,
                                frames[i].function));
    }
    assert_string_equal(frames[count - 1].function, outer);
    if (count > 1)
        assert_true(strcmp(frames[0].function, "copies_inner") == 0 ||
                    strcmp(frames[0].function, "copies_middle") == 0);
    if (count == 3)
        assert_string_equal(frames[1].function, "copies_middle");
    return count - 1;
}

static bool
same_frame(const struct name_frame *a, const struct name_frame *b)
{
    return a->function == b->function && a->mangled == b->mangled &&
           a->file == b->file && a->line == b->line &&
           a->function_line == b->function_line &&
           a->function_offset == b->function_offset;
}

/* Up to names_until() the frames of all bytes are those of the first. */
static void
check_until(struct names *names, uint64_t from, uint64_t size)
{
    struct name_frame first[FRAMES], frames[FRAMES];
    size_t count = 0, longer = 0;
    uint64_t begin = from, until = from;

    for (uint64_t at = from; at < from + size; at++) {
        const size_t now = names_find(names, 0, at, frames, FRAMES);
        if (at == until) {
            until = names_until(names, 0, at);
            begin = at;
            assert_true(until > at);
            longer += until > at + 1;
            memcpy(first, frames, sizeof(first));
            count = now;
        }
        assert_int_equal(now, count);
        for (size_t i = 0; i < count; i++)
            assert_true(same_frame(&frames[i], &first[i]));
        assert_true(names_address(names, 0, at) ==
                    names_address(names, 0, begin) + (at - begin));
    }
    assert_true(longer > 0);
}

/* In copies_outer() there is code of its own, code that is copied once and code
 * that is copied twice. */
static void
check_copies(const char *path)
{
    struct names *names = names_of(path);
    struct functions *f = functions_of(names);
    const struct function *outer = function_named(f, "copies_outer");
    bool seen[3] = {false};

    function_named(f, "copies_static");
    function_named(f, "a_copies_alias");
    assert_true(outer->size > 0);
    for (uint64_t i = 0; i < outer->size; i++) {
        struct name_frame frames[FRAMES], one;
        const size_t count =
            names_find(names, 0, outer->offset + i, frames, FRAMES);
        assert_in_range(count, 1, 3);
        seen[check_frames(frames, count, "copies_outer", outer->offset)] = true;
        /* Without room the real function is what stays. */
        assert_int_equal(names_find(names, 0, outer->offset + i, &one, 1), 1);
        assert_string_equal(one.function, "copies_outer");
        assert_int_equal(one.line, frames[count - 1].line);
        assert_int_equal(names_find(names, 0, outer->offset + i, &one, 0), 0);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    /* The code around the function may be of no function. */
    check_until(names, outer->offset - 64, outer->size + 128);
    assert_true(names_until(names, 0, 0) > 0);
    assert_true(names_until(names, 1, 0) == 1);
    assert_true(names_until(names, 0, UINT64_MAX) == UINT64_MAX);
    free_functions(f);
    names_destroy(names);
}

static void
test_dwarf4(void **unused)
{
    (void)unused;
    check_copies(program("dwarf4"));
}

static void
test_dwarf5(void **unused)
{
    (void)unused;
    check_copies(program("dwarf5"));
}

static void
test_clang(void **unused)
{
    (void)unused;
    check_copies(program_or_skip("clang"));
}

/* .gnu_debuglink names a file beside the program. */
static void
test_debuglink(void **unused)
{
    (void)unused;
    check_copies(program_or_skip("stripped"));
}

/* Copies a file; the copy is cut at `most` bytes. */
static void
copy_file(const char *from, const char *to, size_t most)
{
    char *bytes = malloc(1 << 20);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");

    assert_true(bytes != NULL && in != NULL && out != NULL);
    const size_t size = fread(bytes, 1, most < 1 << 20 ? most : 1 << 20, in);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    free(bytes);
}

/* The folder of a test, and the files and folders in it. */
static char folder[] = "/tmp/tally-names-XXXXXX";
static char files[8][640];
static size_t file_count;

static void
make_folder(void)
{
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
}

/* Returns the path of a new file or folder in the folder. */
static const char *
in_folder(const char *name)
{
    assert_true(file_count < sizeof(files) / sizeof(files[0]));
    char *const path = files[file_count++];
    snprintf(path, sizeof(files[0]), "%s/%s", folder, name);
    return path;
}

static void
remove_folder(void)
{
    while (file_count > 0)
        remove(files[--file_count]);
    assert_int_equal(rmdir(folder), 0);
}

/* The debug file is in .debug/, or is another's: then there are no lines. */
static void
test_debuglink_places(void **unused)
{
    char stripped[512], debug[512];
    struct name_frame frame;

    (void)unused;
    strcpy(stripped, program_or_skip("stripped"));
    strcpy(debug, program("stripped.debug"));
    make_folder();
    const char *copy = in_folder("program");
    copy_file(stripped, copy, SIZE_MAX);
    assert_int_equal(mkdir(in_folder(".debug"), 0755), 0);
    const char *link = in_folder(".debug/names_stripped.debug");
    copy_file(debug, link, SIZE_MAX);
    check_copies(copy);

    struct names *names = names_of(copy);
    struct functions *f = functions_of(names);
    const uint64_t offset = function_named(f, "copies_outer")->offset;
    free_functions(f);
    names_destroy(names);
    copy_file(program("dwarf4"), link, SIZE_MAX);
    names = names_of(copy);
    assert_int_equal(names_find(names, 0, offset, &frame, 1), 0);
    names_destroy(names);
    remove_folder();
}

/* The debug file has the build id's name in a folder that the caller names. */
static void
test_build_id_folder(void **unused)
{
    char name[512];
    struct elf_file elf;
    struct names *names;
    struct name_frame frames[FRAMES];
    unsigned file = 0;

    (void)unused;
    program_or_skip("stripped");
    assert_int_equal(elf_file_open(program("dwarf5"), NULL, &elf), 0);
    assert_int_equal(elf.build_id_size, 20);
    make_folder();
    assert_int_equal(mkdir(in_folder(".build-id"), 0755), 0);
    snprintf(name, sizeof(name), ".build-id/%02x", elf.build_id[0]);
    assert_int_equal(mkdir(in_folder(name), 0755), 0);
    int length =
        snprintf(name, sizeof(name), ".build-id/%02x/", elf.build_id[0]);
    for (size_t i = 1; i < elf.build_id_size; i++)
        length += snprintf(name + length, sizeof(name) - (size_t)length, "%02x",
                           elf.build_id[i]);
    strcat(name, ".debug");
    /* The program without debug information is asked, so that only the debug
     * file can have the line. */
    const char *debug = in_folder(name);
    copy_file(program("dwarf5"), debug, SIZE_MAX);
    const char *bare = in_folder("bare");
    char command[2048];
    snprintf(command, sizeof(command), "objcopy --strip-all '%s' '%s'",
             program("dwarf5"), bare);
    assert_int_equal(system(command), 0);

    const struct names_options options = {(const char *[]){folder}, 1};
    struct names *all = names_of(program("dwarf5"));
    struct functions *f = functions_of(all);
    const uint64_t offset = function_named(f, "copies_outer")->offset;
    assert_int_equal(names_create(&options, &log_message, &names), 0);
    assert_int_equal(
        names_add(names, bare, elf.build_id, elf.build_id_size, &file), 0);
    assert_true(names_find(names, file, offset, frames, FRAMES) > 0);
    assert_true(ends_in(frames[0].file, "copies.c"));
    names_destroy(names);
    names_destroy(all);
    free_functions(f);
    elf_file_close(&elf);
    remove_folder();
}

#define LINES 256

static void
take_line(void *user, unsigned line)
{
    bool *const lines = user;

    assert_in_range(line, 1, LINES - 1);
    lines[line] = true;
}

/* Checks that the lines of the source with code are those that the bytes of its
 * functions have. */
static void
check_lines(const char *name)
{
    struct names *names = names_of(program(name));
    struct functions *f = functions_of(names);
    bool lines[LINES] = {false}, wanted[LINES] = {false}, none[LINES] = {false};
    struct name_frame frames[FRAMES];
    char source[512] = "", other[520];
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        for (uint64_t at = 0; at < f->all[i].size; at++) {
            if (names_find(names, 0, f->all[i].offset + at, frames, FRAMES) ==
                    0 ||
                !ends_in(frames[0].file, "/test/names/copies.c"))
                continue;
            snprintf(source, sizeof(source), "%s", frames[0].file);
            take_line(wanted, frames[0].line);
        }
    names_each_line(names, 0, source, take_line, lines);
    for (unsigned line = 0; line < LINES; line++) {
        if (lines[line] != wanted[line])
            fail_msg("%s: line %u", name, line);
        count += lines[line];
    }
    assert_true(count > 20);
    /* Another file of the same name, and another file. */
    snprintf(other, sizeof(other), "/x%s", source);
    names_each_line(names, 0, other, take_line, none);
    names_each_line(names, 0, "/nothing.c", take_line, none);
    names_each_line(names, 1, source, take_line, none);
    for (unsigned line = 0; line < LINES; line++)
        assert_false(none[line]);
    assert_int_equal(names_address(names, 1, f->all[0].offset), UINT64_MAX);
    names_each_function(names, 1, take_function, NULL);
    free_functions(f);
    names_destroy(names);
}

static void
test_each_line(void **unused)
{
    (void)unused;
    check_lines("dwarf4");
    check_lines("dwarf5");
}

/* Functions with two symbols: the best known name, and the other one. */
static const struct {
    const char *best, *other;
} known[] = {
    {"_copies_weak", "copies_hidden"},
    {"__copies_global", "copies_inside"},
    {"__copies_two", "___copies_three"},
};

/* Without debug information the symbols give names. */
static void
test_symbols(void **unused)
{
    struct names *names = names_of(program("plain"));
    struct functions *f = functions_of(names);
    const struct function *alias = function_named(f, "copies_alias");
    struct name_frame frame;

    (void)unused;
    assert_int_equal(function_named(f, "__copies_alias")->offset,
                     alias->offset);
    assert_int_equal(function_named(f, "a_copies_alias")->offset,
                     alias->offset);
    for (uint64_t i = 0; i < alias->size; i++) {
        assert_int_equal(names_find(names, 0, alias->offset + i, &frame, 1), 1);
        assert_string_equal(frame.function, "copies_alias");
        assert_string_equal(frame.mangled, "copies_alias");
        assert_null(frame.file);
        assert_int_equal(frame.line, 0);
        assert_int_equal(frame.function_offset, alias->offset);
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct function *other = function_named(f, known[i].other);
        assert_int_equal(names_find(names, 0, other->offset, &frame, 1), 1);
        assert_string_equal(frame.function, known[i].best);
    }
    assert_int_equal(names_find(names, 0, 0, &frame, 1), 0);
    assert_int_equal(names_find(names, 0, UINT64_MAX, &frame, 1), 0);
    assert_int_equal(names_find(names, 1, alias->offset, &frame, 1), 0);
    free_functions(f);
    names_destroy(names);
}

static void
test_linkage_table(void **unused)
{
    struct names *names = names_of(program("dwarf5"));
    struct functions *f = functions_of(names);
    struct name_frame frame;
    bool found = false;

    (void)unused;
    for (size_t i = 0; i < f->count; i++) {
        if (!ends_in(f->all[i].name, "@plt"))
            continue;
        assert_int_equal(names_find(names, 0, f->all[i].offset + 4, &frame, 1),
                         1);
        assert_string_equal(frame.function, f->all[i].name);
        assert_null(frame.file);
        found |= strcmp(frame.function, "printf@plt") == 0;
    }
    free_functions(f);
    names_destroy(names);
#ifdef __x86_64__
    assert_true(found);
#endif
}

static void
check_mangled(const char *path)
{
    static const struct {
        int line;
        const char *name, *mangled;
    } rows[] = {
        {__LINE__, "space::operator+(space::pair const&, space::pair const&)",
         "_ZN5spaceplERKNS_4pairES2_"},
        {__LINE__, "unsigned int space::twice<unsigned int>(unsigned int)",
         "_ZN5space5twiceIjEET_S1_"},
        {__LINE__, "double space::twice<double>(double)",
         "_ZN5space5twiceIdEET_S1_"},
        {__LINE__, "space::counter::run(unsigned int)",
         "_ZN5space7counter3runEj"},
        {__LINE__, "space::(anonymous namespace)::hidden(unsigned int)",
         "_ZN5space12_GLOBAL__N_16hiddenEj"},
        {__LINE__, "main", "main"},
    };
    struct names *names = names_of(path);
    struct functions *f = functions_of(names);
    bool copied = false;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct function *one = function_named(f, rows[i].name);
        struct name_frame frames[FRAMES];
        for (uint64_t at = 0; at < one->size; at++) {
            const size_t count =
                names_find(names, 0, one->offset + at, frames, FRAMES);
            if (count == 0 ||
                strcmp(frames[count - 1].function, rows[i].name) != 0 ||
                strcmp(frames[count - 1].mangled, rows[i].mangled) != 0)
                fail_msg("line %d: %s", rows[i].line, rows[i].name);
            copied |= strcmp(frames[0].function,
                             "space::counter::next(unsigned int)") == 0;
        }
    }
    assert_true(copied);
    free_functions(f);
    names_destroy(names);
}

static void
test_mangled(void **unused)
{
    (void)unused;
    check_mangled(program_or_skip("mangled4"));
    check_mangled(program_or_skip("mangled5"));
}

static void
test_demangle(void **unused)
{
    static const struct {
        int line;
        const char *mangled, *name;
    } rows[] = {
        {__LINE__, "main", "main"},
        {__LINE__, "", ""},
        {__LINE__, "_", "_"},
        {__LINE__, "_Z", "_Z"},
        {__LINE__, "_Zebra", "_Zebra"},
        {__LINE__, "_Reset", "_Reset"},
        {__LINE__, "printf@plt", "printf@plt"},
        {__LINE__, "_Z3addii", "add(int, int)"},
        {__LINE__, "_Z3addii@plt", "add(int, int)@plt"},
        {__LINE__, "_Z3addii.cold", "add(int, int) [clone .cold]"},
        /* Rust, the old way and the new. */
        {__LINE__, "_ZN4core3fmt5write17h0123456789abcdefE",
         "core::fmt::write"},
        {__LINE__, "_RNvC6_123foo3bar", "123foo::bar"},
    };
    struct demangler d = {0};
    char names[1000][16];

    (void)unused;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            const char *name = demangle(&d, rows[i].mangled);
            if (strcmp(name, rows[i].name) != 0)
                fail_msg("line %d: %s", rows[i].line, name);
        }
    }
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(names[i], sizeof(names[i]), "_Z4f%03dv", i);
        snprintf(name, sizeof(name), "f%03d()", i);
        assert_string_equal(demangle(&d, names[i]), name);
        assert_ptr_equal(demangle(&d, names[i]), demangle(&d, names[i]));
    }
    demangler_finish(&d);
}

/* Each address has one owner, the innermost. */
static void
test_spans(void **unused)
{
    static const struct {
        uint64_t start, end;
        uint32_t owner, depth;
    } added[] = {
        {10, 50, 0, 1}, {20, 30, 1, 2},   {20, 25, 2, 3},    {30, 40, 3, 2},
        {60, 60, 4, 1}, {70, 90, 5, 1},   {80, 99, 6, 1},    {75, 200, 7, 4},
        {50, 55, 8, 1}, {300, 310, 9, 1}, {300, 310, 10, 1},
    };
    static const struct {
        uint64_t address;
        uint32_t owner;
    } owners[] = {
        {9, 99},   {10, 0},   {19, 0},   {20, 2},   {24, 2},          {25, 1},
        {30, 3},   {40, 0},   {49, 0},   {50, 8},   {55, 99},         {60, 99},
        {70, 5},   {75, 7},   {80, 6},   {98, 6},   {99, 7},          {199, 7},
        {200, 99}, {300, 10}, {309, 10}, {310, 99}, {UINT64_MAX, 99},
    };
    struct span_list list = {0};

    (void)unused;
    assert_true(span_flatten(&list));
    assert_null(span_find(&list, 0));
    for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
        assert_true(
            span_add(&list, &(struct span){added[i].start, added[i].end,
                                           added[i].owner, added[i].depth}));
    assert_true(span_flatten(&list));
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        const struct span *span = span_find(&list, owners[i].address);
        const uint32_t owner = span != NULL ? span->owner : 99;
        if (owner != owners[i].owner)
            fail_msg("%d: %u", (int)owners[i].address, owner);
    }
    for (size_t i = 1; i < list.count; i++)
        assert_true(list.all[i - 1].end <= list.all[i].start);
    span_finish(&list);
}

/* Writes what addr2line says of the addresses into a file of text. */
static FILE *
ask_addr2line(const char *path, const uint64_t *addresses, size_t count)
{
    char command[20000];
    size_t length = (size_t)snprintf(command, sizeof(command),
                                     "addr2line -a -i -f -C -e '%s'", path);

    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(command + length, sizeof(command) - length,
                                   " 0x%llx", (unsigned long long)addresses[i]);
    return popen(command, "r");
}

/* Reads a line without its end; false: there is none. */
static bool
read_line(FILE *file, char *line, size_t size)
{
    if (fgets(line, (int)size, file) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Returns whether one of the names of the frame's function is `name`. */
static bool
has_name(const struct functions *f, const struct name_frame *frame,
         const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->all[i].offset == frame->function_offset &&
            strcmp(f->all[i].name, name) == 0)
            return true;
    return false;
}

/* Compares a frame with addr2line's two lines. addr2line knows no line of code
 * that has none of its own, and the line before is ours. Of several symbols
 * addr2line may choose another. */
static void
compare_frame(const struct functions *f, const struct name_frame *frame,
              const char *function, char *place, uint64_t address)
{
    char own[1024];

    place[strcspn(place, " ")] = '\0'; /* a discriminator */
    snprintf(own, sizeof(own), "%s:%u", frame->file ? frame->file : "??",
             frame->line);
    assert_non_null(frame->function);
    if ((strcmp(frame->function, function) != 0 &&
         (frame->file != NULL || !has_name(f, frame, function))) ||
        (!ends_in(place, ":?") && !ends_in(place, ":0") &&
         strcmp(own, place) != 0))
        fail_msg("0x%llx: %s %s, addr2line says %s %s",
                 (unsigned long long)address, frame->function, own, function,
                 place);
}

static void
compare(const char *path)
{
    struct names *names = names_of(path);
    struct functions *f = functions_of(names);
    uint64_t offsets[COMPARED], addresses[COMPARED];
    struct elf_file elf;
    size_t count = 0;
    char line[1024], place[1024];

    assert_int_equal(elf_file_open(path, NULL, &elf), 0);
    for (uint64_t at = 0; count < COMPARED && at < 4096; at++) {
        for (size_t i = 0; i < f->count && count < COMPARED; i++) {
            if (at >= f->all[i].size || ends_in(f->all[i].name, "@plt"))
                continue;
            offsets[count] = f->all[i].offset + at;
            assert_true(
                elf_file_address(&elf, offsets[count], &addresses[count]));
            count++;
        }
    }
    assert_int_equal(count, COMPARED);
    FILE *said = ask_addr2line(path, addresses, count);
    assert_non_null(said);
    bool more = read_line(said, line, sizeof(line));
    for (size_t i = 0; i < count; i++) {
        struct name_frame frames[FRAMES];
        const size_t own = names_find(names, 0, offsets[i], frames, FRAMES);
        size_t theirs = 0;
        assert_true(more && strncmp(line, "0x", 2) == 0);
        while ((more = read_line(said, line, sizeof(line))) &&
               strncmp(line, "0x", 2) != 0) {
            assert_true(read_line(said, place, sizeof(place)));
            assert_true(theirs < own);
            compare_frame(f, &frames[theirs++], line, place, addresses[i]);
        }
        assert_int_equal(theirs, own);
    }
    assert_int_equal(pclose(said), 0);
    elf_file_close(&elf);
    free_functions(f);
    names_destroy(names);
}

static void
test_addr2line(void **unused)
{
    static const char *const programs[] = {"dwarf4", "dwarf5", "plain",
                                           "mangled4", "mangled5"};

    (void)unused;
    if (system("addr2line --version >/dev/null 2>&1") != 0)
        skip();
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (access(program(programs[i]), R_OK) == 0)
            compare(program(programs[i]));
}

/* Many look-ups, sorted and not, give the same as one alone. */
static void
test_many(void **unused)
{
    struct names *names = names_of(program("dwarf5"));
    struct functions *f = functions_of(names);
    uint64_t state = 88172645463325252u;

    (void)unused;
    for (size_t i = 0; i < LOOK_UPS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const struct function *one = &f->all[state % f->count];
        if (one->size == 0 || strncmp(one->name, "copies_", 7) != 0)
            continue;
        struct name_frame frames[FRAMES];
        const size_t count = names_find(
            names, 0, one->offset + (state >> 32) % one->size, frames, FRAMES);
        assert_in_range(count, 1, 3);
        assert_int_equal(frames[0].function_offset, one->offset);
        assert_string_equal(frames[count - 1].function, one->name);
    }
    free_functions(f);
    names_destroy(names);
}

/* Files of other machines: big-endian ones and MIPS. */
static void
test_machines(void **unused)
{
    static const char *const paths[] = {
        "/usr/sparc64-linux-gnu/lib/libc.so.6",
        "/usr/mips64-linux-gnuabi64/lib/libc.so.6",
        "/usr/mips64el-linux-gnuabi64/lib/libc.so.6",
    };
    bool found = false;

    (void)unused;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct name_frame frame;
        if (access(paths[i], R_OK) != 0)
            continue;
        struct names *names = names_of(paths[i]);
        struct functions *f = functions_of(names);
        const struct function *one = function_named(f, "strtoull");
        found = true;
        assert_int_equal(names_find(names, 0, one->offset + 4, &frame, 1), 1);
        assert_int_equal(frame.function_offset, one->offset);
        assert_non_null(strstr(frame.function, "strto"));
        free_functions(f);
        names_destroy(names);
    }
    if (!found)
        skip();
}

static void
test_refused(void **unused)
{
    static const struct {
        int line;
        const char *path;
        int error;
    } rows[] = {
        {__LINE__, "/nonexistent/file", TALLY_EIO},
        {__LINE__, "", TALLY_EIO},
        {__LINE__, "/", TALLY_EIO},
        {__LINE__, "/dev/zero", TALLY_EIO},
        {__LINE__, "/etc/passwd", TALLY_EPROGRAM},
        {__LINE__, "/dev/null", TALLY_EIO},
    };
    struct names *names;
    unsigned file = 7;

    (void)unused;
    assert_int_equal(names_create(NULL, &log_message, &names), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        message[0] = '\0';
        if (names_add(names, rows[i].path, NULL, 0, &file) != rows[i].error ||
            strncmp(message, rows[i].path, strlen(rows[i].path)) != 0)
            fail_msg("line %d: %s", rows[i].line, message);
    }
    assert_int_equal(file, 7);
    names_destroy(names);
    names_destroy(NULL);
}

static void
test_build_id(void **unused)
{
    struct elf_file elf;
    struct names *names;
    uint8_t id[20];
    unsigned file = 7;

    (void)unused;
    assert_int_equal(elf_file_open(program("dwarf4"), NULL, &elf), 0);
    assert_int_equal(elf.build_id_size, sizeof(id));
    memcpy(id, elf.build_id, sizeof(id));
    elf_file_close(&elf);
    assert_int_equal(names_create(NULL, &log_message, &names), 0);
    assert_int_equal(names_add(names, program("dwarf4"), id, sizeof(id), &file),
                     0);
    assert_int_equal(file, 0);
    assert_int_equal(names_add(names, program("dwarf4"), id, 19, &file),
                     TALLY_ESYNTAX);
    id[19] ^= 1;
    assert_int_equal(names_add(names, program("dwarf4"), id, sizeof(id), &file),
                     TALLY_ESYNTAX);
    assert_non_null(strstr(message, "build id"));
    if (access(program("stripped"), R_OK) == 0)
        assert_int_equal(
            names_add(names, program("stripped"), id, sizeof(id), &file),
            TALLY_ESYNTAX);
    assert_int_equal(file, 0);
    names_destroy(names);
}

/* A file has one index for as long as it is the same. */
static void
test_added_again(void **unused)
{
    struct names *names;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    unsigned file[5];

    (void)unused;
    make_folder();
    const char *const path = in_folder("copy");
    copy_file(program("dwarf4"), path, SIZE_MAX);
    assert_int_equal(names_create(NULL, &log_message, &names), 0);
    assert_int_equal(names_add(names, path, NULL, 0, &file[0]), 0);
    assert_int_equal(names_add(names, program("dwarf5"), NULL, 0, &file[1]), 0);
    assert_int_equal(names_add(names, path, NULL, 0, &file[2]), 0);
    assert_int_equal(file[1], 1);
    assert_int_equal(file[2], file[0]);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(names_add(names, path, NULL, 0, &file[3]), 0);
    assert_int_equal(file[3], 2);
    assert_int_equal(remove(path), 0);
    assert_int_equal(names_add(names, path, NULL, 0, &file[4]), TALLY_EIO);
    names_destroy(names);
    remove_folder();
}

/* A file that is cut anywhere is refused or gives fewer names. */
static void
test_truncated(void **unused)
{
    make_folder();
    const char *cut = in_folder("cut");
    struct stat st;

    (void)unused;
    assert_int_equal(stat(program("dwarf5"), &st), 0);
    for (off_t size = 0; size < st.st_size;
         size += size < 512 ? 61 : st.st_size / 50) {
        struct names *names;
        unsigned file;
        copy_file(program("dwarf5"), cut, (size_t)size);
        assert_int_equal(names_create(NULL, &log_message, &names), 0);
        const int error = names_add(names, cut, NULL, 0, &file);
        assert_true(error == 0 || (size < 2048 && error == TALLY_EPROGRAM));
        if (error == 0) {
            struct functions *f = functions_of(names);
            for (uint64_t at = 0; at < 8192; at += 64) {
                struct name_frame frames[FRAMES];
                names_find(names, file, at, frames, FRAMES);
            }
            free_functions(f);
        }
        names_destroy(names);
    }
    remove_folder();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_demangle),
        cmocka_unit_test(test_dwarf4),
        cmocka_unit_test(test_dwarf5),
        cmocka_unit_test(test_clang),
        cmocka_unit_test(test_debuglink),
        cmocka_unit_test(test_debuglink_places),
        cmocka_unit_test(test_build_id_folder),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_each_line),
        cmocka_unit_test(test_linkage_table),
        cmocka_unit_test(test_mangled),
        cmocka_unit_test(test_addr2line),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_added_again),
        cmocka_unit_test(test_truncated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
