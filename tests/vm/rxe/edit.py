"""Makes of Debian's rdma_rxe (linux-source-6.1, drivers/infiniband/sw/rxe) one whose port is an InfiniBand port with LIDs, and whose
connections migrate: the states are in rxe_migrate.c, and these are the places that call them. No source of the kernel is kept
here: what is not found as it stands below ends this with its name.
Usage: edit.py DIRECTORY   (a copy of it, which is changed)"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).parent


class Changed(Exception):
    """The source is not the one that this was written for."""


def replace(path, old, new):
    text = path.read_text()
    if text.count(old) != 1:
        raise Changed(f"{path.name}: found {text.count(old)} times:\n{old}")
    path.write_text(text.replace(old, new))


def body(path, head, new):
    """Of the function whose definition begins with `head`: up to the brace at the beginning of a line."""
    text = path.read_text()
    begin = text.find("\n" + head)
    opening = text.find("\n{\n", begin)
    end = text.find("\n}\n", opening)
    if begin < 0 or text.find("\n" + head, begin + 1) >= 0 or opening < 0 or end < 0:
        raise Changed(f"{path.name}: no single function {head}")
    path.write_text(text[: opening + 3] + new + text[end:])


# (file, what stands there, what is to stand there)
PLACES = [
    # LIDs in the place of the network device's addresses.
    ("Makefile", "\trxe.o \\\n", "\trxe.o \\\n\trxe_migrate.o \\\n"),
    ("rxe.h", '#include "rxe_loc.h"\n', '#include "rxe_loc.h"\n#include "rxe_migrate.h"\n'),
    ("rxe.c", "= RXE_PORT_GID_TBL_LEN;", "= 1;"),
    ("rxe.c", "= RXE_PORT_LID;", "= rxe_lid;"),
    ("rxe.c", "= RXE_PORT_LMC;", "= rxe_lmc;"),
    ("rxe_verbs.c", "return IB_LINK_LAYER_ETHERNET;", "return IB_LINK_LAYER_INFINIBAND;"),
    ("rxe_verbs.c", "RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP", "RDMA_CORE_CAP_PROT_IB"),
    ("rxe_verbs.c", "immutable->max_mad_size = IB_MGMT_MAD_SIZE;", "immutable->max_mad_size = 0;"),
    ("rxe_verbs.c", "rc = ib_get_eth_speed(dev, port_num, &attr->active_speed,\n\t\t\t      &attr->active_width);", "rc = 0;"),
    ("rxe_verbs.c", "\t.query_device = rxe_query_device,\n", "\t.query_device = rxe_query_device,\n\t.query_gid = rxe_query_gid,\n"),
    ("rxe_verbs.c", "err = rxe_av_chk_attr(rxe, init_attr->ah_attr);", "err = -EOPNOTSUPP;"),  # no UD
    ("rxe_qp.c", "rxe_init_av(&attr->ah_attr, &qp->pri_av);", "rxe_path_from_attr(qp, &attr->ah_attr, &qp->pri_av);"),
    ("rxe_qp.c", "rxe_init_av(&attr->alt_ah_attr, &qp->alt_av);", "rxe_path_from_attr(qp, &attr->alt_ah_attr, &qp->alt_av);"),
    ("rxe_qp.c", "rxe_av_to_attr(&qp->pri_av, &attr->ah_attr);", "rxe_path_to_attr(qp, &qp->pri_av, &attr->ah_attr);"),
    ("rxe_qp.c", "rxe_av_to_attr(&qp->alt_av, &attr->alt_ah_attr);", "rxe_path_to_attr(qp, &qp->alt_av, &attr->alt_ah_attr);"),
    # Which device a packet is for, and which way it goes: any that leads there, looked for anew each time.
    ("rxe_net.c", "rxe = rxe_get_dev_from_net(ndev);\n\tif (!rxe && is_vlan_dev(ndev))",
     "rxe = skb->protocol == htons(ETH_P_IP) ? rxe_get_dev_from_lid(ip_hdr(skb)->daddr) : NULL;\n\tif (!rxe && is_vlan_dev(ndev))"),
    ("rxe_net.c", "\tfl.flowi4_oif = ndev->ifindex;\n\tmemcpy(&fl.saddr, saddr, sizeof(*saddr));\n", ""),
    ("rxe_net.c", "\tif (qp_type(qp) == IB_QPT_RC)\n\t\tdst = sk_dst_get(qp->sk->sk);\n", ""),
    ("rxe_net.c", "\t\tif (dst && (qp_type(qp) == IB_QPT_RC)) {\n\t\t\tdst_hold(dst);\n\t\t\tsk_dst_set(qp->sk->sk, dst);\n\t\t}\n", ""),
    ("rxe_net.c", "\tif (ether_addr_equal(skb->dev->dev_addr, av->dmac))\n\t\tpkt->mask |= RXE_LOOPBACK_MASK;\n", ""),
    ("rxe_net.c", "\tconst struct ib_gid_attr *attr;\n", ""),
    ("rxe_net.c", "\tattr = rdma_get_gid_attr(&rxe->ib_dev, port_num, av->grh.sgid_index);\n\tif (IS_ERR(attr))\n\t\treturn NULL;\n", ""),
    ("rxe_net.c", "ndev = rdma_read_gid_attr_ndev_rcu(attr);", "ndev = rxe->ndev;"),
    ("rxe_net.c", "out:\n\trdma_put_gid_attr(attr);\n", "out:\n"),
    # Migration.
    ("rxe_verbs.h", "\tstruct rxe_av\t\talt_av;\n", "\tstruct rxe_av\t\talt_av;\n\tspinlock_t\t\tpath_lock; /* guards both and path_mig_state */\n"),
    ("rxe_qp.c", "\tspin_lock_init(&qp->state_lock);\n", "\tspin_lock_init(&qp->state_lock);\n\tspin_lock_init(&qp->path_lock);\n"),
    ("rxe_qp.c", "\tif (mask & IB_QP_PATH_MIG_STATE)\n\t\tqp->attr.path_mig_state = attr->path_mig_state;\n",
     "\tif (mask & IB_QP_PATH_MIG_STATE) {\n\t\terr = rxe_set_migration(qp, attr, mask);\n\t\tif (err)\n\t\t\treturn err;\n\t}\n"),
    ("rxe_net.c", "\tint err = 0;\n\n\tif (skb->protocol == htons(ETH_P_IP))\n\t\terr = prepare4(av, pkt, skb);",
     "\tstruct rxe_av path = rxe_path_now(pkt->qp, av);\n\tint err = 0;\n\n\tif (skb->protocol == htons(ETH_P_IP))\n\t\terr = prepare4(&path, pkt, skb);"),
    ("rxe_net.c", "\trxe_icrc_generate(skb, pkt);\n", "\tbth_set_mig(pkt, rxe_mig_req(qp));\n\trxe_icrc_generate(skb, pkt);\n"),
    # rxe tries for ever at 7, which is seven times.
    ("rxe_comp.c", "\t\t\tif (qp->comp.retry_cnt > 0) {\n\t\t\t\tif (qp->comp.retry_cnt != 7)\n\t\t\t\t\tqp->comp.retry_cnt--;\n",
     "\t\t\tif (qp->comp.retry_cnt == 0)\n\t\t\t\trxe_migrate(qp);\n\t\t\tif (qp->comp.retry_cnt > 0) {\n\t\t\t\tqp->comp.retry_cnt--;\n"),
]


def main():
    there = pathlib.Path(sys.argv[1])
    for name, old, new in PLACES:
        replace(there / name, old, new)
    body(there / "rxe_recv.c", "static int check_addr(",
         "\tif (qp_type(qp) != IB_QPT_RC && qp_type(qp) != IB_QPT_UC)\n\t\treturn 0;\n"
         "\treturn rxe_check_path(qp, PKT_TO_SKB(pkt), bth_mig(pkt));")
    body(there / "rxe_recv.c", "static int rxe_chk_dgid(", "\treturn 0; /* its LID has led here */")
    for name in ("rxe_migrate.c", "rxe_migrate.h"):
        shutil.copy(HERE / name, there)


if __name__ == "__main__":
    try:
        main()
    except Changed as changed:
        sys.exit(f"tests/vm/rxe: this kernel's source is another one: {changed}")
