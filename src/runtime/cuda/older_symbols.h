/* Included by each older_FILE.c behind its functions: gives those of this file (which defines OLDER_IN_...)
 * the versions of the libraries that have them by this name. */
#define OLDER_11_11(name, body)              __asm__(".symver " #body ", " #name "@libcudart.so.11.0");
#define OLDER_12_12(name, body)              __asm__(".symver " #body ", " #name "@libcudart.so.12");
#define OLDER_11_12(name, body)              OLDER_11_11(name, body) OLDER_12_12(name, body)
#define OLDER(file, first, last, name, body) OLDER_IN_##file(OLDER_##first##_##last(name, body))
#define GONE(name)
#include "runtime/cuda/older.def"
#undef OLDER
#undef GONE
