/* Makes a connection, does what standard input says, a letter a line, and ends:
   f: fork; the child makes a connection of its own, and ends when its standard input does. o: by the old name. d: destroy. x: end. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
  struct ibv_qp qp;
  struct ibv_qp_attr now;
};

extern int old_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
__asm__(".symver old_modify, ibv_modify_qp@IBVERBS_1.0");

static struct ibv_device device = {.name = "mlx5_0"};
static struct ibv_context context = {.device = &device};

static void connect_pair(struct pair *pair, unsigned number, unsigned dlid) {
  struct ibv_qp_attr attr;
  memset(pair, 0, sizeof *pair);
  memset(&attr, 0, sizeof attr);
  pair->qp.context = &context;
  pair->qp.qp_type = IBV_QPT_RC;
  pair->qp.qp_num = number;
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  ibv_modify_qp(&pair->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX);
  attr.qp_state = IBV_QPS_RTR;
  attr.ah_attr.dlid = (uint16_t)dlid;
  ibv_modify_qp(&pair->qp, &attr, IBV_QP_STATE | IBV_QP_AV);
  attr.qp_state = IBV_QPS_RTS;
  ibv_modify_qp(&pair->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT);
}

int main(void) {
  static struct pair first, second;
  char line[16];
  struct ibv_qp_attr attr;
  memset(&attr, 0, sizeof attr);
  connect_pair(&first, 17, 32);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (line[0] == 'f') {
      const pid_t child = fork();
      if (child == 0) {
        connect_pair(&second, 18, 64);
        while (getppid() != 1 && read(0, line, 1) > 0) continue;
        _exit(0);
      }
    }
    if (line[0] == 'o') old_modify(&first.qp, &attr, IBV_QP_STATE);
    if (line[0] == 'd') ibv_destroy_qp(&first.qp);
    if (line[0] == 'x') break;
  }
  while (wait(NULL) > 0) continue;
  printf("ended\n");
  return 0;
}
