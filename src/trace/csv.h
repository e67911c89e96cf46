/* Accesses as CSV, as the importer reads it back: 0x7ffc0010,write,8,120 */
#ifndef TRACE_CSV_H
#define TRACE_CSV_H

#include "trace/access.h"

#include <stddef.h>

#define TRACE_CSV_HEADER "address,kind,size,instruction\n"

enum { TRACE_CSV_ROW_MOST = 64 };

/* Writes rows to `text`, which has room for TRACE_CSV_ROW_MOST bytes of each; gives how many bytes. */
size_t trace_csv_rows(const struct trace_access *accesses, size_t count, char *text);

#endif
