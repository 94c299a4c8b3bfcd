/* A program that sends in each way that the recorder knows. Usage: exchange ROUNDS [multiple | put | alike] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, MOST = 64 };
static char out[MOST * BYTES], in[MOST * BYTES];
static int rank, size;

static void ring(MPI_Comm comm, int tag) {
  int me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  const int right = (me + 1) % all, left = (me + all - 1) % all;
  if (all == 1) return;
  if (me == 0) {
    MPI_Send(out, 100 + me, MPI_CHAR, right, tag, comm);
    MPI_Recv(in, BYTES, MPI_CHAR, left, tag, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, BYTES, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
    MPI_Ssend(out, 100 + me, MPI_CHAR, right, tag, comm);
  }
}

static void halo(int tag) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Irecv(in, BYTES, MPI_CHAR, left, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + BYTES, BYTES, MPI_CHAR, right, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, 10 + rank, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, 20 + rank, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Rank 0 takes from anywhere while receptions from one rank with the same tag are posted, and tests for them by turns. */
static void from_anywhere(void) {
  if (rank != 0) {
    for (int i = 0; i < 3; ++i) MPI_Send(out, 8 * (i + 1), MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
    return;
  }
  MPI_Request requests[3 * MOST + 1];
  const int count = 3 * (size - 1);
  requests[0] = MPI_REQUEST_NULL;
  for (int i = 0; i < count; ++i) {
    const int source = i == 1 ? 1 : MPI_ANY_SOURCE;
    MPI_Irecv(in + i, 64, MPI_CHAR, source, 7, MPI_COMM_WORLD, &requests[1 + i]);
  }
  int left = count, index, flag, done, indices[3 * MOST + 1];
  MPI_Status statuses[3 * MOST + 1];
  MPI_Waitany(count + 1, requests, &index, &statuses[0]);
  for (--left; left > 2 * count / 3;) {
    MPI_Testany(count + 1, requests, &index, &flag, MPI_STATUS_IGNORE);
    if (flag && index != MPI_UNDEFINED) --left;
  }
  for (; left > count / 3; left -= done) MPI_Waitsome(count + 1, requests, &done, indices, statuses);
  for (; left > 0; left -= done) MPI_Testsome(count + 1, requests, &done, indices, MPI_STATUSES_IGNORE);
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    if (i % 2) {
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(in, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
      MPI_Recv(in, 1, MPI_CHAR, status.MPI_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static void persistent(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request requests[3];
  MPI_Send_init(out, 33, MPI_DOUBLE, right, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 33, MPI_DOUBLE, rank % 2 ? MPI_ANY_SOURCE : left, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(in, 33, MPI_DOUBLE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &requests[2]);
  for (int i = 0; i < 3; ++i) {
    int done = 0;
    MPI_Startall(3, requests);
    while (!done) MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int done = 0; !done;) MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
  MPI_Sendrecv(out, 5, MPI_CHAR, right, 1, in, BYTES, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out, 6, MPI_CHAR, left, 2, right, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 1, MPI_CHAR, left, 4711, MPI_COMM_WORLD, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void collectives(MPI_Comm comm) {
  int me, all, counts[MOST], places[MOST], out_counts[MOST];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  MPI_Barrier(comm);
  MPI_Bcast(out, 300, MPI_CHAR, all - 1, comm);
  MPI_Reduce(out, in, 10, MPI_INT, MPI_SUM, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Gather(out, 4, MPI_INT, in, 16, MPI_CHAR, 0, comm);
  MPI_Scatter(out, 16, MPI_CHAR, in, 4, MPI_INT, all - 1, comm);
  MPI_Allgather(out, 50, MPI_CHAR, in, 50, MPI_CHAR, comm);
  MPI_Alltoall(out, 70, MPI_CHAR, in, 70, MPI_CHAR, comm);
  for (int i = 0; i < all; ++i) {
    counts[i] = 10 * i;
    places[i] = i * BYTES;
  }
  MPI_Gatherv(out, 10 * me, MPI_CHAR, in, counts, places, MPI_CHAR, 0, comm);
  MPI_Scatterv(out, counts, places, MPI_CHAR, in, 10 * me, MPI_CHAR, 0, comm);
  MPI_Allgatherv(out, 10 * me, MPI_CHAR, in, counts, places, MPI_CHAR, comm);
  for (int i = 0; i < all; ++i) {
    out_counts[i] = (me + 2 * i) % 3 * 40;
    counts[i] = (i + 2 * me) % 3 * 40;
  }
  MPI_Alltoallv(out, out_counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, comm);
  MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < all; ++i) counts[i] = i + 1;
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const char* mode = argc > 2 ? argv[2] : "";
  int provided;
  if (strcmp(mode, "multiple") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half, twin, none;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &twin);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &none);
  if (strcmp(mode, "put") == 0) {
    MPI_Win window;
    MPI_Win_create(in, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_free(&window);
  }
  /* What is sent, and in which order, does not depend on time. */
  for (int i = 0; strcmp(mode, "alike") == 0 && i < rounds; ++i) {
    halo(i % 5);
    collectives(MPI_COMM_WORLD);
    halo(i % 3);
    collectives(twin);
  }
  for (int i = 0; strcmp(mode, "alike") != 0 && i < rounds; ++i) {
    ring(MPI_COMM_WORLD, 3);
    halo(i % 5);
    from_anywhere();
    persistent();
    ring(half, 3);
    ring(twin, 3);
    collectives(MPI_COMM_WORLD);
    collectives(half);
    if (none != MPI_COMM_NULL) MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, none);
    MPI_Comm again;
    MPI_Comm_dup(twin, &again);
    ring(again, 5);
    MPI_Comm_free(&again);
  }
  MPI_Finalize();
  if (rank == 0) puts("the program has ended well");
  return 0;
}
