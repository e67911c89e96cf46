/* The code that is bundled with the workloads. */
#include "check.h"
#include "workloads/run.h"

#include <elf.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, GFX803 = 0x2a, VERSION_5 = 3 }; /* e_machine; of e_flags; EI_ABIVERSION */

static void each_has_code_for_a_gpu(void **state)
{
    (void)state;
    for (size_t i = 0; workloads[i]; i++) {
        size_t ptx, gcn3;
        const char *text = workload_code(workloads[i], WORKLOAD_PTX, &ptx);
        const char *object = workload_code(workloads[i], WORKLOAD_GCN3, &gcn3);
        assert_true(text || object);
        assert_true(!text == !ptx && !object == !gcn3);
        if (text)
            assert_non_null(strstr(text, ".version"));
    }
}

static void code_objects_are_for_gfx803(void **state)
{
    size_t found = 0;
    (void)state;
    for (size_t i = 0; workloads[i]; i++) {
        size_t bytes;
        const char *object = workload_code(workloads[i], WORKLOAD_GCN3, &bytes);
        Elf64_Ehdr head;
        if (!object)
            continue;
        found++;
        assert_true(bytes > sizeof head);
        memcpy(&head, object, sizeof head);
        assert_memory_equal(head.e_ident, ELFMAG, SELFMAG);
        assert_int_equal(head.e_machine, MACHINE_AMDGPU);
        assert_int_equal(head.e_flags & 0xff, GFX803);
        assert_int_equal(head.e_ident[EI_ABIVERSION], VERSION_5);
        assert_true(head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize <= bytes);
    }
    assert_true(found >= 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_code_for_a_gpu),
        cmocka_unit_test(code_objects_are_for_gfx803),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
