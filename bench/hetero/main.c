/* heddle_hetero: programs that use CPU and GPU by turns or at once, and print where their time went. */
#include "hetero.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* programs of a run */

static const struct hetero_program *const lists[] = {hetero_rodinia, hetero_memory, hetero_together};

static const struct hetero_program *find(const char *name)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const struct hetero_program *program = lists[i]; program->name; program++) {
            if (!strcmp(program->name, name))
                return program;
        }
    }
    return NULL;
}

static int help(void)
{
    puts("Usage: heddle_hetero PROGRAM... [--size N] [--zero-copy] [--patience MS]\n"
         "Runs programs on CPU and GPU, checks their results and prints the times of each in a line.\n\n"
         "  --size N        how much there is to do, or least; each program has a default\n"
         "  --zero-copy     the GPU uses the CPU's memory, and nothing is copied\n"
         "  --patience MS   how long the CPU waits for an answer of the GPU's (100)\n");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const struct hetero_program *program = lists[i]; program->name; program++)
            printf("  %-12s %s (%" PRIu64 " %s)\n", program->name, program->help, program->size,
                   program->counts);
    }
    return 0;
}

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "heddle_hetero: %s '%s'; see heddle_hetero --help\n", what, word);
    return 2;
}

static bool read_number(const char *word, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    *number = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && *number >= least && *number <= most;
}

struct request {
    const char *size; /* NULL: each program's default; "least" */
    uint64_t patience_ms;
    bool zero_copy;
};

static bool read_size(const struct hetero_program *program, const char *word, uint64_t *size)
{
    *size = word ? program->least : program->size;
    return !word || !strcmp(word, "least") || read_number(word, program->least, program->most, size);
}

static bool run_program(const struct hetero_program *program, const struct request *request)
{
    struct hetero run = {.zero_copy = request->zero_copy, .patience_ns = request->patience_ms * 1000000};
    uint64_t begin = hetero_now_ns();
    read_size(program, request->size, &run.size);
    program->run(&run);
    printf("program=%s result=%s size=%" PRIu64 " zero_copy=%d cpu_ns=%" PRIu64 " copy_ns=%" PRIu64
           " kernel_ns=%" PRIu64 " region_ns=%" PRIu64 " before_ns=%" PRIu64 "%s\n",
           program->name, run.wrong ? "wrong" : "right", run.size, run.zero_copy, run.ns[PART_CPU],
           run.ns[PART_COPY], run.ns[PART_KERNEL], run.region_ns, run.first_ns - begin, run.figures);
    return !run.wrong;
}

int main(int count, char **words)
{
    const struct hetero_program *programs[MOST];
    struct request request = {.patience_ms = 100};
    int found = 0;
    uint64_t unused;
    if (count < 2 || !strcmp(words[1], "--help"))
        return help();
    for (int i = 1; i < count; i++) {
        bool is_last = i + 1 == count;
        if (!strcmp(words[i], "--zero-copy"))
            request.zero_copy = true;
        else if (!strcmp(words[i], "--size") && !is_last)
            request.size = words[++i];
        else if (!strcmp(words[i], "--patience") && !is_last) {
            if (!read_number(words[++i], 1, 3600000, &request.patience_ms))
                return complain("expected milliseconds, not", words[i]);
        } else if (words[i][0] == '-')
            return complain("cannot use", words[i]);
        else if (found == MOST || !(programs[found++] = find(words[i])))
            return complain("there is no program", words[i]);
    }
    for (int i = 0; i < found; i++) {
        if (!read_size(programs[i], request.size, &unused))
            return complain("this is no size for all of these programs:", request.size);
    }
    bool right = true;
    hetero_start();
    for (int i = 0; i < found; i++)
        right &= run_program(programs[i], &request);
    return !right;
}
