/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqpd: the node daemon. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "../../common/client.h"
#include "../../common/filter.h"
#include "../../common/privilege.h"
#include "../../common/version.h"
#include "../log.h"
#include "../notify.h"
#include "../option.h"
#include "add.h"
#include "judge.h"
#include "metrics.h"
#include "request.h"
#include "watch.h"

#define TICK_MS		500
#define METRICS_PORT	"9471"
#define SOCKET_NAME	"requests"	/* by which the service manager keeps it */
#define LEASE_MAX_S	3600	/* the limit of vqp-metad */

struct config {
	const char *socket;
	const char *metrics;
	const char *metas[VQP_META_MAX];
	unsigned int nmetas;
	const char *key;
	uint32_t lease_s;
};

static const char help[] =
"Usage: vqpd [OPTION]...\n"
"Make and remove the VQP namespaces of containers on request, announce them to\n"
"the meta servers, and tell the kernel where those are. Runs in the foreground.\n"
"\n"
"  -s, --socket PATH        take requests here (default " VQPD_SOCKET_PATH ")\n"
"  -m, --meta HOST[:PORT]   a meta server (default port 7471); may be repeated, 8 at most\n"
"      --key FILE           the key of the meta servers (default " VQP_TLS_KEY_FILE ", if it is there)\n"
"  -l, --lease S            announcements are good for S seconds (default 30)\n"
"      --metrics ADDR:PORT  serve Prometheus metrics at http://ADDR:PORT/metrics, and /healthz\n"
"      --log-level LEVEL    leave out of the log what is below this: error, warning, notice,\n"
"                           info (default) or debug\n"
"  -h, --help               this text\n"
"      --version            print the version\n";

static struct vqpd *of_meta_owner(struct vqp_meta_owner *owner)
{
	return (struct vqpd *)((char *)owner - offsetof(struct vqpd, meta_owner));
}

static void tables_changed(struct vqp_meta_owner *owner)
{
	vqp_watch_set_tables(of_meta_owner(owner));
}

static void entries_changed(struct vqp_meta_owner *owner)
{
	vqp_add_settle(of_meta_owner(owner));
}

static void tick(struct vqp_watch *watch, uint32_t events)
{
	struct vqpd *d = (struct vqpd *)((char *)watch - offsetof(struct vqpd, tick));

	(void)events;
	vqp_loop_timer_ack(watch);
	vqp_watch_look(d);
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_tick(&d->metas[i]);
	vqp_add_settle(d);
	vqp_server_tick(&d->server);
	vqp_http_tick(&d->http);
	vqp_log_limit_tick(&d->refusals, vqp_loop_now_ms());
}

static void start_metas(struct vqpd *d, const struct config *config)
{
	cleanup_error struct vqp_error error = { 0 };

	if (vqp_tls_key_read(&d->key, config->key, &error))
		vqp_log_end(EX_CONFIG, "%s", vqp_error_text(&error));
	d->meta_owner = (struct vqp_meta_owner){
		.loop = &d->loop,
		.registry = &d->registry,
		.lease_s = config->lease_s,
		.key = d->key,
		.tables_changed = tables_changed,
		.entries_changed = entries_changed,
	};
	for (unsigned int i = 0; i < config->nmetas; i++) {
		int ret = vqp_meta_init(&d->metas[i], &d->meta_owner, i, config->metas[i]);

		if (ret == -EINVAL)
			vqp_log_end(EX_USAGE, "--meta takes HOST[:PORT], not '%s'", config->metas[i]);
		if (ret)
			vqp_log_end(EX_OSERR, "--meta %s: cannot start what looks up its name: %s", config->metas[i], strerror(-ret));
		d->nmetas++;
	}
}

/*
 * The service manager keeps the socket while vqpd is started anew: whoever connects meanwhile waits
 * there, and is answered then. *kept is set if it does.
 */
static int listen_for_requests(struct vqpd *d, const char *path, bool *kept)
{
	int fd = vqp_notify_kept(SOCKET_NAME), ret;

	*kept = fd >= 0 && !vqp_server_adopt_unix(&d->server, &d->loop, fd, path);
	if (*kept)
		return 0;
	ret = vqp_server_listen_unix(&d->server, &d->loop, path);
	if (ret)
		return ret;
	ret = vqp_notify_keep(d->server.watch.fd, SOCKET_NAME);
	if (ret < 0)
		vqp_log(LOG_WARNING, "the service manager does not keep the socket: %s", strerror(-ret));
	*kept = ret > 0;
	return 0;
}

static void start(struct vqpd *d, const struct config *config, bool *kept)
{
	int ret;

	d->started_ms = vqp_loop_now_ms();
	d->tick.ready = tick;
	d->server.owner = d;
	d->server.request = vqp_request_serve;
	d->server.gone = vqp_request_gone;
	d->server.refused = vqp_request_refused;
	d->http.owner = d;
	d->http.metrics = vqp_metrics_put;
	signal(SIGCHLD, SIG_IGN);	/* A resolver that ends leaves nothing to wait for. */

	ret = vqp_netlink_open(&d->netlink);
	if (!ret)
		ret = vqp_loop_init(&d->loop);
	if (!ret)
		ret = vqp_loop_add_signals(&d->loop, &d->signals);
	if (!ret)
		ret = vqp_loop_add_timer(&d->loop, &d->tick, TICK_MS);
	if (ret)
		vqp_log_end(EX_OSERR, "cannot start: %s", strerror(-ret));

	vqp_judge_start(d);
	start_metas(d, config);
	vqp_watch_look(d);
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_tick(&d->metas[i]);
	if (config->metrics) {
		ret = vqp_http_start(&d->http, &d->loop, config->metrics, METRICS_PORT);
		if (ret == -EINVAL)
			vqp_log_end(EX_USAGE, "--metrics takes ADDR:PORT, an address in numbers, not '%s'", config->metrics);
		if (ret)
			vqp_log_end(EX_UNAVAILABLE, "cannot serve metrics on %s: %s", config->metrics, strerror(-ret));
	}
	/* This is last, so that clients find everything in place. */
	ret = listen_for_requests(d, config->socket, kept);
	if (ret == -EADDRINUSE)
		vqp_log_end(EX_UNAVAILABLE, "%s: another vqpd is running there", config->socket);
	if (ret)
		vqp_log_end(EX_UNAVAILABLE, "cannot listen on %s: %s", config->socket, strerror(-ret));
	ret = vqp_privilege_keep(VQP_PHASE_VQPD_SERVE);
	if (!ret)
		ret = vqp_filter_install(VQP_PROGRAM_VQPD);
	if (ret)
		vqp_log_end(EX_OSERR, "cannot give up privileges: %s", strerror(-ret));
	ret = vqp_notify_ready();
	if (ret)
		vqp_log(LOG_WARNING, "cannot tell the service manager that vqpd is ready: %s", strerror(-ret));
}

static void stop(struct vqpd *d, const struct config *config, bool kept)
{
	/* Where the service manager keeps the socket, its name stays for the next vqpd. */
	if (!kept)
		unlink(config->socket);
	vqp_server_exit(&d->server);
	vqp_http_stop(&d->http);
	/* Announcements stay until their leases end, so that a restart disturbs no traffic. */
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_exit(&d->metas[i]);
	vqp_tls_key_free(d->key);
	vqp_registry_exit(&d->registry);
	json_decref(d->meta_owner.dct);
	json_decref(d->status);
	vqp_netlink_close(&d->netlink);
	vqp_loop_exit(&d->loop);
}

static void parse_options(int argc, char **argv, struct config *config)
{
	enum { METRICS = 256, KEY, LOG_LEVEL, VERSION };
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "meta", required_argument, NULL, 'm' },
		{ "lease", required_argument, NULL, 'l' },
		{ "key", required_argument, NULL, KEY },
		{ "metrics", required_argument, NULL, METRICS },
		{ "log-level", required_argument, NULL, LOG_LEVEL },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "s:m:l:h", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			config->socket = optarg;
			break;
		case 'm':
			if (config->nmetas == VQP_META_MAX)
				vqp_log_end(EX_USAGE, "at most %d meta servers", VQP_META_MAX);
			config->metas[config->nmetas++] = optarg;
			break;
		case 'l':
			config->lease_s = vqp_option_number("--lease", optarg, 1, LEASE_MAX_S);
			break;
		case METRICS:
			config->metrics = optarg;
			break;
		case KEY:
			config->key = optarg;
			break;
		case LOG_LEVEL:
			vqp_log_set_level(optarg);
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case VERSION:
			printf("vqpd %s\n", vqp_version);
			exit(0);
		default:
			vqp_log_end(EX_USAGE, "the command line is wrong (--help)");
		}
	}
	if (optind < argc)
		vqp_log_end(EX_USAGE, "unexpected argument '%s' (--help)", argv[optind]);
}

int main(int argc, char **argv)
{
	static struct vqpd d;
	struct config config = { .socket = VQPD_SOCKET_PATH, .lease_s = 30 };
	bool kept;
	int ret;

	parse_options(argc, argv, &config);
	start(&d, &config, &kept);
	ret = vqp_loop_run(&d.loop);
	stop(&d, &config, kept);
	return ret ? EX_OSERR : 0;
}
