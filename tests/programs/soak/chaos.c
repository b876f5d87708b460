// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "soak.h"

#define SERVICES_START	"bash /vqp/tests/programs/services start"
#define LINK		"data0"
#define LONG_NS		(10ULL * 1000000000)	/* for a command: explains what else did not happen */
#define LOOK_NS		(100ULL * 1000000)	/* between looks at what other nodes do */
#define STORM_GRACE_NS	(5ULL * 1000000000)	/* until what a storm held up has got through */

static uint64_t storm_end_ns;		/* 0: none */

int soak_run(const char *format, ...)
{
	uint64_t begin_ns = soak_now_ns(), took_ns;
	char command[512];
	va_list ap;
	int status;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	status = system(command);
	took_ns = soak_now_ns() - begin_ns;
	if (took_ns > LONG_NS)
		soak_say("took %" PRIu64 " s: %s", took_ns / 1000000000, command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Network namespaces that stand for containers ---- */

void soak_box_address(char *text, size_t size, uint32_t node, uint32_t worker)
{
	snprintf(text, size, "10.91.%u.%u", node, worker);
}

/*
 * Connections by vqp want an address and a route, and no more; what is none of them leads nowhere. One that was there
 * before may take a moment to go.
 */
void soak_box_make(uint32_t worker)
{
	uint64_t end_ns = soak_now_ns() + SOAK_PATIENCE_MS * 1000000ULL;
	char address[32];

	soak_box_address(address, sizeof(address), soak_options.node, worker);
	if (soak_run("ip netns add soak%u", worker))
		soak_say("ip netns add soak%u failed", worker);
	if (soak_run("ip -n soak%u link set lo up && ip -n soak%u link add eth0 up type veth peer name eth1 && "
		     "ip -n soak%u address add %s/8 dev eth0", worker, worker, worker, address))
		soak_say("no interface for %s", address);
	while (soak_run("vqpctl ns add --netns /run/netns/soak%u --tenant %u --address %s --name soak%u --sockets on "
			"--without-policy 2>/run/soak-add.log",
			worker, SOAK_TENANT, address, worker)) {
		if (soak_now_ns() > end_ns) {
			soak_run("cat /run/soak-add.log >&2");
			soak_say_late("no VQP namespace for %s", address);
			return;
		}
		usleep(50000);
	}
}

void soak_box_remove(uint32_t worker)
{
	soak_run("ip netns del soak%u", worker);
}

int soak_box_enter(uint32_t worker)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/soak%u", worker);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		return -errno;
	close(fd);
	return 0;
}

/* ---- Storms: the link is bad, or the RDMA device is gone, for a while ---- */

bool soak_storming(void)
{
	return soak_now_ns() < soak_shared->storm_ns;
}

static void storm_begin(uint64_t ms)
{
	storm_end_ns = soak_now_ns() + ms * 1000000;
	soak_shared->storm_ns = UINT64_MAX;
	soak_shared->storms++;
}

static void storm_end(void)
{
	storm_end_ns = 0;
	soak_shared->storm_ns = soak_now_ns() + STORM_GRACE_NS;
	soak_shared->storms++;
}

void soak_chaos_stall(void)
{
	soak_count(SOAK_N_STALL);
	soak_shared->storms++;
	if (!storm_end_ns)
		soak_shared->storm_ns = soak_now_ns() + STORM_GRACE_NS;
}

static void storm_link(uint64_t *random)
{
	uint32_t kind = soak_below(random, 5), much = 1 + soak_below(random, 20);
	char how[128];

	if (kind == 0)
		snprintf(how, sizeof(how), "loss 100%%");
	else if (kind == 1)
		snprintf(how, sizeof(how), "loss %u%%", much);
	else if (kind == 2)
		snprintf(how, sizeof(how), "delay %ums %ums", much / 2 + 1, much / 2);
	else if (kind == 3)
		snprintf(how, sizeof(how), "duplicate %u%% loss %u%%", much, much / 4);
	else
		snprintf(how, sizeof(how), "delay 2ms reorder %u%% 50%% loss 1%%", 100 - much);
	storm_begin(200 + soak_below(random, 6000));
	soak_count(SOAK_N_STORM);
	soak_say("storm: %s", how);
	if (soak_run("tc qdisc replace dev " LINK " root netem %s", how))
		soak_say_wrong("this kernel has no netem");
}

static void storm_parent(uint64_t *random)
{
	storm_begin(1 + soak_below(random, 3000));
	soak_count(SOAK_N_PARENT);
	soak_say("storm: no RDMA device");
	if (soak_run("rdma link del rxe0"))
		soak_say_wrong("the RDMA device does not go");
}

static void storm_over(void)
{
	soak_run("tc qdisc del dev " LINK " root 2>/dev/null");
	soak_run("rdma link show | grep -q rxe0 || rdma link add rxe0 type rxe netdev " LINK);
	storm_end();
	soak_say("storm over");
}

/* ---- Daemons ---- */

static void look_for_daemons(void)
{
	if (soak_marks("away"))
		soak_shared->away_ns = soak_now_ns();
}

static bool patience_over(uint64_t since_ns)
{
	uint64_t away_ns = soak_shared->away_ns;

	return soak_now_ns() > (since_ns > away_ns ? since_ns : away_ns) + SOAK_PATIENCE_MS * 1000000ULL;
}

bool soak_patience_over(uint64_t since_ns)
{
	if (!patience_over(since_ns))
		return false;
	/* soak_chaos_tick() is late when its process waits for a command. */
	look_for_daemons();
	return patience_over(since_ns);
}

/* What one start waits for, another may not kill: at most one runs on a node. All nodes see a mark meanwhile. */
static int daemons_start(const char *prelude)
{
	int status = soak_run("flock --close /run/soak-services sh -c '>%s/away-%u; %s " SERVICES_START "; status=$?; "
			      "rm -f %s/away-%u; exit $status'", soak_options.meet, soak_options.node, prelude,
			      soak_options.meet, soak_options.node);

	soak_shared->away_ns = soak_now_ns();
	return status;
}

static void daemon_restart(uint64_t *random)
{
	const char *name = soak_options.node == 1 && soak_below(random, 2) ? "vqp-metad" : "vqpd";
	uint32_t pause_ms = soak_below(random, 2000);
	char prelude[128];

	soak_count(SOAK_N_DAEMON);
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* In a storm it may be in vain; soak_chaos_calm() is not. */
	snprintf(prelude, sizeof(prelude), "exec 2>/dev/null; pkill -%s -x %s; sleep %u.%03u;",
		 soak_below(random, 2) ? "KILL" : "TERM", name, pause_ms / 1000, pause_ms % 1000);
	daemons_start(prelude);
	_exit(0);
}

/* ---- All of it ---- */

void soak_chaos_node(uint64_t *random)
{
	uint32_t dice = soak_below(random, 20);

	if (dice < 10)
		daemon_restart(random);
	else if (storm_end_ns)
		return;
	else if (dice < 18 && soak_options.nodes > 1)
		storm_link(random);
	else
		storm_parent(random);
}

void soak_chaos_tick(void)
{
	static uint64_t look_ns;

	if (soak_now_ns() >= look_ns) {
		look_for_daemons();
		look_ns = soak_now_ns() + LOOK_NS;
	}
	if (storm_end_ns && soak_now_ns() >= storm_end_ns)
		storm_over();
}

void soak_chaos_calm(void)
{
	if (storm_end_ns)
		storm_over();
	if (daemons_start(""))
		soak_say_late("the daemons do not recover");
}
