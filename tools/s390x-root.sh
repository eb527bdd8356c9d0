#!/usr/bin/env bash
# Fetches what it takes to build for a big-endian host, and to run what was built: tools/s390x-root.sh
#
# Installs Debian's cross compiler and QEMU, unpacks the libraries of the architecture s390x into
# build-s390x-root/, beside the packages of this system, and writes cross.ini for Meson there.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-deps.sh g++-s390x-linux-gnu qemu-user

libraries=(libabsl-dev libxxhash-dev libzstd-dev liblz4-dev zlib1g-dev libdeflate-dev libhwy-dev
  libtbb-dev libcli11-dev nlohmann-json3-dev libgtest-dev libc6-dev
  "libstdc++-$(s390x-linux-gnu-gcc -dumpversion)-dev")

root=$PWD/build-s390x-root
[[ -e $root/cross.ini ]] && exit 0

rm -rf "$root"
mkdir -p "$root"/apt/{lists,archives}/partial
touch "$root/apt/status"
# apt as it would be on such a host on which nothing is installed, with the sources of this one.
cat >"$root/apt.conf" <<CONF
APT::Architecture "s390x";
APT::Architectures { "s390x"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Dir::State "$root/apt";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt";
CONF
export APT_CONFIG=$root/apt.conf
apt-get update -q
apt-get install -q -y --download-only "${libraries[@]}"
for package in "$root"/apt/archives/*.deb; do dpkg -x "$package" "$root"; done
rm -r "$root/apt"

cat >"$root/cross.ini" <<CROSS
[constants]
root = '$root'
sysroot = '--sysroot=' + root

[binaries]
c = ['s390x-linux-gnu-gcc', sysroot]
cpp = ['s390x-linux-gnu-g++', sysroot]
ar = 's390x-linux-gnu-ar'
strip = 's390x-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-s390x', '-L', root]

[properties]
sys_root = root
pkg_config_libdir = [root / 'usr/lib/s390x-linux-gnu/pkgconfig', root / 'usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = 's390x'
cpu = 's390x'
endian = 'big'
CROSS
