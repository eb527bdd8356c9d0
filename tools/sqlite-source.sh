#!/usr/bin/env bash
# Unpacks the source of SQLite, with its test-suite and benchmark, as FOLDER/source, where it is not
# there yet: tools/sqlite-source.sh FOLDER. It is that of Debian's package, from where this machine
# has libsqlite3 from; the machine's own lists of packages stay as they are. Fails where it cannot be
# had.
set -euo pipefail

folder=$1
[[ ! -e $folder/source/test/tester.tcl ]] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "sqlite-source: this is no Debian" >&2
  exit 1
fi

rm -rf "$folder/source" "$folder/apt"
mkdir -p "$folder"/apt/{lists,cache}/partial "$folder/apt/sources"
folder=$(cd "$folder" && pwd)

# The entries of the machine's sources that offer libsqlite3, for sources in place of packages.
while read -r target; do
  # shellcheck disable=SC2016  # apt-get expands it
  entry=$(apt-get indextargets --format '$(SOURCESENTRY)' "Created-By: Packages" "Description: $target")
  copy=$folder/apt/sources/$(basename "${entry%:*}")
  case ${entry%:*} in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "${entry%:*}" >"$copy" ;;
    *.list) sed -n "${entry##*:}s/^ *deb /deb-src /p" "${entry%:*}" >>"$copy" ;;
  esac
done < <(apt-cache policy libsqlite3-0 | sed -nE 's/^ +[0-9]+ ([a-z+]+:.*Packages)$/\1/p' | sort -u)

cat >"$folder/apt/apt.conf" <<CONF
APT::Sandbox::User "$(id -un)";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$folder/apt/sources";
Dir::State::lists "$folder/apt/lists";
Dir::Cache "$folder/apt/cache";
CONF
export APT_CONFIG=$folder/apt/apt.conf
echo "Fetching the source package sqlite3 into $folder, by a list of sources of its own"
apt-get update -qq
cd "$folder/apt"
apt-get source -qq --download-only sqlite3
# As SQLite's authors publish it, without Debian's patches.
mkdir "$folder/apt/unpacked"
tar -xf sqlite3_*.orig.tar.* -C "$folder/apt/unpacked" --strip-components=1
mv "$folder/apt/unpacked" "$folder/source"
rm -r "$folder/apt"
