/* The code of modules that a run's profiles name, for reports: PTX and code objects of files, of programs,
 * and of the bundled workloads. */
#ifndef CLI_REPORT_CODE_H
#define CLI_REPORT_CODE_H

#include "report/page/page.h"

/* Gives lines of a module; programs hold PTX for several GPUs: `arch` (90) says whose. */
void cmd_report_code(uint32_t arch, const char *module, struct html_lines *lines);

#endif
