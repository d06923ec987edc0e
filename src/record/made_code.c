/* SPDX-License-Identifier: MIT */
#include "record/made_code.h"

#include <byteswap.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is kept and read at most, as the program may write what it likes: less
 * than 200 MB, in seconds. */
#define ROWS_MOST (1u << 20)
#define NAME_MOST 4096u
#define NAMES_MOST (32u << 20)  /* bytes of names in all */
#define CODE_MOST (64u << 20)   /* bytes of code in all */
#define RECORD_MOST (16u << 20) /* bytes of a record of a jitdump */
#define LINES_MOST (1u << 21)   /* in all */
#define FILE_MOST (512u << 20)  /* bytes of a file that are read */

/* The header of a jitdump, and of its records. */
#define DUMP_MAGIC 0x4a695444u
#define DUMP_HEADER 40u
#define DUMP_PREFIX 16u

enum dump_record {
    DUMP_LOAD = 0,
    DUMP_MOVE = 1,
    DUMP_LINES = 2,
    DUMP_CLOSE = 3,
};

/* Where numbers are in a DUMP_LOAD, and where its name begins. */
#define LOAD_ADDRESS 32u
#define LOAD_SIZE 40u
#define LOAD_NAME 56u
/* And in a DUMP_MOVE. */
#define MOVE_OLD 32u
#define MOVE_NEW 40u
#define MOVE_SIZE 48u
#define MOVE_END 64u
/* In a DUMP_LINES, and in each of its entries. */
#define LINES_ADDRESS 16u
#define LINES_COUNT 24u
#define LINES_FIRST 32u
#define ENTRY_LINE 8u
#define ENTRY_NAME 16u

void
made_code_init(struct made_code *m)
{
    *m = (struct made_code){0};
    /* Without memory lines have no file. */
    if (texts_init(&m->files) != 0)
        texts_finish(&m->files);
}

void
made_code_finish(struct made_code *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->rows[i].name);
        free(m->rows[i].code);
        free(m->rows[i].lines);
    }
    free(m->rows);
    free(m->order);
    texts_finish(&m->files);
    *m = (struct made_code){0};
}

/* Opens the file if it is a regular one of this user's. */
static FILE *
open_own(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_uid == geteuid())
        file = fdopen(fd, "r");
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/* Adds a piece of code with a copy of its name; NULL: it cannot be, or there is
 * no room. */
static struct made_code_row *
add_row(struct made_code *m, uint64_t first, uint64_t size, const char *name,
        size_t length)
{
    length = length < NAME_MOST ? length : NAME_MOST;
    if (size == 0 || first + size < first || m->count >= ROWS_MOST ||
        m->name_size + length > NAMES_MOST)
        return NULL;
    if (m->count == m->room) {
        const size_t room = m->room != 0 ? 2 * m->room : 64;
        struct made_code_row *rows = reallocarray(m->rows, room, sizeof(*rows));
        if (rows == NULL)
            return NULL;
        m->rows = rows;
        m->room = room;
    }
    struct made_code_row *row = &m->rows[m->count];
    *row = (struct made_code_row){
        .first = first,
        .size = size,
        .name = strndup(name, length),
    };
    if (row->name == NULL)
        return NULL;
    m->name_size += length;
    m->count++;
    return row;
}

/* Adds what a line of a map says. */
static void
take_line(struct made_code *m, const char *line)
{
    uint64_t first, size;
    int name = 0;

    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &first, &size, &name) == 2 &&
        name != 0 && line[name] != '\0')
        add_row(m, first, size, line + name, strlen(line + name));
}

void
made_code_read_map(FILE *file, struct made_code *m)
{
    char line[NAME_MOST + 64]; /* a longer line is cut */
    size_t length = 0, left = FILE_MOST;
    int c;

    while (left-- > 0 && m->count < ROWS_MOST && (c = getc(file)) != EOF) {
        if (c != '\n') {
            line[length] = (char)c;
            length += length < sizeof(line) - 1;
            continue;
        }
        line[length] = '\0';
        take_line(m, line);
        length = 0;
    }
    line[length] = '\0';
    if (feof(file))
        take_line(m, line);
}

/* A jitdump that is being read. */
struct dump {
    struct made_code *m;
    bool swap;     /* the program has the other byte order */
    uint8_t *data; /* of the record, `size` bytes */
    uint64_t size, room;
    uint64_t read; /* bytes of the file, so far */
    /* Lines of the code that is loaded next. */
    struct made_line *lines;
    size_t line_count, all_lines;
    uint64_t lines_of; /* its address */
};

static uint32_t
get_u32(const struct dump *d, uint64_t at)
{
    uint32_t value;

    memcpy(&value, d->data + at, sizeof(value));
    return d->swap ? bswap_32(value) : value;
}

static uint64_t
get_u64(const struct dump *d, uint64_t at)
{
    uint64_t value;

    memcpy(&value, d->data + at, sizeof(value));
    return d->swap ? bswap_64(value) : value;
}

/* Reads a record whole; false: the file ends, or the record cannot be. */
static bool
read_record(struct dump *d, FILE *file)
{
    uint8_t prefix[DUMP_PREFIX];
    uint32_t size;

    if (fread(prefix, 1, sizeof(prefix), file) != sizeof(prefix))
        return false;
    memcpy(&size, prefix + 4, sizeof(size));
    d->size = d->swap ? bswap_32(size) : size;
    d->read += d->size;
    if (d->size < DUMP_PREFIX || d->size > RECORD_MOST || d->read > FILE_MOST)
        return false;
    if (d->size > d->room) {
        uint8_t *data = realloc(d->data, d->size);
        if (data == NULL)
            return false;
        d->data = data;
        d->room = d->size;
    }
    memcpy(d->data, prefix, sizeof(prefix));
    const size_t rest = d->size - sizeof(prefix);
    return fread(d->data + sizeof(prefix), 1, rest, file) == rest;
}

/* Orders lines by address. */
static int
compare_lines(const void *a, const void *b)
{
    const struct made_line *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Forgets the lines that no code has come for. */
static void
drop_lines(struct dump *d)
{
    free(d->lines);
    d->lines = NULL;
    d->line_count = 0;
}

/* Keeps the lines of the code that is loaded next. */
static void
take_lines(struct dump *d)
{
    uint64_t at = LINES_FIRST;
    uint32_t file = 0;

    drop_lines(d);
    if (d->size < LINES_FIRST)
        return;
    const uint64_t count = get_u64(d, LINES_COUNT);
    if (count > (d->size - LINES_FIRST) / (ENTRY_NAME + 1) ||
        count > LINES_MOST - d->all_lines)
        return;
    d->lines = calloc(count + 1, sizeof(*d->lines));
    d->lines_of = get_u64(d, LINES_ADDRESS);
    for (uint64_t i = 0; d->lines != NULL && i < count; i++) {
        if (d->size - at <= ENTRY_NAME)
            return;
        const char *name = (const char *)d->data + at + ENTRY_NAME;
        const size_t room = d->size - at - ENTRY_NAME;
        const size_t length = strnlen(name, room);
        if (length == room)
            return;
        /* "\xff" stands for the name before. */
        if (strcmp(name, "\xff") != 0 && length <= NAME_MOST &&
            d->m->files.count > 0)
            file = texts_add(&d->m->files, name);
        d->lines[d->line_count++] = (struct made_line){
            .address = get_u64(d, at),
            .line = get_u32(d, at + ENTRY_LINE),
            .file = file,
        };
        d->all_lines++;
        at += ENTRY_NAME + length + 1;
    }
}

/* Adds a piece of code with its bytes and lines. */
static void
take_load(struct dump *d)
{
    if (d->size <= LOAD_NAME)
        return;
    const uint64_t first = get_u64(d, LOAD_ADDRESS);
    const uint64_t size = get_u64(d, LOAD_SIZE);
    const char *name = (const char *)d->data + LOAD_NAME;
    const size_t length = strnlen(name, d->size - LOAD_NAME);
    const uint64_t left = d->size - LOAD_NAME - length;
    struct made_code_row *row = add_row(d->m, first, size, name, length);

    if (row == NULL)
        return;
    if (left > size && size <= CODE_MOST - d->m->code_size &&
        (row->code = malloc(size)) != NULL) {
        memcpy(row->code, name + length + 1, size);
        d->m->code_size += size;
    }
    if (d->line_count != 0 && d->lines_of == first) {
        qsort(d->lines, d->line_count, sizeof(*d->lines), compare_lines);
        row->lines = d->lines;
        row->line_count = d->line_count;
        d->lines = NULL;
    }
    drop_lines(d);
}

/* Returns the piece of code that was told last with the address and size, or
 * NULL. */
static const struct made_code_row *
find_row(const struct made_code *m, uint64_t first, uint64_t size)
{
    for (size_t i = m->count; i > 0; i--) {
        if (m->rows[i - 1].first == first && m->rows[i - 1].size == size)
            return &m->rows[i - 1];
    }
    return NULL;
}

#define MOVES_MOST 4096u /* of a jitdump; each looks for its code */

/* Adds code that was moved once more, at its new address. */
static void
take_move(struct dump *d)
{
    if (d->size < MOVE_END)
        return;
    const uint64_t to = get_u64(d, MOVE_NEW), size = get_u64(d, MOVE_SIZE);
    const struct made_code_row *found =
        find_row(d->m, get_u64(d, MOVE_OLD), size);

    if (found == NULL || size > CODE_MOST - d->m->code_size)
        return;
    struct made_code_row old = *found; /* adding moves the rows */
    struct made_code_row *row =
        add_row(d->m, to, size, old.name, strlen(old.name));
    if (row == NULL)
        return;
    if (old.code != NULL && (row->code = malloc(size)) != NULL) {
        memcpy(row->code, old.code, size);
        d->m->code_size += size;
    }
    if (old.line_count == 0 || old.line_count > LINES_MOST - d->all_lines)
        return;
    row->lines = calloc(old.line_count, sizeof(*row->lines));
    for (size_t i = 0; row->lines != NULL && i < old.line_count; i++) {
        row->lines[row->line_count] = old.lines[i];
        row->lines[row->line_count++].address += to - old.first;
    }
    d->all_lines += row->line_count;
}

void
made_code_read_dump(FILE *file, struct made_code *m)
{
    struct dump d = {.m = m};
    uint8_t header[DUMP_HEADER];
    uint32_t magic, size, moves = 0;

    if (fread(header, 1, sizeof(header), file) != sizeof(header))
        return;
    memcpy(&magic, header, sizeof(magic));
    memcpy(&size, header + 8, sizeof(size));
    d.swap = magic == bswap_32(DUMP_MAGIC);
    if (magic != DUMP_MAGIC && !d.swap)
        return;
    size = d.swap ? bswap_32(size) : size;
    for (; size > sizeof(header); size--) { /* a later version's additions */
        if (size > 4096 || getc(file) == EOF)
            return;
    }
    while (m->count < ROWS_MOST && read_record(&d, file)) {
        const uint32_t kind = get_u32(&d, 0);
        if (kind == DUMP_LOAD)
            take_load(&d);
        else if (kind == DUMP_MOVE && moves++ < MOVES_MOST)
            take_move(&d);
        else if (kind == DUMP_LINES)
            take_lines(&d);
        else if (kind == DUMP_CLOSE)
            break;
    }
    drop_lines(&d);
    free(d.data);
}

static int
compare_rows(const void *a, const void *b, void *rows)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct made_code_row *all = rows;

    if (all[x].first != all[y].first)
        return all[x].first < all[y].first ? -1 : 1;
    return x < y ? -1 : x > y;
}

void
made_code_index(struct made_code *m)
{
    free(m->order);
    m->order = calloc(m->count + 1, sizeof(*m->order));
    if (m->order == NULL)
        return;
    for (uint32_t i = 0; i < m->count; i++)
        m->order[i] = i;
    qsort_r(m->order, m->count, sizeof(*m->order), compare_rows, m->rows);
}

/* Returns whether the piece of code has the block's bytes, where both are. */
static bool
has_code(const struct made_code_row *row, uint64_t block_address,
         const uint8_t *block, size_t block_size)
{
    const uint64_t first =
        row->first > block_address ? row->first : block_address;
    const uint64_t row_left = row->size - (first - row->first);
    const uint64_t block_left = block_size - (first - block_address);

    return row->code != NULL &&
           memcmp(row->code + (first - row->first),
                  block + (first - block_address),
                  row_left < block_left ? row_left : block_left) == 0;
}

/* Pieces of code that begin before an address and are looked at: code that was
 * thrown away and made again lies over older code. */
#define ROWS_BEFORE 256u

const struct made_code_row *
made_code_find(const struct made_code *m, uint64_t address,
               uint64_t block_address, const uint8_t *block, size_t block_size)
{
    const struct made_code_row *found = NULL;
    bool is_sure = false;
    size_t low = 0, high = m->order != NULL ? m->count : 0;

    while (low < high) { /* the first row behind the address */
        const size_t middle = low + (high - low) / 2;
        if (m->rows[m->order[middle]].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && low - i < ROWS_BEFORE; i--) {
        const struct made_code_row *row = &m->rows[m->order[i - 1]];
        if (address - row->first >= row->size)
            continue;
        const bool sure = has_code(row, block_address, block, block_size);
        if (found == NULL || sure > is_sure ||
            (sure == is_sure && row > found)) {
            found = row;
            is_sure = sure;
        }
    }
    return found;
}

void
made_code_read(int pid, const char *dump, struct made_code *m)
{
    char path[64];
    FILE *file;

    made_code_init(m);
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
    file = open_own(path);
    if (file != NULL) {
        made_code_read_map(file, m);
        fclose(file);
    }
    file = dump != NULL ? open_own(dump) : NULL;
    if (file != NULL) {
        made_code_read_dump(file, m);
        fclose(file);
    }
}
