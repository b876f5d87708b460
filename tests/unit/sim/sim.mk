# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the simulator is made of, for those that link it. TOP is the tree.

SIM := $(TOP)/tests/unit/sim
SIM_OBJECTS := $(patsubst $(SIM)/%.c,%.o,$(filter-out $(SIM)/main.c,$(wildcard $(SIM)/*.c)))
SIM_LIBS := -ljansson -lm

# sim_constant(NAME, FILE): the constant that the module has in this file of kmod/
sim_constant = -D$(1)=$(or $(shell sed -nE 's|^\#define $(1)[ \t]+\(?([^()/]*[0-9A-Za-z])\)?.*|\1|p' $(TOP)/kmod/$(2) | tr -d ' '),$(error no $(1) in kmod/$(2)))

# The simulator configures the engine as the module does.
SIM_CFLAGS := \
	$(foreach name,PARENT_WINDOW_PACKETS PARENT_RTO_MIN_US PARENT_RTO_MAX_US PARENT_CLOSE_US,$(call sim_constant,$(name),device/parent.c)) \
	$(call sim_constant,VQP_FORGET_US,device/parent.h) \
	$(foreach name,VQP_LANE_TX_SLOTS VQP_LANE_TX_RESERVED VQP_LANE_RX_SLOTS,$(call sim_constant,$(name),device/lane.h)) \
	$(foreach name,RESPONDER_LINGER_US RESPONDER_IDLE_US RESPONDER_HELD_MAX,$(call sim_constant,$(name),dc/responder.c))
