/* What a kernel needs before its first instruction: a kernel descriptor of 64 bytes, or in version 2 an
 * amd_kernel_code_t of 256. */
#include "gcn3_object/parts.h"
#include "base/bits.h"

enum {
    DESCRIPTOR_BYTES = 64,
    KERNEL_CODE_BYTES = 256,
    LARGEST_KERNARG = 1 << 20,
    LARGEST_PRIVATE = 1 << 24, /* of a work-item */
    FIRST_GFX9 = 900,
};

static uint32_t bits(uint32_t word_of_bits, unsigned first, unsigned count)
{
    return word_of_bits >> first & ((1u << count) - 1);
}

static void decode(struct gcn3_setup *setup)
{
    uint32_t one = setup->rsrc1, two = setup->rsrc2, flags = setup->properties;
    setup->round_f32 = (uint8_t)bits(one, 12, 2);
    setup->round_f16_f64 = (uint8_t)bits(one, 14, 2);
    setup->denorm_f32 = (uint8_t)bits(one, 16, 2);
    setup->denorm_f16_f64 = (uint8_t)bits(one, 18, 2);
    setup->dx10_clamp = bits(one, 21, 1);
    setup->ieee_mode = bits(one, 23, 1);
    setup->private_segment_wave_offset = bits(two, 0, 1);
    setup->user_sgprs = (uint8_t)bits(two, 1, 5);
    for (unsigned i = 0; i < 3; i++)
        setup->workgroup_id[i] = bits(two, 7 + i, 1);
    setup->workgroup_info = bits(two, 10, 1);
    setup->workitem_id = (uint8_t)bits(two, 11, 2);
    setup->private_segment_buffer = bits(flags, 0, 1);
    setup->dispatch_ptr = bits(flags, 1, 1);
    setup->queue_ptr = bits(flags, 2, 1);
    setup->kernarg_segment_ptr = bits(flags, 3, 1);
    setup->dispatch_id = bits(flags, 4, 1);
    setup->flat_scratch_init = bits(flags, 5, 1);
    setup->private_segment_size = bits(flags, 6, 1);
    setup->dynamic_stack = bits(flags, 11, 1);
}

static uint32_t sgprs(const struct gcn3_object *object, uint32_t rsrc1)
{
    uint32_t granules = bits(rsrc1, 6, 4);
    return object->gfx >= FIRST_GFX9 ? (granules / 2 + 1) * 16 : (granules + 1) * 8;
}

bool gcn3_descriptor_read(const struct gcn3_object *object, struct gcn3_kernel_info *kernel, struct err *err)
{
    bool old = object->version == 2;
    if (!gcn3_object_holds(object, kernel->descriptor, old ? KERNEL_CODE_BYTES : DESCRIPTOR_BYTES, 0))
        return err_set(err, "%s: the descriptor of kernel %s is not in what is loaded", object->name,
                       kernel->name);
    const uint8_t *at = object->image + kernel->descriptor;
    uint64_t kernarg = old ? unaligned_u64(at + 72) : unaligned_u32(at + 8);
    kernel->group_bytes = unaligned_u32(at + (old ? 64 : 0));
    kernel->private_bytes = unaligned_u32(at + (old ? 60 : 4));
    kernel->entry = kernel->descriptor + unaligned_u64(at + 16);
    kernel->setup.rsrc1 = unaligned_u32(at + 48);
    kernel->setup.rsrc2 = unaligned_u32(at + 52);
    kernel->setup.properties = old ? unaligned_u32(at + 56) : unaligned_u32(at + 56) & 0xffff;
    kernel->vgprs = (bits(kernel->setup.rsrc1, 0, 6) + 1) * 4;
    kernel->sgprs = sgprs(object, kernel->setup.rsrc1);
    decode(&kernel->setup);
    if (kernarg > LARGEST_KERNARG || kernel->private_bytes > LARGEST_PRIVATE)
        return err_set(err, "%s: kernel %s has arguments of %llu bytes and %u private bytes: too many",
                       object->name, kernel->name, (unsigned long long)kernarg, kernel->private_bytes);
    kernel->kernarg_bytes = (uint32_t)kernarg;
    if (kernel->entry % 4 || !gcn3_object_holds(object, kernel->entry, 4, GCN3_EXECUTE))
        return err_set(err, "%s: kernel %s does not begin in code", object->name, kernel->name);
    return true;
}
