/* MPI's functions in C that this library has, as far as those of Fortran are made of them. */
#ifndef RUNTIME_MPI_PRELOAD_FUNCTIONS_H
#define RUNTIME_MPI_PRELOAD_FUNCTIONS_H

#include "runtime/mpi/preload/abi.h"

typedef mpi_handle handle;

int MPI_Init(int *, char ***), MPI_Init_thread(int *, char ***, int, int *), MPI_Finalize(void);

int MPI_Send(const void *, int, handle, int, int, handle),
    MPI_Ssend(const void *, int, handle, int, int, handle),
    MPI_Rsend(const void *, int, handle, int, int, handle),
    MPI_Bsend(const void *, int, handle, int, int, handle);
int MPI_Isend(const void *, int, handle, int, int, handle, void *),
    MPI_Issend(const void *, int, handle, int, int, handle, void *),
    MPI_Irsend(const void *, int, handle, int, int, handle, void *),
    MPI_Ibsend(const void *, int, handle, int, int, handle, void *);
int MPI_Send_init(const void *, int, handle, int, int, handle, void *),
    MPI_Ssend_init(const void *, int, handle, int, int, handle, void *),
    MPI_Rsend_init(const void *, int, handle, int, int, handle, void *),
    MPI_Bsend_init(const void *, int, handle, int, int, handle, void *),
    MPI_Recv_init(const void *, int, handle, int, int, handle, void *);
int MPI_Recv(void *, int, handle, int, int, handle, void *),
    MPI_Irecv(void *, int, handle, int, int, handle, void *);
int MPI_Sendrecv(const void *, int, handle, int, int, void *, int, handle, int, int, handle, void *);
int MPI_Sendrecv_replace(void *, int, handle, int, int, int, int, handle, void *);
int MPI_Probe(int, int, handle, void *), MPI_Iprobe(int, int, handle, int *, void *);

int MPI_Start(void *), MPI_Startall(int, void *), MPI_Request_free(void *);
int MPI_Wait(void *, void *), MPI_Waitall(int, void *, void *), MPI_Waitany(int, void *, int *, void *),
    MPI_Waitsome(int, void *, int *, int *, void *);
int MPI_Test(void *, int *, void *), MPI_Testall(int, void *, int *, void *),
    MPI_Testany(int, void *, int *, int *, void *), MPI_Testsome(int, void *, int *, int *, void *);

int MPI_Barrier(handle), MPI_Ibarrier(handle, void *);
int MPI_Bcast(void *, int, handle, int, handle), MPI_Ibcast(void *, int, handle, int, handle, void *);
int MPI_Reduce(const void *, void *, int, handle, handle, int, handle),
    MPI_Ireduce(const void *, void *, int, handle, handle, int, handle, void *);
int MPI_Allreduce(const void *, void *, int, handle, handle, handle),
    MPI_Scan(const void *, void *, int, handle, handle, handle),
    MPI_Exscan(const void *, void *, int, handle, handle, handle),
    MPI_Reduce_scatter_block(const void *, void *, int, handle, handle, handle),
    MPI_Reduce_scatter(const void *, void *, const int *, handle, handle, handle),
    MPI_Iallreduce(const void *, void *, int, handle, handle, handle, void *);
int MPI_Gather(const void *, int, handle, void *, int, handle, int, handle),
    MPI_Scatter(const void *, int, handle, void *, int, handle, int, handle),
    MPI_Gatherv(const void *, int, handle, void *, const int *, const int *, handle, int, handle),
    MPI_Scatterv(const void *, const int *, const int *, handle, void *, int, handle, int, handle);
int MPI_Allgather(const void *, int, handle, void *, int, handle, handle),
    MPI_Alltoall(const void *, int, handle, void *, int, handle, handle),
    MPI_Neighbor_allgather(const void *, int, handle, void *, int, handle, handle),
    MPI_Neighbor_alltoall(const void *, int, handle, void *, int, handle, handle),
    MPI_Iallgather(const void *, int, handle, void *, int, handle, handle, void *),
    MPI_Ialltoall(const void *, int, handle, void *, int, handle, handle, void *);
int MPI_Allgatherv(const void *, int, handle, void *, const int *, const int *, handle, handle),
    MPI_Alltoallv(const void *, const int *, const int *, handle, void *, const int *, const int *, handle,
                  handle);

int MPI_Comm_dup(handle, void *), MPI_Comm_split(handle, int, int, void *),
    MPI_Cart_create(handle, int, const int *, const int *, int, void *);

#endif
