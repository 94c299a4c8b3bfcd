/* A libibverbs of which only what libheddle-apm.so comes between is there: queue pairs that have paths and a migration state, and
   arm at once. Each call is told on standard output. Programs of our own are linked with it in place of the real one. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#undef ibv_query_port

struct pair {
  struct ibv_qp qp;
  struct ibv_qp_attr now;
};

static struct ibv_qp_attr *of(struct ibv_qp *qp) { return &((struct pair *)qp)->now; }

int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
  struct ibv_qp_attr *now = of(qp);
  if (mask & IBV_QP_STATE) {
    now->qp_state = qp->state = attr->qp_state;
    if (mask & IBV_QP_AV) now->ah_attr = attr->ah_attr;
    now->path_mig_state = IBV_MIG_MIGRATED;
    printf("state %d\n", attr->qp_state);
  } else if (mask & IBV_QP_ALT_PATH) {
    now->alt_ah_attr = attr->alt_ah_attr;
    now->path_mig_state = IBV_MIG_ARMED;
    printf("loaded %d\n", attr->alt_ah_attr.dlid);
  } else if (now->path_mig_state == IBV_MIG_ARMED) {
    now->ah_attr = now->alt_ah_attr;
    now->path_mig_state = IBV_MIG_MIGRATED;
    printf("migrated to %d\n", now->ah_attr.dlid);
  } else {
    return EINVAL;
  }
  fflush(stdout);
  return 0;
}
int modify_1_0(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
  (void)qp, (void)attr, (void)mask;
  printf("by the old name\n");
  fflush(stdout);
  return 0;
}
int query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init) {
  (void)mask, (void)init;
  *attr = *of(qp);
  return 0;
}
int destroy(struct ibv_qp *qp) {
  printf("destroyed %u\n", qp->qp_num);
  fflush(stdout);
  return 0;
}
int device(struct ibv_context *context, struct ibv_device_attr *attr) {
  (void)context;
  memset(attr, 0, sizeof *attr);
#ifndef CANNOT
  attr->device_cap_flags = IBV_DEVICE_AUTO_PATH_MIG;
#endif
  return 0;
}
int port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *attr) {
  (void)context, (void)number;
  ((struct ibv_port_attr *)attr)->lmc = 1;
  ((struct ibv_port_attr *)attr)->link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}
int event(struct ibv_context *context, struct ibv_async_event *happened) {
  (void)context, (void)happened;
  return -1;
}
__asm__(".symver modify, ibv_modify_qp@@IBVERBS_1.1");
__asm__(".symver modify_1_0, ibv_modify_qp@IBVERBS_1.0");
__asm__(".symver query, ibv_query_qp@@IBVERBS_1.1");
__asm__(".symver destroy, ibv_destroy_qp@@IBVERBS_1.1");
__asm__(".symver device, ibv_query_device@@IBVERBS_1.1");
__asm__(".symver port, ibv_query_port@@IBVERBS_1.1");
__asm__(".symver event, ibv_get_async_event@@IBVERBS_1.1");
