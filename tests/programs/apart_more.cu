/* The other half of apart.cu. */
__device__ int shared_number = 1000;

__device__ int more(int x)
{
    return 3 * x;
}
