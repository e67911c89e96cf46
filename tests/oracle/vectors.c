/* Instructions with millions of operands, on Heddle and on a real GPU. See README.md. */
#include "cases.h"
#include "target.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 64 }; /* cases of a module */

static const char usage[] =
    "usage: vectors --check FILE     compare Heddle with what a GPU gave\n"
    "       vectors --gpu FILE       write digests of the results of this computer's GPU\n"
    "       vectors --gpu-all FILE [TEXT]   write all its results, or those of the cases whose names begin "
    "so;\n"
    "                                --check then shows each difference\n"
    "       vectors --print TEXT     show the PTX of the cases whose names begin so\n"
    "       vectors --dump TEXT      show operands and Heddle's results of these\n";

/* Cases with their operands, and the results of one machine. */
struct batch {
    const struct oracle_case *cases;
    size_t count;
    uint64_t *in[BATCH], *out[BATCH];
    bool refused[BATCH]; /* the machine cannot run it */
};

static void batch_init(struct batch *batch, const struct oracle_case *cases, size_t count)
{
    *batch = (struct batch){.cases = cases, .count = count};
    for (size_t i = 0; i < count; i++) {
        batch->in[i] = mem_alloc_lines(cases[i].groups, case_source_bytes(&cases[i]));
        batch->out[i] = mem_alloc_lines(cases[i].groups, case_result_bytes(&cases[i]));
        case_fill(&cases[i], batch->in[i]);
    }
}

static void batch_fini(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        mem_free(batch->in[i]);
        mem_free(batch->out[i]);
    }
}

static void write_module(const struct oracle_case *cases, size_t first, size_t count, struct text *text)
{
    case_write_head(text);
    for (size_t i = first; i < first + count; i++) {
        char kernel[16];
        snprintf(kernel, sizeof kernel, "k%zu", i);
        case_write_kernel(&cases[i], kernel, text);
    }
}

static bool run_case(struct target *target, struct batch *batch, size_t i, struct err *err)
{
    const struct oracle_case *c = &batch->cases[i];
    char kernel[16];
    snprintf(kernel, sizeof kernel, "k%zu", i);
    return target_run(target,
                      &(struct target_launch){.kernel = kernel,
                                              .grid = {c->groups, 1, 1},
                                              .block = {CASE_LANES, 1, 1},
                                              .in = batch->in[i],
                                              .out = batch->out[i],
                                              .in_bytes = c->groups * case_source_bytes(c),
                                              .out_bytes = c->groups * case_result_bytes(c)},
                      err);
}

/* Runs some of them. One that is refused makes the whole module be: then it is tried by halves. */
static void batch_run(struct target *target, struct batch *batch, size_t first, size_t count)
{
    struct text text = {0};
    struct err err;
    write_module(batch->cases, first, count, &text);
    bool good = target_load(target, text.at, &err);
    text_fini(&text);
    for (size_t i = first; i < first + count && good; i++)
        if (!run_case(target, batch, i, &err)) {
            batch->refused[i] = true;
            fprintf(stderr, "%s: %s\n", batch->cases[i].name, err.text);
        }
    if (!good && count > 1) {
        batch_run(target, batch, first, count / 2);
        batch_run(target, batch, first + count / 2, count - count / 2);
    } else if (!good) {
        batch->refused[first] = true;
        fprintf(stderr, "%s: %s\n", batch->cases[first].name, err.text);
    }
}

/* Calls `each` for every case whose name begins with the text, after it ran on the machine. */
typedef void each_fn(void *context, const struct oracle_case *c, const uint64_t *in, const uint64_t *out,
                     bool refused);

static void run_all(struct target *target, const struct oracle_cases *cases, const char *text, each_fn *each,
                    void *context)
{
    struct batch batch;
    for (size_t first = 0; first < cases->count; first += BATCH) {
        size_t count = min_u64(BATCH, cases->count - first);
        bool any = false;
        for (size_t i = first; i < first + count; i++)
            any |= !strncmp(cases->at[i].name, text, strlen(text));
        if (!any)
            continue;
        batch_init(&batch, cases->at + first, count);
        batch_run(target, &batch, 0, count);
        for (size_t i = 0; i < count; i++)
            if (!strncmp(batch.cases[i].name, text, strlen(text)))
                each(context, &batch.cases[i], batch.in[i], batch.out[i], batch.refused[i]);
        batch_fini(&batch);
    }
}

/* --- showing
 * ---------------------------------------------------------------------------------------------------- */

static void show_slots(const uint64_t *slots, unsigned count, unsigned lane, const enum value *values)
{
    for (unsigned i = 0; i < count; i++)
        printf(" %0*llx", values[i] == VALUE_pred ? 1 : (int)(2 * value_bytes(values[i])),
               (unsigned long long)slots[i * CASE_LANES + lane]);
}

/* A lane's operands and results. */
static void show_lane(const struct oracle_case *c, const uint64_t *in, const uint64_t *out, unsigned group,
                      unsigned lane)
{
    printf("  %u.%u:", group, lane);
    show_slots(in + group * c->source_count * CASE_LANES, c->source_count, lane, c->sources);
    printf(" ->");
    show_slots(out + group * c->result_count * CASE_LANES, c->result_count, lane, c->results);
}

static void dump_case(void *context, const struct oracle_case *c, const uint64_t *in, const uint64_t *out,
                      bool refused)
{
    (void)context;
    printf("%s%s\n", c->name, refused ? ": refused" : "");
    for (unsigned g = 0; g < c->groups && !refused; g++)
        for (unsigned lane = 0; lane < CASE_LANES; lane++) {
            show_lane(c, in, out, g, lane);
            printf("\n");
        }
}

static void print_cases(const struct oracle_cases *cases, const char *text)
{
    struct text module = {0};
    case_write_head(&module);
    for (size_t i = 0; i < cases->count; i++) {
        char kernel[24];
        if (strncmp(cases->at[i].name, text, strlen(text)))
            continue;
        snprintf(kernel, sizeof kernel, "k%zu", i);
        text_add(&module, "// %s\n", cases->at[i].name);
        case_write_kernel(&cases->at[i], kernel, &module);
    }
    fputs(module.at, stdout);
    text_fini(&module);
}

/* --- the file: what a GPU gave
 * --------------------------------------------------------------------------------------- For each case its
 * name, ended by a zero; how many groups (2 bytes, 0: the GPU cannot do it); how many bytes for a group (2
 * bytes); and these: a digest of 4 bytes, or all results. Numbers are little-endian. */

struct record {
    const char *name, *data;
    uint16_t groups, bytes;
};

static uint32_t digest_of(const struct oracle_case *c, const uint64_t *out, unsigned group)
{
    size_t bytes = case_result_bytes(c);
    return (uint32_t)(digest_bytes(1, (const char *)out + group * bytes, bytes) >> 32);
}

struct writer {
    FILE *stream;
    bool all;
    size_t cases, refused;
};

static void write_case(void *context, const struct oracle_case *c, const uint64_t *in, const uint64_t *out,
                       bool refused)
{
    struct writer *writer = context;
    uint16_t groups = refused ? 0 : (uint16_t)c->groups;
    uint16_t bytes = (uint16_t)(writer->all ? case_result_bytes(c) : sizeof(uint32_t));
    (void)in;
    writer->cases++;
    writer->refused += refused;
    fwrite(c->name, strlen(c->name) + 1, 1, writer->stream);
    fwrite(&groups, sizeof groups, 1, writer->stream);
    fwrite(&bytes, sizeof bytes, 1, writer->stream);
    for (unsigned g = 0; g < groups; g++) {
        uint32_t digest = digest_of(c, out, g);
        fwrite(writer->all ? (const char *)out + (size_t)g * bytes : (const char *)&digest, bytes, 1,
               writer->stream);
    }
}

static bool write_file(const struct oracle_cases *cases, const char *path, bool all, const char *text,
                       struct err *err)
{
    struct file_writer file;
    struct target *target = target_gpu(err);
    if (!target)
        return false;
    bool good = file_open(&file, path, err);
    if (good) {
        struct writer writer = {file.stream, all, 0, 0};
        run_all(target, cases, text, write_case, &writer);
        good = file_close(&file, err);
        printf("%zu cases, of which the GPU refused %zu\n", writer.cases, writer.refused);
    }
    target_free(target);
    return good;
}

static bool read_record(const struct text *file, size_t *at, struct record *record)
{
    const char *end = memchr(file->at + *at, 0, file->length - *at);
    if (!end || file->length - (size_t)(end - file->at) < 1 + 4)
        return false;
    record->name = file->at + *at;
    memcpy(&record->groups, end + 1, 2);
    memcpy(&record->bytes, end + 3, 2);
    record->data = end + 5;
    *at = (size_t)(record->data - file->at) + (size_t)record->groups * record->bytes;
    return *at <= file->length;
}

static bool find_record(const struct text *file, const char *name, struct record *record)
{
    for (size_t at = 0; at < file->length;)
        if (!read_record(file, &at, record))
            return false;
        else if (!strcmp(record->name, name))
            return true;
    return false;
}

/* --- comparing
 * ------------------------------------------------------------------------------------------------------ */

struct checker {
    struct text file;
    size_t cases, vectors, unknown, refused, wrong_cases, wrong_groups;
};

enum { SHOWN_CASES = 3, SHOWN_LANES = 12 };

/* Lanes whose results differ from the GPU's. */
static void show_differences(const struct oracle_case *c, const uint64_t *in, const uint64_t *out,
                             const struct record *record)
{
    unsigned shown = 0, per_group = c->result_count * CASE_LANES;
    for (unsigned i = 0; i < c->groups * CASE_LANES && shown < SHOWN_LANES; i++) {
        unsigned group = i / CASE_LANES, lane = i % CASE_LANES;
        uint64_t theirs[CASE_RESULTS * CASE_LANES];
        bool same = true;
        memcpy(theirs, record->data + (size_t)group * record->bytes, record->bytes);
        for (unsigned r = 0; r < c->result_count; r++)
            same &= theirs[r * CASE_LANES + lane] == out[group * per_group + r * CASE_LANES + lane];
        if (same)
            continue;
        show_lane(c, in, out, group, lane);
        printf(" GPU:");
        show_slots(theirs, c->result_count, lane, c->results);
        printf("\n");
        shown++;
    }
}

static void show_group(const struct oracle_case *c, const uint64_t *in, const uint64_t *out, unsigned group)
{
    printf("  of group %u, operands and Heddle's results (some lane of it differs):\n", group);
    for (unsigned lane = 0; lane < CASE_LANES; lane++) {
        show_lane(c, in, out, group, lane);
        printf("\n");
    }
}

static void check_case(void *context, const struct oracle_case *c, const uint64_t *in, const uint64_t *out,
                       bool refused)
{
    struct checker *checker = context;
    struct record record;
    unsigned wrong = 0, first = 0;
    checker->cases++;
    if (!find_record(&checker->file, c->name, &record)) {
        checker->unknown++;
        return;
    }
    if (!record.groups) {
        checker->refused++;
        return;
    }
    bool digests = record.bytes == sizeof(uint32_t);
    if (refused || record.groups != c->groups || (!digests && record.bytes != case_result_bytes(c))) {
        printf("%s: %s\n", c->name, refused ? "Heddle cannot run it" : "the file is of another version");
        checker->wrong_cases++;
        return;
    }
    for (unsigned g = c->groups; g-- > 0;) {
        uint32_t digest = digest_of(c, out, g);
        const char *mine = digests ? (const char *)&digest : (const char *)out + (size_t)g * record.bytes;
        if (memcmp(mine, record.data + (size_t)g * record.bytes, record.bytes) != 0)
            wrong++, first = g;
    }
    checker->vectors += (size_t)c->groups * CASE_LANES;
    checker->wrong_groups += wrong;
    if (!wrong)
        return;
    printf("%s: %u of %u groups differ\n", c->name, wrong, c->groups);
    if (!digests)
        show_differences(c, in, out, &record);
    else if (checker->wrong_cases < SHOWN_CASES)
        show_group(c, in, out, first);
    checker->wrong_cases++;
}

static bool check_file(const struct oracle_cases *cases, const char *path, struct err *err)
{
    struct checker checker = {0};
    if (!file_read(path, 1 << 28, &checker.file, err))
        return false;
    struct target *target = target_heddle(1);
    run_all(target, cases, "", check_case, &checker);
    printf("%zu cases: %zu vectors compared; %zu cases and %zu groups of 32 differ; the GPU does not have "
           "%zu, the "
           "file not %zu\n",
           checker.cases, checker.vectors, checker.wrong_cases, checker.wrong_groups, checker.refused,
           checker.unknown);
    target_free(target);
    text_fini(&checker.file);
    return !checker.wrong_cases || err_set(err, "Heddle differs from the GPU");
}

static bool command(const struct oracle_cases *cases, const char *what, const char *text, const char *begin,
                    struct err *err)
{
    if (!strcmp(what, "--check"))
        return check_file(cases, text, err);
    if (!strcmp(what, "--gpu") || !strcmp(what, "--gpu-all"))
        return write_file(cases, text, what[5], begin, err);
    if (!strcmp(what, "--dump")) {
        struct target *target = target_heddle(1);
        run_all(target, cases, text, dump_case, NULL);
        target_free(target);
        return true;
    }
    if (strcmp(what, "--print"))
        return err_set(err, "%s", usage);
    print_cases(cases, text);
    return true;
}

int main(int argc, char **argv)
{
    struct oracle_cases cases;
    struct err err;
    if (argc != 3 && argc != 4) {
        fputs(usage, stderr);
        return 2;
    }
    cases_init(&cases);
    bool good = command(&cases, argv[1], argv[2], argc > 3 ? argv[3] : "", &err);
    if (!good)
        fprintf(stderr, "vectors: %s\n", err.text);
    cases_fini(&cases);
    return !good;
}
