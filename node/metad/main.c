/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp-metad: the meta server. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>

#include <linux/vqp.h>
#include <vqp/vqp.h>

#include "../../common/error.h"
#include "../../common/filter.h"
#include "../../common/netlink.h"
#include "../../common/privilege.h"
#include "../../common/version.h"
#include "../loop.h"
#include "../http.h"
#include "../log.h"
#include "../notify.h"
#include "../option.h"
#include "../reply.h"
#include "../server.h"
#include "../status.h"
#include "answer.h"
#include "ask.h"
#include "metrics.h"

#define BUCKETS_MAX	(1U << 20)	/* 640 MiB, for some 7 million addresses */
#define TICK_MS		1000
#define METRICS_PORT	"9472"	/* that of vqpd is 9471 */

struct config {
	const char *listen;	/* NULL: at every address, if there is a key */
	const char *key;	/* the file, or NULL */
	const char *metrics;	/* where to serve them, or NULL */
	const char *asked;	/* the server that is to be asked; NULL: be one */
	uint32_t buckets;
};

struct server {
	struct vqp_loop loop;
	struct vqp_watch signals, tick;
	struct vqp_server listener;
	struct vqp_http http;		/* metrics */
	struct vqp_tls_key *key;
	struct vqp_log_limit refusals;	/* apart from that of takeovers, which strangers must not fill */
	struct vqp_netlink netlink;
	struct vqp_metad metad;
	struct ibv_context *context;
	struct ibv_mr *mr;
};

static const char help[] =
"Usage: vqp-metad [OPTION]...\n"
"Hold the table in which nodes look up where containers are: nodes announce\n"
"theirs over TCP, and READ the table over RDMA.\n"
"\n"
"  -l, --listen ADDR:PORT  take announcements here (default: with a key, every address, port " VQP_METAD_PORT ");\n"
"                          without a key choose one that only nodes can reach\n"
"      --key FILE          the key that nodes must know (default " VQP_TLS_KEY_FILE ", if it is there)\n"
"  -b, --buckets N         size of the table, a power of two: room for 7 addresses\n"
"                          and 640 bytes each (default 1024)\n"
"      --metrics ADDR:PORT serve Prometheus metrics at http://ADDR:PORT/metrics, and /healthz\n"
"      --ask HOST[:PORT] [OP]  ask the meta server there for hello or list, print its answer as\n"
"                          JSON, and end\n"
"      --log-level LEVEL   leave out of the log what is below this: error, warning, notice,\n"
"                          info (default) or debug\n"
"  -h, --help              this text\n"
"      --version           print the version\n";

static void open_context(struct server *server)
{
	server->context = vqp_open();
	if (server->context)
		return;
	switch (errno) {
	case ENOENT:
		vqp_log_end(EX_UNAVAILABLE, "no vqp module loaded: modprobe vqp");
	case EPERM:
	case EACCES:
		vqp_log_end(EX_NOPERM, "the host's own VQP namespace needs CAP_NET_ADMIN: run as root");
	case ENONET:
		vqp_log_end(EX_UNAVAILABLE, "run vqp-metad in the host's network namespace");
	default:
		vqp_log_end(EX_OSERR, "cannot open " VQP_DEVICE_PATH ": %s", strerror(errno));
	}
}

/* Allocates and registers the table's memory, which other nodes may READ from then on. */
static struct vqp_bucket *register_memory(struct server *server, uint32_t buckets)
{
	size_t bytes = (size_t)buckets * VQP_BUCKET_BYTES;
	void *memory;

	if (bytes <= VQP_MAX_ARENA_BYTES) {
		memory = vqp_alloc(server->context, bytes);
	} else {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			memory = NULL;
	}
	if (!memory)
		vqp_log_end(EX_OSERR, "no memory for %u buckets: %s", buckets, strerror(errno));
	server->mr = vqp_reg_mr(vqp_pd(server->context), memory, bytes, IBV_ACCESS_REMOTE_READ);
	if (!server->mr)
		vqp_log_end(EX_OSERR, "cannot register %zu bytes (more than %u are charged to the memlock limit): %s",
			    bytes, VQP_MAX_ARENA_BYTES, strerror(errno));
	return memory;
}

/* Renews the answer to hello, which changes with this node's RDMA device. */
static void refresh_hello(struct server *server)
{
	json_t *status = NULL;

	json_decref(server->metad.hello);
	server->metad.hello = NULL;
	if (vqp_netlink_do(&server->netlink, VQP_CMD_STATUS_GET, NULL, &status))
		return;
	server->metad.hello = vqp_status_dct(status);
	json_decref(status);
	if (server->metad.hello)
		json_object_update_new(server->metad.hello,
				       json_pack("{s:b, s:I, s:I, s:I}", "ok", 1,
						 "key", (json_int_t)server->mr->rkey,
						 "addr", (json_int_t)(uintptr_t)server->mr->addr,
						 "buckets", (json_int_t)server->metad.table.nbuckets));
}

static void tick(struct vqp_watch *watch, uint32_t events)
{
	struct server *server = (struct server *)((char *)watch - offsetof(struct server, tick));

	(void)events;
	vqp_loop_timer_ack(watch);
	vqp_table_expire(&server->metad.table, vqp_loop_now_ms());
	vqp_log_limit_tick(&server->metad.log, vqp_loop_now_ms());
	vqp_log_limit_tick(&server->refusals, vqp_loop_now_ms());
	refresh_hello(server);
	vqp_server_tick(&server->listener);
	vqp_http_tick(&server->http);
}

static void answer(struct vqp_client *client, json_t *request)
{
	struct server *server = client->server->owner;
	const char *op = json_string_value(json_object_get(request, "op"));

	if (op)
		vqp_log(LOG_DEBUG, "asked to %.10s", op);
	vqp_server_answer(client, vqp_metad_answer(&server->metad, request, vqp_loop_now_ms()));
}

/* vqp_server.refused */
static void tell_refusal(const struct vqp_client *client, const json_t *reply)
{
	struct server *server = client->server->owner;

	server->metad.refusals++;
	vqp_log_limited(&server->refusals, vqp_loop_now_ms(), LOG_WARNING, "refused a client: %s", vqp_reply_text(reply));
}

/* vqp_http.metrics */
static void put_metrics(void *owner, FILE *out)
{
	const struct server *server = owner;

	vqp_metad_metrics_put(&server->metad, &server->listener, vqp_loop_now_ms(), out);
}

static void start_metrics(struct server *server, const char *addr)
{
	int ret;

	server->http.owner = server;
	server->http.metrics = put_metrics;
	ret = vqp_http_start(&server->http, &server->loop, addr, METRICS_PORT);
	if (ret == -EINVAL)
		vqp_log_end(EX_USAGE, "--metrics takes ADDR:PORT, an address in numbers, not '%s'", addr);
	if (ret)
		vqp_log_end(EX_UNAVAILABLE, "cannot serve metrics on %s: %s", addr, strerror(-ret));
}

/* Returns where to listen. Whoever reaches a server without a key can take over addresses. */
static const char *read_key(struct server *server, const char *listen, const char *path)
{
	cleanup_error struct vqp_error error = { 0 };

	if (vqp_tls_key_read(&server->key, path, &error))
		vqp_log_end(EX_CONFIG, "%s", vqp_error_text(&error));
	if (!server->key && !listen)
		vqp_log_end(EX_CONFIG, "without a key, whoever reaches this server can take over addresses. Make a key, and copy it to all nodes: "
		     VQP_TLS_KEY_HINT "; or listen where only nodes can connect: --listen ADDR:PORT");
	return listen ? listen : ":" VQP_METAD_PORT;
}

static void start(struct server *server, const struct config *config)
{
	int ret;

	server->metad.started_ms = vqp_loop_now_ms();
	ret = vqp_netlink_open(&server->netlink);
	if (!ret)
		ret = vqp_loop_init(&server->loop);
	if (!ret)
		ret = vqp_loop_add_signals(&server->loop, &server->signals);
	server->tick.ready = tick;
	if (!ret)
		ret = vqp_loop_add_timer(&server->loop, &server->tick, TICK_MS);
	if (ret)
		vqp_log_end(EX_OSERR, "cannot start: %s", strerror(-ret));

	open_context(server);
	if (vqp_table_init(&server->metad.table, register_memory(server, config->buckets), config->buckets))
		vqp_log_end(EX_OSERR, "out of memory");
	refresh_hello(server);
	if (config->metrics)
		start_metrics(server, config->metrics);

	server->listener.owner = server;
	server->listener.request = answer;
	server->listener.refused = tell_refusal;
	server->listener.key = server->key;
	ret = vqp_server_listen_tcp(&server->listener, &server->loop, config->listen, VQP_METAD_PORT);
	if (ret == -EINVAL)
		vqp_log_end(EX_USAGE, "--listen takes ADDR:PORT, an address in numbers, not '%s'", config->listen);
	if (ret)
		vqp_log_end(EX_UNAVAILABLE, "cannot listen on %s: %s", config->listen, strerror(-ret));
	ret = vqp_privilege_keep(VQP_PHASE_METAD_SERVE);
	if (!ret)
		ret = vqp_filter_install(VQP_PROGRAM_METAD);
	if (ret)
		vqp_log_end(EX_OSERR, "cannot give up privileges: %s", strerror(-ret));
	ret = vqp_notify_ready();
	if (ret)
		vqp_log(LOG_WARNING, "cannot tell the service manager that vqp-metad is ready: %s", strerror(-ret));
}

/* Prints the answer of a meta server, or why there is none, as JSON. Returns the exit status. */
static int ask(const char *at, const char *op, const char *path)
{
	cleanup_error struct vqp_error error = { 0 };
	struct vqp_tls_key *key;
	json_t *reply = NULL;
	int ret = vqp_tls_key_read(&key, path, &error);

	if (!ret)
		ret = vqp_metad_ask(at, op, key, &reply, &error);
	if (ret)
		reply = vqp_reply_error(ret, "%s", vqp_error_text(&error));
	json_dumpf(reply, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(reply);
	vqp_tls_key_free(key);
	return ret || fflush(stdout) ? EX_UNAVAILABLE : 0;
}

static void parse_options(int argc, char **argv, struct config *config)
{
	enum { KEY = 256, METRICS, ASK, LOG_LEVEL, VERSION };
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "buckets", required_argument, NULL, 'b' },
		{ "key", required_argument, NULL, KEY },
		{ "metrics", required_argument, NULL, METRICS },
		{ "ask", required_argument, NULL, ASK },
		{ "log-level", required_argument, NULL, LOG_LEVEL },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "l:b:h", options, NULL)) >= 0) {
		switch (option) {
		case 'l':
			config->listen = optarg;
			break;
		case 'b':
			config->buckets = vqp_option_number("--buckets", optarg, 1, BUCKETS_MAX);
			if (config->buckets & (config->buckets - 1))
				vqp_log_end(EX_USAGE, "--buckets takes a power of two, not %u", config->buckets);
			break;
		case KEY:
			config->key = optarg;
			break;
		case METRICS:
			config->metrics = optarg;
			break;
		case ASK:
			config->asked = optarg;
			break;
		case LOG_LEVEL:
			vqp_log_set_level(optarg);
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case VERSION:
			printf("vqp-metad %s\n", vqp_version);
			exit(0);
		default:
			vqp_log_end(EX_USAGE, "the command line is wrong (--help)");
		}
	}
	if (!config->asked && optind < argc)
		vqp_log_end(EX_USAGE, "unexpected argument '%s' (--help)", argv[optind]);
}

static void stop(struct server *server)
{
	vqp_server_exit(&server->listener);
	vqp_http_stop(&server->http);
	vqp_tls_key_free(server->key);
	vqp_table_exit(&server->metad.table);
	json_decref(server->metad.hello);
	vqp_dereg_mr(server->mr);
	vqp_close(server->context);
	vqp_netlink_close(&server->netlink);
	vqp_loop_exit(&server->loop);
}

int main(int argc, char **argv)
{
	static struct server server;
	struct config config = { .buckets = 1024 };
	int ret;

	parse_options(argc, argv, &config);
	if (config.asked)
		return ask(config.asked, optind < argc ? argv[optind] : "list", config.key);

	config.listen = read_key(&server, config.listen, config.key);
	start(&server, &config);
	vqp_log(LOG_INFO, "table of %u buckets, listening on %s, %s a key", config.buckets, config.listen,
		server.key ? "with" : "without");
	ret = vqp_loop_run(&server.loop);
	stop(&server);
	return ret ? EX_OSERR : 0;
}
