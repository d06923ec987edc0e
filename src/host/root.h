/* SPDX-License-Identifier: MIT */
/*
 * The places of the kernel's folders; a test can give its own. A zeroed struct,
 * or NULL, stands for the real folders.
 */
#ifndef TALLY_HOST_ROOT_H
#define TALLY_HOST_ROOT_H

#include <stdbool.h>
#include <stddef.h>

struct host_root {
    const char *sys;   /* NULL: /sys */
    const char *proc;  /* NULL: /proc */
    const char *trace; /* NULL: /sys/kernel/tracing, or the place on
                           older kernels */
};

#define HOST_PATH 512

/* Writes the path of `name` in /sys; false: `path` is too small. */
bool host_sys_path(const struct host_root *root, char *path, size_t size,
                   const char *name);
/* Writes the path of `name` in /proc; false: `path` is too small. */
bool host_proc_path(const struct host_root *root, char *path, size_t size,
                    const char *name);
/* Writes the path of `name` in events/ of tracefs; false: `path` is too small.
 */
bool host_trace_path(const struct host_root *root, char *path, size_t size,
                     const char *name);

/*
 * Reads a small file as one string without white space at its end; a longer
 * file is cut. 0, or the negative errno.
 */
int host_read_text(const char *path, char *text, size_t size);

/* Reads the whole number in a file of /proc; false: there is none. */
bool host_read_proc_number(const struct host_root *root, const char *name,
                           long *value);

#endif
