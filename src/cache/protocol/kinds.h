/* Kinds of messages of the protocols that others build on. Name, class, carries data, weight. For this room
 * only. */
#ifndef PROTOCOL_KINDS_H
#define PROTOCOL_KINDS_H

/* MOESI with a directory; MESI uses some of them, too. */
#define MOESI_KINDS(X)                                                                                       \
    X(GetS, REQUEST, 0, 0)                                                                                   \
    X(GetX, REQUEST, 0, 0)                                                                                   \
    X(Put, REQUEST, 1, 0)                                                                                    \
    X(Inv, FORWARD, 0, 0)                                                                                    \
    X(FwdS, FORWARD, 0, 0)                                                                                   \
    X(FwdX, FORWARD, 0, 0)                                                                                   \
    X(WbAck, FORWARD, 0, 0)                                                                                  \
    X(Data, RESPONSE, 1, 0)                                                                                  \
    X(DataX, RESPONSE, 1, 0)                                                                                 \
    X(Ack, RESPONSE, 0, -1)                                                                                  \
    X(AckN, RESPONSE, 0, 0)                                                                                  \
    X(Unb, UNBLOCK, 0, 0)                                                                                    \
    X(UnbX, UNBLOCK, 0, 0)

/* MOESI by broadcast. An owner's answer counts for memory's, too, which is not sent then. */
#define HAMMER_KINDS(X)                                                                                      \
    X(GetS, REQUEST, 0, 0)                                                                                   \
    X(GetX, REQUEST, 0, 0)                                                                                   \
    X(Put, REQUEST, 0, 0)                                                                                    \
    X(FwdS, FORWARD, 0, 0)                                                                                   \
    X(FwdX, FORWARD, 0, 0)                                                                                   \
    X(WbAck, FORWARD, 0, 0)                                                                                  \
    X(WbNack, FORWARD, 0, 0)                                                                                 \
    X(Ack, RESPONSE, 0, -1)                                                                                  \
    X(AckS, RESPONSE, 0, -1)                                                                                 \
    X(Data, RESPONSE, 1, -2)                                                                                 \
    X(DataS, RESPONSE, 1, -2)                                                                                \
    X(DataX, RESPONSE, 1, -2)                                                                                \
    X(MemS, RESPONSE, 1, -1)                                                                                 \
    X(MemX, RESPONSE, 1, -1)                                                                                 \
    X(UnbS, UNBLOCK, 0, 0)                                                                                   \
    X(UnbX, UNBLOCK, 0, 0)                                                                                   \
    X(Unb, UNBLOCK, 0, 0)                                                                                    \
    X(WbData, UNBLOCK, 1, 0)                                                                                 \
    X(WbDataX, UNBLOCK, 1, 0)

/* Between a GPU's L1s and its L2. */
#define GPU_KINDS(X)                                                                                         \
    X(Read, REQUEST, 0, 0)                                                                                   \
    X(Write, REQUEST, 1, 0)                                                                                  \
    X(ReadData, RESPONSE, 1, 0)                                                                              \
    X(WriteAck, RESPONSE, 0, -1)

#endif
