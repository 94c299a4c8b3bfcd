// SPDX-License-Identifier: BSD-2-Clause
/* Path migration (IBA 17.2.8) for a copy of rdma_rxe whose port is an InfiniBand one: LID l is the address
 * 10.77.(l / 256).(l % 256) of this machine, a route to all of 10.77 leads to a device that drops what it is
 * given, and so a LID whose address is taken away is a LID that nothing reaches.
 *
 * The states are those of the specification, with its handshake: packets carry MigReq (BTH) while their
 * sender is Migrated; Rearm becomes Armed with the first packet without it; who is Armed follows a packet
 * with it that came by the alternate path, migrates when its own retries are used up, and on demand.
 *
 * Left out: UD, multicast, paths of another port, IB_EVENT_PATH_MIG_ERR.
 */

#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/moduleparam.h>

#include "rxe.h"

#define LID_NET 0x0a4d0000 /* 10.77.0.0/16 */
#define HOPS 64

/* Of the next device that is made. */
ushort rxe_lid = 1;
module_param_named(lid, rxe_lid, ushort, 0644);
ushort rxe_lmc;
module_param_named(lmc, rxe_lmc, ushort, 0644);

static __be32 address_of(u32 lid)
{
	return htonl(LID_NET | lid);
}

static u32 lid_of(__be32 address)
{
	return ntohl(address) & 0xffff;
}

static u32 path_bits_mask(struct rxe_qp *qp)
{
	return (1 << to_rdev(qp->ibqp.device)->port.attr.lmc) - 1;
}

static struct in_addr *source(struct rxe_av *av)
{
	return &av->sgid_addr._sockaddr_in.sin_addr;
}

static struct in_addr *destination(struct rxe_av *av)
{
	return &av->dgid_addr._sockaddr_in.sin_addr;
}

/* With its reference. */
struct rxe_dev *rxe_get_dev_from_lid(__be32 address)
{
	struct net_device *ndev;
	struct rxe_dev *rxe;

	for_each_netdev_rcu(&init_net, ndev) {
		rxe = rxe_get_dev_from_net(ndev);
		if (!rxe)
			continue;
		if (lid_of(address) >> rxe->port.attr.lmc == rxe->port.attr.lid >> rxe->port.attr.lmc)
			return rxe;
		ib_device_put(&rxe->ib_dev);
	}
	return NULL;
}

void rxe_path_from_attr(struct rxe_qp *qp, struct rdma_ah_attr *attr, struct rxe_av *av)
{
	u32 own = to_rdev(qp->ibqp.device)->port.attr.lid | (rdma_ah_get_path_bits(attr) & path_bits_mask(qp));

	spin_lock_bh(&qp->path_lock);
	memset(av, 0, sizeof(*av));
	av->port_num = rdma_ah_get_port_num(attr);
	av->network_type = RXE_NETWORK_TYPE_IPV4;
	av->grh.hop_limit = HOPS;
	source(av)->s_addr = address_of(own);
	destination(av)->s_addr = address_of(rdma_ah_get_dlid(attr));
	spin_unlock_bh(&qp->path_lock);
}

void rxe_path_to_attr(struct rxe_qp *qp, struct rxe_av *av, struct rdma_ah_attr *attr)
{
	attr->type = RDMA_AH_ATTR_TYPE_IB;
	spin_lock_bh(&qp->path_lock);
	rdma_ah_set_port_num(attr, av->port_num);
	rdma_ah_set_dlid(attr, lid_of(destination(av)->s_addr));
	rdma_ah_set_path_bits(attr, lid_of(source(av)->s_addr) & path_bits_mask(qp));
	spin_unlock_bh(&qp->path_lock);
}

struct rxe_av rxe_path_now(struct rxe_qp *qp, struct rxe_av *av)
{
	struct rxe_av path;

	spin_lock_bh(&qp->path_lock);
	path = *av;
	spin_unlock_bh(&qp->path_lock);
	return path;
}

/* With the lock. What was tried in vain by the old path does not count for the new one. */
static void take_alternate(struct rxe_qp *qp)
{
	swap(qp->pri_av, qp->alt_av);
	swap(qp->attr.timeout, qp->attr.alt_timeout);
	qp->qp_timeout_jiffies = qp->attr.timeout ? max_t(u64, 1, nsecs_to_jiffies(4096ULL << qp->attr.timeout)) : 0;
	qp->comp.retry_cnt = max_t(u32, 1, qp->attr.retry_cnt);
	qp->attr.path_mig_state = IB_MIG_MIGRATED;
}

static void tell(struct rxe_qp *qp)
{
	struct ib_event event = { .device = qp->ibqp.device, .event = IB_EVENT_PATH_MIG, .element.qp = &qp->ibqp };

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* True: it was Armed. */
bool rxe_migrate(struct rxe_qp *qp)
{
	bool armed;

	spin_lock_bh(&qp->path_lock);
	armed = qp->attr.path_mig_state == IB_MIG_ARMED;
	if (armed)
		take_alternate(qp);
	spin_unlock_bh(&qp->path_lock);
	if (armed)
		tell(qp);
	return armed;
}

/* Only the adapter arms, and only who is armed migrates on demand. */
int rxe_set_migration(struct rxe_qp *qp, struct ib_qp_attr *attr, int mask)
{
	int err = 0;

	if (attr->path_mig_state == IB_MIG_MIGRATED) {
		if (!rxe_migrate(qp) && !(mask & IB_QP_STATE))
			err = -EINVAL;
		return err;
	}
	spin_lock_bh(&qp->path_lock);
	if (attr->path_mig_state == IB_MIG_REARM)
		qp->attr.path_mig_state = IB_MIG_REARM;
	else
		err = -EINVAL;
	spin_unlock_bh(&qp->path_lock);
	return err;
}

u8 rxe_mig_req(struct rxe_qp *qp)
{
	return READ_ONCE(qp->attr.path_mig_state) == IB_MIG_MIGRATED;
}

static bool came_by(struct rxe_av *av, const struct iphdr *header)
{
	return header->daddr == source(av)->s_addr && header->saddr == destination(av)->s_addr;
}

/* What comes by the path that a connection has just left is still its own. */
int rxe_check_path(struct rxe_qp *qp, struct sk_buff *skb, u8 mig_req)
{
	const struct iphdr *header = ip_hdr(skb);
	bool by_primary, by_alternate, follows = false;

	spin_lock_bh(&qp->path_lock);
	by_primary = came_by(&qp->pri_av, header);
	by_alternate = came_by(&qp->alt_av, header);
	if (qp->attr.path_mig_state == IB_MIG_REARM && by_primary && !mig_req)
		qp->attr.path_mig_state = IB_MIG_ARMED;
	follows = qp->attr.path_mig_state == IB_MIG_ARMED && by_alternate && !by_primary && mig_req;
	if (follows)
		take_alternate(qp);
	spin_unlock_bh(&qp->path_lock);
	if (follows)
		tell(qp);
	return by_primary || by_alternate ? 0 : -EINVAL;
}

int rxe_query_gid(struct ib_device *dev, u32 port_num, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(RXE_PORT_SUBNET_PREFIX);
	gid->global.interface_id = to_rdev(dev)->port.port_guid;
	return 0;
}
