# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Root file systems of Debian, of whichever release, from the mirror that this machine itself uses.

# how one has a package of this machine's own
debian_install='apt-get update && apt-get install --no-install-recommends'

# what a root that is not for reading need not have
root_excludes=(/usr/share/{doc,man,info,locale}/'*')

# debian_mirrors: the base addresses that this machine has Debian's packages from, a line each: URI RELEASE.
# Other vendors' are told by their origin, or, as long as there are no package lists, by having fewer releases.
debian_mirrors()
{
	local index='Created-By: Packages' found
	found=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' "$index" 2>/dev/null |
		awk 'NF == 3 && $3 == "Debian"')
	[[ $found ]] || found=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		"$index" 2>/dev/null | awk '$1 ~ /debian/ && $3 == "main"')
	awk '$1 ~ /^[a-z+]*https?:/ && !seen[$1, $2]++ { uri[++n] = $1; release[n] = $2; releases[$1]++ }
		END { for (i in uri) print releases[uri[i]], uri[i], release[i] }' <<<"$found" |
		sort -k 1,1nr -k 2 | cut -d ' ' -f 2-
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

# whoever says nothing for so many seconds is asked so many times more
debian_timeout=${VQP_MIRROR_TIMEOUT:-30} debian_retries=2

# debian_apt_options: this machine's options that decide whether downloads work at all, and an end to waiting
debian_apt_options()
{
	apt-config dump |
		sed -n 's/^\(Acquire::\(Check-[^ ]*\|https\?::Proxy[^ ]*\) .*\)/--aptopt=\1/p'
	printf -- '--aptopt=%s\n' "Acquire::http::Timeout \"$debian_timeout\"" \
		"Acquire::https::Timeout \"$debian_timeout\"" "Acquire::Retries \"$debian_retries\""
}

# debian_environment: what of this machine's environment downloads need, "NAME=VALUE" each, and a null behind
debian_environment()
{
	local name
	for name in APT_CONFIG {http,https,ftp,no}_proxy; do
		[[ ! -v $name ]] || printf '%s\0' "$name=${!name}"
	done
	printf '%s\0' LANG=C.UTF-8 HOME=/root "PATH=$PATH:/usr/sbin:/sbin"
}

# "${with_few_descriptors[@]}" COMMAND...: without those that the callers of a run have left open. mmdebstrap has apt
# run "cat >&NUMBER" with a pipe's number, and dash knows numbers below ten alone.
with_few_descriptors=(bash -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$@"' bash)

# debian_root TEXT OUTPUT RELEASES PACKAGES [OPTION...]: a root with these packages, as mmdebstrap makes it;
# words of RELEASES and PACKAGES are separated by blanks, the first release is the root's own
debian_root()
{
	local text=$1 output=$2 releases=$3 include=$4 options exclude sources environment
	shift 4
	read -ra releases <<<"$releases"
	mapfile -t options < <(debian_apt_options)
	mapfile -d '' -t environment < <(debian_environment)
	for exclude in "${root_excludes[@]}"; do
		options+=("--dpkgopt=path-exclude=$exclude")
	done
	sources=$output.list
	debian_sources "${releases[@]}" >"$sources" || return
	# INITRD=No: kernel packages need not make an initramfs
	watched "$output.log" "$text" "${ends_with_us[@]}" env -i "${environment[@]}" INITRD=No \
		"${with_few_descriptors[@]}" mmdebstrap --mode=root --variant=minbase --format=directory \
		--include="$(xargs <<<"$include" | tr ' ' ,)" "${options[@]}" "$@" \
		"${releases[0]}" "$output" "$sources" || {
		say "$text: failed; packages come from $(awk '{ print $3; exit }' "$sources")," \
			"who is given up after $debian_timeout s without an answer, $((debian_retries + 1)) times a release"
		return 1
	}
	rm -f "$output.log" "$sources"
}
