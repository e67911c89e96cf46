#include "mem/apart.h"
#include "base/mem.h"

struct apart *apart_new(void)
{
    struct apart *apart = mem_alloc(1, sizeof *apart);
    apart->turn = 1; /* messages of one process are of none: 0 */
    return apart;
}

void apart_free(struct apart *apart)
{
    if (!apart)
        return;
    apart_forget_given(apart);
    for (size_t i = 0; i < apart->pages.count; i++)
        mem_free(apart->sums[i]);
    index_fini(&apart->pages);
    mem_free(apart->sums);
    mem_free(apart);
}

/* ---- turns ---- */

void apart_give(struct apart *apart, uint64_t offset)
{
    uint32_t number = index_find(&apart->given, offset >> APART_SHIFT);
    if (number == INDEX_NONE) {
        number = index_add(&apart->given, offset >> APART_SHIFT);
        size_t count = number;
        mem_grow(apart->turns, count, apart->given_capacity);
    }
    apart->turns[number] = apart->turn;
}

void apart_forget_given(struct apart *apart)
{
    index_fini(&apart->given);
    mem_free(apart->turns);
    apart->turns = NULL;
    apart->given_capacity = 0;
}

bool apart_is_old(const struct apart *apart, uint64_t offset, uint32_t turn)
{
    uint32_t number = index_find(&apart->given, offset >> APART_SHIFT);
    return number != INDEX_NONE && turn < apart->turns[number];
}

void apart_mark(struct memsys_request *request, uint32_t turn)
{
    request->operation = (uint8_t)turn;
    request->count = (uint8_t)(turn >> 8);
}

uint32_t apart_turn(const struct apart *apart, const struct memsys_request *request)
{
    uint32_t last = request->operation | (uint32_t)request->count << 8;
    return apart->turn - (uint16_t)(apart->turn - last);
}

/* ---- what is known ---- */

uint64_t apart_sum(const void *block)
{
    uint64_t words[APART_BYTES / sizeof(uint64_t)], lanes[4] = {1, 2, 3, 4};
    memcpy(words, block, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint64_t *lane = &lanes[i % 4];
        *lane = (*lane ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        *lane ^= *lane >> 29;
    }
    uint64_t sum = lanes[0] + 3 * lanes[1] + 5 * lanes[2] + 7 * lanes[3];
    return sum ? sum : 1;
}

uint64_t *apart_known(struct apart *apart, uint64_t offset)
{
    uint32_t number = index_find(&apart->pages, offset >> APART_PAGE_SHIFT);
    if (number == INDEX_NONE) {
        number = index_add(&apart->pages, offset >> APART_PAGE_SHIFT);
        size_t count = number;
        mem_grow(apart->sums, count, apart->page_capacity);
        apart->sums[number] = mem_alloc(APART_PAGE_BLOCKS, sizeof **apart->sums);
    }
    return &apart->sums[number][offset >> APART_SHIFT & (APART_PAGE_BLOCKS - 1)];
}

/* ---- news ---- */

void news_fini(struct news *news)
{
    index_fini(&news->blocks);
    mem_free(news->masks);
    *news = (struct news){0};
}

void news_add(struct news *news, uint64_t offset, uint32_t mask)
{
    uint32_t number = index_find(&news->blocks, offset >> APART_SHIFT);
    if (number == INDEX_NONE) {
        number = index_add(&news->blocks, offset >> APART_SHIFT);
        size_t count = number;
        mem_grow(news->masks, count, news->capacity);
        news->masks[number] = (struct news_masks){0};
    }
    news->masks[number].of[offset / MEM_SECTOR % APART_SECTORS] |= mask;
}

uint32_t news_of(const struct news *news, uint64_t offset)
{
    uint32_t number = index_find(&news->blocks, offset >> APART_SHIFT);
    return number == INDEX_NONE ? 0 : news->masks[number].of[offset / MEM_SECTOR % APART_SECTORS];
}
