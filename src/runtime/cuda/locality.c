/* What include/heddle_locality.h finds in a program that uses this library. */
#include "runtime/cuda/api.h"

HEDDLE_API const struct heddle_locality *heddle_locality_of_library(void);

const struct heddle_locality *heddle_locality_of_library(void)
{
    static struct heddle_locality offered;
    if (!offered.version)
        offered = common_locality(cuda_driver);
    return &offered;
}
