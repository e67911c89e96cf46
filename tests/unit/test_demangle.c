/* C++ names for people. */
#include "check.h"
#include "base/demangle.h"

static void shows(const char *mangled, const char *expected)
{
    struct text text = {0};
    demangle(mangled, &text);
    assert_string_equal(text.at, expected);
    text_fini(&text);
}

static void short_as(const char *name, size_t room, const char *expected)
{
    struct text text = {0};
    name_shorten(name, room, &text);
    assert_string_equal(text.at, expected);
    assert_true(text.length <= room);
    text_fini(&text);
}

static void a_name_has_no_parameters(void **state)
{
    (void)state;
    shows("saxpy", "saxpy");
    shows("_Z5saxpyifPKfPf", "saxpy");
    shows("_ZL5saxpyv", "saxpy");
    shows("_ZN2ns7stridedEPi", "ns::strided");
    shows("_ZN12_GLOBAL__N_15saxpyEv", "saxpy");
}

static void template_arguments_are_shown(void **state)
{
    (void)state;
    shows("_Z4bankILi1EEvPfi", "bank<1>");
    shows("_Z4bankILin33EEvPfi", "bank<-33>");
    shows("_Z4copyIKfPS0_Lb1EEvv", "copy<const float, const float*, true>");
    shows("_ZN2ns6kernelILi8EfEEvPT0_", "ns::kernel<8, float>");
    shows("_Z1kIPKPfRiEvv", "k<float* const*, int&>");
    shows("_Z1kIJifEEvDpT_", "k<int, float>");
    shows("_Z1kIA4_fPFviEEvv", "k<float[4], function*>");
}

static void namespaces_of_arguments_and_versions_are_left_out(void **state)
{
    (void)state;
    shows("_ZN3cub17CUB_300001_SM_9006detail11EmptyKernelIvEEvv", "cub::detail::EmptyKernel<void>");
    shows("_ZN3cub17CUB_300001_SM_9006detail4scan20DeviceScanInitKernelINS0_13ScanTileStateIfLb1EEEEEvT_i",
          "cub::detail::scan::DeviceScanInitKernel<ScanTileState<float, true>>");
    shows("_ZN3cub17CUB_300001_SM_9006detail10radix_sort31DeviceRadixSortSingleTileKernelINS1_5radix10policy_"
          "hubIiNS0_8NullTypeEyE10Policy1000ELNS0_9SortOrderE0EiS6_yNS1_21identity_decomposer_tEEEvPKT1_PSB_"
          "PKT2_PSF_T3_iiT4_",
          "cub::detail::radix_sort::DeviceRadixSortSingleTileKernel<Policy1000, 0, int, NullType, unsigned "
          "long "
          "long, ..>");
}

static void what_is_not_understood_does_no_harm(void **state)
{
    (void)state;
    shows("_Z", "_Z");
    shows("_Z99x", "_Z99x");
    shows("_ZN2ns", "ns");
    shows("_Z1kIXadL_Z1fvEEEvv", "k<..>");
    shows("_Z1kIS9_Evv", "k<..>");
    char deep[400] = "_Z1kI";
    memset(deep + 5, 'P', sizeof deep - 6);
    shows(deep, "k<..>");
}

static void a_name_is_cut_where_it_matters_least(void **state)
{
    (void)state;
    short_as("saxpy", 22, "saxpy");
    short_as("cub::detail::EmptyKernel<void>", 22, "EmptyKernel<void>");
    short_as("memcpy_3d_device<unsigned, 0, 1, 1>", 22, "memcpy_3d_device.., 1>");
    short_as("DeviceRadixSortOnesweepKernel<int, int>", 22, "DeviceRadi..weepKernel");
    short_as("a_kernel_with_a_very_long_name", 22, "a_kernel_w.._long_name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_no_parameters),
        cmocka_unit_test(template_arguments_are_shown),
        cmocka_unit_test(namespaces_of_arguments_and_versions_are_left_out),
        cmocka_unit_test(what_is_not_understood_does_no_harm),
        cmocka_unit_test(a_name_is_cut_where_it_matters_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
