/* A machine that is saved in the middle of copies, each way, and gone on with: the same bytes, and the same
 * times.
 */
#include "check.h"
#include "base/file.h"
#include "base/mem.h"
#include "system/machine.h"

#include <sys/mman.h>
#include <unistd.h>

enum { GPU_BYTES = 1 << 20, COPY_BYTES = 200000, PITCH = 500, ROWS = 300, GPUS = 2, TASKS = 7 };

struct scene {
    struct system system;
    char *memory[GPUS]; /* of GPUs */
    char *source, *sink;
    struct task tasks[TASKS];
};

static struct task_side line(const char *at, bool is_host)
{
    return (struct task_side){.at = (uintptr_t)at, .is_host = is_host};
}

/* All at once; the second copies of a way wait for the first ones. */
static void begin_all(struct scene *scene, struct machine *machine)
{
    struct task plain = {.width = COPY_BYTES, .height = 1, .depth = 1};
    for (int i = 0; i < TASKS; i++)
        scene->tasks[i] = plain;
    struct task *task = scene->tasks;
    task->direction = COPY_TO_DEVICE;
    task->from = line(scene->source + 3, true);
    task++->to = line(scene->memory[0] + 5, false);
    task->direction = COPY_TO_HOST;
    task->from = line(scene->memory[0] + COPY_BYTES * 2, false);
    task++->to = line(scene->sink + 1, true);
    task->direction = COPY_ON_DEVICE;
    task->from = line(scene->memory[0] + COPY_BYTES * 2, false);
    task++->to = line(scene->memory[0] + COPY_BYTES * 3 + 77, false);
    task->direction = COPY_PEER;
    task->gpu = 1;
    task->from = line(scene->memory[0] + COPY_BYTES * 2, false);
    task++->to = line(scene->memory[1], false);
    task->direction = COPY_TO_HOST; /* rows, behind the other */
    task->width = PITCH - 100;
    task->height = ROWS;
    task->from = (struct task_side){.at = (uintptr_t)scene->memory[0] + COPY_BYTES, .pitch = PITCH};
    task->to =
        (struct task_side){.at = (uintptr_t)scene->sink + COPY_BYTES * 2, .pitch = PITCH, .is_host = true};
    task++;
    task->direction = COPY_ON_DEVICE;
    task->is_fill = true;
    task->fill_word = 0x04030201;
    task->width = 1000;
    task++->to = line(scene->memory[0] + COPY_BYTES * 4 + 100, false);
    task->direction = COPY_STAGED;
    task->from = line(scene->memory[1] + COPY_BYTES * 2 + 9, false);
    task->to = line(scene->memory[0] + COPY_BYTES * 4 + 20000, false);
    for (int i = 0; i < TASKS; i++)
        machine_begin(machine, &scene->tasks[i]);
}

static void scene_reset(struct scene *scene)
{
    for (int gpu = 0; gpu < GPUS; gpu++)
        for (size_t i = 0; i < GPU_BYTES; i++)
            scene->memory[gpu][i] = (char)(i / 1000 + i * 3 + (size_t)gpu);
    for (size_t i = 0; i < GPU_BYTES; i++)
        scene->source[i] = (char)(i * 5 + i / 3000);
    memset(scene->sink, 0, GPU_BYTES);
}

/* Runs to the end, or to a checkpoint. */
static enum machine_end play(struct scene *scene, const struct checkpoint_options *checkpoint)
{
    struct err err = {{0}};
    struct machine_options options = {.threads = 2, .checkpoint = *checkpoint};
    struct machine *machine = machine_new(&scene->system, &options, &err);
    if (!machine)
        fail_msg("%s", err.text);
    struct memory_range ranges[GPUS];
    for (uint32_t i = 0; i < GPUS; i++)
        ranges[i] = (struct memory_range){.at = (uintptr_t)scene->memory[i],
                                          .bytes = GPU_BYTES,
                                          .to = physical_at(i, 0),
                                          .host = scene->memory[i]};
    machine_set_memory(machine, ranges, GPUS);
    begin_all(scene, machine);
    while (machine_run(machine, &err))
        ;
    enum machine_end end = machine_end(machine);
    if (end == MACHINE_CANNOT_RESUME || end == MACHINE_BROKEN)
        fail_msg("%s", err.text);
    machine_free(machine);
    return end;
}

static void a_run_cut_in_the_middle_is_the_same(void **state)
{
    (void)state;
    static const char *const settings[] = {"system.gpus=2",
                                           "gpu.sm_count=1",
                                           "l2.slices=4",
                                           "l2.islands=2",
                                           "l2.bytes=64KiB",
                                           "gpu.clock=1GHz",
                                           "noc.host_bandwidth=10GB/s",
                                           "noc.staged_start=1us",
                                           "dram.bandwidth=20GB/s",
                                           "fabric.bandwidth=10GB/s"};
    struct scene scene = {0};
    struct err err;
    char path[64];
    static char expected[4][GPU_BYTES];
    assert_true(system_load(&scene.system, "", NULL, &err));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_true(system_set(&scene.system, settings[i], &err));
    char *all = mmap(NULL, 4 * GPU_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    scene.memory[0] = all, scene.memory[1] = all + GPU_BYTES;
    scene.source = all + 2 * GPU_BYTES, scene.sink = all + 3 * GPU_BYTES;
    snprintf(path, sizeof path, "copies-%d.cp", (int)getpid());

    scene_reset(&scene);
    memcpy(expected[0], all, sizeof expected); /* what plain copies make of it */
    memcpy(expected[0] + 5, expected[2] + 3, COPY_BYTES);
    memcpy(expected[3] + 1, expected[0] + COPY_BYTES * 2, COPY_BYTES);
    memcpy(expected[0] + COPY_BYTES * 3 + 77, expected[0] + COPY_BYTES * 2, COPY_BYTES);
    memcpy(expected[1], expected[0] + COPY_BYTES * 2, COPY_BYTES);
    for (size_t y = 0; y < ROWS; y++)
        memcpy(expected[3] + COPY_BYTES * 2 + y * PITCH, expected[0] + COPY_BYTES + y * PITCH, PITCH - 100);
    for (uint32_t i = 0; i < 1000; i++)
        expected[0][COPY_BYTES * 4 + 100 + i] = (char)(1 + i % 4);
    memcpy(expected[0] + COPY_BYTES * 4 + 20000, expected[1] + COPY_BYTES * 2 + 9, COPY_BYTES);
    assert_int_equal(play(&scene, &(struct checkpoint_options){0}), MACHINE_GOES_ON);
    assert_memory_equal(all, expected, sizeof expected);
    struct task straight[TASKS];
    memcpy(straight, scene.tasks, sizeof straight);

    for (uint64_t cycle = 300; cycle < 40000; cycle += 5000) { /* the longest take 32 us */
        scene_reset(&scene);
        struct checkpoint_options cut = {.write = path, .at_cycles = cycle, .stop = true};
        bool is_cut = play(&scene, &cut) == MACHINE_STOPPED;
        assert_true(is_cut || cycle > 30000);
        scene_reset(&scene);
        memset(scene.memory[0], 0, GPU_BYTES); /* the file has what GPUs' memory holds */
        play(&scene, &(struct checkpoint_options){.resume = path});
        assert_memory_equal(all, expected, sizeof expected);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(scene.tasks[i].end_ps, straight[i].end_ps);
    }
    unlink(path);
    munmap(all, 4 * GPU_BYTES);
    system_fini(&scene.system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_cut_in_the_middle_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
