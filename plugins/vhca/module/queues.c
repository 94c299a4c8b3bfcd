// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Queue pairs and completion queues. A send completes at once: it has been handed to the program, or it is lost. Of
 * receives only QP0 and QP1 get any. post_send and post_recv may be called from any context.
 */
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "vhca.h"

static struct vhca_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct vhca_qp, ib);
}

static struct vhca_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct vhca_cq, ib);
}

/* --- completion queues --- */

int vhca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, vhca_create_cq_data *data)
{
	struct vhca_cq *cq = to_cq(ib);

	if (attr->flags || attr->cqe < 1 || attr->cqe > VHCA_MOST_CQE)
		return -EINVAL;
	cq->size = attr->cqe;
	cq->wc = kvcalloc(cq->size, sizeof(*cq->wc), GFP_KERNEL);
	if (!cq->wc)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->ib.cqe = cq->size;
	return 0;
}

int vhca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_cq(ib)->wc);
	return 0;
}

int vhca_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc)
{
	struct vhca_cq *cq = to_cq(ib);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < count && cq->used; i++) {
		wc[i] = cq->wc[cq->first];
		cq->first = (cq->first + 1) % cq->size;
		cq->used--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int vhca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct vhca_cq *cq = to_cq(ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->used;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/* Users size their queues so that there is room; where there is none the completion is lost, and said. */
static void complete_wc(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct vhca_cq *cq = to_cq(ib);
	unsigned long flags;
	bool notify = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->used == cq->size) {
		spin_unlock_irqrestore(&cq->lock, flags);
		dev_err_ratelimited(&ib->device->dev, "a completion queue of %u overran\n", cq->size);
		return;
	}
	cq->wc[(cq->first + cq->used) % cq->size] = *wc;
	cq->used++;
	swap(notify, cq->armed);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* --- life of a queue pair --- */

static int special_index(enum ib_qp_type type)
{
	return type == IB_QPT_SMI ? 0 : type == IB_QPT_GSI ? 1 : -1;
}

int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct vhca *dev = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	const int special = special_index(attr->qp_type);
	unsigned long flags;
	int ret = 0;

	if (udata || attr->srq)
		return -EOPNOTSUPP;
	if (special < 0 && attr->qp_type != IB_QPT_UD)
		return -EOPNOTSUPP;
	if (special >= 0 && (attr->port_num < 1 || attr->port_num > dev->port_count))
		return -EINVAL;
	if (attr->cap.max_recv_wr > VHCA_MOST_WR || attr->cap.max_send_wr > VHCA_MOST_WR ||
	    attr->cap.max_recv_sge > VHCA_MOST_SGE || attr->cap.max_send_sge > VHCA_MOST_SGE)
		return -EINVAL;

	spin_lock_init(&qp->lock);
	qp->all_signalled = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->qp_state = IB_QPS_RESET;
	qp->port = attr->port_num;
	qp->size = max(attr->cap.max_recv_wr, 1U);
	qp->most_sge = max(attr->cap.max_recv_sge, 1U);
	qp->recv = kvcalloc(qp->size, sizeof(*qp->recv), GFP_KERNEL);
	if (!qp->recv)
		return -ENOMEM;
	if (special < 0) {
		ib->qp_num = (u32)atomic_inc_return(&dev->next_qpn) & 0xffffff;
		return 0;
	}
	ib->qp_num = special;
	spin_lock_irqsave(&dev->lock, flags);
	if (dev->special[qp->port - 1][special])
		ret = -EBUSY;
	else
		dev->special[qp->port - 1][special] = qp;
	spin_unlock_irqrestore(&dev->lock, flags);
	if (ret)
		kvfree(qp->recv);
	return ret;
}

static void flush_receives(struct vhca_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV, .qp = &qp->ib };
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	while (qp->used) {
		wc.wr_id = qp->recv[qp->first].wr_id;
		qp->first = (qp->first + 1) % qp->size;
		qp->used--;
		complete_wc(qp->ib.recv_cq, &wc);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct vhca_qp *qp = to_qp(ib);
	unsigned long flags;
	enum ib_qp_state to;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&qp->lock, flags);
	to = mask & IB_QP_STATE ? attr->qp_state : qp->qp_state;
	if (!ib_modify_qp_is_ok(qp->qp_state, to, ib->qp_type, mask)) {
		spin_unlock_irqrestore(&qp->lock, flags);
		return -EINVAL;
	}
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PORT)
		qp->port = attr->port_num;
	qp->qp_state = to;
	if (to == IB_QPS_RESET)
		qp->used = 0;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (to == IB_QPS_ERR)
		flush_receives(qp);
	return 0;
}

int vhca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	struct vhca_qp *qp = to_qp(ib);

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	attr->qp_state = qp->qp_state;
	attr->cur_qp_state = qp->qp_state;
	attr->port_num = qp->port;
	attr->pkey_index = qp->pkey_index;
	attr->qkey = qp->qkey;
	attr->cap.max_recv_wr = qp->size;
	attr->cap.max_recv_sge = qp->most_sge;
	init->qp_type = ib->qp_type;
	init->port_num = qp->port;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->cap = attr->cap;
	return 0;
}

int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vhca *dev = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	const int special = special_index(ib->qp_type);
	unsigned long flags;

	if (special >= 0) {
		spin_lock_irqsave(&dev->lock, flags);
		if (dev->special[qp->port - 1][special] == qp)
			dev->special[qp->port - 1][special] = NULL;
		spin_unlock_irqrestore(&dev->lock, flags);
	}
	kvfree(qp->recv);
	return 0;
}

/* --- out --- */

static void gather(const struct ib_send_wr *wr, u8 *to, u32 room)
{
	u32 used = 0;
	int i;

	for (i = 0; i < wr->num_sge && used < room; i++) {
		const u32 length = min(wr->sg_list[i].length, room - used);

		memcpy(to + used, (const void *)(uintptr_t)wr->sg_list[i].addr, length);
		used += length;
	}
}

/* Full queues lose packets, as wires do: who asked asks again. */
static void hand_over(struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct vhca *dev = to_vhca(qp->ib.device);
	const struct ib_ud_wr *ud = ud_wr(wr);
	const struct rdma_ah_attr *to = &container_of(ud->ah, struct vhca_ah, ib)->attr;
	struct heddle_vhca_packet packet = {
		.port = qp->port,
		.qp = qp->ib.qp_num,
		.remote_qp = ud->remote_qpn,
		.qkey = ud->remote_qkey,
		.dlid = rdma_ah_get_dlid(to),
		.pkey_index = ud->pkey_index,
		.sl = rdma_ah_get_sl(to),
		.has_grh = !!(rdma_ah_get_ah_flags(to) & IB_AH_GRH),
	};
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	packet.slid = dev->ports[qp->port - 1].lid | rdma_ah_get_path_bits(to);
	spin_unlock_irqrestore(&dev->lock, flags);
	gather(wr, packet.mad, sizeof(packet.mad));
	vhca_tell(dev->file, HEDDLE_VHCA_PACKET, &packet, sizeof(packet));
}

int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct vhca_qp *qp = to_qp(ib);

	for (; wr; wr = wr->next) {
		struct ib_wc wc = { .wr_id = wr->wr_id, .opcode = IB_WC_SEND, .qp = ib, .port_num = qp->port };
		const enum ib_qp_state state = READ_ONCE(qp->qp_state);

		if (wr->num_sge > VHCA_MOST_SGE || wr->opcode != IB_WR_SEND ||
		    (state != IB_QPS_RTS && state != IB_QPS_ERR && state != IB_QPS_SQE)) {
			*bad = wr;
			return -EINVAL;
		}
		wc.status = state == IB_QPS_RTS ? IB_WC_SUCCESS : IB_WC_WR_FLUSH_ERR;
		if (state == IB_QPS_RTS && ib->qp_num <= 1)
			hand_over(qp, wr);
		if (qp->all_signalled || (wr->send_flags & IB_SEND_SIGNALED) || wc.status != IB_WC_SUCCESS)
			complete_wc(ib->send_cq, &wc);
	}
	return 0;
}

/* --- in --- */

int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct vhca_qp *qp = to_qp(ib);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr; wr = wr->next) {
		struct vhca_recv *recv;

		if (qp->qp_state == IB_QPS_RESET || wr->num_sge > qp->most_sge) {
			ret = -EINVAL;
		} else if (qp->qp_state == IB_QPS_ERR) {
			struct ib_wc wc = { .wr_id = wr->wr_id, .status = IB_WC_WR_FLUSH_ERR,
					    .opcode = IB_WC_RECV, .qp = ib };

			complete_wc(ib->recv_cq, &wc);
			continue;
		} else if (qp->used == qp->size) {
			ret = -ENOMEM;
		}
		if (ret) {
			*bad = wr;
			break;
		}
		recv = &qp->recv[(qp->first + qp->used) % qp->size];
		recv->wr_id = wr->wr_id;
		recv->sge_count = wr->num_sge;
		memcpy(recv->sge, wr->sg_list, wr->num_sge * sizeof(*recv->sge));
		qp->used++;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

static u32 scatter(const struct vhca_recv *recv, u32 at, const u8 *from, u32 size)
{
	u32 offset = 0, done = 0, i;

	for (i = 0; i < recv->sge_count && done < size; i++) {
		const struct ib_sge *sge = &recv->sge[i];

		if (at + done < offset + sge->length) {
			const u32 skip = at + done - offset;
			const u32 length = min(sge->length - skip, size - done);

			memcpy((void *)(uintptr_t)sge->addr + skip, from + done, length);
			done += length;
		}
		offset += sge->length;
	}
	return done;
}

int vhca_arrive(struct vhca *dev, const struct heddle_vhca_packet *packet)
{
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.src_qp = packet->remote_qp & 0xffffff,
		.slid = packet->slid,
		.sl = packet->sl & 0xf,
		.pkey_index = packet->pkey_index,
		.port_num = packet->port,
		.wc_flags = packet->has_grh ? IB_WC_GRH : 0,
		.byte_len = HEDDLE_VHCA_GRH_SIZE + HEDDLE_VHCA_MAD_SIZE,
	};
	const u32 port = packet->port - 1;
	struct vhca_recv *recv;
	struct vhca_qp *qp;
	unsigned long flags;
	int ret = 0;

	/* Held to the end, so that the queue pair is not destroyed meanwhile. */
	spin_lock_irqsave(&dev->lock, flags);
	qp = dev->special[port][packet->qp];
	if (!qp || (qp->qp_state != IB_QPS_RTR && qp->qp_state != IB_QPS_RTS)) {
		spin_unlock_irqrestore(&dev->lock, flags);
		return -ENOTCONN;
	}
	wc.qp = &qp->ib;
	wc.dlid_path_bits = packet->dlid & ((1U << dev->ports[port].lmc) - 1);
	spin_lock(&qp->lock);
	if (!qp->used) {
		ret = -ENOBUFS;
	} else {
		recv = &qp->recv[qp->first];
		qp->first = (qp->first + 1) % qp->size;
		qp->used--;
		wc.wr_id = recv->wr_id;
		if (scatter(recv, 0, packet->grh, HEDDLE_VHCA_GRH_SIZE) != HEDDLE_VHCA_GRH_SIZE ||
		    scatter(recv, HEDDLE_VHCA_GRH_SIZE, packet->mad, HEDDLE_VHCA_MAD_SIZE) != HEDDLE_VHCA_MAD_SIZE)
			wc.status = IB_WC_LOC_LEN_ERR;
		complete_wc(qp->ib.recv_cq, &wc);
	}
	spin_unlock(&qp->lock);
	spin_unlock_irqrestore(&dev->lock, flags);
	return ret;
}
