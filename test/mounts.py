# SPDX-License-Identifier: MIT
"""Mounts of a test's own: what a test mounts ends with the test.

perf mounts tracefs whenever root runs it, so a test that runs perf would change
the host for the tests after it.
"""
import ctypes
import os
import pathlib

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS of <sched.h>
PRIVATE = 1 << 14 | 1 << 18  # MS_REC | MS_PRIVATE of <sys/mount.h>
DETACH = 2  # MNT_DETACH
TRACEFS = "/sys/kernel/tracing"
PLACES = (TRACEFS, "/sys/kernel/debug/tracing", "/sys/kernel/debug")

libc = ctypes.CDLL(None, use_errno=True)


def mount(kind, place, flags=0):
    return libc.mount(b"none", place.encode(), kind, flags, None) == 0


def own():
    """Gives this process, and all that it starts from now on, mounts of their
    own. False for who may not; who may not, may not mount either."""
    return libc.unshare(NEW_MOUNTS) == 0 and mount(None, "/", PRIVATE)


def take_tracefs():
    """Unmounts tracefs and debugfs, however often they are mounted, in the
    mounts of this process alone. False if they remain."""
    for place in PLACES:
        while os.path.ismount(place):
            if libc.umount2(place.encode(), DETACH) != 0:
                return False
    return True


def give_tracefs():
    """Mounts tracefs, in the mounts of this process alone. False where the
    kernel has none or forbids it."""
    return (take_tracefs() and mount(b"tracefs", TRACEFS)
            and pathlib.Path(TRACEFS, "events").is_dir())
