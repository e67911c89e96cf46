/* Random kernels, on Heddle and on a real GPU. See README.md. */
#include "generate.h"
#include "target.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 2000 };

static const char usage[] =
    "usage: kernels --check FILE                compare Heddle with what a GPU gave\n"
    "       kernels --timed FILE                the same, in simulated time\n"
    "       kernels --cut FILE                  and from checkpoints in the middle of kernels on\n"
    "       kernels --gpu FILE [FIRST COUNT]    write the digests of this computer's GPU\n"
    "       kernels --print SEED                show a kernel\n"
    "       kernels --run SEED, --gpu-run SEED  show its results\n";

/* A kernel and its memory. */
struct trial {
    struct generated kernel;
    uint64_t *in;
    char *out;
};

static struct trial *trial_new(uint64_t seed, bool careful)
{
    struct trial *trial = mem_alloc(1, sizeof *trial);
    generate(seed, careful, &trial->kernel);
    trial->in = mem_alloc_lines(KERNEL_IN_BYTES, 1);
    trial->out = mem_alloc_lines(trial->kernel.out_bytes, 1);
    generate_memory(seed, trial->in, (uint64_t *)(void *)trial->out);
    return trial;
}

static void trial_free(struct trial *trial)
{
    generated_fini(&trial->kernel);
    mem_free(trial->in);
    mem_free(trial->out);
    mem_free(trial);
}

static bool trial_run(struct trial *trial, struct target *target, struct err *err)
{
    struct target_launch launch = {.kernel = "k",
                                   .in = trial->in,
                                   .in_bytes = KERNEL_IN_BYTES,
                                   .out = trial->out,
                                   .out_bytes = trial->kernel.out_bytes};
    memcpy(launch.grid, trial->kernel.grid, sizeof launch.grid);
    memcpy(launch.block, trial->kernel.block, sizeof launch.block);
    return target_load(target, trial->kernel.ptx.at, err) && target_run(target, &launch, err);
}

static bool digest_seed(uint64_t seed, bool careful, struct target *target, uint64_t *digest, struct err *err)
{
    struct trial *trial = trial_new(seed, careful);
    bool good = trial_run(trial, target, err);
    *digest = digest_bytes(1, trial->out, trial->kernel.out_bytes);
    trial_free(trial);
    return good;
}

static bool write_digests(const char *path, uint64_t first, uint64_t count, struct err *err)
{
    struct file_writer file;
    struct target *target = target_gpu(err);
    if (!target || !file_open(&file, path, err))
        return false;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct err why;
        uint64_t digest;
        if (!digest_seed(seed, true, target, &digest, &why)) /* after which a GPU does nothing more */
            return err_set(err, "seed %llu: %s", (unsigned long long)seed, why.text);
        fwrite(&digest, sizeof digest, 1, file.stream);
    }
    target_free(target);
    return file_close(&file, err);
}

struct counts {
    size_t compared, wrong, without; /* 0 in the file: a kernel that the GPU has no result for */
};

static void check_on(struct target *target, const char *how, uint64_t from, uint64_t to,
                     const struct text *file, struct counts *counts)
{
    for (uint64_t seed = from; seed < min_u64(file->length / 8, to); seed++) {
        uint64_t expected, digest;
        struct err err = {"the results differ"};
        memcpy(&expected, file->at + 8 * seed, 8);
        bool good = digest_seed(seed, false, target, &digest, &err);
        counts->without += good && !expected;
        counts->compared += expected != 0;
        if (good && (digest == expected || !expected))
            continue;
        printf("seed %llu, %s: %s\n", (unsigned long long)seed, how, err.text);
        counts->wrong++;
    }
}

static void check_with(unsigned threads, const struct text *file, struct counts *counts)
{
    struct target *target = target_heddle(threads);
    check_on(target, threads == 1 ? "one host thread" : "two host threads", 0, UINT64_MAX, file, counts);
    target_free(target);
}

static bool check_digests(const char *path, struct err *err)
{
    struct text file = {0};
    struct counts counts = {0};
    if (!file_read(path, 1 << 24, &file, err))
        return false;
    check_with(1, &file, &counts);
    check_with(2, &file, &counts);
    printf("with one host thread and with two: %zu results compared, %zu differ; %zu only ran\n",
           counts.compared, counts.wrong, counts.without);
    text_fini(&file);
    return !counts.wrong || err_set(err, "Heddle differs from the GPU");
}

/* In simulated time, with 1, 2 and 5 threads: the same results, and all three count the same. */
enum { TIMED_SEEDS = 200, TIMED_MORE = 600 };

static bool check_timed(const char *path, struct err *err)
{
    struct text file = {0};
    struct counts counts = {0};
    static const unsigned threads[] = {1, 2, 5};
    uint64_t digests[COUNT_OF(threads)];
    if (!file_read(path, 1 << 24, &file, err))
        return false;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        struct target *target = target_timed(threads[i], err);
        if (!target)
            return false;
        check_on(target, i ? "timed, several threads" : "timed", 0, TIMED_SEEDS, &file, &counts);
        digests[i] = target_digest(target);
        if (!i)
            check_on(target, "timed", TIMED_SEEDS, TIMED_MORE, &file, &counts);
        target_free(target);
    }
    printf("in simulated time: %zu results compared, %zu differ; %zu only ran\n", counts.compared,
           counts.wrong, counts.without);
    text_fini(&file);
    if (counts.wrong)
        return err_set(err, "Heddle differs from the GPU");
    return (digests[0] == digests[1] && digests[1] == digests[2]) ||
           err_set(err, "1, 2 and 5 threads counted differently");
}

/* From checkpoints on, too. */
enum { CUT_SEEDS = 60 };

static bool check_cut(const char *path, struct err *err)
{
    struct text file = {0};
    struct counts counts = {0};
    struct target *target = target_cut(err);
    if (!target || !file_read(path, 1 << 24, &file, err))
        return false;
    check_on(target, "cut", 0, CUT_SEEDS, &file, &counts);
    target_free(target);
    printf("from checkpoints on: %zu results compared, %zu differ; %zu only ran\n", counts.compared,
           counts.wrong, counts.without);
    text_fini(&file);
    return !counts.wrong || err_set(err, "a run from a checkpoint on differs");
}

static bool show_results(uint64_t seed, bool gpu, struct err *err)
{
    struct target *target = gpu ? target_gpu(err) : target_heddle(1);
    struct trial *trial = trial_new(seed, gpu);
    bool good = target && trial_run(trial, target, err);
    const uint32_t *words = (const void *)trial->out;
    size_t head = 2 * KERNEL_CELLS, each = KERNEL_THREAD_BYTES / 4;
    for (size_t i = 0; i < trial->kernel.out_bytes / 4 && good; i++) {
        bool starts = i < head ? i % 8 == 0 : (i - head) % each == 0;
        if (starts && i < head)
            printf("\ncells %zu:", i / 2);
        else if (starts)
            printf("\nthread %zu:", (i - head) / each);
        printf(" %08x", words[i]);
    }
    printf("\n");
    trial_free(trial);
    if (target)
        target_free(target);
    return good;
}

static bool command(int argc, char **argv, struct err *err)
{
    const char *what = argv[1], *given = argv[2];
    uint64_t seed = strtoull(given, NULL, 10);
    if (!strcmp(what, "--check"))
        return check_digests(given, err);
    if (!strcmp(what, "--timed"))
        return check_timed(given, err);
    if (!strcmp(what, "--cut"))
        return check_cut(given, err);
    if (!strcmp(what, "--gpu"))
        return write_digests(given, argc > 4 ? strtoull(argv[3], NULL, 10) : 0,
                             argc > 4 ? strtoull(argv[4], NULL, 10) : SEEDS, err);
    if (!strcmp(what, "--run") || !strcmp(what, "--gpu-run"))
        return show_results(seed, what[2] == 'g', err);
    if (strcmp(what, "--print") && strcmp(what, "--gpu-print"))
        return err_set(err, "%s", usage);
    struct generated kernel;
    generate(seed, what[2] == 'g', &kernel);
    fputs(kernel.ptx.at, stdout);
    generated_fini(&kernel);
    return true;
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc < 3) {
        fputs(usage, stderr);
        return 2;
    }
    setlinebuf(stdout); /* so that what hangs is seen */
    bool good = command(argc, argv, &err);
    if (!good)
        fprintf(stderr, "kernels: %s\n", err.text);
    return !good;
}
