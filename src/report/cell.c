#include "report/cell.h"

#include <stdio.h>

char *cell_whole(char cell[CELL], uint64_t value)
{
    char digits[CELL];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            cell[at++] = ',';
        cell[at++] = digits[i];
    }
    cell[at] = 0;
    return cell;
}
