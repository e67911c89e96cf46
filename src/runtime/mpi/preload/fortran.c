/* The names that Fortran programs call, with mpif.h and with `use mpi`. MPICH's call those of C, which are
 * ours; Open MPI's do not, so they are made of ours here. */
#include "runtime/mpi/preload/functions.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what Fortran has in the place of C's: numbers of handles, addresses of constants ---- */

static void *next(const char *name, void **kept)
{
    if (!*kept && !(*kept = dlsym(RTLD_NEXT, name))) {
        dprintf(STDERR_FILENO, "heddle: the program's MPI has no %s\n", name);
        _exit(1);
    }
    return *kept;
}

static bool has_own_names(void)
{
    return abi()->world_symbol; /* Open MPI */
}

#define F2C(kind, number)                                                                                    \
    ({                                                                                                       \
        static void *f2c;                                                                                    \
        ((handle(*)(int))abi_real("PMPI_" #kind "_f2c", &f2c))(*(number));                                   \
    })
#define C2F(kind, handle_)                                                                                   \
    ({                                                                                                       \
        static void *c2f;                                                                                    \
        ((int (*)(handle))abi_real("PMPI_" #kind "_c2f", &c2f))(handle_);                                    \
    })
#define COMM(number) F2C(Comm, number)
#define TYPE(number) F2C(Type, number)
#define OP(number)   F2C(Op, number)

static bool is_constant(const void *at, const char *name)
{
    const void *constant = dlsym(RTLD_DEFAULT, name);
    return constant && at == constant;
}

static void *buffer(void *at)
{
    return is_constant(at, "mpi_fortran_in_place_") ? (void *)abi()->in_place
           : is_constant(at, "mpi_fortran_bottom_") ? NULL
                                                    : at;
}

/* Fortran's statuses have the layout of C's. */
static void *status(void *at)
{
    bool is_ignored =
        is_constant(at, "mpi_fortran_status_ignore_") || is_constant(at, "mpi_fortran_statuses_ignore_");
    return is_ignored ? (void *)abi()->ignore : at;
}

/* ---- functions: name, parameters, the same without types, what they do ---- */

#define UNPACK(...) __VA_ARGS__
#define FUNCTION(name, parameters, arguments, ...)                                                           \
    EXPORT void mpi_##name##_(UNPACK parameters, int *error)                                                 \
    {                                                                                                        \
        static void *kept;                                                                                   \
        if (!has_own_names())                                                                                \
            ((__typeof__(mpi_##name##_) *)next("mpi_" #name "_", &kept))(UNPACK arguments, error);           \
        else                                                                                                 \
            *error = __VA_ARGS__;                                                                            \
    }
/* ... that begin something: `made` is its request. */
#define BEGINS(name, parameters, arguments, ...)                                                             \
    static int begin_##name(UNPACK parameters, handle *made)                                                 \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }                                                                                                        \
    EXPORT void mpi_##name##_(UNPACK parameters, int *request, int *error)                                   \
    {                                                                                                        \
        static void *kept;                                                                                   \
        handle made = NULL;                                                                                  \
        if (!has_own_names()) {                                                                              \
            ((__typeof__(mpi_##name##_) *)next("mpi_" #name "_", &kept))(UNPACK arguments, request, error);  \
            return;                                                                                          \
        }                                                                                                    \
        *error = begin_##name(UNPACK arguments, &made);                                                      \
        *request = C2F(Request, made);                                                                       \
    }

static int start_mpi(int *wanted, int *given)
{
    return wanted ? MPI_Init_thread(NULL, NULL, *wanted, given) : MPI_Init(NULL, NULL);
}

EXPORT void mpi_init_(int *error)
{
    static void *kept;
    if (has_own_names())
        *error = start_mpi(NULL, NULL);
    else
        ((void (*)(int *))next("mpi_init_", &kept))(error);
}

EXPORT void mpi_finalize_(int *error)
{
    static void *kept;
    if (has_own_names())
        *error = MPI_Finalize();
    else
        ((void (*)(int *))next("mpi_finalize_", &kept))(error);
}
FUNCTION(init_thread, (int *wanted, int *given), (wanted, given), start_mpi(wanted, given))

#define SENDS(S) S(send, Send) S(ssend, Ssend) S(rsend, Rsend) S(bsend, Bsend)
#define S(name, c_name)                                                                                      \
    FUNCTION(name, (void *at, int *count, int *type, int *to, int *tag, int *comm),                          \
             (at, count, type, to, tag, comm),                                                               \
             MPI_##c_name(buffer(at), *count, TYPE(type), *to, *tag, COMM(comm)))
SENDS(S)
#undef S
#define STARTS(S)                                                                                            \
    S(isend, Isend)                                                                                          \
    S(issend, Issend)                                                                                        \
    S(irsend, Irsend)                                                                                        \
    S(ibsend, Ibsend)                                                                                        \
    S(irecv, Irecv)                                                                                          \
    S(send_init, Send_init)                                                                                  \
    S(ssend_init, Ssend_init) S(rsend_init, Rsend_init) S(bsend_init, Bsend_init) S(recv_init, Recv_init)
#define S(name, c_name)                                                                                      \
    BEGINS(name, (void *at, int *count, int *type, int *other, int *tag, int *comm),                         \
           (at, count, type, other, tag, comm),                                                              \
           MPI_##c_name(buffer(at), *count, TYPE(type), *other, *tag, COMM(comm), made))
STARTS(S)
#undef S
FUNCTION(recv, (void *at, int *count, int *type, int *from, int *tag, int *comm, void *got),
         (at, count, type, from, tag, comm, got),
         MPI_Recv(buffer(at), *count, TYPE(type), *from, *tag, COMM(comm), status(got)))
FUNCTION(sendrecv,
         (void *send, int *send_count, int *send_type, int *to, int *send_tag, void *recv, int *recv_count,
          int *recv_type, int *from, int *recv_tag, int *comm, void *got),
         (send, send_count, send_type, to, send_tag, recv, recv_count, recv_type, from, recv_tag, comm, got),
         MPI_Sendrecv(buffer(send), *send_count, TYPE(send_type), *to, *send_tag, buffer(recv), *recv_count,
                      TYPE(recv_type), *from, *recv_tag, COMM(comm), status(got)))
FUNCTION(sendrecv_replace,
         (void *at, int *count, int *type, int *to, int *send_tag, int *from, int *recv_tag, int *comm,
          void *got),
         (at, count, type, to, send_tag, from, recv_tag, comm, got),
         MPI_Sendrecv_replace(buffer(at), *count, TYPE(type), *to, *send_tag, *from, *recv_tag, COMM(comm),
                              status(got)))
FUNCTION(probe, (int *from, int *tag, int *comm, void *got), (from, tag, comm, got),
         MPI_Probe(*from, *tag, COMM(comm), status(got)))
FUNCTION(iprobe, (int *from, int *tag, int *comm, int *come, void *got), (from, tag, comm, come, got),
         MPI_Iprobe(*from, *tag, COMM(comm), come, status(got)))

/* ---- requests ---- */

static handle *handles_of(const int *requests, int count)
{
    handle *list = mem_alloc((size_t)(count > 0 ? count : 0) + 1, sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = F2C(Request, &requests[i]);
    return list;
}

static int give_back(int result, handle *list, int *requests, int count)
{
    for (int i = 0; i < count; i++)
        requests[i] = C2F(Request, list[i]);
    mem_free(list);
    return result;
}

/* Fortran counts from 1. */
static int numbered(int result, int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] += numbers[i] != abi()->undefined;
    return result;
}

#define WITH_HANDLES(name, count, parameters, arguments, ...)                                                \
    static int do_##name(UNPACK parameters)                                                                  \
    {                                                                                                        \
        handle *list = handles_of(requests, count);                                                          \
        return give_back(__VA_ARGS__, list, requests, count);                                                \
    }                                                                                                        \
    FUNCTION(name, parameters, arguments, do_##name arguments)
WITH_HANDLES(start, 1, (int *requests), (requests), MPI_Start(list))
WITH_HANDLES(request_free, 1, (int *requests), (requests), MPI_Request_free(list))
WITH_HANDLES(startall, *count, (int *count, int *requests), (count, requests), MPI_Startall(*count, list))
WITH_HANDLES(wait, 1, (int *requests, void *got), (requests, got), MPI_Wait(list, status(got)))
WITH_HANDLES(waitall, *count, (int *count, int *requests, void *got), (count, requests, got),
             MPI_Waitall(*count, list, status(got)))
WITH_HANDLES(waitany, *count, (int *count, int *requests, int *number, void *got),
             (count, requests, number, got),
             numbered(MPI_Waitany(*count, list, number, status(got)), number, 1))
WITH_HANDLES(waitsome, *count, (int *count, int *requests, int *some, int *numbers, void *got),
             (count, requests, some, numbers, got),
             numbered(MPI_Waitsome(*count, list, some, numbers, status(got)), numbers, *some))
WITH_HANDLES(test, 1, (int *requests, int *come, void *got), (requests, come, got),
             MPI_Test(list, come, status(got)))
WITH_HANDLES(testall, *count, (int *count, int *requests, int *come, void *got), (count, requests, come, got),
             MPI_Testall(*count, list, come, status(got)))
WITH_HANDLES(testany, *count, (int *count, int *requests, int *number, int *come, void *got),
             (count, requests, number, come, got),
             numbered(MPI_Testany(*count, list, number, come, status(got)), number, *come != 0))
WITH_HANDLES(testsome, *count, (int *count, int *requests, int *some, int *numbers, void *got),
             (count, requests, some, numbers, got),
             numbered(MPI_Testsome(*count, list, some, numbers, status(got)), numbers, *some))

/* ---- collectives ---- */

FUNCTION(barrier, (int *comm), (comm), MPI_Barrier(COMM(comm)))
FUNCTION(bcast, (void *at, int *count, int *type, int *root, int *comm), (at, count, type, root, comm),
         MPI_Bcast(buffer(at), *count, TYPE(type), *root, COMM(comm)))
FUNCTION(reduce, (void *send, void *recv, int *count, int *type, int *op, int *root, int *comm),
         (send, recv, count, type, op, root, comm),
         MPI_Reduce(buffer(send), buffer(recv), *count, TYPE(type), OP(op), *root, COMM(comm)))
BEGINS(ibarrier, (int *comm), (comm), MPI_Ibarrier(COMM(comm), made))
BEGINS(ibcast, (void *at, int *count, int *type, int *root, int *comm), (at, count, type, root, comm),
       MPI_Ibcast(buffer(at), *count, TYPE(type), *root, COMM(comm), made))
BEGINS(ireduce, (void *send, void *recv, int *count, int *type, int *op, int *root, int *comm),
       (send, recv, count, type, op, root, comm),
       MPI_Ireduce(buffer(send), buffer(recv), *count, TYPE(type), OP(op), *root, COMM(comm), made))
BEGINS(iallreduce, (void *send, void *recv, int *count, int *type, int *op, int *comm),
       (send, recv, count, type, op, comm),
       MPI_Iallreduce(buffer(send), buffer(recv), *count, TYPE(type), OP(op), COMM(comm), made))

#define REDUCTIONS(R)                                                                                        \
    R(allreduce, Allreduce, *count)                                                                          \
    R(scan, Scan, *count)                                                                                    \
    R(exscan, Exscan, *count)                                                                                \
    R(reduce_scatter_block, Reduce_scatter_block, *count) R(reduce_scatter, Reduce_scatter, count)
#define R(name, c_name, counts)                                                                              \
    FUNCTION(name, (void *send, void *recv, int *count, int *type, int *op, int *comm),                      \
             (send, recv, count, type, op, comm),                                                            \
             MPI_##c_name(buffer(send), buffer(recv), counts, TYPE(type), OP(op), COMM(comm)))
REDUCTIONS(R)
#undef R

#define ROOTED(R) R(gather, Gather) R(scatter, Scatter)
#define R(name, c_name)                                                                                      \
    FUNCTION(name,                                                                                           \
             (void *send, int *send_count, int *send_type, void *recv, int *recv_count, int *recv_type,      \
              int *root, int *comm),                                                                         \
             (send, send_count, send_type, recv, recv_count, recv_type, root, comm),                         \
             MPI_##c_name(buffer(send), *send_count, TYPE(send_type), buffer(recv), *recv_count,             \
                          TYPE(recv_type), *root, COMM(comm)))
ROOTED(R)
#undef R
FUNCTION(gatherv,
         (void *send, int *send_count, int *send_type, void *recv, int *counts, int *at, int *recv_type,
          int *root, int *comm),
         (send, send_count, send_type, recv, counts, at, recv_type, root, comm),
         MPI_Gatherv(buffer(send), *send_count, TYPE(send_type), buffer(recv), counts, at, TYPE(recv_type),
                     *root, COMM(comm)))
FUNCTION(scatterv,
         (void *send, int *counts, int *at, int *send_type, void *recv, int *recv_count, int *recv_type,
          int *root, int *comm),
         (send, counts, at, send_type, recv, recv_count, recv_type, root, comm),
         MPI_Scatterv(buffer(send), counts, at, TYPE(send_type), buffer(recv), *recv_count, TYPE(recv_type),
                      *root, COMM(comm)))

#define EXCHANGES(E)                                                                                         \
    E(allgather, Allgather)                                                                                  \
    E(alltoall, Alltoall)                                                                                    \
    E(neighbor_allgather, Neighbor_allgather) E(neighbor_alltoall, Neighbor_alltoall)
#define E(name, c_name)                                                                                      \
    FUNCTION(name,                                                                                           \
             (void *send, int *send_count, int *send_type, void *recv, int *recv_count, int *recv_type,      \
              int *comm),                                                                                    \
             (send, send_count, send_type, recv, recv_count, recv_type, comm),                               \
             MPI_##c_name(buffer(send), *send_count, TYPE(send_type), buffer(recv), *recv_count,             \
                          TYPE(recv_type), COMM(comm)))
EXCHANGES(E)
#undef E
#define E(name, c_name)                                                                                      \
    BEGINS(name,                                                                                             \
           (void *send, int *send_count, int *send_type, void *recv, int *recv_count, int *recv_type,        \
            int *comm),                                                                                      \
           (send, send_count, send_type, recv, recv_count, recv_type, comm),                                 \
           MPI_##c_name(buffer(send), *send_count, TYPE(send_type), buffer(recv), *recv_count,               \
                        TYPE(recv_type), COMM(comm), made))
E(iallgather, Iallgather)
E(ialltoall, Ialltoall)
#undef E
FUNCTION(allgatherv,
         (void *send, int *send_count, int *send_type, void *recv, int *counts, int *at, int *recv_type,
          int *comm),
         (send, send_count, send_type, recv, counts, at, recv_type, comm),
         MPI_Allgatherv(buffer(send), *send_count, TYPE(send_type), buffer(recv), counts, at, TYPE(recv_type),
                        COMM(comm)))
FUNCTION(alltoallv,
         (void *send, int *send_counts, int *send_at, int *send_type, void *recv, int *recv_counts,
          int *recv_at, int *recv_type, int *comm),
         (send, send_counts, send_at, send_type, recv, recv_counts, recv_at, recv_type, comm),
         MPI_Alltoallv(buffer(send), send_counts, send_at, TYPE(send_type), buffer(recv), recv_counts,
                       recv_at, TYPE(recv_type), COMM(comm)))

/* ---- communicators, which all ranks meet for; .true. is 1 ---- */

static int told(int result, handle made, int *number)
{
    *number = C2F(Comm, made);
    return result;
}

#define MAKES(name, parameters, arguments, ...)                                                              \
    static int make_##name(UNPACK parameters)                                                                \
    {                                                                                                        \
        handle made = NULL;                                                                                  \
        int result = __VA_ARGS__;                                                                            \
        return told(result, made, number);                                                                   \
    }                                                                                                        \
    FUNCTION(name, parameters, arguments, make_##name arguments)
MAKES(comm_dup, (int *comm, int *number), (comm, number), MPI_Comm_dup(COMM(comm), &made))
MAKES(comm_split, (int *comm, int *color, int *key, int *number), (comm, color, key, number),
      MPI_Comm_split(COMM(comm), *color, *key, &made))
MAKES(cart_create, (int *comm, int *axes, int *sizes, int *closed, int *reorder, int *number),
      (comm, axes, sizes, closed, reorder, number),
      MPI_Cart_create(COMM(comm), *axes, sizes, closed, *reorder, &made))
