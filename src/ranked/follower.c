/* The others' side: each order is a call of this rank's part of the machine. */
#include "ranked/ranked.h"
#include "base/log.h"
#include "base/mem.h"
#include "ranked/follower.h"
#include "system/owned.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the machine ---- */

/* Descriptions are read from files. */
static bool load_system(struct system *system, const struct text *config, struct err *err)
{
    struct text path = {0};
    int file = memfd_create("system", MFD_CLOEXEC);
    bool good = file >= 0 && write(file, config->at, config->length) == (ssize_t)config->length;
    if (!good)
        err_set(err, "no room for the description of the system: %s", strerror(errno));
    text_add(&path, "/proc/self/fd/%d", file);
    good = good && system_load(system, path.at, NULL, err);
    if (good && !system_check(system, err)) {
        system_fini(system);
        good = false;
    }
    text_fini(&path);
    if (file >= 0)
        close(file);
    return good;
}

static bool begin_machine(struct follower *follower, struct archive *body, struct err *err)
{
    struct told_machine order = {0};
    told_machine_archive(&order, body);
    bool good = body->good && (order.layout == letters_layout() ||
                               err_set(err, "this rank runs another build of Heddle than the leading one"));
    good = good && load_system(&follower->system, &order.config, err);
    struct machine_options options = {.threads = (unsigned)order.threads,
                                      .wishes = order.wishes,
                                      .ranks = follower->ranks,
                                      .measures = order.measures,
                                      .checkpoint = {.write = order.writes ? "" : NULL,
                                                     .at_cycles = order.checkpoint_at,
                                                     .every_cycles = order.checkpoint_every,
                                                     .stop = order.stops,
                                                     .resume = order.resumes ? "" : NULL,
                                                     .resumed = &follower->resumed}};
    follower->resumed = order.resumed;
    follower->placement = order.placement;
    follower->placed_by = order.placed_by;
    order.resumed = order.placement = order.placed_by = (struct text){0};
    options.placement = follower->placement.at;
    options.placed_by = order.is_placed ? &follower->placed_by : NULL;
    if (good) {
        follower_init_program(follower);
        follower->machine = machine_new(&follower->system, &options, err);
        good = follower->machine;
    }
    told_machine_fini(&order);
    return good;
}

static void end_machine(struct follower *follower)
{
    if (!follower->machine)
        return;
    machine_free(follower->machine);
    follower->machine = NULL;
    follower_fini_program(follower);
    text_fini(&follower->resumed);
    text_fini(&follower->placement);
    text_fini(&follower->placed_by);
    system_fini(&follower->system);
}

/* ---- orders ---- */

static bool set_memory(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_memory letter = {0};
    letter_memory_archive(&letter, body);
    const struct memory_range *ranges = (const void *)letter.ranges.at;
    uint32_t count = (uint32_t)(letter.ranges.length / sizeof *ranges);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t home = physical_home(ranges[i].to);
        bool is_of_gpu = home != HOME_HOST && !physical_is_managed(ranges[i].to.packed);
        good = !is_of_gpu || mirror_open(&follower->mirror, (uintptr_t)ranges[i].host, ranges[i].bytes, err);
    }
    if (good)
        machine_set_memory(follower->machine, ranges, count);
    text_fini(&letter.ranges);
    return good;
}

static bool set_limit(struct follower *follower, struct archive *body, struct err *err)
{
    uint64_t cycles = 0;
    (void)err;
    ARCHIVE_VALUE(body, cycles);
    machine_set_limit(follower->machine, cycles);
    return true;
}

static bool sync_memory(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_sync letter = {0};
    letter_sync_archive(&letter, body);
    enum memory_use use = (enum memory_use)letter.use;
    machine_sync_memory(follower->machine, letter.at, letter.bytes, use);
    return use == MEMORY_GIVEN_BACK || use == MEMORY_DROPPED ||
           owned_fetch(follower->ranks, follower->machine, letter.at, letter.bytes, err);
}

static bool bring(struct follower *follower, struct archive *body, struct err *err)
{
    struct letter_open letter = {0};
    letter_open_archive(&letter, body);
    return owned_bring(follower->ranks, follower->machine, letter.at, letter.bytes, err);
}

/* What goes wrong in time is known to the leader, too, who tells it. */
static bool pass(struct follower *follower, struct archive *body, struct err *err)
{
    uint64_t ps = 0;
    struct err unused;
    (void)err;
    ARCHIVE_VALUE(body, ps);
    if (!machine_pass(follower->machine, ps, &unused) && machine_end(follower->machine) != MACHINE_GOES_ON)
        log_info("the machine ends: %s", unused.text);
    follower_drop_ended(follower, false);
    return true;
}

static bool links(struct follower *follower, struct archive *body, struct err *err)
{
    (void)body, (void)err;
    struct machine_link unused;
    machine_links(follower->machine, &unused, 0);
    return true;
}

/* What happens here is told by the leader. */
static bool listen(struct follower *follower, struct archive *body, struct err *err)
{
    uint64_t kinds = 0;
    ARCHIVE_VALUE(body, kinds);
    return machine_listen(follower->machine, &(struct probe){.kinds = (uint32_t)kinds}, err);
}

static bool write_load(struct follower *follower, struct archive *body, struct err *err)
{
    (void)body;
    return machine_write_load(follower->machine, NULL, err);
}

static bool interrupted(struct follower *follower, struct archive *body, struct err *err)
{
    struct err unused;
    (void)body, (void)err;
    machine_interrupted(follower->machine, &unused);
    return true;
}

static bool manage(struct follower *follower, struct archive *body, struct err *err)
{
    struct managed_order order;
    (void)err;
    ARCHIVE_VALUE(body, order);
    machine_manage(follower->machine, &order);
    return true;
}

static bool end(struct follower *follower, struct archive *body, struct err *err)
{
    (void)body, (void)err;
    end_machine(follower);
    return true;
}

static bool dismiss(struct follower *follower, struct archive *body, struct err *err)
{
    (void)body, (void)err;
    follower->is_dismissed = true;
    return true;
}

static bool follow(struct follower *follower, const struct text *order, struct err *err)
{
    static bool (*const takers[ORDER_COUNT])(struct follower *, struct archive *, struct err *) = {
        [ORDER_MACHINE] = begin_machine,
        [ORDER_END] = end,
        [ORDER_DISMISS] = dismiss,
        [ORDER_LOAD] = follower_load,
        [ORDER_UNLOAD] = follower_unload,
        [ORDER_RANGE] = follower_add_range,
        [ORDER_RANGE_GONE] = follower_remove_range,
        [ORDER_SPARE] = follower_set_spare,
        [ORDER_TEXTURE] = follower_set_texture,
        [ORDER_TEXTURE_GONE] = follower_remove_texture,
        [ORDER_MEMORY] = set_memory,
        [ORDER_HEAP] = follower_set_heap,
        [ORDER_LIMIT] = set_limit,
        [ORDER_BEGIN] = follower_begin,
        [ORDER_SYNC] = sync_memory,
        [ORDER_PASS] = pass,
        [ORDER_LINKS] = links,
        [ORDER_LISTEN] = listen,
        [ORDER_WRITE_LOAD] = write_load,
        [ORDER_INTERRUPTED] = interrupted,
        [ORDER_BRING] = bring,
        [ORDER_MANAGE] = manage,
    };
    struct archive body = archive_reader(order->at, order->length);
    uint64_t kind = archive_number(&body, 0, UINT64_MAX);
    bool makes_sense =
        body.good && kind < ORDER_COUNT &&
        (follower->machine || kind == ORDER_MACHINE || kind == ORDER_END || kind == ORDER_DISMISS);
    err_set(err, "an order of the leading rank makes no sense here");
    return makes_sense && takers[kind](follower, &body, err) && body.good;
}

bool ranked_follow(struct ranks *ranks, struct err *err)
{
    struct follower follower = {.ranks = ranks};
    struct text letter = {0}, order = {0};
    bool good = true;
    while (good && !follower.is_dismissed) {
        good = ranks_broadcast(ranks, 0, &letter, err);
        struct archive orders = archive_reader(letter.at, letter.length);
        while (good && orders.at < orders.end) {
            archive_text(&orders, &order);
            good = follow(&follower, &order, err);
        }
    }
    end_machine(&follower);
    text_fini(&letter);
    text_fini(&order);
    return good;
}
