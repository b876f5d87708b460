# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernels that nodes can run: Debian's, and the debug kernel, which is built from Debian's source.
#
# cache/kernel-NAME-KEY/release      its release
# cache/kernel-NAME-KEY/vmlinux      uncompressed: unpacking is slow under emulation
# cache/kernel-NAME-KEY/initramfs    the tree of its first file system, without the guest's own files
# cache/kernel-NAME-KEY/modules.img  ext4, what is at /usr/lib/modules on the nodes; not of debug
# cache/kernel-NAME-KEY/root         where modules are built for it: its headers, and the compiler of
#                                    its Debian; of debug, what is in "build", by the toolbox's compiler

kernels=(6.1 6.12 newest)

# kernel_releases KERNEL: the releases of Debian whose newest linux-image-amd64 it is
kernel_releases()
{
	case $1 in
	6.1) echo bookworm bookworm-updates bookworm-security ;;
	6.12) echo trixie trixie-updates trixie-security ;;
	newest) echo trixie trixie-updates trixie-security trixie-backports ;;
	esac
}

kernel_known()
{
	[[ $1 == debug || " ${kernels[*]} " == *" $1 "* ]]
}

# of no use in a virtual machine, and most of the modules
kernel_excludes=(sound drivers/{gpu,media,staging,iio,hid,usb,scsi,ata,mmc,mtd,bluetooth,platform,firewire,nfc}
	drivers/net/{wireless,ethernet})

# kernel_ensure KERNEL: make it unless the cache has it, and set $kernel_dir to where it is
kernel_ensure()
{
	local name=$1 key entry
	if [[ $name == debug ]]; then
		key=$({
			dpkg-query -W -f '${Package} ${Version}\n' linux-source-6.1 gcc
			cat "$top"/testbed/kernel/{build,debug.config}
		} | key_of)
		[[ -e $kernel_source ]] || die "the debug kernel is built in the toolbox of tests"
		need make gcc bc bison flex depmod cpio
		cache_ensure kernel-debug "$key" kernel_make_debug
	else
		key=$({
			kernel_releases "$name"
			packages "$top/testbed/packages/kernel"
			declare -p kernel_excludes
			declare -f kernel_make kernel_pack kernel_initramfs debian_root
			cat "$top/testbed/kernel/vmlinux"
		} | key_of)
		need modprobe depmod mkfs.ext4 xz zstd
		cache_ensure "kernel-$name" "$key" kernel_make "$name"
	fi
	kernel_dir=$entry
}

kernel_source=/usr/src/linux-source-6.1.tar.xz

kernel_make_debug()
{
	watched "$1/log" "kernel: debug" "${ends_with_us[@]}" "$top/testbed/kernel/build" \
		"$kernel_source" "$top/testbed/kernel/debug.config" "$1" && rm "$1/log"
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
	local file
	mkdir -p "$3"/{bin,dev,proc,new,modules} && cp /bin/busybox "$3/bin/" || return
	{
		modprobe --dirname "$1" --set-version "$2" --show-depends --all virtio_pci virtio_blk ext4
		# a module until 6.13
		modprobe --dirname "$1" --set-version "$2" --show-depends crc32c_generic 2>/dev/null
	} |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' |
		while read -r file; do
			cp "$file" "$3/modules/" && echo "${file##*/}"
		done >"$3/modules/order"
}

# kernel_exec KERNEL COMMAND...: become that command where modules are built for it, with KVER and KDIR as kmod/Makefile wants them
kernel_exec()
{
	local kernel=$1 release
	shift
	kernel_ensure "$kernel"
	release=$(<"$kernel_dir/release")
	[[ $kernel != debug ]] || exec env KVER="$release" KDIR="$kernel_dir/build" "$@"
	VQP_BIND="$top $cache" root_exec "$kernel_dir/root" env KVER="$release" KDIR="/lib/modules/$release/build" "$@"
}

# kernel_slowness KERNEL: what time-outs are multiplied by there
kernel_slowness()
{
	[[ $1 == debug ]] && echo 5 || echo 1
}
