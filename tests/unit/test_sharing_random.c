/* Threads of 2 to 8 GPUs, on fabrics of all shapes, do random things to words at all homes, while copies go
 * on beside them, and what each has seen must have an explanation:
 *
 *   counters   atomic additions give each old value once, from 0 on: no update is lost, and their order is
 * known mailboxes  words of one writer each, who writes ever greater numbers; who reads its own gets the last
 * one flags      counters that are added to behind a fence (release) and read before one (acquire) mirrors
 * written by copies of counters alone: they never go back
 *
 * For each thread there is a least value of each word that it must see from now on: what it wrote, or read by
 * a strong load (coherence), and, behind an acquire, what those knew who had released before
 * (happens-before). All
 * its later strong loads give at least that, and weak ones at least what it was at the thread's last fence.
 *
 *   test_unit_sharing_random [operations [seed [what is left out of the model, as a number]]] */
#include "driver_check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "driver/managed.h"
#include "mem/left_out.h"

#include <sys/wait.h>

enum {
    GPUS_MOST = 8,
    HOMES_AT_MOST = GPUS_MOST + 1, /* the host, too */
    THREADS = 1024,                /* of all GPUs together */
    BLOCK = 64,
    BLOCKS = THREADS / BLOCK,
    COUNTERS = 64,
    MAILBOXES = 256, /* of every fourth thread */
    WORDS = COUNTERS + MAILBOXES,
    FLAGS = 8,
    REDUCED = 16,
    MIRRORS = 16,
    FIRST_FLAG = WORDS,
    FIRST_REDUCED = FIRST_FLAG + FLAGS,
    FIRST_MIRROR = FIRST_REDUCED + REDUCED,
    ALL = FIRST_MIRROR + MIRRORS,
    STEPS = 400,        /* of a thread in a round */
    STEPS_MANAGED = 40, /* of one whose pages move all the time, and between host and GPUs */
};

/* clang-format off */
/* %at = the address of word `first` + %any % count. */
#define FIND(first, count)                                                                                   \
    "    rem.u32 %r1, %any, " #count ";\n"                                                                   \
    "    add.u32 %r1, %r1, " #first ";\n"                                                                    \
    "    mul.wide.u32 %rd1, %r1, 8;\n"                                                                       \
    "    add.s64 %rd1, %table, %rd1;\n"                                                                      \
    "    ld.global.u64 %at, [%rd1];\n"

#define IF_BELOW(kind, label)                                                                                \
    "    setp.lt.u32 %p1, %kind, " #kind ";\n"                                                               \
    "    @%p1 bra " #label ";\n"

/* Each step logs two words. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry play(.param .u64 table, .param .u64 log, .param .u32 steps, .param .u32 seed,\n"
    "                     .param .u32 first)\n"
    "{\n"
    "    .reg .b32 %r<9>, %x, %y, %kind, %any, %got, %more, %step, %steps, %thread, %own;\n"
    "    .reg .b64 %rd<5>, %table, %log, %at, %apart; .reg .pred %p<3>, %owner;\n"
    "    ld.param.u64 %table, [table];\n"
    "    ld.param.u64 %log, [log];\n"
    "    ld.param.u32 %steps, [steps];\n"
    "    ld.param.u32 %r1, [seed];\n"
    "    ld.param.u32 %r2, [first];\n"
    "    mov.u32 %r3, %ctaid.x;\n"
    "    mov.u32 %r4, %ntid.x;\n"
    "    mov.u32 %r5, %tid.x;\n"
    "    mov.u32 %r6, %nctaid.x;\n"
    "    mad.lo.u32 %r7, %r3, %r4, %r5;\n"
    "    add.u32 %thread, %r7, %r2;\n"
    "    mul.wide.u32 %rd1, %r7, 8;\n"
    "    add.s64 %log, %log, %rd1;\n"
    "    mul.lo.u32 %r6, %r6, %r4;\n"
    "    mul.wide.u32 %apart, %r6, 8;\n"
    "    mad.lo.u32 %x, %thread, 40503, %r1;\n"
    "    shr.u32 %r2, %thread, 5;\n"
    "    mad.lo.u32 %y, %r2, 69069, %r1;\n"
    "    and.b32 %r2, %thread, 3;\n"
    "    setp.eq.u32 %owner, %r2, 0;\n"
    "    shr.u32 %own, %thread, 2;\n"
    "    mov.u32 %step, 0;\n"
    "next:\n"
    "    mad.lo.u32 %x, %x, 1664525, 1013904223;\n"
    "    mad.lo.u32 %y, %y, 1664525, 1013904223;\n"
    "    shr.u32 %kind, %y, 28;\n"
    "    shr.u32 %any, %x, 12;\n"
    "    mov.u32 %got, 0;\n"
    "    mov.u32 %more, 0;\n"
    IF_BELOW(3, add)
    IF_BELOW(4, reduce)
    IF_BELOW(7, load)
    IF_BELOW(10, load_weak)
    IF_BELOW(12, store)
    IF_BELOW(13, release)
    IF_BELOW(15, acquire)
    FIND(344, 16) /* mirrors */
    "    ld.relaxed.sys.global.u32 %got, [%at];\n"
    "    bra done;\n"
    "add:\n"
    FIND(0, 64)
    "    atom.relaxed.sys.global.add.u32 %got, [%at], 1;\n"
    "    bra done;\n"
    "reduce:\n"
    FIND(328, 16)
    "    red.relaxed.sys.global.add.u32 [%at], 1;\n"
    "    bra done;\n"
    "load:\n"
    FIND(0, 320)
    "    ld.relaxed.sys.global.u32 %got, [%at];\n"
    "    bra done;\n"
    "load_weak:\n"
    FIND(0, 320)
    "    ld.global.u32 %got, [%at];\n"
    "    bra done;\n"
    "store:\n"
    "    @!%owner bra done;\n"
    "    mov.u32 %any, %own;\n"
    FIND(64, 256)
    "    ld.global.u32 %more, [%at];\n"
    "    add.u32 %r1, %more, 1;\n"
    "    st.global.u32 [%at], %r1;\n"
    "    bra done;\n"
    "release:\n" /* of the flag that goes with the mailbox */
    "    mov.u32 %any, %own;\n"
    "    @!%owner bra released;\n"
    FIND(64, 256)
    "    ld.global.u32 %more, [%at];\n"
    "    add.u32 %r1, %more, 1;\n"
    "    st.global.u32 [%at], %r1;\n"
    "released:\n"
    FIND(320, 8)
    "    membar.sys;\n"
    "    atom.relaxed.sys.global.add.u32 %got, [%at], 1;\n"
    "    bra done;\n"
    "acquire:\n" /* and a mailbox that goes with the flag */
    FIND(320, 8)
    "    ld.relaxed.sys.global.u32 %got, [%at];\n"
    "    membar.sys;\n"
    FIND(64, 256)
    "    ld.global.u32 %more, [%at];\n"
    "done:\n"
    "    st.global.v2.u32 [%log], {%got, %more};\n"
    "    add.s64 %log, %log, %apart;\n"
    "    add.u32 %step, %step, 1;\n"
    "    setp.lt.u32 %p2, %step, %steps;\n"
    "    @%p2 bra next;\n"
    "    ret;\n"
    "}\n";
/* clang-format on */
_Static_assert(FIRST_FLAG == 320 && FIRST_REDUCED == 328 && FIRST_MIRROR == 344, "the kernel's numbers");

enum kind { ADD, REDUCE, LOAD, LOAD_WEAK, STORE, RELEASE, ACQUIRE, LOOK };

static const enum kind kinds[16] = {ADD,       ADD,       ADD,   REDUCE, LOAD,    LOAD,    LOAD,    LOAD_WEAK,
                                    LOAD_WEAK, LOAD_WEAK, STORE, STORE,  RELEASE, ACQUIRE, ACQUIRE, LOOK};

struct logged {
    uint32_t got, more;
};

struct play {
    struct under_test t;
    unsigned gpus;
    uint64_t apart; /* from eight words to the next eight */
    bool is_managed;
    uint32_t steps; /* of a thread in a round */
    struct function *function;
    struct device *device[GPUS_MOST];
    struct stream *copies[GPUS_MOST];
    uint64_t home[HOMES_AT_MOST]; /* memory of each: words side by side */
    uint64_t table[GPUS_MOST], log[GPUS_MOST];
    struct logged *seen; /* [GPU after GPU][step][thread] */
    uint32_t before[ALL], after[ALL];
    uint8_t bumps[ALL]; /* of managed memory: what the host adds before the next round */
};

static unsigned homes(const struct play *play)
{
    return play->gpus + 1;
}

static unsigned blocks_of(const struct play *play, unsigned gpu)
{
    return BLOCKS * (gpu + 1) / play->gpus - BLOCKS * gpu / play->gpus;
}

/* Of a home's words, eight are side by side, and then there may be a gap. */
static uint64_t offset_of_word(const struct play *play, unsigned word)
{
    return word / 8 * play->apart + word % 8 * 4;
}

/* Words of a kind are at homes in turn; neighbours share sectors. Mirrors are each the next home's. */
static uint64_t address_of_word(const struct play *play, unsigned word)
{
    unsigned first = word >= FIRST_MIRROR    ? FIRST_MIRROR
                     : word >= FIRST_REDUCED ? FIRST_REDUCED
                     : word >= FIRST_FLAG    ? FIRST_FLAG
                     : word >= COUNTERS      ? COUNTERS
                                             : 0;
    unsigned home = (word - first) % homes(play), place = (word - first) / homes(play);
    return play->home[home] + offset_of_word(play, first + place);
}

/* GPUs with lines of 128 and of 64 bytes. */
static const char mixed[] = "sharing_random_mixed.ini";

static void write_mixed(void)
{
    FILE *file = fopen(mixed, "w");
    assert_non_null(file);
    fprintf(file, "[gpus.a]\nsystem = " SYSTEMS_FOLDER "/wide.ini\n[gpus.b]\nsystem = " SYSTEMS_FOLDER
                  "/narrow.ini\ncount = 2\n[gpus.c]\nsystem = " SYSTEMS_FOLDER "/wide.ini\n");
    fclose(file);
}

/* The driver of managed memory takes no time for what it does, but for throttling: so pages move often. */
#define MANAGED_IS_FAST "uvm.thrashing_lapse=20us"
static const char *const no_time[] = {"uvm.wake=1ns",        "uvm.batch=1us",       "uvm.block=0",
                                      "uvm.block_first=0",   "uvm.block_copy=0",    "uvm.page=0",
                                      "uvm.page_along=0",    "uvm.map=0",           "uvm.evict=0",
                                      "uvm.prefetch_home=0", "uvm.prefetch_first=0"};

/* Those of v100-dgx1 have the host in their fabric, too. */
static const struct fabric {
    const char *system;
    unsigned gpus, threads;
    const char *more[4];
    unsigned apart;           /* from eight words to the next eight */
    unsigned rarer;           /* so many times fewer operations: pages move all the time; 0: 1 */
    bool is_managed;          /* all words are in managed memory */
    bool does_count, is_full; /* access counters move it; and GPUs have too little room */
} fabrics[] = {
    {"h200", 2, 1, {"fabric.topology=switch", "fabric.flit=16B"}, .apart = 32},
    {"h200", 3, 2, {"fabric.topology=ring", "fabric.credits=500"}, .apart = 32},
    {"h200", 4, 3, {"fabric.topology=full", "fabric.overhead_bytes=0"}, .apart = 32},
    {"h200", 6, 1, {"fabric.topology=mesh", "fabric.bandwidth=10GB/s"}, .apart = 32},
    {"h200", 8, 2, {"fabric.topology=torus", "fabric.credits=450"}, .apart = 32},
    {"v100-dgx1", 8, 1, {"gpu.major=8", "gpu.minor=0"}, .apart = 32},
    {"h200", 4, 2, {"l2.peers=64KiB"}, .apart = 32}, /* FIRST_WITH_MORE */
    {"h200", 2, 2, {"paging.policy=pm"}, .apart = 640, .rarer = 16},
    {"h200", 3, 1, {"paging.policy=esi"}, .apart = 640, .rarer = 16},
    {"h200",
     4,
     3,
     {"paging.policy=ps", "paging.page=64KiB", "tlb.l1_entries=8", "tlb.l2_entries=64"},
     .apart = 640,
     .rarer = 16},
    {"h200", 3, 1, {"paging.policy=esi", "paging.room=64KiB"}, .apart = 2048, .rarer = 16},
    {"v100-dgx1",
     8,
     1,
     {"paging.policy=esi", "gpu.major=8", "gpu.minor=0", "fabric.link.plx0.latency=20us"},
     .apart = 64,
     .rarer = 16},
    {mixed, 4, 2, {"fabric.topology=switch"}, .apart = 32},
    {"h200", 2, 2, {MANAGED_IS_FAST}, .apart = 7168, .is_managed = true}, /* FIRST_MANAGED */
    {"h200",
     3,
     1,
     {MANAGED_IS_FAST, "uvm.access_counters=yes", "uvm.counter_threshold=5", "uvm.counter_granularity=64KiB"},
     .apart = 7168,
     .is_managed = true,
     .does_count = true},
    {"h200",
     2,
     1,
     {MANAGED_IS_FAST, "gpu.memory=5MiB", "uvm.access_counters=yes", "uvm.counter_threshold=8"},
     .apart = 60000,
     .is_managed = true,
     .does_count = true,
     .is_full = true},
};

enum { FIRST_WITH_MORE = 6, FIRST_MANAGED = 13 }; /* those behind it, too: what may be left out */

static uint64_t bytes_of_home(const struct play *play)
{
    return offset_of_word(play, ALL) + 32;
}

/* ---- managed memory ---- */

/* Managed memory in place of each home's: the first home's moves as it is wanted; the second's is
 * read-mostly; the third's is accessed by all GPUs, and what more there are, are as the first. */
static void manage_homes(struct play *play)
{
    uint64_t bytes = bytes_of_home(play);
    for (unsigned home = 0; home < homes(play); home++) {
        CHECK(memory_managed_alloc(play->t.driver, bytes, 1, &play->home[home]));
        memset((void *)(uintptr_t)play->home[home], 0, bytes);
        if (home == 1)
            managed_advise(play->t.driver, play->home[home], bytes, ADVICE_READ_MOSTLY, true, 0);
        for (unsigned gpu = 0; home == 2 && gpu < play->gpus; gpu++)
            managed_advise(play->t.driver, play->home[home], bytes, ADVICE_ACCESSED_BY, true, gpu);
    }
}

static uint32_t *managed_word(const struct play *play, unsigned word)
{
    return (uint32_t *)(uintptr_t)address_of_word(play, word);
}

/* The host reads all words. Then it writes some, which kernels have to see. */
static void use_by_host(struct play *play, uint32_t seed)
{
    for (unsigned word = 0; word < ALL; word++)
        play->after[word] = *managed_word(play, word);
    for (unsigned word = 0; word < FIRST_MIRROR; word++)
        play->bumps[word] = (seed >> word % 29 & 3) == 1;
}

static void bump_words(struct play *play)
{
    for (unsigned word = 0; word < FIRST_MIRROR; word++) {
        *managed_word(play, word) += play->bumps[word];
        play->before[word] += play->bumps[word];
    }
}

/* While kernels run, memory is moved to and fro. */
static void prefetch_beside(struct play *play, uint32_t seed)
{
    for (unsigned i = 0; i < 3 * play->gpus; i++, seed = seed * 1664525 + 1013904223) {
        unsigned to = (seed >> 20) % (play->gpus + 1), gpu = to == play->gpus ? i % play->gpus : to;
        CHECK(managed_prefetch(play->copies[gpu], play->home[(seed >> 10) % homes(play)], bytes_of_home(play),
                               to == play->gpus ? (uint32_t)MANAGED_ON_HOST : to));
    }
}

/* All that a row is there for has happened. */
static void check_managed(const struct play *play, const struct fabric *fabric)
{
    struct launch_record record;
    uint64_t faults = 0, moved = 0, counted = 0, throttled = 0, evicted = 0;
    for (size_t i = 0; driver_launch(play->t.driver, i, &record); i++) {
        const struct memsys_counters *mem = &record.timing->mem;
        faults += mem->managed_faults;
        moved += mem->managed_bytes_in >> 16;
        counted += mem->managed_counted;
        throttled += mem->managed_throttled;
        evicted += mem->managed_evictions;
    }
    print_message(
        "%llu faults, %llu pages moved, %llu by counters, %llu faults throttled, %llu blocks evicted\n",
        (unsigned long long)faults, (unsigned long long)moved, (unsigned long long)counted,
        (unsigned long long)throttled, (unsigned long long)evicted);
    assert_true(faults && moved && (throttled || fabric->is_full));
    assert_int_equal(counted > 0, fabric->does_count);
    assert_int_equal(evicted > 0, fabric->is_full);
}

static void play_start(struct play *play, const struct fabric *fabric)
{
    char count[32];
    const char *settings[12 + COUNT_OF(no_time)] = {"gpu.sm_count=3",  "l2.slices=8",   "l2.islands=3",
                                                    "l2.bytes=256KiB", count,           fabric->more[0],
                                                    fabric->more[1],   fabric->more[2], fabric->more[3]};
    struct module *module;
    unsigned gpus = fabric->gpus;
    snprintf(count, sizeof count, "system.gpus=%u", gpus);
    for (size_t i = 0, at = 0; fabric->is_managed && i < COUNT_OF(no_time); i++) {
        while (settings[at])
            at++;
        settings[at] = no_time[i];
    }
    *play = (struct play){.gpus = gpus,
                          .apart = fabric->apart,
                          .is_managed = fabric->is_managed,
                          .steps = fabric->is_managed ? STEPS_MANAGED : STEPS};
    start_with(&play->t, (struct driver_options){.system = fabric->system,
                                                 .settings = settings,
                                                 .timing.on = true,
                                                 .keep_launches = fabric->is_managed,
                                                 .threads = fabric->threads});
    CHECK(module_load(play->t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "play", &play->function));
    for (unsigned i = 0; i < gpus; i++) {
        play->device[i] = driver_device(play->t.driver, i);
        if (!play->is_managed)
            CHECK(memory_alloc(play->device[i], bytes_of_home(play), &play->home[i]));
        CHECK(memory_alloc(play->device[i], 8 * ALL, &play->table[i]));
        CHECK(memory_alloc(play->device[i], sizeof(struct logged) * STEPS * BLOCK * blocks_of(play, i),
                           &play->log[i]));
        CHECK(stream_new(play->device[i], STREAM_NON_BLOCKING, 0, &play->copies[i]));
        for (unsigned peer = 0; peer < i; peer++) {
            CHECK(device_enable_peer(play->device[i], play->device[peer]));
            CHECK(device_enable_peer(play->device[peer], play->device[i]));
        }
    }
    if (play->is_managed) {
        manage_homes(play);
    } else {
        void *pinned;
        CHECK(memory_host_alloc(play->t.driver, bytes_of_home(play), 0, &pinned));
        play->home[gpus] = address_of(pinned);
    }
    uint64_t table[ALL];
    for (unsigned word = 0; word < ALL; word++)
        table[word] = address_of_word(play, word);
    for (unsigned i = 0; i < gpus; i++)
        CHECK(stream_copy_bytes(play->t.first, play->table[i], address_of(table), sizeof table, true));
    play->seen = mem_alloc((size_t)STEPS * THREADS, sizeof *play->seen);
}

static void play_stop(struct play *play)
{
    mem_free(play->seen);
    stop(&play->t);
}

/* Counters of the home `from` become the mirrors at the one before it. */
static void copy_beside(struct play *play, unsigned from, unsigned gpu)
{
    unsigned to = (from + homes(play) - 1) % homes(play);
    unsigned words = MIRRORS / homes(play) + (to < MIRRORS % homes(play));
    CHECK(stream_copy_bytes(play->copies[gpu], play->home[to] + offset_of_word(play, FIRST_MIRROR),
                            play->home[from], 4 * words, false));
}

static void read_words(struct play *play, uint32_t *words)
{
    uint64_t bytes = bytes_of_home(play);
    char *of_home = mem_alloc(1, bytes);
    for (unsigned i = 0; i < homes(play); i++) {
        CHECK(stream_copy_bytes(play->t.first, address_of(of_home), play->home[i], bytes, true));
        for (unsigned word = 0; word < ALL; word++) {
            uint64_t at = address_of_word(play, word) - play->home[i];
            if (at < bytes)
                memcpy(&words[word], of_home + at, 4);
        }
    }
    mem_free(of_home);
}

static void play_round(struct play *play, uint32_t seed)
{
    uint32_t first = 0, steps = play->steps;
    memcpy(play->before, play->after, sizeof play->before);
    if (play->is_managed)
        bump_words(play);
    for (unsigned i = 0; i < play->gpus; i++) {
        struct launch_config config = {.grid = {blocks_of(play, i), 1, 1}, .block = {BLOCK, 1, 1}};
        CHECK(stream_launch(device_default_stream(play->device[i]), play->function, &config,
                            (void *[]){&play->table[i], &play->log[i], &steps, &seed, &first}));
        first += BLOCK * blocks_of(play, i);
    }
    for (unsigned i = 0; i < 6 * homes(play); i++)
        copy_beside(play, i % homes(play), i % homes(play) % play->gpus);
    if (play->is_managed)
        prefetch_beside(play, seed);
    first = 0;
    for (unsigned i = 0; i < play->gpus; i++) {
        unsigned threads = BLOCK * blocks_of(play, i);
        CHECK(device_synchronize(play->device[i]));
        CHECK(stream_copy_bytes(play->t.first, address_of(play->seen + (size_t)first * STEPS), play->log[i],
                                sizeof *play->seen * steps * threads, true));
        first += threads;
    }
    if (play->is_managed)
        use_by_host(play, seed);
    else
        read_words(play, play->after);
}

/* ---- the explanation ---- */

struct thread {
    uint32_t x, y, step;
    const struct logged *seen; /* [step * apart] */
    uint32_t apart;
    uint32_t least[WORDS], least_weak[WORDS];
    uint32_t looked[MIRRORS];
};

struct release {
    bool is_there;
    uint32_t thread;
    uint32_t *least; /* of all releases up to this one; NULL: not known yet */
};

struct explanation {
    const struct play *play;
    struct thread *threads;
    struct release *releases[FLAGS];
    uint32_t known[FLAGS]; /* releases up to here have their `least` */
    uint8_t *added[COUNTERS];
    uint32_t reduced[REDUCED];
};

static void join(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < WORDS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

#define REQUIRE_THAT(good, ...)                                                                              \
    do {                                                                                                     \
        if (!(good))                                                                                         \
            fail_msg(__VA_ARGS__);                                                                           \
    } while (0)

static void check_load(const struct explanation *all, struct thread *thread, unsigned word, uint32_t got,
                       bool is_strong)
{
    unsigned number = (unsigned)(thread - all->threads);
    uint32_t least = is_strong ? thread->least[word] : thread->least_weak[word];
    bool is_own = word >= COUNTERS && !(number & 3) && word - COUNTERS == number / 4;
    REQUIRE_THAT(got >= least && got <= all->play->after[word],
                 "step %u of thread %u saw %u in word %u, which is %u to %u for it", thread->step, number,
                 got, word, least, all->play->after[word]);
    REQUIRE_THAT(!is_own || got == thread->least[word], "step %u of thread %u saw %u in its mailbox, not %u",
                 thread->step, number, got, thread->least[word]);
    if (is_strong)
        thread->least[word] = got;
}

/* A release is known when all before it are. */
static void publish(struct explanation *all, unsigned flag, uint32_t place, const struct thread *thread)
{
    struct release *releases = all->releases[flag];
    uint32_t first = all->play->before[FIRST_FLAG + flag], last = all->play->after[FIRST_FLAG + flag];
    REQUIRE_THAT(place >= first && place < last && !releases[place - first].is_there,
                 "flag %u was %u for two threads, or is beyond %u", flag, place, last);
    struct release *release = &releases[place - first];
    release->is_there = true;
    release->least = mem_alloc(WORDS, sizeof *release->least);
    memcpy(release->least, thread->least, WORDS * sizeof *release->least);
    while (all->known[flag] < last - first && releases[all->known[flag]].is_there) {
        if (all->known[flag])
            join(releases[all->known[flag]].least, releases[all->known[flag] - 1].least);
        all->known[flag]++;
    }
}

static void pass_fence(struct thread *thread)
{
    memcpy(thread->least_weak, thread->least, sizeof thread->least);
}

/* One who has a mailbox read it, and wrote what comes next. */
static void explain_store(const struct explanation *all, struct thread *thread, uint32_t got)
{
    unsigned number = (unsigned)(thread - all->threads), word = COUNTERS + number / 4;
    if (number & 3)
        return;
    check_load(all, thread, word, got, true);
    thread->least[word] = thread->least_weak[word] = got + 1;
}

/* Explains the thread's next step; false: others must come first. */
static bool explain_step(struct explanation *all, struct thread *thread)
{
    const struct play *play = all->play;
    uint32_t x = thread->x * 1664525 + 1013904223, y = thread->y * 1664525 + 1013904223, any = x >> 12;
    struct logged logged = thread->seen[(size_t)thread->step * thread->apart];
    uint32_t got = logged.got;
    unsigned number = (unsigned)(thread - all->threads), flag = any % FLAGS;
    switch (kinds[y >> 28]) {
    case ADD: {
        unsigned word = any % COUNTERS;
        check_load(all, thread, word, got, true);
        REQUIRE_THAT(got < play->after[word] && !all->added[word][got - play->before[word]],
                     "an update of counter %u is lost: two threads saw %u", word, got);
        all->added[word][got - play->before[word]] = 1;
        thread->least[word] = thread->least_weak[word] = got + 1;
        break;
    }
    case REDUCE:
        all->reduced[any % REDUCED]++;
        break;
    case LOAD:
    case LOAD_WEAK:
        check_load(all, thread, any % WORDS, got, kinds[y >> 28] == LOAD);
        break;
    case STORE:
        explain_store(all, thread, logged.more);
        break;
    case RELEASE:
        explain_store(all, thread, logged.more);
        publish(all, number / 4 % FLAGS, got, thread);
        pass_fence(thread);
        break;
    case ACQUIRE: {
        uint32_t before = play->before[FIRST_FLAG + flag];
        REQUIRE_THAT(got >= before && got <= play->after[FIRST_FLAG + flag], "flag %u was %u", flag, got);
        if (got - before > all->known[flag])
            return false;
        if (got > before)
            join(thread->least, all->releases[flag][got - before - 1].least);
        pass_fence(thread);
        check_load(all, thread, COUNTERS + any % MAILBOXES, logged.more, false);
        break;
    }
    case LOOK: {
        uint32_t *looked = &thread->looked[any % MIRRORS];
        REQUIRE_THAT(got >= *looked, "mirror %u went back from %u to %u", any % MIRRORS, *looked, got);
        *looked = got;
        break;
    }
    }
    thread->x = x;
    thread->y = y;
    thread->step++;
    return true;
}

static void begin_threads(struct explanation *all, uint32_t seed)
{
    const struct play *play = all->play;
    uint32_t first = 0;
    for (unsigned gpu = 0; gpu < play->gpus; gpu++) {
        uint32_t count = BLOCK * blocks_of(play, gpu);
        for (uint32_t i = 0; i < count; i++) {
            struct thread *thread = &all->threads[first + i];
            thread->x = (first + i) * 40503 + seed;
            thread->y = ((first + i) >> 5) * 69069 + seed;
            thread->seen = play->seen + (size_t)first * STEPS + i;
            thread->apart = count;
            memcpy(thread->least, play->before, sizeof thread->least);
            pass_fence(thread);
            memcpy(thread->looked, play->before + FIRST_MIRROR, sizeof thread->looked);
        }
        first += count;
    }
}

static void check_ends(const struct explanation *all)
{
    const struct play *play = all->play;
    for (unsigned word = 0; word < COUNTERS; word++)
        for (uint32_t i = 0; i < play->after[word] - play->before[word]; i++)
            REQUIRE_THAT(all->added[word][i], "counter %u went over %u by itself", word,
                         play->before[word] + i);
    for (unsigned i = 0; i < REDUCED; i++)
        REQUIRE_THAT(play->after[FIRST_REDUCED + i] - play->before[FIRST_REDUCED + i] == all->reduced[i],
                     "word %u was added to %u times, and is %u more", i, all->reduced[i],
                     play->after[FIRST_REDUCED + i] - play->before[FIRST_REDUCED + i]);
    for (unsigned i = 0; i < MAILBOXES; i++)
        REQUIRE_THAT(play->after[COUNTERS + i] == all->threads[4 * i].least[COUNTERS + i],
                     "mailbox %u holds %u, and its owner wrote %u", i, play->after[COUNTERS + i],
                     all->threads[4 * i].least[COUNTERS + i]);
}

static void explain(const struct play *play, uint32_t seed)
{
    struct explanation all = {.play = play, .threads = mem_alloc(THREADS, sizeof *all.threads)};
    for (unsigned i = 0; i < COUNTERS; i++)
        all.added[i] = mem_alloc(play->after[i] - play->before[i] + 1, 1);
    for (unsigned i = 0; i < FLAGS; i++)
        all.releases[i] = mem_alloc(play->after[FIRST_FLAG + i] - play->before[FIRST_FLAG + i] + 1,
                                    sizeof *all.releases[i]);
    begin_threads(&all, seed);
    for (bool some = true; some;) {
        some = false;
        for (struct thread *thread = all.threads; thread < all.threads + THREADS; thread++)
            while (thread->step < play->steps && explain_step(&all, thread))
                some = true;
    }
    for (unsigned i = 0; i < THREADS; i++)
        REQUIRE_THAT(all.threads[i].step == play->steps,
                     "step %u of thread %u saw a flag that nobody had raised", all.threads[i].step, i);
    check_ends(&all);
    for (unsigned i = 0; i < COUNTERS; i++)
        mem_free(all.added[i]);
    for (unsigned i = 0; i < FLAGS; i++) {
        for (uint32_t r = 0; r < play->after[FIRST_FLAG + i] - play->before[FIRST_FLAG + i]; r++)
            mem_free(all.releases[i][r].least);
        mem_free(all.releases[i]);
    }
    mem_free(all.threads);
}

static uint64_t operations = 2 * 1000 * 1000;
static uint32_t seed = 1;
static const char *program;

static void all_that_threads_saw_has_an_explanation(void **state)
{
    (void)state;
    uint64_t done = 0;
    size_t first = left_out_now >= LEFT_OUT_MAPPERS ? FIRST_MANAGED
                   : left_out_now > LEFT_OUT_COPIES ? FIRST_WITH_MORE
                                                    : 0;
    write_mixed();
    for (size_t i = first; i < COUNT_OF(fabrics); i++) {
        struct play play;
        print_message("%s, %s\n", fabrics[i].system, fabrics[i].more[0]);
        play_start(&play, &fabrics[i]);
        uint64_t share = operations / COUNT_OF(fabrics) / (fabrics[i].rarer ? fabrics[i].rarer : 1);
        for (uint64_t part = 0; part < share; part += (uint64_t)THREADS * play.steps) {
            seed = seed * 2654435761u + 12345;
            play_round(&play, seed);
            explain(&play, seed);
            done += (uint64_t)THREADS * play.steps;
        }
        if (play.is_managed && left_out_now == LEFT_OUT_NOTHING)
            check_managed(&play, &fabrics[i]);
        play_stop(&play);
    }
    print_message("%llu operations\n", (unsigned long long)done);
}

static bool host_is_slow(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

/* Whatever is left out of the model, something that threads see has no explanation, or nothing goes on. */
static void nothing_can_be_left_out(void **state)
{
    static const char *const names[] = {
#define X(id, name) name,
        LEFT_OUTS(X)
#undef X
    };
    (void)state;
    if (host_is_slow())
        skip();
    for (size_t i = LEFT_OUT_NOTHING + 1; i < COUNT_OF(names); i++) {
        char command[512];
        snprintf(command, sizeof command, "timeout 100 '%s' 1000000 1 %zu >/dev/null 2>&1", program, i);
        int result = system(command);
        print_message("without %s: %d\n", names[i], result);
        assert_true(result && WIFEXITED(result) && WEXITSTATUS(result) != 127);
    }
}

int main(int count, char **arguments)
{
    program = arguments[0];
    if (count > 3)
        left_out_now = (enum left_out)strtoul(arguments[3], NULL, 10);
    if (count > 1)
        operations = strtoull(arguments[1], NULL, 10);
    if (count > 2)
        seed = (uint32_t)strtoull(arguments[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_threads_saw_has_an_explanation),
        cmocka_unit_test(nothing_can_be_left_out),
    };
    const struct CMUnitTest only[] = {cmocka_unit_test(all_that_threads_saw_has_an_explanation)};
    return count > 1 ? cmocka_run_group_tests(only, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
