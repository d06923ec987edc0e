/* SPDX-License-Identifier: MIT */
/* The chunks of a record of tally; doc/format/record.md says what is in each.
 */
#ifndef TALLY_RECORD_RECORD_FORMAT_H
#define TALLY_RECORD_RECORD_FORMAT_H

enum record_chunk {
    RECORD_HEAD = 0x44414548,      /* "HEAD": JSON, first */
    RECORD_SET = 0x20544553,       /* "SET ": empty; what follows replaces the
                                      processes, counts and totals before */
    RECORD_PROCESS = 0x434f5250,   /* "PROC" */
    RECORD_COUNTS = 0x53544e43,    /* "CNTS": of a thread, behind its process */
    RECORD_MADE_CODE = 0x4544414d, /* "MADE": names of code of no file, behind
                                      its process */
    RECORD_PATHS = 0x48544150, /* "PATH": calls, before the counts on them */
    RECORD_DATA_OBJECTS = 0x534a424f, /* "OBJS": before the counts on them */
    RECORD_DATA_COUNTS = 0x41544144,  /* "DATA": as CNTS, by object */
    RECORD_EDGES = 0x45474445,      /* "EDGE": of a thread, behind its counts */
    RECORD_DATA_USES = 0x44455355,  /* "USED": how objects were used, behind
                                       them */
    RECORD_REASONS_OF = 0x20594857, /* "WHY ": why data of a process missed,
                                       behind the counts of its threads */
    RECORD_WAITS_OF = 0x4b434f4c, /* "LOCK": what the threads of a process wait
                                     for, behind the counts of its threads */
    RECORD_TOTALS = 0x4c544f54,   /* "TOTL": of all threads */
    RECORD_NAMES = 0x454d414e,    /* "NAME": of an image, behind the last set */
    RECORD_RUN = 0x204e5552,      /* "RUN ": JSON, last */
};

/* Of the JSON documents. */
#define RECORD_SCHEMA 1

#endif
