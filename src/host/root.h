/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's folders are, so that a test can bring its own. A zeroed
 * struct, or NULL, stands for the real ones.
 */
#ifndef TALLY_HOST_ROOT_H
#define TALLY_HOST_ROOT_H

#include <stdbool.h>
#include <stddef.h>

struct host_root {
    const char *sys;   /* NULL: /sys */
    const char *proc;  /* NULL: /proc */
    const char *trace; /* NULL: /sys/kernel/tracing, or where it was before */
};

#define HOST_PATH 512

/* "/sys/bus/event_source/devices"; false where `path` is too small. */
bool host_sys_path(const struct host_root *root, char *path, size_t size,
                   const char *name);
bool host_proc_path(const struct host_root *root, char *path, size_t size,
                    const char *name);
/* Below events/ of tracefs. */
bool host_trace_path(const struct host_root *root, char *path, size_t size,
                     const char *name);

/*
 * Reads a small file as one string without white space at its end: 0, or the
 * negative errno. A longer one is cut.
 */
int host_read_text(const char *path, char *text, size_t size);

/* The whole number in a file of /proc; false if there is none. */
bool host_read_proc_number(const struct host_root *root, const char *name,
                           long *value);

#endif
