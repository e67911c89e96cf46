/* A log with levels, on stderr. Results never go through it. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

#define LOG_LEVELS(L)                                                                                        \
    L(error, "only what stops a run")                                                                        \
    L(warn, "and what may surprise")                                                                         \
    L(info, "and what is being done")                                                                        \
    L(debug, "and why")

enum log_level {
#define L(name, help) LOG_##name,
    LOG_LEVELS(L)
#undef L
};

/* Lines above this level are not written; the start is `warn`. */
void log_set_level(enum log_level level);
bool log_level_parse(const char *name, enum log_level *level, struct err *err);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(__printf__, 2, 3)));

#define log_error(...) log_line(LOG_error, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_warn, __VA_ARGS__)
#define log_info(...)  log_line(LOG_info, __VA_ARGS__)
#define log_debug(...) log_line(LOG_debug, __VA_ARGS__)

#endif
