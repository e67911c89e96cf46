/* Managed memory that is apart from GPUs' copies of it (mem/apart.h): the program's side. */
#include "base/bits.h"
#include "mem/apart.h"
#include "mem/hostmem_parts.h"

void hostmem_keep_apart(struct hostmem *host)
{
    host->apart = apart_new();
}

struct apart *hostmem_apart(const struct hostmem *host)
{
    return host->apart;
}

/* What the program changed there, and GPUs do not know, stays to be given out. */
void hostmem_take_news(struct hostmem *host, uint64_t offset, const unsigned char *sector, uint32_t mask)
{
    const char *block = home_host(&host->managed, offset >> APART_SHIFT << APART_SHIFT);
    uint64_t *known = block ? apart_known(host->apart, offset) : NULL;
    bool is_known = block && *known == apart_sum(block);
    home_write(&host->managed, offset, sector, mask);
    if (block)
        *known = is_known ? apart_sum(block) : 0;
}

/* A line of managed memory that goes to a GPU, with its bytes. The program knows all of them; and from now on
 * the GPU does. */
void hostmem_read_apart(struct hostmem *host, uint64_t line, uint32_t sectors, struct memsys_page *page,
                        struct memsys_write *writes)
{
    uint64_t offset = physical_offset(physical_unpack(line));
    const char *block = home_host(&host->managed, offset >> APART_SHIFT << APART_SHIFT);
    page->turn = host->apart->turn;
    for (uint32_t i = 0; i < sectors; i++)
        home_read(&host->managed, offset + (uint64_t)i * MEM_SECTOR, writes[i].data);
    if (!block)
        return;
    uint64_t *known = apart_known(host->apart, offset), sum = apart_sum(block);
    bool begins = offset % APART_BYTES == 0; /* else the first line of the block was sent before */
    *known = begins || *known == sum ? sum : 0;
}

void hostmem_take_apart(struct hostmem *host, const struct memsys_request *request, uint32_t turn,
                        const unsigned char *writes)
{
    uint64_t offset = physical_offset(physical_unpack(request->line));
    for (uint32_t left = request->sectors; left; left &= left - 1, writes += sizeof(struct memsys_write)) {
        uint64_t at = offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR;
        struct memsys_write write;
        memcpy(&write, writes, sizeof write);
        if (write.mask && !apart_is_old(host->apart, at, turn))
            hostmem_take_news(host, at, write.data, write.mask);
    }
}
