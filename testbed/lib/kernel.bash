# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernels that nodes can run, Debian's, and the debug kernel, which is built from Debian's source; and more of
# Debian's that modules are only built for.
#
# cache/kernel-NAME-KEY/release      its release
# cache/kernel-NAME-KEY/vmlinux      uncompressed: unpacking is slow under emulation
# cache/kernel-NAME-KEY/initramfs    the tree of its first file system, without the guest's own files
# cache/kernel-NAME-KEY/modules.img  ext4, what is at /usr/lib/modules on the nodes; not of debug
# cache/kernel-NAME-KEY/root         where modules are built for it: its headers, and the compiler of
#                                    its Debian; of debug, what is in "build", by the toolbox's compiler

kernels=(6.1 6.12 newest)

# those that modules are only built for, which have no more than release and root: the oldest 6.1 that Debian still has,
# and the newest for arm64, by a cross compiler
kernels_built=(6.1-oldest 6.1-arm64 6.12-arm64 newest-arm64)

# kernel_releases KERNEL: the releases of Debian whose newest linux-image-amd64 it is
kernel_releases()
{
	case $1 in
	6.1) echo bookworm bookworm-updates bookworm-security ;;
	6.12) echo trixie trixie-updates trixie-security ;;
	newest) echo trixie trixie-updates trixie-security trixie-backports ;;
	esac
}

# kernel_known KERNEL: nodes can run it
kernel_known()
{
	[[ $1 == debug || " ${kernels[*]} " == *" $1 "* ]]
}

# kernel_buildable KERNEL: modules can be built for it
kernel_buildable()
{
	kernel_known "$1" || [[ " ${kernels_built[*]} " == *" $1 "* ]]
}

# of no use in a virtual machine, and most of the modules
kernel_excludes=(sound drivers/{gpu,media,staging,iio,hid,usb,scsi,ata,mmc,mtd,bluetooth,platform,firewire,nfc}
	drivers/net/{wireless,ethernet})

# kernel_cached KERNEL: the cache has it
kernel_cached()
{
	cache_has "kernel-$1" "$(kernel_made_of "$1" | key_of)"
}

# kernel_ensure KERNEL: make it unless the cache has it, and set $kernel_dir to where it is
kernel_ensure()
{
	local name=$1 make=kernel_make key entry
	case $name in
	debug)
		[[ -e $kernel_source ]] || die "the debug kernel is built in the toolbox of tests"
		need make gcc bc bison flex depmod cpio
		make=kernel_make_debug
		;;
	*-*) make=kernel_make_headers ;;
	*) need modprobe depmod mkfs.ext4 xz zstd ;;
	esac
	key=$(kernel_made_of "$name" | key_of)
	cache_ensure "kernel-$name" "$key" "$make" "$name"
	kernel_dir=$entry
}

# kernel_made_of KERNEL: what decides what it becomes, but for Debian's versions
kernel_made_of()
{
	case $1 in
	debug)
		dpkg-query -W -f '${Package} ${Version}\n' linux-source-6.1 gcc
		cat "$top"/testbed/kernel/{build,debug.config}
		;;
	*-*)
		kernel_releases "${1%-*}"
		declare -f kernel_make_headers debian_root
		cat "$top/testbed/kernel/headers"
		;;
	*)
		kernel_releases "$1"
		packages "$top/testbed/packages/kernel"
		declare -p kernel_excludes
		declare -f kernel_make kernel_pack kernel_initramfs debian_root
		cat "$top/testbed/kernel/vmlinux"
		;;
	esac
}

kernel_source=/usr/src/linux-source-6.1.tar.xz

# kernel_make_debug KERNEL DIRECTORY
kernel_make_debug()
{
	watched "$2/log" "kernel: $1" "${ends_with_us[@]}" "$top/testbed/kernel/build" \
		"$kernel_source" "$top/testbed/kernel/debug.config" "$2" && rm "$2/log"
}

# kernel_make KERNEL DIRECTORY
kernel_make()
{
	local name=$1 directory=$2 releases suite='' exclude options=()
	releases=$(kernel_releases "$name")
	[[ $releases != *-backports ]] || suite=/${releases##* }
	for exclude in "${kernel_excludes[@]}"; do
		options+=("--dpkgopt=path-exclude=*/lib/modules/*/kernel/$exclude/*")
	done
	debian_root "kernel: $name from ${releases##* }" "$directory/root" "$releases" \
		"$(packages "$top/testbed/packages/kernel") linux-image-amd64$suite linux-headers-amd64$suite" \
		"${options[@]}" &&
		step "kernel: $name unpacked" kernel_pack "$directory"
}

# kernel_make_headers KERNEL DIRECTORY: of a kernel that nodes do not run, a root in which modules are built for it
kernel_make_headers()
{
	local name=$1 directory=$2 releases version=${1%-*}. which=newest architecture=amd64 compiler=gcc options=()
	releases=$(kernel_releases "${name%-*}")
	[[ $version != newest. ]] || version=''
	case $name in
	*-oldest) which=oldest ;;
	*-arm64)
		architecture=arm64 compiler=gcc-aarch64-linux-gnu
		options+=('--architectures=amd64,arm64')
		;;
	esac
	# perl is for kernel-doc, which the kernel's makefiles run with W=1
	options+=("--customize-hook=$top/testbed/kernel/headers \"\$1\" $architecture $which $version")
	debian_root "kernel: $name, its headers" "$directory/root" "$releases" "make perl $compiler" "${options[@]}" &&
		basename -a "$directory"/root/lib/modules/* >"$directory/release"
}

# kernel_pack DIRECTORY: what nodes boot, of what has been installed in DIRECTORY/root
kernel_pack()
{
	local directory=$1 root=$1/root image release modules=$1/modules
	image=$(echo "$root"/boot/vmlinuz-*)
	release=${image##*/vmlinuz-}
	[[ -f $image ]] || { say "no kernel, or several: $image"; return 1; }
	echo "$release" >"$directory/release"
	"$top/testbed/kernel/vmlinux" "$image" >"$directory/vmlinux" || return
	# To unpack modules, and to verify their signatures, would be done under emulation at each boot.
	mkdir -p "$modules/usr/lib/modules/$release" &&
		mv "$root/lib/modules/$release"/{kernel,modules.*} "$modules/usr/lib/modules/$release/" &&
		ln -s usr/lib "$modules/lib" &&
		find "$modules" -name '*.ko.xz' -exec xz -d --threads 0 {} + &&
		find "$modules" -name '*.ko' -exec strip --strip-debug {} + &&
		depmod --basedir "$modules" "$release" &&
		kernel_initramfs "$modules" "$release" "$directory/initramfs" &&
		truncate -s 512M "$directory/modules.img" &&
		mke2fs -q -t ext4 -L vqp-modules -O ^has_journal -m 0 -d "$modules/usr/lib/modules" "$directory/modules.img" &&
		rm -rf "$modules" "${root:?}/boot"
}

# kernel_initramfs MODULES RELEASE TREE: busybox, and the modules with which a node finds its root, in loading order
kernel_initramfs()
{
	local file files
	mkdir -p "$3"/{bin,dev,proc,new,modules} && cp /bin/busybox "$3/bin/" || return
	files=$(modprobe --dirname "$1" --set-version "$2" --show-depends --all virtio_pci virtio_blk ext4) || return
	# a module until 6.13
	files+=$'\n'$(modprobe --dirname "$1" --set-version "$2" --show-depends crc32c_generic 2>/dev/null || true)
	while read -r file; do
		cp "$file" "$3/modules/" && echo "${file##*/}" >>"$3/modules/order" || return
	done < <(sed -n 's/^insmod \([^ ]*\).*/\1/p' <<<"$files" | awk '!seen[$0]++')
}

# kernel_exec KERNEL COMMAND...: become that command where modules are built for it, with what kmod/Makefile wants to
# know in its environment: KVER and KDIR, and ARCH and CROSS_COMPILE of another architecture
kernel_exec()
{
	local kernel=$1 release target=()
	shift
	kernel_ensure "$kernel"
	release=$(<"$kernel_dir/release")
	[[ $kernel != debug ]] || exec env KVER="$release" KDIR="$kernel_dir/build" "$@"
	[[ $kernel != *-arm64 ]] || target=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	VQP_BIND="$top $cache" root_exec "$kernel_dir/root" \
		env KVER="$release" KDIR="/lib/modules/$release/build" "${target[@]}" "$@"
}

# kernel_slowness KERNEL: what time-outs are multiplied by there
kernel_slowness()
{
	[[ $1 == debug ]] && echo 5 || echo 1
}
