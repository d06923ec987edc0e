/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target once over each file named: its seeds, or what broke it.
 * Directories are gone through. Fails if there was nothing to run.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

#define PATH_SIZE 4096
#define FILE_SIZE (1 << 20) /* the rest is not read */

static int
replay_file(const char *path)
{
    uint8_t *data = malloc(FILE_SIZE);
    FILE *file = fopen(path, "rb");

    if (file == NULL || data == NULL) {
        perror(path);
        free(data);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, fread(data, 1, FILE_SIZE, file));
    fclose(file);
    free(data);
    return 0;
}

static int
replay_folder(const char *path, DIR *folder, int *files)
{
    const struct dirent *entry;
    int failed = 0;

    while ((entry = readdir(folder)) != NULL) {
        char name[PATH_SIZE];
        struct stat st;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
            failed |= replay_file(name);
            ++*files;
        }
    }
    return failed;
}

static int
replay(const char *path, int *files)
{
    DIR *folder = opendir(path);
    int failed;

    if (folder == NULL) {
        ++*files;
        return replay_file(path);
    }
    failed = replay_folder(path, folder, files);
    closedir(folder);
    return failed;
}

int
main(int argc, char **argv)
{
    int failed = 0, files = 0;

    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &files);
    printf("%d files replayed\n", files);
    return failed != 0 || files == 0;
}
