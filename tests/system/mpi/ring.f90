! Two messages and a collective of each rank, in Fortran; made into a program with mpi_f08 too.
program f
  use mpi
  implicit none
  integer :: r, n, ierr, req(2), st(MPI_STATUS_SIZE,2), comm
  integer :: a(10), b(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  a = r
  call MPI_Irecv(b, 10, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, req(1), ierr)
  call MPI_Isend(a, 10, MPI_INTEGER, mod(r+1,n), 1, comm, req(2), ierr)
  call MPI_Waitall(2, req, st, ierr)
  if (b(1) /= mod(r+n-1,n)) stop 1
  call MPI_Sendrecv(a, 5, MPI_INTEGER, mod(r+1,n), 2, b, 5, MPI_INTEGER, mod(r+n-1,n), 2, comm, MPI_STATUS_IGNORE, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_INTEGER, MPI_SUM, comm, ierr)
  if (r == 0) print '(a)', 'the program has ended well'
  call MPI_Finalize(ierr)
end program
