/* What kernels ask of the device runtime: attributes, limits, occupancy, texts of errors. */
#include "driver/brood.h"
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/mem.h"
#include "base/text.h"
#include "system/occupancy.h"

enum { SUCCESS, INVALID_VALUE = 1 }; /* CUDA's */
enum { CODES = 1000 };               /* of errors are below */

static void put(struct device_answer *answer, const void *value, uint32_t bytes)
{
    answer->bytes = bytes;
    memcpy(answer->at, value, bytes);
}

/* ---- texts of errors, in the device's memory: all of them, as a kernel cannot wait for one ---- */

struct brood_texts {
    uint64_t at;
    uint32_t names[CODES + 1], texts[CODES + 1]; /* where each begins; the last one is of all other codes */
};

void brood_prepare_answers(struct device *device)
{
    const struct driver_library *library = device->driver->library;
    struct text all = {0};
    if (device->error_texts || !library)
        return;
    struct brood_texts *texts = device->error_texts = mem_alloc(1, sizeof *texts);
    for (int code = 0; code <= CODES; code++) {
        const char *name = library->error_text(code, true), *text = library->error_text(code, false);
        bool is_other = code && !strcmp(text, library->error_text(CODES, false));
        if (is_other && code < CODES)
            continue;
        texts->names[code] = (uint32_t)all.length;
        text_add_bytes(&all, name, strlen(name) + 1);
        texts->texts[code] = (uint32_t)all.length;
        text_add_bytes(&all, text, strlen(text) + 1);
    }
    for (int code = 1; code < CODES; code++) {
        if (texts->texts[code])
            continue;
        texts->names[code] = texts->names[CODES];
        texts->texts[code] = texts->texts[CODES];
    }
    const struct memory_request request = {
        .kind = MEMORY_VARIABLE, .bytes = all.length, .alignment = 256, .what = "texts of errors"};
    if (!memory_take(device->driver, device, &request, &texts->at)) {
        memcpy((void *)(uintptr_t)texts->at, all.at, all.length);
        timeline_touch(device->driver, texts->at, all.length, MEMORY_CHANGED);
    }
    text_fini(&all);
}

static int tell_text(const struct device *device, uint64_t code, bool is_name, struct device_answer *answer)
{
    const struct brood_texts *texts = device->error_texts;
    if (!texts || !texts->at)
        return INVALID_VALUE;
    uint32_t index = code < CODES ? (uint32_t)code : CODES;
    uint64_t at = texts->at + (is_name ? texts->names : texts->texts)[index];
    put(answer, &at, sizeof at);
    return SUCCESS;
}

/* ---- others ---- */

static int tell_occupancy(const struct device *device, const struct kernel *kernel, const uint64_t asked[2],
                          struct device_answer *answer)
{
    const struct kernel_facts *facts = kernel_facts((struct kernel *)(uintptr_t)kernel);
    const struct occupancy_need need = {.threads = (uint32_t)asked[0],
                                        .registers = facts->registers,
                                        .shared_static = facts->shared_bytes,
                                        .shared_dynamic = asked[1],
                                        .carveout = -1};
    if ((int32_t)asked[0] <= 0)
        return INVALID_VALUE;
    int32_t blocks = (int32_t)occupancy_of(device->spec, &need).blocks;
    put(answer, &blocks, sizeof blocks);
    return SUCCESS;
}

static int tell_function(const struct device *device, const struct kernel *kernel,
                         struct device_answer *answer)
{
    struct function_facts facts;
    function_usual_facts(device, kernel, &facts);
    answer->bytes = device->driver->library->fill_function(&facts, answer->at, sizeof answer->at);
    return SUCCESS;
}

static int tell_attribute(struct device *device, const uint64_t asked[2], struct device_answer *answer)
{
    struct driver *driver = device->driver;
    int value;
    if (asked[1] >= driver->device_count ||
        !driver->library->attribute(&driver->devices[asked[1]], (int)asked[0], &value))
        return INVALID_VALUE;
    put(answer, &value, sizeof value);
    return SUCCESS;
}

static int tell_limit(struct device *device, uint64_t limit, struct device_answer *answer)
{
    if (limit >= LIMIT_COUNT)
        return INVALID_VALUE;
    uint64_t value = device->limits[limit];
    put(answer, &value, sizeof value);
    return SUCCESS;
}

int brood_answer(struct device *device, enum device_question what, const struct kernel *kernel,
                 const uint64_t asked[2], struct device_answer *answer)
{
    if (!device->driver->library)
        return INVALID_VALUE;
    switch (what) {
    case DEVICE_ATTRIBUTE:
        return tell_attribute(device, asked, answer);
    case DEVICE_LIMIT:
        return tell_limit(device, asked[0], answer);
    case DEVICE_ERROR_NAME:
    case DEVICE_ERROR_TEXT:
        return tell_text(device, asked[0], what == DEVICE_ERROR_NAME, answer);
    case DEVICE_FUNCTION:
        return tell_function(device, kernel, answer);
    case DEVICE_OCCUPANCY:
        return tell_occupancy(device, kernel, asked, answer);
    }
    return INVALID_VALUE;
}
