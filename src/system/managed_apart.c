#include "system/managed_apart.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/apart.h"
#include "mem/iommu.h"
#include "mem/uvm.h"
#include "ranks/ranks.h"
#include "system/over_ranks.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES (UINT64_C(1) << APART_PAGE_SHIFT)

static struct apart *apart_of(const struct local_machine *machine)
{
    return hostmem_apart(machine->host);
}

static struct uvm *uvm_of(const struct local_machine *machine)
{
    return iommu_uvm(hostmem_iommu(machine->host));
}

static uint64_t packed(uint64_t offset)
{
    return physical_at(HOME_MANAGED, offset).packed;
}

/* A GPU that a page comes to, if there is one. */
static uint32_t target_of(const struct local_machine *machine, const struct page *page)
{
    uint32_t to =
        page->is_busy ? iommu_target(hostmem_iommu(machine->host), page->at) : (uint32_t)PAGE_NOBODY;
    return to < PAGE_HOST ? to : (uint32_t)PAGE_NOBODY;
}

static uint64_t gpus_of(const struct local_machine *machine, const struct page *page)
{
    uint32_t to = target_of(machine, page);
    uint64_t held = page->holders & ~(UINT64_C(1) << PAGE_HOST);
    return to == PAGE_NOBODY ? held : held | UINT64_C(1) << to;
}

/* ---- the copy ---- */

void machine_apart_fini(struct local_machine *machine)
{
    struct managed_copy *copy = &machine->copy;
    if (copy->at)
        munmap(copy->at, copy->bytes);
    index_fini(&copy->written);
    *copy = (struct managed_copy){0};
}

/* Of memory that nobody writes to, nothing is there. */
static void make_copy(struct managed_copy *copy, uint64_t bytes)
{
    if (bytes <= copy->bytes)
        return;
    REQUIRE(!copy->at); /* a driver has one place for managed memory */
    copy->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy->at == MAP_FAILED)
        BUG("no addresses for a copy of managed memory");
    copy->bytes = bytes;
}

void machine_apart_place(struct local_machine *machine, struct home_range *ranges, uint32_t count)
{
    struct managed_copy *copy = &machine->copy;
    bool is_apart = apart_of(machine);
    uint64_t end = 0;
    if (!is_apart || machine_leads(machine))
        hostmem_set_managed(machine->host, ranges, count);
    for (uint32_t i = 0; i < count; i++)
        end = max_u64(end, ranges[i].at + ranges[i].bytes);
    if (is_apart && count)
        make_copy(copy, (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    for (uint32_t i = 0; i < count && is_apart; i++)
        ranges[i].host = copy->at + ranges[i].at;
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_set_managed(machine_home_mem(machine, home), ranges, count);
}

/* Pages that are on the move stay as they are: their lines are still read. */
static void clear_page(void *user, struct page *page)
{
    const struct managed_copy *copy = user;
    uint64_t offset = physical_offset(physical_unpack(page->at));
    if (!page->is_busy && offset >= copy->first && offset <= copy->last)
        memset(copy->at + offset, 0, PAGE_BYTES);
}

void machine_apart_clear(struct local_machine *machine, uint64_t at, uint64_t bytes)
{
    struct managed_copy *copy = &machine->copy;
    if (!apart_of(machine) || !bytes || !copy->at)
        return;
    copy->first = physical_offset(physical_unpack(at)) / PAGE_BYTES * PAGE_BYTES;
    copy->last = physical_offset(physical_unpack(at)) + (bytes - 1);
    directory_each(uvm_directory(uvm_of(machine)), clear_page, copy);
}

void machine_apart_empty(struct local_machine *machine)
{
    struct managed_copy *copy = &machine->copy;
    if (copy->at && madvise(copy->at, copy->bytes, MADV_DONTNEED))
        BUG("the copy of managed memory cannot be emptied");
    machine_apart_forget_writes(machine);
}

/* ---- what GPUs wrote ---- */

/* Some of a block, as it is sent to the leading rank. */
struct written_block {
    uint64_t offset;
    uint32_t home, unused;
    struct news_masks masks;
    unsigned char bytes[APART_BYTES];
};

struct fetch {
    struct local_machine *machine;
    struct archive *archive;
};

static void write_block(void *user, uint32_t home, uint64_t offset, const struct news_masks *masks)
{
    const struct fetch *fetch = user;
    struct written_block block = {.offset = offset, .home = home, .masks = *masks};
    memcpy(block.bytes, fetch->machine->copy.at + offset, sizeof block.bytes);
    ARCHIVE_VALUE(fetch->archive, block);
}

static void write_page(void *user, uint64_t offset)
{
    const struct fetch *fetch = user;
    ARCHIVE_VALUE(fetch->archive, offset);
}

static void write_all(struct local_machine *machine, struct archive *archive)
{
    struct archive pages = archive_writer();
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_each_written(machine_home_mem(machine, home), write_page, &(struct fetch){machine, &pages});
    archive_text(archive, &pages.text);
    text_fini(&pages.text);
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_take_news(machine_home_mem(machine, home), write_block, &(struct fetch){machine, archive});
}

static void read_pages(struct local_machine *machine, struct archive *archive)
{
    struct text text = {0};
    archive_text(archive, &text);
    struct archive pages = archive_reader(text.at, text.length);
    while (pages.good && pages.at < pages.end) {
        uint64_t offset = 0;
        ARCHIVE_VALUE(&pages, offset);
        if (index_find(&machine->copy.written, offset) == INDEX_NONE)
            index_add(&machine->copy.written, offset);
    }
    text_fini(&text);
}

static void take_block(struct local_machine *machine, const struct written_block *block)
{
    for (uint32_t i = 0; i < APART_SECTORS; i++)
        if (block->masks.of[i])
            hostmem_take_news(machine->host, block->offset + (uint64_t)i * MEM_SECTOR,
                              block->bytes + (size_t)i * MEM_SECTOR, block->masks.of[i]);
}

/* What was written where a page was before has come with it. Where it comes to is newer than where it comes
 * from. */
static void read_blocks(struct local_machine *machine, struct archive *archive, bool at_target)
{
    while (archive->good && archive->at < archive->end) {
        struct written_block block;
        ARCHIVE_VALUE(archive, block);
        struct page page = directory_look(uvm_directory(uvm_of(machine)), packed(block.offset));
        bool is_target = target_of(machine, &page) == block.home;
        if (archive->good && is_target == at_target && (is_target || page_is_held(&page, block.home)))
            take_block(machine, &block);
    }
}

/* Whether GPUs have bytes of managed memory; all ranks know. */
static bool is_used(const struct local_machine *machine)
{
    return uvm_is_used(uvm_of(machine)) || iommu_has_moves(hostmem_iommu(machine->host));
}

void machine_apart_fetch(struct local_machine *machine)
{
    struct ranks *ranks = machine->options.ranks;
    struct archive mine = archive_writer();
    struct err unused; /* the next run fails where a rank was lost */
    if (!apart_of(machine))
        return;
    bool was_used = machine->copy.was_used;
    machine->copy.was_used = is_used(machine);
    if (!machine->copy.was_used && !was_used)
        return;
    struct text *all = mem_alloc(ranks_count(ranks), sizeof *all);
    write_all(machine, &mine);
    bool good = ranks_gather(ranks, &mine.text, all, false, &unused) && machine_leads(machine);
    for (int at_target = 0; at_target < 2 && good; at_target++)
        for (uint32_t i = 0; i < ranks_count(ranks); i++) {
            struct archive from = archive_reader(all[i].at, all[i].length);
            read_pages(machine, &from);
            read_blocks(machine, &from, at_target);
        }
    for (uint32_t i = 0; i < ranks_count(ranks); i++)
        text_fini(&all[i]);
    mem_free(all);
    text_fini(&mine.text);
}

bool machine_apart_wrote(const struct local_machine *machine, uint64_t at)
{
    return index_find(&machine->copy.written, physical_offset(physical_unpack(at))) != INDEX_NONE;
}

void machine_apart_forget_writes(struct local_machine *machine)
{
    index_fini(&machine->copy.written);
}

/* ---- what the program changed ---- */

struct changed_block {
    uint64_t offset;
    unsigned char bytes[APART_BYTES];
};

static void write_changed(void *user, struct page *page)
{
    const struct fetch *give = user;
    struct local_machine *machine = give->machine;
    uint64_t first = physical_offset(physical_unpack(page->at));
    if (!gpus_of(machine, page))
        return;
    for (uint64_t offset = first; offset < first + PAGE_BYTES; offset += APART_BYTES) {
        const char *bytes = hostmem_managed_bytes(machine->host, packed(offset));
        uint64_t *known = apart_known(apart_of(machine), offset), sum = bytes ? apart_sum(bytes) : 0;
        if (*known == sum)
            continue;
        struct changed_block block = {.offset = offset};
        memcpy(block.bytes, bytes, sizeof block.bytes);
        *known = sum;
        ARCHIVE_VALUE(give->archive, block);
    }
}

/* Whether some of a block's lines are, of one of these GPUs, on this rank. */
static bool is_here(const struct local_machine *machine, uint64_t gpus, uint64_t offset)
{
    uint32_t self = ranks_number(machine->options.ranks);
    for (; gpus; gpus &= gpus - 1) {
        const struct memsys *mem = machine_home_mem(machine, (uint32_t)__builtin_ctzll(gpus));
        for (uint64_t line = offset; line < offset + APART_BYTES; line += memsys_line_bytes(mem))
            if (memsys_held_rank(mem, packed(line)) == self)
                return true;
    }
    return false;
}

static void read_changed(struct local_machine *machine, struct archive *archive)
{
    struct apart *apart = apart_of(machine);
    while (archive->good && archive->at < archive->end) {
        struct changed_block block;
        ARCHIVE_VALUE(archive, block);
        if (!archive->good)
            return;
        struct page page = directory_look(uvm_directory(uvm_of(machine)), packed(block.offset));
        if (is_here(machine, gpus_of(machine, &page), block.offset))
            memcpy(machine->copy.at + block.offset, block.bytes, sizeof block.bytes);
        if (page.is_busy)
            apart_give(apart, block.offset);
    }
}

void machine_apart_give(struct local_machine *machine)
{
    struct ranks *ranks = machine->options.ranks;
    struct archive changed = archive_writer();
    struct apart *apart = apart_of(machine);
    struct err unused;
    if (!apart || !is_used(machine))
        return;
    if (!iommu_has_moves(hostmem_iommu(machine->host)))
        apart_forget_given(apart);
    if (machine_leads(machine))
        directory_each(uvm_directory(uvm_of(machine)), write_changed, &(struct fetch){machine, &changed});
    bool good = ranks_broadcast(ranks, 0, &changed.text, &unused);
    struct archive from = archive_reader(changed.text.at, changed.text.length);
    apart->turn += good && changed.text.length > 0;
    if (good)
        read_changed(machine, &from);
    text_fini(&changed.text);
}

/* ---- checkpoints ---- */

/* All of what was on its way is older than what is given out then. */
void machine_apart_archive(struct local_machine *machine, struct archive *archive)
{
    struct apart *apart = apart_of(machine);
    uint32_t turn = apart ? apart->turn : 0;
    ARCHIVE_VALUE(archive, turn);
    if (apart && archive->reading)
        apart->turn = turn + 1;
}

/* ---- decisions ---- */

void machine_apart_agree(struct local_machine *machine, struct managed_pages *pages)
{
    struct archive out = archive_writer();
    struct err unused;
    if (!apart_of(machine))
        return;
    ARCHIVE_LIST(&out, pages->list, pages->count, pages->capacity);
    bool good = ranks_broadcast(machine->options.ranks, 0, &out.text, &unused);
    struct archive in = archive_reader(out.text.at, out.text.length);
    if (good)
        ARCHIVE_LIST(&in, pages->list, pages->count, pages->capacity);
    text_fini(&out.text);
}
