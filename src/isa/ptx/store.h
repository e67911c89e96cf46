/* Memory of a module: allocated in pieces that live as long as the module, freed all at once. */
#ifndef PTX_STORE_H
#define PTX_STORE_H

#include <stddef.h>

struct ptx_store;

struct ptx_store *ptx_store_new(void);
void ptx_store_free(struct ptx_store *store);

/* Zeroed, and aligned for any type. */
void *ptx_store_alloc(struct ptx_store *store, size_t count, size_t bytes_each);
void *ptx_store_copy(struct ptx_store *store, const void *from, size_t count, size_t bytes_each);
char *ptx_store_text(struct ptx_store *store, const char *text,
                     size_t length); /* ends in zero, not aligned */

#endif
