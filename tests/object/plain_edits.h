// A plain model of a frame, and random edits of both.
#ifndef CAIRN_TESTS_OBJECT_PLAIN_EDITS_H_
#define CAIRN_TESTS_OBJECT_PLAIN_EDITS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"

namespace cairn::test {

// Items; chunks of any size; arrays of one and of two dimensions; a directory that was uploaded.
enum class EditedKind { kItems, kVariable, kLine, kGrid, kUploaded };

inline constexpr EditedKind kEditedKinds[] = {EditedKind::kItems, EditedKind::kVariable,
                                              EditedKind::kLine, EditedKind::kGrid,
                                              EditedKind::kUploaded};
inline constexpr int32_t kEditedChunk = 64;
inline constexpr int64_t kGridColumns = 5;

std::string NameOf(EditedKind kind);
inline bool IsArray(EditedKind kind) {
  return kind == EditedKind::kLine || kind == EditedKind::kGrid;
}
inline int32_t TypesizeOf(EditedKind kind) { return IsArray(kind) ? 4 : 1; }

// The content of a frame: chunks of any size, or one that stands for all.
struct Plain {
  std::vector<Buffer> chunks = {Buffer()};
  std::map<std::string, std::string> layers;
  bool operator==(const Plain&) const = default;
};

void PrintTo(const Plain& plain, std::ostream* stream);

// The place that a writer's edits get. The items that it appended move behind those that others
// appended before, and its edits of these items move with them.
struct Shift {
  size_t begin = 0;  // bytes that its base had, or chunks of any size
  ptrdiff_t by = 0;
  size_t operator()(size_t at) const { return at < begin ? at : at + static_cast<size_t>(by); }
};

// An edit, of a writer and of the model.
struct PlainEdit {
  std::string name;
  std::function<absl::Status(Writer&)> make;
  std::function<void(Plain&, const Shift&)> apply;
  bool appends = false;
};

class RandomEdits {
 public:
  RandomEdits(EditedKind kind, Dice& dice) : kind_(kind), dice_(dice) {}

  // Chooses an edit of a writer who sees this.
  PlainEdit Choose(const Plain& view);
  PlainEdit Append();

 private:
  PlainEdit Update(const Plain& view);
  PlainEdit Delete(const Plain& view);
  PlainEdit SetLayer();

  const EditedKind kind_;
  Dice& dice_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_PLAIN_EDITS_H_
