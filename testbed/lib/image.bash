# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The nodes' root images.
#
# cache/image-NAME-KEY/root.img   ext4, all packages; nodes write to a snapshot of it
# cache/image-NAME-KEY/ssh_key    the key that opens the nodes

images=(bookworm trixie current)

# image_releases IMAGE: Debian 12, Debian 13, and the release that has today's container platforms
image_releases()
{
	case $1 in
	bookworm) echo bookworm bookworm-updates bookworm-security ;;
	trixie) echo trixie trixie-updates trixie-security ;;
	current) echo forky ;;
	esac
}

# image_packages IMAGE: from packages/node; words in brackets behind a package are the only images that have it
image_packages()
{
	sed 's/#.*//; s/[][]//g' "$top/testbed/packages/node" |
		awk -v image="$1" 'NF == 1 { print $1 } { for (i = 2; i <= NF; i++) if ($i == image) print $1 }'
}

image_known()
{
	[[ " ${images[*]} " == *" $1 "* ]]
}

# image_ensure IMAGE: make it unless the cache has it, and set $image to where it is
image_ensure()
{
	local key entry
	need mmdebstrap mkfs.ext4 ssh-keygen
	key=$({
		image_releases "$1"
		image_packages "$1"
		cat "$top/testbed/guest/customize"
		declare -f image_make debian_root
	} | key_of)
	cache_ensure "image-$1" "$key" image_make "$1"
	image=$entry
}

# image_make IMAGE DIRECTORY
image_make()
{
	local name=$1 directory=$2 packages
	packages=$(image_packages "$name")
	ssh-keygen -q -t ed25519 -N '' -C vqp-testbed -f "$directory/ssh_key" &&
		ssh-keygen -q -t ed25519 -N '' -C vqp-testbed -f "$directory/host_key" &&
		debian_root "image: $name, $(wc -w <<<"$packages") packages and what they need" "$directory/root" \
			"$(image_releases "$name")" "$packages" &&
		step "image: $name packed" "$top/testbed/guest/customize" "$directory/root" "$directory" &&
		rm -rf "$directory/root"
}
