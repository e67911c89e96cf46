#include "native.cuh"
#include "micro_alu.c"

#define MICRO_ROW(name, type, letter, text)                                                                  \
    extern "C" __global__ void micro_##name(unsigned rounds, type b, type *out, struct micro_time *times)    \
    {                                                                                                        \
        type a = b + (type)(threadIdx.x % 32);                                                               \
        uint64_t start = 0, end = 0;                                                                         \
        _Pragma("unroll 1") for (int pass = 0; pass < 2; pass++)                                             \
        {                                                                                                    \
            __syncthreads();                                                                                 \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (unsigned i = 0; i < rounds; i++)                                        \
            {                                                                                                \
                MICRO_64(asm volatile(text : "+" letter(a) : letter(b));)                                    \
            }                                                                                                \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        out[threadIdx.x] = a;                                                                                \
        micro_note(times, start, end);                                                                       \
    }
#define MICRO_EXACT(name, type, letter, start, text, value) MICRO_ROW(name, type, letter, text)
#define MICRO_LOOSE(name, type, letter, start, text)        MICRO_ROW(name, type, letter, text)
#include "micro_alu.def"
#undef MICRO_EXACT
#undef MICRO_LOOSE

#define MICRO_EXACT(name, ...) KERNEL(micro_##name)
#define MICRO_LOOSE(name, ...) KERNEL(micro_##name)
int main(int argc, char **argv)
{
    static const struct native_kernel table[] = {
#include "micro_alu.def"
        {0, 0}};
    return native_main(&micro_alu_workload, table, argc, argv);
}
