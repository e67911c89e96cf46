#include "serve/guest.h"
#include "base/mem.h"

#include <sys/mman.h>

void guest_init(struct guest *guest)
{
    guest->gpus = mem_alloc(guest->seat.gpu_count, sizeof *guest->gpus);
    for (uint32_t i = 0; i < guest->seat.gpu_count; i++)
        guest->gpus[i].image = image_new();
    guest->state = GUEST_RUNS;
}

void guest_fini(struct guest *guest)
{
    for (uint32_t i = 0; i < guest->seat.gpu_count; i++) {
        struct guest_gpu *gpu = &guest->gpus[i];
        heap_free(gpu->heap);
        image_free(gpu->image);
        for (size_t k = 0; k < gpu->texture_count; k++)
            mem_free(gpu->textures[k]);
        mem_free(gpu->textures);
    }
    for (size_t i = 0; i < guest->object_count; i++) {
        if (guest->objects[i].program)
            guest->objects[i].isa->unload(guest->objects[i].program);
    }
    mem_free(guest->gpus);
    mem_free(guest->objects);
    mem_free(guest->ranges);
    mem_free(guest->opened);
    names_fini(&guest->names);
    seat_unmap(&guest->seat);
    seat_leave(&guest->seat);
    *guest = (struct guest){0};
}

/* ---- memory ---- */

static bool is_within(const struct opened *one, uint64_t at, uint64_t bytes)
{
    return at >= one->at && at - one->at <= one->bytes && bytes <= one->bytes - (at - one->at);
}

bool guest_holds(const struct guest *guest, uint32_t gpu, uint64_t at, uint64_t bytes)
{
    bool holds = gpu < guest->seat.gpu_count && seat_holds(&guest->seat.gpus[gpu], at, bytes);
    for (size_t i = 0; i < guest->opened_count && !holds; i++)
        holds =
            guest->opened[i].gpu == guest->seat.first_gpu + gpu && is_within(&guest->opened[i], at, bytes);
    return holds;
}

bool guest_has(const struct guest *guest, uint64_t at, uint64_t bytes)
{
    bool has = seat_holds(&guest->seat.host, at, bytes);
    for (uint32_t i = 0; i < guest->seat.gpu_count && !has; i++)
        has = guest_holds(guest, i, at, bytes);
    for (size_t i = 0; i < guest->opened_count && !has; i++)
        has = is_within(&guest->opened[i], at, bytes);
    return has;
}

void guest_open(struct guest *guest, const struct opened *opened)
{
    mem_grow(guest->opened, guest->opened_count, guest->opened_capacity);
    guest->opened[guest->opened_count++] = *opened;
}

void guest_close(struct guest *guest, uint64_t at)
{
    for (size_t i = 0; i < guest->opened_count; i++) {
        if (guest->opened[i].at == at) {
            guest->opened[i] = guest->opened[--guest->opened_count];
            return;
        }
    }
}

/* ---- letters: the archive is read, and it is checked at the end whether all was good ---- */

static bool load(struct guest *guest, struct archive *archive, struct err *err)
{
    struct letter_load letter = {0};
    letter_load_archive(&letter, archive);
    const struct serve_isa *isa = letter.isa.at ? serve_isa_find(letter.isa.at) : NULL;
    bool good = archive->good && (isa || err_set(err, "it sends code of an unknown instruction set"));
    void *program = good ? isa->load(letter.bytes.at, letter.bytes.length, err) : NULL;
    letter_load_fini(&letter);
    if (!program)
        return false;
    mem_grow(guest->objects, guest->object_count, guest->object_capacity);
    guest->objects[guest->object_count++] = (struct loaded){letter.object, isa, program};
    return true;
}

static bool unload(struct guest *guest, struct archive *archive, struct err *err)
{
    uint64_t number = 0;
    (void)err;
    ARCHIVE_VALUE(archive, number);
    for (size_t i = 0; i < guest->object_count; i++) {
        struct loaded *loaded = &guest->objects[i];
        if (loaded->number == number && loaded->program) {
            loaded->isa->unload(loaded->program);
            *loaded = guest->objects[--guest->object_count];
            return true;
        }
    }
    return true;
}

static struct guest_gpu *gpu_of(const struct guest *guest, uint32_t gpu, struct archive *archive)
{
    return archive_check(archive, gpu < guest->seat.gpu_count) ? &guest->gpus[gpu] : NULL;
}

static struct guest_gpu *read_range(struct guest *guest, struct archive *archive, struct range *range)
{
    struct letter_range letter = {0};
    letter_range_archive(&letter, archive);
    size_t name = names_add(&guest->names, letter.what.at ? letter.what.at : "");
    *range = (struct range){letter.at, letter.bytes, guest->names.at[name], letter.read_only};
    text_fini(&letter.what);
    return gpu_of(guest, letter.gpu, archive);
}

static bool add_range(struct guest *guest, struct archive *archive, struct err *err)
{
    struct range range, before;
    struct guest_gpu *gpu = read_range(guest, archive, &range);
    (void)err;
    bool shared =
        guest_has(guest, range.at, range.bytes); /* others are of kernels that the program runs itself */
    if (gpu && range.bytes && shared && !image_find(gpu->image, range.at, &before))
        image_add(gpu->image, range);
    return gpu;
}

static bool remove_range(struct guest *guest, struct archive *archive, struct err *err)
{
    struct range range;
    struct guest_gpu *gpu = read_range(guest, archive, &range);
    (void)err;
    return gpu && (image_remove(gpu->image, range.at) || true);
}

static bool set_spare(struct guest *guest, struct archive *archive, struct err *err)
{
    struct range range;
    struct guest_gpu *gpu = read_range(guest, archive, &range);
    (void)err;
    bool shared = seat_has(&guest->seat, range.at, range.bytes);
    if (gpu && shared)
        image_set_spare(gpu->image, range);
    return gpu && shared;
}

static bool set_texture(struct guest *guest, struct archive *archive, struct err *err)
{
    struct letter_texture letter = {0};
    letter_texture_archive(&letter, archive);
    struct guest_gpu *gpu = gpu_of(guest, letter.gpu, archive);
    for (uint32_t i = 0; i < letter.texture.level_count; i++)
        archive_check(archive, guest_has(guest, (uintptr_t)letter.texture.levels[i].memory, 1));
    if (!gpu || !archive->good)
        return false;
    struct texture *texture = mem_alloc(1, sizeof *texture);
    *texture = letter.texture;
    mem_grow(gpu->textures, gpu->texture_count, gpu->texture_capacity);
    gpu->textures[gpu->texture_count++] = texture; /* kept until it leaves: kernels may still look at it */
    return image_add_texture(gpu->image, texture) == letter.handle ||
           err_set(err, "its textures have other handles than the machine's");
}

static bool remove_texture(struct guest *guest, struct archive *archive, struct err *err)
{
    struct letter_texture letter = {0};
    (void)err;
    letter_texture_archive(&letter, archive);
    struct guest_gpu *gpu = gpu_of(guest, letter.gpu, archive);
    if (gpu)
        image_remove_texture(gpu->image, letter.handle);
    return gpu;
}

static bool is_own(const struct guest *guest, const struct memory_range *range)
{
    uint32_t home = physical_home(range->to);
    uint64_t offset = physical_offset(range->to); /* devices that share the host's memory are further up */
    if (home == HOME_HOST && offset < system_shared_offset(SYSTEM_SHARING_DEVICES))
        offset %= system_shared_offset(0);
    return (home == HOME_HOST || home < guest->seat.gpu_count) &&
           seat_has(&guest->seat, range->at, range->bytes) && offset < SEAT_WINDOW &&
           range->bytes <= SEAT_WINDOW - offset && !((range->at ^ range->to.packed) % 4096);
}

/* Physical memory of seats is apart, as their addresses are. */
static bool set_memory(struct guest *guest, struct archive *archive, struct err *err)
{
    struct letter_memory letter = {0};
    (void)err;
    letter_memory_archive(&letter, archive);
    guest->range_count = (uint32_t)(letter.ranges.length / sizeof *guest->ranges);
    mem_free(guest->ranges);
    guest->ranges = mem_alloc(guest->range_count + 1, sizeof *guest->ranges);
    if (guest->range_count)
        memcpy(guest->ranges, letter.ranges.at, guest->range_count * sizeof *guest->ranges);
    text_fini(&letter.ranges);
    for (uint32_t i = 0; i < guest->range_count; i++) {
        if (!is_own(guest, &guest->ranges[i])) {
            guest->range_count = 0;
            return false;
        }
        struct physical_address *to = &guest->ranges[i].to;
        if (physical_home(*to) != HOME_HOST) /* its GPUs are some of the machine's */
            *to = physical_at(physical_home(*to) + guest->seat.first_gpu, physical_offset(*to));
        to->packed += guest->seat.number * SEAT_WINDOW;
        guest->ranges[i].host = (char *)(uintptr_t)guest->ranges[i].at;
    }
    return true;
}

static bool set_heap(struct guest *guest, struct archive *archive, struct err *err)
{
    struct letter_heap letter = {0};
    (void)err;
    letter_heap_archive(&letter, archive);
    struct guest_gpu *gpu = gpu_of(guest, letter.gpu, archive);
    if (!gpu || (letter.part_count && (letter.part_count != guest->sm_count || !letter.part_bytes ||
                                       letter.part_bytes > SEAT_WINDOW / letter.part_count ||
                                       !seat_holds(&guest->seat.gpus[letter.gpu], letter.at,
                                                   letter.part_bytes * letter.part_count))))
        return false;
    heap_free(gpu->heap);
    gpu->heap =
        letter.part_count ? heap_new(gpu->image, letter.at, letter.part_bytes, letter.part_count) : NULL;
    return true;
}

bool guest_take_letter(struct guest *guest, enum letter_kind kind, const struct text *body, struct err *err)
{
    static bool (*const takers[LETTER_KIND_COUNT])(struct guest *, struct archive *, struct err *) = {
        [LETTER_LOAD] = load,
        [LETTER_UNLOAD] = unload,
        [LETTER_RANGE] = add_range,
        [LETTER_RANGE_GONE] = remove_range,
        [LETTER_SPARE] = set_spare,
        [LETTER_TEXTURE] = set_texture,
        [LETTER_TEXTURE_GONE] = remove_texture,
        [LETTER_MEMORY] = set_memory,
        [LETTER_HEAP] = set_heap,
    };
    struct archive archive = archive_reader(body->at, body->length);
    err_set(err, "its letter %s makes no sense", letter_name(kind));
    return takers[kind] && takers[kind](guest, &archive, err) && archive_at_end(&archive);
}
