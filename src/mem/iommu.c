#include "mem/iommu.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/left_out.h"
#include "mem/iommu_parts.h"
#include "mem/uvm.h"

enum { BURST = 4096 }; /* bytes that are handed to the link at a time */

static uint32_t shift_of(uint64_t bytes)
{
    return 63 - (uint32_t)__builtin_clzll(bytes);
}

struct iommu *iommu_new(struct hostmem *host, const struct paging_spec *spec)
{
    struct iommu *iommu = mem_alloc(1, sizeof *iommu);
    *iommu = (struct iommu){.host = host, .spec = spec, .policy = &page_policies[spec->policy]};
    iommu->directory = directory_new(shift_of(spec->page), shift_of(min_u64(spec->page_least, spec->page)));
    return iommu;
}

void iommu_drive_managed(struct iommu *iommu, const struct uvm_spec *spec, const struct areas *areas)
{
    iommu->uvm = uvm_new(iommu, spec, areas);
}

void iommu_free(struct iommu *iommu)
{
    if (!iommu)
        return;
    uvm_free(iommu->uvm);
    directory_free(iommu->directory);
    frames_fini(&iommu->spilled);
    mem_free(iommu->waiting);
    mem_free(iommu->moves);
    mem_free(iommu);
}

void iommu_set_lines(struct iommu *iommu, uint32_t bytes)
{
    iommu->spilled.line_bytes = bytes;
}

struct hostmem *iommu_host(const struct iommu *iommu)
{
    return iommu->host;
}

struct uvm *iommu_uvm(const struct iommu *iommu)
{
    return iommu->uvm;
}

static struct directory *directory_of(const struct iommu *iommu, uint64_t at)
{
    return physical_is_managed(at) ? uvm_directory(iommu->uvm) : iommu->directory;
}

/* ---- messages ---- */

static void tell(struct iommu *iommu, uint32_t gpu, uint8_t kind, uint64_t at, uint32_t number,
                 struct memsys_page page)
{
    struct {
        struct memsys_request request;
        struct memsys_page page;
    } message = {.request = {.line = at, .id = number}, .page = page};
    hostmem_to_gpu(iommu->host, gpu, memsys_pager_plug(iommu->host->links[gpu].mem), kind, &message,
                   sizeof message, HOST_AS_LONG);
}

static void tell_of_move(struct iommu *iommu, uint32_t gpu, uint8_t kind, uint32_t number,
                         struct memsys_page page)
{
    if (kind == MEM_RECALL && left_out(LEFT_OUT_RECALL))
        return;
    const struct move *move = &iommu->moves[number];
    page.shift = move->shift;
    tell(iommu, gpu, kind, move->at, number, page);
}

unsigned char *iommu_line(struct iommu *iommu, uint64_t line)
{
    return frames_line(&iommu->spilled, line / iommu->spilled.line_bytes);
}

static void send_line(struct iommu *iommu, uint32_t number)
{
    struct move *move = &iommu->moves[number];
    uint32_t bytes = iommu->spilled.line_bytes, sectors = bytes / MEM_SECTOR;
    struct {
        struct memsys_request request;
        struct memsys_page page;
        struct memsys_write writes[MEM_SECTORS_MOST];
    } message = {
        .request = {.line = move->next, .id = number, .sectors = (uint8_t)((1u << sectors) - 1)},
        .page = {.shift = move->shift, .to = (uint8_t)move->to, .to_right = (uint8_t)move->plan.right}};
    bool is_managed = physical_is_managed(move->at); /* such bytes stay where they are, unless apart */
    if (is_managed && iommu->host->apart)
        hostmem_read_apart(iommu->host, move->next, sectors, &message.page, message.writes);
    for (uint32_t i = 0; i < sectors && !is_managed; i++) {
        message.writes[i].mask = UINT32_MAX;
        memcpy(message.writes[i].data, iommu_line(iommu, move->next) + (size_t)i * MEM_SECTOR, MEM_SECTOR);
    }
    hostmem_to_gpu(
        iommu->host, move->to, memsys_pager_plug(iommu->host->links[move->to].mem), MEM_PAGE, &message,
        (uint16_t)(sizeof message.request + sizeof message.page + sectors * sizeof *message.writes), bytes);
    move->next += bytes;
}

/* The host's own page goes, as fast as the link takes it. */
static void send_burst(struct iommu *iommu, uint32_t number)
{
    const struct move *move = &iommu->moves[number];
    uint64_t end = move->at + (UINT64_C(1) << move->shift), burst_ends = move->next + BURST;
    while (move->next < end && move->next < burst_ends)
        send_line(iommu, number);
    struct component *self = iommu->host->component;
    uint64_t now = component_now(self);
    uint64_t free_at = port_free_at(component_port(self, iommu->host->in_fabric ? 0 : move->to));
    if (move->next < end)
        component_schedule(self, free_at > now ? free_at - now : 0, IOMMU_SENDS, &number, sizeof number);
}

/* ---- a move ---- */

static uint32_t move_new(struct iommu *iommu, const struct move *move)
{
    size_t number = 0;
    while (number < iommu->move_count && iommu->moves[number].is_used)
        number++;
    if (number == iommu->move_count) {
        mem_grow(iommu->moves, iommu->move_count, iommu->move_capacity);
        iommu->move_count++;
    }
    iommu->moves[number] = *move;
    return (uint32_t)number;
}

static bool is_guest(uint64_t at, uint32_t holder)
{
    return holder < PAGE_HOST && holder != directory_home(at);
}

/* Room for a page that comes is taken when it sets out; that of one that leaves is free when it is gone. */
static void count_begin(struct iommu *iommu, const struct page *page, uint32_t to, uint64_t drops)
{
    if (physical_is_managed(page->at))
        return;
    if (is_guest(page->at, to) && !page_is_held(page, to))
        iommu->totals.guests[to] += page_bytes(page);
    for (; drops; drops &= drops - 1) {
        uint32_t holder = (uint32_t)__builtin_ctzll(drops);
        if (is_guest(page->at, holder))
            iommu->totals.leaving[holder] += page_bytes(page);
    }
}

static void count_end(struct iommu *iommu, const struct page *page, uint64_t drops)
{
    for (; drops; drops &= drops - 1) {
        uint32_t holder = (uint32_t)__builtin_ctzll(drops);
        if (is_guest(page->at, holder)) {
            iommu->totals.guests[holder] -= page_bytes(page);
            iommu->totals.leaving[holder] -= page_bytes(page);
        }
    }
}

/* Managed memory's driver counts what each GPU holds. */
static void tell_driver(struct iommu *iommu, const struct page *page, uint64_t before)
{
    for (uint64_t changed = before ^ page->holders; changed; changed &= changed - 1) {
        uint32_t holder = (uint32_t)__builtin_ctzll(changed);
        uvm_count(iommu->uvm, page, holder, page_is_held(page, holder));
    }
}

static void go_on(struct iommu *iommu);

/* Who got a page had it for all that it wanted of it until then: it should not come back for that. */
static void drop_served(struct iommu *iommu, const struct page *page, uint32_t gpu)
{
    size_t left = 0;
    for (size_t i = 0; i < iommu->waiting_count; i++) {
        const struct page_want *want = &iommu->waiting[i];
        if (want->gpu != gpu || want->at - page->at >= page_bytes(page) ||
            want->right > page_right(page, gpu))
            iommu->waiting[left++] = *want;
    }
    iommu->waiting_count = left;
}

/* The host holds it no more. */
static void free_frames(struct iommu *iommu, const struct page *page)
{
    uint64_t lines = page_bytes(page) / iommu->spilled.line_bytes,
             first = page->at / iommu->spilled.line_bytes;
    for (uint64_t i = 0; i < lines; i++)
        frames_let_go(&iommu->spilled, first + i);
}

/* gpu and place: as events have them. */
static uint32_t holder_told(uint32_t holder)
{
    return holder >= PAGE_HOST ? UINT32_MAX : holder;
}

static void tell_listener(const struct iommu *iommu, const struct move *move, enum probe_phase phase)
{
    const struct probe *probe = iommu->host->probe;
    uint32_t source = move->plan.source;
    bool stays = source <= PAGE_HOST && !(move->plan.drops >> source & 1);
    if (probe_wants(probe, PROBE_PAGE))
        probe_tell(probe, (struct probe_event){.kind = PROBE_PAGE,
                                               .phase = phase,
                                               .time_ps = component_now(iommu->host->component),
                                               .id = move->at,
                                               .gpu = holder_told(move->to),
                                               .place = holder_told(source),
                                               .stop = "gpu",
                                               .what = move->to == PAGE_NOBODY ? "drop"
                                                       : source == PAGE_NOBODY ? "first"
                                                       : stays                 ? "copy"
                                                                               : "move",
                                               .address = move->at,
                                               .bytes = UINT64_C(1) << move->shift});
}

static void end(struct iommu *iommu, uint32_t number)
{
    struct move *move = &iommu->moves[number];
    struct page *page = directory_page(directory_of(iommu, move->at), move->at);
    uint64_t before = page->holders;
    page->holders &= ~move->plan.drops;
    if (move->to != PAGE_NOBODY)
        page->holders |= UINT64_C(1) << move->to;
    page->is_exclusive = move->to == PAGE_NOBODY ? page->is_exclusive : move->plan.right == PAGE_WRITE;
    if (physical_is_managed(page->at))
        tell_driver(iommu, page, before);
    else
        count_end(iommu, page, before & move->plan.drops);
    if (before & ~page->holders & UINT64_C(1) << PAGE_HOST && !physical_is_managed(page->at))
        free_frames(iommu, page);
    page->granted = ++iommu->totals.grants;
    page->is_busy = false;
    tell_listener(iommu, move, PROBE_ENDS);
    move->is_used = false;
    if (move->worker != NO_WORKER) {
        uvm_moved(iommu->uvm, move->worker);
        return;
    }
    if (move->to < PAGE_HOST)
        drop_served(iommu, page, move->to);
    if (iommu->policy->merges)
        directory_merge(iommu->directory, page);
    go_on(iommu);
}

/* All who only had to drop the page did: now it goes. */
static void send(struct iommu *iommu, uint32_t number)
{
    struct move *move = &iommu->moves[number];
    const struct page_plan *plan = &move->plan;
    bool keeps = plan->source < PAGE_HOST && !(plan->drops >> plan->source & 1);
    if (move->to == PAGE_NOBODY) {
        end(iommu, number);
    } else if (plan->source == PAGE_NOBODY) {
        tell_of_move(iommu, move->to, MEM_GRANT, number, (struct memsys_page){.right = (uint8_t)plan->right});
    } else if (plan->source == PAGE_HOST) {
        move->next = move->at;
        send_burst(iommu, number);
    } else {
        move->left = (uint32_t)((UINT64_C(1) << move->shift) / iommu->spilled.line_bytes);
        tell_of_move(iommu, plan->source, MEM_RECALL, number,
                     (struct memsys_page){.right = keeps ? PAGE_READ : PAGE_NONE,
                                          .to = (uint8_t)move->to,
                                          .to_right = (uint8_t)plan->right});
    }
}

void iommu_move(struct iommu *iommu, struct page *page, uint32_t to, const struct page_plan *plan,
                uint32_t worker)
{
    uint64_t stay = page->holders & ~plan->drops;
    REQUIRE(stay || to != PAGE_NOBODY); /* somebody holds it, and who sends it has it */
    REQUIRE(plan->source == PAGE_NOBODY || page_is_held(page, plan->source));
    page->is_busy = true;
    count_begin(iommu, page, to, page->holders & plan->drops);
    uint32_t number = move_new(iommu, &(struct move){.at = page->at,
                                                     .plan = *plan,
                                                     .to = to,
                                                     .worker = worker,
                                                     .shift = page->shift,
                                                     .is_used = true});
    tell_listener(iommu, &iommu->moves[number], PROBE_BEGINS);
    uint64_t others = plan->drops & ~(UINT64_C(1) << PAGE_HOST);
    if (plan->source < PAGE_HOST)
        others &= ~(UINT64_C(1) << plan->source);
    others |= left_out(LEFT_OUT_MAPPERS) ? 0 : page->mappers;
    page->mappers = 0;
    if (left_out(LEFT_OUT_SHARERS))
        others = 0;
    iommu->moves[number].left = (uint32_t)__builtin_popcountll(others);
    for (uint64_t left = others; left; left &= left - 1)
        tell_of_move(iommu, (uint32_t)__builtin_ctzll(left), MEM_RECALL, number,
                     (struct memsys_page){.right = PAGE_NONE, .to = PAGE_NOBODY});
    if (!others)
        send(iommu, number);
}

void iommu_grant(struct iommu *iommu, uint32_t gpu, const struct page *page, enum page_right right)
{
    tell(iommu, gpu, MEM_GRANT, page->at, PAGE_NO_MOVE,
         (struct memsys_page){.shift = page->shift, .right = (uint8_t)right});
}

/* ---- room ---- */

struct victim {
    uint32_t gpu;
    struct page *page;
};

static void find_oldest(void *user, struct page *page)
{
    struct victim *victim = user;
    bool fits = !page->is_busy && page_is_held(page, victim->gpu) && is_guest(page->at, victim->gpu);
    if (fits && (!victim->page || page->granted < victim->page->granted))
        victim->page = page;
}

/* Whether a GPU has room for this much of a page. If not, and not enough is about to leave it, its oldest one
 * of others' leaves: to the host, unless somebody else has it, too. */
static bool has_room(struct iommu *iommu, uint32_t gpu, const struct page *page, uint64_t bytes)
{
    if (!iommu->spec->room || !is_guest(page->at, gpu) || page_is_held(page, gpu) ||
        iommu->totals.guests[gpu] + bytes <= iommu->spec->room)
        return true;
    if (iommu->totals.guests[gpu] + bytes <= iommu->spec->room + iommu->totals.leaving[gpu])
        return false;
    struct victim victim = {.gpu = gpu};
    directory_each(iommu->directory, find_oldest, &victim);
    if (!victim.page)
        return false; /* all are on the move: it is tried again when one has arrived */
    uint64_t own = UINT64_C(1) << gpu;
    bool is_only = victim.page->holders == own;
    struct page_plan plan = {
        .source = is_only ? gpu : (uint32_t)PAGE_NOBODY, .drops = own, .right = PAGE_WRITE};
    iommu_move(iommu, victim.page, is_only ? PAGE_HOST : PAGE_NOBODY, &plan, NO_WORKER);
    return false;
}

/* ---- wants ---- */

/* False: not now. */
static bool serve(struct iommu *iommu, const struct page_want *want)
{
    struct page *page = directory_page(iommu->directory, want->at);
    if (page->is_busy || (iommu->is_holding && iommu_is_meant(&iommu->hold, page)))
        return false;
    enum page_right has = page_right(page, want->gpu);
    if (has >= want->right) { /* it came with what was asked for before: the pager need not know that yet */
        iommu_grant(iommu, want->gpu, page, has);
        return true;
    }
    struct page_plan plan = page_policy_plan(iommu->policy, page, want, shift_of(iommu->spec->page_least));
    if (!has_room(iommu, want->gpu, page, page_bytes(page) >> plan.splits))
        return false;
    if (plan.splits) {
        directory_split(iommu->directory, page);
        page = directory_page(iommu->directory, want->at);
    }
    iommu_move(iommu, page, want->gpu, &plan, NO_WORKER);
    return true;
}

static void go_on(struct iommu *iommu)
{
    size_t left = 0;
    if (iommu->is_holding && iommu->hold.come_home)
        directory_each(iommu->directory, iommu_come_home, iommu);
    for (size_t i = 0; i < iommu->waiting_count; i++)
        if (!serve(iommu, &iommu->waiting[i]))
            iommu->waiting[left++] = iommu->waiting[i];
    iommu->waiting_count = left;
}

static void wait(struct iommu *iommu, const struct page_want *want)
{
    mem_grow(iommu->waiting, iommu->waiting_count, iommu->waiting_capacity);
    iommu->waiting[iommu->waiting_count++] = *want;
}

/* ---- what comes ---- */

static void take_line(struct iommu *iommu, uint32_t number, const struct memsys_request *request,
                      const struct memsys_page *page, const unsigned char *writes)
{
    uint32_t bytes = iommu->spilled.line_bytes;
    bool is_managed = physical_is_managed(request->line);
    for (uint32_t i = 0; i < bytes / MEM_SECTOR && !is_managed; i++)
        memcpy(iommu_line(iommu, request->line) + (size_t)i * MEM_SECTOR,
               writes + i * sizeof(struct memsys_write) + offsetof(struct memsys_write, data), MEM_SECTOR);
    if (is_managed && iommu->host->apart)
        hostmem_take_apart(iommu->host, request, page->turn, writes);
    if (!--iommu->moves[number].left)
        end(iommu, number);
}

void iommu_take(struct iommu *iommu, uint32_t gpu, uint8_t kind, const unsigned char *payload)
{
    struct memsys_request request;
    struct memsys_page page;
    memcpy(&request, payload, sizeof request);
    memcpy(&page, payload + sizeof request, sizeof page);
    if (kind == MEM_WANT) {
        struct page_want want = {.gpu = gpu, .at = request.line, .right = page.right};
        if (physical_is_managed(want.at)) {
            uvm_fault(iommu->uvm, &want);
            return;
        }
        component_schedule(iommu->host->component, iommu->spec->iommu_time, IOMMU_DECIDES, &want,
                           sizeof want);
        return;
    }
    REQUIRE(request.id < iommu->move_count && iommu->moves[request.id].is_used);
    switch ((enum memsys_kind)kind) {
    case MEM_DROPPED:
        if (!--iommu->moves[request.id].left)
            send(iommu, request.id);
        break;
    case MEM_GRANTED:
        end(iommu, request.id);
        break;
    case MEM_PAGE:
        take_line(iommu, request.id, &request, &page, payload + sizeof request + sizeof page);
        break;
    default:
        BUG("the IOMMU was sent \"%s\"", memsys_kind_name(kind));
    }
}

void iommu_reached(struct iommu *iommu, uint32_t gpu, uint64_t at)
{
    if (iommu->uvm)
        uvm_reached(iommu->uvm, gpu, at);
}

void iommu_event(struct iommu *iommu, const struct event *event)
{
    struct page_want want;
    uint32_t number;
    if (event->kind == IOMMU_SENDS) {
        memcpy(&number, event->payload, sizeof number);
        send_burst(iommu, number);
        return;
    }
    if (event->kind == IOMMU_GOES_ON) {
        go_on(iommu);
        return;
    }
    if (event->kind >= UVM_WORKS) {
        uvm_event(iommu->uvm, event);
        return;
    }
    memcpy(&want, event->payload, sizeof want);
    if (!serve(iommu, &want))
        wait(iommu, &want);
}

/* ---- from outside ---- */

struct page iommu_page(const struct iommu *iommu, uint64_t at)
{
    return directory_look(directory_of(iommu, at), at);
}

static const struct move *find_move(const struct iommu *iommu, uint64_t at)
{
    for (size_t i = 0; i < iommu->move_count; i++)
        if (iommu->moves[i].is_used && at - iommu->moves[i].at < UINT64_C(1) << iommu->moves[i].shift)
            return &iommu->moves[i];
    return NULL;
}

uint32_t iommu_source(const struct iommu *iommu, uint64_t at)
{
    const struct move *move = find_move(iommu, at);
    return move ? move->plan.source : (uint32_t)PAGE_NOBODY;
}

uint32_t iommu_target(const struct iommu *iommu, uint64_t at)
{
    const struct move *move = find_move(iommu, at);
    return move ? move->to : (uint32_t)PAGE_NOBODY;
}

bool iommu_has_moves(const struct iommu *iommu)
{
    for (size_t i = 0; i < iommu->move_count; i++)
        if (iommu->moves[i].is_used)
            return true;
    return false;
}

void iommu_each_page(const struct iommu *iommu, directory_fn *call, void *user)
{
    directory_each(iommu->directory, call, user);
}

void iommu_send_home(struct iommu *iommu, struct page *page)
{
    for (uint64_t left = page->holders; left; left &= left - 1) {
        uint32_t holder = (uint32_t)__builtin_ctzll(left);
        if (is_guest(page->at, holder))
            iommu->totals.guests[holder] -= page_bytes(page);
    }
    if (page_is_held(page, PAGE_HOST))
        free_frames(iommu, page);
    directory_send_home(page);
}

static bool can_hold(const struct iommu *iommu, uint32_t holder)
{
    return holder < iommu->host->gpus || holder == PAGE_HOST || holder == PAGE_NOBODY;
}

static bool fits(const struct iommu *iommu)
{
    for (size_t i = 0; i < iommu->waiting_count; i++)
        if (iommu->waiting[i].gpu >= iommu->host->gpus)
            return false;
    for (size_t i = 0; i < iommu->move_count; i++)
        if (iommu->moves[i].is_used &&
            (!can_hold(iommu, iommu->moves[i].to) || !can_hold(iommu, iommu->moves[i].plan.source) ||
             (iommu->moves[i].worker != NO_WORKER && iommu->moves[i].worker >= 2 * iommu->host->gpus)))
            return false;
    return true;
}

void iommu_archive(struct iommu *iommu, struct archive *archive)
{
    directory_archive(iommu->directory, archive);
    frames_archive(&iommu->spilled, archive);
    ARCHIVE_VALUE(archive, iommu->totals);
    ARCHIVE_LIST(archive, iommu->waiting, iommu->waiting_count, iommu->waiting_capacity);
    ARCHIVE_LIST(archive, iommu->moves, iommu->move_count, iommu->move_capacity);
    if (iommu->uvm)
        uvm_archive(iommu->uvm, archive);
    archive_check(archive, fits(iommu));
}
