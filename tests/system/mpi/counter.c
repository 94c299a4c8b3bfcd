/* Counts what a program sends, to judge the recorder: shares no code with it. Each rank writes COUNTS.RANK, lines of
   "p2p TARGET MESSAGES BYTES" and "coll NAME CALLS BYTES". What has lengths by member counts as messages, as docs/traces.md says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 256, KINDS = 8, REQUESTS = 256 };
static const char* names[KINDS] = {"barrier", "broadcast", "reduce", "allreduce", "gather", "allgather", "scatter", "alltoall"};
static long messages[RANKS], bytes[RANKS], calls[KINDS], call_bytes[KINDS];
static struct {
  MPI_Request request;
  int count, target;
  MPI_Datatype type;
  MPI_Comm comm;
} prepared[REQUESTS];

static void one(int count, MPI_Datatype type, int target, MPI_Comm comm, int also_empty) {
  int size, there;
  MPI_Group here, world;
  if (target == MPI_PROC_NULL) return;
  PMPI_Type_size(type, &size);
  if (!also_empty && count * (long)size == 0) return;
  PMPI_Comm_group(comm, &here);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(here, 1, &target, world, &there);
  PMPI_Group_free(&here);
  PMPI_Group_free(&world);
  ++messages[there];
  bytes[there] += count * (long)size;
}

static void together(int kind, long count, MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  ++calls[kind];
  call_bytes[kind] += count * size;
}

static int is_root(int root, MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

int MPI_Send(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { one(n, t, to, c, 1); return PMPI_Send(a, n, t, to, tag, c); }
int MPI_Ssend(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { one(n, t, to, c, 1); return PMPI_Ssend(a, n, t, to, tag, c); }
int MPI_Isend(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) { one(n, t, to, c, 1); return PMPI_Isend(a, n, t, to, tag, c, r); }
int MPI_Sendrecv(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u, int from, int tag2, MPI_Comm c, MPI_Status* s) {
  one(n, t, to, c, 1);
  return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, tag2, c, s);
}
int MPI_Sendrecv_replace(void* a, int n, MPI_Datatype t, int to, int tag, int from, int tag2, MPI_Comm c, MPI_Status* s) {
  one(n, t, to, c, 1);
  return PMPI_Sendrecv_replace(a, n, t, to, tag, from, tag2, c, s);
}
int MPI_Send_init(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const int result = PMPI_Send_init(a, n, t, to, tag, c, r);
  for (int i = 0; i < REQUESTS; ++i) {
    if (prepared[i].count != 0) continue;
    prepared[i].request = *r, prepared[i].count = n, prepared[i].target = to, prepared[i].type = t, prepared[i].comm = c;
    break;
  }
  return result;
}
static void begun(MPI_Request request) {
  for (int i = 0; i < REQUESTS; ++i) {
    if (prepared[i].count != 0 && prepared[i].request == request) one(prepared[i].count, prepared[i].type, prepared[i].target, prepared[i].comm, 1);
  }
}
int MPI_Start(MPI_Request* r) { begun(*r); return PMPI_Start(r); }
int MPI_Startall(int n, MPI_Request* r) {
  for (int i = 0; i < n; ++i) begun(r[i]);
  return PMPI_Startall(n, r);
}
int MPI_Request_free(MPI_Request* r) {
  for (int i = 0; i < REQUESTS; ++i) {
    if (prepared[i].request == *r) prepared[i].count = 0;
  }
  return PMPI_Request_free(r);
}

int MPI_Barrier(MPI_Comm c) { together(0, 0, MPI_CHAR); return PMPI_Barrier(c); }
int MPI_Bcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c) { together(1, n, t); return PMPI_Bcast(a, n, t, root, c); }
int MPI_Reduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c) { together(2, n, t); return PMPI_Reduce(a, b, n, t, o, root, c); }
int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) { together(3, n, t); return PMPI_Allreduce(a, b, n, t, o, c); }
int MPI_Gather(const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c) {
  if (is_root(root, c)) together(4, m, u); else together(4, n, t);
  return PMPI_Gather(a, n, t, b, m, u, root, c);
}
int MPI_Allgather(const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c) { together(5, m, u); return PMPI_Allgather(a, n, t, b, m, u, c); }
int MPI_Scatter(const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c) {
  if (is_root(root, c)) together(6, n, t); else together(6, m, u);
  return PMPI_Scatter(a, n, t, b, m, u, root, c);
}
int MPI_Alltoall(const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c) { together(7, m, u); return PMPI_Alltoall(a, n, t, b, m, u, c); }
int MPI_Gatherv(const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, int root, MPI_Comm c) {
  if (!is_root(root, c)) one(n, t, root, c, 0);
  return PMPI_Gatherv(a, n, t, b, m, d, u, root, c);
}
int MPI_Scatterv(const void* a, const int* n, const int* d, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c) {
  int all;
  PMPI_Comm_size(c, &all);
  for (int i = 0; is_root(root, c) && i < all; ++i) {
    if (i != root) one(n[i], t, i, c, 0);
  }
  return PMPI_Scatterv(a, n, d, t, b, m, u, root, c);
}
int MPI_Alltoallv(const void* a, const int* n, const int* d, MPI_Datatype t, void* b, const int* m, const int* e, MPI_Datatype u, MPI_Comm c) {
  int all;
  PMPI_Comm_size(c, &all);
  for (int i = 0; i < all; ++i) {
    if (!is_root(i, c)) one(n[i], t, i, c, 0);
  }
  return PMPI_Alltoallv(a, n, d, t, b, m, e, u, c);
}
int MPI_Allgatherv(const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, MPI_Comm c) {
  int all;
  long sum = 0;
  PMPI_Comm_size(c, &all);
  for (int i = 0; i < all; ++i) sum += m[i];
  together(5, (sum + all - 1) / all, u); /* of one byte each, in our program */
  return PMPI_Allgatherv(a, n, t, b, m, d, u, c);
}
int MPI_Scan(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  int rank, all;
  PMPI_Comm_rank(c, &rank);
  PMPI_Comm_size(c, &all);
  if (rank + 1 < all) one(n, t, rank + 1, c, 1);
  return PMPI_Scan(a, b, n, t, o, c);
}
int MPI_Reduce_scatter(const void* a, void* b, const int* m, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  int all, size;
  long sum = 0;
  PMPI_Comm_size(c, &all);
  PMPI_Type_size(t, &size);
  for (int i = 0; i < all; ++i) sum += m[i] * (long)size;
  together(2, sum, MPI_CHAR);
  together(6, (sum + all - 1) / all, MPI_CHAR);
  return PMPI_Reduce_scatter(a, b, m, t, o, c);
}

int MPI_Finalize(void) {
  int rank;
  char name[4096];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s.%d", getenv("COUNTS"), rank);
  FILE* file = fopen(name, "w");
  if (file != NULL) {
    for (int i = 0; i < RANKS; ++i) {
      if (messages[i] > 0) fprintf(file, "p2p %d %ld %ld\n", i, messages[i], bytes[i]);
    }
    for (int i = 0; i < KINDS; ++i) {
      if (calls[i] > 0) fprintf(file, "coll %s %ld %ld\n", names[i], calls[i], call_bytes[i]);
    }
    fclose(file);
  }
  return PMPI_Finalize();
}
