/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file whose functions of MPI are read and looked up. */
#include "plugin/mpi_entries.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct mpi_entries entries = {0};
    char path[64];

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    fuzz_check(mpi_entries_read(path, &entries));
    /* Sections may overlap, and each symbol has 16 bytes at least. */
    fuzz_check(entries.is_read);
    for (size_t i = 0; i < entries.count; i++) {
        fuzz_check(i == 0 || entries.offsets[i - 1] <= entries.offsets[i]);
        fuzz_check(mpi_entries_have(&entries, entries.offsets[i]));
    }
    uint64_t start = 0;
    mpi_entries_start(path, &start);
    fuzz_check(!mpi_entries_have(&entries, UINT64_MAX));
    mpi_entries_finish(&entries);
    close(fd);
    return 0;
}
