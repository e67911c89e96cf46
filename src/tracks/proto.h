/* Protocol Buffers, written: fields of messages, one after another, into a buffer. */
#ifndef TRACKS_PROTO_H
#define TRACKS_PROTO_H

#include <stddef.h>
#include <stdint.h>

struct proto {
    unsigned char *at;
    size_t length, capacity;
};

void proto_fini(struct proto *proto);

void proto_number(struct proto *proto, uint32_t field, uint64_t value); /* uint, int, bool, enum */
void proto_fixed(struct proto *proto, uint32_t field, uint64_t value);  /* fixed64 */
void proto_double(struct proto *proto, uint32_t field, double value);
void proto_text(struct proto *proto, uint32_t field, const char *text);

/* A message inside: what is written between the two is its fields. proto_begin gives what proto_end wants. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t begun);

#endif
