// Implements executors and registries.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "cairn/cairn.h"
#include "cairn/executor.h"
#include "cairn/registry.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {
namespace {

cairn_plugin_call ToC(const PluginCall& call) {
  return {.struct_size = sizeof(cairn_plugin_call),
          .typesize = call.typesize,
          .clevel = call.clevel,
          .meta = call.meta,
          .blockshape = call.blockshape.data(),
          .ndim = static_cast<int32_t>(call.blockshape.size())};
}

absl::Status ToStatus(cairn_code code, const char* kind, int32_t id) {
  if (code == CAIRN_OK) return absl::OkStatus();
  return {static_cast<absl::StatusCode>(code),
          absl::StrFormat("plug-in %s %d: %s", kind, id, cairn_code_name(code))};
}

class CCodec final : public CodecPlugin {
 public:
  CCodec(int32_t id, const cairn_codec_plugin& functions) : id_(id), functions_(functions) {}

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                  const PluginCall& call) const override {
    const cairn_plugin_call c_call = ToC(call);
    size_t cbytes = 0;
    const cairn_code code = functions_.compress(functions_.context, &c_call, src.data(), src.size(),
                                                dst.data(), dst.size(), &cbytes);
    CAIRN_RETURN_IF_ERROR(ToStatus(code, "codec", id_));
    return cbytes;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    const cairn_plugin_call c_call = ToC(call);
    return ToStatus(functions_.decompress(functions_.context, &c_call, src.data(), src.size(),
                                          dst.data(), dst.size()),
                    "codec", id_);
  }

 private:
  int32_t id_;
  cairn_codec_plugin functions_;
};

class CFilter final : public FilterPlugin {
 public:
  CFilter(int32_t id, const cairn_filter_plugin& functions) : id_(id), functions_(functions) {}

  absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    return Run(functions_.forward, src, dst, call);
  }
  absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    return Run(functions_.backward, src, dst, call);
  }

 private:
  absl::Status Run(decltype(cairn_filter_plugin::forward) run, Bytes src, MutableBytes dst,
                   const PluginCall& call) const {
    const cairn_plugin_call c_call = ToC(call);
    return ToStatus(run(functions_.context, &c_call, src.data(), dst.data(), dst.size()), "filter",
                    id_);
  }

  int32_t id_;
  cairn_filter_plugin functions_;
};

absl::StatusOr<uint8_t> ToPluginId(int32_t id) {
  if (id < 0 || id > 255) return InvalidArgument("plug-in id %d", id);
  return static_cast<uint8_t>(id);
}

}  // namespace
}  // namespace cairn::c_api

using cairn::c_api::CCodec;
using cairn::c_api::CFilter;
using cairn::c_api::CheckStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ToPluginId;

cairn_code cairn_executor_make(int32_t threads, cairn_executor** executor, cairn_status* status) {
  return ReturnHandle(executor, "executor", status,
                      [&]() -> absl::StatusOr<std::shared_ptr<cairn::Executor>> {
                        if (threads < 0) return cairn::InvalidArgument("%d threads", threads);
                        return cairn::MakeThreadExecutor(threads);
                      });
}

void cairn_executor_free(cairn_executor* executor) { delete executor; }

cairn_code cairn_registry_make(cairn_registry** registry, cairn_status* status) {
  return ReturnHandle(registry, "registry", status, [] {
    return absl::StatusOr<std::shared_ptr<cairn::Registry>>(std::make_shared<cairn::Registry>());
  });
}

cairn_code cairn_registry_add_codec(cairn_registry* registry, int32_t id,
                                    const cairn_codec_plugin* codec, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(registry);
    CAIRN_RETURN_IF_ERROR(CheckStruct(codec, "codec"));
    if (codec->compress == nullptr) return cairn::InvalidArgument("compress is NULL");
    if (codec->decompress == nullptr) return cairn::InvalidArgument("decompress is NULL");
    CAIRN_ASSIGN_OR_RETURN(const uint8_t number, ToPluginId(id));
    return registry->registry->AddCodec(number, std::make_unique<CCodec>(id, *codec));
  });
}

cairn_code cairn_registry_add_filter(cairn_registry* registry, int32_t id,
                                     const cairn_filter_plugin* filter, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(registry);
    CAIRN_RETURN_IF_ERROR(CheckStruct(filter, "filter"));
    if (filter->forward == nullptr) return cairn::InvalidArgument("forward is NULL");
    if (filter->backward == nullptr) return cairn::InvalidArgument("backward is NULL");
    CAIRN_ASSIGN_OR_RETURN(const uint8_t number, ToPluginId(id));
    return registry->registry->AddFilter(number, std::make_unique<CFilter>(id, *filter));
  });
}

void cairn_registry_free(cairn_registry* registry) { delete registry; }
