# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernels that nodes can run: Debian's, which the root image brings, and the debug kernel, which
# is built from Debian's source and kept in the cache.
#
# cache/kernel-KEY/vmlinux-RELEASE          as in the image
# cache/kernel-KEY/initramfs-tree-RELEASE   as in the image
# cache/kernel-KEY/build                    what modules for it are built with
# build/linux-RELEASE                       a link to that
# cache/int3-KEY.ko                         what every node loads first: see testbed/kernel/int3

kernel_source=/usr/src/linux-source-6.1.tar.xz

kernel_known()
{
	[[ $1 == debug || " ${kernels[*]} " == *" $1 "* ]]
}

kernel_key()
{
	{
		dpkg-query -W -f '${Package} ${Version}\n' linux-source-6.1 gcc
		cat "$top"/testbed/kernel/{build,debug.config}
	} | sha256sum | cut -c 1-16
}

# kernel_ensure: make the debug kernel unless the cache has it, and set $debug_kernel to where it is
kernel_ensure()
{
	[[ -f $kernel_source ]] || die "no $kernel_source: run $top/testbed/deps"
	debug_kernel=$cache/kernel-$(kernel_key)
	[[ -d $debug_kernel ]] || kernel_make
	ln -sfn "$debug_kernel/build" "$top/build/linux-$(<"$debug_kernel/release")"
}

kernel_make()
{
	local lock work
	need make gcc bc bison flex depmod cpio
	mkdir -p "$cache"
	exec {lock}>>"$cache/kernel.lock"
	flock "$lock"
	if [[ ! -d $debug_kernel ]]; then
		say "kernel: building $debug_kernel (once)"
		work=$(mktemp -d "$cache/new-XXXXXX")
		on_exit "rm -rf '$work'"
		watched "$work/log" "kernel: debug" "$top/testbed/kernel/build" \
			"$kernel_source" "$top/testbed/kernel/debug.config" "$work" || die "kernel: not built"
		rm "$work/log"
		chmod 755 "$work"
		mv -T "$work" "$debug_kernel"
	fi
	exec {lock}<&-
}

# kernel_release 6.1|6.12|debug: of Debian's the newest one whose headers are installed. Modules
# are built for it and nodes run it.
kernel_release()
{
	local release
	if [[ $1 == debug ]]; then
		cat "$debug_kernel/release"
		return
	fi
	release=$(find /lib/modules -mindepth 2 -maxdepth 2 -name build -printf '%P\n' |
		sed -n "s,^\(${1//./\\.}\.[0-9].*-amd64\)/build\$,\1,p" |
		grep -v -e cloud -e rt- | sort -V | tail -n 1)
	[[ $release ]] || die "no headers of Linux $1: run $top/testbed/deps"
	echo "$release"
}

# kernel_int3 RELEASE: make the module of testbed/kernel/int3 unless the cache has it, and set $int3 to where it is
kernel_int3()
{
	local release=$1 build=/lib/modules/$1/build key work
	[[ $release != *-debug ]] || build=$top/build/linux-$release
	key=$({ cat "$top"/testbed/kernel/int3/* && echo "$release" && realpath "$build"; } | sha256sum | cut -c 1-16)
	int3=$cache/int3-$key.ko
	[[ ! -f $int3 ]] || return 0
	work=$(mktemp -d "$cache/new-XXXXXX")
	on_exit "rm -rf '$work'"
	cp "$top"/testbed/kernel/int3/* "$work/"
	watched "$work/log" "kernel: int3 for $release" env -u MAKEFLAGS make -C "$build" M="$work" CONFIG_DEBUG_INFO_BTF_MODULES= modules ||
		die "kernel: no module int3 for $release"
	mv -f "$work/int3.ko" "$int3"
	rm -rf "$work"
}

# kernel_slowness KERNEL: what time-outs are multiplied by there
kernel_slowness()
{
	[[ $1 == debug ]] && echo 5 || echo 1
}

# kernel_home KERNEL: the directory with its vmlinux and the tree for its initramfs
kernel_home()
{
	[[ $1 == debug ]] && echo "$debug_kernel" || echo "$image"
}
