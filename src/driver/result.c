#include "driver/result.h"

const char *result_text(int result)
{
    switch (result) {
#define R(id, number, text)                                                                                  \
    case number:                                                                                             \
        return text;
        DRIVER_RESULTS(R)
#undef R
    default:
        return "unknown error";
    }
}
