/* SPDX-License-Identifier: MIT */
/* How a session looks for a point of the run (source/point.h): a recorder whose
 * session options have `point` and `point_found`. It records the paths of calls
 * and the objects of data, and hands out the point alone. */
#ifndef TALLY_PROFILE_POINT_RECORDER_H
#define TALLY_PROFILE_POINT_RECORDER_H

#include "profile/session.h"

extern const struct session_recorder point_recorder;

#endif
