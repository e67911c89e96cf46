#include "itrace/tell.h"

#include <inttypes.h>

void itrace_tell_call(const struct itrace_call *call, struct text *text)
{
    const char *name = itrace_call_fields(call->kind);
    text_add(text, "%s", itrace_call_name(call->kind));
    for (uint32_t i = 0; i < itrace_call_field_count(call->kind); i++) {
        int length = (int)strcspn(name, " ");
        text_add(text, call->field[i] > UINT32_MAX ? " %.*s 0x%" PRIx64 : " %.*s %" PRIu64, length, name,
                 call->field[i]);
        name += length + (name[length] != 0);
    }
}

/* ---- code ---- */

static const char *unit_name(uint32_t unit)
{
    static const char *const names[] = {
#define U(P, S, id, name, ...) #name,
        ISA_UNITS(U, , )
#undef U
    };
    return names[unit];
}

static const char *role_name(uint32_t role)
{
    static const char *const names[] = {[ROLE_NONE] = "",
                                        [ROLE_BRANCH] = "branch",
                                        [ROLE_FENCE] = "fence",
                                        [ROLE_FENCE_SYSTEM] = "fence of the system",
                                        [ROLE_FENCE_BLOCK] = "fence of the block",
                                        [ROLE_RELEASE] = "release",
                                        [ROLE_COMMIT] = "commits copies",
                                        [ROLE_COPIES] = "waits for copies",
                                        [ROLE_ALL_COPIES] = "waits for all copies",
                                        [ROLE_CALL] = "call",
                                        [ROLE_SLEEP] = "sleeps",
                                        [ROLE_BARRIER] = "barrier",
                                        [ROLE_FORGET] = "forgets caches",
                                        [ROLE_COUNTED] = "counted",
                                        [ROLE_WAIT] = "waits for counters",
                                        [ROLE_PRODUCT] = "product of a group",
                                        [ROLE_PRODUCTS_COMMIT] = "commits products",
                                        [ROLE_PRODUCTS] = "waits for products",
                                        [ROLE_TRIGGER] = "lets dependent kernels start",
                                        [ROLE_GRID_WAIT] = "waits for kernels before",
                                        [ROLE_LAUNCH] = "launches"};
    return names[role];
}

static const char *text_of(const struct itrace_code *code, uint32_t instruction)
{
    const char *text = code->places[instruction].instruction;
    return text ? text : "?";
}

static void tell_registers(const struct itrace_code *code, uint32_t from, uint32_t count, const char *what,
                           struct text *text)
{
    for (uint32_t i = 0; i < count; i++)
        text_add(text, "%s%u", i ? " " : what, code->code.registers[from + i]);
}

void itrace_tell_row(const struct itrace_code *code, uint32_t instruction, struct text *text)
{
    const struct isa_timing *row = &code->code.timing[instruction];
    text_add(text, "%5u  %-28s", instruction, text_of(code, instruction));
    for (uint32_t i = 0; i < row->steps; i++)
        text_add(text, " %s", unit_name(code->code.steps[row->first_step + i].unit));
    tell_registers(code, row->registers, row->reads, "; reads ", text);
    tell_registers(code, row->registers + row->reads, row->writes, "; writes ", text);
    if (row->role)
        text_add(text, "; %s", role_name(row->role));
}

/* ---- instructions ---- */

/* "0x1000 +4": at equal distances; or each. */
static void tell_addresses(const char *what, uint32_t bytes, const uint64_t at[], lane_mask lanes,
                           struct text *text)
{
    uint32_t first = first_lane(lanes), last = first;
    lane_mask rest = lanes & (lanes - 1);
    int64_t stride = rest ? (int64_t)(at[first_lane(rest)] - at[first]) : 0;
    bool regular = true;
    EACH_LANE (i, rest) {
        regular &= (int64_t)(at[i] - at[last]) == stride;
        last = i;
    }
    text_add(text, "  %s %u bytes at 0x%" PRIx64, what, bytes, at[first]);
    if (regular && rest)
        text_add(text, " %+" PRId64, stride);
    EACH_LANE (i, regular ? 0 : rest)
        text_add(text, " 0x%" PRIx64, at[i]);
}

static void tell_pieces(const struct request *request, struct text *text)
{
    text_add(text, "  %s%s", request->of.is_async ? "asynchronously " : "",
             request->writes ? "writes" : "reads");
    for (size_t i = 0; i < request->piece_count; i++)
        text_add(text, "%s %u bytes at 0x%" PRIx64, i ? "," : "", request->pieces[i].bytes,
                 request->pieces[i].at);
}

static void tell_request(const struct request *request, struct text *text)
{
    static const char *const words[] = {[REQUEST_LOAD] = "reads",
                                        [REQUEST_CONSTANT] = "reads constant",
                                        [REQUEST_STORE] = "writes",
                                        [REQUEST_ATOMIC] = "atomic",
                                        [REQUEST_SIGNAL] = "signals"};
    uint64_t shared_at[ISA_LANES];
    if (request->cluster)
        text_add(text, "  of other blocks (%08" PRIx64 "):", request->cluster);
    if (request->of.targets)
        text_add(text, "  for blocks %" PRIx64 " of the cluster, too:", request->of.targets);
    if (request->of.kind == REQUEST_PIECES)
        tell_pieces(request, text);
    else if (request->of.kind && request->of.lanes)
        tell_addresses(words[request->of.kind], request->of.bytes, request->of.at, request->of.lanes, text);
    EACH_LANE (i, request->shared)
        shared_at[i] = request->shared_at[i];
    if (request->shared)
        tell_addresses(request->shared_atomic ? "atomic shared" : "shared", request->shared_bytes, shared_at,
                       request->shared, text);
    if (request->local)
        tell_addresses(request->local_writes ? "writes local" : "reads local", request->local_bytes,
                       request->local_at, request->local, text);
    if (request->param)
        tell_addresses("parameter", 4, request->param_at, request->param, text);
}

static void tell_events(const struct istream_run *run, struct text *text)
{
    if (run->branched)
        text_add(text, "  %s", run->diverged ? "branches and diverges" : "branches");
    if (run->events & EVENT_ARRIVES && run->barrier == ISTREAM_CLUSTER)
        text_add(text, "  arrives at the cluster's barrier with %u threads", run->threads);
    else if (run->events & EVENT_ARRIVES)
        text_add(text, "  arrives at barrier %u with %u threads%s", run->barrier, run->threads,
                 run->events & EVENT_WAITS ? " and waits" : "");
    else if (run->events & EVENT_WAITS)
        text_add(text, "  waits for others of the warp");
    if (run->events & EVENT_EXITS)
        text_add(text, "  %u threads end", run->exits);
    if (run->events & EVENT_SLEEPS)
        text_add(text, "  sleeps %u ns", run->sleep_ns);
}

void itrace_tell_step(const struct itrace_kernel *kernel, const struct iwalk_step *step, struct text *text)
{
    text_add(text, "%5u  %-28s %08" PRIx64, step->instruction,
             text_of(&kernel->codes[step->code], step->instruction), step->active);
    if (step->mask != step->active)
        text_add(text, " of these %08" PRIx64, step->mask);
    if (step->request)
        tell_request(step->request, text);
    if (step->run)
        tell_events(step->run, text);
}
