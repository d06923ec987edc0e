/* SPDX-License-Identifier: MIT */
/*
 * programs NAME [counted]: runs one of the programs whose time on this host is
 * compared with their modelled cycles (validate/clock.py). The first line that
 * it prints has the program's result. The second line has four numbers: the
 * nanoseconds of processor time that the program took, the page faults that it
 * made, and, measured right afterwards, the nanoseconds of 1,000 additions that
 * depend on each other and of one page fault. With the word `counted` nothing
 * is measured and the second line is not printed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t seed = 88172645463325252u;

static uint64_t
next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void *
memory(size_t bytes)
{
    void *const m = aligned_alloc(64, (bytes + 63) / 64 * 64);

    if (m == NULL)
        exit(1);
    memset(m, 0, bytes);
    return m;
}

/* Matrices of MATRIX x MATRIX numbers. */
#define MATRIX 224
#define TILE 32

static double left[MATRIX][MATRIX], right[MATRIX][MATRIX],
    product[MATRIX][MATRIX];

static void
set_matrices(void)
{
    for (int i = 0; i < MATRIX; i++) {
        for (int k = 0; k < MATRIX; k++) {
            left[i][k] = i + k;
            right[i][k] = i - k;
        }
    }
}

static double
matrix_naive(void)
{
    set_matrices();
    for (int i = 0; i < MATRIX; i++) {
        for (int k = 0; k < MATRIX; k++) {
            double sum = 0;
            for (int n = 0; n < MATRIX; n++)
                sum += left[i][n] * right[n][k];
            product[i][k] = sum;
        }
    }
    return product[3][5];
}

static double
matrix_rows(void)
{
    set_matrices();
    for (int i = 0; i < MATRIX; i++) {
        for (int n = 0; n < MATRIX; n++) {
            for (int k = 0; k < MATRIX; k++)
                product[i][k] += left[i][n] * right[n][k];
        }
    }
    return product[3][5];
}

static void
multiply_tile(int row, int inner, int column)
{
    for (int i = row; i < row + TILE; i++) {
        for (int n = inner; n < inner + TILE; n++) {
            for (int k = column; k < column + TILE; k++)
                product[i][k] += left[i][n] * right[n][k];
        }
    }
}

static double
matrix_tiles(void)
{
    set_matrices();
    for (int row = 0; row < MATRIX; row += TILE) {
        for (int inner = 0; inner < MATRIX; inner += TILE) {
            for (int column = 0; column < MATRIX; column += TILE)
                multiply_tile(row, inner, column);
        }
    }
    return product[3][5];
}

struct node {
    struct node *next;
    uint64_t value;
    char rest[48];
};

/* Walks a list of `count` nodes in random order. */
static double
walk_list(size_t count, size_t steps)
{
    struct node *const nodes = memory(count * sizeof(*nodes));
    size_t *const order = memory(count * sizeof(*order));
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t k = next_random() % (i + 1), was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
    for (size_t i = 0; i < count; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % count]];
        nodes[order[i]].value = i;
    }
    const struct node *at = nodes;
    for (size_t i = 0; i < steps; i++) {
        sum += at->value;
        at = at->next;
    }
    return (double)sum;
}

static double
list_l1(void)
{
    return walk_list(256, 30000000);
}

static double
list_l2(void)
{
    return walk_list(8000, 8000000);
}

static double
list_memory(void)
{
    return walk_list(1000000, 2000000);
}

/* A hash table with open addressing, and keys of which half are in it. */
#define TABLE ((size_t)1 << 18)
#define PROBES ((size_t)1 << 20)

static uint64_t *keys, *values, *probes;

static size_t
place_of(uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 46);
}

static void
set_table(void)
{
    keys = memory(TABLE * sizeof(*keys));
    values = memory(TABLE * sizeof(*values));
    probes = memory(PROBES * sizeof(*probes));
    for (size_t i = 0; i < TABLE / 2; i++) {
        const uint64_t key = next_random() | 1;
        size_t at = place_of(key);
        while (keys[at] != 0)
            at = (at + 1) % TABLE;
        keys[at] = key;
        values[at] = i;
        probes[i] = key;
    }
    for (size_t i = TABLE / 2; i < PROBES; i++)
        probes[i] =
            i % 2 ? probes[next_random() % (TABLE / 2)] : next_random() | 1;
}

/* Sums the values of the keys that are found. `chained`: no key is known before
 * the last was looked up. */
static double
join(int chained)
{
    uint64_t sum = 0, last = 0;

    set_table();
    for (size_t i = 0; i < PROBES; i++) {
        const uint64_t key = probes[i] + (chained ? last : 0);
        size_t at = place_of(key);
        while (keys[at] != 0 && keys[at] != key)
            at = (at + 1) % TABLE;
        if (keys[at] != 0) {
            sum += values[at];
            last = values[at] >> 62;
        }
    }
    return (double)sum;
}

static double
join_free(void)
{
    return join(0);
}

static double
join_chained(void)
{
    return join(1);
}

static double
triad(size_t count, int times)
{
    double *const a = memory(count * 8), *const b = memory(count * 8),
                  *const c = memory(count * 8);

    for (size_t i = 0; i < count; i++) {
        b[i] = (double)i;
        c[i] = 2.0 * (double)i;
    }
    for (int n = 0; n < times; n++) {
        for (size_t i = 0; i < count; i++)
            a[i] = b[i] + 3.0 * c[i];
    }
    return a[count / 2];
}

static double
triad_l2(void)
{
    return triad(20000, 1000);
}

static double
triad_memory(void)
{
    return triad(2000000, 5);
}

#define FFT ((size_t)1 << 14)

static void
reverse_bits(double *re)
{
    for (size_t i = 1, k = 0; i < FFT; i++) {
        size_t bit = FFT >> 1;
        for (; k & bit; bit >>= 1)
            k ^= bit;
        k ^= bit;
        if (i < k) {
            const double was = re[i];
            re[i] = re[k];
            re[k] = was;
        }
    }
}

/* One stage of butterflies over `length` numbers each. */
static void
butterflies(double *re, double *im, size_t length)
{
    const double angle = 2 * M_PI / (double)length;
    const double step_re = cos(angle), step_im = sin(angle);

    for (size_t i = 0; i < FFT; i += length) {
        double c_re = 1, c_im = 0;
        for (size_t k = i; k < i + length / 2; k++) {
            const size_t o = k + length / 2;
            const double v_re = re[o] * c_re - im[o] * c_im;
            const double v_im = re[o] * c_im + im[o] * c_re;
            const double was = c_re;
            re[o] = re[k] - v_re;
            im[o] = im[k] - v_im;
            re[k] += v_re;
            im[k] += v_im;
            c_re = was * step_re - c_im * step_im;
            c_im = was * step_im + c_im * step_re;
        }
    }
}

static double
fft(void)
{
    double *const re = memory(FFT * 8), *const im = memory(FFT * 8);
    double sum = 0;

    for (int n = 0; n < 12; n++) {
        for (size_t i = 0; i < FFT; i++) {
            re[i] = (double)(i % 7);
            im[i] = 0;
        }
        reverse_bits(re);
        for (size_t length = 2; length <= FFT; length *= 2)
            butterflies(re, im, length);
        sum += re[5];
    }
    return sum;
}

static int
compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static double
sort(void)
{
    const size_t count = 200000;
    uint64_t *const a = memory(count * 8);

    for (size_t i = 0; i < count; i++)
        a[i] = next_random();
    qsort(a, count, 8, compare);
    return (double)a[count / 2];
}

static double
sieve(void)
{
    const size_t count = 3000000;
    char *const composite = memory(count);
    uint64_t primes = 0;

    for (size_t i = 2; i < count; i++) {
        if (composite[i])
            continue;
        primes++;
        for (size_t k = i * i; k < count; k += i)
            composite[k] = 1;
    }
    return (double)primes;
}

static double
crc(void)
{
    const size_t count = 1 << 20;
    uint8_t *const bytes = memory(count);
    uint32_t table[256], sum = UINT32_MAX;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] =
                table[i] & 1 ? 0xedb88320u ^ table[i] >> 1 : table[i] >> 1;
    }
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)next_random();
    for (int n = 0; n < 8; n++) {
        for (size_t i = 0; i < count; i++)
            sum = table[(sum ^ bytes[i]) & 255] ^ sum >> 8;
    }
    return sum;
}

static __attribute__((noinline)) uint64_t
fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static double
recursion(void)
{
    return (double)fibonacci(32);
}

static double
mandelbrot(void)
{
    double sum = 0;

    for (int y = 0; y < 160; y++) {
        for (int x = 0; x < 160; x++) {
            const double re = x / 80.0 - 1.5, im = y / 80.0 - 1;
            double a = 0, b = 0;
            int n = 0;
            for (; n < 300 && a * a + b * b < 4; n++) {
                const double was = a;
                a = a * a - b * b + re;
                b = 2 * was * b + im;
            }
            sum += n;
        }
    }
    return sum;
}

#define BODIES 5

static double place[BODIES][3], speed[BODIES][3], mass[BODIES];

static void
pull(int i, int k)
{
    double away[3], square = 0.1;

    for (int n = 0; n < 3; n++) {
        away[n] = place[i][n] - place[k][n];
        square += away[n] * away[n];
    }
    const double force = 0.001 / (square * sqrt(square));
    for (int n = 0; n < 3; n++) {
        speed[i][n] -= away[n] * mass[k] * force;
        speed[k][n] += away[n] * mass[i] * force;
    }
}

static double
bodies(void)
{
    for (int i = 0; i < BODIES; i++) {
        mass[i] = 1 + i;
        for (int n = 0; n < 3; n++) {
            place[i][n] = i * 1.5 + n * 0.3;
            speed[i][n] = 0.01 * (i - n);
        }
    }
    for (int step = 0; step < 80000; step++) {
        for (int i = 0; i < BODIES; i++) {
            for (int k = i + 1; k < BODIES; k++)
                pull(i, k);
        }
        for (int i = 0; i < BODIES; i++) {
            for (int n = 0; n < 3; n++)
                place[i][n] += 0.001 * speed[i][n];
        }
    }
    return place[0][0];
}

/* Takes a branch by each of many numbers, which are sorted or not. */
static double
branches(int sorted)
{
    const size_t count = 1 << 16;
    int *const a = memory(count * sizeof(*a));
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        a[i] = (int)(sorted ? i * 256 / count : next_random() % 256);
    for (int n = 0; n < 100; n++) {
        for (size_t i = 0; i < count; i++) {
            if (a[i] >= 128)
                sum += (uint64_t)a[i];
            else
                sum ^= i;
            __asm__ volatile("" ::"r"(sum));
        }
    }
    return (double)sum;
}

static double
branches_random(void)
{
    return branches(0);
}

static double
branches_sorted(void)
{
    return branches(1);
}

static const char *
parse_string(const char *t, uint64_t *sum)
{
    uint64_t hash = 0;

    for (; *t != '"'; t++)
        hash = hash * 31 + (uint8_t)*t;
    *sum += hash;
    return t + 1;
}

static const char *
parse_number(const char *t, uint64_t *sum)
{
    uint64_t value = 0;

    for (; (*t >= '0' && *t <= '9') || *t == '.'; t++)
        value = *t != '.' ? value * 10 + (uint64_t)(*t - '0') : value;
    *sum += value;
    return t;
}

static double
json(void)
{
    const size_t size = 1 << 20;
    char *const text = memory(size);
    uint64_t sum = 0, depth = 0;
    size_t end = 0;

    for (int i = 0; end < size - 100; i++)
        end += (size_t)sprintf(text + end,
                               "{\"id\":%d,\"name\":\"user %d\",\"v\":[%d,%d.5,"
                               "true,null]},\n",
                               i, i * 7, i * 3, i % 10);
    for (int n = 0; n < 8; n++) {
        for (const char *t = text; *t != '\0';) {
            if (*t == '"')
                t = parse_string(t + 1, &sum);
            else if (*t >= '0' && *t <= '9')
                t = parse_number(t, &sum);
            else
                depth += *t++ == '{';
        }
    }
    return (double)(sum + depth);
}

static double
search(void)
{
    const size_t size = 1 << 16;
    char *const text = memory(size);
    uint64_t found = 0;

    for (size_t i = 0; i < size - 1; i++)
        text[i] = (char)('a' + next_random() % 4);
    for (int n = 0; n < 150; n++) {
        char word[7] = "";
        for (int k = 0; k < 6; k++)
            word[k] = (char)('a' + next_random() % 4);
        for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
            found++;
    }
    return (double)found;
}

static double
divisions(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 1; i < 4000000; i++)
        sum += (0xfffffffffffu ^ sum) / (i | 1);
    return (double)sum;
}

static double
divisors(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < 250000; i++) {
        uint32_t a = (uint32_t)next_random(), b = (uint32_t)next_random() | 1;
        while (b != 0) {
            const uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        sum += a;
    }
    return (double)sum;
}

struct leaf {
    struct leaf *left, *right;
    uint64_t key;
};

static double
tree(void)
{
    const size_t count = 150000;
    struct leaf *const leaves = memory(count * sizeof(*leaves)), *root = NULL;

    for (size_t i = 0; i < count; i++) {
        struct leaf **at = &root;
        leaves[i].key = next_random();
        while (*at != NULL)
            at = leaves[i].key < (*at)->key ? &(*at)->left : &(*at)->right;
        *at = &leaves[i];
    }
    return (double)root->key;
}

static double
histogram(void)
{
    uint32_t *const counts = memory(65536 * sizeof(*counts));
    uint64_t sum = 0;

    for (int i = 0; i < 8000000; i++)
        counts[next_random() & 65535]++;
    for (uint64_t i = 0; i < 65536; i++)
        sum ^= counts[i] * i;
    return (double)sum;
}

static double
bits(void)
{
    const size_t count = 1 << 14;
    uint64_t *const a = memory(count * 8), sum = 0;

    for (size_t i = 0; i < count; i++)
        a[i] = next_random();
    for (uint64_t n = 0; n < 300; n++) {
        for (size_t i = 0; i < count; i++)
            sum += (uint64_t)__builtin_popcountll(a[i] ^ n);
    }
    return (double)sum;
}

static double
allocations(void)
{
    void *blocks[256] = {NULL};
    uint64_t sum = 0;

    for (int i = 0; i < 800000; i++) {
        const uint64_t k = next_random() & 255;
        free(blocks[k]);
        blocks[k] = malloc(16 + (next_random() & 255));
        sum += (uintptr_t)blocks[k] >> 4 & 1;
    }
    return (double)sum;
}

static double
bytecode(void)
{
    static uint8_t code[4096];
    uint64_t a = 1, b = 2, sum = 0;

    for (size_t i = 0; i < sizeof(code); i++)
        code[i] = (uint8_t)(next_random() % 8);
    for (int n = 0; n < 2000; n++) {
        for (size_t pc = 0; pc < sizeof(code); pc++) {
            switch (code[pc]) {
            case 0:
                a += b;
                break;
            case 1:
                b ^= a;
                break;
            case 2:
                sum += a;
                break;
            case 3:
                a = a * 3 + 1;
                break;
            case 4:
                b += pc;
                break;
            case 5:
                sum ^= b >> 3;
                break;
            case 6:
                a -= sum;
                break;
            default:
                b = sum + 7;
                break;
            }
        }
    }
    return (double)(sum + a + b);
}

#define SIDE ((size_t)1200)

static double
by_columns(void)
{
    double *const a = memory(SIDE * SIDE * 8), sum = 0;

    for (size_t i = 0; i < SIDE * SIDE; i++)
        a[i] = (double)i;
    for (int n = 0; n < 8; n++) {
        for (size_t column = 0; column < SIDE; column++) {
            for (size_t row = 0; row < SIDE; row++)
                sum += a[row * SIDE + column];
        }
    }
    return sum;
}

static double
by_rows(void)
{
    double *const a = memory(SIDE * SIDE * 8), sum = 0;

    for (size_t i = 0; i < SIDE * SIDE; i++)
        a[i] = (double)i;
    for (int n = 0; n < 8; n++) {
        for (size_t i = 0; i < SIDE * SIDE; i++)
            sum += a[i];
    }
    return sum;
}

#define SUMMED ((size_t)1 << 13)

static double
one_sum(void)
{
    double *const a = memory(SUMMED * 8), sum = 0;

    for (size_t i = 0; i < SUMMED; i++)
        a[i] = (double)i;
    for (int n = 0; n < 2500; n++) {
        for (size_t i = 0; i < SUMMED; i++)
            sum += a[i];
    }
    return sum;
}

static double
four_sums(void)
{
    double *const a = memory(SUMMED * 8), sum[4] = {0};

    for (size_t i = 0; i < SUMMED; i++)
        a[i] = (double)i;
    for (int n = 0; n < 4000; n++) {
        for (size_t i = 0; i < SUMMED; i += 4) {
            sum[0] += a[i];
            sum[1] += a[i + 1];
            sum[2] += a[i + 2];
            sum[3] += a[i + 3];
        }
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static const struct {
    const char *name;
    double (*run)(void);
} programs[] = {
    {"matrix-naive", matrix_naive},
    {"matrix-rows", matrix_rows},
    {"matrix-tiles", matrix_tiles},
    {"list-l1", list_l1},
    {"list-l2", list_l2},
    {"list-memory", list_memory},
    {"join-free", join_free},
    {"join-chained", join_chained},
    {"triad-l2", triad_l2},
    {"triad-memory", triad_memory},
    {"fft", fft},
    {"sort", sort},
    {"sieve", sieve},
    {"crc", crc},
    {"recursion", recursion},
    {"mandelbrot", mandelbrot},
    {"bodies", bodies},
    {"branches-random", branches_random},
    {"branches-sorted", branches_sorted},
    {"json", json},
    {"search", search},
    {"divisions", divisions},
    {"divisors", divisors},
    {"tree", tree},
    {"histogram", histogram},
    {"bits", bits},
    {"allocations", allocations},
    {"bytecode", bytecode},
    {"by-columns", by_columns},
    {"by-rows", by_rows},
    {"one-sum", one_sum},
    {"four-sums", four_sums},
};

/* Nanoseconds of processor time. */
static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
addition_time(void)
{
    double best = INFINITY;

    for (int n = 0; n < 5; n++) {
        const double before = now();
        uint64_t sum = 1;
        for (int i = 0; i < 20000; i++)
            __asm__ volatile(".rept 100\n add $1, %0\n .endr" : "+r"(sum));
        const double took = (now() - before) / 2000;
        best = took < best ? took : best;
    }
    return best;
}

static double
fault_time(void)
{
    const size_t size = 4 << 20, page = 4096;
    double best = INFINITY;

    for (int n = 0; n < 3; n++) {
        char *const m = mmap(NULL, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED)
            exit(1);
        const double before = now();
        for (size_t i = 0; i < size; i += page)
            m[i] = 1;
        const double took = (now() - before) * (double)page / (double)size;
        best = took < best ? took : best;
        munmap(m, size);
    }
    return best;
}

static long
faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
            puts(programs[i].name);
        return 0;
    }
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        if (argc < 2 || strcmp(argv[1], programs[i].name) != 0)
            continue;
        const double before = now();
        const long faulted = faults();
        const double result = programs[i].run();
        const double took = now() - before;
        const long more = faults() - faulted;
        printf("%s %g\n", argv[1], result);
        /* Of a run that a model times, the rest is not the program. */
        if (argc == 2)
            printf("%.0f %ld %.3f %.1f\n", took, more, addition_time(),
                   fault_time());
        return 0;
    }
    fprintf(stderr, "usage: programs NAME [counted] | --list\n");
    return 2;
}
