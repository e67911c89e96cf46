/* Tasks of a guest: made of a letter, told of in answers. */
#include "serve/guest.h"
#include "base/mem.h"

enum { HOST_PAGE = 4096 };

/* ---- kernels ---- */

static void fail(struct job *job, const char *why)
{
    job->task.state = TASK_FAILED;
    job->task.result.fault.kind = FAULT_INSTRUCTION;
    snprintf(job->task.result.fault.text, sizeof job->task.result.fault.text, "%.1000s", why);
}

static struct kernel *find_kernel(const struct guest *guest, uint64_t object, const char *name)
{
    for (size_t i = 0; i < guest->object_count; i++) {
        const struct loaded *loaded = &guest->objects[i];
        if (loaded->number == object && loaded->program)
            return loaded->isa->kernel(loaded->program, name);
    }
    return NULL;
}

static ssize_t take_print(void *user, const char *bytes, size_t count)
{
    text_add_bytes(user, bytes, count);
    return (ssize_t)count;
}

static void set_kernel(struct job *job, const struct guest *guest, const struct letter_begin *letter)
{
    const struct guest_gpu *gpu = &guest->gpus[letter->task.gpu];
    job->launch = letter->launch;
    job->launch.kernel = find_kernel(guest, letter->object, letter->kernel.at ? letter->kernel.at : "");
    job->launch.image = gpu->image;
    job->launch.heap = letter->uses_heap ? gpu->heap : NULL;
    job->params = mem_alloc(letter->params.length + 1, 1);
    if (letter->params.length)
        memcpy(job->params, letter->params.at, letter->params.length);
    job->launch.params = job->params;
    job->places = mem_alloc(letter->places.length + 1, 1);
    if (letter->places.length)
        memcpy(job->places, letter->places.at, letter->places.length);
    job->launch.places = (const struct block_place *)job->places;
    job->launch.place_count = (uint32_t)(letter->places.length / sizeof(struct block_place));
    job->launch.threads = 1;
    job->launch.print = job->print =
        fopencookie(&job->printed, "w", (cookie_io_functions_t){.write = take_print});
    job->task.launch = &job->launch;
    if (!job->launch.kernel)
        fail(job, "the machine does not know this kernel");
    else if (kernel_facts(job->launch.kernel)->param_bytes != letter->params.length)
        fail(job, "the machine knows this kernel with other parameters");
}

/* ---- copies ---- */

/* Memory that lies in pages as the program's does, so that all takes the same time. */
static void carry(struct job *job, const struct guest *guest, const struct letter_begin *letter)
{
    struct task *task = &job->task;
    struct task_side *side = task->direction == COPY_TO_HOST ? &task->to : &task->from;
    uint64_t shift = side->at % HOST_PAGE;
    job->carried = mem_alloc(letter_side_bytes(task, side) + 2 * HOST_PAGE, 1);
    job->carried_side = side;
    side->at = ((uintptr_t)job->carried + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE + shift;
    if (task->bounce)
        job->bounce = guest->seat.bounce + task->bounce - 1;
    struct text bytes = letter->bytes;
    if (task->bounce)
        bytes = (struct text){.at = job->bounce, .length = letter_row_bytes(task)};
    if (side == &task->from)
        letter_give_rows(task, side, &bytes);
}

/* ---- jobs ---- */

/* A side of a copy is memory of this GPU, or of the host, or of the program's alone (carried). */
static bool is_there(const struct guest *guest, const struct letter_begin *letter,
                     const struct task_side *side, uint32_t gpu)
{
    uint64_t bytes = letter_side_bytes(&letter->task, side);
    if (side->is_host)
        return letter->is_carried ? bytes <= TASK_HOST_BYTES_MOST
                                  : seat_holds(&guest->seat.host, side->at, bytes);
    return guest_holds(guest, gpu, side->at, bytes);
}

/* Whose memory the source of a peer copy is. */
static uint32_t source_gpu(const struct guest *guest, const struct task *task)
{
    uint32_t gpu = 0;
    while (gpu < guest->seat.gpu_count && !guest_holds(guest, gpu, task->from.at, 1))
        gpu++;
    return gpu;
}

static bool copy_makes_sense(const struct guest *guest, const struct letter_begin *letter)
{
    const struct task *task = &letter->task;
    bool to_host = task->direction == COPY_TO_HOST,
         from_host = task->direction == COPY_TO_DEVICE && !task->is_fill;
    bool between = task->direction == COPY_PEER || task->direction == COPY_STAGED;
    uint32_t from = between ? source_gpu(guest, task) : task->gpu;
    return task->width && task->height && task->depth && task->to.is_host == to_host &&
           is_there(guest, letter, &task->to, task->gpu) &&
           (task->is_fill || (task->from.is_host == from_host && is_there(guest, letter, &task->from, from)));
}

static bool bounces_well(const struct guest *guest, const struct task *task)
{
    uint64_t bytes = letter_row_bytes(task);
    return !task->bounce || (guest->seat.bounce && task->bounce <= SEAT_BOUNCE_BYTES &&
                             bytes <= SEAT_BOUNCE_BYTES - (task->bounce - 1));
}

static bool makes_sense(const struct guest *guest, const struct letter_begin *letter)
{
    return bounces_well(guest, &letter->task) && letter->task.gpu < guest->seat.gpu_count &&
           (letter->is_kernel || copy_makes_sense(guest, letter));
}

void job_find_after(const struct guest *guest, struct job *own)
{
    struct task *task = &own->task;
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->after_count; i++) {
        const struct job *job = guest->jobs;
        while (job && job->number != task->after[i].number)
            job = job->next;
        if (!job)
            continue;
        task->after[count] = task->after[i];
        task->after[count++].number = job->task.number;
    }
    task->after_count = count;
}

struct job *job_new(struct guest *guest, const struct text *body)
{
    struct letter_begin letter = {0};
    struct archive archive = archive_reader(body->at, body->length);
    struct job *job = NULL, **last = &guest->jobs;
    letter_begin_archive(&letter, &archive);
    if (archive_at_end(&archive) && makes_sense(guest, &letter)) {
        job = mem_alloc(1, sizeof *job);
        job->number = letter.number;
        job->task = letter.task;
        job->task.gpu += guest->seat.first_gpu;
        job->asked = job->task;
        if (letter.is_kernel)
            set_kernel(job, guest, &letter);
        else if (letter.is_carried)
            carry(job, guest, &letter);
        job->asked.launch = job->task.launch;
        while (*last)
            last = &(*last)->next;
        *last = job;
    }
    letter_begin_fini(&letter);
    return job;
}

void job_free(struct job *job)
{
    if (job->print)
        fclose(job->print);
    text_fini(&job->printed);
    gpu_kernel_stats_fini(&job->task.stats);
    mem_free(job->params);
    mem_free(job->places);
    mem_free(job->carried);
    mem_free(job);
}

bool job_has_news(struct job *job)
{
    if (job->print)
        fflush(job->print);
    return job->task.state != TASK_RUNNING || job->printed.length;
}

void job_tell(struct job *job, struct archive *archive)
{
    const struct task *task = &job->task;
    struct letter_news news = {.number = job->number,
                               .state = task->state,
                               .start_ps = task->start_ps,
                               .end_ps = task->end_ps,
                               .result = task->result,
                               .stats = task->stats};
    news.stats.profile = NULL;
    if (task->stats.profile)
        text_add_bytes(&news.profile, (const char *)task->stats.profile,
                       task->stats.profile_count * sizeof *task->stats.profile);
    news.printed = job->printed;
    job->printed = (struct text){0};
    if (task->state == TASK_DONE && job->carried_side == &task->to)
        job->bounce ? letter_put_rows(task, &task->to, job->bounce)
                    : letter_take_rows(task, &task->to, &news.bytes);
    letter_news_archive(&news, archive);
    letter_news_fini(&news);
}
