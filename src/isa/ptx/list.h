/* Lists that grow at their end. */
#ifndef PTX_LIST_H
#define PTX_LIST_H

#include "base/mem.h"

#define LIST_OF(type)                                                                                        \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t count, capacity;                                                                              \
    }

/* Adds one, which is zero or what was there before; gives its address until the next is added. */
#define list_push(list)                                                                                      \
    ({                                                                                                       \
        mem_grow((list).at, (list).count, (list).capacity);                                                  \
        &(list).at[(list).count++];                                                                          \
    })

#endif
