/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a program and the kernel module heddle_vhca say to each other.
 *
 * One open of /dev/heddle_vhca is one InfiniBand adapter, as one open of /dev/net/tun is one network device. Its QP0
 * and QP1 lead to the program: what the kernel's agents send is read, what is written arrives at them. Closing the file
 * is pulling the adapter out.
 *
 * Each read() returns one message and each write() takes one: a struct heddle_vhca_header, then the payload of its type,
 * `size` bytes in all. Everything is in host byte order, GUIDs and GID prefixes included; `mad` alone is as on the wire.
 *
 * Order: CREATE, a PORT for each port, READY; the module registers the adapter and answers with READY. While it
 * registers it already asks (LOCAL). From then on anything in any order.
 */
#ifndef HEDDLE_VHCA_H
#define HEDDLE_VHCA_H

#include <linux/types.h>

#define HEDDLE_VHCA_DEVICE "/dev/heddle_vhca"
#define HEDDLE_VHCA_ABI 1
#define HEDDLE_VHCA_MAX_PORTS 2
#define HEDDLE_VHCA_MAX_PKEYS 32
#define HEDDLE_VHCA_NAME_SIZE 64
#define HEDDLE_VHCA_MAD_SIZE 256
#define HEDDLE_VHCA_GRH_SIZE 40

enum heddle_vhca_type {
	HEDDLE_VHCA_CREATE = 1,		/* written: struct heddle_vhca_create */
	HEDDLE_VHCA_PORT = 2,		/* written: struct heddle_vhca_port */
	HEDDLE_VHCA_READY = 3,		/* written: nothing; read: struct heddle_vhca_ready */
	HEDDLE_VHCA_PACKET = 4,		/* both ways: struct heddle_vhca_packet */
	HEDDLE_VHCA_LOCAL = 5,		/* both ways: struct heddle_vhca_local */
	HEDDLE_VHCA_MODIFY_PORT = 6,	/* read: struct heddle_vhca_modify_port */
	HEDDLE_VHCA_DESCRIPTION = 7,	/* read: struct heddle_vhca_description */
};

struct heddle_vhca_header {
	__u32 type;
	__u32 size;	/* header and payload */
};

struct heddle_vhca_create {
	__u64 node_guid;
	__u64 system_guid;
	__u64 firmware;		/* major << 32 | minor << 16 | sub */
	__u32 abi;		/* HEDDLE_VHCA_ABI */
	__u32 ports;		/* 1 .. HEDDLE_VHCA_MAX_PORTS */
	__u32 vendor_id;
	__u32 part_id;
	__u32 hardware;
	__u32 reserved;
	char name[HEDDLE_VHCA_NAME_SIZE];	 /* of the device, as "mlx5_0"; empty: the kernel chooses "heddleN" */
	char description[HEDDLE_VHCA_NAME_SIZE]; /* NodeDescription */
};

/* A port as PortInfo (IBA 14.2.5.6) tells it; codes of states, widths, speeds and MTUs are those of IBA. */
struct heddle_vhca_port {
	__u64 gid_prefix;
	__u64 guid;
	__u32 port;		/* from 1 */
	__u32 capabilities;	/* CapabilityMask */
	__u16 lid;
	__u16 sm_lid;
	__u16 speed;		/* bits of ib_port_attr.active_speed: 1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR, 256 XDR */
	__u16 pkey_count;	/* 1 .. HEDDLE_VHCA_MAX_PKEYS */
	__u8 lmc;
	__u8 sm_sl;
	__u8 state;		/* 1 Down .. 4 Active */
	__u8 physical;		/* 1 Sleep .. 5 LinkUp */
	__u8 width;
	__u8 max_mtu;
	__u8 active_mtu;
	__u8 max_vl;
	__u8 subnet_timeout;
	__u8 init_type_reply;
	__u8 reregister;	/* the subnet manager asks clients to register anew */
	__u8 reserved[5];
	__u16 pkeys[HEDDLE_VHCA_MAX_PKEYS];
};

struct heddle_vhca_ready {
	__s32 error;		/* 0, or a negative errno */
	__u32 reserved;
	char name[HEDDLE_VHCA_NAME_SIZE];	/* the device's */
};

struct heddle_vhca_packet {
	__u32 port;
	__u32 qp;		/* 0 or 1: the kernel's end */
	__u32 remote_qp;
	__u32 qkey;
	__u16 slid;
	__u16 dlid;
	__u16 pkey_index;
	__u8 sl;
	__u8 has_grh;
	__u8 grh[HEDDLE_VHCA_GRH_SIZE];
	__u8 mad[HEDDLE_VHCA_MAD_SIZE];
};

/*
 * A MAD to an agent of the adapter itself, which does not travel: from the kernel as a question; back with the same id,
 * and in `mad` the answer. The kernel waits HEDDLE_VHCA_LOCAL_MS for it.
 */
#define HEDDLE_VHCA_LOCAL_MS 2000

enum heddle_vhca_local_result {
	HEDDLE_VHCA_LOCAL_ANSWERED = 1,
	HEDDLE_VHCA_LOCAL_NOT_MINE = 2,	/* for a program that has registered: SMInfo, traps */
	HEDDLE_VHCA_LOCAL_DISCARDED = 3,
};

struct heddle_vhca_local {
	__u64 id;
	__u32 port;
	__u32 result;		/* enum heddle_vhca_local_result, of an answer */
	__u8 mad[HEDDLE_VHCA_MAD_SIZE];
};

struct heddle_vhca_modify_port {
	__u32 port;
	__u32 set;		/* bits of CapabilityMask: IsSM when a program opens an issm device */
	__u32 clear;
	__u32 reset_qkey_violations;
};

struct heddle_vhca_description {
	char text[HEDDLE_VHCA_NAME_SIZE];
};

#if defined(__KERNEL__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#define HEDDLE_VHCA_SAME(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "layout of " #type)
#elif defined(__cplusplus)
#define HEDDLE_VHCA_SAME(type, bytes) static_assert(sizeof(type) == (bytes), "layout of " #type)
#else
#define HEDDLE_VHCA_SAME(type, bytes) extern int heddle_vhca_unchecked
#endif
HEDDLE_VHCA_SAME(heddle_vhca_header, 8);
HEDDLE_VHCA_SAME(heddle_vhca_create, 176);
HEDDLE_VHCA_SAME(heddle_vhca_port, 112);
HEDDLE_VHCA_SAME(heddle_vhca_ready, 72);
HEDDLE_VHCA_SAME(heddle_vhca_packet, 320);
HEDDLE_VHCA_SAME(heddle_vhca_local, 272);
HEDDLE_VHCA_SAME(heddle_vhca_modify_port, 16);
HEDDLE_VHCA_SAME(heddle_vhca_description, 64);

#endif
