/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * heddle_vhca: InfiniBand adapters whose management queue pairs lead to programs.
 *
 * device.c  the character device: messages in and out, life of an adapter
 * verbs.c   the adapter as ib_core sees it
 * queues.c  queue pairs and completion queues
 *
 * An adapter lives as long as the file it was made by. Closing the file unregisters it, and ib_core waits there for all
 * its users: so whatever is called through ib_device_ops may rely on the file.
 */
#ifndef VHCA_H
#define VHCA_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "heddle_vhca.h"

/* Messages that the program has not read yet; what comes beyond them is lost, as packets are. */
#define VHCA_MOST_QUEUED 16384
#define VHCA_MOST_WR 16384
#define VHCA_MOST_CQE 65536
#define VHCA_MOST_SGE 16

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define vhca_create_cq_data struct uverbs_attr_bundle
#else
#define vhca_create_cq_data struct ib_udata
#endif

enum vhca_state {
	VHCA_EMPTY,	/* opened */
	VHCA_CREATED,
	VHCA_REGISTERING,
	VHCA_REGISTERED,
	VHCA_FAILED,	/* ib_core refused it; there is no device */
	VHCA_GONE,	/* being closed */
};

struct vhca_file;

struct vhca {
	struct ib_device ib;
	struct vhca_file *file;
	char name[IB_DEVICE_NAME_MAX];	/* wanted; may hold a %d */
	u32 port_count;
	u32 hardware;
	u32 vendor_id;
	u32 part_id;
	u64 firmware;
	u64 system_guid;
	spinlock_t lock;	/* ports, special */
	struct heddle_vhca_port ports[HEDDLE_VHCA_MAX_PORTS];
	struct vhca_qp *special[HEDDLE_VHCA_MAX_PORTS][2];
	atomic_t next_qpn;
};

struct vhca_file {
	struct mutex lock;	/* what the program writes: one at a time */
	struct vhca *dev;	/* none before CREATE, nor when ib_core refused it */
	bool registered;
	struct work_struct registering;

	spinlock_t queue_lock;	/* all below */
	enum vhca_state state;
	struct list_head queue;
	unsigned int queued;
	struct list_head asked;	/* LOCAL questions without an answer */
	u64 next_question;
	wait_queue_head_t readable;
};

static inline struct vhca *to_vhca(struct ib_device *ib)
{
	return container_of(ib, struct vhca, ib);
}

/* device.c; the first two from any context */
int vhca_tell(struct vhca_file *file, u32 type, const void *payload, u32 size);
bool vhca_is_gone(struct vhca_file *file);
/* Sleeps. 0, -ETIMEDOUT, -ENODEV. */
int vhca_ask_local(struct vhca_file *file, struct heddle_vhca_local *local);

/* verbs.c */
extern const struct ib_device_ops vhca_ops;

/* queues.c */
struct vhca_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *wc;	/* ring of `size` */
	u32 size;
	u32 first;
	u32 used;
	bool armed;
};

struct vhca_recv {
	u64 wr_id;	/* or the address of its ib_cqe */
	u32 sge_count;
	struct ib_sge sge[VHCA_MOST_SGE];
};

struct vhca_qp {
	struct ib_qp ib;
	spinlock_t lock;
	u32 port;
	bool all_signalled;
	enum ib_qp_state qp_state;
	u16 pkey_index;
	u32 qkey;
	struct vhca_recv *recv;	/* ring of `size` */
	u32 size;
	u32 most_sge;
	u32 first;
	u32 used;
};

struct vhca_pd {
	struct ib_pd ib;
};

struct vhca_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

int vhca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, vhca_create_cq_data *data);
int vhca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int vhca_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc);
int vhca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int vhca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init);
int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
/* What the program wrote arrives at QP0 or QP1. 0, or a negative errno when nobody waits for it. */
int vhca_arrive(struct vhca *dev, const struct heddle_vhca_packet *packet);

#endif
