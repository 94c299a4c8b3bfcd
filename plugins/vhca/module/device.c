// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The character device: one open file is one adapter. Messages of the program are checked here, every length, count and
 * state, before anything else of the module sees them.
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "vhca.h"

struct vhca_message {
	struct list_head entry;
	struct heddle_vhca_header header;
	u8 payload[];
};

struct vhca_question {
	struct list_head entry;
	struct completion answered;
	struct heddle_vhca_local *local;
	bool done;
};

int vhca_tell(struct vhca_file *file, u32 type, const void *payload, u32 size)
{
	struct vhca_message *message;
	unsigned long flags;
	int ret = 0;

	message = kmalloc(sizeof(*message) + size, GFP_ATOMIC);
	if (!message)
		return -ENOMEM;
	message->header.type = type;
	message->header.size = sizeof(message->header) + size;
	memcpy(message->payload, payload, size);

	spin_lock_irqsave(&file->queue_lock, flags);
	if (file->state == VHCA_GONE) {
		ret = -ENODEV;
	} else if (file->queued >= VHCA_MOST_QUEUED) {
		ret = -ENOBUFS;
	} else {
		list_add_tail(&message->entry, &file->queue);
		file->queued++;
	}
	spin_unlock_irqrestore(&file->queue_lock, flags);
	if (ret)
		kfree(message);
	else
		wake_up_interruptible(&file->readable);
	return ret;
}

bool vhca_is_gone(struct vhca_file *file)
{
	return READ_ONCE(file->state) == VHCA_GONE;
}

int vhca_ask_local(struct vhca_file *file, struct heddle_vhca_local *local)
{
	struct vhca_question question = { .local = local };
	unsigned long flags;
	bool done;
	int ret;

	init_completion(&question.answered);
	spin_lock_irqsave(&file->queue_lock, flags);
	if (file->state == VHCA_GONE) {
		spin_unlock_irqrestore(&file->queue_lock, flags);
		return -ENODEV;
	}
	local->id = file->next_question++;
	list_add_tail(&question.entry, &file->asked);
	spin_unlock_irqrestore(&file->queue_lock, flags);

	ret = vhca_tell(file, HEDDLE_VHCA_LOCAL, local, sizeof(*local));
	if (!ret)
		wait_for_completion_timeout(&question.answered, msecs_to_jiffies(HEDDLE_VHCA_LOCAL_MS));

	/* The answer may come at this very moment: whoever takes the question off the list has decided. */
	spin_lock_irqsave(&file->queue_lock, flags);
	list_del(&question.entry);
	done = question.done;
	spin_unlock_irqrestore(&file->queue_lock, flags);
	if (ret)
		return ret;
	if (done)
		return 0;
	return vhca_is_gone(file) ? -ENODEV : -ETIMEDOUT;
}

static int take_local(struct vhca_file *file, const struct heddle_vhca_local *local)
{
	struct vhca_question *question;
	unsigned long flags;
	int ret = -ENOENT;

	if (local->result < HEDDLE_VHCA_LOCAL_ANSWERED || local->result > HEDDLE_VHCA_LOCAL_DISCARDED)
		return -EINVAL;
	spin_lock_irqsave(&file->queue_lock, flags);
	list_for_each_entry(question, &file->asked, entry) {
		if (question->local->id != local->id || question->done)
			continue;
		memcpy(question->local->mad, local->mad, sizeof(local->mad));
		question->local->result = local->result;
		question->done = true;
		complete(&question->answered);
		ret = 0;
		break;
	}
	spin_unlock_irqrestore(&file->queue_lock, flags);
	return ret;
}

static void set_state(struct vhca_file *file, enum vhca_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&file->queue_lock, flags);
	file->state = state;
	spin_unlock_irqrestore(&file->queue_lock, flags);
}

/* Text from the program: ended, printable, no path in it. */
static bool good_text(const char *text, bool is_name)
{
	size_t length = strnlen(text, HEDDLE_VHCA_NAME_SIZE);
	size_t i;

	if (length == HEDDLE_VHCA_NAME_SIZE)
		return false;
	for (i = 0; i < length; i++) {
		if (is_name ? !isalnum(text[i]) && text[i] != '_' && text[i] != '-' : !isprint(text[i]))
			return false;
	}
	return true;
}

static int take_create(struct vhca_file *file, const struct heddle_vhca_create *create)
{
	struct vhca *dev;

	if (file->state != VHCA_EMPTY)
		return -EBUSY;
	if (create->abi != HEDDLE_VHCA_ABI)
		return -EPROTO;
	if (create->ports < 1 || create->ports > HEDDLE_VHCA_MAX_PORTS || !create->node_guid)
		return -EINVAL;
	if (!good_text(create->name, true) || !good_text(create->description, false))
		return -EINVAL;

	dev = ib_alloc_device(vhca, ib);
	if (!dev)
		return -ENOMEM;
	dev->file = file;
	dev->port_count = create->ports;
	dev->vendor_id = create->vendor_id;
	dev->part_id = create->part_id;
	dev->hardware = create->hardware;
	dev->firmware = create->firmware;
	dev->system_guid = create->system_guid;
	spin_lock_init(&dev->lock);
	atomic_set(&dev->next_qpn, 2);

	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = create->ports;
	dev->ib.num_comp_vectors = 1;
	dev->ib.node_guid = cpu_to_be64(create->node_guid);
	strscpy(dev->ib.node_desc, create->description, sizeof(dev->ib.node_desc));
	strscpy(dev->name, *create->name ? create->name : "heddle%d", sizeof(dev->name));
	ib_set_device_ops(&dev->ib, &vhca_ops);
	file->dev = dev;
	set_state(file, VHCA_CREATED);
	return 0;
}

static void announce(struct vhca *dev, u32 port, enum ib_event_type what)
{
	struct ib_event event = { .device = &dev->ib, .element.port_num = port, .event = what };

	ib_dispatch_event(&event);
}

static int take_port(struct vhca_file *file, const struct heddle_vhca_port *port)
{
	struct vhca *dev = file->dev;
	struct heddle_vhca_port before;
	unsigned long flags;

	if (!dev)
		return -ENODEV;
	if (port->port < 1 || port->port > dev->port_count || port->pkey_count < 1 ||
	    port->pkey_count > HEDDLE_VHCA_MAX_PKEYS || port->lmc > 7)
		return -EINVAL;
	if (port->state < IB_PORT_DOWN || port->state > IB_PORT_ACTIVE || port->physical > 7 ||
	    port->max_mtu < IB_MTU_256 || port->max_mtu > IB_MTU_4096 || port->active_mtu < IB_MTU_256 ||
	    port->active_mtu > IB_MTU_4096)
		return -EINVAL;

	spin_lock_irqsave(&dev->lock, flags);
	before = dev->ports[port->port - 1];
	/* ib_core sized its tables when the adapter was registered. */
	if (file->state != VHCA_CREATED && before.pkey_count != port->pkey_count) {
		spin_unlock_irqrestore(&dev->lock, flags);
		return -EINVAL;
	}
	dev->ports[port->port - 1] = *port;
	spin_unlock_irqrestore(&dev->lock, flags);
	if (file->state != VHCA_REGISTERED)
		return 0;

	if (memcmp(before.pkeys, port->pkeys, sizeof(before.pkeys)))
		announce(dev, port->port, IB_EVENT_PKEY_CHANGE);
	if (before.lid != port->lid || before.lmc != port->lmc)
		announce(dev, port->port, IB_EVENT_LID_CHANGE);
	if (before.gid_prefix != port->gid_prefix || before.guid != port->guid)
		announce(dev, port->port, IB_EVENT_GID_CHANGE);
	if (before.sm_lid != port->sm_lid || before.sm_sl != port->sm_sl)
		announce(dev, port->port, IB_EVENT_SM_CHANGE);
	if (before.state != port->state && port->state == IB_PORT_ACTIVE)
		announce(dev, port->port, IB_EVENT_PORT_ACTIVE);
	if (before.state == IB_PORT_ACTIVE && port->state != IB_PORT_ACTIVE)
		announce(dev, port->port, IB_EVENT_PORT_ERR);
	if (port->reregister)
		announce(dev, port->port, IB_EVENT_CLIENT_REREGISTER);
	return 0;
}

/* Registering asks for counters, which the program answers: so it is not done within its write(). */
static void do_register(struct work_struct *work)
{
	struct vhca_file *file = container_of(work, struct vhca_file, registering);
	struct heddle_vhca_ready ready = {};
	unsigned long flags;

	ready.error = ib_register_device(&file->dev->ib, file->dev->name, NULL);

	mutex_lock(&file->lock);
	if (ready.error) {
		/* So that closing does not unregister what was never there. */
		ib_dealloc_device(&file->dev->ib);
		file->dev = NULL;
	} else {
		strscpy(ready.name, dev_name(&file->dev->ib.dev), sizeof(ready.name));
	}
	spin_lock_irqsave(&file->queue_lock, flags);
	if (file->state == VHCA_REGISTERING)
		file->state = ready.error ? VHCA_FAILED : VHCA_REGISTERED;
	spin_unlock_irqrestore(&file->queue_lock, flags);
	file->registered = !ready.error;
	mutex_unlock(&file->lock);
	vhca_tell(file, HEDDLE_VHCA_READY, &ready, sizeof(ready));
}

static int take_ready(struct vhca_file *file)
{
	u32 i;

	if (file->state != VHCA_CREATED)
		return file->state == VHCA_EMPTY ? -ENODEV : -EBUSY;
	for (i = 0; i < file->dev->port_count; i++) {
		if (!file->dev->ports[i].port)
			return -EINVAL;
	}
	set_state(file, VHCA_REGISTERING);
	queue_work(system_unbound_wq, &file->registering);
	return 0;
}

static int take_packet(struct vhca_file *file, const struct heddle_vhca_packet *packet)
{
	if (file->state != VHCA_REGISTERED)
		return file->state == VHCA_REGISTERING ? 0 : -ENODEV;
	if (packet->port < 1 || packet->port > file->dev->port_count || packet->qp > 1)
		return -EINVAL;
	/* Nobody waits for it, or there is no room: lost, as on a wire. */
	vhca_arrive(file->dev, packet);
	return 0;
}

union vhca_payload {
	struct heddle_vhca_create create;
	struct heddle_vhca_port port;
	struct heddle_vhca_packet packet;
	struct heddle_vhca_local local;
};

static size_t payload_size(u32 type)
{
	switch (type) {
	case HEDDLE_VHCA_CREATE:
		return sizeof(struct heddle_vhca_create);
	case HEDDLE_VHCA_PORT:
		return sizeof(struct heddle_vhca_port);
	case HEDDLE_VHCA_PACKET:
		return sizeof(struct heddle_vhca_packet);
	case HEDDLE_VHCA_LOCAL:
		return sizeof(struct heddle_vhca_local);
	default:
		return 0;
	}
}

static ssize_t vhca_write(struct file *filp, const char __user *from, size_t count, loff_t *offset)
{
	struct vhca_file *file = filp->private_data;
	struct heddle_vhca_header header;
	union vhca_payload payload;
	size_t size;
	int ret;

	if (count < sizeof(header) || count > sizeof(header) + sizeof(payload))
		return -EMSGSIZE;
	if (copy_from_user(&header, from, sizeof(header)))
		return -EFAULT;
	size = payload_size(header.type);
	if (header.size != count || count != sizeof(header) + size)
		return -EMSGSIZE;
	if (copy_from_user(&payload, from + sizeof(header), size))
		return -EFAULT;

	if (header.type == HEDDLE_VHCA_LOCAL) {
		/* Not under the lock: a thread that registers the adapter may be waiting for this one. */
		ret = take_local(file, &payload.local);
		return ret ? ret : count;
	}
	ret = mutex_lock_interruptible(&file->lock);
	if (ret)
		return ret;
	switch (header.type) {
	case HEDDLE_VHCA_CREATE:
		ret = take_create(file, &payload.create);
		break;
	case HEDDLE_VHCA_PORT:
		ret = take_port(file, &payload.port);
		break;
	case HEDDLE_VHCA_READY:
		ret = take_ready(file);
		break;
	case HEDDLE_VHCA_PACKET:
		ret = take_packet(file, &payload.packet);
		break;
	default:
		ret = -EINVAL;
	}
	mutex_unlock(&file->lock);
	return ret ? ret : count;
}

static ssize_t vhca_read(struct file *filp, char __user *to, size_t count, loff_t *offset)
{
	struct vhca_file *file = filp->private_data;
	struct vhca_message *message = NULL;
	ssize_t ret;

	spin_lock_irq(&file->queue_lock);
	while (list_empty(&file->queue)) {
		spin_unlock_irq(&file->queue_lock);
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(file->readable, !list_empty(&file->queue));
		if (ret)
			return ret;
		spin_lock_irq(&file->queue_lock);
	}
	message = list_first_entry(&file->queue, struct vhca_message, entry);
	if (message->header.size > count) {
		spin_unlock_irq(&file->queue_lock);
		return -EMSGSIZE;	/* it stays for a read with room */
	}
	list_del(&message->entry);
	file->queued--;
	spin_unlock_irq(&file->queue_lock);

	ret = message->header.size;
	if (copy_to_user(to, &message->header, sizeof(message->header)) ||
	    copy_to_user(to + sizeof(message->header), message->payload,
			 message->header.size - sizeof(message->header)))
		ret = -EFAULT;
	kfree(message);
	return ret;
}

static __poll_t vhca_poll(struct file *filp, poll_table *table)
{
	struct vhca_file *file = filp->private_data;
	__poll_t ready = EPOLLOUT | EPOLLWRNORM;

	poll_wait(filp, &file->readable, table);
	if (!list_empty_careful(&file->queue))
		ready |= EPOLLIN | EPOLLRDNORM;
	return ready;
}

static int vhca_open(struct inode *inode, struct file *filp)
{
	struct vhca_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	spin_lock_init(&file->queue_lock);
	INIT_LIST_HEAD(&file->queue);
	INIT_LIST_HEAD(&file->asked);
	init_waitqueue_head(&file->readable);
	INIT_WORK(&file->registering, do_register);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int vhca_release(struct inode *inode, struct file *filp)
{
	struct vhca_file *file = filp->private_data;
	struct vhca_question *question;
	struct vhca_message *message, *next;

	/* Whoever waits for an answer of the program waits in vain. */
	spin_lock_irq(&file->queue_lock);
	file->state = VHCA_GONE;
	list_for_each_entry(question, &file->asked, entry)
		complete(&question->answered);
	spin_unlock_irq(&file->queue_lock);

	flush_work(&file->registering);
	if (file->dev) {
		/* Counts its users down, so that nobody comes back for the file. */
		if (file->registered)
			ib_unregister_device(&file->dev->ib);
		ib_dealloc_device(&file->dev->ib);
	}
	list_for_each_entry_safe(message, next, &file->queue, entry)
		kfree(message);
	kfree(file);
	return 0;
}

static const struct file_operations vhca_fops = {
	.owner = THIS_MODULE,
	.open = vhca_open,
	.release = vhca_release,
	.read = vhca_read,
	.write = vhca_write,
	.poll = vhca_poll,
};

static struct miscdevice vhca_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "heddle_vhca",
	.fops = &vhca_fops,
	.mode = 0600,
};

module_misc_device(vhca_misc);
MODULE_DESCRIPTION("InfiniBand adapters of a simulated fabric");
MODULE_AUTHOR("Heddle");
MODULE_LICENSE("Dual BSD/GPL");
