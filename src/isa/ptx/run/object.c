#include "ptx_run/object.h"
#include "base/mem.h"
#include "ptx/ptx.h"

static struct ptx_source *add_source(struct ptx_object *object)
{
    mem_grow(object->sources, object->count, object->capacity);
    return &object->sources[object->count++];
}

void ptx_object_add(struct ptx_object *object, const char *name, const char *text, size_t bytes)
{
    struct ptx_source *source = add_source(object);
    text_add(&source->name, "%s", name);
    text_add_bytes(&source->ptx, text, bytes);
}

static void names_archive(struct names *names, struct archive *archive)
{
    uint64_t count = archive_count(archive, names->count, sizeof(uint64_t));
    for (uint64_t i = 0; i < count && archive->good; i++) {
        struct text name = {0};
        if (!archive->reading)
            text_add(&name, "%s", names->at[i]);
        archive_text(archive, &name);
        if (archive->reading && name.at)
            names_add(names, name.at);
        text_fini(&name);
    }
}

void ptx_object_archive(struct ptx_object *object, struct archive *archive)
{
    uint64_t count = archive_count(archive, object->count, 2 * sizeof(uint64_t));
    for (uint64_t i = 0; i < count && archive->good; i++) {
        struct ptx_source *source = archive->reading ? add_source(object) : &object->sources[i];
        archive_text(archive, &source->name);
        archive_text(archive, &source->ptx);
    }
    archive_text(archive, &object->places);
    names_archive(&object->kernels, archive);
    archive_text(archive, &object->registers);
    archive_check(archive, object->registers.length == object->kernels.count * sizeof(uint32_t));
}

void ptx_object_fini(struct ptx_object *object)
{
    for (size_t i = 0; i < object->count; i++) {
        text_fini(&object->sources[i].name);
        text_fini(&object->sources[i].ptx);
    }
    mem_free(object->sources);
    text_fini(&object->places);
    text_fini(&object->registers);
    names_fini(&object->kernels);
    *object = (struct ptx_object){0};
}

/* ---- linked again ---- */

struct placing {
    const struct text *places;
    size_t next;
};

static uint64_t next_place(void *context, const struct ptx_variable *variable, uint64_t bytes,
                           uint64_t alignment)
{
    struct placing *placing = context;
    uint64_t place = 0;
    (void)variable, (void)bytes, (void)alignment;
    if (placing->next + sizeof place <= placing->places->length)
        memcpy(&place, placing->places->at + placing->next, sizeof place);
    placing->next += sizeof place;
    return place;
}

static void set_registers(struct program *program, const struct ptx_object *object)
{
    for (size_t i = 0; i < object->kernels.count; i++) {
        struct kernel *kernel = program_kernel(program, object->kernels.at[i]);
        uint32_t registers;
        memcpy(&registers, object->registers.at + i * sizeof registers, sizeof registers);
        if (kernel)
            kernel_set_registers(kernel, registers);
    }
}

struct program *ptx_object_link(const struct ptx_object *object, const struct ptx_assembler *assembler,
                                struct err *err)
{
    struct ptx_module **modules = mem_alloc(object->count, sizeof *modules);
    struct placing placing = {.places = &object->places};
    struct program *program = NULL;
    size_t count = 0;
    for (; count < object->count; count++) {
        const struct ptx_source *source = &object->sources[count];
        modules[count] = ptx_parse(source->name.at, source->ptx.at, source->ptx.length, err);
        if (!modules[count])
            break;
        assembler->optimize(modules[count]);
    }
    if (count == object->count)
        program = program_new(modules, count, assembler, next_place, &placing, err);
    else
        for (size_t i = 0; i < count; i++)
            ptx_free(modules[i]);
    mem_free(modules);
    if (program) {
        program_set_timed(program);
        set_registers(program, object);
    }
    return program;
}
