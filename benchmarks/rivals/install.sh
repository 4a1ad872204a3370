#!/bin/sh
# Installs the rivals that are not crates, from Debian's or Ubuntu's packages: Hyperscan, Vectorscan,
# ripgrep. Run as root (or with sudo) from anywhere.
#
# libhyperscan5 and libvectorscan5 own the same file name, so only one can be installed. Hyperscan
# is installed; Vectorscan's package is unpacked into target/rivals/vectorscan, where the benchmark
# looks for it. Where a package does not exist (Hyperscan is for x86 only) that rival stays out, and
# the benchmark says so.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
failed=0

install_package() {
    apt-get install --yes --no-install-recommends "$1" || { echo "install.sh: no $1" >&2; failed=1; }
}

# unpack PACKAGE FOLDER: fetches a package and unpacks it without installing it.
unpack() {
    work=$(mktemp -d)
    chmod 755 "$work"
    if (cd "$work" && apt-get download "$1" && mkdir -p "$2" && dpkg-deb --extract ./*.deb "$2"); then
        echo "install.sh: $1 is in $2"
    else
        echo "install.sh: no $1" >&2
        failed=1
    fi
    rm -rf "$work"
}

apt-get update
install_package ripgrep
install_package grep
if [ "$(dpkg --print-architecture)" = amd64 ]; then
    install_package libhyperscan5
fi
unpack libvectorscan5 "$root/target/rivals/vectorscan"
exit "$failed"
