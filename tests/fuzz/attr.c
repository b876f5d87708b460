// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Objects as attributes of the netlink family, and back: what fits a message is the same after it. */
#include "../../common/attr.h"
#include "json.h"

#define ROOM	512

const char *const fuzz_words[] = {
	"netns_fd", "tenant", "gid", "name", "netns_ino", "pinned_bytes", "state", "carrier", "node_gid", "epoch", "qkey",
	"lanes", "parent", "counters", "made", "freed", "value", "meta", "key", "addr", "buckets", "connected", "dc",
	"sockets", "only", "except", "port", "port_last", "prefix_bits", "80", "8000-8999", "10.0.0.0/8", "any", "fd00::1", "10.1.0.2", "c1/eth0", "unknown", "", NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	struct nlmsghdr *msg;
	json_t *json, *got;
	char *buffer;

	if (!fuzz_line(&in, &json))
		return 0;
	buffer = malloc(ROOM);		/* on the heap, so that what is behind its end is known */
	fuzz_check(buffer);
	msg = (struct nlmsghdr *)buffer;
	*msg = (struct nlmsghdr){ .nlmsg_len = NLMSG_HDRLEN };
	if (json_is_object(json) && !vqp_attr_put(msg, ROOM, json)) {
		fuzz_check(msg->nlmsg_len <= ROOM);
		got = vqp_attr_get(msg, 0);
		fuzz_check(json_is_object(got));
		/* A list without elements leaves nothing behind; names of several types share one. */
		fuzz_check(json_object_size(got) <= json_object_size(json));
		json_decref(got);
	}
	json_decref(json);
	free(buffer);
	return 0;
}
