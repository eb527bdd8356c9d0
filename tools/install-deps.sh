#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, and those that are named, where any is
# missing: tools/install-deps.sh [PACKAGE...]. Says nothing and needs no network when all are there.
set -euo pipefail

build=(dpkg-dev g++ meson ninja-build pkg-config python3 libabsl-dev libxxhash-dev libzstd-dev liblz4-dev
  zlib1g-dev libdeflate-dev libhwy-dev libtbb-dev libcli11-dev nlohmann-json3-dev
  libzfp-dev libhdf5-dev libcurl4-openssl-dev libssl-dev libexpat1-dev
  libsqlite3-dev)
test=(libgtest-dev clang-format shellcheck libblosc-dev cmake python3-dev python3-venv
  ca-certificates hdf5-tools sqlite3 groff-base zsh fish)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-deps: this is no Debian; install what README.md names by other means" >&2
  exit 0
fi

missing=()
for package in "${build[@]}" "${test[@]}" "$@"; do
  # shellcheck disable=SC2016  # dpkg-query expands it
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps: needs root, or sudo, to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
