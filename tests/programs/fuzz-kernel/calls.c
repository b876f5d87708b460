// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fuzz-calls: programs of calls to /dev/vqp, its mappings and the netlink
 * family, in several processes with and without privileges, inside VQP
 * namespaces and outside. Runs as root in the initial network namespace.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cover.h"
#include "netlink.h"
#include "world.h"

#define WORKERS_MAX	16
#define NOBODY		65534
#define HUNG_S		300		/* no call takes nearly as long */
#define ENOUGH_CALLS	400

struct options {
	uint64_t seed;
	unsigned long calls, seconds;
	uint32_t workers, tenant, report_s;
	const char *trace, *replay;
	struct target target;
};

/* What parent and workers share. */
struct shared {
	struct tally tally;
	_Atomic time_t began[WORKERS_MAX];	/* the worker's present program */
	atomic_bool stop;
};

static struct options options = { .calls = 100000, .workers = 5, .tenant = 9, .report_s = 10 };
static struct shared *shared;
static struct cover *cover;
static struct box boxes[BOXES_MAX];
static int host_netns;
static uint8_t meta[4096];
static struct world world;

/* ---- Before the workers ---- */

static int open_netns(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "/proc/self/ns/net");
	return fd;
}

/* 10.90.200.N; the last one belongs to another tenant. */
static void make_boxes(void)
{
	uint32_t i;

	host_netns = open_netns();
	for (i = 0; i < BOXES_MAX; i++) {
		if (unshare(CLONE_NEWNET))
			err(1, "unshare");
		boxes[i].netns = open_netns();
		boxes[i].tenant = options.tenant + (i == BOXES_MAX - 1);
		target_gid("10.90.200.0", boxes[i].gid);
		boxes[i].gid[15] = (uint8_t)(i + 1);
	}
	if (setns(host_netns, CLONE_NEWNET))
		err(1, "setns");
	for (i = 0; i < BOXES_MAX; i++)
		netlink_add_box(world.nl, world.nl_family, &boxes[i]);
}

static void prepare(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	world.tally = &shared->tally;
	world.boxes = boxes;
	world.target = &options.target;
	world.nl = netlink_open();
	world.nl_family = netlink_family(world.nl);
	world.meta = meta;
	world.meta_bytes = netlink_get_meta(world.nl, world.nl_family, meta, sizeof(meta));
	make_boxes();
	cover = cover_open();
}

/* ---- A worker ---- */

static void limit(int resource, rlim_t most)
{
	if (setrlimit(resource, &(struct rlimit){ most, most }))
		err(1, "setrlimit");
}

/* By turns: root in a box, a user in it, root on the host, a user in another box, a user on the host. */
static void take_role(uint32_t index)
{
	uint32_t role = index % 5;

	world.in_host = role == 2 || role == 4;
	world.privileged = role == 0 || role == 2;
	world.home = role == 3 ? 1 : 0;
	limit(RLIMIT_NOFILE, 128);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_MEMLOCK, 1 << 20);
}

static void go_home(void)
{
	if (setns(world.in_host ? host_netns : boxes[world.home].netns, CLONE_NEWNET))
		err(1, "setns");
}

/* As root. The host's address is that of its RDMA device. */
static void learn_address(void)
{
	int fd = open(VQP_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	struct vqp_attach attach = {};

	if (fd < 0)
		err(1, VQP_DEVICE_PATH);
	if (!ioctl(fd, VQP_IOC_ATTACH, &attach))
		memcpy(world.gid, attach.gid, VQP_GID_BYTES);
	close(fd);
}

static void drop_privileges(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "setresuid");
}

static void settle(void)
{
	go_home();
	learn_address();
	if (!world.privileged)
		drop_privileges();
}

static int open_trace(uint32_t index)
{
	char path[4096];
	int fd;

	if (!options.trace)
		return -1;
	snprintf(path, sizeof(path), "%s/worker-%u", options.trace, index);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void make_program(struct program *program, struct rnd *r)
{
	struct program other;

	if (!rnd_percent(r, 75) || !cover_pick(r, program) || !cover_pick(r, &other)) {
		program_generate(program, r);
		return;
	}
	program_mutate(program, &other, r);
}

static void run_worker(uint32_t index)
{
	struct rnd r = { options.seed * 1000003 + index };
	uint8_t *stages[PROGRAM_THREADS];
	struct program program;
	int trace, i;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		err(1, "prctl");
	take_role(index);
	trace = open_trace(index);
	/* What was opened before belongs to the parent: two workers must not share a netlink socket. */
	world.nl = netlink_open();
	for (i = 0; i < PROGRAM_THREADS; i++)
		stages[i] = world_stage();
	world_init(&world);
	cover_attach(cover);
	settle();
	while (!atomic_load(&shared->stop)) {
		make_program(&program, &r);
		if (trace >= 0 && pwrite(trace, &program, sizeof(program), 0) != sizeof(program))
			err(1, "trace");
		atomic_store(&shared->began[index], time(NULL));
		world_run(&world, &program, stages);
		cover_judge(&program);
		atomic_fetch_add(&shared->tally.programs, 1);
		if (world.privileged)
			go_home();
		else if (world.in_host)
			/* All it is told is EPERM: it need not be told often. */
			usleep(50000);
	}
	_exit(0);
}

/* ---- The parent ---- */

/* How often the calls of a kind were good, and the errors they gave most often. */
static void report_kind(int kind)
{
	const atomic_ulong *results = shared->tally.results[kind];
	unsigned long count, most, below = ~0UL;
	int error, which, told;

	printf("fuzz-calls: %-12s %9lu good", kind_names[kind], atomic_load(&results[0]));
	for (told = 0; told < 6; told++) {
		for (most = 0, error = 1; error < ERRNOS; error++) {
			count = atomic_load(&results[error]);
			if (count > most && count < below) {
				most = count;
				which = error;
			}
		}
		if (!most)
			break;
		printf(", %lu %s", most, strerrorname_np(which));
		below = most;
	}
	printf("\n");
}

static void report(time_t began, bool last)
{
	time_t seconds = time(NULL) - began;
	int kind;

	printf("fuzz-calls: %ld s, %lu calls, %lu programs, %lu addresses reached, %lu programs kept\n",
	       (long)seconds, atomic_load(&shared->tally.calls), atomic_load(&shared->tally.programs),
	       cover_reached(cover), cover_kept(cover));
	for (kind = 0; last && kind < KIND_MAX; kind++)
		report_kind(kind);
	fflush(stdout);
}

/* A kind of call, other than those that there are not, that was made so often and was never good was made in vain. */
static bool kind_in_vain(int kind)
{
	const atomic_ulong *results = shared->tally.results[kind];
	unsigned long made = 0;
	int error;

	for (error = 0; error < ERRNOS; error++)
		made += atomic_load(&results[error]);
	if (kind == KIND_ioctl || made < ENOUGH_CALLS || atomic_load(&results[0]))
		return false;
	fprintf(stderr, "fuzz-calls: no %s was ever good\n", kind_names[kind]);
	return true;
}

static bool in_vain(void)
{
	int kind;

	for (kind = 0; kind < KIND_MAX; kind++)
		if (kind_in_vain(kind))
			return true;
	if (!cover || cover_reached(cover))
		return false;
	fprintf(stderr, "fuzz-calls: the module was built without KCOV\n");
	return true;
}

static bool worker_hangs(uint32_t index)
{
	time_t began = atomic_load(&shared->began[index]);

	if (!began || time(NULL) - began < HUNG_S)
		return false;
	fprintf(stderr, "fuzz-calls: worker %u has been in one program for %d s\n", index, HUNG_S);
	return true;
}

static bool done(time_t began)
{
	return (options.calls && atomic_load(&shared->tally.calls) >= options.calls) ||
	       (options.seconds && (unsigned long)(time(NULL) - began) >= options.seconds);
}

/* 0: all is well so far; 1: not; a worker that ends before it is told to is a failure. */
static int watch(void)
{
	uint32_t i;
	int status;

	if (waitpid(-1, &status, WNOHANG) > 0) {
		fprintf(stderr, "fuzz-calls: a worker ended with status %#x\n", status);
		return 1;
	}
	for (i = 0; i < options.workers; i++)
		if (worker_hangs(i))
			return 1;
	return atomic_load(&shared->tally.failed);
}

static int run_workers(void)
{
	time_t began = time(NULL), told = began;
	int failed = 0, status;
	uint32_t i;

	printf("fuzz-calls: seed %" PRIu64 ", %u workers%s\n", options.seed, options.workers,
	       cover ? ", guided by KCOV" : "");
	fflush(stdout);
	for (i = 0; i < options.workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid)
			run_worker(i);
	}
	while (!done(began) && !(failed = watch())) {
		usleep(100000);
		if (options.report_s && time(NULL) - told >= options.report_s) {
			told = time(NULL);
			report(began, false);
		}
	}
	atomic_store(&shared->stop, true);
	/* Failed: those that are left hang, or will end by the death of their parent. */
	while (!failed && waitpid(-1, &status, 0) > 0)
		failed = status || atomic_load(&shared->tally.failed);
	report(began, true);
	if (!failed)
		failed = in_vain();
	if (failed)
		fprintf(stderr, "fuzz-calls: failed; seed %" PRIu64 "; %s\n", options.seed, shared->tally.why);
	return failed ? 1 : 0;
}

/* One program, in the role of the worker that ran it. */
static int replay(void)
{
	const char *number = strrchr(options.replay, '-');
	uint32_t index = number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0, i;
	uint8_t *stages[PROGRAM_THREADS];
	struct program program;
	int fd = open(options.replay, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &program, sizeof(program)) != sizeof(program) || !program_valid(&program))
		errx(1, "%s is no program", options.replay);
	take_role(index);
	for (i = 0; i < PROGRAM_THREADS; i++)
		stages[i] = world_stage();
	world_init(&world);
	world.talks = true;
	cover_attach(NULL);
	settle();
	world_run(&world, &program, stages);
	return 0;
}

/* ---- The command line ---- */

static void usage(FILE *out)
{
	fputs("Usage: fuzz-calls [OPTION...]\n"
	      "  --seed N       of all that is chosen (default: the time)\n"
	      "  --calls N      end after so many (default 100000; 0: no limit)\n"
	      "  --seconds N    end after so long (default: no limit)\n"
	      "  --workers N    processes, at most 16 (default 5, one of each kind)\n"
	      "  --tenant N     of the fuzzer's VQP namespaces (default 9)\n"
	      "  --target ADDRESS:PORT:KEY:ADDR:BYTES\n"
	      "                 a VQP of that tenant on another node, and memory it offers\n"
	      "  --report N     seconds between reports (default 10)\n"
	      "  --trace DIR    keep each worker's present program in DIR/worker-N\n"
	      "  --replay FILE  run such a program, telling what each call gives\n", out);
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "calls", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 't' },
		{ "workers", required_argument, NULL, 'w' },
		{ "tenant", required_argument, NULL, 'n' },
		{ "target", required_argument, NULL, 'g' },
		{ "report", required_argument, NULL, 'r' },
		{ "trace", required_argument, NULL, 'd' },
		{ "replay", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	options.seed = (uint64_t)time(NULL);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's': options.seed = strtoull(optarg, NULL, 0); break;
		case 'c': options.calls = strtoul(optarg, NULL, 0); break;
		case 't': options.seconds = strtoul(optarg, NULL, 0); break;
		case 'w': options.workers = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'n': options.tenant = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'g': target_parse(optarg, &options.target); break;
		case 'r': options.report_s = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'd': options.trace = optarg; break;
		case 'p': options.replay = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind < argc || !options.workers || options.workers > WORKERS_MAX) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	if (options.trace && mkdir(options.trace, 0755) && errno != EEXIST)
		err(1, "%s", options.trace);
	prepare();
	return options.replay ? replay() : run_workers();
}
