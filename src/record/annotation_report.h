/* SPDX-License-Identifier: MIT */
/* Annotated sources and instructions as text and as JSON. */
#ifndef TALLY_RECORD_ANNOTATION_REPORT_H
#define TALLY_RECORD_ANNOTATION_REPORT_H

#include <stdio.h>

#include "base/texts.h"
#include "record/annotation.h"
#include "record/disassembly.h"
#include "record/source_text.h"

struct annotation_look {
    const struct record *record;
    struct resolver *resolver;
    const size_t *events; /* those of the annotations */
    size_t event_count;
    struct disassembly *disassembly; /* or NULL: bytes are shown */
    bool assembly;                   /* instructions of lines too */
    bool color;
    const struct source_move *moves;
    size_t move_count;
    const struct tally_log *log; /* takes warnings of sources */
    struct texts *warned;        /* sources that the user was warned of */
};

/* Writes an annotation for people. 0, TALLY_EIO or TALLY_ENOMEM. */
int annotation_text(const struct annotation *annotation,
                    const struct annotation_look *look, FILE *out);

/* Writes annotations as one JSON document. 0, TALLY_EIO or TALLY_ENOMEM. */
int annotation_json(struct annotation *const *annotations, size_t count,
                    const struct annotation_look *look, FILE *out);

#endif
