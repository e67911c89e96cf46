/* The page's files, which are part of the program. For this room only. */
#ifndef LIVE_PAGE_H
#define LIVE_PAGE_H

#include "live/request.h"

struct live_file {
    const char *type, *bytes;
    size_t count;
};

/* Of LIVE_PAGE to LIVE_ICON. */
struct live_file live_file(enum live_path path);

#endif
