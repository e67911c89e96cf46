/* Accesses of all tiles as they come in batches, against the traces as they were written. */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cachesim/feed.h"
#include "trace/file.h"
#include "trace/source.h"
#include "trace/writer.h"

enum { TRACES = 3, LENGTH_MOST = 300, TILES_MOST = 12, GOT_MOST = 100000 };

struct made {
    struct folder folder;
    struct trace_access at[TRACES][LENGTH_MOST];
    size_t count[TRACES];
    char *paths[TRACES];
};

/* Many have the same instruction count. */
static void make_traces(struct made *made, struct rng *rng)
{
    for (unsigned i = 0; i < TRACES; i++) {
        uint64_t instruction = rng_below(rng, 20), pace = 1 + rng_below(rng, 4) * i;
        made->count[i] = 1 + rng_below(rng, LENGTH_MOST);
        for (size_t k = 0; k < made->count[i]; k++) {
            instruction += rng_below(rng, 3) ? 0 : rng_below(rng, pace + 1);
            made->at[i][k] = trace_access(rng_below(rng, 1 << 20), instruction, 1u << rng_below(rng, 4),
                                          rng_below(rng, 2));
        }
    }
}

/* The last one is a foreign trace: text. */
static void write_traces(struct made *made)
{
    struct err err;
    for (unsigned i = 0; i < TRACES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u.%s", i, i + 1 < TRACES ? "htrace" : "csv");
        made->paths[i] = mem_text(folder_file(&made->folder, name));
        if (i + 1 < TRACES) {
            struct trace_writer *writer = trace_writer_new(made->paths[i], &err);
            assert_non_null(writer);
            assert_true(trace_write(writer, made->at[i], made->count[i], &err));
            assert_true(trace_writer_close(writer, &err));
            continue;
        }
        FILE *stream = fopen(made->paths[i], "w");
        fputs("instruction,address,bytes,kind\n", stream);
        for (size_t k = 0; k < made->count[i]; k++) {
            struct trace_access access = made->at[i][k];
            fprintf(stream, "%llu,0x%llx,%u,%c\n", (unsigned long long)trace_instruction(access),
                    (unsigned long long)access.address, trace_bytes(access),
                    trace_writes(access) ? 'w' : 'r');
        }
        assert_int_equal(fclose(stream), 0);
    }
}

static void remove_traces(struct made *made)
{
    for (unsigned i = 0; i < TRACES; i++) {
        assert_int_equal(unlink(made->paths[i]), 0);
        mem_free(made->paths[i]);
    }
}

static uint64_t first_of_round(const struct made *made, const struct feed_spec *spec, uint32_t round)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = round * spec->path_count; i < (round + 1) * spec->path_count && i < spec->tiles; i++) {
        uint32_t trace = i % spec->path_count;
        first = min_u64(first, trace_instruction(made->at[trace][round * spec->offset % made->count[trace]]));
    }
    return first;
}

/* What a tile should get, one after the other. */
static size_t expected(const struct made *made, const struct feed_spec *spec, uint32_t tile,
                       struct trace_access *into)
{
    uint32_t trace = tile % spec->path_count, round = tile / spec->path_count;
    size_t length = made->count[trace], start = round * spec->offset % length;
    size_t count = spec->accesses ? min_u64(length, spec->accesses) : length;
    uint64_t shift = first_of_round(made, spec, 0) - first_of_round(made, spec, round), last = 0;
    for (size_t i = 0; i < count; i++) {
        struct trace_access raw = made->at[trace][(start + i) % length];
        if (i && (start + i) % length == 0)
            shift = last + 1 - trace_instruction(raw);
        last = trace_instruction(raw) + shift;
        into[i] = trace_access(raw.address, last, trace_bytes(raw), trace_writes(raw));
    }
    return count;
}

struct got {
    struct trace_access at[TILES_MOST][GOT_MOST];
    size_t count[TILES_MOST];
};

/* (instruction count, tile) of an access. */
static uint64_t place_of(struct trace_access access, uint32_t tile)
{
    return trace_instruction(access) << 16 | tile;
}

/* Takes a batch; the first and last place in it. */
static size_t take(struct got *got, const struct feed_spec *spec, const struct caches_batch *batch,
                   uint64_t *first, uint64_t *last)
{
    size_t count = 0;
    for (uint32_t i = 0; i < spec->tiles; i++) {
        assert_true(batch->count[i] <= max_u64(spec->batch, spec->quantum));
        if (spec->quantum) /* they are whole, but for a tile's last one */
            assert_true(!batch->count[i] || got->count[i] % spec->quantum == 0);
        assert_true(got->count[i] + batch->count[i] <= GOT_MOST);
        memcpy(got->at[i] + got->count[i], batch->at[i], batch->count[i] * sizeof *got->at[i]);
        got->count[i] += batch->count[i];
        count += batch->count[i];
        if (batch->count[i]) {
            *first = min_u64(*first, place_of(batch->at[i][0], i));
            *last = max_u64(*last, place_of(batch->at[i][batch->count[i] - 1], i));
        }
    }
    return count;
}

static void read_all(const struct feed_spec *spec, struct got *got)
{
    struct err err = {""};
    struct caches_batch batch;
    struct feed *feed = feed_open(spec, &err);
    uint64_t last_before = 0;
    memset(got->count, 0, sizeof got->count);
    if (!feed)
        fail_msg("%s", err.text);
    for (;;) {
        uint64_t first = UINT64_MAX, last = 0;
        assert_true(feed_next(feed, &batch, &err));
        if (!take(got, spec, &batch, &first, &last))
            break;
        assert_true(spec->quantum || first >= last_before);
        last_before = last;
    }
    assert_true(feed_next(feed, &batch, &err)); /* the end stays the end */
    for (uint32_t i = 0; i < spec->tiles; i++)
        assert_int_equal(batch.count[i], 0);
    feed_close(feed);
}

enum { TRIALS = 300 };

static void as_the_traces_have_them(void **state)
{
    (void)state;
    struct made *made = mem_alloc(1, sizeof *made);
    struct got *got = mem_alloc_pages(1, sizeof *got);
    struct trace_access wanted[LENGTH_MOST];
    struct rng rng;
    rng_init(&rng, 7, "feed");
    folder_make(&made->folder);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        make_traces(made, &rng);
        write_traces(made);
        struct feed_spec spec = {.paths = (const char *const *)made->paths,
                                 .path_count = 1 + (uint32_t)rng_below(&rng, TRACES),
                                 .offset = rng_below(&rng, 2) ? rng_below(&rng, 400) : 0,
                                 .accesses = rng_below(&rng, 2) ? 1 + rng_below(&rng, 400) : 0,
                                 .batch = 1 + rng_below(&rng, trial % 2 ? 20 : 600),
                                 .quantum = rng_below(&rng, 3) ? 0 : 1 + rng_below(&rng, 50),
                                 .keep_bytes = rng_below(&rng, 2) ? 0 : 100, /* nothing fits that */
                                 .threads = 1 + trial % 3};
        if (trial % 5 == 0) /* the foreign one alone */
            spec.paths += TRACES - 1, spec.path_count = 1;
        spec.tiles = spec.path_count + (uint32_t)rng_below(&rng, TILES_MOST - spec.path_count + 1);
        read_all(&spec, got);
        struct made shown = *made;
        if (trial % 5 == 0) {
            memcpy(shown.at[0], made->at[TRACES - 1], sizeof shown.at[0]);
            shown.count[0] = made->count[TRACES - 1];
        }
        for (uint32_t i = 0; i < spec.tiles; i++) {
            assert_int_equal(expected(&shown, &spec, i, wanted), got->count[i]);
            assert_memory_equal(wanted, got->at[i], got->count[i] * sizeof *wanted);
        }
        remove_traces(made);
    }
    folder_remove(&made->folder, (const char *const[]){NULL});
    mem_free_pages(got);
    mem_free(made);
}

/* One tile stands still while the others go on. */
static void many_accesses_of_one_instruction(void **state)
{
    (void)state;
    struct err err;
    struct folder folder;
    struct trace_access at[2][1000];
    char *paths[2];
    struct got *got = mem_alloc_pages(1, sizeof *got);
    folder_make(&folder);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < 1000; k++)
            at[i][k] = trace_access(64 * k, i ? 500 : k, 4, false);
        paths[i] = mem_text(folder_file(&folder, i ? "1" : "0"));
        struct trace_writer *writer = trace_writer_new(paths[i], &err);
        assert_true(trace_write(writer, at[i], 1000, &err) && trace_writer_close(writer, &err));
    }
    for (size_t batch = 1; batch < 2000; batch = batch * 3 + 1) {
        struct feed_spec spec = {
            .paths = (const char *const *)paths, .path_count = 2, .tiles = 2, .batch = batch, .threads = 1};
        read_all(&spec, got);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(got->count[i], 1000);
            assert_memory_equal(got->at[i], at[i], sizeof at[i]);
        }
    }
    folder_remove(&folder, (const char *const[]){"0", "1", NULL});
    mem_free(paths[0]);
    mem_free(paths[1]);
    mem_free_pages(got);
}

enum { LONG = 5 * TRACE_BLOCK_ACCESSES + 100 };

static char *write_long(struct folder *folder, struct trace_access *at)
{
    struct err err;
    struct rng rng;
    rng_init(&rng, 8, "blocks");
    for (size_t i = 0; i < LONG; i++)
        at[i] = trace_access(rng_below(&rng, 1 << 30), i / 3, 8, rng_below(&rng, 2));
    char *path = mem_text(folder_file(folder, "long"));
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_true(trace_write(writer, at, LONG, &err) && trace_writer_close(writer, &err));
    return path;
}

/* The byte in the middle of a block. */
static void damage(const char *path, uint64_t block)
{
    struct err err;
    struct trace_file *file = trace_file_open(path, &err);
    long offset = (long)trace_file_block(file, block)->offset + 1000;
    trace_file_close(file);
    FILE *stream = fopen(path, "r+");
    fseek(stream, offset, SEEK_SET);
    int byte = fgetc(stream);
    fseek(stream, offset, SEEK_SET);
    fputc(byte ^ 1, stream);
    assert_int_equal(fclose(stream), 0);
}

/* One tile, whose blocks are read by several threads at once. */
static void blocks_of_one_trace(void **state)
{
    (void)state;
    struct err err;
    struct folder folder;
    struct caches_batch batch;
    struct trace_access *at = mem_alloc_pages(LONG, sizeof *at);
    folder_make(&folder);
    char *path = write_long(&folder, at);
    static const size_t batches[] = {1000, TRACE_BLOCK_ACCESSES, 100000, 4 * TRACE_BLOCK_ACCESSES, LONG + 1};
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        struct feed_spec spec = {.paths = (const char *const *)&path,
                                 .path_count = 1,
                                 .tiles = 1,
                                 .batch = batches[i],
                                 .threads = 4};
        struct feed *feed = feed_open(&spec, &err);
        size_t count = 0;
        assert_non_null(feed);
        while (feed_next(feed, &batch, &err) && batch.count[0]) {
            assert_true(count + batch.count[0] <= LONG);
            assert_memory_equal(batch.at[0], at + count, batch.count[0] * sizeof *at);
            count += batch.count[0];
        }
        assert_int_equal(count, LONG);
        feed_close(feed);
    }
    damage(path, 4);
    damage(path, 2);
    for (unsigned threads = 1; threads < 5; threads++) { /* the first that is bad is told of */
        struct feed_spec spec = {.paths = (const char *const *)&path,
                                 .path_count = 1,
                                 .tiles = 1,
                                 .batch = LONG,
                                 .threads = threads};
        assert_null(feed_open(&spec, &err));
        check_says(&err, "block 2");
    }
    folder_remove(&folder, (const char *const[]){"long", NULL});
    mem_free(path);
    mem_free_pages(at);
}

/* Tiles of a generator are cores of programs. */
static void generated(void **state)
{
    (void)state;
    enum { ACCESSES = 3000 };
    struct err err;
    struct got *got = mem_alloc_pages(1, sizeof *got);
    struct trace_access wanted[ACCESSES];
    struct feed_spec spec = {.generate = "producer-consumer:footprint=1MiB",
                             .cores = 2,
                             .accesses = ACCESSES,
                             .tiles = 6,
                             .seed = 3,
                             .batch = 100,
                             .threads = 2};
    read_all(&spec, got);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(got->count[i], ACCESSES);
    for (uint32_t core = 0; core < 2; core++) {
        struct source *source = source_generate(spec.generate, core, 2, ACCESSES, spec.seed, &err);
        assert_int_equal(source_read(source, wanted, ACCESSES, &err), ACCESSES);
        source_close(source);
        assert_memory_equal(wanted, got->at[core], sizeof wanted);
        assert_memory_not_equal(got->at[core], got->at[core + 2], sizeof wanted);
        assert_memory_not_equal(got->at[core + 2], got->at[core + 4], sizeof wanted);
    }
    mem_free_pages(got);
}

static void how_much_there_is(void **state)
{
    (void)state;
    struct err err;
    struct folder folder;
    struct trace_access at[1000];
    for (size_t i = 0; i < COUNT_OF(at); i++)
        at[i] = trace_access(64 * i, i, 8, false);
    folder_make(&folder);
    char *path = mem_text(folder_file(&folder, "a"));
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_true(trace_write(writer, at, 1000, &err) && trace_writer_close(writer, &err));
    static const struct {
        uint32_t tiles;
        uint64_t accesses, total;
    } cases[] = {{1, 0, 1000}, {4, 0, 4000}, {4, 700, 2800}, {4, 7000, 4000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct feed_spec spec = {.paths = (const char *const *)&path,
                                 .path_count = 1,
                                 .tiles = cases[i].tiles,
                                 .accesses = cases[i].accesses,
                                 .batch = 10,
                                 .threads = 1};
        struct feed *feed = feed_open(&spec, &err);
        assert_non_null(feed);
        assert_int_equal(feed_total(feed), cases[i].total);
        feed_close(feed);
    }
    folder_remove(&folder, (const char *const[]){"a", NULL});
    mem_free(path);
}

static void mistakes(void **state)
{
    (void)state;
    struct err err;
    struct folder folder;
    folder_make(&folder);
    char *empty = mem_text(folder_write(&folder, "empty", "")), *none = mem_text("/nowhere/at/all");
    const struct {
        struct feed_spec spec;
        const char *says;
    } cases[] = {
        {{.paths = (const char *const *)&none, .path_count = 1, .tiles = 1}, "/nowhere/at/all"},
        {{.paths = (const char *const *)&none, .path_count = 1, .tiles = 3}, "/nowhere/at/all"},
        {{.paths = (const char *const *)&empty, .path_count = 1, .tiles = 1}, "empty"},
        {{.paths = (const char *const *)&empty, .path_count = 1, .tiles = 3}, "empty"},
        {{.generate = "zipfel", .cores = 1, .accesses = 10, .tiles = 2}, "did you mean zipf"},
        {{.generate = "zipf", .cores = 1, .tiles = 2}, "how many accesses"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct feed_spec spec = cases[i].spec;
        spec.batch = 10;
        spec.threads = 2;
        assert_null(feed_open(&spec, &err));
        check_says(&err, cases[i].says);
    }
    folder_remove(&folder, (const char *const[]){"empty", NULL});
    mem_free(empty);
    mem_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_traces_have_them), cmocka_unit_test(many_accesses_of_one_instruction),
        cmocka_unit_test(blocks_of_one_trace),     cmocka_unit_test(generated),
        cmocka_unit_test(how_much_there_is),       cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
