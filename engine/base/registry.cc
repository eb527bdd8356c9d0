#include "cairn/registry.h"

#include <utility>

#include "engine/base/status.h"

namespace cairn {

namespace {

constexpr uint8_t kFirstUserId = 160;
// The format registers the codecs from here on for libraries that Cairn does without.
constexpr uint8_t kFirstForeignCodec = 36;

template <typename Plugin>
absl::Status Add(uint8_t id, uint8_t first_id, std::unique_ptr<const Plugin> plugin,
                 const char* kind, std::map<uint8_t, std::unique_ptr<const Plugin>>& plugins) {
  if (id < first_id) {
    return InvalidArgument("%s id %d: programs may use %d to 255", kind, id, first_id);
  }
  if (plugin == nullptr) return InvalidArgument("%s id %d: null", kind, id);
  if (!plugins.emplace(id, std::move(plugin)).second) {
    return absl::AlreadyExistsError(absl::StrFormat("%s id %d is registered already", kind, id));
  }
  return absl::OkStatus();
}

template <typename Plugin>
const Plugin* Find(uint8_t id, const std::map<uint8_t, std::unique_ptr<const Plugin>>& plugins) {
  const auto it = plugins.find(id);
  return it == plugins.end() ? nullptr : it->second.get();
}

}  // namespace

absl::Status Registry::AddCodec(uint8_t id, std::unique_ptr<const CodecPlugin> codec) {
  if (CodesNumbers(static_cast<Codec>(id))) {
    return absl::AlreadyExistsError(absl::StrFormat("codec id %d is one of Cairn's", id));
  }
  return Add(id, kFirstForeignCodec, std::move(codec), "codec", codecs_);
}

absl::Status Registry::AddFilter(uint8_t id, std::unique_ptr<const FilterPlugin> filter) {
  return Add(id, kFirstUserId, std::move(filter), "filter", filters_);
}

const CodecPlugin* Registry::codec(uint8_t id) const { return Find(id, codecs_); }
const FilterPlugin* Registry::filter(uint8_t id) const { return Find(id, filters_); }

}  // namespace cairn
