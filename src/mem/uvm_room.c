/* Room for managed memory on a GPU: what it holds, and which blocks leave. */
#include "mem/uvm_parts.h"
#include "base/mem.h"
#include "mem/left_out.h"

static bool holds_some(const struct uvm *uvm, uint64_t block, uint32_t gpu, bool idle)
{
    for (uint64_t at = block; at < block + BLOCK_BYTES; at += PAGE_BYTES) {
        struct page page = directory_look(uvm->directory, at);
        if (page_is_held(&page, gpu) && !(idle && page.is_busy))
            return true;
    }
    return false;
}

static void forget_block(struct uvm_blocks *blocks, size_t place)
{
    blocks->count--;
    memmove(blocks->list + place, blocks->list + place + 1, (blocks->count - place) * sizeof *blocks->list);
}

static void touch_block(struct uvm_blocks *blocks, uint64_t block)
{
    for (size_t i = blocks->count; i-- > 0;)
        if (blocks->list[i] == block) {
            forget_block(blocks, i);
            break;
        }
    mem_grow(blocks->list, blocks->count, blocks->capacity);
    blocks->list[blocks->count++] = block;
}

void uvm_count(struct uvm *uvm, const struct page *page, uint32_t holder, bool comes)
{
    if (holder >= PAGE_HOST)
        return;
    if (!comes) {
        uvm->totals.bytes_here[holder] -= PAGE_BYTES;
        return;
    }
    uvm->totals.bytes_here[holder] += PAGE_BYTES;
    touch_block(&uvm->blocks[holder], page->at / BLOCK_BYTES * BLOCK_BYTES);
}

bool uvm_room_has(const struct uvm *uvm, const struct uvm_job *job)
{
    uint64_t room = job->to < PAGE_HOST ? uvm->areas->rooms[job->to] : 0;
    return !room ||
           uvm->totals.bytes_here[job->to] + (uint64_t)__builtin_popcount(job->moves) * PAGE_BYTES <= room;
}

size_t uvm_room_victim(struct uvm *uvm, const struct uvm_job *job)
{
    struct uvm_blocks *blocks = &uvm->blocks[job->to];
    for (size_t i = 0; i < blocks->count;) {
        if (!holds_some(uvm, blocks->list[i], job->to, false))
            forget_block(blocks, i);
        else if (blocks->list[i] != job->at && holds_some(uvm, blocks->list[i], job->to, true))
            return i;
        else
            i++;
    }
    return UVM_NO_BLOCK;
}

void uvm_room_evict(struct uvm *uvm, uint32_t number, uint32_t gpu, size_t place)
{
    uint64_t own = UINT64_C(1) << gpu, block = uvm->blocks[gpu].list[place];
    forget_block(&uvm->blocks[gpu], place);
    uvm->totals.count[gpu].evictions++;
    uvm->workers[number].evicted = block;
    for (uint64_t at = block; at < block + BLOCK_BYTES; at += PAGE_BYTES) {
        struct page *page = directory_page(uvm->directory, at);
        if (!page_is_held(page, gpu) || page->is_busy)
            continue;
        bool is_only = page->holders == own; /* else somebody has it, too */
        struct page_plan plan = {
            .source = is_only ? gpu : (uint32_t)PAGE_NOBODY, .drops = own, .right = PAGE_WRITE};
        if (left_out(LEFT_OUT_EVICTED)) {
            uvm_take_back(uvm, page);
            continue;
        }
        uvm->totals.count[gpu].bytes_out += is_only ? PAGE_BYTES : 0;
        uvm->workers[number].left++;
        iommu_move(uvm->iommu, page, is_only ? PAGE_HOST : PAGE_NOBODY, &plan, number);
    }
}

/* With access counters, that is also who had it before: they bring back what it uses. */
void uvm_room_map_evicted(struct uvm *uvm, uint32_t number)
{
    const struct uvm_worker *worker = &uvm->workers[number];
    uint64_t had = uvm->spec->access_counters ? UINT64_C(1) << worker->jobs[worker->job_next].to : 0;
    for (uint64_t at = worker->evicted; at < worker->evicted + BLOCK_BYTES; at += PAGE_BYTES) {
        struct page *page = directory_page(uvm->directory, at);
        if (page->holders != UINT64_C(1) << PAGE_HOST || page->is_busy || !page->granted)
            continue;
        uint64_t maps = (uvm_advice(uvm, page).accessed_by | had) & ~page->mappers;
        page->mappers |= maps;
        for (; maps; maps &= maps - 1)
            iommu_grant(uvm->iommu, (uint32_t)__builtin_ctzll(maps), page, PAGE_FAR);
    }
}
