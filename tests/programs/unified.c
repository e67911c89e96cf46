/* The Locality API in a CUDA program: members of a unified GPU, memory and blocks placed on them, a grid-wide
 * barrier over all. On one GPU, it has one member. Usage: unified FILE.ptx [plain|timed]
 * plain: nothing is placed. timed: on which SMs blocks run is looked at, too, which has no meaning without
 * time. */
#include "check.h"

#include <heddle_locality.h>
#include <string.h>

typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index),
    cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d);
int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes),
    cuMemcpyDtoH_v2(void *to, address from, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **arguments);

enum { THREADS = 256, BLOCKS = 64, WORDS = THREADS * BLOCKS, BYTES = 4 * WORDS, MOST = 64 };

static void *module;
static unsigned members, words[WORDS], is_plain, is_timed;

static void *function(const char *name)
{
    void *found = NULL;
    GOOD(cuModuleGetFunction(&found, module, name));
    return found;
}

static void run(const char *kernel, unsigned blocks, address memory)
{
    void *arguments[] = {&memory};
    GOOD(cuLaunchKernel(function(kernel), blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
}

/* An equal share of all blocks for each member: of this one. */
static struct heddle_blocks share(unsigned member)
{
    return (struct heddle_blocks){
        .first = BLOCKS * member / members, .end = BLOCKS * (member + 1) / members, .member = member};
}

static void place_blocks(void)
{
    struct heddle_blocks shares[MOST];
    for (unsigned i = 0; i < members; i++)
        shares[i] = share(members - 1 - i); /* in any order */
    if (!is_plain)
        GOOD(heddle_locality_place_blocks(shares, members));
}

static void place_memory(address memory, unsigned turn)
{
    for (unsigned i = 0; i < members && !is_plain; i++) {
        size_t from = share(i).first * THREADS * 4, to = share(i).end * THREADS * 4;
        GOOD(heddle_locality_place_memory((void *)memory, from, to - from, (i + turn) % members));
    }
}

/* Each member works on its own memory; then the memory moves on, and holds what it held. */
static void test_memory(void)
{
    address memory;
    GOOD(cuMemAlloc_v2(&memory, BYTES));
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = i;
    GOOD(cuMemcpyHtoD_v2(memory, words, BYTES));
    for (unsigned turn = 0; turn < 3; turn++) {
        place_memory(memory, turn);
        place_blocks();
        run("step", BLOCKS, memory);
    }
    place_memory(memory, 0);
    GOOD(cuMemcpyDtoH_v2(words, memory, BYTES));
    unsigned wrong = 0;
    for (unsigned i = 0; i < WORDS; i++)
        wrong += words[i] != 8 * i + 7;
    CHECK(!wrong);
    GOOD(cuMemFree_v2(memory));
}

static void test_blocks(void)
{
    address memory;
    unsigned wrong = 0;
    GOOD(cuMemAlloc_v2(&memory, BYTES));
    place_blocks();
    run("where", BLOCKS, memory);
    GOOD(cuMemcpyDtoH_v2(words, memory, 4 * BLOCKS));
    for (unsigned i = 0; i < members && !is_plain; i++) {
        struct heddle_member member;
        GOOD(heddle_locality_member(0, i, &member));
        for (uint64_t block = share(i).first; block < share(i).end && is_timed; block++)
            wrong += words[block] - member.first_sm >= member.sm_count;
    }
    CHECK(!wrong);
    run("where", BLOCKS, memory); /* of the next launch nothing was said */
    GOOD(cuMemFree_v2(memory));
}

static void test_barrier(void)
{
    address memory;
    unsigned count = 3, expected[4] = {0};
    void *arguments[] = {&memory, &count};
    GOOD(cuMemAlloc_v2(&memory, BYTES));
    for (unsigned i = 0; i < 4 * THREADS; i++)
        words[i] = 1 + i / THREADS;
    GOOD(cuMemcpyHtoD_v2(memory, words, 16 * THREADS));
    struct heddle_blocks last = {.first = 3, .end = 4, .member = members - 1};
    if (!is_plain)
        GOOD(heddle_locality_place_blocks(&last, 1));
    GOOD(cuLaunchCooperativeKernel(function("rounds"), 4, 1, 1, THREADS, 1, 1, 0, NULL, arguments));
    GOOD(cuMemcpyDtoH_v2(words, memory, 16 * THREADS));
    for (unsigned i = 0; i < 4; i++)
        expected[i] = 1 + i;
    for (unsigned round = 0; round < count; round++) {
        unsigned first = expected[0];
        for (unsigned i = 0; i < 4; i++)
            expected[i] += i < 3 ? expected[i + 1] : first;
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < 4 * THREADS; i++)
        wrong += words[i] != expected[i / THREADS];
    CHECK(!wrong);
    GOOD(cuMemFree_v2(memory));
}

/* What was written before a fence is seen behind one, on all members. */
static void test_fences(void)
{
    enum { ROUNDS = 4, STALE = 3072, FEW = 12 };
    address memory;
    unsigned rounds = ROUNDS, stale = 0;
    void *arguments[] = {&memory, &rounds};
    GOOD(cuMemAlloc_v2(&memory, BYTES));
    memset(words, 0, BYTES);
    GOOD(cuMemcpyHtoD_v2(memory, words, BYTES));
    GOOD(cuLaunchCooperativeKernel(function("relay"), FEW, 1, 1, 1, 1, 1, 0, NULL, arguments));
    GOOD(cuMemcpyDtoH_v2(words, memory, BYTES));
    for (unsigned i = 0; i < FEW; i++)
        stale += words[STALE + i];
    CHECK(words[0] == ROUNDS && !stale);
    GOOD(cuMemFree_v2(memory));
}

static void test_mistakes(void)
{
    enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, TOO_LARGE = 720 };
    address memory;
    struct heddle_member facts;
    void *arguments[] = {&memory};
    GOOD(cuMemAlloc_v2(&memory, BYTES));
    GIVES(INVALID_DEVICE, heddle_locality_member(99, 0, &facts));
    CHECK(strstr(heddle_locality_error(), "there is no device 99"));
    CHECK(heddle_locality_members(99) == 0);
    GIVES(INVALID_VALUE, heddle_locality_member(0, members, &facts));
    CHECK(strstr(heddle_locality_error(), "there is no member"));
    GOOD(heddle_locality_member(0, 0, &facts));
    CHECK(!*heddle_locality_error());
    GIVES(INVALID_VALUE, heddle_locality_place_memory((void *)memory, 0, BYTES, members));
    GIVES(INVALID_VALUE, heddle_locality_place_memory((void *)memory, 0, BYTES + 1, 0));
    GIVES(INVALID_VALUE, heddle_locality_place_memory((void *)memory, BYTES + 4096, 4096, 0));
    GIVES(INVALID_VALUE, heddle_locality_place_memory(words, 0, BYTES, 0));
    struct heddle_blocks twice[] = {{0, 8, 0}, {7, 9, 0}}, none = {3, 3, 0}, beyond = {0, BLOCKS + 1, 0},
                         nobody = {0, 1, members};
    GIVES(INVALID_VALUE, heddle_locality_place_blocks(twice, 2));
    GIVES(INVALID_VALUE, heddle_locality_place_blocks(&none, 1));
    GOOD(heddle_locality_place_blocks(&beyond, 1));
    GIVES(INVALID_VALUE,
          cuLaunchKernel(function("step"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    GOOD(heddle_locality_place_blocks(&nobody, 1));
    GIVES(INVALID_VALUE,
          cuLaunchKernel(function("step"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    GOOD(cuLaunchKernel(function("step"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    int sms = 0;
    GOOD(cuDeviceGetAttribute(&sms, 16, 0));
    GOOD(heddle_locality_member(0, 0, &facts));
    CHECK((unsigned)sms == members * facts.sm_count);
    if (members > 1) { /* more than a member holds at a time, and not too many for all of them */
        unsigned count = 1, blocks = 32 * facts.sm_count + 1;
        void *both[] = {&memory, &count};
        struct heddle_blocks all = {0, blocks, 0};
        GOOD(heddle_locality_place_blocks(&all, 1));
        GIVES(TOO_LARGE,
              cuLaunchCooperativeKernel(function("rounds"), blocks, 1, 1, 32, 1, 1, 0, NULL, both));
    }
    GOOD(cuMemFree_v2(memory));
}

int main(int argc, char **argv)
{
    void *context;
    int device;
    if (argc < 2)
        return 2;
    is_plain = argc > 2 && !strcmp(argv[2], "plain");
    is_timed = argc > 2 && !strcmp(argv[2], "timed");
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, argv[1]));
    members = heddle_locality_members(0);
    CHECK(members >= 1 && members <= MOST);
    test_memory();
    test_blocks();
    test_barrier();
    test_fences();
    if (!is_plain)
        test_mistakes();
    GOOD(cuCtxSynchronize());
    printf("%u members\n", members);
    return check_end("unified");
}
