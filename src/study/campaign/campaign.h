/* A study that a file describes (docs/studies.md): workloads, axes of settings, and the figures to make of
 * what all points give. A point is one label of each axis, and is run as a command line of heddle. */
#ifndef STUDY_CAMPAIGN_CAMPAIGN_H
#define STUDY_CAMPAIGN_CAMPAIGN_H

#include "base/names.h"
#include "base/param.h"

#include <stdint.h>
#include <stdio.h>

/* ---- what a file may say ---- */

#define CAMPAIGN_STUDY_PARAMS(P, S)                                                                          \
    P(S, text, title, "", "", "what the study is about")                                                     \
    P(S, text, workloads, "", "", "bundled workloads; [workload.NAME] may give their options")               \
    P(S, text, systems, "", "", "names or files: the axis `system`")                                         \
    P(S, text, options, "", "", "words for the command line of every point")                                 \
    P(S, count, gpus, "0", "0..64", "what {gpus} stands for in settings and options, unless --gpus says")    \
    P(S, text, baseline, "", "", "what ratios are to: AXIS=LABEL, for one axis or several")                  \
    P(S, text, metrics, "", "", "each of these gets a figure; [figure.NAME] says more of one")

#define CAMPAIGN_WORKLOAD_PARAMS(P, S)                                                                       \
    P(S, text, bench, "", "", "name of a bundled workload; that of the section unless told")                 \
    P(S, text, run, "", "", "instead: a program and its arguments, for `heddle run`")                        \
    P(S, text, options, "", "", "words for the command line, such as --n 65536")                             \
    P(S, text, quick, "", "", "with --quick: these options instead")                                         \
    P(S, text, quick_run, "", "", "with --quick: this program and arguments instead")

#define CAMPAIGN_FIGURE_PARAMS(P, S)                                                                         \
    P(S, text, title, "", "", "above the table and the plot")                                                \
    P(S, text, metric, "gpu__time_duration.sum", "", "what is shown (`heddle stats launch`)")                \
    P(S, text, over, "", "", "another metric, to divide it by")                                              \
    P(S, real, scale, "1", "", "a number to multiply it by")                                                 \
    P(S, choice, shows, "value", "value|ratio|speedup",                                                      \
      "ratio: relative to the baseline; speedup: the baseline relative to it")                               \
    P(S, text, baseline, "", "", "instead of the study's")                                                   \
    P(S, text, columns, "", "", "axis whose labels are columns, bars or places on a line; the last")         \
    P(S, choice, plot, "auto", "auto|bars|lines|none", "auto: lines if the labels are numbers")

struct campaign_study_spec {
    CAMPAIGN_STUDY_PARAMS(PARAM_FIELD, campaign_study_spec)
};
struct campaign_workload_spec {
    CAMPAIGN_WORKLOAD_PARAMS(PARAM_FIELD, campaign_workload_spec)
};
struct campaign_figure_spec {
    CAMPAIGN_FIGURE_PARAMS(PARAM_FIELD, campaign_figure_spec)
};
extern const struct param_group campaign_study_params, campaign_workload_params, campaign_figure_params;

enum campaign_shows { CAMPAIGN_VALUE, CAMPAIGN_RATIO, CAMPAIGN_SPEEDUP }; /* as the row has them */
enum campaign_plot { CAMPAIGN_AUTO, CAMPAIGN_BARS, CAMPAIGN_LINES, CAMPAIGN_NO_PLOT }; /* as well */

/* ---- what is made of it ---- */

struct campaign_words {
    const char **at; /* the texts are the campaign's */
    size_t count, capacity;
};

struct campaign_variant {
    const char *label, *where;    /* "file:line" */
    struct campaign_words words;  /* for the command line */
    struct campaign_words behind; /* at its end: a program and its arguments */
    double number;                /* of a numeric axis */
    bool is_out;                  /* left out: by --quick or --only */
};

struct campaign_axis {
    const char *name, *title, *where;
    const char *set, *values, *quick; /* keys of its section; NULL: not there */
    struct campaign_variant *variants;
    size_t count, capacity;
    bool is_numeric;
};

/* Labels of some axes. */
struct campaign_rule {
    struct campaign_pair {
        size_t axis, label;
    } * pairs;
    size_t count, capacity;
};

struct campaign_figure {
    const char *name, *where;
    struct campaign_figure_spec spec;
    size_t metric, over; /* numbers of metrics; over: NO_NAME if there is none */
    size_t columns;      /* an axis */
    struct campaign_rule baseline;
};

enum campaign_state { CAMPAIGN_WAITS, CAMPAIGN_DONE, CAMPAIGN_FAILED };

struct campaign_point {
    size_t *labels; /* by axis */
    struct campaign_words words;
    uint64_t digest; /* of all that its result depends on */
    size_t same;     /* the first point with that digest */
    enum campaign_state state;
    double *values;    /* by metric; NAN where it has none. NULL unless done */
    const char *wrong; /* why it failed */
};

enum { CAMPAIGN_WORKLOADS = 0 }; /* the number of the axis of workloads */

struct campaign {
    const char *path;
    bool is_quick;
    const char *system; /* instead of the file's; or NULL */
    struct campaign_study_spec spec;
    struct names places; /* "section\nkey" */
    const char **wheres; /* by their number: "file:line" */
    size_t where_capacity;
    struct campaign_workload {
        const char *label, *where;
        struct campaign_workload_spec spec;
    } * workloads;
    size_t workload_count, workload_capacity;
    struct campaign_axis *axes;
    size_t axis_count, axis_capacity;
    struct campaign_figure *figures;
    size_t figure_count, figure_capacity;
    struct campaign_without {
        const char *text, *where;
        struct campaign_rule rule;
    } * withouts;
    size_t without_count, without_capacity;
    struct campaign_rule baseline;
    struct campaign_point *points;
    size_t point_count, point_capacity;
    size_t *by_labels; /* number of the point of each combination of labels, or NO_NAME */
    char **kept;
    size_t kept_count, kept_capacity;
};

/* Reads a file, or its text. system (or NULL) takes the place of all of the file's. What is wrong with it is
 * told with its line. Ends with campaign_fini, in any case.
 */
bool campaign_read(struct campaign *campaign, const char *path, bool is_quick, const char *system,
                   struct err *err);
bool campaign_read_text(struct campaign *campaign, const char *name, const char *text, size_t bytes,
                        bool is_quick, const char *system, struct err *err);
void campaign_fini(struct campaign *campaign);

/* Another number of GPUs, between reading and points; only for a file that has one. */
bool campaign_set_gpus(struct campaign *campaign, const char *count, struct err *err);

/* A copy that lives as long as the campaign. */
const char *campaign_keep(struct campaign *campaign, const char *text);

/* ---- pieces of reading (campaign_words.c, _axes.c, _workloads.c, _rules.c, _figures.c) ---- */

/* Adds the words of a text: apart by blanks, unless in quotes. */
bool campaign_split(struct campaign *campaign, const char *text, struct campaign_words *words,
                    struct err *err);
void campaign_add_word(struct campaign_words *words, const char *word); /* one that is kept */
void campaign_add_words(struct campaign_words *words, const struct campaign_words *more);
void campaign_print_words(const struct campaign_words *words, struct text *text); /* as a shell takes them */

/* Puts the number of GPUs in the place of {gpus} in all words of all axes. */
void campaign_expand(struct campaign *campaign);

/* A path as the file means it: beside the file. */
const char *campaign_beside(struct campaign *campaign, const char *path);

/* The place of a key, or else of its section. */
const char *campaign_where(const struct campaign *campaign, const char *section, const char *key);

bool campaign_axis_set(struct campaign *campaign, const char *name, const char *key, const char *value,
                       const char *where, struct err *err);
bool campaign_axes_make(struct campaign *campaign, struct err *err);
struct campaign_axis *campaign_add_axis(struct campaign *campaign, const char *name, const char *where);
struct campaign_variant *campaign_add_variant(struct campaign_axis *axis, const char *label,
                                              const char *where);
bool campaign_add_workload(struct campaign *campaign, struct campaign_axis *axis,
                           const struct campaign_workload *workload, struct err *err);
bool campaign_add_systems(struct campaign *campaign, struct err *err);

/* Settings and options as words of a command line: PATH.KEY=VALUE is --set PATH.KEY=VALUE, and "-" is
 * nothing. */
bool campaign_add_options(struct campaign *campaign, const char *text, const char *where,
                          struct campaign_words *options, struct err *err);
bool campaign_axis_varies(const struct campaign_axis *axis); /* it has several labels that are not left out */
size_t campaign_axis_find(const struct campaign *campaign, const char *name); /* or NO_NAME */
size_t campaign_label_find(const struct campaign_axis *axis, const char *label);

/* "AXIS=LABEL,LABEL AXIS=LABEL". `where` begins an error. */
bool campaign_rule_parse(struct campaign *campaign, const char *text, const char *where,
                         struct campaign_rule *rule, struct err *err);
/* Whether the point has one of the labels of each axis that the rule names. */
bool campaign_rule_covers(const struct campaign_rule *rule, const size_t *labels);
void campaign_rule_fini(struct campaign_rule *rule);

bool campaign_figures_make(struct campaign *campaign, struct err *err);

/* ---- metrics (campaign_metrics.c): all that statistics have, of all kernels of a point ---- */

size_t campaign_metric_count(void);
const char *campaign_metric_name(size_t metric);
const char *campaign_metric_unit(size_t metric);
size_t campaign_metric_find(const char *name, const char **suggestion); /* or NO_NAME */

bool campaign_metrics_are_printed(void); /* some of them: what programs print is kept */

/* From the file that --json writes, and that with what was printed, if there is one. The caller frees them.
 * NULL: it tells of no complete run. */
double *campaign_metrics_read(const char *path, const char *log_path, struct err *err);

/* ---- points (campaign_points.c, campaign_run.c) ---- */

struct campaign_how {
    unsigned jobs, threads; /* points at a time, of each rank; threads of each point */
    bool no_progress;
    struct ranks *ranks;         /* NULL: one process */
    const char *folder;          /* where points of this rank leave their statistics */
    bool keeps;                  /* they stay there */
    const char *program;         /* heddle */
    const char *const *settings; /* of all points; ends in NULL, or NULL */
    const _Atomic int *interrupt;
    /* Checks a command line (its words end in NULL), and adds what its result depends on. */
    bool (*check)(int count, char **words, struct text *identity, struct err *err);
    void (*failed)(const struct campaign *campaign,
                   const struct campaign_point *point); /* tells of it at once */
};

/* Leaves out all labels of an axis but these: "AXIS=LABEL,LABEL". */
bool campaign_pick(struct campaign *campaign, const char *text, struct err *err);

/* All combinations of labels, checked. */
bool campaign_points_make(struct campaign *campaign, const struct campaign_how *how, struct err *err);

/* The point of these labels; NULL: it was left out. */
const struct campaign_point *campaign_point_at(const struct campaign *campaign, const size_t *labels);

/* "fir, l2=12MiB". */
void campaign_point_name(const struct campaign *campaign, const struct campaign_point *point,
                         struct text *text);

/* Takes the results that are in the folder already; returns how many. The study runs those left. */
size_t campaign_resume(struct campaign *campaign, const struct campaign_how *how);
size_t
campaign_different(const struct campaign *campaign); /* points that are the same as another count once */

/* Of all points, and so of all that results depend on. */
uint64_t campaign_digest(const struct campaign *campaign);

/* Runs them; each that fails says so, and `failed` becomes how many did, of those that ended. All ranks call
 * it: rank 0 gets the results. Fails only as deal_run does. */
bool campaign_run(struct campaign *campaign, const struct campaign_how *how, size_t *failed, struct err *err);

/* ---- tables (campaign_table.c) ---- */

struct campaign_table {
    const struct campaign_figure *figure;
    const struct campaign_axis *across; /* the axis of the columns */
    size_t *columns;                    /* its labels */
    size_t column_count;
    struct campaign_row {
        char *name;
        bool is_mean;  /* geometric, over the workloads above that have all columns */
        double *cells; /* NAN: not known */
    } * rows;
    size_t row_count, row_capacity;
};

void campaign_table_init(struct campaign_table *table, const struct campaign *campaign,
                         const struct campaign_figure *figure);
void campaign_table_fini(struct campaign_table *table);
const char *campaign_column(const struct campaign_table *table, size_t column);
double campaign_figure_value(const struct campaign *campaign, const struct campaign_figure *figure,
                             const size_t *labels);
void campaign_figure_title(const struct campaign *campaign, const struct campaign_figure *figure,
                           struct text *text);
enum campaign_plot campaign_figure_plot(const struct campaign *campaign,
                                        const struct campaign_figure *figure);

/* ---- telling it (campaign_print.c, _csv.c, _json.c, _svg.c) ---- */

void campaign_print(const struct campaign *campaign, FILE *stream);
void campaign_markdown(const struct campaign *campaign, FILE *stream);
void campaign_csv(const struct campaign *campaign, FILE *stream);
void campaign_json(const struct campaign *campaign, FILE *stream);
void campaign_svg(const struct campaign *campaign, const struct campaign_figure *figure, FILE *stream);

#endif
