/* SPDX-License-Identifier: MIT */
/* system:name, from tracefs. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/parse.h"
#include "table/text.h"

static bool
plain(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The folders below events/, or below one of them; 0 or the negative errno. */
static int
each(const struct host_root *root, const char *system,
     int (*take)(void *user, const char *name), void *user)
{
    char path[HOST_PATH];
    struct dirent **entries;
    int stop = 0;

    if (!host_trace_path(root, path, sizeof(path), system))
        return 0;
    const int count = scandir(path, &entries, visible, alphasort);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        char sub[HOST_PATH + 256];
        struct stat st;
        snprintf(sub, sizeof(sub), "%s/%s", path, entries[i]->d_name);
        if (stop == 0 && stat(sub, &st) == 0 && S_ISDIR(st.st_mode))
            stop = take(user, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return stop;
}

struct search {
    struct host_list *list;
    const char *system, *name; /* patterns */
    const char *folder;        /* the system being looked through */
    size_t found;
};

static int
refuse(const struct host_list *list, int error, const char *path)
{
    return tally_fail(list->log, TALLY_ESYSTEM,
                      "tracepoints are not readable: %s: %s; run as root, or "
                      "sudo chmod -R a+rX /sys/kernel/tracing/events",
                      path, strerrordesc_np(error));
}

static int
add(struct search *s, const char *name)
{
    char path[HOST_PATH], part[HOST_PATH], text[32];
    struct host_event *event;
    uint64_t id;
    int error;

    const int length =
        snprintf(part, sizeof(part), "%s/%s/id", s->folder, name);
    if ((size_t)length >= sizeof(part) ||
        !host_trace_path(s->list->root, path, sizeof(path), part))
        return 0;
    error = host_read_text(path, text, sizeof(text));
    if (error == -EACCES || error == -EPERM)
        return refuse(s->list, -error, path);
    if (error != 0 || !host_number(text, 10, &id))
        return 0; /* ftrace's own have none */
    snprintf(part, sizeof(part), "%.200s:%.200s", s->folder, name);
    error = host_list_add(s->list, part, &event);
    if (error != 0)
        return error;
    event->attr.type = PERF_TYPE_TRACEPOINT;
    event->attr.config = id;
    s->found++;
    return 0;
}

static int
take_event(void *user, const char *name)
{
    struct search *s = user;

    return fnmatch(s->name, name, 0) == 0 ? add(s, name) : 0;
}

static int
take_system(void *user, const char *name)
{
    struct search *s = user;

    if (fnmatch(s->system, name, 0) != 0)
        return 0;
    s->folder = name;
    const int error = each(s->list->root, name, take_event, s);
    return error < 0 && error > TALLY_ENOMEM ? 0 : error;
}

static bool
is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

int
host_tracepoint_add(struct host_list *list, const char *system,
                    const char *name)
{
    struct search s = {list, system, name, system, 0};
    char path[HOST_PATH];
    struct stat st;
    int error;

    if (!plain(system) || !plain(name) ||
        !host_trace_path(list->root, path, sizeof(path), ""))
        return HOST_NOT_MINE;
    if (is_pattern(system) || is_pattern(name)) {
        error = each(list->root, "", take_system, &s);
    } else {
        error = add(&s, name);
        if (error == 0 && s.found == 0 && stat(path, &st) != 0 &&
            errno == EACCES)
            return refuse(list, EACCES, path);
    }
    return error == 0 && s.found == 0 ? HOST_NOT_MINE : error;
}

bool
host_tracepoints_are_listed(const struct host_root *root)
{
    char path[HOST_PATH];
    struct stat st;

    return !host_trace_path(root, path, sizeof(path), "") ||
           stat(path, &st) == 0 || errno != ENOENT;
}

struct naming {
    const char *system;
    struct host_names *names;
};

static int
take_name(void *user, const char *name)
{
    const struct naming *n = user;
    char text[HOST_WORD];

    snprintf(text, sizeof(text), "%.200s:%.200s", n->system, name);
    host_names_add(n->names, text);
    return 0;
}

void
host_tracepoint_names(const struct host_root *root, const char *system,
                      struct host_names *names)
{
    struct naming n = {system, names};

    if (plain(system))
        each(root, system, take_name, &n);
}
