/* The controllers of a coherence protocol as drawings: states, and the events that lead from one to another.
 */
#ifndef CLI_PROTOCOL_DRAWING_H
#define CLI_PROTOCOL_DRAWING_H

#include "cache/protocol/protocol.h"

bool drawing_of_protocol(const struct protocol *protocol, const char *path, struct err *err);

#endif
