/* Code, images and tasks of the leader's program, on another rank. */
#include "base/mem.h"
#include "ranked/follower.h"

#include <string.h>

void follower_init_program(struct follower *follower)
{
    follower->gpu_count = system_devices(&follower->system);
    follower->gpus = mem_alloc(follower->gpu_count, sizeof *follower->gpus);
    for (uint32_t i = 0; i < follower->gpu_count; i++)
        follower->gpus[i].image = image_new();
}

void follower_fini_program(struct follower *follower)
{
    follower_drop_ended(follower, true);
    if (follower->recorder)
        itrace_recorder_free(follower->recorder);
    follower->recorder = NULL;
    for (uint32_t i = 0; i < follower->gpu_count; i++) {
        struct follower_gpu *gpu = &follower->gpus[i];
        heap_free(gpu->heap);
        image_free(gpu->image);
        for (size_t k = 0; k < gpu->texture_count; k++)
            mem_free(gpu->textures[k]);
        mem_free(gpu->textures);
    }
    for (size_t i = 0; i < follower->object_count; i++)
        follower->objects[i].isa->unload(follower->objects[i].program);
    mem_free(follower->gpus);
    mem_free(follower->objects);
    names_fini(&follower->names);
    mirror_fini(&follower->mirror);
    follower->gpus = NULL;
    follower->objects = NULL;
    follower->gpu_count = 0;
    follower->object_count = follower->object_capacity = 0;
}

/* ---- code ---- */

bool follower_load(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_load letter = {0};
    letter_load_archive(&letter, body);
    const struct serve_isa *isa = letter.isa.at ? serve_isa_find(letter.isa.at) : NULL;
    bool good = body->good && (isa || err_set(err, "code of an unknown instruction set"));
    void *program = good ? isa->load(letter.bytes.at, letter.bytes.length, err) : NULL;
    letter_load_fini(&letter);
    if (!program)
        return false;
    mem_grow(follower->objects, follower->object_count, follower->object_capacity);
    follower->objects[follower->object_count++] = (struct follower_object){letter.object, isa, program};
    return true;
}

bool follower_unload(struct follower *follower, struct archive *body, struct err *err)
{
    uint64_t number = 0;
    (void)err;
    ARCHIVE_VALUE(body, number);
    for (size_t i = 0; i < follower->object_count; i++) {
        struct follower_object *object = &follower->objects[i];
        if (object->number == number) {
            object->isa->unload(object->program);
            *object = follower->objects[--follower->object_count];
            return true;
        }
    }
    return true;
}

static struct kernel *find_kernel(const struct follower *follower, uint64_t object, const char *name)
{
    for (size_t i = 0; i < follower->object_count; i++)
        if (follower->objects[i].number == object)
            return follower->objects[i].isa->kernel(follower->objects[i].program, name);
    return NULL;
}

/* ---- images ---- */

static struct follower_gpu *read_range(struct follower *follower, struct archive *body, struct range *range)
{
    struct letter_range letter = {0};
    letter_range_archive(&letter, body);
    size_t name = names_add(&follower->names, letter.what.at ? letter.what.at : "");
    *range = (struct range){letter.at, letter.bytes, follower->names.at[name], letter.read_only};
    text_fini(&letter.what);
    archive_check(body, letter.gpu < follower->gpu_count);
    return body->good ? &follower->gpus[letter.gpu] : NULL;
}

/* Variables of code that is loaded next are written there. Of the host's memory nothing is needed, and it may
 * be where this process has something. */
bool follower_add_range(struct follower *follower, struct archive *body, struct err *err)
{
    struct range range, before;
    struct follower_gpu *gpu = read_range(follower, body, &range);
    if (!gpu)
        return err_set(err, "a range makes no sense");
    if (!range.bytes || image_find(gpu->image, range.at, &before))
        return true;
    struct err unused;
    mirror_open(&follower->mirror, range.at, range.bytes, &unused);
    image_add(gpu->image, range);
    return true;
}

bool follower_remove_range(struct follower *follower, struct archive *body, struct err *err)
{
    struct range range;
    struct follower_gpu *gpu = read_range(follower, body, &range);
    (void)err;
    return gpu && (image_remove(gpu->image, range.at) || true);
}

bool follower_set_spare(struct follower *follower, struct archive *body, struct err *err)
{
    struct range range;
    struct follower_gpu *gpu = read_range(follower, body, &range);
    if (!gpu || !mirror_open(&follower->mirror, range.at, range.bytes, err))
        return false;
    image_set_spare(gpu->image, range);
    return true;
}

bool follower_set_texture(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_texture letter = {0};
    letter_texture_archive(&letter, body);
    if (!archive_check(body, letter.gpu < follower->gpu_count))
        return false;
    struct follower_gpu *gpu = &follower->gpus[letter.gpu];
    struct texture *kept = mem_alloc(1, sizeof *kept);
    *kept = letter.texture;
    mem_grow(gpu->textures, gpu->texture_count, gpu->texture_capacity);
    gpu->textures[gpu->texture_count++] = kept;
    return image_add_texture(gpu->image, kept) == letter.handle ||
           err_set(err, "a texture has another handle here than on the leading rank");
}

bool follower_remove_texture(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_texture letter = {0};
    (void)err;
    letter_texture_archive(&letter, body);
    if (archive_check(body, letter.gpu < follower->gpu_count))
        image_remove_texture(follower->gpus[letter.gpu].image, letter.handle);
    return body->good;
}

bool follower_set_heap(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_heap letter = {0};
    letter_heap_archive(&letter, body);
    if (!archive_check(body, letter.gpu < follower->gpu_count))
        return false;
    struct follower_gpu *gpu = &follower->gpus[letter.gpu];
    if (letter.part_count &&
        !mirror_open(&follower->mirror, letter.at, letter.part_bytes * letter.part_count, err))
        return false;
    heap_free(gpu->heap);
    gpu->heap =
        letter.part_count ? heap_new(gpu->image, letter.at, letter.part_bytes, letter.part_count) : NULL;
    machine_set_heap(follower->machine, letter.gpu, gpu->heap);
    return true;
}

/* ---- tasks ---- */

static void *copy_of(const struct text *bytes)
{
    char *copy = mem_alloc(bytes->length + 1, 1);
    if (bytes->length)
        memcpy(copy, bytes->at, bytes->length);
    return copy;
}

/* A kernel that cannot be prepared will not run. */
static void record(struct follower *follower, struct launch *launch)
{
    struct err unused;
    if (!launch->kernel || !kernel_prepare(launch->kernel, &unused))
        return;
    if (!follower->recorder)
        follower->recorder = itrace_recorder_new(NULL, NULL);
    launch->observer = itrace_recorder_begin_afar(follower->recorder, launch->kernel);
}

static bool set_kernel(struct follower *follower, struct followed_task *task,
                       const struct letter_begin *letter, struct err *err)
{
    const struct follower_gpu *gpu = &follower->gpus[letter->task.gpu];
    const char *name = letter->kernel.at ? letter->kernel.at : "";
    task->launch = letter->launch;
    task->launch.kernel = find_kernel(follower, letter->object, name);
    task->launch.image = gpu->image;
    task->launch.heap = letter->uses_heap ? gpu->heap : NULL;
    task->launch.params = task->params = copy_of(&letter->params);
    task->launch.places = task->places = copy_of(&letter->places);
    task->launch.place_count = (uint32_t)(letter->places.length / sizeof(struct block_place));
    task->launch.threads = 1;
    if (letter->is_recorded)
        record(follower, &task->launch);
    if (letter->is_watched)
        task->launch.watch = machine_watch_afar(follower->machine, letter->task.gpu, task->launch.sm_count);
    task->task.launch = &task->launch;
    return task->launch.kernel || err_set(err, "kernel %s is not known on this rank", name);
}

bool follower_begin(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_begin letter = {0};
    letter_begin_archive(&letter, body);
    struct followed_task *task = mem_alloc(1, sizeof *task), **last = &follower->tasks;
    task->task = letter.task;
    bool good = archive_check(body, letter.task.gpu < follower->gpu_count) &&
                (!letter.is_kernel || set_kernel(follower, task, &letter, err));
    letter_begin_fini(&letter);
    while (*last)
        last = &(*last)->next;
    *last = task;
    if (good)
        machine_begin(follower->machine, &task->task);
    return good;
}

static void task_free(struct followed_task *task)
{
    gpu_kernel_stats_fini(&task->task.stats);
    if (task->launch.observer)
        itrace_recorder_end_afar(task->launch.observer);
    mem_free(task->params);
    mem_free(task->places);
    mem_free(task);
}

void follower_drop_ended(struct follower *follower, bool all)
{
    for (struct followed_task **link = &follower->tasks, *task; (task = *link);) {
        if (all || task->task.state != TASK_RUNNING) {
            *link = task->next;
            task_free(task);
        } else {
            link = &task->next;
        }
    }
}
