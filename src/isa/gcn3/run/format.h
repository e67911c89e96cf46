/* Typed data: what the bytes of an element mean, by the data format and the number format of a resource or an
 * instruction (the manual's tables of buffer resources). Pure. For this room only. */
#ifndef GCN3_RUN_FORMAT_H
#define GCN3_RUN_FORMAT_H

#include <stdint.h>

enum { GCN3_COMPONENTS = 4, GCN3_ELEMENT_MOST = 16 };

uint32_t gcn3_format_bytes(uint32_t data); /* of an element; 0: there is no such format */

/* Components in registers: floats of 32 bits, or integers. Those that the format lacks are 0 when read. */
void gcn3_format_read(uint32_t data, uint32_t number, const unsigned char *bytes,
                      uint32_t components[GCN3_COMPONENTS]);
void gcn3_format_write(uint32_t data, uint32_t number, const uint32_t components[GCN3_COMPONENTS],
                       unsigned char *bytes);
uint32_t gcn3_format_one(uint32_t number); /* 1 as such a component */

#endif
