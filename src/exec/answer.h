/* Memory that answers at once, for launches that run one instruction at a time, but without time. */
#ifndef EXEC_ANSWER_H
#define EXEC_ANSWER_H

#include "isa/request.h"

struct isa_ops;
struct isa_warp;

/* Does what the warp's instruction wants of memory, and clears the request. Addresses are the host's. */
void answer_request(const struct isa_ops *isa, struct isa_warp *warp, struct request *request);

#endif
