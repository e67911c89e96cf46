/* Any bytes as a fatbin, and as machine code: read within their bounds, and refused or taken. */
#include "base/mem.h"
#include "driver/fatbin.h"

#include <string.h>

enum { LARGEST_IMAGE = 1 << 20 };

static void take_name(void *user, const char *name, uint32_t registers)
{
    *(size_t *)user += strlen(name) + registers;
}

static bool take_entry(void *user, const struct fatbin_entry *entry)
{
    struct err err;
    size_t bytes;
    char *image = fatbin_unpack(entry, LARGEST_IMAGE, &bytes, &err);
    if (image) {
        *(size_t *)user += strlen(image); /* a zero byte is behind it */
        cubin_registers(image, bytes, take_name, user);
    }
    mem_free(image);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fatbin_choice choice;
    struct err err;
    size_t sum = 0;
    fatbin_read(data, bytes, take_entry, &sum, &err);
    fatbin_choose(data, bytes, 90, &choice, &err);
    cubin_registers(data, bytes, take_name, &sum);
    return 0;
}
