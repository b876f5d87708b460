// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>
#include "ns/tally.h"

const char *const vqp_tally_names[VQP_TALLY_MAX] = {
	[VQP_TALLY_NEAR]	= "sock_near",
	[VQP_TALLY_FAR]		= "sock_far",
	[VQP_TALLY_TCP]		= "sock_tcp",
	[VQP_TALLY_RULED_OUT]	= "sock_ruled_out",
	[VQP_TALLY_BROKEN]	= "sock_broken",
	[VQP_TALLY_TX_BYTES]	= "sock_tx_bytes",
	[VQP_TALLY_RX_BYTES]	= "sock_rx_bytes",
};

void vqp_tally_sum(const struct vqp_tally __percpu *tally, struct vqp_tally *sum)
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu)
		for (i = 0; i < VQP_TALLY_MAX; i++)
			sum->counts[i] += READ_ONCE(per_cpu_ptr(tally, cpu)->counts[i]);
}
