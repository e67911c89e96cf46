#include "exchange/accelsim_memory.h"

enum { WINDOW = 1 << 24, SHARED_MOST = 1 << 18, LOCAL_MOST = 1 << 19 };

bool regions_move(struct regions *regions, uint64_t address, uint64_t *moved)
{
    uint64_t region = address >> REGION_SHIFT;
    size_t i = regions->last;
    if (i >= regions->count || regions->at[i] != region)
        for (i = 0; i < regions->count && regions->at[i] != region; i++)
            ;
    if (i == REGIONS_MOST)
        return false;
    if (i == regions->count) {
        mem_grow(regions->at, regions->count, regions->capacity);
        regions->at[regions->count++] = region;
    }
    regions->last = i;
    *moved = ITRACE_DEVICE_AT + ((uint64_t)(i + 1) << REGION_SHIFT) +
             (address & ((UINT64_C(1) << REGION_SHIFT) - 1));
    return true;
}

uint64_t regions_bytes(const struct regions *regions)
{
    return (uint64_t)(regions->count + 2)
           << REGION_SHIFT; /* an access may begin at the last byte of the last */
}

static uint32_t in_window(uint64_t address, uint64_t window, uint32_t most)
{
    return (uint32_t)(address - (window && address - window < WINDOW ? window : 0)) & (most - 1);
}

/* Which memory a lane accesses. */
static enum sass_memory space_of(enum sass_memory memory, uint64_t address,
                                 const struct sass_windows *windows)
{
    if (memory != SASS_GENERIC)
        return memory;
    if (windows->shared ? address - windows->shared < WINDOW : address < WINDOW)
        return SASS_SHARED;
    return windows->local && address - windows->local < WINDOW ? SASS_LOCAL : SASS_GLOBAL;
}

static bool add_global(const struct sass_row *row, uint32_t lane, uint64_t address, struct regions *regions,
                       struct request *request)
{
    static const uint8_t kinds[] = {[SASS_READS] = REQUEST_LOAD,
                                    [SASS_WRITES] = REQUEST_STORE,
                                    [SASS_ATOMIC] = REQUEST_ATOMIC,
                                    [SASS_REDUCES] = REQUEST_ATOMIC};
    struct delivery *of = &request->of;
    if (!regions_move(regions, address, &of->at[lane]))
        return false;
    of->kind = kinds[row->opcode->does];
    of->bytes = row->bytes;
    of->keep = row->keeps && of->kind == REQUEST_LOAD;
    of->returns = row->opcode->does == SASS_ATOMIC;
    of->operation = row->operation;
    of->lanes |= UINT64_C(1) << lane;
    if (of->kind == REQUEST_ATOMIC)
        of->at[lane] &= -(uint64_t)row->bytes;
    request->operand[lane] = lane;
    return true;
}

static bool add_piece(uint64_t at, uint32_t bytes, struct regions *regions, struct request *request)
{
    mem_grow(request->pieces, request->piece_count, request->piece_capacity);
    struct piece *piece = &request->pieces[request->piece_count++];
    *piece = (struct piece){.bytes = bytes};
    return regions_move(regions, at, &piece->at);
}

static bool add_pieces(const struct sass_row *row, const struct accelsim_line *line, struct regions *regions,
                       struct request *request)
{
    bool good = true;
    if (row->opcode->memory == SASS_COPY)
        EACH_LANE (i, good ? line->mask : 0)
            good = good && add_piece(line->at[i], row->bytes, regions, request);
    for (uint32_t i = 0; i < line->box_count && good; i++)
        good =
            add_piece(line->boxes[i], (uint32_t)min_u64(max_u64(line->box_bytes, 1), 4096), regions, request);
    if (!request->piece_count)
        return good;
    request->of.kind = REQUEST_PIECES;
    request->of.lanes = line->mask;
    request->of.is_async = row->opcode->does == SASS_READS;
    request->writes = row->opcode->does != SASS_READS;
    return good;
}

static bool add_lane(const struct sass_row *row, const struct accelsim_line *line, uint32_t lane,
                     const struct sass_windows *windows, struct regions *regions, struct request *request)
{
    uint64_t at = line->at[lane];
    bool atomic = row->opcode->does >= SASS_ATOMIC;
    switch (space_of((enum sass_memory)row->opcode->memory, at, windows)) {
    case SASS_SHARED:
        request->shared |= UINT64_C(1) << lane;
        request->shared_at[lane] = in_window(at, windows->shared, SHARED_MOST);
        request->shared_bytes = row->bytes;
        request->shared_atomic = atomic;
        return true;
    case SASS_LOCAL:
        request->local |= UINT64_C(1) << lane;
        request->local_at[lane] = in_window(at, windows->local, LOCAL_MOST);
        request->local_bytes = row->bytes;
        request->local_writes = row->opcode->does != SASS_READS;
        return true;
    case SASS_CONSTANT:
        request->param |= UINT64_C(1) << lane;
        request->param_at[lane] = at & 0xffff;
        return true;
    default:
        return add_global(row, lane, at, regions, request);
    }
}

bool sass_request(const struct sass_row *row, const struct accelsim_line *line,
                  const struct sass_windows *windows, struct regions *regions, struct request *request)
{
    request_clear(request);
    request->of.keep = request->of.acquires = request->of.returns = false;
    request->of.width = SASS_LANES;
    if (row->opcode->memory == SASS_NOTHING || !line->width || !line->mask)
        return true;
    if (row->opcode->memory == SASS_COPY || row->opcode->memory == SASS_TMA)
        return add_pieces(row, line, regions, request);
    EACH_LANE (i, line->mask)
        if (!add_lane(row, line, i, windows, regions, request))
            return false;
    return true;
}
