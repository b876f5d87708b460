// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include "base/node.h"
#include "engine/clock.h"

static u32 node_epoch __ro_after_init;
static u32 node_lanes __ro_after_init;
static u32 node_clock_start __ro_after_init;

void __init vqp_node_init(u32 lanes)
{
	node_epoch = get_random_u32() | 1;
	node_lanes = lanes;
	node_clock_start = get_random_u32();
}

u32 vqp_node_epoch(void)
{
	return node_epoch;
}

u32 vqp_node_lanes(void)
{
	return node_lanes;
}

u32 vqp_node_stamp(void)
{
	return vqp_clock_stamp(node_clock_start, ktime_to_us(ktime_get_raw()));
}
