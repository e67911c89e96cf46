/* Letters of programs, and what they ask for. */
#include "base/mem.h"
#include "serve/parts.h"

/* While a program is waited for, others come. */
bool serve_listens_on(void *user)
{
    const struct listening *listening = user;
    listening->serve->letters_open++;
    serve_welcome(listening->serve);
    listening->serve->letters_open--;
    return !serve_is_stopped(listening->serve) && seat_is_alive(&listening->guest->seat);
}

void serve_tell_memory(struct serve *serve)
{
    struct memory_range *all = NULL;
    uint32_t count = 0;
    if (!serve->memory_changed)
        return;
    serve->memory_changed = false;
    EACH_GUEST(guest, serve)
    {
        all = mem_resize(all, count, count + guest->range_count + 1, sizeof *all);
        if (guest->range_count)
            memcpy(all + count, guest->ranges, guest->range_count * sizeof *all);
        count += guest->range_count;
    }
    machine_set_memory(serve->machine, all, count);
    mem_free(all);
}

/* What programs asked for at this moment, in the order of their seats: it does not depend on whose letters
 * came first. */
void serve_begin_jobs(struct serve *serve)
{
    serve_tell_memory(serve);
    EACH_GUEST(guest, serve)
    {
        for (struct job *job = guest->jobs; job; job = job->next) {
            if (job->begun || job->task.state != TASK_RUNNING)
                continue;
            job->begun = true;
            *(job->task.launch ? &serve->counts.kernels : &serve->counts.copies) += 1;
            if (serve->options->begins)
                serve->options->begins(serve->options->user, &job->asked);
            job_find_after(guest, job);
            machine_begin(serve->machine, &job->task);
        }
    }
}

/* What the letter asks for, of these bytes. */
static void sync_range(struct serve *serve, const struct letter_sync *letter, uint64_t at, uint64_t bytes)
{
    uint64_t from = letter->at > at ? letter->at : at;
    uint64_t asked = letter->at + letter->bytes < letter->at ? UINT64_MAX : letter->at + letter->bytes;
    uint64_t to = asked < at + bytes ? asked : at + bytes;
    if (from < to)
        machine_sync_memory(serve->machine, from, to - from, (enum memory_use)letter->use);
}

static bool sync_memory(struct serve *serve, struct guest *guest, struct archive *body,
                        const struct ring_patience *patience)
{
    struct letter_sync letter = {0};
    struct archive answer = archive_writer();
    letter_sync_archive(&letter, body);
    if (!archive_at_end(body) || letter.use > MEMORY_TAKEN_OVER)
        return false;
    serve_tell_memory(serve);
    /* of all memory means of all that is its own, or that it has opened */
    for (uint32_t i = 0; i < guest->range_count; i++)
        sync_range(serve, &letter, guest->ranges[i].at, guest->ranges[i].bytes);
    for (size_t i = 0; i < guest->opened_count; i++)
        sync_range(serve, &letter, guest->opened[i].at, guest->opened[i].bytes);
    return letter_send(&guest->seat.mailbox->to_program, LETTER_SYNC, &answer, patience);
}

static bool wait_for_time(struct serve *serve, struct guest *guest, struct archive *body)
{
    uint64_t ps = 0, now = machine_time(serve->machine);
    ARCHIVE_VALUE(body, ps);
    guest->until_ps = now + ps < now ? UINT64_MAX : now + ps;
    guest->state = GUEST_WAITS;
    return archive_at_end(body);
}

/* ---- what programs share ---- */

/* One that nobody has (its owner may just have gone) is not opened, and kernels that touch it fail. */
static bool open_memory(struct serve *serve, struct guest *opener, struct archive *body)
{
    struct letter_open letter = {0};
    letter_open_archive(&letter, body);
    EACH_GUEST(guest, serve)
    {
        for (uint32_t gpu = 0; gpu < guest->seat.gpu_count && guest != opener; gpu++) {
            if (seat_holds(&guest->seat.gpus[gpu], letter.at, letter.bytes))
                guest_open(opener,
                           &(struct opened){guest, guest->seat.first_gpu + gpu, letter.at, letter.bytes});
        }
    }
    return archive_at_end(body);
}

static bool close_memory(struct guest *guest, struct archive *body)
{
    uint64_t at = 0;
    ARCHIVE_VALUE(body, at);
    guest_close(guest, at);
    return archive_at_end(body);
}

static bool wake_others(struct serve *serve, const struct guest *from)
{
    EACH_GUEST(guest, serve)
    guest->woken |= guest != from;
    return true;
}

/* The next letter of a program that runs. */
static void take_letter(struct serve *serve, struct guest *guest)
{
    struct listening listening = {serve, guest};
    struct ring_patience patience = {serve_listens_on, &listening};
    struct text text = {0};
    struct err err = {.text = "it sends what is no letter"};
    enum letter_kind kind = LETTER_BYE;
    bool good = letter_receive(&guest->seat.mailbox->to_machine, &kind, &text, &patience);
    struct archive body = archive_reader(text.at, text.length);
    if (!good || kind == LETTER_BYE) {
        serve_drop(serve, guest, NULL);
    } else {
        if (kind == LETTER_BEGIN)
            good = job_new(guest, &text);
        else if (kind == LETTER_SYNC)
            good = sync_memory(serve, guest, &body, &patience);
        else if (kind == LETTER_PASS)
            good = wait_for_time(serve, guest, &body);
        else if (kind == LETTER_TURN)
            good = gang_take_turn(guest, &body);
        else if (kind == LETTER_OPEN)
            good = open_memory(serve, guest, &body);
        else if (kind == LETTER_CLOSE)
            good = close_memory(guest, &body);
        else if (kind == LETTER_SIGNAL)
            good = wake_others(serve, guest);
        else
            good = guest_take_letter(guest, kind, &text, &err);
        guest->is_looking &= kind == LETTER_TURN;
        serve->heard_more |= kind != LETTER_TURN;
        serve->memory_changed |= kind == LETTER_MEMORY;
        if (!good)
            serve_drop(serve, guest, err.text);
    }
    text_fini(&text);
}

/* ---- all that is there ---- */

/* Letters that are there. Gives the first program that does not wait, and is waited for, or NULL. */
struct guest *serve_hear(struct serve *serve, bool *some)
{
    struct guest *running = NULL;
    EACH_GUEST(guest, serve)
    {
        while (guest->state == GUEST_RUNS && !ring_is_empty(&guest->seat.mailbox->to_machine)) {
            take_letter(serve, guest);
            guest->away = false;
            *some = true;
        }
        if (guest->state == GUEST_RUNS && !seat_is_alive(&guest->seat) &&
            ring_is_empty(&guest->seat.mailbox->to_machine))
            serve_drop(serve, guest, NULL);
        if (guest->state == GUEST_RUNS && !guest->away && !running)
            running = guest;
    }
    return running;
}
