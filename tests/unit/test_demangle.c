/* C++ names for people. */
#include "check.h"
#include "base/apart.h"
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
    shows("_Z1kIXadL_Z1fvEEEvv", "k<&f>");
    shows("_Z1kIZ4mainEUliE_Evv", "k<main::lambda#1>");
    shows("_Z1kIZN3Sim3runIfEEvT_EUliE0_S0_Evv", "k<Sim::run<float>::lambda#2, Sim>");
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
    shows("_Z1kIXplLi1ELi2EEEvv", "k<..>");
    shows("_Z1kIZ4mainE", "k<..>");
    shows("_Z1kIZ4mainEUliE", "k<..>");
    shows("_Z1kIS9_Evv", "k<..>");
    shows("_Z1fIZ1gvE1h__", "f<..>"); /* cut in the number of a name */
    shows("_Z1fIZ1gvE1h__12EvT", "f<..>");
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

static void apart(const char *const *names, size_t count, size_t room, const char *const *expected)
{
    struct text texts[16] = {0};
    names_apart(names, count, room, texts);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(texts[i].at, expected[i]);
        assert_true(texts[i].length <= room);
        text_fini(&texts[i]);
    }
}

/* As nvcc 13 names Kokkos' kernels. */
#define KOKKOS "_ZN6Kokkos4Impl33cuda_parallel_launch_local_memoryINS0_"
static const char *const kokkos[] = {
    KOKKOS "11ParallelForIZN3Sim4stepEvEUliE_NS_11RangePolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS "11ParallelForIZN3Sim4stepEvEUliE0_NS_11RangePolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS "11ParallelForI4AxpyIdENS_11RangePolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS "11ParallelForI4AxpyIfENS_11RangePolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS "11ParallelForI4AxpyIfENS_10TeamPolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS
    "11ParallelForIN6miniFE13MatvecFunctorINS_4ViewIJPd10LayoutLeftNS_4CudaE3MemEEESA_EENS_11RangePolicy"
    "IJS8_EEES8_EEEEvT_",
    KOKKOS "14ParallelReduceIN6miniFE3DotEdNS_11RangePolicyIJNS_4CudaEEEES6_EEEEvT_",
    KOKKOS
    "11ParallelForINS0_8ViewFillINS_4ViewIJPd10LayoutLeftNS_4CudaE3MemEEELi1EEENS_11RangePolicyIJS7_EEES7_"
    "EEEEvT_",
    KOKKOS
    "11ParallelForINS0_8ViewFillINS_4ViewIJPPd10LayoutLeftNS_4CudaE3MemEEELi2EEENS_11RangePolicyIJS8_EEES8_"
    "EEEEvT_",
    KOKKOS "11ParallelForIZ4mainEUliE_NS_11RangePolicyIJNS_4CudaEEEES5_EEEEvT_",
    KOKKOS "11ParallelForIZN3Sim3runIfEEvT_EUliE_NS_11RangePolicyIJNS_4CudaEEEES8_EEEEvS5_",
    KOKKOS "11ParallelForIZN3Sim3runIiEEvT_EUliE_NS_11RangePolicyIJNS_4CudaEEEES8_EEEEvS5_",
    "_Z5saxpyifPKfPf",
};
enum { KOKKOS_COUNT = sizeof kokkos / sizeof *kokkos };

static void what_differs_tells_kernels_apart(void **state)
{
    (void)state;
    static const char *const in_table[KOKKOS_COUNT] = {"Sim::step::lambda#1",
                                                       "Sim::step::lambda#2",
                                                       "Axpy<double>",
                                                       "Axpy..at>, RangePolicy",
                                                       "Axpy..oat>, TeamPolicy",
                                                       "MatvecFunctor",
                                                       "ParallelReduce<Dot>",
                                                       "View<double*>",
                                                       "View<double**>",
                                                       "main::lambda#1",
                                                       "run<float>::lambda#1",
                                                       "run<int>::lambda#1",
                                                       "saxpy"};
    apart(kokkos, KOKKOS_COUNT, 22, in_table);
#define LAUNCH(what) "Kokkos::Impl::cuda_parallel_launch_local_memory<" what ">"
    static const char *const before_lines[] = {LAUNCH("ParallelFor<Sim::step::lambda#1>"),
                                               LAUNCH("ParallelFor<Sim::step::lambda#2>"),
                                               LAUNCH("ParallelFor<Axpy<double>>"),
                                               LAUNCH("ParallelFor<Axpy<float>, RangePolicy>"),
                                               LAUNCH("ParallelFor<Axpy<float>, TeamPolicy>"),
                                               LAUNCH("ParallelFor<MatvecFunctor>"),
                                               LAUNCH("ParallelReduce<Dot>")};
    apart(kokkos, 7, 90, before_lines);
    apart(&kokkos[2], 2, 90,
          (const char *const[]){LAUNCH("Axpy<double>"), LAUNCH("Axpy<float>")}); /* all else is the same */
    apart(&kokkos[2], 1, 90,
          (const char *const[]){"Impl::cuda_parallel_launch_local_memory<ParallelFor<Axpy<..>, "
                                "RangePolicy<..>, Cuda>>"});
    apart((const char *const[]){"_Z25a_kernel_with_a_long_nameILi8EEvv",
                                "_Z25a_kernel_with_a_long_nameILi16EEvv"},
          2, 22, (const char *const[]){"a_kernel_..ong_name<8>", "a_kernel..ong_name<16>"});
    apart((const char *const[]){"a", "a", "_ZN", ""}, 4, 22, (const char *const[]){"a", "a", "_ZN", ""});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_no_parameters),
        cmocka_unit_test(template_arguments_are_shown),
        cmocka_unit_test(namespaces_of_arguments_and_versions_are_left_out),
        cmocka_unit_test(what_is_not_understood_does_no_harm),
        cmocka_unit_test(a_name_is_cut_where_it_matters_least),
        cmocka_unit_test(what_differs_tells_kernels_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
