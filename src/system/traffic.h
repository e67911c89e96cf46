/* What the links of a machine have carried. For this room only. */
#ifndef SYSTEM_TRAFFIC_H
#define SYSTEM_TRAFFIC_H

#include "system/parts.h"

/* Since the machine was made, both ways of each link; to be freed. */
struct net_traffic *traffic_now(const struct local_machine *machine);

/* Before the machine is made anew, which begins to count at 0: what there was is kept. */
void traffic_note(struct local_machine *machine);

/* machine_links. */
size_t traffic_links(const struct machine *base, struct machine_link *links, size_t most);

#endif
