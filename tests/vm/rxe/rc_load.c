/* One end of a reliable connection under load: sends numbered messages as fast as the other end takes them, and checks each that comes,
   number and every byte. Told what to do on standard input, tells on standard output.
   Usage: rc_load DEVICE NAME PAUSE   NAME: how libheddle-apm.so is to know the adapter (its umad device may be another one's). PAUSE: ms
   before what has arrived makes room for more; 0: at once */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { size = 4096, words = size / 8, sends = 16, receives = 64, port = 1 };

static struct ibv_context *context;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;
static struct ibv_qp *qp;
static struct ibv_mr *memory;
static uint64_t (*messages)[words]; /* those that are sent, then those that are received */
static uint64_t sent, completed, received, migrated;
static unsigned idle[sends], idle_count;
static int runs = 1, pause_ms;

static void fail(const char *what) {
  printf("failed: %s after %lu sent, %lu received: %s\n", what, completed, received, strerror(errno));
  fflush(stdout);
  _exit(1);
}

static uint64_t word(uint64_t number, unsigned i) { return (number * words + i) * 0x9e3779b97f4a7c15; }

static struct ibv_sge place(unsigned i) {
  return (struct ibv_sge){.addr = (uintptr_t)messages[i], .length = size, .lkey = memory->lkey};
}

static void post_receive(unsigned i) {
  struct ibv_sge there = place(sends + i);
  struct ibv_recv_wr request = {.wr_id = sends + i, .sg_list = &there, .num_sge = 1}, *bad;
  memset(messages[sends + i], 0, size);
  if (ibv_post_recv(qp, &request, &bad)) fail("post a receive");
}

static void post_send(unsigned i) {
  struct ibv_sge here = place(i);
  struct ibv_send_wr request = {
      .wr_id = i, .sg_list = &here, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
  messages[i][0] = sent;
  for (unsigned w = 1; w < words; ++w) messages[i][w] = word(sent, w);
  if (ibv_post_send(qp, &request, &bad)) fail("post a send");
  ++sent;
}

static void check(const uint64_t *message) {
  if (message[0] != received) fail("a message is missing, or came twice");
  for (unsigned w = 1; w < words; ++w) {
    if (message[w] != word(received, w)) fail("a message has other bytes");
  }
  ++received;
}

static void take(void) {
  struct ibv_wc done[receives];
  const int count = ibv_poll_cq(cq, receives, done);
  if (count < 0) fail("poll");
  for (int i = 0; i < count; ++i) {
    if (done[i].status != IBV_WC_SUCCESS) fail(ibv_wc_status_str(done[i].status));
    if (done[i].wr_id >= sends) {
      check(messages[done[i].wr_id]);
      post_receive((unsigned)done[i].wr_id - sends);
    } else {
      ++completed;
      idle[idle_count++] = (unsigned)done[i].wr_id;
    }
  }
}

static void post_idle(void) {
  while (runs && idle_count > 0) post_send(idle[--idle_count]);
}

static void wait_for_completions(void) {
  struct ibv_cq *which;
  void *nothing;
  if (ibv_get_cq_event(channel, &which, &nothing)) return;
  ibv_ack_cq_events(which, 1);
  ibv_req_notify_cq(cq, 0);
}

static void take_event(void) {
  struct ibv_async_event event;
  if (ibv_get_async_event(context, &event)) return;
  if (event.event_type == IBV_EVENT_PATH_MIG) ++migrated;
  if (event.event_type == IBV_EVENT_PATH_MIG_ERR || event.event_type == IBV_EVENT_QP_FATAL) fail("an event of the connection");
  ibv_ack_async_event(&event);
}

static void open_device(const char *name, const char *called) {
  struct ibv_device **all = ibv_get_device_list(NULL);
  for (; all != NULL && *all != NULL; ++all) {
    if (strcmp(ibv_get_device_name(*all), name) == 0) context = ibv_open_device(*all);
  }
  if (context == NULL) fail("open the device");
  snprintf(context->device->name, sizeof context->device->name, "%s", called);
}

static void make_pair(void) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  channel = ibv_create_comp_channel(context);
  cq = ibv_create_cq(context, 2 * (sends + receives), NULL, channel, 0);
  messages = aligned_alloc(4096, (sends + receives) * size);
  if (pd == NULL || cq == NULL) fail("make queues");
  memory = ibv_reg_mr(pd, messages, (sends + receives) * size, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_qp_init_attr wanted = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1}};
  qp = ibv_create_qp(pd, &wanted);
  if (memory == NULL || qp == NULL) fail("make a queue pair");
}

/* An answer is waited for 4.096 us * 2^timeout, and so again after each retry. */
static void connect_to(unsigned lid, unsigned number, unsigned timeout, unsigned retries) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = port};
  if (ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) fail("INIT");
  for (unsigned i = 0; i < receives; ++i) post_receive(i);
  to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = number, .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12, .ah_attr = {.dlid = (uint16_t)lid, .port_num = port}};
  if (ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) fail("RTR");
  to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = (uint8_t)timeout, .retry_cnt = (uint8_t)retries, .rnr_retry = 7, .max_rd_atomic = 1};
  if (ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                 IBV_QP_MAX_QP_RD_ATOMIC)) fail("RTS");
  printf("connected\n");
}

/* What the adapter says of both paths. */
static void tell_paths(void) {
  struct ibv_qp_attr now;
  struct ibv_qp_init_attr made;
  if (ibv_query_qp(qp, &now, IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, &made)) fail("query");
  printf("path %u %u other %u %u state %u\n", now.ah_attr.dlid, now.ah_attr.src_path_bits, now.alt_ah_attr.dlid,
         now.alt_ah_attr.src_path_bits, now.path_mig_state);
}

/* 0: that was all. */
static int obey(const char *line) {
  unsigned lid, number, timeout, retries;
  if (sscanf(line, "connect %u %u %u %u", &lid, &number, &timeout, &retries) == 4) {
    connect_to(lid, number, timeout, retries);
  } else if (strcmp(line, "send\n") == 0) {
    for (unsigned i = 0; i < sends; ++i) idle[idle_count++] = i;
    post_idle();
    printf("sending\n");
  } else if (strcmp(line, "paths\n") == 0) {
    tell_paths();
  } else if (strcmp(line, "count\n") == 0) {
    printf("sent %lu received %lu migrated %lu\n", completed, received, migrated);
  } else if (strcmp(line, "stop\n") == 0) {
    runs = 0;
    printf("stopping %lu\n", sent);
  } else {
    return 0;
  }
  fflush(stdout);
  return 1;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  struct ibv_port_attr attributes;
  open_device(arguments[1], arguments[2]);
  pause_ms = atoi(arguments[3]);
  make_pair();
  if (ibv_query_port(context, port, &attributes)) fail("query the port");
  printf("lid %u qp %u\n", attributes.lid, qp->qp_num);
  fflush(stdout);
  fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
  ibv_req_notify_cq(cq, 0);
  setvbuf(stdin, NULL, _IONBF, 0); /* poll() sees what is not read yet */
  char line[80];
  for (;;) {
    struct pollfd ready[] = {{0, POLLIN, 0}, {channel->fd, POLLIN, 0}, {context->async_fd, POLLIN, 0}};
    const int some = poll(ready, 3, pause_ms > 0 && idle_count > 0 ? pause_ms : -1);
    if (some < 0 && errno != EINTR) fail("poll");
    if (ready[1].revents) wait_for_completions();
    if (ready[2].revents) take_event();
    take();
    if (some == 0 || pause_ms == 0) post_idle();
    if (ready[0].revents) {
      if (fgets(line, sizeof line, stdin) == NULL || !obey(line)) return 0;
    }
  }
}
