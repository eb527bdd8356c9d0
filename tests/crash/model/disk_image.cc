#include "tests/crash/model/disk_image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace cairn::model {
namespace {

struct Version {
  size_t time = 0;  // number of operations done; 0: what was durable
  bool by_resize = false;
  Bytes content;
};

// All versions of the sectors that changed, and all sizes.
struct Versions {
  std::map<size_t, std::vector<Version>> sectors = {};
  std::vector<size_t> sizes = {};             // after each number of operations
  std::map<size_t, size_t> grown_until = {};  // of sectors: time of the last growth that needs them
  size_t largest = 0;
};

Bytes Sector(const Bytes& file, size_t sector) {
  Bytes content(kSectorSize, 0);
  const size_t begin = sector * kSectorSize;
  for (size_t i = 0; i < kSectorSize && begin + i < file.size(); ++i) content[i] = file[begin + i];
  return content;
}

Versions Collect(const Bytes& durable, const std::vector<Operation>& pending, size_t sizes_done) {
  Versions versions{.sizes = {durable.size()}, .largest = durable.size()};
  Bytes file = durable;
  for (size_t i = 0; i < pending.size(); ++i) {
    const Operation& operation = pending[i];
    size_t begin = operation.offset;
    size_t end = begin + operation.data.size();
    if (operation.resizes) {
      begin = operation.size;
      end = std::max(begin, file.size());  // a growth changes no sector
      file.resize(operation.size);
    } else {
      if (end > file.size()) file.resize(end);
      std::ranges::copy(operation.data, file.begin() + static_cast<ptrdiff_t>(begin));
    }
    for (size_t sector = begin / kSectorSize; sector * kSectorSize < end; ++sector) {
      std::vector<Version>& of_sector = versions.sectors[sector];
      if (of_sector.empty()) of_sector.push_back({.content = Sector(durable, sector)});
      of_sector.push_back(
          {.time = i + 1, .by_resize = operation.resizes, .content = Sector(file, sector)});
      if (operation.grows && i < sizes_done) versions.grown_until[sector] = i + 1;
    }
    versions.sizes.push_back(file.size());
    versions.largest = std::max(versions.largest, file.size());
  }
  return versions;
}

// The state of most sectors of an image.
enum class Bias : uint8_t { kNewest, kAny, kMostlyNew, kMostlyOld };

size_t Pick(size_t oldest, size_t newest, Bias bias, Random& random) {
  const size_t any = oldest + random.Below(newest - oldest + 1);
  switch (bias) {
    case Bias::kNewest:
      return newest;
    case Bias::kMostlyNew:
      return random.Percent(85) ? newest : any;
    case Bias::kMostlyOld:
      return random.Percent(60) ? oldest : any;
    case Bias::kAny:
      break;
  }
  return any;
}

}  // namespace

Bytes ChooseImage(const Bytes& durable, const std::vector<Operation>& pending, bool weak,
                  Random& random) {
  const size_t sizes_done = weak ? 0 : random.Below(pending.size() + 1);
  const Versions versions = Collect(durable, pending, sizes_done);
  size_t size = versions.sizes[sizes_done];
  if (weak) {
    size = random.Percent(30) ? versions.sizes.back()
                              : versions.sizes[random.Below(versions.sizes.size())];
  }
  Bytes image = durable;
  image.resize(versions.largest);
  const auto bias = static_cast<Bias>(random.Below(4));
  for (const auto& [sector, all] : versions.sectors) {
    size_t oldest = 0;
    size_t newest = all.size() - 1;
    if (!weak) {
      const auto grown = versions.grown_until.find(sector);
      const size_t needed = grown == versions.grown_until.end() ? 0 : grown->second;
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].by_resize ? all[i].time <= sizes_done : all[i].time <= needed) oldest = i;
      }
    }
    size_t picked = Pick(oldest, newest, bias, random);
    // A shrink that is not recorded took no sector away.
    while (!weak && picked > oldest && all[picked].by_resize && all[picked].time > sizes_done) {
      --picked;
    }
    for (size_t i = 0; i < kSectorSize && sector * kSectorSize + i < image.size(); ++i) {
      image[sector * kSectorSize + i] = all[picked].content[i];
    }
  }
  image.resize(size);
  return image;
}

}  // namespace cairn::model
