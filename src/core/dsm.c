/* Distributed shared memory, between blocks of a cluster: what an SM asks of others over the network between
 * SMs, and what it does for them. Bytes are read and changed by the SM whose shared memory they are in, when
 * the message arrives there.
 *
 * Messages from one SM to another keep their order, so a signal to a barrier comes behind the bytes that it
 * is about. All are answered but those of the cluster's own barrier and of bulk copies: a block's writes are
 * under way until then, as those to memory are. For bulk copies no fence waits: only the barriers that they
 * signal say when their bytes are there. */
#include "core/l1.h"
#include "base/mem.h"
#include "exec/atomics.h"
#include "exec/cga.h"

#include <string.h>

enum cluster_message {
    CLUSTER_READ,
    CLUSTER_WRITE,
    CLUSTER_ATOMIC,
    CLUSTER_SIGNAL, /* an operation on a barrier */
    CLUSTER_CAME,   /* a block's threads are at the cluster's barrier */
    CLUSTER_LEFT,   /* it has ended */
    CLUSTER_DATA,   /* answers */
    CLUSTER_OLD,
    CLUSTER_DONE
};

enum { SPAN = 128, ATOMS = 14, LANE_BYTES = 12, RANK_MASK = 0xff };

/* Begins every message. */
struct cluster_head {
    uint64_t serial;   /* of the launch: another one for each */
    uint64_t cluster;  /* by number */
    uint64_t lanes;    /* who waits for what is read; or blocks, by rank */
    uint32_t kernel;   /* slot */
    uint32_t id;       /* what the answer is for: enum reply_to */
    uint32_t at;       /* rank and offset, as in addresses */
    uint16_t bytes;    /* of a read, at most SPAN */
    uint8_t operation; /* of atomic ones: a row; of a write: that and 1, or 0. Of CLUSTER_CAME: the phase */
    uint8_t count;     /* of struct cluster_atom, or of struct memsys_old, that follow */
};

struct cluster_write {
    uint32_t masks[SPAN / 32]; /* a bit for each byte */
    unsigned char data[SPAN];
};

struct cluster_atom {
    uint64_t operand, compare;
    uint32_t offset; /* in the block's shared memory */
    uint8_t lane, bytes;
    uint8_t unused[2]; /* zero */
};

struct cluster_message_bytes {
    struct cluster_head head;
    union {
        struct cluster_write write;
        struct cluster_atom atoms[ATOMS];
        struct memsys_old olds[ATOMS];
        unsigned char data[SPAN];
    } u;
};

/* ---- sending ---- */

static uint32_t rank_of(uint64_t at)
{
    return at >> CLUSTER_SHARED_SHIFT & RANK_MASK;
}

static uint32_t offset_of(uint64_t at)
{
    return at & ((UINT32_C(1) << CLUSTER_SHARED_SHIFT) - 1);
}

static struct cluster_head head_of(const struct sm *sm, const struct sm_warp *w, uint64_t at)
{
    const struct cga *cluster = w->block->exec->cluster;
    return (struct cluster_head){
        .serial = w->kernel->serial,
        .cluster = cluster->number,
        .kernel = (uint32_t)(w->kernel - sm->kernels),
        .at = rank_of(at) << CLUSTER_SHARED_SHIFT | offset_of(at),
    };
}

/* `wire_bytes`: beside what each message has. */
static void send(struct sm *sm, struct port *port, uint32_t to, uint64_t cycle, enum cluster_message kind,
                 const struct cluster_message_bytes *message, size_t bytes, uint32_t wire_bytes)
{
    const struct sm_spec *spec = sm->config.spec;
    uint64_t at = sm_time(sm, cycle), now = component_now(sm->component);
    bool is_far = to / sm->config.sms_per_tpc != sm->number / sm->config.sms_per_tpc;
    wire_bytes += sm->overhead_bytes;
    if (is_far && port == sm->cluster && spec->cluster_far_bytes_per_cycle > 0)
        wire_bytes =
            (uint32_t)(wire_bytes * spec->cluster_bytes_per_cycle / spec->cluster_far_bytes_per_cycle);
    if (!port_send_sized(port, to, at > now ? at - now : 0, (uint8_t)kind, message,
                         (uint16_t)(sizeof message->head + bytes), wire_bytes))
        BUG("a message between SMs found no room");
}

/* To the SM of a block whose rank the address has. */
static void send_to_block(struct sm *sm, struct port *port, const struct sm_warp *w, uint64_t cycle,
                          enum cluster_message kind, const struct cluster_message_bytes *message,
                          size_t bytes, uint32_t wire_bytes)
{
    uint32_t to = w->block->exec->cluster->sms[rank_of(message->head.at)];
    send(sm, port, to, cycle, kind, message, bytes, wire_bytes);
}

static uint32_t write_id(struct sm *sm, struct sm_warp *w, uint64_t cycle)
{
    sm_block_write_begins(sm, w, cycle);
    return TO_BLOCK | w->block->writes;
}

/* Lanes whose bytes are in the same span of the same block's shared memory as those of the first. */
static lane_mask lanes_together(const struct delivery *of, lane_mask rest)
{
    uint64_t span = of->at[first_lane(rest)] / SPAN;
    lane_mask who = 0;
    EACH_LANE (i, rest)
        who |= (lane_mask)(of->at[i] / SPAN == span) << i;
    return who;
}

static uint32_t sectors_in(uint64_t from, uint64_t end)
{
    return (uint32_t)((end + MEM_SECTOR - 1) / MEM_SECTOR - from / MEM_SECTOR);
}

/* Each message takes a pass of the memory pipeline. */
static uint64_t next_pass(struct sm *sm, uint64_t cycle)
{
    sm->lsu_free += LSU_PARTS;
    return cycle + 1;
}

void dsm_load(struct sm *sm, struct load *load, lane_mask lanes, uint64_t cycle)
{
    const struct delivery *of = &load->of;
    for (lane_mask rest = lanes, who; rest; rest &= ~who, cycle = next_pass(sm, cycle)) {
        who = lanes_together(of, rest);
        uint64_t from = UINT64_MAX, end = 0;
        EACH_LANE (i, who) {
            from = min_u64(from, of->at[i]);
            end = max_u64(end, of->at[i] + of->bytes);
        }
        struct cluster_message_bytes message = {.head = head_of(sm, load->warp, from)};
        message.head.id = TO_LOAD | (uint32_t)(load - sm->loads);
        message.head.lanes = who;
        message.head.bytes = (uint16_t)(end - from);
        load->lines_left++;
        send_to_block(sm, sm->cluster, load->warp, cycle, CLUSTER_READ, &message, 0, 0);
    }
}

static void send_write(struct sm *sm, struct port *port, struct sm_warp *w, uint64_t cycle,
                       struct cluster_message_bytes *message)
{
    uint32_t sectors = 0;
    for (uint32_t s = 0; s < COUNT_OF(message->u.write.masks); s++)
        sectors += message->u.write.masks[s] != 0;
    send_to_block(sm, port, w, cycle, CLUSTER_WRITE, message, sizeof message->u.write, sectors * MEM_SECTOR);
}

/* Barriers that count what was written, behind all of it. */
static void signal_barriers(struct sm *sm, struct sm_warp *w, const struct request *request, uint64_t cycle)
{
    const struct delivery *of = &request->of;
    for (lane_mask rest = request->signals ? request->cluster : 0, who; rest; rest &= ~who) {
        uint32_t first = first_lane(rest), rank = rank_of(of->at[first]), lanes = 0;
        who = 0;
        EACH_LANE (i, rest)
            if (rank_of(of->at[i]) == rank && request->compare[i] == request->compare[first]) {
                who |= UINT64_C(1) << i;
                lanes++;
            }
        struct cluster_message_bytes message = {.head = head_of(sm, w, of->at[first])};
        message.head.count = 1;
        message.head.id = write_id(sm, w, cycle);
        message.u.atoms[0] = (struct cluster_atom){.operand = (uint64_t)lanes * of->bytes,
                                                   .offset = (uint32_t)request->compare[first]};
        send_to_block(sm, sm->cluster, w, cycle, CLUSTER_SIGNAL, &message, sizeof *message.u.atoms,
                      LANE_BYTES);
    }
}

void dsm_store(struct sm *sm, struct sm_warp *w, const struct request *request, uint64_t cycle)
{
    const struct delivery *of = &request->of;
    for (lane_mask rest = request->cluster, who; rest; rest &= ~who, cycle = next_pass(sm, cycle)) {
        who = lanes_together(of, rest);
        uint64_t span = of->at[first_lane(who)] / SPAN * SPAN;
        struct cluster_message_bytes message = {.head = head_of(sm, w, span)};
        memset(&message.u, 0, sizeof message.u);
        w->kernel->isa->collect(request, span, who, message.u.write.data, message.u.write.masks);
        message.head.id = write_id(sm, w, cycle);
        send_write(sm, sm->cluster, w, cycle, &message);
    }
    signal_barriers(sm, w, request, cycle);
}

/* Those for one block, as many as fit into a message. */
static lane_mask lanes_for_block(const struct delivery *of, lane_mask rest)
{
    uint32_t rank = rank_of(of->at[first_lane(rest)]), count = 0;
    uint32_t each = of->kind == REQUEST_ATOMIC && of->bytes == ATOMIC_WIDE_BYTES ? 2 : 1;
    lane_mask who = 0;
    EACH_LANE (i, rest)
        if (rank_of(of->at[i]) == rank && count + each <= ATOMS) {
            who |= UINT64_C(1) << i;
            count += each;
        }
    return who;
}

void dsm_atomic(struct sm *sm, struct sm_warp *w, struct load *load, const struct request *request,
                uint64_t cycle)
{
    const struct delivery *of = &request->of;
    bool is_signal = of->kind == REQUEST_SIGNAL;
    for (lane_mask rest = request->cluster, who; rest; rest &= ~who, cycle = next_pass(sm, cycle)) {
        who = lanes_for_block(of, rest);
        struct cluster_message_bytes message = {.head = head_of(sm, w, of->at[first_lane(who)])};
        message.head.operation = of->operation;
        EACH_LANE (i, who) {
            message.u.atoms[message.head.count++] =
                (struct cluster_atom){.operand = request->operand[i],
                                      .compare = is_signal || request->signals ? 0 : request->compare[i],
                                      .offset = offset_of(of->at[i]),
                                      .lane = (uint8_t)i,
                                      .bytes = of->bytes};
            if (!is_signal && of->bytes == ATOMIC_WIDE_BYTES) /* another one for the upper half */
                message.u.atoms[message.head.count++] =
                    (struct cluster_atom){.operand = request->operand_upper[i],
                                          .compare = request->compare_upper[i],
                                          .offset = offset_of(of->at[i]) + 8,
                                          .lane = (uint8_t)(i + ISA_LANES)};
        }
        if (load && of->returns) {
            load->lines_left++;
            message.head.id = TO_LOAD | (uint32_t)(load - sm->loads);
        } else {
            message.head.id = write_id(sm, w, cycle);
        }
        uint32_t count = message.head.count;
        send_to_block(sm, sm->cluster, w, cycle, is_signal ? CLUSTER_SIGNAL : CLUSTER_ATOMIC, &message,
                      count * sizeof *message.u.atoms, count * LANE_BYTES);
    }
    signal_barriers(sm, w, request, cycle);
}

/* ---- what others want ---- */

static struct sm_kernel *kernel_of(struct sm *sm, const struct cluster_head *head)
{
    struct sm_kernel *kernel = &sm->kernels[head->kernel % SM_KERNELS];
    bool is_one = kernel->team && kernel->serial == head->serial && !kernel->team->fault.kind;
    return is_one ? kernel : NULL;
}

static struct cga *cluster_of(const struct sm *sm, const struct sm_kernel *kernel, uint64_t number)
{
    for (uint32_t i = 0; i < sm->config.blocks; i++) {
        const struct sm_block *block = &sm->blocks[i];
        if (block->exec && block->kernel == kernel && block->exec->cluster &&
            block->exec->cluster->number == number)
            return block->exec->cluster;
    }
    return NULL;
}

/* The block that a message is for. It may have ended while the message was under way, which is a fault. */
static struct block *block_of(struct sm *sm, struct sm_kernel *kernel, const struct cluster_head *head)
{
    const struct cga *cluster = cluster_of(sm, kernel, head->cluster);
    struct block *block = cluster ? cga_block(cluster, rank_of(head->at)) : NULL;
    if (!block)
        team_fault(kernel->team,
                   launch_cluster_block(kernel->team->grid.launch, head->cluster, rank_of(head->at)),
                   FAULT_CLUSTER, head->at,
                   "it has ended, and an access to its shared memory by another block of the cluster comes");
    return block;
}

/* Where bytes of a message are; senders have checked them. */
static char *place_of(const struct block *block, uint64_t offset, uint64_t bytes)
{
    REQUIRE(offset <= block->shared_bytes && bytes <= block->shared_bytes - offset);
    return block->shared + offset;
}

/* The memory pipeline does what others want, too; gives the cycle in which it begins. */
static uint64_t take_pass(struct sm *sm)
{
    const struct sm_spec *spec = sm->config.spec;
    uint64_t begins = max_u64(sm->lsu_free, sm->cycle * LSU_PARTS);
    sm->lsu_free = begins + (uint64_t)(spec->lsu_wavefront_cycles * LSU_PARTS);
    return begins / LSU_PARTS;
}

static void combine(char *to, const unsigned char *operand, uint32_t row)
{
    uint64_t with = 0, old = 0;
    uint32_t bytes = atomic_rows[row].bytes;
    memcpy(&with, operand, bytes);
    memcpy(&old, to, bytes);
    old = atomic_apply(row, old, with, 0, false);
    memcpy(to, &old, bytes);
}

static void put(const struct block *block, uint64_t offset, const struct cluster_write *write,
                uint32_t operation)
{
    uint32_t each = operation ? atomic_rows[operation - 1].bytes : 1;
    for (uint32_t i = 0; i < SPAN; i += each) {
        if (!operation && i % 32 == 0 && write->masks[i / 32] == UINT32_MAX) { /* most are whole */
            memcpy(place_of(block, offset + i, 32), write->data + i, 32);
            i += 31;
            continue;
        }
        if (!(write->masks[i / 32] >> i % 32 & 1))
            continue;
        char *to = place_of(block, offset + i, each);
        if (operation)
            combine(to, write->data + i, operation - 1);
        else
            *to = (char)write->data[i];
    }
}

static void serve_read(struct sm *sm, const struct block *block, struct cluster_message_bytes *message,
                       uint32_t from)
{
    struct cluster_head *head = &message->head;
    uint64_t at = head->at;
    memcpy(message->u.data, place_of(block, offset_of(at), head->bytes), head->bytes);
    send(sm, sm->cluster, from, take_pass(sm) + sm->config.spec->shared_latency, CLUSTER_DATA, message,
         head->bytes, sectors_in(at, at + head->bytes) * MEM_SECTOR);
}

/* It is done: whoever waits for that is told. */
static void answer_done(struct sm *sm, const struct cluster_message_bytes *message, uint32_t from,
                        uint64_t cycle)
{
    if ((message->head.id & TO_KIND) != TO_NOBODY)
        send(sm, sm->cluster, from, cycle, CLUSTER_DONE, message, 0, 0);
}

static void serve_write(struct sm *sm, struct block *block, struct cluster_message_bytes *message,
                        uint32_t from)
{
    put(block, offset_of(message->head.at), &message->u.write, message->head.operation);
    answer_done(sm, message, from, take_pass(sm));
}

static uint64_t perform(char *place, const struct cluster_atom *atom, uint32_t row)
{
    uint64_t old = 0, now;
    memcpy(&old, place, atom->bytes);
    now = atomic_apply(row, old, atom->operand, atom->compare, true);
    memcpy(place, &now, atom->bytes);
    return old;
}

static void perform_wide(char *place, const struct cluster_atom halves[2], uint32_t row,
                         struct memsys_old olds[2])
{
    uint64_t old[2];
    atomic_perform_wide((uint8_t)row, place, (uint64_t[2]){halves[0].operand, halves[1].operand},
                        (uint64_t[2]){halves[0].compare, halves[1].compare}, old);
    for (uint32_t i = 0; i < COUNT_OF(old); i++)
        olds[i] = (struct memsys_old){.value = old[i], .lane = halves[i].lane};
}

/* Operations on one word follow each other. */
static uint32_t same_words(const struct cluster_message_bytes *message)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < message->head.count; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < message->head.count; j++)
            same += message->u.atoms[i].offset / 4 == message->u.atoms[j].offset / 4;
        most = (uint32_t)max_u64(most, same);
    }
    return most;
}

static void serve_atomics(struct sm *sm, struct block *block, struct cluster_message_bytes *message,
                          uint32_t from)
{
    const struct sm_spec *spec = sm->config.spec;
    struct cluster_message_bytes answer = {.head = message->head};
    bool wants_old = (message->head.id & TO_KIND) == TO_LOAD;
    uint32_t passes = same_words(message);
    uint64_t begins = 0;
    for (uint32_t i = 0; i < message->head.count; i++) {
        const struct cluster_atom *atom = &message->u.atoms[i];
        char *place = place_of(block, atom->offset, atom->bytes);
        if (atom->bytes == ATOMIC_WIDE_BYTES) {
            perform_wide(place, atom, message->head.operation, &answer.u.olds[i++]);
            continue;
        }
        uint64_t old = perform(place, atom, message->head.operation);
        answer.u.olds[i] = (struct memsys_old){.value = old, .lane = atom->lane};
    }
    for (uint32_t i = 0; i < passes; i++)
        begins = take_pass(sm);
    if (wants_old)
        send(sm, sm->cluster, from, begins + spec->shared_latency + spec->atomic_shared_cycles, CLUSTER_OLD,
             &answer, answer.head.count * sizeof *answer.u.olds, answer.head.count * 8);
    else
        send(sm, sm->cluster, from, begins, CLUSTER_DONE, message, 0, 0);
}

static void serve_signals(struct sm *sm, struct block *block, struct cluster_message_bytes *message,
                          uint32_t from)
{
    const struct isa_ops *isa = block->worker->grid->kernel->isa;
    uint64_t begins = take_pass(sm);
    for (uint32_t i = 0; i < message->head.count; i++) {
        (void)place_of(block, message->u.atoms[i].offset, 8);
        isa->signal(block, message->u.atoms[i].offset, message->u.atoms[i].operand);
    }
    answer_done(sm, message, from, begins);
}

static void serve(struct sm *sm, enum cluster_message kind, struct cluster_message_bytes *message,
                  uint32_t from)
{
    struct sm_kernel *kernel = kernel_of(sm, &message->head);
    if (!kernel)
        return;
    struct block *block = block_of(sm, kernel, &message->head);
    if (kind == CLUSTER_READ)
        serve_read(sm, block, message, from);
    else if (kind == CLUSTER_WRITE)
        serve_write(sm, block, message, from);
    else if (kind == CLUSTER_ATOMIC)
        serve_atomics(sm, block, message, from);
    else
        serve_signals(sm, block, message, from);
}

/* ---- the cluster's barrier ---- */

void dsm_wake(struct sm *sm, const struct cga *cluster)
{
    bool is_open = false;
    for (uint32_t i = 0; i < sm->config.blocks; i++) {
        const struct block *exec = sm->blocks[i].exec;
        is_open |= exec && exec->cluster == cluster && exec->opened;
    }
    if (!is_open)
        return;
    l1_forget(sm); /* what others have made visible must be seen */
    for (uint32_t i = 0; i < sm->config.blocks; i++)
        if (sm->blocks[i].exec && sm->blocks[i].exec->cluster == cluster)
            sm_block_wake_others(sm, &sm->blocks[i]);
}

/* To each SM that has others of its cluster. */
static void tell_others(struct sm *sm, const struct sm_block *block, enum cluster_message what)
{
    const struct cga *cluster = block->exec->cluster;
    const struct cluster_message_bytes message = {.head = {.serial = block->kernel->serial,
                                                           .cluster = cluster->number,
                                                           .kernel = (uint32_t)(block->kernel - sm->kernels),
                                                           .lanes = UINT64_C(1) << block->exec->rank,
                                                           .operation = cluster->phase}};
    uint64_t others = cluster->left & ~cluster->here;
    for (uint64_t rest = others; rest; rest &= rest - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(rest), first = 0;
        while (!(others >> first & 1) || cluster->sms[first] != cluster->sms[rank])
            first++;
        if (first == rank) /* once */
            send(sm, sm->cluster, cluster->sms[rank], sm->cycle, what, &message, 0, 0);
    }
}

void dsm_came(struct sm *sm, struct sm_block *block)
{
    struct cga *cluster = block->exec->cluster;
    if (cluster->come[cluster->phase] >> block->exec->rank & 1)
        return;
    tell_others(sm, block, CLUSTER_CAME);
    cga_came(block->exec);
    dsm_wake(sm, cluster);
}

void dsm_left(struct sm *sm, const struct sm_block *block)
{
    tell_others(sm, block, CLUSTER_LEFT);
}

static void hear(struct sm *sm, enum cluster_message kind, const struct cluster_head *head)
{
    const struct sm_kernel *kernel = kernel_of(sm, head);
    struct cga *cluster = kernel ? cluster_of(sm, kernel, head->cluster) : NULL;
    if (!cluster)
        return;
    if (kind == CLUSTER_CAME)
        cga_others_came(cluster, head->lanes, head->operation & 1);
    else
        cga_others_left(cluster, head->lanes);
    dsm_wake(sm, cluster);
}

/* ---- answers ---- */

static void take_answer(struct sm *sm, enum cluster_message kind, const struct cluster_message_bytes *message)
{
    const struct cluster_head *head = &message->head;
    uint32_t number = head->id & TO_MASK;
    if (kind == CLUSTER_DONE) {
        sm->stores_under_way--;
        lsu_let_in(sm);
        sm_block_write_done(sm, number);
        return;
    }
    struct load *load = &sm->loads[number];
    const struct isa_ops *isa = load->warp->kernel->isa;
    if (kind == CLUSTER_DATA)
        isa->deliver(&load->of, WINDOW_SHARED + head->at, message->u.data, head->lanes);
    for (uint32_t i = 0; kind == CLUSTER_OLD && i < head->count; i++)
        isa->deliver_old(&load->of, message->u.olds[i].lane, message->u.olds[i].value);
    load_line_done(sm, load, sm->cycle);
}

void dsm_arrive(struct sm *sm, const struct event *event)
{
    struct cluster_message_bytes message;
    enum cluster_message kind = (enum cluster_message)event->kind;
    REQUIRE(event->bytes <= sizeof message);
    memcpy(&message, event->payload, event->bytes);
    if (kind <= CLUSTER_SIGNAL)
        serve(sm, kind, &message, event->from);
    else if (kind <= CLUSTER_LEFT)
        hear(sm, kind, &message.head);
    else
        take_answer(sm, kind, &message);
}

/* ---- bulk copies to other blocks (bulk.c) ---- */

/* What becomes of some bytes for one target, which may be on this SM. */
struct put {
    struct sm_warp *w;
    struct port *port;
    uint64_t cycle;
    uint32_t rank;
};

/* The block that gets it, if it is on this SM; NULL: it is elsewhere. */
static struct block *near_target(const struct put *put_)
{
    struct sm_warp *w = put_->w;
    const struct cga *cluster = w->block->exec->cluster;
    struct block *block = cga_block(cluster, put_->rank);
    if (!block && !cga_is_far(cluster, put_->rank))
        team_fault(w->kernel->team,
                   launch_cluster_block(w->kernel->team->grid.launch, cluster->number, put_->rank),
                   FAULT_CLUSTER, 0, "it has ended, and a copy to its shared memory comes");
    return block;
}

static void put_bytes(struct sm *sm, const struct put *to, uint64_t offset, const struct cluster_write *write,
                      uint32_t operation)
{
    struct block *block = near_target(to);
    if (block) {
        put(block, offset, write, operation);
        return;
    }
    struct cluster_message_bytes message = {
        .head = head_of(sm, to->w, (uint64_t)to->rank << CLUSTER_SHARED_SHIFT | offset), .u.write = *write};
    message.head.operation = (uint8_t)operation;
    message.head.id = TO_NOBODY;
    send_write(sm, to->port, to->w, to->cycle, &message);
}

static void put_signal(struct sm *sm, const struct put *to, uint32_t offset, uint64_t operand)
{
    struct block *block = near_target(to);
    if (block) {
        to->w->kernel->isa->signal(block, offset, operand);
        return;
    }
    struct cluster_message_bytes message = {
        .head = head_of(sm, to->w, (uint64_t)to->rank << CLUSTER_SHARED_SHIFT | offset)};
    message.head.count = 1;
    message.u.atoms[0] = (struct cluster_atom){.operand = operand, .offset = offset};
    message.head.id = TO_NOBODY;
    send_to_block(sm, to->port, to->w, to->cycle, CLUSTER_SIGNAL, &message, sizeof *message.u.atoms,
                  LANE_BYTES);
}

static void all_bytes(struct cluster_write *write, uint32_t bytes)
{
    memset(write->masks, 0, sizeof write->masks);
    l1_mark_bytes(write->masks, 0, bytes);
}

/* What tensor copies write where there is no tensor. */
static void fill(struct cluster_write *write, uint64_t what)
{
    static const uint64_t words[PIECE_AT_MOST] = {[PIECE_IS_NAN16] = UINT64_C(0x7fff7fff7fff7fff),
                                                  [PIECE_IS_NAN32] = UINT64_C(0x7fffffff7fffffff),
                                                  [PIECE_IS_NAN64] = UINT64_C(0x7fffffffffffffff)};
    for (uint32_t i = 0; i < SPAN; i += 8)
        memcpy(write->data + i, &words[what], 8);
}

void dsm_put_piece(struct sm *sm, struct sm_warp *w, const struct delivery *of, const struct piece *piece,
                   uint64_t cycle)
{
    struct cluster_write write;
    memset(&write, 0, sizeof write);
    all_bytes(&write, piece->bytes);
    if (piece->at == PIECE_IS_HERE)
        memcpy(write.data, piece->host, piece->bytes);
    else
        fill(&write, piece->at);
    /* what is written where nothing was read must not come behind what is read: the same way for both */
    struct put to = {
        .w = w, .port = piece->at == PIECE_IS_HERE ? sm->cluster : sm->multicast, .cycle = cycle};
    for (uint64_t rest = of->targets; rest; rest &= rest - 1) {
        to.rank = (uint32_t)__builtin_ctzll(rest);
        put_bytes(sm, &to, piece->stage_at, &write, of->reduces ? of->operation + 1u : 0);
    }
}

void dsm_put_signals(struct sm *sm, struct sm_warp *w, const struct delivery *of, bool is_multicast,
                     uint64_t cycle)
{
    struct put to = {.w = w, .port = is_multicast ? sm->multicast : sm->cluster, .cycle = cycle};
    for (uint64_t rest = of->targets; rest; rest &= rest - 1) {
        to.rank = (uint32_t)__builtin_ctzll(rest);
        put_signal(sm, &to, of->barrier_at, of->barrier_bytes);
    }
}

/* A message has what goes to one span: a swizzle mixes pieces of a line within it. */
static void pass_span_on(struct sm *sm, const struct load *load, uint64_t span,
                         const struct cluster_write *write)
{
    struct put to = {.w = load->warp, .port = sm->multicast, .cycle = sm->cycle};
    for (uint64_t rest = span == UINT64_MAX ? 0 : load->of.targets; rest; rest &= rest - 1) {
        to.rank = (uint32_t)__builtin_ctzll(rest);
        put_bytes(sm, &to, span * SPAN, write, 0);
    }
}

/* Sectors of a line of memory have come that were read once for several blocks. */
void dsm_pass_on(struct sm *sm, const struct load *load, uint64_t line, uint32_t sectors,
                 const unsigned char *data)
{
    const struct piece *end, *piece = load_pieces_near(load, line, &end);
    struct cluster_write write;
    uint64_t span = UINT64_MAX;
    for (; piece < end; piece++) {
        if (piece->at < PIECE_AT_MOST)
            continue;
        uint64_t at = max_u64(piece->at, line),
                 stop = min_u64(piece->at + piece->bytes, line + MEM_LINE_MOST);
        for (uint64_t bytes; at < stop; at += bytes) { /* in one sector, and in one span */
            uint64_t to = piece->stage_at + (at - piece->at);
            bytes = min_u64(min_u64(MEM_SECTOR - at % MEM_SECTOR, SPAN - to % SPAN), stop - at);
            if (!(sectors >> (at - line) / MEM_SECTOR & 1))
                continue;
            if (to / SPAN != span) {
                pass_span_on(sm, load, span, &write);
                memset(&write, 0, sizeof write);
                span = to / SPAN;
            }
            memcpy(write.data + to % SPAN, data + (at - line), bytes);
            l1_mark_bytes(write.masks, to % SPAN, (uint32_t)bytes);
        }
    }
    pass_span_on(sm, load, span, &write);
}
