// A plain model of frames and arrays, and random edits whose meaning depends on nothing but the
// content.
#ifndef CAIRN_TESTS_OBJECT_ARRAY_MODEL_H_
#define CAIRN_TESTS_OBJECT_ARRAY_MODEL_H_

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"

namespace cairn::test {

// Items; chunks of any size; arrays of one and of two dimensions.
enum class ModelKind { kItems, kVariable, kLine, kGrid };
inline constexpr ModelKind kModelKinds[] = {ModelKind::kItems, ModelKind::kVariable,
                                            ModelKind::kLine, ModelKind::kGrid};
std::string NameOf(ModelKind kind);
CreateOptions OptionsOf(ModelKind kind);

// The content of a frame.
struct Model {
  ModelKind kind = ModelKind::kItems;
  int64_t chunk = 0;            // items of a chunk, or 0 for chunks of any size
  std::vector<int64_t> shape;   // of an array
  Buffer data;                  // all bytes, row by row
  std::vector<int64_t> chunks;  // bytes of each, if they have any size
  std::map<std::string, std::string> layers;

  bool operator==(const Model&) const = default;
  bool is_array() const { return !shape.empty(); }
  // Rows of an array, or items.
  int64_t length() const;
};
void PrintTo(const Model& model, std::ostream* stream);

// An empty frame.
Model EmptyModel(ModelKind kind);
absl::StatusOr<Model> ReadModel(ModelKind kind, const Snapshot& snapshot);

struct ModelEdit {
  enum class Kind {
    kAppend,   // items, or rows of an array
    kResize,   // an array, to `shape`
    kWrite,    // items from `first` on, or rows of an array
    kCut,      // rows [first, first + count) of an array
    kUpdate,   // chunk `first`
    kInsert,   // a chunk before chunk `first`
    kDelete,   // chunks [first, first + count)
    kSetSize,  // of the chunks of an empty frame; 0: any
    kLayer,    // sets a vlmetalayer
  };
  Kind kind = Kind::kAppend;
  int64_t first = 0;
  int64_t count = 0;
  std::vector<int64_t> shape = {};  // after a resize; else the bytes of a row
  Buffer items = {};
  std::string text = {};
};
std::string NameOf(const ModelEdit& edit);

// Chooses an edit of a writer who sees `view`, and whose frame had `base` before its first edit.
ModelEdit ChooseEdit(const Model& base, const Model& view, Dice& dice);

// Makes the edit. `begin` and `by` say that items which the writer appended itself, from `begin`
// on, come later by this many items. Returns false if no such edit can be made.
bool Apply(const ModelEdit& edit, int64_t begin, int64_t by, Model& model);

// Stages the edit into a Writer or a MemberWriter.
template <class AnyWriter>
absl::Status Stage(const ModelEdit& edit, const Model& view, AnyWriter& writer) {
  using enum ModelEdit::Kind;
  switch (edit.kind) {
    case kAppend:
      return view.is_array() ? writer.AppendSlices(0, edit.items) : writer.Append(edit.items);
    case kResize:
      return writer.ResizeArray(edit.shape);
    case kWrite: {
      if (!view.is_array()) return writer.WriteItems(edit.first, edit.items);
      std::vector<int64_t> start(view.shape.size());
      std::vector<int64_t> box = view.shape;
      start[0] = edit.first;
      box[0] = edit.count;
      return writer.WriteBox(start, box, edit.items);
    }
    case kCut:
      return writer.DeleteSlices(0, edit.first, edit.count);
    case kUpdate:
      return writer.UpdateChunk(edit.first, edit.items);
    case kInsert:
      return writer.InsertChunk(edit.first, edit.items);
    case kDelete:
      return writer.DeleteChunks(edit.first, edit.count);
    case kSetSize:
      if constexpr (requires { writer.SetChunksize(ChunkSize::Variable()); }) {
        const ChunkSize size(static_cast<int32_t>(edit.count));
        return writer.SetChunksize(edit.count == 0 ? ChunkSize::Variable() : size);
      } else {
        return absl::UnimplementedError("of a member");
      }
    case kLayer:
      return writer.SetVlmetalayer(edit.text, edit.items);
  }
  return absl::OkStatus();
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_ARRAY_MODEL_H_
