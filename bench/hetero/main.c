/* heddle_hetero: programs that use CPU and GPU by turns or at once, and print where their time went. */
#include "hetero.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    puts("Usage: heddle_hetero PROGRAM [--size N] [--zero-copy] [--patience MS]\n"
         "Runs a program on CPU and GPU, checks its result and prints its times in a line.\n\n"
         "  --size N        how much there is to do; each program has a default\n"
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

static int run_program(const struct hetero_program *program, struct hetero *run)
{
    uint64_t begin = hetero_now_ns();
    hetero_start();
    program->run(run);
    printf("program=%s result=%s size=%" PRIu64 " zero_copy=%d cpu_ns=%" PRIu64 " copy_ns=%" PRIu64
           " kernel_ns=%" PRIu64 " region_ns=%" PRIu64 " before_ns=%" PRIu64 "%s\n",
           program->name, run->wrong ? "wrong" : "right", run->size, run->zero_copy, run->ns[PART_CPU],
           run->ns[PART_COPY], run->ns[PART_KERNEL], run->region_ns, run->first_ns - begin, run->figures);
    return run->wrong;
}

int main(int count, char **words)
{
    struct hetero run = {.patience_ns = 100000000};
    if (count < 2 || !strcmp(words[1], "--help"))
        return help();
    const struct hetero_program *program = find(words[1]);
    if (!program)
        return complain("there is no program", words[1]);
    run.size = program->size;
    for (int i = 2; i < count; i++) {
        uint64_t number = 0;
        bool is_size = !strcmp(words[i], "--size"), is_patience = !strcmp(words[i], "--patience");
        if (!strcmp(words[i], "--zero-copy")) {
            run.zero_copy = true;
        } else if ((is_size || is_patience) && i + 1 < count) {
            if (!read_number(words[++i], is_size ? program->least : 1, is_size ? program->most : 3600000,
                             &number))
                return complain(is_size ? "no good size" : "no good patience", words[i]);
            if (is_size)
                run.size = number;
            else
                run.patience_ns = number * 1000000;
        } else {
            return complain("cannot use", words[i]);
        }
    }
    return run_program(program, &run);
}
