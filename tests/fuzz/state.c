// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Container states for vqp-hook: what it takes from them is a process and a wish that vqpd understands. */
#include "../../common/limits.h"
#include "../../oci-hook/state.h"
#include "../../oci-hook/wish.h"
#include "json.h"

const char *const fuzz_words[] = {
	"ociVersion", "1.0.2", "id", "status", "created", "pid", "bundle", "/b", "annotations", VQP_WISH_TENANT,
	VQP_WISH_ADDRESS, "io.vqp.max_vqps", "io.vqp.max_bytes", "io.vqp.max_rate", "io.vqp.priority", "io.vqp.sockets", "on", "only:80,except:10.1.0.0/16", "unlimited", "1", "0", "7", "4294967295", "4294967296", "-1", " 1", "10.1.0.2", "fd00::2", "127.0.0.1",
	"::", "0.0.0.0", "", NULL,
};

static void check_wish(const struct vqp_wish *wish)
{
	char again[VQP_ADDRESS_TEXT];
	struct vqp_error error = { 0 };
	uint8_t gid[16];

	fuzz_check(!vqp_limits_check(wish->terms.limits, &error));
	if (!*wish->terms.address)
		return;
	fuzz_check(!vqp_address_parse_unicast(wish->terms.address, gid));
	fuzz_check(!strcmp(vqp_address_format(gid, again), wish->terms.address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vqp_state state;
	struct vqp_wish wish = { 0 };
	struct vqp_error error = { 0 };
	int ret;

	ret = vqp_state_parse(&state, (const char *)data, bytes, &error);
	if (!ret) {
		fuzz_check(state.id && *state.id && state.pid >= 0);
		ret = vqp_wish_parse(&wish, state.annotations, &error);
	}
	fuzz_check(ret <= 0 && (ret == 0) == (error.text == NULL));
	if (!ret)
		check_wish(&wish);
	vqp_wish_clear(&wish);
	vqp_error_clear(&error);
	vqp_state_clear(&state);
	return 0;
}
