#!/usr/bin/env bash
# Makes Debian packages of Cairn for this machine's Debian, and tries them:
# tools/packaging/debian.sh [build | lint | try | again]..., the first three in this order if none is named.
#
#   build  makes the packages from the tracked files of the work tree, in build-debian/packages/
#   lint   has lintian look at them: an error or a warning is a failure
#   try    installs them in a fresh Debian by apt, and uses each of them there; needs root
#   again  builds them in another folder and compares: the packages have to be the same bytes
set -euo pipefail
cd "$(dirname "$0")/../.."

steps=("$@")
[[ $# -gt 0 ]] || steps=(build lint try)
for step in "${steps[@]}"; do
  if [[ ! $step =~ ^(build|lint|try|again)$ ]]; then
    echo "debian: there is no step '$step'; steps: build, lint, try, again" >&2
    exit 2
  fi
done
if ! command -v apt-get >/dev/null; then
  echo "debian: this is no Debian" >&2
  exit 1
fi

here=$PWD
work=$here/build-debian
packages=$work/packages
mkdir -p "$work"

# The time of the last commit: packages of the same sources are the same bytes.
in_git=$(git rev-parse --is-inside-work-tree 2>/dev/null || true)
if [[ $in_git == true ]]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
else
  SOURCE_DATE_EPOCH=$(stat --format=%Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH

# Debian's own Python needs nanobind to build the Python package. Where Debian has none, it is that of
# the package index.
find_nanobind() {
  /usr/bin/python3 -c 'import nanobind' 2>/dev/null && return
  if [[ ! -d $work/nanobind ]]; then
    /usr/bin/python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --only-binary=:all: --target "$work/nanobind" nanobind
    rm -r "$work/venv"
  fi
  export PYTHONPATH=$work/nanobind
}

export_sources() {  # folder
  rm -rf "$1"
  mkdir -p "$1"
  if [[ $in_git == true ]]; then
    git ls-files -z | tar --create --null --ignore-failed-read --files-from - | tar --extract --directory "$1"
  else
    tar --create --exclude './build*' . | tar --extract --directory "$1"
  fi
  cp -r "$1/tools/packaging/debian" "$1/debian"
  /usr/bin/python3 tools/packaging/debian_texts.py changelog "$1" "$SOURCE_DATE_EPOCH" >"$1/debian/changelog"
}

build() {  # folder, into whose packages/ the packages go
  local log=$1/build.log
  mkdir -p "$1"
  tools/install-deps.sh debhelper dh-python dpkg-dev python3-dev python3-numpy \
    python3-typing-extensions python3-venv
  find_nanobind
  export_sources "$1/source/cairn"
  echo "Building packages of $(head -n 1 "$1/source/cairn/debian/changelog")"
  if ! (cd "$1/source/cairn" && dpkg-buildpackage --build=binary --unsigned-changes) >"$log" 2>&1; then
    tail -n 60 "$log"
    return 1
  fi
  rm -rf "$1/packages"
  mkdir "$1/packages"
  mv "$1"/source/*.deb "$1"/source/*.changes "$1"/source/*.buildinfo "$1/packages/"
  (cd "$1/packages" && du -h --apparent-size -- *.deb)
}

run_build() { build "$work"; }

run_lint() {
  tools/install-deps.sh lintian
  lintian --allow-root --fail-on error,warning "$packages"/*.changes
  echo "lintian: no error and no warning"
}

# A fresh Debian of the same release, from where this machine has its packages from.
make_root() {  # folder
  local suite sources
  suite=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
  # shellcheck disable=SC2016  # apt-get expands it
  sources=$(apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(CODENAME) $(COMPONENT)' \
    'Created-By: Packages' | sed -nE "s/^Debian (deb [^ ]+ $suite(-updates|-security)? main)$/\1/p")
  rm -rf --one-file-system "$1"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$1" \
    "$(sed -nE "s/^deb ([^ ]+) $suite main$/\1/p" <<<"$sources" | head -n 1)" >"$work/root.log" 2>&1 || {
    tail -n 20 "$work/root.log"
    return 1
  }
  echo "$sources" >"$1/etc/apt/sources.list"
}

run_try() {
  if [[ $(id -u) -ne 0 ]]; then
    echo "debian: try: needs root to make a fresh Debian" >&2
    return 1
  fi
  tools/install-deps.sh debootstrap
  local root=$work/root
  make_root "$root"
  mkdir -p "$root/cairn/packages"
  cp "$packages"/*.deb "$root/cairn/packages/"
  rm -f "$root"/cairn/packages/*-dbgsym_*.deb
  cp docs/examples/example.c docs/examples/example.cc tools/packaging/try_debian.sh "$root/cairn/"
  # What is mounted goes with the namespace.
  unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /cairn/try_debian.sh
  rm -rf --one-file-system "$root"
}

run_again() {
  rm -rf "$work/again"
  build "$work/again" >/dev/null
  local package
  for package in "$packages"/*.deb; do
    cmp "$package" "$work/again/packages/${package##*/}"
  done
  rm -rf "$work/again"
  echo "The packages are the same when they are built again."
}

for step in "${steps[@]}"; do
  begin=$SECONDS
  "run_$step"
  echo "$step took $((SECONDS - begin)) s"
done
