/* What `heddle report` and `heddle compare` make pages of. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include "base/err.h"
#include "report/compare/compare.h"
#include "report/experiment.h"

struct report_page {
    const char *output;
    bool no_sources;
    const struct runfile *runs;
    size_t run_count;
    const struct experiment *experiments; /* or NULL; at least one of all these */
    size_t experiment_count;
    const struct comparison *comparisons; /* or NULL */
    size_t comparison_count;
    const struct measurement *measured; /* or NULL */
    const char *const *drawings;        /* SVG files */
    size_t drawing_count;
};

bool cmd_report_page(const struct report_page *page, struct err *err);

/* A run and what ncu measured, from files; what was read lives until cmd_report_forget. */
struct report_measured {
    struct ncu_table table;
    struct measurement measurement;
};
bool cmd_report_measure(struct report_measured *measured, const struct runfile *run, const char *ncu,
                        struct err *err);
void cmd_report_forget(struct report_measured *measured);

#endif
