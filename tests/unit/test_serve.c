/* A machine in another process gets letters of random bytes, which harm nobody. Its results:
 * tests/cli/serve.sh. */
#include "check.h"
#include "base/rng.h"
#include "driver/driver.h"
#include "mailbox/letters.h"
#include "mailbox/door.h"
#include "serve/serve.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STRANGERS = 300 };

static char path[64];

static void load_system(struct system *system)
{
    static const char *const settings[] = {"gpu.sm_count=2", "l2.slices=4", "l2.islands=2", "l2.bytes=64KiB"};
    struct err err;
    assert_true(system_load(system, "", NULL, &err));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_true(system_set(system, settings[i], &err));
}

/* The machine's process, which ends when so many programs have come and gone. */
static pid_t start_machine(uint32_t programs, const _Atomic int *interrupt)
{
    pid_t child = fork();
    if (child)
        return child;
    struct system system;
    struct serve_counts counts;
    struct err err;
    load_system(&system);
    bool good = serve_run(
        &(struct serve_options){
            .path = path, .system = &system, .threads = 1, .programs = programs, .interrupt = interrupt},
        &counts, &err);
    system_fini(&system);
    _exit(good ? 0 : 1);
}

static bool enter(uint32_t wanted, struct seat *seat)
{
    struct err err;
    for (int tries = 0; tries < 1000; tries++) {
        if (door_enter(path, &(struct seat_wish){.seat = wanted}, seat, &err))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return false;
}

static void leave(struct seat *seat)
{
    close(seat->host.file);
    for (uint32_t i = 0; i < seat->gpu_count; i++)
        close(seat->gpus[i].file);
    seat_leave(seat);
}

static bool is_there(void *user)
{
    return seat_is_alive(user);
}

/* A letter of this kind with a body that is nearly one, or not at all. */
static void send_strange(struct seat *seat, struct rng *rng)
{
    enum letter_kind kind = (enum letter_kind)rng_below(rng, LETTER_KIND_COUNT);
    struct archive body = archive_writer();
    uint64_t words = rng_below(rng, 100);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word = rng_below(rng, 3) ? rng_below(rng, 4) : rng_next(rng);
        if (!rng_below(rng, 5))
            word = seat->gpus[0].at + rng_below(rng, 1 << 20);
        ARCHIVE_VALUE(&body, word);
    }
    letter_send(&seat->mailbox->to_machine, kind, &body, &(struct ring_patience){is_there, seat});
}

static void strange_letters_harm_nobody(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, "letters");
    pid_t machine = start_machine(0, NULL);
    for (int i = 0; i < STRANGERS; i++) {
        struct seat seat;
        assert_true(enter(SEAT_ANY, &seat));
        for (uint64_t letters = 1 + rng_below(&rng, 4); letters; letters--)
            send_strange(&seat, &rng);
        leave(&seat);
        int status;
        assert_int_equal(waitpid(machine, &status, WNOHANG), 0); /* it is still there */
    }
    kill(machine, SIGKILL);
    waitpid(machine, NULL, 0);
    char description[80];
    snprintf(description, sizeof description, "%s.ini", path);
    unlink(path);
    unlink(description);
}

static void a_machine_that_is_full_is_not_entered(void **state)
{
    (void)state;
    struct seat seat;
    pid_t machine = start_machine(1, NULL);
    assert_true(enter(0, &seat));
    struct seat second;
    struct err err;
    assert_false(door_enter(path, &(struct seat_wish){.seat = 0}, &second, &err));
    assert_non_null(strstr(err.text, "all programs that it was made for"));
    leave(&seat);
    int status;
    waitpid(machine, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_letters_harm_nobody),
        cmocka_unit_test(a_machine_that_is_full_is_not_entered),
    };
    snprintf(path, sizeof path, "serve-%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
