# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Root file systems of Debian, of whichever release, from the mirror that this machine itself uses.

# what a root that is not for reading need not have
root_excludes=(/usr/share/{doc,man,info,locale}/'*')

# debian_mirrors: the base addresses that this machine has Debian's packages from, a line each: URI RELEASE.
# Other vendors' are told by their origin, as far as the package lists are here.
debian_mirrors()
{
	local fields='$(ORIGIN) $(REPO_URI) $(RELEASE)' found
	found=$(apt-get indextargets --format "$fields" 'Created-By: Packages' 2>/dev/null | sed -n 's/^Debian //p')
	[[ $found ]] || found=$(apt-get indextargets --no-release-info --format "$fields" 'Created-By: Packages' 2>/dev/null |
		cut -d' ' -f2- | grep '/debian')
	sort -u <<<"$found"
}

# debian_sources RELEASE...: lines for sources.list
debian_sources()
{
	local mirrors main security release key=/usr/share/keyrings/debian-archive-keyring.gpg
	mirrors=$(debian_mirrors)
	main=$(awk '$2 !~ /security/ { print $1; exit }' <<<"$mirrors")
	security=$(awk '$2 ~ /security/ { print $1; exit }' <<<"$mirrors")
	[[ $main ]] || die "this machine has no sources of Debian's packages (/etc/apt/sources.list.d)"
	: "${security:=${main%/}-security/}"
	[[ -e $key ]] || key=${key%.gpg}.pgp
	[[ -e $key ]] || die "no $key: apt-get install debian-archive-keyring"
	for release; do
		case $release in
		*-security) echo "deb [signed-by=$key] $security $release main" ;;
		*) echo "deb [signed-by=$key] $main $release main" ;;
		esac
	done
}

# debian_apt_options: this machine's options that decide whether downloads work at all, and an end to waiting
debian_apt_options()
{
	apt-config dump |
		sed -n 's/^\(Acquire::\(Check-[^ ]*\|https\?::Proxy[^ ]*\) .*\)/--aptopt=\1/p'
	printf -- '--aptopt=%s\n' 'Acquire::http::Timeout "30"' 'Acquire::https::Timeout "30"' 'Acquire::Retries "2"'
}

# debian_root TEXT OUTPUT RELEASES PACKAGES [OPTION...]: a root with these packages, as mmdebstrap makes it;
# words of RELEASES and PACKAGES are separated by blanks, the first release is the root's own
debian_root()
{
	local text=$1 output=$2 include=$4 releases options exclude sources
	read -ra releases <<<"$3"
	shift 4
	mapfile -t options < <(debian_apt_options)
	for exclude in "${root_excludes[@]}"; do
		options+=("--dpkgopt=path-exclude=$exclude")
	done
	sources=$output.list
	debian_sources "${releases[@]}" >"$sources" || return
	# INITRD=No: kernel packages need not make an initramfs
	INITRD=No watched "$output.log" "$text" "${as_root[@]}" mmdebstrap --mode=root --variant=minbase --format=directory \
		--include="$(xargs <<<"$include" | tr ' ' ,)" "${options[@]}" "$@" \
		"${releases[0]}" "$output" "$sources" || {
		say "$text: failed; packages come from $(awk '{ print $3; exit }' "$sources")"
		return 1
	}
	rm -f "$output.log" "$sources"
}
