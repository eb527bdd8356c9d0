#include "engine/blosc2_api/process/plugins.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"

#include "engine/base/status.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/process_state.h"

namespace cairn::blosc2_api {

namespace {

const uint8_t* Pointer(Bytes bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }
uint8_t* Pointer(MutableBytes bytes) { return reinterpret_cast<uint8_t*>(bytes.data()); }

class RegisteredCodec final : public CodecPlugin {
 public:
  RegisteredCodec(const blosc2_codec& codec, blosc2_context& context)
      : codec_(codec), context_(context) {}

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                  const PluginCall& call) const override {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_ctx_get_cparams(&context_, &cparams);
    const int size = codec_.encoder(Pointer(src), static_cast<int32_t>(src.size()), Pointer(dst),
                                    static_cast<int32_t>(dst.size()), call.meta, &cparams,
                                    call.chunk_header.data());
    if (size < 0) return absl::InternalError(absl::StrFormat("codec id %d: code %d", id(), size));
    return static_cast<size_t>(size);
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_ctx_get_dparams(&context_, &dparams);
    const int size = codec_.decoder(Pointer(src), static_cast<int32_t>(src.size()), Pointer(dst),
                                    static_cast<int32_t>(dst.size()), call.meta, &dparams,
                                    call.chunk_header.data());
    if (size == static_cast<int>(dst.size())) return absl::OkStatus();
    return DataLoss("codec id %d: expected %d bytes, got %d", id(), dst.size(), size);
  }

 private:
  int id() const { return codec_.compcode; }

  const blosc2_codec codec_;
  blosc2_context& context_;
};

class RegisteredFilter final : public FilterPlugin {
 public:
  RegisteredFilter(const blosc2_filter& filter, blosc2_context& context)
      : filter_(filter), context_(context) {}

  absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    blosc2_ctx_get_cparams(&context_, &cparams);
    return StatusOf(filter_.forward(Pointer(src), Pointer(dst), static_cast<int32_t>(src.size()),
                                    call.meta, &cparams, filter_.id));
  }

  absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_ctx_get_dparams(&context_, &dparams);
    return StatusOf(filter_.backward(Pointer(src), Pointer(dst), static_cast<int32_t>(src.size()),
                                     call.meta, &dparams, filter_.id));
  }

 private:
  absl::Status StatusOf(int code) const {
    if (code == BLOSC2_ERROR_SUCCESS) return absl::OkStatus();
    return DataLoss("filter id %d: code %d", static_cast<int>(filter_.id), code);
  }

  const blosc2_filter filter_;
  blosc2_context& context_;
};

// Cairn has the codecs and filters up to these ids itself.
constexpr uint8_t kLastOwnCodec = BLOSC_CODEC_ZFP_FIXED_RATE;
constexpr uint8_t kLastOwnFilter = BLOSC_FILTER_INT_TRUNC;

bool IsPluginCodec(uint8_t id) {
  return id > kLastOwnCodec && !CodesNumbers(static_cast<Codec>(id));
}

}  // namespace

std::shared_ptr<const Registry> PluginsFor(blosc2_context& context, uint8_t codec,
                                           std::span<const uint8_t> filters) {
  const bool any_filter =
      std::ranges::any_of(filters, [](uint8_t id) { return id > kLastOwnFilter; });
  if (!IsPluginCodec(codec) && !any_filter) return nullptr;
  auto registry = std::make_shared<Registry>();
  ProcessState& process = ProcessState::Get();
  if (IsPluginCodec(codec)) {
    if (const std::optional<blosc2_codec> found = process.FindCodec(codec); found.has_value()) {
      CodeOf(registry->AddCodec(codec, std::make_unique<RegisteredCodec>(*found, context)));
    }
  }
  for (const uint8_t filter : filters) {
    if (filter <= kLastOwnFilter || registry->filter(filter) != nullptr) continue;
    if (const std::optional<blosc2_filter> found = process.FindFilter(filter); found.has_value()) {
      CodeOf(registry->AddFilter(filter, std::make_unique<RegisteredFilter>(*found, context)));
    }
  }
  return registry;
}

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::ProcessState;

int blosc2_register_codec(blosc2_codec* codec) {
  if (codec->compcode < BLOSC2_USER_REGISTERED_CODECS_START) {
    return Failed(BLOSC2_ERROR_CODEC_PARAM, "codec: programs may register 160 to 255");
  }
  return ProcessState::Get().Add(*codec);
}

int blosc2_register_filter(blosc2_filter* filter) {
  if (filter->id < BLOSC2_USER_REGISTERED_FILTERS_START) {
    return Failed(BLOSC2_ERROR_FAILURE, "filter: programs may register 160 to 255");
  }
  return ProcessState::Get().Add(*filter);
}

// A tuner sets fields of blosc2_context, whose layout is not part of the interface: it would
// overwrite something else here.
int blosc2_register_tuner(blosc2_tuner* /*tuner*/) {
  return Failed(BLOSC2_ERROR_TUNER, "tuner: tuners of the program's own are not called");
}

int blosc2_register_io_cb(const blosc2_io_cb* io) {
  if (io == nullptr) return Failed(BLOSC2_ERROR_INVALID_PARAM, "I/O: there are no functions");
  if (io->id < BLOSC2_IO_REGISTERED) {
    return Failed(BLOSC2_ERROR_PLUGIN_IO, "I/O: programs may register 160 to 255");
  }
  return ProcessState::Get().Add(*io);
}

blosc2_io_cb* blosc2_get_io_cb(uint8_t id) {
  return ProcessState::Get().initialized() ? ProcessState::Get().FindFunctions(id) : nullptr;
}
