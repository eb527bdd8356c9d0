#include "tools/cairn/flags/array_flags.h"

#include "absl/strings/str_split.h"

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
  app.add_option("--dtype", dtype_, "NumPy's name for the type of the items, such as <f4")
      ->type_name("TYPE")
      ->needs(shape);
}

std::optional<ArrayInfo> ArrayFlags::array() const {
  if (!shape_) return std::nullopt;
  return ArrayInfo{
      .shape = *shape_, .chunkshape = chunkshape_, .blockshape = blockshape_, .dtype = dtype_};
}

}  // namespace cairn::tool
