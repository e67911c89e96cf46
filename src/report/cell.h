/* Numbers for people, as cells of tables hold them. */
#ifndef REPORT_CELL_H
#define REPORT_CELL_H

#include <stdint.h>

enum { CELL = 40 };

char *cell_whole(char cell[CELL], uint64_t value); /* 1,234,567 */

#endif
