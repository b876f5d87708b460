// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A packet off the wire: what is taken says the same when it is written again, byte for byte. */
#include "fuzz.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	u8 headers[VQP_WIRE_HEADER_MAX];
	struct vqp_pkt pkt;
	u32 length;

	if (vqp_wire_parse(data, bytes, &pkt))
		return 0;
	fuzz_check(pkt.op >= 1 && pkt.op <= VQP_OP_MAX);
	fuzz_check(pkt.payload_bytes <= bytes);
	fuzz_check((const u8 *)pkt.payload + pkt.payload_bytes == data + bytes);
	length = vqp_wire_build(headers, &pkt);
	fuzz_check(length <= sizeof(headers));
	fuzz_check(length + pkt.payload_bytes == bytes);
	fuzz_check(!memcmp(headers, data, length));
	return 0;
}
