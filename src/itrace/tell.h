/* A trace in words: its calls, its code, its instructions. Each is a line, without its end. */
#ifndef ITRACE_TELL_H
#define ITRACE_TELL_H

#include "base/text.h"
#include "itrace/iwalk.h"

void itrace_tell_call(const struct itrace_call *call, struct text *text);
/* A row of a function's code: its number, what it is, its units and registers. */
void itrace_tell_row(const struct itrace_code *code, uint32_t instruction, struct text *text);
/* An instruction of a warp: number, what it is, lanes, addresses, events. */
void itrace_tell_step(const struct itrace_kernel *kernel, const struct iwalk_step *step, struct text *text);

#endif
