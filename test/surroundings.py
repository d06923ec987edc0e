# SPDX-License-Identifier: MIT
"""What a test finds around it, the same whoever runs it, where and when.

perf mounts tracefs whenever root runs it, so a test that runs perf would change
the host for the tests after it: each test has mounts of its own, and what it
mounts ends with it.
"""
import ctypes
import os
import pathlib
import signal

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS of <sched.h>
PRIVATE = 1 << 14 | 1 << 18  # MS_REC | MS_PRIVATE of <sys/mount.h>
DETACH = 2  # MNT_DETACH
TRACEFS = "/sys/kernel/tracing"
PLACES = (TRACEFS, "/sys/kernel/debug/tracing", "/sys/kernel/debug")
# A shell starts a job in the background with SIGINT ignored, nohup with SIGHUP.
SIGNALS = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD,
           signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)

libc = ctypes.CDLL(None, use_errno=True)


def mount(kind, place, flags=0):
    return libc.mount(b"none", place.encode(), kind, flags, None) == 0


def own_mounts():
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


def make_plain():
    """Gives this process, and all that it starts from now on, the surroundings
    that the tests are written for."""
    # Meson sets MALLOC_PERTURB_, by which the guest's libc fills its memory.
    for name in [n for n in os.environ
                 if n.startswith(("LC_", "QEMU_", "MALLOC_"))
                 or n in ("GLIBC_TUNABLES", "NO_COLOR", "LANG", "LANGUAGE",
                          "PAGER", "MANPAGER", "LD_PRELOAD", "SYSFS_PATH")]:
        del os.environ[name]
    os.environ["LC_ALL"] = "C"
    # host-model as the catalogue has it, not as someone measured it.
    os.environ["TALLY_HOST_MODEL"] = ""
    # Its folder may be another user's.
    os.environ["CCACHE_DISABLE"] = "1"
    os.umask(0o022)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    own_mounts()
