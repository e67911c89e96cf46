/* Copies and fills in simulated time: the bytes that they move, and when others see them. */
#include "driver_check.h"
#include "base/bits.h"
#include "base/rng.h"

enum { ARENA = 64 * 1024, ROUNDS = 300 };

/* add(at, words): each thread adds 1 to a word. look(at, last, out): waits for the word at `at` to change,
 * and tells what is at `last` then. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 at, .param .u32 words)\n"
                          "{\n"
                          "    .reg .b32 %r<7>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "    ld.param.u32 %r1, [words];\n"
                          "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
                          "    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                          "    setp.ge.u32 %p1, %r5, %r1;\n"
                          "    @%p1 bra end;\n"
                          "    mul.wide.u32 %rd2, %r5, 4;\n"
                          "    add.s64 %rd3, %rd1, %rd2;\n"
                          "    ld.global.u32 %r6, [%rd3];\n"
                          "    add.u32 %r6, %r6, 1;\n"
                          "    st.global.u32 [%rd3], %r6;\n"
                          "end: ret;\n"
                          "}\n"
                          ".visible .entry look(.param .u64 at, .param .u64 last, .param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "    ld.param.u64 %rd2, [last];\n"
                          "    ld.param.u64 %rd3, [out];\n"
                          "again:\n"
                          "    ld.volatile.global.u32 %r1, [%rd1];\n"
                          "    setp.eq.u32 %p1, %r1, 0;\n"
                          "    @%p1 bra again;\n"
                          "    ld.volatile.global.u32 %r2, [%rd2];\n"
                          "    st.global.u32 [%rd3], %r2;\n"
                          "    ret;\n"
                          "}\n";

struct copies {
    struct under_test t;
    struct function *add, *look;
};

static void start_copies(struct copies *c, const char *gpus)
{
    static const char *settings[8] = {"gpu.sm_count=4", "l2.bytes=256KiB",        "l2.slices=4",
                                      "l2.islands=2",   "dram.bandwidth=100GB/s", "fabric.bandwidth=20GB/s"};
    struct module *module;
    settings[6] = gpus;
    start_with(&c->t, (struct driver_options){.settings = settings, .timing.on = true});
    CHECK(module_load(c->t.driver, "copies.ptx", ptx, sizeof ptx - 1, &module));
    CHECK(module_function(module, "add", &c->add));
    CHECK(module_function(module, "look", &c->look));
}

/* ---- what is moved: everything is done to a plain copy of each memory as well ---- */

struct memories {
    uint64_t at[3];                        /* of two GPUs, and the host's own */
    unsigned char expected[3][ARENA + 64]; /* of what */
    unsigned char host[ARENA + 64];
};

struct plane {
    uint64_t at, pitch, slice;
};

static struct plane random_plane(struct rng *rng, const struct copy *copy)
{
    struct plane plane = {.pitch = copy->width_bytes + rng_below(rng, 2) * rng_below(rng, 300)};
    uint64_t rows = copy->height + rng_below(rng, 2);
    plane.slice = plane.pitch * rows;
    plane.at = rng_below(rng, ARENA - plane.slice * copy->depth - plane.pitch);
    return plane;
}

static void set_side(struct copy_side *side, const struct plane *plane, uint64_t base)
{
    side->address = base + plane->at;
    side->pitch = plane->pitch;
    side->rows = plane->slice / plane->pitch;
}

/* Sources and destinations do not overlap: what happens then is not defined. */
static void random_copy(struct copies *c, struct memories *m, struct rng *rng)
{
    static unsigned char before[ARENA + 64];
    struct copy copy = {.width_bytes = 1 + rng_below(rng, 700),
                        .height = 1 + rng_below(rng, 6),
                        .depth = 1 + rng_below(rng, 3)};
    uint64_t from_home = rng_below(rng, 3), to_home = (from_home + 1 + rng_below(rng, 2)) % 3;
    struct plane from = random_plane(rng, &copy), to = random_plane(rng, &copy);
    if (rng_below(rng, 3) == 0 && from_home < 2) { /* in one memory: the upper half from the lower one */
        to_home = from_home;
        copy.height = copy.depth = 1;
        from.at %= ARENA / 2 - 1000;
        to.at = ARENA / 2 + to.at % (ARENA / 2 - 1000);
    }
    set_side(&copy.from, &from, m->at[from_home]);
    set_side(&copy.to, &to, m->at[to_home]);
    memcpy(before, m->expected[from_home], sizeof before);
    for (uint64_t z = 0; z < copy.depth; z++)
        for (uint64_t y = 0; y < copy.height; y++)
            memcpy(m->expected[to_home] + to.at + z * to.slice + y * to.pitch,
                   before + from.at + z * from.slice + y * from.pitch, copy.width_bytes);
    CHECK(stream_copy(c->t.first, &copy, false));
}

static void random_fill(struct copies *c, struct memories *m, struct rng *rng)
{
    uint32_t element = 1u << rng_below(rng, 3), value = (uint32_t)rng_next(rng);
    struct fill fill = {.width = 1 + rng_below(rng, 400),
                        .height = 1 + rng_below(rng, 4),
                        .depth = 1,
                        .element_bytes = element,
                        .value = value};
    uint64_t bytes = fill.width * element, home = rng_below(rng, 2);
    uint64_t pitch = (bytes + rng_below(rng, 200)) / element * element;
    uint64_t at = rng_below(rng, ARENA - pitch * 4) / element * element;
    fill.to.address = m->at[home] + at;
    fill.to.pitch = pitch;
    for (uint64_t y = 0; y < fill.height; y++)
        for (uint64_t i = 0; i < bytes; i += element)
            memcpy(m->expected[home] + at + y * pitch + i, &value, element);
    CHECK(stream_fill(c->t.first, &fill, false));
}

/* Leaves lines dirty in L2, and copies of them in the other partition. */
static void random_kernel(struct copies *c, struct memories *m, struct rng *rng)
{
    uint32_t words = 1 + (uint32_t)rng_below(rng, 2000);
    uint64_t at = rng_below(rng, ARENA / 4 - words) * 4, address = m->at[0] + at;
    struct launch_config grid = {.grid = {words / 64 + 1, 1, 1}, .block = {64, 1, 1}};
    CHECK(stream_launch(c->t.first, c->add, &grid, (void *[]){&address, &words}));
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word;
        memcpy(&word, m->expected[0] + at + 4 * i, 4);
        word++;
        memcpy(m->expected[0] + at + 4 * i, &word, 4);
    }
}

static void change_host(struct copies *c, struct memories *m, struct rng *rng)
{
    CHECK(device_synchronize(c->t.device));
    for (size_t n = 0; n < ARENA; n += 1 + rng_below(rng, 50))
        m->expected[2][n] = m->host[n] = (unsigned char)rng_next(rng);
}

static void bytes_arrive_from_everywhere_to_everywhere(void **state)
{
    (void)state;
    static struct memories m;
    static unsigned char back[ARENA];
    struct copies c;
    struct rng rng;
    rng_init(&rng, 1, "copies");
    start_copies(&c, "system.gpus=2");
    for (int i = 0; i < 2; i++)
        CHECK(memory_alloc(driver_device(c.t.driver, (unsigned)i), ARENA, &m.at[i]));
    m.at[2] = address_of(m.host);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t what = rng_below(&rng, 10);
        if (what < 7)
            random_copy(&c, &m, &rng);
        else if (what < 8)
            random_fill(&c, &m, &rng);
        else
            random_kernel(&c, &m, &rng);
        if (rng_below(&rng, 8) == 0)
            change_host(&c, &m, &rng);
    }
    CHECK(device_synchronize(c.t.device));
    assert_memory_equal(m.host, m.expected[2], ARENA);
    for (int i = 0; i < 2; i++) {
        CHECK(stream_copy_bytes(c.t.first, address_of(back), m.at[i], ARENA, true));
        assert_memory_equal(back, m.expected[i], ARENA);
    }
    stop(&c.t);
}

/* ---- when ---- */

/* A kernel sees the beginning of what is copied while the end of it is still on its way: whichever way it
 * comes, other GPUs' memory and fills included. */
static uint32_t seen_at_the_end(unsigned way)
{
    enum { WORDS = 1 << 18 };
    struct copies c;
    struct stream *a, *b;
    uint64_t at, from, out;
    uint32_t seen;
    void *host;
    start_copies(&c, "system.gpus=2");
    struct driver *driver = c.t.driver;
    CHECK(stream_new(c.t.device, STREAM_NON_BLOCKING, 0, &a));
    CHECK(stream_new(c.t.device, STREAM_NON_BLOCKING, 0, &b));
    CHECK(memory_alloc(c.t.device, 4 * WORDS, &at));
    CHECK(memory_alloc(driver_device(driver, way == 2), 4 * WORDS, &from));
    CHECK(memory_alloc(c.t.device, 4, &out));
    CHECK(memory_host_alloc(driver, 4 * WORDS, 0, &host));
    memset(host, 1, 4 * WORDS);
    CHECK(stream_copy_bytes(c.t.first, from, address_of(host), 4 * WORDS, true));
    uint64_t last = at + 4 * WORDS - 4;
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(stream_launch(a, c.look, &one, (void *[]){&at, &last, &out}));
    struct fill fill = {
        .to.address = at, .width = 4 * WORDS, .height = 1, .depth = 1, .element_bytes = 1, .value = 1};
    if (way == 3)
        CHECK(stream_fill(b, &fill, false));
    else
        CHECK(stream_copy_bytes(b, at, way ? from : address_of(host), 4 * WORDS, false));
    CHECK(device_synchronize(c.t.device));
    CHECK(stream_copy_bytes(c.t.first, address_of(&seen), last, 4, true));
    assert_int_equal(seen, 0x01010101);
    CHECK(stream_copy_bytes(c.t.first, address_of(&seen), out, 4, true));
    stop(&c.t);
    return seen;
}

static void kernels_see_a_copy_come(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 4; way++)
        assert_int_equal(seen_at_the_end(way), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_arrive_from_everywhere_to_everywhere),
                                       cmocka_unit_test(kernels_see_a_copy_come)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
