// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Contexts, regions, CQs and VQPs: all calls of /dev/vqp but posting. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "issue.h"

/* Mostly the context that the object belongs to. */
static int fd_for(struct runner *run, const struct object *object)
{
	if (rnd_percent(&run->rnd, 4))
		return object_fd(shelf_pick(&run->world->contexts, &run->rnd));
	return context_fd(run, object);
}

static uint32_t index_of(const struct shelf *shelf, const struct object *object)
{
	return (uint32_t)(object - shelf->objects);
}

/* Mostly as it is. */
static uint32_t number(struct rnd *r, uint64_t value)
{
	return rnd_percent(r, 3) ? (uint32_t)rnd_edge(r) : (uint32_t)value;
}

void call_open(struct runner *run)
{
	struct vqp_attach attach = {};
	struct world *world = run->world;
	struct object old;
	int fd;

	fd = open(VQP_DEVICE_PATH, O_RDWR | (rnd_percent(&run->rnd, 50) ? O_CLOEXEC : 0));
	note(run, fd >= 0);
	if (fd < 0)
		return;
	/* Most programs attach a context at once. */
	if (rnd_percent(&run->rnd, 90))
		note(run, !ioctl(fd, VQP_IOC_ATTACH, &attach));
	old = shelf_put(&world->contexts, &run->rnd, (struct object) { .live = true, .a = (uint64_t)fd });
	if (old.live)
		close((int)old.a);
}

void call_close(struct runner *run)
{
	struct shelf *shelf = rnd_percent(&run->rnd, 50) ? &run->world->contexts : &run->world->cqs;
	struct object *object = shelf_pick(shelf, &run->rnd);

	object->live = false;
	note(run, !close(object_fd(object)));
}

/* Anything at all. */
void call_ioctl(struct runner *run)
{
	uint64_t arg[32];
	unsigned long cmd;
	size_t i;

	for (i = 0; i < sizeof(arg) / sizeof(arg[0]); i++)
		arg[i] = rnd_percent(&run->rnd, 50) ? 0 : rnd_edge(&run->rnd);
	cmd = _IOC(rnd_percent(&run->rnd, 80) ? _IOC_READ | _IOC_WRITE : rnd_below(&run->rnd, 4),
		   rnd_percent(&run->rnd, 90) ? VQP_IOC_MAGIC : rnd_u32(&run->rnd) & 0xff,
		   rnd_below(&run->rnd, 14), rnd_below(&run->rnd, sizeof(arg)));
	memcpy(run->stage, arg, sizeof(arg));
	note(run, !ioctl(object_fd(shelf_pick(&run->world->contexts, &run->rnd)), cmd, run->stage));
}

void call_query(struct runner *run)
{
	struct object *context = shelf_pick(&run->world->contexts, &run->rnd);
	struct vqp_query query = {};

	if (issue(run, object_fd(context), VQP_IOC_QUERY, &query) || run->call->spoil)
		return;
	if (query.features || query.flags & ~(VQP_QUERY_ATTACHED | VQP_QUERY_PARENT_UP))
		fail(run, "QUERY tells of features %#llx, flags %#x", (unsigned long long)query.features, query.flags);
	if (query.flags & VQP_QUERY_ATTACHED && run->world->in_host && !run->world->privileged)
		fail(run, "a context is attached to the host's namespace without privileges");
}

void call_reg_mr(struct runner *run)
{
	struct world *world = run->world;
	struct object *map = shelf_pick(&world->maps, &run->rnd);
	struct object *context = shelf_pick(&world->contexts, &run->rnd);
	uint64_t from = rnd_percent(&run->rnd, 60) ? 0 : rnd_below(&run->rnd, (uint32_t)map->b);
	struct vqp_reg_mr reg = {
		.addr = map->a + from,
		.length = map->b - from,
		.access = rnd_percent(&run->rnd, 90) ? 15 : rnd_below(&run->rnd, 32),
	};
	struct object *old;

	if (rnd_percent(&run->rnd, 10))
		reg.length = rnd_edge(&run->rnd);
	/* Root's pinning knows no limit but memory. */
	if (world->privileged && reg.length > 1 << 30)
		reg.length >>= 34;
	world->tainted |= world->ring_mapped;
	if (issue(run, object_fd(context), VQP_IOC_REG_MR, &reg))
		return;
	old = &world->mrs.objects[rnd_below(&run->rnd, world->mrs.size)];
	*old = (struct object) {
		.live = true, .context = index_of(&world->contexts, context),
		.a = reg.key, .b = reg.addr, .c = reg.length,
	};
}

void call_dereg_mr(struct runner *run)
{
	struct object *mr = shelf_pick(&run->world->mrs, &run->rnd);
	struct vqp_dereg_mr dereg = { .key = number(&run->rnd, mr->a) };

	if (!issue(run, fd_for(run, mr), VQP_IOC_DEREG_MR, &dereg))
		mr->live = false;
}

void call_create_cq(struct runner *run)
{
	struct world *world = run->world;
	struct object *context = shelf_pick(&world->contexts, &run->rnd);
	struct vqp_create_cq create = {
		.cqe = rnd_percent(&run->rnd, 95) ? 1U << rnd_below(&run->rnd, 9) : (uint32_t)rnd_edge(&run->rnd),
		.flags = number(&run->rnd, 0),
	};
	struct object old;

	if (issue(run, object_fd(context), VQP_IOC_CREATE_CQ, &create))
		return;
	if (run->call->spoil == SPOIL_NUMBER)
		return;
	old = shelf_put(&world->cqs, &run->rnd, (struct object) {
		.live = true, .context = index_of(&world->contexts, context),
		.a = (uint64_t)create.fd, .b = create.ring_offset, .c = create.ring_bytes,
	});
	if (old.live)
		close(object_fd(&old));
}

void call_create_qp(struct runner *run)
{
	struct world *world = run->world;
	struct object *cq = shelf_pick(&world->cqs, &run->rnd);
	struct object *other = shelf_pick_fit(&world->cqs, &run->rnd, object_of_context, cq->context);
	struct vqp_create_qp create = {
		.send_cq_fd = object_fd(cq),
		.recv_cq_fd = object_fd(other),
		.max_send_wr = rnd_percent(&run->rnd, 90) ? rnd_below(&run->rnd, 65) : (uint32_t)rnd_edge(&run->rnd),
		.max_recv_wr = rnd_percent(&run->rnd, 90) ? rnd_below(&run->rnd, 65) : (uint32_t)rnd_edge(&run->rnd),
		.max_send_sge = rnd_below(&run->rnd, VQP_MAX_SGE + 1),
		.max_recv_sge = rnd_below(&run->rnd, VQP_MAX_SGE + 1),
		.flags = number(&run->rnd, rnd_below(&run->rnd, 2)),
	};

	if (issue(run, fd_for(run, cq), VQP_IOC_CREATE_QP, &create))
		return;
	shelf_put(&world->vqps, &run->rnd, (struct object) {
		.live = true, .context = cq->context, .a = create.qp_num, .b = VQP_QP_INIT,
	});
}

void call_destroy_qp(struct runner *run)
{
	struct object *vqp = shelf_pick(&run->world->vqps, &run->rnd);
	struct vqp_destroy_qp destroy = { .qp_num = number(&run->rnd, vqp->a) };

	if (!issue(run, fd_for(run, vqp), VQP_IOC_DESTROY_QP, &destroy))
		vqp->live = false;
}

/* Few, so that programs and workers meet each other. */
static uint32_t pick_port(struct rnd *r)
{
	return rnd_percent(r, 5) ? (uint32_t)rnd_edge(r) : 1 + rnd_below(r, 4);
}

void call_bind(struct runner *run)
{
	struct object *vqp = shelf_pick_fit(&run->world->vqps, &run->rnd, object_in_state, VQP_QP_INIT);
	struct vqp_bind bind = {
		.qp_num = number(&run->rnd, vqp->a),
		.port = rnd_percent(&run->rnd, 20) ? 0 : pick_port(&run->rnd),
	};

	if (issue(run, fd_for(run, vqp), VQP_IOC_BIND, &bind))
		return;
	vqp->b = VQP_QP_BOUND;
	if (!run->call->spoil && (!bind.port || bind.port > 65535))
		fail(run, "BIND gave port %u", bind.port);
}

static void pick_gid(struct runner *run, uint8_t *gid)
{
	const struct world *world = run->world;
	uint32_t box = rnd_below(&run->rnd, BOXES_MAX);

	memcpy(gid, rnd_percent(&run->rnd, 85) ? world->gid : world->boxes[box].gid, VQP_GID_BYTES);
	if (rnd_percent(&run->rnd, 4))
		gid[rnd_below(&run->rnd, VQP_GID_BYTES)] ^= (uint8_t)(1 << rnd_below(&run->rnd, 8));
}

void call_connect(struct runner *run)
{
	const struct target *target = run->world->target;
	struct object *vqp = shelf_pick_fit(&run->world->vqps, &run->rnd, object_in_state, VQP_QP_INIT);
	struct vqp_connect connect = { .qp_num = number(&run->rnd, vqp->a), .port = pick_port(&run->rnd) };

	pick_gid(run, connect.gid);
	if (target->known && !run->world->in_host && rnd_percent(&run->rnd, 40)) {
		memcpy(connect.gid, target->gid, VQP_GID_BYTES);
		connect.port = rnd_percent(&run->rnd, 90) ? target->port : pick_port(&run->rnd);
	}
	if (!issue(run, fd_for(run, vqp), VQP_IOC_CONNECT, &connect))
		vqp->b = VQP_QP_CONNECTED;
}

void call_accept(struct runner *run)
{
	struct world *world = run->world;
	struct object *vqp = shelf_pick_fit(&world->vqps, &run->rnd, object_in_state, VQP_QP_BOUND);
	struct object *sender = shelf_pick_fit(&world->vqps, &run->rnd, object_in_state, VQP_QP_CONNECTED);
	struct vqp_accept accept = {
		.qp_num = number(&run->rnd, vqp->a),
		.src_qp = number(&run->rnd, sender->a),
	};

	pick_gid(run, accept.src_gid);
	if (issue(run, fd_for(run, vqp), VQP_IOC_ACCEPT, &accept))
		return;
	shelf_put(&world->vqps, &run->rnd, (struct object) {
		.live = true, .context = vqp->context, .a = accept.new_qp_num, .b = VQP_QP_CONNECTED,
	});
}

void call_query_qp(struct runner *run)
{
	struct object *vqp = shelf_pick(&run->world->vqps, &run->rnd);
	struct vqp_query_qp query = { .qp_num = number(&run->rnd, vqp->a) };

	if (!issue(run, fd_for(run, vqp), VQP_IOC_QUERY_QP, &query) && !run->call->spoil &&
	    (query.state > VQP_QP_ERROR || query.carrier > VQP_CARRIER_RC))
		fail(run, "QUERY_QP tells of state %u, carrier %u", query.state, query.carrier);
}

void call_attach(struct runner *run)
{
	struct object *context = shelf_pick(&run->world->contexts, &run->rnd);
	struct vqp_attach attach = { .flags = number(&run->rnd, 0) };

	if (rnd_percent(&run->rnd, 30))
		pick_gid(run, attach.gid);
	issue(run, object_fd(context), VQP_IOC_ATTACH, &attach);
}
