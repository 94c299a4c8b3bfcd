/* SPDX-License-Identifier: BSD-2-Clause */
/* What the copy of rdma_rxe takes from rxe_migrate.c. */

#ifndef RXE_MIGRATE_H
#define RXE_MIGRATE_H

extern ushort rxe_lid;
extern ushort rxe_lmc;

struct rxe_dev *rxe_get_dev_from_lid(__be32 address);
void rxe_path_from_attr(struct rxe_qp *qp, struct rdma_ah_attr *attr, struct rxe_av *av);
void rxe_path_to_attr(struct rxe_qp *qp, struct rxe_av *av, struct rdma_ah_attr *attr);
struct rxe_av rxe_path_now(struct rxe_qp *qp, struct rxe_av *av);
bool rxe_migrate(struct rxe_qp *qp);
int rxe_set_migration(struct rxe_qp *qp, struct ib_qp_attr *attr, int mask);
u8 rxe_mig_req(struct rxe_qp *qp);
int rxe_check_path(struct rxe_qp *qp, struct sk_buff *skb, u8 mig_req);
int rxe_query_gid(struct ib_device *dev, u32 port_num, int index, union ib_gid *gid);

#endif
