/* Tasks: begun by a letter, ended by news in the answers to PASS. */
#include "attach/parts.h"
#include "base/mem.h"

/* ---- copies whose host side the machine does not see ---- */

static bool is_seen(const struct attach *attach, const struct task *task, const struct task_side *side)
{
    const struct seat_memory *host = &attach->seat.host;
    return !side->is_host ||
           (side->at >= host->at && side->at + letter_side_bytes(task, side) <= host->at + host->bytes);
}

/* The side that is carried in letters; or NULL. Copies from host to host are not the machine's. */
static const struct task_side *carried_side(const struct attach *attach, const struct task *task)
{
    if (task->launch)
        return NULL;
    if (!task->is_fill && !is_seen(attach, task, &task->from))
        return &task->from;
    return is_seen(attach, task, &task->to) ? NULL : &task->to;
}

/* Where there is such memory and room in it, bytes of a copy are not sent, but put there, or found there when
 * the copy has ended. All of it is free when no such copy is under way. */
static void take_bounce(struct attach *attach, struct task *task)
{
    uint64_t bytes = letter_row_bytes(task);
    task->bounce = 0;
    if (!attach->bounced)
        attach->bounce_next = 0;
    if (!attach->seat.bounce || bytes > SEAT_BOUNCE_BYTES - attach->bounce_next)
        return;
    task->bounce = attach->bounce_next + 1;
    attach->bounce_next += bytes;
    attach->bounced++;
}

static void give_bounce(struct attach *attach, struct task *task)
{
    attach->bounced -= task->bounce != 0;
    task->bounce = 0;
}

/* ---- begin ---- */

void attach_begin(struct machine *machine, struct task *task)
{
    struct attach *attach = (struct attach *)machine;
    struct task **last = &attach->running;
    struct letter_begin letter = {.number = ++attach->tasks, .task = *task};
    const struct task_side *carried = carried_side(attach, task);
    if (carried)
        take_bounce(attach, task);
    letter.task.bounce = carried ? task->bounce : 0;
    struct archive body = archive_writer();
    task_add_wishes(&letter.task, &attach->options.wishes);
    task->state = TASK_RUNNING;
    task->start_ps = attach->now_ps;
    task->number = letter.number;
    task->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = task;
    if (task->launch)
        letter_fill_kernel(&letter, task->launch);
    letter.is_carried = carried;
    if (carried == &task->from && task->bounce)
        letter_put_rows(task, carried, attach->seat.bounce + task->bounce - 1);
    else if (carried == &task->from)
        letter_take_rows(task, carried, &letter.bytes);
    letter_begin_archive(&letter, &body);
    letter_begin_fini(&letter);
    attach_post(attach, LETTER_BEGIN, &body);
}

/* ---- news ---- */

static void take_profile(struct gpu_kernel_stats *stats, const struct text *profile)
{
    stats->profile = NULL;
    stats->profile_count = (uint32_t)(profile->length / sizeof *stats->profile);
    if (stats->profile_count) {
        stats->profile = mem_alloc(stats->profile_count, sizeof *stats->profile);
        memcpy(stats->profile, profile->at, stats->profile_count * sizeof *stats->profile);
    }
}

static void take_news(struct attach *attach, struct task *task, struct letter_news *news)
{
    if (news->printed.length && task->launch)
        fwrite(news->printed.at, 1, news->printed.length, task->launch->print);
    const struct task_side *carried = carried_side(attach, task);
    struct text bounced = {.length = letter_row_bytes(task)};
    if (carried && task->bounce)
        bounced.at = attach->seat.bounce + task->bounce - 1;
    if (news->state == TASK_DONE && carried == &task->to)
        letter_give_rows(task, carried, bounced.at ? &bounced : &news->bytes);
    if (carried && news->state != TASK_RUNNING)
        give_bounce(attach, task);
    gpu_kernel_stats_fini(&task->stats);
    task->state = (enum task_state)news->state;
    task->start_ps = news->start_ps;
    task->end_ps = news->end_ps;
    task->result = news->result;
    task->stats = news->stats;
    take_profile(&task->stats, &news->profile);
}

static void read_news(struct attach *attach, struct archive *body)
{
    struct letter_news news = {0};
    letter_news_archive(&news, body);
    struct task **link = &attach->running;
    while (*link && (*link)->number != news.number)
        link = &(*link)->next;
    if (body->good && *link) {
        struct task *task = *link;
        take_news(attach, task, &news);
        if (task->state != TASK_RUNNING)
            *link = task->next;
    }
    letter_news_fini(&news);
}

static bool broken(struct attach *attach, struct err *err)
{
    attach->end = MACHINE_BROKEN;
    attach->gone = true;
    return err_set(err, "the machine at %s has gone", attach->path);
}

static bool read_answer(struct attach *attach, const struct text *answer, struct err *err)
{
    struct letter_passed passed = {0};
    struct archive body = archive_reader(answer->at, answer->length);
    letter_passed_archive(&passed, &body);
    for (uint64_t i = 0; i < passed.news && body.good; i++)
        read_news(attach, &body);
    if (!body.good)
        return broken(attach, err);
    attach->now_ps = passed.now_ps;
    attach->end = (enum machine_end)passed.end;
    if (attach->options.progress)
        attach->options.progress(attach->options.user, &passed.progress);
    if (!passed.good)
        *err = passed.err;
    return passed.good;
}

bool attach_pass(struct machine *machine, uint64_t ps, struct err *err)
{
    struct attach *attach = (struct attach *)machine;
    struct archive body = archive_writer();
    struct text answer = {0};
    enum letter_kind kind;
    ARCHIVE_VALUE(&body, ps);
    attach_post(attach, LETTER_PASS, &body);
    bool good = !attach->gone &&
                letter_receive(&attach->seat.mailbox->to_program, &kind, &answer, &attach->waiting) &&
                kind == LETTER_PASS;
    good = good ? read_answer(attach, &answer, err) : broken(attach, err);
    text_fini(&answer);
    return good;
}
