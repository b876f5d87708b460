/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_SHIM_MINMAX_H
#define VQP_SHIM_MINMAX_H

#define min_t(type, a, b) ({			\
	type min_a_ = (a);			\
	type min_b_ = (b);			\
						\
	min_a_ < min_b_ ? min_a_ : min_b_;	\
})

#define max_t(type, a, b) ({			\
	type max_a_ = (a);			\
	type max_b_ = (b);			\
						\
	max_a_ > max_b_ ? max_a_ : max_b_;	\
})

#endif
