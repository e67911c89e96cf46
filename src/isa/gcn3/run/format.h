/* Typed data: what the bytes of an element mean, by the data format and the number format of a resource or an
 * instruction (the manual's tables of buffer resources). Pure. For this room only. */
#ifndef GCN3_RUN_FORMAT_H
#define GCN3_RUN_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum { GCN3_COMPONENTS = 4, GCN3_ELEMENT_MOST = 16 };

uint32_t gcn3_format_bytes(uint32_t data); /* of an element; 0: there is no such format */

/* Components in registers: floats of 32 bits, or integers. Those that the format lacks are 0 when read. */
void gcn3_format_read(uint32_t data, uint32_t number, const unsigned char *bytes,
                      uint32_t components[GCN3_COMPONENTS]);
void gcn3_format_write(uint32_t data, uint32_t number, const uint32_t components[GCN3_COMPONENTS],
                       unsigned char *bytes);
uint32_t gcn3_format_one(uint32_t number); /* 1 as such a component */
bool gcn3_format_is_number(uint32_t number);
bool gcn3_format_is_integer(uint32_t number);

/* dst_sel of a resource: 3 bits for each register of a load. A store goes the other way: of two registers
 * that have one component, the first one is stored; components that none has stay as they are. */
void gcn3_format_select(uint32_t select, uint32_t number, const uint32_t components[GCN3_COMPONENTS],
                        uint32_t selected[GCN3_COMPONENTS]);
void gcn3_format_place(uint32_t select, const uint32_t selected[GCN3_COMPONENTS],
                       uint32_t components[GCN3_COMPONENTS]);

/* A component of 32 bits as one of 16, and back: an f16, or an integer. */
uint32_t gcn3_format_half(uint32_t number, uint32_t value);
uint32_t gcn3_format_whole(uint32_t number, uint32_t half);

#endif
