#include "serve/serve.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "serve/parts.h"
#include "system/untimed.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

static bool is_stopped(const struct serve *serve)
{
    return serve->options->interrupt && *serve->options->interrupt;
}

static void tell(const struct serve *serve, const struct guest *guest, const char *what, const char *why)
{
    struct text line = {0};
    text_add(&line, "program %u %s%s%s", guest->seat.number + 1, what, why ? ": " : "", why ? why : "");
    if (serve->options->tell)
        serve->options->tell(serve->options->user, line.at);
    text_fini(&line);
}

/* ---- who comes ---- */

static bool is_full(const struct serve *serve)
{
    return serve->options->programs && serve->counts.programs == serve->options->programs;
}

static void see_who_left(struct serve *serve);

static void welcome(struct serve *serve)
{
    struct seat_wish wish;
    const char *refusal;
    int visitor = door_answer(&serve->door, &wish);
    if (visitor < 0)
        return;
    see_who_left(serve); /* before he came: their seats are free */
    gang_share_plan(serve, &wish);
    struct guest *guest = gang_seat(serve, &wish, &refusal);
    struct seat_place place = {.node = gang_node(serve, &wish), .now_ps = machine_time(serve->machine)};
    struct err why;
    if (guest)
        place.number = (uint32_t)(guest - serve->guests);
    if (is_full(serve)) {
        door_refuse(visitor, "all programs that it was made for (--programs) have come");
    } else if (!guest) {
        door_refuse(visitor, refusal);
    } else if (door_seat(visitor, &place, &serve->plan, &guest->seat, &why)) {
        gang_came(serve, &wish, guest);
        guest_init(guest);
        guest->sm_count = (uint32_t)serve->options->system->gpu.sm_count;
        serve->counts.programs++;
        tell(serve, guest, "is attached", NULL);
    } else if (serve->options->tell) {
        serve->options->tell(serve->options->user, why.text);
    }
}

/* ---- who goes ---- */

static bool has_kernels(const struct guest *guest)
{
    for (const struct job *job = guest->jobs; job; job = job->next) {
        if (job->task.launch && job->begun && job->task.state == TASK_RUNNING)
            return true;
    }
    return false;
}

static void drop(struct serve *serve, struct guest *guest, const char *why)
{
    serve->messages_gone += 1 + atomic_load(&guest->seat.mailbox->messages);
    tell(serve, guest, why ? "is sent away" : "has gone", why);
    guest->state = GUEST_GONE;
}

/* Kernels of programs that have gone end at once, if no other program has any; else they run on, as nothing
 * can be ended on a GPU but all of it. */
static void end_orphans(struct serve *serve)
{
    bool orphans = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state != GUEST_GONE && has_kernels(guest))
            return;
        orphans |= guest->state == GUEST_GONE && has_kernels(guest);
    }
    if (orphans && !serve->options->untimed)
        machine_stop_kernels(serve->machine, "its program has gone");
}

/* Tasks that are over; of one who has gone also those that were not begun. */
static void free_ended(struct guest *guest)
{
    for (struct job **link = &guest->jobs, *job; (job = *link);) {
        if (job->task.state == TASK_RUNNING && (job->begun || guest->state != GUEST_GONE)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        job_free(job);
    }
}

/* Whether another program has opened memory of this one. */
static bool is_lender(struct serve *serve, const struct guest *owner)
{
    EACH_GUEST(guest, serve)
    {
        for (size_t i = 0; i < guest->opened_count; i++) {
            if (guest->opened[i].owner == owner)
                return true;
        }
    }
    return false;
}

/* Those that have gone and have nothing under way any more. */
static void clear_seats(struct serve *serve)
{
    end_orphans(serve);
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_GONE)
            free_ended(guest);
        if (guest->state == GUEST_GONE && !guest->jobs)
            guest->opened_count = 0;
        if (guest->state == GUEST_GONE && !guest->jobs && !is_lender(serve, guest)) {
            guest_fini(guest);
            serve->memory_changed = true;
        }
    }
}

/* ---- letters ---- */

struct listening {
    struct serve *serve;
    struct guest *guest;
};

/* While a program is waited for, others come. */
static bool listens_on(void *user)
{
    const struct listening *listening = user;
    listening->serve->letters_open++;
    welcome(listening->serve);
    listening->serve->letters_open--;
    return !is_stopped(listening->serve) && seat_is_alive(&listening->guest->seat);
}

static void tell_memory(struct serve *serve)
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
static void begin_jobs(struct serve *serve)
{
    tell_memory(serve);
    EACH_GUEST(guest, serve)
    {
        for (struct job *job = guest->jobs; job; job = job->next) {
            if (job->begun || job->task.state != TASK_RUNNING)
                continue;
            job->begun = true;
            *(job->task.launch ? &serve->counts.kernels : &serve->counts.copies) += 1;
            if (serve->options->begins)
                serve->options->begins(serve->options->user, &job->asked);
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
    tell_memory(serve);
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
    struct ring_patience patience = {listens_on, &listening};
    struct text text = {0};
    struct err err = {.text = "it sends what is no letter"};
    enum letter_kind kind = LETTER_BYE;
    bool good = letter_receive(&guest->seat.mailbox->to_machine, &kind, &text, &patience);
    struct archive body = archive_reader(text.at, text.length);
    if (!good || kind == LETTER_BYE) {
        drop(serve, guest, NULL);
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
            drop(serve, guest, err.text);
    }
    text_fini(&text);
}

/* ---- what was done ---- */

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
static void count_done(struct serve *serve)
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

/* ---- answers ---- */

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

static void answer(struct serve *serve, struct guest *guest, bool all, bool good, const struct err *err)
{
    struct listening listening = {serve, guest};
    struct ring_patience patience = {listens_on, &listening};
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
    free_ended(guest);
    guest->state = GUEST_RUNS;
    guest->woken = false;
    if (!letter_send(&guest->seat.mailbox->to_program, LETTER_PASS, &body, &patience))
        drop(serve, guest, NULL);
}

static bool wants_answer(const struct serve *serve, struct guest *guest)
{
    bool news = guest->woken || machine_time(serve->machine) >= guest->until_ps;
    for (struct job *job = guest->jobs; job; job = job->next)
        news |= job->task.state != TASK_RUNNING;
    return news;
}

/* Programs that were interrupted get what there is. */
static bool answer_stopped(struct serve *serve)
{
    struct err err = {.text = "interrupted"};
    bool some = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && atomic_load(&guest->seat.mailbox->stop)) {
            if (!serve->options->untimed)
                machine_look(serve->machine);
            answer(serve, guest, true, false, &err);
            some = true;
        }
    }
    return some;
}

static bool answer_waiting(struct serve *serve)
{
    bool some = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && wants_answer(serve, guest)) {
            answer(serve, guest, false, true, NULL);
            some = true;
        }
    }
    return some;
}

/* ---- time ---- */

static bool pass_time(struct serve *serve, struct err *err)
{
    uint64_t until = serve->until_ps, now = machine_time(serve->machine);
    struct err why = {{0}};
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && guest->until_ps < until)
            until = guest->until_ps;
    }
    tell_memory(serve);
    bool good = machine_pass(serve->machine, until == UINT64_MAX ? until : until - now, &why);
    if (good || machine_end(serve->machine) == MACHINE_GOES_ON)
        return true;
    if (!serve->options->untimed)
        machine_look(serve->machine);
    if (is_stopped(serve))
        err_set(&why, "the machine was stopped");
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS)
            answer(serve, guest, true, false, &why);
    }
    return is_stopped(serve) || err_set(err, "%.250s", why.text);
}

/* Letters that are there. Gives the first program that does not wait, and is waited for, or NULL. */
static struct guest *hear(struct serve *serve, bool *some)
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
            drop(serve, guest, NULL);
        if (guest->state == GUEST_RUNS && !guest->away && !running)
            running = guest;
    }
    return running;
}

static void see_who_left(struct serve *serve)
{
    bool some = false;
    if (serve->letters_open) /* one is half read, or half written */
        return;
    hear(serve, &some);
    clear_seats(serve);
}

static bool some_wait(const struct serve *serve)
{
    for (uint32_t i = 0; i < serve->seats; i++) {
        if (serve->guests[i].state == GUEST_WAITS)
            return true;
    }
    return false;
}

/* Others wait for a program that makes no call. True: no longer. */
static bool is_too_silent(struct serve *serve, struct guest *guest, double seconds)
{
    static const double tell_after = 10, until_away = 0.1;
    const struct serve_options *options = serve->options;
    if (!some_wait(serve))
        return false;
    bool waits_itself = atomic_load(&guest->seat.mailbox->is_away);
    if ((options->patience_s > 0 && seconds >= options->patience_s) ||
        (waits_itself && seconds >= until_away))
        return true;
    if (seconds > tell_after && !guest->told_silent)
        tell(serve, guest, "makes no call, and others wait for it (--patience lets time pass without it)",
             NULL);
    guest->told_silent |= seconds > tell_after;
    return false;
}

/* Ranks that wait for messages look for them, too, while another program is waited for: it may be in a call
 * of MPI that needs them. */
static void let_look(struct serve *serve)
{
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && guest->is_looking)
            answer(serve, guest, false, true, NULL);
    }
}

/* Until all programs wait that are there; false: none is. */
static bool hear_all(struct serve *serve)
{
    static const double look_again = 2e-4; /* seconds: another one may send a letter */
    static const unsigned turns = 5;       /* of these: then ranks look again */
    double since = host_seconds();
    unsigned turn = 0;
    for (struct guest *running; !is_stopped(serve);) {
        bool some = false;
        welcome(serve);
        running = hear(serve, &some);
        if (serve->heard_more)
            since = host_seconds();
        serve->heard_more = false;
        if (some) /* once more: what was sent before one of these letters is to be heard, too */
            continue;
        if (!running)
            break;
        if (is_too_silent(serve, running, host_seconds() - since)) {
            running->away = true;
            continue;
        }
        ring_wait(&running->seat.mailbox->to_machine, look_again);
        if (++turn % turns == 0)
            let_look(serve);
    }
    return some_wait(serve);
}

static bool is_over(const struct serve *serve)
{
    if (!is_full(serve))
        return false;
    for (uint32_t i = 0; i < serve->seats; i++) {
        if (serve->guests[i].state == GUEST_RUNS || serve->guests[i].state == GUEST_WAITS)
            return false;
    }
    return true;
}

/* Those that wait for messages look for them, before time passes. */
static bool answer_looking(struct serve *serve)
{
    struct guest *next = gang_next_look(serve);
    if (next)
        answer(serve, next, false, true, NULL);
    return next;
}

/* Nothing is under way in the machine, and only messages can go on. */
static bool wait_for_messages(struct serve *serve)
{
    static const struct timespec a_while = {.tv_nsec = 1000 * 1000};
    if (serve_is_busy(serve) || !gang_all_look(serve))
        return false;
    nanosleep(&a_while, NULL);
    let_look(serve);
    return true;
}

static bool work(struct serve *serve, struct err *err)
{
    while (!is_stopped(serve) && !is_over(serve)) {
        welcome(serve);
        clear_seats(serve);
        bool ready = (!serve->options->programs || is_full(serve)) && gang_are_complete(serve);
        if (!ready || !hear_all(serve)) {
            poll(&(struct pollfd){.fd = serve->door.socket, .events = POLLIN}, 1, 100);
            continue;
        }
        if (gang_note_messages(serve))
            continue;
        begin_jobs(serve);
        count_done(serve);
        if (!answer_stopped(serve) && !answer_waiting(serve) && !answer_looking(serve) &&
            !wait_for_messages(serve) && !pass_time(serve, err))
            return false;
    }
    return true;
}

/* Beside the socket, where programs that attach find it. */
static bool write_description(const struct serve *serve, struct err *err)
{
    const struct system *system = serve->options->system;
    struct file_writer writer;
    struct text text = {0};
    if (!serve->door.is_stale && access(serve->description.at, F_OK) == 0)
        return err_set(err, "%s is there already, and the description of the machine goes there",
                       serve->description.at);
    if (!file_open(&writer, serve->description.at, err))
        return false;
    config_dump_marked(&system->config, system->inherited, &text);
    fputs(text.at, writer.stream);
    text_fini(&text);
    return file_close(&writer, err);
}

static void note_progress(void *user, const struct machine_progress *progress)
{
    struct serve *serve = user;
    serve->progress = *progress;
}

static void close_all(struct serve *serve)
{
    serve->counts.time_ps = machine_time(serve->machine);
    machine_free(serve->machine);
    EACH_GUEST(guest, serve)
    {
        while (guest->jobs) {
            struct job *job = guest->jobs;
            guest->jobs = job->next;
            job_free(job);
        }
        guest_fini(guest);
    }
}

/* With the door open. */
static bool make_machine(struct serve *serve, struct err *err)
{
    struct machine_options machine = {.threads = serve->options->threads,
                                      .interrupt = serve->options->interrupt,
                                      .caches = serve->options->caches,
                                      .progress = note_progress,
                                      .user = serve};
    if (!write_description(serve, err))
        return false;
    serve->machine = serve->options->untimed ? machine_untimed_new(&machine)
                                             : machine_new(serve->options->system, &machine, err);
    if (!serve->machine)
        unlink(serve->description.at);
    return serve->machine;
}

/* A quarter of a seat's part is for the host's memory, the rest for the GPUs'. */
static void plan_window(struct serve *serve)
{
    static const uint64_t unit = UINT64_C(2) << 20;
    const struct serve_window *window = serve->options->window;
    struct seat_plan *plan = &serve->plan;
    uint64_t part = window->bytes / window->seats / unit * unit;
    serve->window = (struct seat_window){.file = window->file,
                                         .first = window->first,
                                         .seat_bytes = part,
                                         .bell_offset = window->bell_offset,
                                         .bell_value = window->bell_value};
    plan->window = &serve->window;
    plan->host_bytes = part / 4 / unit * unit;
    plan->gpu_bytes = (part - SEAT_HEAD_BYTES - plan->host_bytes) / plan->gpu_count / unit * unit;
}

static bool make_plan(struct serve *serve, struct err *err)
{
    const struct serve_options *options = serve->options;
    const struct system *system = options->system;
    if (system->spec.unified && system->spec.gpus > 1)
        return err_set(err, "system.unified: programs cannot share a unified GPU (heddle serve) yet");
    serve->plan = (struct seat_plan){.host_bytes = SEAT_WINDOW,
                                     .gpu_bytes = SEAT_GPU_BYTES(system->gpu.memory),
                                     .step = SEAT_WINDOW,
                                     .gpu_count = system_node_devices(system)};
    serve->plan.untimed = options->untimed;
    if (options->window)
        plan_window(serve);
    uint32_t most = seat_plan_most(&serve->plan);
    most = most < SEATS_USUAL ? most : SEATS_USUAL;
    serve->seats = options->programs ? options->programs : options->window ? options->window->seats : most;
    return (serve->seats && serve->seats <= most) ||
           err_set(err, "%u programs with %u GPUs of %llu GiB each have no room in the host's addresses",
                   serve->seats ? serve->seats : 1, serve->plan.gpu_count,
                   (unsigned long long)(system->gpu.memory >> 30));
}

struct serve *serve_new(const struct serve_options *options, struct err *err)
{
    struct serve *serve = mem_alloc(1, sizeof *serve);
    serve->options = options;
    serve->until_ps = UINT64_MAX;
    text_add(&serve->description, "%s.ini", options->path);
    if (make_plan(serve, err) && door_open(&serve->door, options->path, err)) {
        if (make_machine(serve, err))
            return serve;
        door_close(&serve->door);
    }
    text_fini(&serve->description);
    mem_free(serve);
    return NULL;
}

void serve_free(struct serve *serve, struct serve_counts *counts)
{
    close_all(serve);
    unlink(serve->description.at);
    door_close(&serve->door);
    text_fini(&serve->description);
    *counts = serve->counts;
    mem_free(serve);
}

bool serve_run(const struct serve_options *options, struct serve_counts *counts, struct err *err)
{
    struct serve *serve = serve_new(options, err);
    *counts = (struct serve_counts){0};
    if (!serve)
        return false;
    bool good = work(serve, err);
    serve_free(serve, counts);
    return good;
}

/* ---- step by step ---- */

bool serve_take_turn(struct serve *serve, uint64_t until_ps, enum serve_turn *turn, struct err *err)
{
    bool some = false;
    struct guest *running = hear(serve, &some);
    *turn = some ? SERVE_WORKED : SERVE_IDLE;
    if (some)
        return true;
    if (running || !some_wait(serve)) {
        welcome(serve);
        clear_seats(serve);
        return true;
    }
    *turn = SERVE_WORKED;
    begin_jobs(serve);
    count_done(serve);
    gang_note_messages(serve);
    if (answer_stopped(serve) || answer_waiting(serve) || answer_looking(serve))
        return true;
    if (machine_time(serve->machine) >= until_ps) {
        *turn = SERVE_BEHIND;
        return true;
    }
    serve->until_ps = until_ps;
    return pass_time(serve, err);
}

uint64_t serve_time(const struct serve *serve)
{
    return machine_time(serve->machine);
}

bool serve_is_busy(struct serve *serve)
{
    EACH_GUEST(guest, serve)
    {
        for (const struct job *job = guest->jobs; job; job = job->next) {
            if (job->task.state == TASK_RUNNING)
                return true;
        }
    }
    return false;
}

/* Tasks of a program that makes no call have ended: it begins what waited for them before time goes on. */
static void let_follow(struct serve *serve, struct guest *guest)
{
    struct gate *followed = &guest->seat.mailbox->followed;
    uint32_t ends = gate_number(&guest->seat.mailbox->ended) + 1;
    enum serve_turn turn;
    struct err err;
    gate_set(&guest->seat.mailbox->ended, ends);
    while (gate_number(followed) != ends && (guest->state == GUEST_RUNS || guest->state == GUEST_WAITS) &&
           !is_stopped(serve) && seat_is_alive(&guest->seat)) {
        if (!serve_take_turn(serve, machine_time(serve->machine), &turn, &err))
            return;
        if (turn == SERVE_IDLE)
            ring_wait(&guest->seat.mailbox->to_machine, 2e-5);
    }
}

/* All that was sent before now begins. */
static void begin_heard(struct serve *serve)
{
    bool some = true;
    while (some) {
        some = false;
        hear(serve, &some);
    }
    if (serve_is_busy(serve))
        begin_jobs(serve);
}

static bool has_ended_tasks(const struct guest *guest)
{
    for (const struct job *job = guest->jobs; job; job = job->next) {
        if (job->task.state != TASK_RUNNING)
            return true;
    }
    return false;
}

bool serve_let_on(struct serve *serve, uint64_t time_ps)
{
    struct err err;
    begin_heard(serve);
    bool had_work = serve_is_busy(serve);
    for (uint64_t now; serve_is_busy(serve) && (now = machine_time(serve->machine)) < time_ps;
         begin_heard(serve)) {
        /* A machine that broke tells the program when it waits next. */
        if (!machine_pass(serve->machine, time_ps - now, &err))
            return had_work;
        EACH_GUEST(guest, serve)
        {
            if (guest->state == GUEST_RUNS && has_ended_tasks(guest))
                let_follow(serve, guest);
        }
    }
    return had_work;
}
