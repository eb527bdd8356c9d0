#include "tools/cairn/flags/array_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "cairn/dtype.h"
#include "tools/cairn/flags/flags.h"

namespace cairn::tool {

std::vector<int64_t> ParseShape(const std::string& name, const std::string& text, int64_t min,
                                int64_t max) {
  std::vector<int64_t> shape;
  if (text.empty()) return shape;
  const std::vector<std::string> extents = absl::StrSplit(text, ',');
  for (const std::string& extent : extents) {
    shape.push_back(ParseNumberOption(name, extent, min, max));
  }
  return shape;
}

void ArrayFlags::AddTo(CLI::App& app) {
  const auto add = [&](const std::string& name, auto set) {
    return app.add_option_function<std::string>(name, set)->type_name("N,N,…");
  };
  CLI::Option* const shape =
      add("--shape", [this](const std::string& text) {
        shape_ = ParseShape("--shape", text, 0);
      })->description("Make an n-dimensional array of this shape from items in C order");
  const auto add_cells = [&](const std::string& name, std::vector<int32_t>& cells) {
    return add(name,
               [name, &cells](const std::string& text) {
                 const std::vector<int64_t> extents =
                     ParseShape(name, text, 1, std::numeric_limits<int32_t>::max());
                 cells.assign(extents.begin(), extents.end());
               })
        ->needs(shape);
  };
  add_cells("--chunk-shape", chunkshape_)
      ->description("Items of a chunk along each axis; by default at most --chunk-size bytes");
  add_cells("--block-shape", blockshape_)
      ->description("Items of a block along each axis; by default about --block-size bytes");
  app.add_option("--dtype", dtype_,
                 "NumPy's name for the type of the items, such as <f4; it gives their size")
      ->type_name("TYPE");
}

absl::StatusOr<int32_t> ArrayFlags::TypesizeOr(int32_t otherwise) const {
  if (dtype_.empty()) return otherwise;
  const absl::StatusOr<Dtype> dtype = Dtype::Parse(dtype_);
  if (!dtype.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--dtype: ", dtype.status().message()));
  }
  const int64_t size = dtype->TotalSize();  // at most 1 GiB
  return size > 0 ? static_cast<int32_t>(size) : otherwise;
}

std::optional<ArrayInfo> ArrayFlags::ArrayOf(std::optional<int64_t> nitems) const {
  if (!shape_ && dtype_.empty()) return std::nullopt;
  const std::vector<int64_t> shape = shape_ ? *shape_ : std::vector{nitems.value_or(0)};
  return ArrayInfo{
      .shape = shape, .chunkshape = chunkshape_, .blockshape = blockshape_, .dtype = dtype_};
}

}  // namespace cairn::tool
