/* SPDX-License-Identifier: MIT */
#include "report/mpi_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"
#include "report/csv.h"
#include "report/json_text.h"

#define NAME_WIDTH 12  /* of "imbalance", and of ranks */
#define VALUE_WIDTH 22 /* of a column */

/* The worth of what was counted inside MPI. */
#define INSIDE "varies"

/* A row of the report, an event or a metric, and one of its two values. */
struct column {
    const struct mpi_report *report;
    size_t row;
    bool is_metric, inside;
};

/* What stands for a column over all ranks. */
struct spread {
    unsigned known; /* ranks that have a value */
    double least, mean, most;
    double imbalance; /* NAN: the mean is 0 */
};

static const struct count_row *
row_of(const struct column *c, const struct count_document *d)
{
    return c->is_metric ? &d->metrics[c->row] : &d->events[c->row];
}

/* Returns the value of a rank; one that is not known where the rank has none.
 */
static struct count_number
value_of(const struct column *c, unsigned rank)
{
    const struct count_document *const d = c->report->ranks[rank].document;

    if (d == NULL)
        return (struct count_number){0};
    return c->inside ? row_of(c, d)->in_mpi : row_of(c, d)->value;
}

static struct spread
spread_of(const struct column *c)
{
    struct spread s = {0};
    double sum = 0;

    for (unsigned i = 0; i < c->report->size; i++) {
        const struct count_number n = value_of(c, i);
        if (!n.known)
            continue;
        s.least = s.known == 0 || n.real < s.least ? n.real : s.least;
        s.most = s.known == 0 || n.real > s.most ? n.real : s.most;
        sum += n.real;
        s.known++;
    }
    s.mean = s.known > 0 ? sum / s.known : 0;
    s.imbalance = s.mean != 0 ? s.most / s.mean : NAN;
    return s;
}

/* Returns the worst standing that a rank gives to the row: one that another
 * rank does not have is worse than `exact`. */
static const char *
standing_of(const struct column *c)
{
    const char *worst = "";

    for (unsigned i = 0; i < c->report->size; i++) {
        const struct count_document *const d = c->report->ranks[i].document;
        const char *const own = d != NULL ? row_of(c, d)->standing : "";
        if (*worst == '\0' || (*own != '\0' && strcmp(worst, "exact") == 0))
            worst = own;
    }
    return worst;
}

static bool
same_rows(const struct count_row *a, size_t a_count, const struct count_row *b,
          size_t b_count)
{
    bool same = a_count == b_count;

    for (size_t i = 0; same && i < a_count; i++)
        same = strcmp(a[i].name, b[i].name) == 0 &&
               strcmp(a[i].unit, b[i].unit) == 0;
    return same;
}

int
mpi_report_check(struct mpi_report *r, const struct tally_log *log)
{
    unsigned first = 0;

    r->first = NULL;
    for (unsigned i = 0; i < r->size; i++) {
        const struct count_document *const d = r->ranks[i].document;
        if (d == NULL)
            continue;
        if (r->first == NULL) {
            r->first = d;
            first = i;
        } else if (strcmp(d->machine, r->first->machine) != 0) {
            return tally_fail(log, TALLY_ESYNTAX,
                              "--mpi: rank %u counted on %s and rank %u on %s: "
                              "one report is of one machine",
                              first, r->first->machine, i, d->machine);
        } else if (!same_rows(d->events, d->event_count, r->first->events,
                              r->first->event_count) ||
                   !same_rows(d->metrics, d->metric_count, r->first->metrics,
                              r->first->metric_count)) {
            return tally_fail(log, TALLY_ESYNTAX,
                              "--mpi: rank %u counted other events than rank "
                              "%u: give all ranks the same -e and -M",
                              i, first);
        }
    }
    return r->first != NULL
               ? 0
               : tally_fail(log, TALLY_ESYNTAX, "--mpi: no rank has a report");
}

/* Text */

/* Prints a number in a column: whole ones with separators of thousands. */
static void
print_number(const struct mpi_report *r, bool known, bool whole, double value,
             FILE *out)
{
    char text[48] = "-";

    if (known && whole && r->plain)
        snprintf(text, sizeof(text), "%.0f", value);
    else if (known && whole)
        format_grouped_signed(llround(value), text);
    else if (known)
        snprintf(text, sizeof(text), "%.6g", value);
    fprintf(out, "%*s", VALUE_WIDTH, text);
}

/* Prints a line with the values of what is outside and inside. */
static void
print_pair(const struct mpi_report *r, const char *name,
           const struct spread both[2], const double values[2],
           const bool whole[2], unsigned columns, FILE *out)
{
    fprintf(out, "    %-*s", NAME_WIDTH, name);
    for (unsigned i = 0; i < columns; i++)
        print_number(r, both[i].known > 0 && !isnan(values[i]), whole[i],
                     values[i], out);
    fputc('\n', out);
}

/* Prints the lines of one row of the report. */
static void
print_row(const struct mpi_report *r, size_t row, bool is_metric, FILE *out)
{
    const struct column both[2] = {{r, row, is_metric, false},
                                   {r, row, is_metric, true}};
    const struct spread spreads[2] = {spread_of(&both[0]), spread_of(&both[1])};
    const struct count_row *const first = row_of(&both[0], r->first);
    const unsigned columns = is_metric ? 1 : 2;
    const char *const standing = standing_of(&both[0]);
    bool whole[2] = {true, true};
    const bool real[2] = {false, false};

    escape_printf(out, "\n  %s%s%s%s%s", first->asked,
                  *first->unit != '\0' ? ", " : "", first->unit,
                  *standing != '\0' ? ": " : "", standing);
    fprintf(out, "%s\n", *standing != '\0' ? " outside MPI" : "");
    fprintf(out, "    %-*s%*s", NAME_WIDTH, "", VALUE_WIDTH, "outside MPI");
    fprintf(out, "%*s\n", VALUE_WIDTH, columns > 1 ? "in MPI" : "");
    for (unsigned i = 0; i < r->size; i++) {
        fprintf(out, "    rank %-*u", NAME_WIDTH - 5, i);
        for (unsigned k = 0; k < columns; k++) {
            const struct count_number n = value_of(&both[k], i);
            whole[k] = whole[k] && (!n.known || n.whole);
            print_number(r, n.known, n.whole, n.real, out);
        }
        fputc('\n', out);
    }
    print_pair(r, "min", spreads,
               (double[2]){spreads[0].least, spreads[1].least}, whole, columns,
               out);
    print_pair(r, "mean", spreads,
               (double[2]){spreads[0].mean, spreads[1].mean}, whole, columns,
               out);
    print_pair(r, "max", spreads, (double[2]){spreads[0].most, spreads[1].most},
               whole, columns, out);
    print_pair(r, "imbalance", spreads,
               (double[2]){spreads[0].imbalance, spreads[1].imbalance}, real,
               columns, out);
    if (first->reason != NULL)
        escape_printf(out, "    %s\n", first->reason);
}

/* Says how ranks ended that did not end well, and which have no report. */
static void
print_ranks(const struct mpi_report *r, FILE *out)
{
    for (unsigned i = 0; i < r->size; i++) {
        const struct count_document *const d = r->ranks[i].document;
        if (d == NULL)
            escape_printf(out, "  rank %u: no counts: %s\n", i,
                          r->ranks[i].why);
        else if (d->status != NULL && strcmp(d->status, "exit 0") != 0)
            escape_printf(out, "  rank %u: %s\n", i, d->status);
        if (d != NULL && d->partial)
            fprintf(out,
                    "  rank %u: partial: counts of threads or programs are "
                    "missing\n",
                    i);
    }
}

int
mpi_report_text(const struct mpi_report *r, FILE *out)
{
    const struct count_document *const d = r->first;
    bool others = false;

    for (unsigned i = 0; i < r->size; i++)
        others = others ||
                 (r->ranks[i].document != NULL &&
                  r->ranks[i].document->program != NULL && d->program != NULL &&
                  strcmp(r->ranks[i].document->program, d->program) != 0);
    escape_printf(out,
                  "\n %s%s on %s, emulated: %u rank%s of MPI, each on a "
                  "machine of its own\n",
                  d->program != NULL ? d->program : "?",
                  others ? " and other programs" : "", d->machine, r->size,
                  r->size == 1 ? "" : "s");
    for (size_t i = 0; i < d->event_count; i++)
        print_row(r, i, false, out);
    for (size_t i = 0; i < d->metric_count; i++)
        print_row(r, i, true, out);
    fputc('\n', out);
    print_ranks(r, out);
    fprintf(out,
            "  in MPI: inside functions whose names begin with MPI_ or PMPI_, "
            "where ranks wait: never exact\n"
            "  imbalance: the maximum divided by the mean\n\n");
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* CSV */

static void
csv_number(bool known, bool whole, double value, char separator, FILE *out)
{
    if (known && whole)
        fprintf(out, "%.0f", value);
    else if (known)
        fprintf(out, "%.9g", value);
    fputc(separator, out);
}

/* Writes a line: value outside, unit, event, rank or what over the ranks, value
 * inside, standing outside and inside, the machine's own name. */
static void
csv_line(const struct mpi_report *r, const struct column *outside,
         const char *name, const struct count_number both[2], char separator,
         FILE *out)
{
    const struct count_row *const row = row_of(outside, r->first);

    csv_number(both[0].known, both[0].whole, both[0].real, separator, out);
    report_csv_text(row->unit, separator, out);
    fputc(separator, out);
    report_csv_text(row->asked, separator, out);
    fprintf(out, "%c%s%c", separator, name, separator);
    csv_number(both[1].known, both[1].whole, both[1].real, separator, out);
    report_csv_text(both[0].known       ? standing_of(outside)
                    : row->code != NULL ? row->code
                                        : "missing",
                    separator, out);
    fprintf(out, "%c%s%c", separator, both[1].known ? INSIDE : "", separator);
    report_csv_text(row->name, separator, out);
    fputc('\n', out);
}

static struct count_number
real_number(const struct spread *s, double value)
{
    return (struct count_number){
        .known = s->known > 0 && !isnan(value),
        .real = value,
    };
}

static void
csv_row(const struct mpi_report *r, size_t row, bool is_metric, char separator,
        FILE *out)
{
    const struct column both[2] = {{r, row, is_metric, false},
                                   {r, row, is_metric, true}};
    const struct spread s[2] = {spread_of(&both[0]), spread_of(&both[1])};
    const struct {
        const char *name;
        double values[2];
    } sums[] = {
        {"min", {s[0].least, s[1].least}},
        {"mean", {s[0].mean, s[1].mean}},
        {"max", {s[0].most, s[1].most}},
        {"imbalance", {s[0].imbalance, s[1].imbalance}},
    };
    char rank[16];

    for (unsigned i = 0; i < r->size; i++) {
        const struct count_number values[2] = {value_of(&both[0], i),
                                               value_of(&both[1], i)};
        snprintf(rank, sizeof(rank), "%u", i);
        csv_line(r, &both[0], rank, values, separator, out);
    }
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        const struct count_number values[2] = {
            real_number(&s[0], sums[i].values[0]),
            real_number(&s[1], sums[i].values[1])};
        csv_line(r, &both[0], sums[i].name, values, separator, out);
    }
}

int
mpi_report_csv(const struct mpi_report *r, char separator, FILE *out)
{
    for (size_t i = 0; i < r->first->event_count; i++)
        csv_row(r, i, false, separator, out);
    for (size_t i = 0; i < r->first->metric_count; i++)
        csv_row(r, i, true, separator, out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* JSON */

static json_t *
number_json(const struct count_number *n)
{
    return !n->known  ? json_null()
           : n->whole ? json_integer((json_int_t)n->count)
                      : json_real(n->real);
}

/* Returns a real number, or null where it is none. */
static json_t *
real_json(const struct spread *s, double value)
{
    return s->known > 0 && !isnan(value) ? json_real(value) : json_null();
}

/* Returns the values of all ranks in one column, and what stands for them. */
static json_t *
column_json(const struct column *c)
{
    const struct spread s = spread_of(c);
    json_t *const ranks = json_array();

    for (unsigned i = 0; i < c->report->size; i++) {
        const struct count_number n = value_of(c, i);
        json_array_append_new(ranks, number_json(&n));
    }
    return json_pack("{ss sososososo}", "fidelity",
                     c->inside ? INSIDE : standing_of(c), "ranks", ranks, "min",
                     real_json(&s, s.least), "mean", real_json(&s, s.mean),
                     "max", real_json(&s, s.most), "imbalance",
                     real_json(&s, s.imbalance));
}

static json_t *
rows_json(const struct mpi_report *r, size_t count, bool is_metric)
{
    json_t *const rows = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct column outside = {r, i, is_metric, false};
        const struct column inside = {r, i, is_metric, true};
        const struct count_row *const row = row_of(&outside, r->first);
        json_t *const o =
            json_pack("{soso}", "name", report_json_text(row->name), "asked",
                      report_json_text(row->asked));
        json_object_set_new(o, "unit", report_json_text(row->unit));
        if (row->reason != NULL)
            json_object_set_new(o, "reason", report_json_text(row->reason));
        json_object_set_new(o, "outside_mpi", column_json(&outside));
        if (!is_metric)
            json_object_set_new(o, "in_mpi", column_json(&inside));
        json_array_append_new(rows, o);
    }
    return rows;
}

/* Returns what each rank ran, and how it ended. */
static json_t *
ranks_json(const struct mpi_report *r)
{
    json_t *const ranks = json_array();

    for (unsigned i = 0; i < r->size; i++) {
        const struct count_document *const d = r->ranks[i].document;
        json_t *const o = json_pack("{si}", "rank", (int)i);
        if (d == NULL) {
            json_object_set_new(o, "missing",
                                report_json_text(r->ranks[i].why));
        } else {
            json_object_set_new(o, "program",
                                d->program != NULL
                                    ? report_json_text(d->program)
                                    : json_null());
            json_object_set_new(o, "status",
                                d->status != NULL ? report_json_text(d->status)
                                                  : json_null());
            json_object_set_new(o, "interrupted", json_boolean(d->interrupted));
            json_object_set_new(o, "partial", json_boolean(d->partial));
        }
        json_array_append_new(ranks, o);
    }
    return ranks;
}

int
mpi_report_json(const struct mpi_report *r, FILE *out)
{
    json_t *const o = json_pack("{sisssosiso}", "schema", 1, "by", "rank",
                                "machine", report_json_text(r->first->machine),
                                "size", (int)r->size, "ranks", ranks_json(r));
    json_object_set_new(o, "events",
                        rows_json(r, r->first->event_count, false));
    json_object_set_new(o, "metrics",
                        rows_json(r, r->first->metric_count, true));
    const int written =
        o == NULL ? -1
                  : json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(o);
    if (o == NULL)
        return TALLY_ENOMEM;
    if (written != 0)
        return TALLY_EIO;
    fputc('\n', out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}
