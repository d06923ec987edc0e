/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/reach.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Numbers of files that are kept begin so far below the limit, or below 1024:
 * guests take the lowest free number, and few look at the highest. */
#define KEPT_ROOM 24
#define KEPT_TOP 1024

/* A copy at a high number, close-on-exec; -1: none could be made. */
static int
copy_high(int fd)
{
    struct rlimit limit;
    rlim_t top = KEPT_TOP;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < top)
        top = limit.rlim_cur;
    return fcntl(fd, F_DUPFD_CLOEXEC,
                 top > KEPT_ROOM ? (int)top - KEPT_ROOM : 0);
}

/* As copy_high(), in place of `fd`. */
static int
move_high(int fd)
{
    const int high = fd < 0 ? -1 : copy_high(fd);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* The guest may have closed the number, and given it to a file of its own. */
static bool
is_kept(const struct reach *r)
{
    return r->kept >= 0 && session_is_open(r->kept, r->place);
}

int
reach_begin(struct reach *r, const char *inherited)
{
    const int kept = inherited != NULL ? atoi(inherited) : -1;
    const int fd = session_open(r->place);

    r->kept = -1;
    if (kept < 0 || !session_is_open(kept, r->place))
        return fd;
    if (fd >= 0) {
        close(kept);
        return fd;
    }
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    r->kept = kept;
    return fcntl(kept, F_DUPFD_CLOEXEC, 0);
}

int
reach_open(struct reach *r)
{
    const int fd = session_open(r->place);

    if (fd >= 0 || !is_kept(r))
        return fd;
    return fcntl(r->kept, F_DUPFD_CLOEXEC, 0);
}

int
reach_hand_on(struct reach *r)
{
    const int fd = is_kept(r) ? r->kept : move_high(session_open(r->place));

    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
    return fd;
}

void
reach_take_back(struct reach *r, int fd)
{
    if (fd < 0)
        return;
    if (fd == r->kept)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    else
        close(fd);
}

void
reach_before_loss(struct reach *r)
{
    if (!is_kept(r))
        r->kept = move_high(session_open(r->place));
}

void
reach_after_loss(struct reach *r)
{
    const int fd = session_open(r->place);

    if (fd < 0)
        return;
    close(fd);
    if (is_kept(r))
        close(r->kept);
    r->kept = -1;
}
