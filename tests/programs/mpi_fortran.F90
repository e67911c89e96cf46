! MPI from Fortran with memory of a GPU: messages, requests, collectives; with `use mpi`, or with mpif.h (-DMPIF_H).
program mpi_fortran
    use iso_c_binding
#ifndef MPIF_H
    use mpi
#endif
    implicit none
#ifdef MPIF_H
    include 'mpif.h'
#endif
    interface
        integer(c_int) function cuInit(flags) bind(C, name='cuInit')
            import
            integer(c_int), value :: flags
        end function
        integer(c_int) function retain(context, device) bind(C, name='cuDevicePrimaryCtxRetain')
            import
            type(c_ptr) :: context
            integer(c_int), value :: device
        end function
        integer(c_int) function set_current(context) bind(C, name='cuCtxSetCurrent')
            import
            type(c_ptr), value :: context
        end function
        integer(c_int) function allocate_there(at, bytes) bind(C, name='cuMemAlloc_v2')
            import
            type(c_ptr) :: at
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function to_gpu(at, from, bytes) bind(C, name='cuMemcpyHtoD_v2')
            import
            type(c_ptr), value :: at
            integer(c_int) :: from(*)
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function from_gpu(to, at, bytes) bind(C, name='cuMemcpyDtoH_v2')
            import
            integer(c_int) :: to(*)
            type(c_ptr), value :: at
            integer(c_size_t), value :: bytes
        end function
    end interface

    integer, parameter :: numbers = 100
    integer(c_size_t), parameter :: bytes = 4 * numbers
    integer :: rank, ranks, error, left, right, requests(2), got(MPI_STATUS_SIZE), all_got(MPI_STATUS_SIZE, 2)
    integer :: failures, i, number, row, counts
    logical :: come
    integer(c_int) :: mine(numbers), theirs(numbers)
    type(c_ptr) :: context, at(2)
    integer(c_int), pointer, contiguous :: send(:), recv(:)

    failures = 0
    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
    call check(cuInit(0) == 0, 'cuInit')
    call check(retain(context, 0) == 0, 'context')
    call check(set_current(context) == 0, 'context')
    call check(allocate_there(at(1), bytes) == 0, 'memory')
    call check(allocate_there(at(2), bytes) == 0, 'memory')
    call c_f_pointer(at(1), send, [numbers])
    call c_f_pointer(at(2), recv, [numbers])

    call begin()
    call mpi_sendrecv(send, numbers, MPI_INTEGER, right, 1, recv, numbers, MPI_INTEGER, left, 1, &
                      MPI_COMM_WORLD, got, error)
    call check(got(MPI_SOURCE) == left .and. got(MPI_TAG) == 1, 'status')
    call mpi_get_count(got, MPI_INTEGER, number, error)
    call check(number == numbers, 'count')
    call expect('sendrecv', numbers, 1000 * left)

    call begin()
    call mpi_irecv(recv, numbers, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), error)
    call mpi_isend(send, numbers, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2), error)
    call mpi_waitall(2, requests, all_got, error)
    call check(all_got(MPI_SOURCE, 1) == left .and. requests(1) == MPI_REQUEST_NULL, 'waitall')
    call expect('irecv', numbers, 1000 * left)

    call mpi_recv_init(recv, numbers, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1), error)
    call mpi_send_init(send, numbers, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2), error)
    do i = 1, 2
        call begin()
        call mpi_startall(2, requests, error)
        call mpi_waitany(1, requests, number, got, error)
        call check(number == 1 .and. got(MPI_SOURCE) == left, 'waitany')
        call mpi_wait(requests(2), MPI_STATUS_IGNORE, error)
        call expect('persistent', numbers, 1000 * left)
    end do
    call mpi_request_free(requests(1), error)
    call mpi_request_free(requests(2), error)

    call begin()
    call mpi_allreduce(send, recv, numbers, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call expect('allreduce', numbers, 1000 * (ranks - 1))
    call begin()
    call mpi_allreduce(MPI_IN_PLACE, send, numbers, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call mpi_sendrecv(send, 7, MPI_INTEGER, right, 4, recv, numbers, MPI_INTEGER, left, 4, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    call expect('allreduce in place', 7, 1000 * (ranks - 1))
    call begin()
    call mpi_bcast(send, numbers, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    call mpi_comm_split(MPI_COMM_WORLD, 0, -rank, row, error)
    call mpi_gather(send, 10, MPI_INTEGER, recv, 10, MPI_INTEGER, 0, row, error)
    if (rank == ranks - 1) then ! the first of this communicator
        call check(from_gpu(theirs, at(2), bytes) == 0, 'copy')
        call check(all([(all(theirs(10 * i + 1:10 * i + 10) == [(1000 * rank + number, number = 1, 10)]), &
                         i = 0, ranks - 1)]), 'gather')
        call check(theirs(10 * ranks + 1) == -1, 'gather')
    end if
    call mpi_comm_free(row, error)

    come = .false.
    call mpi_irecv(recv, numbers, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), error)
    call mpi_send(send, 5, MPI_INTEGER, right, 5, MPI_COMM_WORLD, error)
    do while (.not. come)
        call mpi_test(requests(1), come, got, error)
    end do
    call mpi_get_count(got, MPI_INTEGER, counts, error)
    call check(counts == 5, 'test')
    call mpi_barrier(MPI_COMM_WORLD, error)
    if (failures == 0) print '(a)', 'mpi_fortran: ok'
    call mpi_finalize(error)
    if (failures > 0) stop 1

contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(a,i0,2a)', 'rank ', rank, ': not so: ', what
        failures = failures + 1
    end subroutine

    subroutine begin()
        mine = [(1000 * rank + i, i = 1, numbers)]
        call check(to_gpu(at(1), mine, bytes) == 0, 'copy')
        mine = -1
        call check(to_gpu(at(2), mine, bytes) == 0, 'copy')
    end subroutine

    subroutine expect(what, count, more)
        character(*), intent(in) :: what
        integer, intent(in) :: count, more
        integer :: k
        call check(from_gpu(theirs, at(2), bytes) == 0, 'copy')
        call check(all([(theirs(k) == more + k, k = 1, count)]), what)
        call check(all(theirs(count + 1:) == -1), what)
    end subroutine
end program
