/* SPDX-License-Identifier: MIT */
/* Where tally-plugin.so is, and what is installed with it. */
#ifndef TALLY_SOURCE_PLUGIN_PATH_H
#define TALLY_SOURCE_PLUGIN_PATH_H

#include <stddef.h>

#include "base/error.h"

/*
 * Beside the running program in its build folder, or where it is installed
 * relative to it (../lib.../tally), or the installed path. TALLY_EQEMU.
 */
int plugin_find(const struct tally_log *log, char *path, size_t size);

/* The script of `tally validate`, found as the plugin is. TALLY_ESYSTEM. */
int plugin_find_validate(const struct tally_log *log, char *path, size_t size);

/* The plugin of `tally trace record`, or the program that plays QEMU's part for
 * a trace, beside the plugin. TALLY_EQEMU. */
int plugin_find_beside(const char *plugin, const char *name,
                       const struct tally_log *log, char *path, size_t size);

/* Their names. */
#define PLUGIN_TRACER "tally-tracer.so"
#define PLUGIN_REPLAYER "tally-replayer"

/*
 * The library beside the plugin that reports the allocations of programs of an
 * ISA, by its path without links. TALLY_EQEMU: it was not built.
 */
int
plugin_find_allocations(const char *plugin, const char *isa,
                        const struct tally_log *log, char *path, size_t size);

#endif
