#!/usr/bin/env bash
# Fetches what it takes to build for another processor, and to run what was built:
#
#     tools/cross-root.sh s390x      # a big-endian one
#     tools/cross-root.sh aarch64
#
# Installs Debian's cross compiler and QEMU, unpacks the libraries of that processor into
# build-PROCESSOR-root/, beside the packages of this system, and writes there cross.ini for Meson,
# and python3, which runs the Python of that processor.
set -euo pipefail
cd "$(dirname "$0")/.."

processor=${1:-}
case $processor in
  s390x) debian=s390x endian=big ;;
  aarch64) debian=arm64 endian=little ;;
  *)
    echo "usage: $0 s390x|aarch64" >&2
    exit 2
    ;;
esac
triplet=$processor-linux-gnu

tools/install-deps.sh "g++-$triplet" qemu-user

libraries=(libabsl-dev libxxhash-dev libzstd-dev liblz4-dev zlib1g-dev libdeflate-dev libhwy-dev
  libtbb-dev libcli11-dev nlohmann-json3-dev libgtest-dev libc6-dev libzfp-dev
  libcurl4-openssl-dev libssl-dev libexpat1-dev libsqlite3-dev libpython3-dev python3-minimal
  "libstdc++-$("$triplet-gcc" -dumpversion)-dev")

root=$PWD/build-$processor-root
[[ -e $root/cross.ini ]] && exit 0

rm -rf "$root"
mkdir -p "$root"/apt/{lists,archives}/partial
touch "$root/apt/status"
# apt as it would be on such a host on which nothing is installed, with the sources of this one.
cat >"$root/apt.conf" <<CONF
APT::Architecture "$debian";
APT::Architectures { "$debian"; };
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
# Absolute links lead into the root.
find "$root" -lname '/*' | while read -r link; do
  ln -sfn "$root$(readlink "$link")" "$link"
done

cat >"$root/python3" <<PYTHON
#!/bin/sh
exec qemu-$processor -0 "\$0" -L "$root" "$root/usr/bin/python3" "\$@"
PYTHON
chmod +x "$root/python3"

cat >"$root/cross.ini" <<CROSS
[constants]
root = '$root'
sysroot = '--sysroot=' + root

[binaries]
c = ['$triplet-gcc', sysroot]
cpp = ['$triplet-g++', sysroot]
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
python = root / 'python3'
exe_wrapper = ['qemu-$processor', '-L', root]

[properties]
sys_root = root
pkg_config_libdir = [root / 'usr/lib/$triplet/pkgconfig', root / 'usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = '$processor'
cpu = '$processor'
endian = '$endian'
CROSS
