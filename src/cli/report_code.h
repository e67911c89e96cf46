/* The code of modules that a run's profiles name, for reports: PTX and code objects of files, of programs, and of
 * the bundled workloads. */
#ifndef CLI_REPORT_CODE_H
#define CLI_REPORT_CODE_H

#include "report/page/page.h"

/* For page_request.code; `user` is a uint32_t: the architecture of the GPU (90), whose PTX programs hold. */
void cmd_report_code(void *user, const char *module, struct page_lines *lines);

#endif
