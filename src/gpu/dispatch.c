/* The dispatcher as a component. It tracks the free resources of each SM, sends orders, and is notified of
 * ends. */
#include "gpu/dispatch.h"
#include "base/archive.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

PARAM_GROUP(dispatch_params, "dispatch", "how blocks come to SMs", dispatch_spec, DISPATCH_PARAMS,
            SHOWS_IN_TIME);

enum { ORDER_GPC, ORDER_ROUND_ROBIN, ORDER_STATIC, MOST_GPCS = DISPATCH_GPCS_MOST + 1 };

uint32_t dispatch_read_gpcs(const char *text, struct dispatch_gpc gpcs[static MOST_GPCS])
{
    uint32_t count = 0;
    while (*text && count < MOST_GPCS) {
        char *end;
        struct dispatch_gpc *gpc = &gpcs[count++];
        *gpc = (struct dispatch_gpc){.sms = (uint32_t)strtoul(text, &end, 10)};
        if (*end == '+' && end != text)
            gpc->late = (uint32_t)strtoul(end + 1, &end, 10);
        if (end == text || (*end && *end != ' '))
            return MOST_GPCS;
        text = end + strspn(end, " ");
    }
    return count;
}

bool dispatch_check(const struct dispatch_spec *spec, struct err *err)
{
    struct dispatch_gpc gpcs[MOST_GPCS];
    if (dispatch_read_gpcs(spec->gpcs, gpcs) == MOST_GPCS)
        return err_set(
            err, "dispatch.gpcs: expected numbers of SMs, such as 16 16 8+8, for at most %d GPCs, not '%s'",
            MOST_GPCS - 1, spec->gpcs);
    return true;
}

/* SMs are numbered by TPCs, of one GPC after another in turn; late ones when all others have their numbers.
 * Fills in the GPC of each, `count` where there is none. Gives the first late one. */
static uint32_t number_sms(const struct dispatch_spec *spec, uint32_t sm_count, uint8_t *gpc_of,
                           uint32_t *count)
{
    struct dispatch_gpc gpcs[MOST_GPCS];
    uint32_t number = 0, before, late;
    *count = dispatch_read_gpcs(spec->gpcs, gpcs);
    memset(gpc_of, (int)*count, sm_count);
    do {
        before = number;
        for (uint32_t i = 0; i < *count; i++)
            for (uint32_t k = 0; k < spec->sms_per_tpc && gpcs[i].sms && number < sm_count; k++) {
                gpcs[i].sms--;
                gpc_of[number++] = (uint8_t)i;
            }
    } while (number != before);
    late = number;
    for (uint32_t i = 0; i < *count; i++)
        for (; gpcs[i].late && number < sm_count; gpcs[i].late--)
            gpc_of[number++] = (uint8_t)i;
    return late;
}

uint32_t dispatch_gpcs(const struct dispatch_spec *spec, uint32_t sm_count, uint8_t *gpc_of)
{
    uint32_t count;
    number_sms(spec, sm_count, gpc_of, &count);
    return count;
}

uint32_t dispatch_groups(const struct dispatch_spec *spec, uint32_t sm_count, uint32_t *group_of)
{
    uint8_t *gpc_of = mem_alloc(sm_count, 1);
    uint32_t count, tpc = (uint32_t)spec->sms_per_tpc;
    uint32_t late = number_sms(spec, sm_count, gpc_of, &count), groups = count, in_tpc = 0;
    bool some_in_none = false;
    for (uint32_t sm = 0; sm < sm_count; sm++) {
        bool is_late = sm >= late && gpc_of[sm] < count;
        if (is_late && (!in_tpc || in_tpc == tpc || gpc_of[sm] != gpc_of[sm - 1])) {
            groups++;
            in_tpc = 0;
        }
        in_tpc += is_late;
        some_in_none |= gpc_of[sm] == count;
        group_of[sm] = is_late ? groups - 1 : gpc_of[sm];
    }
    for (uint32_t sm = 0; sm < sm_count; sm++)
        if (gpc_of[sm] == count)
            group_of[sm] = groups;
    mem_free(gpc_of);
    return groups + some_in_none;
}

/* Late SMs come first, then those of one GPC after another, then any that are in none. A small grid is
 * spread: behind the late ones, one SM of each TPC, then the others. */
static void find_orders(struct dispatcher *d, uint32_t sm_count)
{
    uint8_t *gpc_of = mem_alloc(sm_count, 1);
    uint32_t count, tpc = (uint32_t)d->spec->sms_per_tpc, all = 0, spread = 0;
    uint32_t late = number_sms(d->spec, sm_count, gpc_of, &count);
    for (uint32_t sm = late; sm < sm_count; sm++)
        if (gpc_of[sm] < count)
            d->order[all++] = d->spread[spread++] = sm;
    for (uint32_t turn = 0; turn <= count; turn++) {
        uint32_t wanted = turn < count ? (turn + (uint32_t)d->spec->first_gpc) % count : count;
        for (uint32_t sm = 0; sm < sm_count; sm++)
            if (gpc_of[sm] == wanted && (sm < late || wanted == count))
                d->order[all++] = sm;
    }
    for (uint32_t k = 0; k < tpc; k++)
        for (uint32_t sm = 0; sm < sm_count; sm++)
            if ((sm < late || gpc_of[sm] == count) && sm % tpc == k)
                d->spread[spread++] = sm;
    mem_free(gpc_of);
}

static void number_orders(struct dispatcher *d, uint32_t sm_count)
{
    for (uint32_t sm = 0; sm < sm_count; sm++)
        d->order[sm] = d->spread[sm] = sm;
}

/* The other members' SMs follow in the same order as the first one's. */
static void repeat_orders(struct dispatcher *d, uint32_t sm_count)
{
    for (uint32_t i = sm_count; i < d->sm_count; i++) {
        d->order[i] = d->order[i - sm_count] + sm_count;
        d->spread[i] = d->spread[i - sm_count] + sm_count;
    }
}

/* Groups of each member's SMs follow each other as their first SMs do in the order of dispatch; so do the SMs
 * of a group. */
static void find_groups(struct dispatcher *d, uint32_t member, uint32_t sm_count)
{
    uint32_t *group_of = mem_alloc(sm_count, sizeof *group_of);
    uint32_t count = dispatch_groups(d->spec, sm_count, group_of), all = member * sm_count;
    const uint32_t *order = d->order + member * sm_count;
    d->groups = mem_resize(d->groups, d->group_count, d->group_count + count, sizeof *d->groups);
    for (uint32_t i = 0; i < sm_count; i++) {
        uint32_t group = group_of[order[i] % sm_count];
        if (group == UINT32_MAX)
            continue;
        struct dispatch_group *one = &d->groups[d->group_count++];
        *one = (struct dispatch_group){.first = all};
        for (uint32_t k = i; k < sm_count; k++)
            if (group_of[order[k] % sm_count] == group) {
                d->grouped[all++] = order[k];
                group_of[order[k] % sm_count] = UINT32_MAX;
            }
        one->count = all - one->first;
    }
    mem_free(group_of);
}

void dispatcher_init(struct dispatcher *d, const struct dispatch_spec *spec, const struct gpu_spec *gpu,
                     uint32_t members)
{
    uint32_t sms = (uint32_t)gpu->sm_count;
    d->spec = spec;
    d->members = members;
    d->sm_count = members * sms;
    clock_init(&d->clock, gpu->clock);
    d->block_ps = (uint64_t)(spec->block_cycles * 1e12 / (double)gpu->clock);
    d->warp_ps = (uint64_t)(spec->warp_cycles * 1e12 / (double)gpu->clock);
    d->device_launch_ps = clock_time(&d->clock, spec->device_launch_cycles);
    d->latency_ps = clock_time(&d->clock, spec->latency_cycles);
    d->sms = mem_alloc(d->sm_count, sizeof *d->sms);
    d->order = mem_alloc(d->sm_count, sizeof *d->order);
    d->spread = mem_alloc(d->sm_count, sizeof *d->spread);
    d->next_of = mem_alloc(members, sizeof *d->next_of);
    if (spec->order == ORDER_GPC)
        find_orders(d, sms);
    else
        number_orders(d, sms);
    repeat_orders(d, sms);
    d->grouped = mem_alloc(d->sm_count, sizeof *d->grouped);
    for (uint32_t i = 0; i < members; i++)
        find_groups(d, i, sms);
    for (uint32_t i = 0; i < d->sm_count; i++)
        d->sms[i] = (struct dispatch_sm){
            .shares = SHARES, .warps = (uint32_t)gpu->warps_per_sm, .blocks = (uint32_t)gpu->blocks_per_sm};
}

void dispatcher_fini(struct dispatcher *d)
{
    mem_free(d->sms);
    mem_free(d->order);
    mem_free(d->spread);
    mem_free(d->next_of);
    mem_free(d->grouped);
    mem_free(d->groups);
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        dispatch_forget(d, i);
}

/* ---- blocks that are placed ---- */

static void add_places(struct dispatch_queue *queue, const struct block_place *place)
{
    if (place->first == place->end)
        return;
    queue->ranges = mem_resize(queue->ranges, queue->count, queue->count + 1, sizeof *queue->ranges);
    queue->ranges[queue->count++] = *place;
    queue->blocks += place->end - place->first;
    queue->next = queue->ranges[0].first;
}

void dispatch_place(struct dispatcher *d, uint32_t slot, const struct launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], done = 0;
    if (!launch->place_count)
        return;
    struct dispatch_queue *queues = d->queues[slot] = mem_alloc(d->members + 1, sizeof *queues);
    for (uint32_t i = 0; i < launch->place_count; i++) {
        const struct block_place *place = &launch->places[i];
        REQUIRE(place->first >= done && place->end <= blocks && place->member < d->members);
        add_places(&queues[d->members], &(struct block_place){.first = done, .end = place->first});
        add_places(&queues[place->member], place);
        done = place->end;
    }
    add_places(&queues[d->members], &(struct block_place){.first = done, .end = blocks});
}

void dispatch_forget(struct dispatcher *d, uint32_t slot)
{
    for (uint32_t i = 0; d->queues[slot] && i <= d->members; i++)
        mem_free(d->queues[slot][i].ranges);
    mem_free(d->queues[slot]);
    d->queues[slot] = NULL;
}

/* The next block of a queue, which passes it. */
static uint64_t take_placed(struct dispatch_queue *queue)
{
    uint64_t block = queue->next++;
    queue->blocks--;
    if (queue->next == queue->ranges[queue->range].end && ++queue->range < queue->count)
        queue->next = queue->ranges[queue->range].first;
    return block;
}

/* ---- kernels that depend on others ---- */

static bool is_held(const struct dispatch_kernel *kernel)
{
    return kernel->held || kernel->held_start;
}

uint64_t dispatch_depend(struct dispatcher *d, uint32_t slot, const struct gpu_launch *asked)
{
    struct dispatch_kernel *kernel = &d->kernels[slot];
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        const struct dispatch_kernel *other = &d->kernels[i];
        uint32_t bit = asked->after & UINT32_C(1) << i;
        if (!bit || !other->used || i == slot)
            continue;
        if (asked->after_start & bit)
            kernel->held_start |= other->next < other->blocks ? bit : 0;
        else
            kernel->held |= other->triggered < other->blocks ? bit : 0;
        if (asked->after_apart & bit)
            continue;
        if (other->end_ps == TIME_NEVER)
            kernel->after |= bit;
        else
            kernel->after_ps = max_u64(kernel->after_ps, other->end_ps);
    }
    return kernel->after || !kernel->after_ps ? TIME_NEVER : kernel->after_ps;
}

static struct dispatcher *self_of(struct component *self)
{
    return (struct dispatcher *)(uintptr_t)component_spec(self);
}

static bool fits(const struct dispatcher *d, uint32_t number, const struct dispatch_kernel *kernel)
{
    const struct dispatch_sm *sm = &d->sms[number];
    return number - kernel->first_sm < kernel->sm_count && sm->blocks && sm->shares >= kernel->share &&
           sm->warps >= kernel->warps;
}

static void send_block(struct dispatcher *d, uint32_t slot, uint32_t sm, uint64_t number)
{
    struct sm_block_message order = {.number = number, .kernel = slot};
    uint64_t now = component_now(d->component);
    if (!port_send(d->orders, 1 + sm, max_u64(d->free_at, now) - now, SM_BEGIN, &order, sizeof order))
        BUG("an order found no room");
}

static void take_room(struct dispatch_sm *sm, const struct dispatch_kernel *kernel)
{
    sm->shares -= kernel->share;
    sm->warps -= kernel->warps;
    sm->blocks--;
}

static void give_room(struct dispatch_sm *sm, const struct dispatch_kernel *kernel)
{
    sm->shares += kernel->share;
    sm->warps += kernel->warps;
    sm->blocks++;
}

/* The next SM, in order, that has room for a block. */
static bool find_sm(struct dispatcher *d, const struct dispatch_kernel *kernel, uint64_t block,
                    uint32_t *found)
{
    if (d->spec->order == ORDER_STATIC) {
        *found = kernel->first_sm + (uint32_t)(block % kernel->sm_count);
        return fits(d, *found, kernel);
    }
    const uint32_t *order = kernel->blocks <= d->sm_count ? d->spread : d->order;
    for (uint32_t i = 0; i < d->sm_count; i++) {
        uint32_t place = d->next_sm + i < d->sm_count ? d->next_sm + i : d->next_sm + i - d->sm_count;
        uint32_t sm = order[place];
        if (fits(d, sm, kernel)) {
            d->next_sm = (place + 1) % d->sm_count;
            *found = sm;
            return true;
        }
    }
    return false;
}

/* The next SM of a member, in order, that has room for a block. */
static bool find_member_sm(struct dispatcher *d, const struct dispatch_kernel *kernel, uint32_t member,
                           uint64_t block, uint32_t *found)
{
    uint32_t sms = d->sm_count / d->members;
    if (d->spec->order == ORDER_STATIC) {
        *found = member * sms + (uint32_t)(block % sms);
        return fits(d, *found, kernel);
    }
    const uint32_t *order = (kernel->blocks <= d->sm_count ? d->spread : d->order) + member * sms;
    for (uint32_t i = 0; i < sms; i++) {
        uint32_t place = (d->next_of[member] + i) % sms;
        if (fits(d, order[place], kernel)) {
            d->next_of[member] = (place + 1) % sms;
            *found = order[place];
            return true;
        }
    }
    return false;
}

/* Members take turns, one block each. */
static void hand_out_placed(struct dispatcher *d, uint32_t slot)
{
    struct dispatch_kernel *kernel = &d->kernels[slot];
    for (bool some = true; some;) {
        some = false;
        for (uint32_t i = 0; i <= d->members; i++) {
            struct dispatch_queue *queue = &d->queues[slot][i];
            uint32_t sm;
            if (!queue->blocks || !(i < d->members ? find_member_sm(d, kernel, i, queue->next, &sm)
                                                   : find_sm(d, kernel, queue->next, &sm)))
                continue;
            take_room(&d->sms[sm], kernel);
            kernel->next++;
            send_block(d, slot, sm, take_placed(queue));
            some = true;
        }
    }
}

/* ---- clusters ---- */

/* Blocks of the kernel that a group has room for. */
static uint64_t room_of(const struct dispatcher *d, const struct dispatch_group *group,
                        const struct dispatch_kernel *kernel)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct dispatch_sm *sm = &d->sms[d->grouped[group->first + i]];
        room += min_u64(sm->blocks, min_u64(sm->shares / kernel->share, sm->warps / kernel->warps));
    }
    return room;
}

/* The next group, in order, that has room for a cluster: its blocks could be on an SM each. */
static struct dispatch_group *find_group(struct dispatcher *d, const struct dispatch_kernel *kernel)
{
    for (uint32_t i = 0; i < d->group_count; i++) {
        uint32_t number = (d->next_group + i) % d->group_count;
        struct dispatch_group *group = &d->groups[number];
        if (group->count < kernel->cluster || room_of(d, group, kernel) < kernel->cluster)
            continue;
        d->next_group = (number + 1) % d->group_count;
        return group;
    }
    return NULL;
}

static uint32_t take_sm(struct dispatcher *d, struct dispatch_group *group,
                        const struct dispatch_kernel *kernel)
{
    while (!fits(d, d->grouped[group->first + group->next], kernel))
        group->next = (group->next + 1) % group->count;
    uint32_t sm = d->grouped[group->first + group->next];
    group->next = (group->next + 1) % group->count;
    take_room(&d->sms[sm], kernel);
    return sm;
}

/* All blocks of a cluster, at once. */
static void send_cluster(struct dispatcher *d, uint32_t slot, const struct launch *launch, uint64_t number,
                         struct dispatch_group *group)
{
    const struct dispatch_kernel *kernel = &d->kernels[slot];
    uint32_t sms[CLUSTER_MOST], sms_of_member = d->sm_count / d->members;
    struct sm_cluster_message order = {.block = {.kernel = slot}};
    uint64_t now = component_now(d->component);
    for (uint32_t rank = 0; rank < kernel->cluster; rank++) {
        sms[rank] = take_sm(d, group, kernel);
        order.sms[rank] = (uint16_t)(sms[rank] % sms_of_member);
    }
    for (uint32_t rank = 0; rank < kernel->cluster; rank++) {
        order.block.number = launch_cluster_block(launch, number, rank);
        if (!port_send(d->orders, 1 + sms[rank], max_u64(d->free_at, now) - now, SM_BEGIN, &order,
                       (uint16_t)(sizeof order.block + kernel->cluster * sizeof *order.sms)))
            BUG("an order found no room");
    }
}

static void hand_out_clusters(struct dispatcher *d, uint32_t slot)
{
    struct dispatch_kernel *kernel = &d->kernels[slot];
    struct dispatch_group *group;
    while (kernel->next < kernel->blocks && (group = find_group(d, kernel))) {
        send_cluster(d, slot, d->begun[slot].launch, kernel->next / kernel->cluster, group);
        kernel->next += kernel->cluster;
    }
}

/* All blocks of it were handed out, or have triggered: who waited for that may begin. */
static void let_begin(struct dispatcher *d, uint32_t slot, bool triggered)
{
    uint64_t now = component_now(d->component);
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        struct dispatch_kernel *kernel = &d->kernels[i];
        uint32_t *held = triggered ? &kernel->held : &kernel->held_start;
        if (!(*held >> slot & 1))
            continue;
        *held &= ~(UINT32_C(1) << slot);
        if (!is_held(kernel))
            kernel->start_ps = max_u64(kernel->start_ps, now);
    }
}

static void hand_out_kernel(struct dispatcher *d, uint32_t slot)
{
    struct dispatch_kernel *kernel = &d->kernels[slot];
    uint32_t sm;
    while (kernel->next < kernel->blocks && find_sm(d, kernel, kernel->next, &sm)) {
        take_room(&d->sms[sm], kernel);
        send_block(d, slot, sm, kernel->next++);
    }
}

static bool can_hand_out(const struct dispatch_kernel *kernel)
{
    return kernel->used && kernel->started && !kernel->failed && kernel->next < kernel->blocks &&
           !is_held(kernel);
}

/* Hands out what can be: the oldest kernel's blocks first. */
static void hand_out(struct dispatcher *d)
{
    uint64_t done = 0;
    for (;;) {
        uint32_t best = SM_KERNELS;
        for (uint32_t i = 0; i < SM_KERNELS; i++) {
            const struct dispatch_kernel *kernel = &d->kernels[i];
            if (can_hand_out(kernel) && kernel->order >= done &&
                (best == SM_KERNELS || kernel->order < d->kernels[best].order))
                best = i;
        }
        if (best == SM_KERNELS)
            return;
        if (UNLIKELY(d->queues[best] != NULL))
            hand_out_placed(d, best);
        else if (UNLIKELY(d->kernels[best].cluster > 1))
            hand_out_clusters(d, best);
        else
            hand_out_kernel(d, best);
        if (d->kernels[best].next == d->kernels[best].blocks)
            let_begin(d, best, false);
        done = d->kernels[best].order + 1;
    }
}

static bool has_ended(const struct dispatch_kernel *kernel)
{
    return kernel->ended == kernel->blocks && !kernel->unsettled && !kernel->after;
}

/* It ends after those that it depends on. */
static void end_kernel(struct dispatcher *d, uint32_t slot)
{
    struct dispatch_kernel *kernel = &d->kernels[slot];
    uint64_t now = component_now(d->component), noted = max_u64(max_u64(d->free_at, now), kernel->after_ps);
    kernel->end_ps = noted + clock_time(&d->clock, d->spec->end_cycles);
    component_stop(d->component, kernel->end_ps);
    for (uint32_t i = 0; i < SM_KERNELS; i++) {
        struct dispatch_kernel *other = &d->kernels[i];
        if (!other->used || !(other->after >> slot & 1))
            continue;
        other->after &= ~(UINT32_C(1) << slot);
        other->after_ps = max_u64(other->after_ps, kernel->end_ps);
        struct dispatch_message message = {other->serial, i};
        if (!other->after)
            component_schedule(d->component, other->after_ps - now, DISPATCH_RELEASE, &message,
                               sizeof message);
        if (!other->failed && has_ended(other))
            end_kernel(d, i);
    }
}

/* Blocks of it go on that wait for other kernels. */
static void release(struct dispatcher *d, uint32_t slot)
{
    struct sm_block_message order = {.number = d->kernels[slot].serial, .kernel = slot};
    for (uint32_t sm = 0; sm < d->sm_count; sm++)
        if (!port_send(d->orders, 1 + sm, 0, SM_RELEASE, &order, sizeof order))
            BUG("an order found no room");
}

static void event(struct component *self, void *state, const struct event *event)
{
    struct dispatcher *d = self_of(self);
    struct dispatch_message message;
    (void)state;
    memcpy(&message, event->payload, sizeof message);
    if (d->kernels[message.slot].serial != message.serial)
        return;
    if (event->kind == DISPATCH_RELEASE) {
        release(d, (uint32_t)message.slot);
        return;
    }
    d->kernels[message.slot].started = true;
    hand_out(d);
}

/* A block has triggered, or ended without. */
static void block_triggered(struct dispatcher *d, uint32_t slot)
{
    if (++d->kernels[slot].triggered == d->kernels[slot].blocks)
        let_begin(d, slot, true);
}

/* A block has ended: the dispatcher takes note of one after the other, and fills the room. */
static void block_ended(struct dispatcher *d, const struct sm_block_message *report, uint32_t sm)
{
    struct dispatch_kernel *kernel = &d->kernels[report->kernel];
    d->free_at =
        max_u64(d->free_at, component_now(d->component)) + max_u64(d->block_ps, kernel->warps * d->warp_ps);
    kernel->ended++;
    while (kernel->mark_count < GPU_MARKS &&
           kernel->ended * GPU_MARKS >= (kernel->mark_count + 1) * kernel->blocks)
        kernel->marks[kernel->mark_count++] = component_now(d->component) - kernel->start_ps;
    kernel->unsettled += report->writes;
    give_room(&d->sms[sm], kernel);
    if (!report->triggered)
        block_triggered(d, report->kernel);
    hand_out(d);
}

static void arrive(struct component *self, void *state, struct port *port)
{
    struct dispatcher *d = self_of(self);
    (void)state;
    for (const struct event *event; (event = port_head(port)); port_pop(port)) {
        struct sm_block_message report;
        memcpy(&report, event->payload, sizeof report);
        struct dispatch_kernel *kernel = &d->kernels[report.kernel];
        if (!kernel->used || kernel->failed)
            continue;
        if (event->kind == SM_ENDED)
            block_ended(d, &report, event->from - 1);
        else if (event->kind == SM_SETTLED)
            kernel->unsettled--; /* it may come first: the count wraps, and is right in the end */
        else if (event->kind == SM_TRIGGERED) {
            block_triggered(d, report.kernel);
            hand_out(d);
        } else
            kernel->failed = true;
        if (event->kind != SM_TRIGGERED && (kernel->failed || has_ended(kernel)))
            end_kernel(d, report.kernel);
    }
}

/* Ranges follow from the launch. */
static void archive_queues(struct dispatcher *d, uint32_t slot, struct archive *archive)
{
    struct dispatch_queue *queues = d->queues[slot];
    if (!archive_check(archive, archive_number(archive, queues != NULL, 1) == (queues != NULL)) || !queues)
        return;
    for (uint32_t i = 0; i <= d->members && archive->good; i++) {
        struct dispatch_queue *queue = &queues[i];
        queue->range = (uint32_t)archive_number(archive, queue->range, queue->count);
        ARCHIVE_VALUE(archive, queue->next);
        ARCHIVE_VALUE(archive, queue->blocks);
        archive_check(archive, !queue->blocks || queue->range < queue->count);
    }
}

static void archive(struct component *self, void *state, struct archive *archive)
{
    struct dispatcher *d = self_of(self);
    (void)state;
    archive_expect(archive, sizeof *d->sms);
    ARCHIVE_VALUE(archive, d->kernels);
    ARCHIVE_VALUE(archive, d->launches);
    archive_bytes(archive, d->sms, d->sm_count * sizeof *d->sms);
    d->next_sm = (uint32_t)archive_number(archive, d->next_sm, d->sm_count - 1);
    ARCHIVE_VALUE(archive, d->free_at);
    d->next_group = (uint32_t)archive_number(archive, d->next_group, d->group_count - 1);
    for (uint32_t i = 0; i < d->group_count; i++)
        d->groups[i].next = (uint32_t)archive_number(archive, d->groups[i].next, d->groups[i].count - 1);
    for (uint32_t i = 0; i < d->members; i++)
        d->next_of[i] = (uint32_t)archive_number(archive, d->next_of[i], d->sm_count - 1);
    for (uint32_t i = 0; i < SM_KERNELS && archive->good; i++)
        archive_queues(d, i, archive);
}

const struct component_ops dispatcher_ops = {
    .type = "dispatcher", .event = event, .arrive = arrive, .archive = archive};
