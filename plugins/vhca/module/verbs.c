// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The adapter as ib_core sees it. Management is real; of data paths there is as much as kernel users need to start
 * (IPoIB makes a datagram queue pair and joins its groups): what they send is taken and lost. User verbs there are none.
 */
#include <linux/slab.h>
#include <rdma/ib_smi.h>

#include "vhca.h"

static void copy_port(struct vhca *dev, u32 port, struct heddle_vhca_port *to)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	*to = dev->ports[port - 1];
	spin_unlock_irqrestore(&dev->lock, flags);
}

static int vhca_query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct vhca *dev = to_vhca(ib);

	attr->fw_ver = dev->firmware;
	attr->sys_image_guid = cpu_to_be64(dev->system_guid);
	attr->vendor_id = dev->vendor_id;
	attr->vendor_part_id = dev->part_id;
	attr->hw_ver = dev->hardware;
	attr->max_mr_size = ~0ull;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 1024;
	attr->max_qp_wr = VHCA_MOST_WR;
	attr->max_send_sge = VHCA_MOST_SGE;
	attr->max_recv_sge = VHCA_MOST_SGE;
	attr->max_sge_rd = 1;
	attr->max_cq = 1024;
	attr->max_cqe = VHCA_MOST_CQE;
	attr->max_mr = 1024;
	attr->max_pd = 1024;
	attr->max_ah = 1 << 20;
	attr->max_pkeys = HEDDLE_VHCA_MAX_PKEYS;
	attr->max_mcast_grp = 8192;
	attr->max_mcast_qp_attach = 64;
	attr->max_total_mcast_qp_attach = 8192 * 64;
	attr->local_ca_ack_delay = 15;
	return 0;
}

static int vhca_query_port(struct ib_device *ib, u32 port_num, struct ib_port_attr *attr)
{
	struct heddle_vhca_port port;

	copy_port(to_vhca(ib), port_num, &port);
	attr->state = port.state;
	attr->phys_state = port.physical;
	attr->max_mtu = port.max_mtu;
	attr->active_mtu = port.active_mtu;
	attr->gid_tbl_len = 1;
	attr->port_cap_flags = port.capabilities;
	attr->max_msg_sz = 1U << 31;
	attr->pkey_tbl_len = port.pkey_count;
	attr->lid = port.lid;
	attr->lmc = port.lmc;
	attr->sm_lid = port.sm_lid;
	attr->sm_sl = port.sm_sl;
	attr->max_vl_num = port.max_vl;
	attr->subnet_timeout = port.subnet_timeout;
	attr->init_type_reply = port.init_type_reply;
	attr->active_width = port.width;
	attr->active_speed = port.speed;
	return 0;
}

static int vhca_get_port_immutable(struct ib_device *ib, u32 port_num, struct ib_port_immutable *immutable)
{
	struct heddle_vhca_port port;

	copy_port(to_vhca(ib), port_num, &port);
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = port.pkey_count;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer vhca_get_link_layer(struct ib_device *ib, u32 port_num)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int vhca_query_gid(struct ib_device *ib, u32 port_num, int index, union ib_gid *gid)
{
	struct heddle_vhca_port port;

	if (index)
		return -EINVAL;
	copy_port(to_vhca(ib), port_num, &port);
	gid->global.subnet_prefix = cpu_to_be64(port.gid_prefix);
	gid->global.interface_id = cpu_to_be64(port.guid);
	return 0;
}

static int vhca_query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	struct heddle_vhca_port port;

	copy_port(to_vhca(ib), port_num, &port);
	if (index >= port.pkey_count)
		return -EINVAL;
	*pkey = port.pkeys[index];
	return 0;
}

static int vhca_modify_port(struct ib_device *ib, u32 port_num, int mask, struct ib_port_modify *modify)
{
	struct vhca *dev = to_vhca(ib);
	struct heddle_vhca_modify_port told = {
		.port = port_num,
		.set = modify->set_port_cap_mask,
		.clear = modify->clr_port_cap_mask,
		.reset_qkey_violations = !!(mask & IB_PORT_RESET_QKEY_CNTR),
	};
	struct heddle_vhca_port *port = &dev->ports[port_num - 1];
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	port->capabilities = (port->capabilities | told.set) & ~told.clear;
	spin_unlock_irqrestore(&dev->lock, flags);
	return vhca_tell(dev->file, HEDDLE_VHCA_MODIFY_PORT, &told, sizeof(told));
}

static int vhca_modify_device(struct ib_device *ib, int mask, struct ib_device_modify *modify)
{
	struct heddle_vhca_description told = {};

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	memcpy(ib->node_desc, modify->node_desc, sizeof(ib->node_desc));
	strscpy(told.text, modify->node_desc, sizeof(told.text));
	return vhca_tell(to_vhca(ib)->file, HEDDLE_VHCA_DESCRIPTION, &told, sizeof(told));
}

/*
 * With in_grh a MAD came over the wire: the simulated agents have had it there, so it is for a program's agent. Without,
 * it starts here and goes no further than this adapter: only the program that simulates it has the answer. ib_core calls
 * this where it may sleep.
 */
static int vhca_process_mad(struct ib_device *ib, int flags, u32 port_num, const struct ib_wc *in_wc,
			    const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_size, u16 *out_pkey_index)
{
	struct heddle_vhca_local *local;
	int ret = IB_MAD_RESULT_SUCCESS;

	if (in_grh)
		return IB_MAD_RESULT_SUCCESS;
	local = kzalloc(sizeof(*local), GFP_KERNEL);
	if (!local)
		return IB_MAD_RESULT_FAILURE;
	local->port = port_num;
	memcpy(local->mad, in, sizeof(local->mad));
	if (vhca_ask_local(to_vhca(ib)->file, local)) {
		ret = IB_MAD_RESULT_FAILURE;
	} else if (local->result == HEDDLE_VHCA_LOCAL_ANSWERED) {
		memcpy(out, local->mad, sizeof(local->mad));
		*out_size = sizeof(local->mad);
		ret = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	} else if (local->result == HEDDLE_VHCA_LOCAL_DISCARDED) {
		ret = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	}
	kfree(local);
	return ret;
}

static int vhca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int vhca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int vhca_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct vhca_ah *ah = container_of(ib, struct vhca_ah, ib);

	rdma_copy_ah_attr(&ah->attr, init->ah_attr);
	return 0;
}

static int vhca_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct vhca_ah *ah = container_of(ib, struct vhca_ah, ib);

	rdma_copy_ah_attr(attr, &ah->attr);
	return 0;
}

static int vhca_destroy_ah(struct ib_ah *ib, u32 flags)
{
	struct vhca_ah *ah = container_of(ib, struct vhca_ah, ib);

	rdma_destroy_ah_attr(&ah->attr);
	return 0;
}

/* Virtual addresses are addresses here: one key opens all memory. */
static struct ib_mr *vhca_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = 1;
	mr->rkey = 1;
	return mr;
}

static struct ib_mr *vhca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
				      struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int vhca_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int vhca_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return 0;
}

static int vhca_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return 0;
}

const struct ib_device_ops vhca_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.alloc_pd = vhca_alloc_pd,
	.attach_mcast = vhca_attach_mcast,
	.create_ah = vhca_create_ah,
	.create_cq = vhca_create_cq,
	.create_qp = vhca_create_qp,
	.dealloc_pd = vhca_dealloc_pd,
	.dereg_mr = vhca_dereg_mr,
	.destroy_ah = vhca_destroy_ah,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.detach_mcast = vhca_detach_mcast,
	.get_dma_mr = vhca_get_dma_mr,
	.get_link_layer = vhca_get_link_layer,
	.get_port_immutable = vhca_get_port_immutable,
	.modify_device = vhca_modify_device,
	.modify_port = vhca_modify_port,
	.modify_qp = vhca_modify_qp,
	.poll_cq = vhca_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.process_mad = vhca_process_mad,
	.query_ah = vhca_query_ah,
	.query_device = vhca_query_device,
	.query_gid = vhca_query_gid,
	.query_pkey = vhca_query_pkey,
	.query_port = vhca_query_port,
	.query_qp = vhca_query_qp,
	.reg_user_mr = vhca_reg_user_mr,
	.req_notify_cq = vhca_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, vhca_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, vhca_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, vhca_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, vhca_qp, ib),
};
