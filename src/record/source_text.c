/* SPDX-License-Identifier: MIT */
#include "record/source_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_MOST (64 << 20)

char *
source_moved_path(const char *path, const struct source_move *moves,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(moves[i].from);
        const size_t to = strlen(moves[i].to);
        char *out;
        if (strncmp(path, moves[i].from, length) != 0)
            continue;
        out = malloc(to + strlen(path + length) + 1);
        if (out != NULL) {
            memcpy(out, moves[i].to, to);
            strcpy(out + to, path + length);
        }
        return out;
    }
    return strdup(path);
}

/* Reads the whole file; false: it is none that can be read. */
static bool
read_all(struct source_text *s)
{
    const int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    size_t done = 0;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SIZE_MOST)
        s->text = malloc((size_t)st.st_size + 1);
    while (s->text != NULL && done < (size_t)st.st_size) {
        const ssize_t n = read(fd, s->text + done, (size_t)st.st_size - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(fd);
    if (s->text == NULL)
        return false;
    s->text[done] = '\0';
    s->mtime = st.st_mtime;
    return true;
}

void
source_text_read(const char *path, const struct source_move *moves,
                 size_t move_count, struct source_text *s)
{
    size_t room = 0;

    memset(s, 0, sizeof(*s));
    s->path = source_moved_path(path, moves, move_count);
    if (s->path == NULL || !read_all(s))
        return;
    for (char *rest = s->text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (rest == NULL && *line == '\0')
            break; /* behind the last end of a line */
        if (s->count == room) {
            const size_t more = room != 0 ? 2 * room : 256;
            char **lines = reallocarray(s->lines, more, sizeof(*lines));
            if (lines == NULL)
                return;
            s->lines = lines;
            room = more;
        }
        line[strcspn(line, "\r")] = '\0';
        s->lines[s->count++] = line;
    }
}

void
source_text_finish(struct source_text *s)
{
    free(s->path);
    free(s->lines);
    free(s->text);
    memset(s, 0, sizeof(*s));
}

const char *
source_text_line(const struct source_text *s, size_t number)
{
    return number >= 1 && number <= s->count ? s->lines[number - 1] : NULL;
}
