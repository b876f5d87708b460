/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <inttypes.h>

#include "../../common/version.h"
#include "../http.h"
#include "metrics.h"

static void put_table(const struct vqp_metad *metad, FILE *out)
{
	const struct vqp_table *table = &metad->table;

	vqp_http_number(out, "vqp_metad_entries", "gauge", "Addresses in the table.", table->count);
	vqp_http_number(out, "vqp_metad_entries_max", "gauge",
			"Addresses that the table's buckets have slots for; some are refused before.",
			(int64_t)table->nbuckets * VQP_BUCKET_SLOTS);
	vqp_http_number(out, "vqp_metad_buckets", "gauge", "Buckets of the table.", table->nbuckets);
	vqp_http_number(out, "vqp_metad_takeovers_total", "counter",
			"Addresses that a node took over from another.", metad->takeovers);
}

static void put_results(FILE *out, const char *name, const char *what, uint64_t taken, uint64_t refused)
{
	vqp_http_describe(out, name, "counter", what);
	fprintf(out, "%s{result=\"taken\"} %" PRIu64 "\n%s{result=\"refused\"} %" PRIu64 "\n", name, taken, name, refused);
}

static void put_connections(const struct vqp_server *listener, FILE *out)
{
	unsigned int strangers = 0;

	for (const struct vqp_client *client = listener->clients; client; client = client->next)
		strangers += vqp_line_is_new(&client->line);
	vqp_http_describe(out, "vqp_metad_connections", "gauge",
			  "Connections: of strangers, who have not proved yet that they know the key, and others.");
	fprintf(out, "vqp_metad_connections{kind=\"proved\"} %u\nvqp_metad_connections{kind=\"stranger\"} %u\n",
		listener->count - strangers, strangers);
	vqp_http_number(out, "vqp_metad_handshakes_failed_total", "counter",
			"Connections that ended before the client had proved that it knows the key.",
			listener->handshakes_failed);
}

void vqp_metad_metrics_put(const struct vqp_metad *metad, const struct vqp_server *listener, uint64_t now_ms, FILE *out)
{
	vqp_http_describe(out, "vqp_metad_info", "gauge", "The version.");
	fprintf(out, "vqp_metad_info{version=\"%s\"} 1\n", vqp_version);
	vqp_http_number(out, "vqp_metad_uptime_seconds", "gauge", "The time since it was started.",
			(now_ms - metad->started_ms) / 1000);
	vqp_http_number(out, "vqp_metad_parent_up", "gauge",
			"Whether an RDMA device is there, by which nodes READ the table.", metad->hello != NULL);
	put_table(metad, out);
	put_results(out, "vqp_metad_announcements_total", "Addresses that nodes announced, renewals included.",
		    metad->announced, metad->announced_refused);
	put_results(out, "vqp_metad_withdrawals_total",
		    "Addresses that nodes withdrew; what another node has, or nobody, is refused.",
		    metad->withdrawn, metad->withdrawn_refused);
	vqp_http_number(out, "vqp_metad_refusals_total", "counter",
			"Requests refused, lines that are none and clients without the key included.", metad->refusals);
	put_connections(listener, out);
}
