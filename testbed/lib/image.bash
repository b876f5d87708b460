# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The root image, Debian's kernels and the initial file systems, kept in the cache.
#
# cache/image-KEY/root.img           ext4, all packages; nodes write to a snapshot of it
# cache/image-KEY/vmlinux-RELEASE    uncompressed: unpacking is slow under emulation
# cache/image-KEY/initramfs-tree-RELEASE  busybox and the modules needed to mount the root
# cache/image-KEY/ssh_key            the key that opens the nodes
# cache/accel-KEY                    what the accelerator probe found

kernels=(6.1 6.12)

image_key()
{
	local kernel release
	{
		packages "$top/testbed/packages.node"
		cat "$top/testbed/guest/customize"
		declare -p image_excludes
		declare -f image_build
		for kernel in "${kernels[@]}"; do
			release=$(kernel_release "$kernel")
			dpkg-query -W -f '${Package} ${Version}\n' "linux-headers-$release"
		done
	} | sha256sum | cut -c 1-16
}

# the host's own Debian sources, one line each; other vendors' are left out
image_sources()
{
	local uri release component origin key
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN) $(SIGNED_BY)' \
		'Created-By: Packages' |
		while read -r uri release component origin key; do
			[[ $origin == Debian ]] || continue
			[[ $key == /* ]] && key="[signed-by=$key]" || key=
			echo "deb $key $uri $release $component"
		done | sort -u
}

# the host's options that decide whether downloads work at all
image_apt_options()
{
	apt-config dump |
		sed -n 's/^\(Acquire::\(Check-[^ ]*\|https\?::Proxy[^ ]*\) .*\)/--aptopt=\1/p'
}

# of no use in a virtual machine, and half of the image
image_excludes=(/usr/share/{doc,man,info,locale}/'*'
	/lib/modules/'*'/kernel/{sound,drivers/{gpu,media,staging,iio,hid,usb,scsi,ata,mmc,mtd}}/'*'
	/lib/modules/'*'/kernel/drivers/{bluetooth,platform,firewire,nfc,net/{wireless,ethernet}}/'*')

image_build()
{
	local work=$1 kernel options=() include exclude
	mapfile -t options < <(image_apt_options)
	include=$(packages "$top/testbed/packages.node" | paste -sd,)
	for kernel in "${kernels[@]}"; do
		include+=,linux-image-$(kernel_release "$kernel")
	done
	for exclude in "${image_excludes[@]}"; do
		options+=("--dpkgopt=path-exclude=$exclude")
	done

	image_sources >"$work/sources.list"
	grep -q bookworm "$work/sources.list" ||
		die "no package lists of Debian 12 (bookworm) here: run apt-get update"
	ssh-keygen -q -t ed25519 -N '' -C vqp-testbed -f "$work/ssh_key"
	ssh-keygen -q -t ed25519 -N '' -C vqp-testbed -f "$work/host_key"

	# INITRD=No: the kernel packages need not make their own initramfs
	INITRD=No watched "$work/log" "image: $(tr , '\n' <<<"$include" | wc -l) packages" \
		mmdebstrap --variant=minbase --format=null --include="$include" "${options[@]}" \
		--customize-hook="'$top/testbed/guest/customize' \"\$1\" '$work'" \
		bookworm - "$work/sources.list"
}

# image_ensure: make the image unless the cache has it, and set $image to where it is
image_ensure()
{
	local lock work kernel
	need mmdebstrap mkfs.ext4 cpio xz zstd modprobe depmod ssh-keygen
	for kernel in "${kernels[@]}"; do
		kernel_release "$kernel" >/dev/null || exit
	done
	image=$cache/image-$(image_key)
	mkdir -p "$cache"
	exec {lock}<"$cache"
	flock "$lock"
	if [[ ! -d $image ]]; then
		say "image: building $image (once)"
		work=$(mktemp -d "$cache/new-XXXXXX")
		on_exit "rm -rf '$work'"
		image_build "$work" ||
			die "image: not built; if a kernel is no longer in the archive, upgrade" \
				"linux-headers-amd64 and linux-headers-6.12-amd64"
		rm -f "$work"/{log,sources.list}
		chmod 755 "$work"
		mv "$work" "$image"
	fi
	exec {lock}<&-
}

# image_initramfs TREE INT3 OUTPUT: that tree plus that module and the guest's files as they are now
image_initramfs()
{
	{
		(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0)
		(cd "${2%/*}" && echo "${2##*/}" | cpio --quiet -o -H newc -R 0:0)
		(cd "$top/testbed/guest" && find init root | cpio --quiet -o -H newc -R 0:0)
	} >"$3"
}
