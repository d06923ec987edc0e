/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file whose landing pads are read and looked up. */
#include "plugin/landing_pads.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct landing_pads pads;
    char path[64];

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    landing_pads_read(path, &pads);
    /* An entry of the tables has four bytes or more. */
    fuzz_check(pads.count <= size / 4);
    for (size_t i = 0; i < pads.count; i++) {
        const struct landing_pad *row = &pads.rows[i];
        fuzz_check(i == 0 || row[-1].pad <= row->pad);
        fuzz_check(landing_pads_has(&pads, row->pad));
        if (row->first <= row->last)
            fuzz_check(landing_pads_lead(&pads, row->pad, row->first + 1));
    }
    fuzz_check(!landing_pads_has(&pads, UINT64_MAX));
    landing_pads_finish(&pads);
    close(fd);
    return 0;
}
