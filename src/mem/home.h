/* A home: memory that owns bytes, a GPU's or the host's. A physical address is a home and an offset in it.
 * Only the home's own islands translate offsets into host addresses, where the simulator keeps the bytes;
 * between runs, so does the code that manages memory as a whole. */
#ifndef MEM_HOME_H
#define MEM_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* Where a part of a home is on the host; they change only while nothing runs. Of memory that several homes
 * share page by page, only every so many pages of the host's are here. */
struct home_range {
    uint64_t at, bytes; /* offsets */
    char *host;
    uint64_t page,
        stride; /* bytes from the start of one page to that of the next, on the host; 0: in one piece */
};

struct home {
    struct home_range *ranges; /* by offset; no two overlap */
    uint32_t count;
};

/* Of ranges that overlap, the first counts. */
void home_set(struct home *home, const struct home_range *ranges, uint32_t count);
void home_fini(struct home *home);

/* The host's address of an offset; NULL: there is nothing. */
char *home_host(const struct home *home, uint64_t offset);

/* Bytes of a sector or a line. Beyond the ranges there is nothing: zeroes, and writes are lost. */
void home_prefetch(const struct home *home, uint64_t line); /* they will be read soon */
void home_read(const struct home *home, uint64_t offset, unsigned char *sector);
void home_read_line(const struct home *home, uint64_t offset, unsigned char *line, uint32_t bytes);
void home_write(const struct home *home, uint64_t offset, const unsigned char *sector, uint32_t mask);

#endif
