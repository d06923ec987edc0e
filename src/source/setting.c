/* SPDX-License-Identifier: MIT */
#include "source/setting.h"

#include <stdio.h>
#include <string.h>

extern char **environ;

static const char *const names[] = {
    "QEMU_ARGV0",      "QEMU_CPU",          "QEMU_DFILTER",
    "QEMU_GDB",        "QEMU_GUEST_BASE",   "QEMU_JITDUMP",
    "QEMU_LOG",        "QEMU_LOG_FILENAME", "QEMU_ONE_INSN_PER_TB",
    "QEMU_PAGESIZE",   "QEMU_PERFMAP",      "QEMU_PLUGIN",
    "QEMU_RAND_SEED",  "QEMU_RESERVED_VA",  "QEMU_RTSIG_MAP",
    "QEMU_SINGLESTEP", "QEMU_STRACE",       "QEMU_TB_SIZE",
    "QEMU_TRACE",      "QEMU_VERSION"};

bool
setting_is(const char *variable)
{
    const size_t length = strcspn(variable, "=");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == length &&
            strncmp(variable, names[i], length) == 0)
            return true;
    return false;
}

bool
setting_list(char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (char **e = environ; *e != NULL; e++)
        if (setting_is(*e) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s",
                                     used > 0 ? ", " : "",
                                     (int)strcspn(*e, "="), *e);
    return used > 0;
}
