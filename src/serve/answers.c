/* Programs that wait hear what was done. */
#include "serve/parts.h"

static void count_job(struct serve_live *live, struct job *job)
{
    const struct task *task = &job->task;
    job->counted = true;
    if (task->launch) {
        live->kernels++;
        live->warp_instructions += task->result.warp_instructions;
        live->kernel_ps += task->end_ps - task->start_ps;
    } else {
        live->copies++;
        live->copied_bytes += task->width * task->height * task->depth;
    }
}

/* Before programs hear of it, so that whoever knows that a kernel has ended finds it counted. */
void serve_count_done(struct serve *serve)
{
    struct serve_live *live = serve->options->live;
    if (!live)
        return;
    live->programs = serve->counts.programs;
    live->time_ps = machine_time(serve->machine);
    EACH_GUEST(guest, serve)
    {
        for (struct job *job = guest->jobs; job; job = job->next) {
            if (job->begun && !job->counted && job->task.state != TASK_RUNNING)
                count_job(live, job);
        }
    }
}

/* Nothing of malloc's is in use by kernels of a GPU that runs none. */
static void settle_heaps(const struct guest *guest)
{
    for (uint32_t i = 0; i < guest->seat.gpu_count; i++) {
        bool busy = false;
        for (const struct job *job = guest->jobs; job; job = job->next)
            busy |= job->task.launch && job->task.gpu == guest->seat.first_gpu + i &&
                    job->task.state == TASK_RUNNING;
        if (!busy && guest->gpus[i].heap)
            heap_settle(guest->gpus[i].heap);
    }
}

void serve_answer(struct serve *serve, struct guest *guest, bool all, bool good, const struct err *err)
{
    struct listening listening = {serve, guest};
    struct ring_patience patience = {serve_listens_on, &listening};
    struct archive body = archive_writer();
    struct letter_passed passed = {.now_ps = machine_time(serve->machine),
                                   .good = good,
                                   .end = good ? MACHINE_GOES_ON : MACHINE_BROKEN,
                                   .progress = serve->progress};
    if (!good)
        passed.err = *err;
    for (struct job *job = guest->jobs; job; job = job->next)
        passed.news += all || job_has_news(job);
    letter_passed_archive(&passed, &body);
    for (struct job *job = guest->jobs; job; job = job->next) {
        if (all || job_has_news(job))
            job_tell(job, &body);
    }
    settle_heaps(guest);
    serve_free_ended(guest);
    guest->state = GUEST_RUNS;
    guest->woken = false;
    if (!letter_send(&guest->seat.mailbox->to_program, LETTER_PASS, &body, &patience))
        serve_drop(serve, guest, NULL);
}

static bool wants_answer(const struct serve *serve, struct guest *guest)
{
    bool news = guest->woken || machine_time(serve->machine) >= guest->until_ps;
    for (struct job *job = guest->jobs; job; job = job->next)
        news |= job->task.state != TASK_RUNNING;
    return news;
}

/* Programs that were interrupted get what there is. */
bool serve_answer_stopped(struct serve *serve)
{
    struct err err = {.text = "interrupted"};
    bool some = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && atomic_load(&guest->seat.mailbox->stop)) {
            if (!serve->options->untimed)
                machine_look(serve->machine);
            serve_answer(serve, guest, true, false, &err);
            some = true;
        }
    }
    return some;
}

bool serve_answer_waiting(struct serve *serve)
{
    bool some = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && wants_answer(serve, guest)) {
            serve_answer(serve, guest, false, true, NULL);
            some = true;
        }
    }
    return some;
}

/* Ranks that wait for messages look for them, too, while another program is waited for: it may be in a call
 * of MPI that needs them. */
void serve_let_look(struct serve *serve)
{
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && guest->is_looking)
            serve_answer(serve, guest, false, true, NULL);
    }
}

/* Those that wait for messages look for them, before time passes. */
bool serve_answer_looking(struct serve *serve)
{
    struct guest *next = gang_next_look(serve);
    if (next)
        serve_answer(serve, next, false, true, NULL);
    return next;
}
