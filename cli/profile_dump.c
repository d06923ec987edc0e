/* SPDX-License-Identifier: MIT */
#include "cli/profile_dump.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/output.h"
#include "profile/dump.h"

#define PLACES "profiler_calls_location.txt"

/* What a run has left in the private folder. */
enum left {
    LEFT_NOTHING, /* no dump */
    LEFT_REFUSED, /* a dump of a program in which no start succeeded */
    LEFT_TAKEN,   /* a dump without records: the program took them itself */
    LEFT_CUT,     /* a dump that does not end */
    LEFT_RECORDS,
};

char *
absolute_path(const char *path)
{
    char *text = NULL;

    if (path[0] == '/' || path[0] == '\0')
        text = strdup(path);
    else {
        char *const here = getcwd(NULL, 0);
        if (here == NULL || asprintf(&text, "%s/%s", here, path) < 0)
            text = NULL;
        free(here);
    }
    if (text == NULL)
        output_refused(path);
    return text;
}

int
make_file(const char *path)
{
    struct output out;
    const int status = output_open(path, REPLACE_APPEND, &out);

    if (status != 0)
        return status;
    return output_close(&out, false) == 0 ? 0 : output_refused(path);
}

/* Returns where the name begins behind the folders of a path. */
static const char *
name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Returns whether a new file may take the path's place. */
static bool
is_replaced(const char *path)
{
    struct stat status;

    if (*name_of(path) == '\0')
        return false;
    return lstat(path, &status) == 0 ? S_ISREG(status.st_mode)
                                     : errno == ENOENT;
}

/* Returns whether the path leads to a device, a pipe or a socket. */
static bool
is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

static bool
is_null(const char *path)
{
    struct stat null, file;

    return stat("/dev/null", &null) == 0 && stat(path, &file) == 0 &&
           S_ISCHR(file.st_mode) && file.st_rdev == null.st_rdev;
}

/* Returns 0 where a new file may take the path's place, or a status after
 * saying why not: a file of another user in a folder that all may write stays.
 */
static int
check_place(const char *path)
{
    struct output out;
    const int status = output_open(path, REPLACE_WHOLE, &out);

    if (status == 0)
        output_close(&out, false);
    return status;
}

/* Checks in the same way the place of the file that has the places of calls,
 * beside the dump. */
static int
check_places(const char *path)
{
    char *places = NULL;

    if (asprintf(&places, "%.*s" PLACES, (int)(name_of(path) - path), path) < 0)
        return output_refused(path);
    const int status = check_place(places);
    free(places);
    return status;
}

/* Makes a private folder by a template of mkdtemp(3), which the dump owns from
 * now on, and names the dump in it. */
static int
make_private(const char *path, char *folder, const char *name,
             struct profile_dump *dump)
{
    char *written = NULL;
    int status = 0;

    if (mkdtemp(folder) == NULL) {
        status = output_refused(path);
    } else if (asprintf(&written, "%s/%s", folder, name) < 0) {
        status = output_refused(path);
        rmdir(folder);
    }
    if (status != 0) {
        free(folder);
        return status;
    }
    free(dump->written);
    dump->written = written;
    dump->folder = folder;
    return 0;
}

/* Makes the folder "DIR/.NAME.XXXXXX" for a dump that takes the path's place.
 */
static int
make_folder(const char *path, struct profile_dump *dump)
{
    const char *const name = name_of(dump->written);
    const int folders = (int)(name - dump->written);
    char *folder;
    int status = check_place(path);

    if (status == 0)
        status = check_places(path);
    if (status != 0)
        return status;
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
        return output_refused(path);
    if (asprintf(&folder, "%.*s.%s.XXXXXX", folders, dump->written, name) < 0)
        return output_refused(path);
    return make_private(path, folder, name, dump);
}

/* Makes a folder for a dump that is copied to the path at the end. A pipe is
 * not tried before: its reader would take the trial's end for the dump's. */
static int
make_copied(const char *path, struct profile_dump *dump)
{
    struct stat file;
    const bool pipe = stat(path, &file) == 0 && S_ISFIFO(file.st_mode);
    const int status = pipe ? 0 : make_file(path);
    char *folder;

    if (status != 0)
        return status;
    if (asprintf(&folder, "%s/tally-profile.XXXXXX", path_scratch()) < 0)
        return output_refused(path);
    dump->copied = true;
    return make_private(folder, folder, "dump.csv", dump);
}

int
profile_dump_open(const char *path, struct profile_dump *to)
{
    struct profile_dump dump = {.path = path, .written = absolute_path(path)};
    int status = 0;

    if (dump.written == NULL)
        return EXIT_OURS;
    if (strstr(path, "%p") == NULL)
        status = is_replaced(path)  ? make_folder(path, &dump)
                 : is_special(path) ? make_copied(path, &dump)
                                    : make_file(path);
    if (status == 0)
        *to = dump;
    else
        free(dump.written);
    return status;
}

static long
fill(void *user, void *data, size_t size)
{
    return read(*(const int *)user, data, size);
}

/* Reads the dump that the run wrote. */
static enum left
read_dump(const struct profile_dump *dump, bool has_places)
{
    struct dump_troubles troubles = {0};
    struct dump_reader reader;
    struct dump_record record;
    bool any = false;

    int fd = open(dump->written, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return LEFT_NOTHING;
    int next = dump_reader_init(&reader, dump->path, fill, &fd, &troubles);
    if (next == 0) {
        while ((next = dump_next(&reader, &record)) > 0)
            any = true;
        if (next == 0 && reader.depth > 0)
            next = TALLY_EIO;
        dump_reader_finish(&reader);
    }
    close(fd);
    return next != 0    ? LEFT_CUT
           : any        ? LEFT_RECORDS
           : has_places ? LEFT_TAKEN
                        : LEFT_REFUSED;
}

/* Moves the places of the program's calls out of the folder; whether there are
 * any. */
static bool
move_places(const struct profile_dump *dump)
{
    char *from = NULL, *to = NULL;
    bool moved = false;

    if (asprintf(&from, "%s/" PLACES, dump->folder) < 0)
        from = NULL;
    else if (asprintf(&to, "%.*s" PLACES,
                      (int)(name_of(dump->folder) - dump->folder),
                      dump->folder) < 0)
        to = NULL;
    else
        moved = rename(from, to) == 0;
    free(from);
    free(to);
    return moved;
}

/* Says why there is no new dump, and which dump the file has. */
static void
tell(const struct profile_dump *dump, const struct machine_row *machine,
     enum left left, int status)
{
    const char *const name = machine != NULL ? machine->name : "host";
    const char *const kept = !dump->copied && access(dump->path, F_OK) == 0
                                 ? "of an earlier run is kept"
                                 : "is not written";

    fprintf(stderr, "tally profile: ");
    if (left == LEFT_TAKEN)
        escape_printf(stderr, "the program dumped its records itself: %s %s\n",
                      dump->path, kept);
    else if (left == LEFT_CUT)
        escape_printf(stderr,
                      "the new dump was cut short, as on a full disk: %s %s\n",
                      dump->path, kept);
    else if (left == LEFT_REFUSED)
        escape_printf(
            stderr,
            "every start of the profiler was refused: %s %s; -e EVENTS "
            "counts events of tally list events -m %s\n",
            dump->path, kept, name);
    else if (status == 0)
        escape_printf(stderr,
                      "no profiler calls, or an end by _exit(): %s %s\n",
                      dump->path, kept);
    else
        escape_printf(
            stderr, "the run ended with status %d and no dump: %s %s%s\n",
            status, dump->path, kept,
            status > 128 ? "; --buffer FILE keeps the records of a program "
                           "that a signal ends"
                         : "");
}

/* Copies the dump to its path. Returns 0, or a status after saying why not. */
static int
copy_dump(const struct profile_dump *dump)
{
    struct output out;
    char part[4096];
    size_t size;
    FILE *const from = fopen(dump->written, "re");
    int status = from != NULL ? output_open(dump->path, REPLACE_FOLLOW, &out)
                              : output_refused(dump->path);

    if (status == 0) {
        while ((size = fread(part, 1, sizeof(part), from)) > 0)
            fwrite(part, 1, size, out.file);
        if (output_close(&out, true) != 0)
            status = output_refused(dump->path);
    }
    if (from != NULL)
        fclose(from);
    return status;
}

int
profile_dump_keep(const struct profile_dump *dump,
                  const struct machine_row *machine, int status)
{
    /* Who names /dev/null wants no dump. */
    if (dump->folder == NULL || is_null(dump->path))
        return status;
    const enum left left = read_dump(dump, !dump->copied && move_places(dump));
    if (left == LEFT_RECORDS && dump->copied) {
        const int copied = copy_dump(dump);
        return copied != 0 && status == 0 ? copied : status;
    }
    if (left == LEFT_RECORDS) {
        if (rename(dump->written, dump->path) == 0)
            return status;
        output_refused(dump->path);
    } else {
        tell(dump, machine, left, status);
    }
    return status == 0 && left != LEFT_TAKEN ? EXIT_OURS : status;
}

/* Removes the files of a folder, which holds no folders, and then the folder.
 */
static void
remove_folder(const char *folder)
{
    DIR *const files = opendir(folder);
    const struct dirent *file;

    while (files != NULL && (file = readdir(files)) != NULL)
        unlinkat(dirfd(files), file->d_name, 0);
    if (files != NULL)
        closedir(files);
    rmdir(folder);
}

void
profile_dump_finish(struct profile_dump *dump)
{
    if (dump->folder != NULL)
        remove_folder(dump->folder);
    free(dump->folder);
    free(dump->written);
    *dump = (struct profile_dump){0};
}
