/* SPDX-License-Identifier: MIT */
/*
 * What in one record is what in another: images, source files, and lines.
 *
 * An image is the image of the same path, else of the same file name, else of
 * the same library in another version (libx.so.1, libx.so.2); the first
 * programs of both records are one image, whatever their names are. Source
 * files go by path and file name (path_pairs.h).
 *
 * A line follows the text of the source if both texts are there, in different
 * files. If not, the text that is there may be that of either build, so that
 * it tells nothing: a line is then followed by its number from the line that
 * has the name of its function. Where all images with the file are the same
 * build lines are the same.
 */
#ifndef TALLY_RECORD_PAIRING_H
#define TALLY_RECORD_PAIRING_H

#include "record/line_diff.h"
#include "record/resolver.h"
#include "record/source_text.h"

/* A record of the two, with its names. */
struct paired_record {
    const struct record *record;
    struct resolver *resolver;
    const struct source_move *moves; /* where its sources are now */
    size_t move_count;
};

enum line_way { LINES_OF_ONE_BUILD, LINES_BY_TEXT, LINES_BY_FUNCTION };

/* A source file of both records. */
struct paired_file {
    uint32_t files[2]; /* numbers of resolver_text(), before and after */
    enum line_way way;
    bool missing[2];             /* by function: the text could not be read */
    struct followed_line *lines; /* by text: [line_count] from line 1 on */
    size_t line_count;
};

struct pairing;

/* Pairs; `lines`: those too. What is in `before` and `after` must outlive the
 * result. 0 or TALLY_ENOMEM, logged. */
int pairing_create(const struct paired_record *before,
                   const struct paired_record *after, bool lines,
                   const struct tally_log *log, struct pairing **result);
void pairing_destroy(struct pairing *pairing);

/* Each returns a number that is the same for both records' names of one image
 * or file, and of no other. `side`: 0 before, 1 after; `text`: a number of
 * that record's resolver_text(). */
uint32_t pairing_image(const struct pairing *p, int side, uint32_t text);
uint32_t pairing_file(const struct pairing *p, int side, uint32_t text);

/* Returns whether the image is the same build in both records, by its build id.
 */
bool pairing_is_one_build(const struct pairing *p, int side, uint32_t text);

/* Returns whether no other source file of the record has the file's name in
 * another folder. */
bool pairing_is_only_name(const struct pairing *p, int side, uint32_t text);

/* Returns the paired file of a file's name, or NULL: it is in one record only.
 */
const struct paired_file *
pairing_lines(const struct pairing *p, int side, uint32_t text);

/* Follows a line of `before`. Line 0 and lines of files that `after` lacks stay
 * what they are. */
struct followed_line
pairing_line(const struct pairing *p, uint32_t file, uint32_t line);

#endif
