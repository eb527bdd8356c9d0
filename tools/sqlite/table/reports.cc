#include "tools/sqlite/table/reports.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/chunk.h"
#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tools/dtypes/utf8.h"
#include "tools/members/place.h"
#include "tools/sqlite/base/codec_names.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

void ReturnInt(sqlite3_context* context, std::optional<int64_t> value) {
  if (value) sqlite3_result_int64(context, *value);  // otherwise it stays NULL
}

void ReturnString(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string NameOf(Filter filter) {
  switch (filter) {
    case Filter::kShuffle:
      return "shuffle";
    case Filter::kBitShuffle:
      return "bitshuffle";
    case Filter::kDelta:
      return "delta";
    case Filter::kTruncPrec:
      return "trunc_prec";
    case Filter::kByteDelta:
      return "bytedelta";
    case Filter::kIntTrunc:
      return "int_trunc";
    default:
      return absl::StrFormat("%d", static_cast<int>(filter));
  }
}

std::string NameOf(SpecialValue special) {
  constexpr std::string_view kNames[] = {"none", "zeros", "nans", "repeat", "uninit"};
  const auto i = static_cast<size_t>(special);
  return i < std::size(kNames) ? std::string(kNames[i]) : absl::StrFormat("%d", i);
}

// Returns a list as JSON, so that SQLite's json_each can take it apart.
template <typename Numbers>
std::string ListOf(const Numbers& numbers) {
  return absl::StrFormat("[%s]", absl::StrJoin(numbers, ","));
}

// Opens a frame, or a member of a collection.
absl::StatusOr<Snapshot> OpenSnapshot(const std::string& path) {
  const std::optional<members::CollectionPlace> place = members::FindInCollection(path);
  if (!place) {
    ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
    return frame.snapshot();
  }
  ASSIGN_OR_RETURN(const Collection collection, Collection::Open(place->collection));
  return collection.snapshot().OpenMember(place->name);
}

class InfoReport final : public FrameReport {
 public:
  explicit InfoReport(Snapshot snapshot) : snapshot_(std::move(snapshot)) {}

  static absl::StatusOr<std::unique_ptr<FrameReport>> Make(const std::string& path) {
    ASSIGN_OR_RETURN(Snapshot snapshot, OpenSnapshot(path));
    return std::make_unique<InfoReport>(std::move(snapshot));
  }

  int64_t nrows() const override { return 1; }

  absl::Status Return(sqlite3_context* context, int64_t /*row*/, int column) const override {
    const FrameInfo& info = snapshot_.info();
    switch (column) {
      case 0:
        ReturnInt(context, info.nitems);
        break;
      case 1:
        ReturnInt(context, info.typesize);
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        ReturnArray(context, column);
        break;
      case 6:
        ReturnInt(context, info.nchunks);
        break;
      case 7:
        ReturnInt(context, info.chunksize);
        break;
      case 8:
        ReturnInt(context, info.blocksize);
        break;
      case 9:
        ReturnInt(context, info.nbytes);
        break;
      case 10:
        ReturnInt(context, info.cbytes);
        break;
      case 11:
        ReturnInt(context, info.frame_size);
        break;
      case 12:
        ReturnInt(context, info.journal_size);
        break;
      case 13:
        ReturnInt(context, info.dead_bytes);
        break;
      case 14:
        ReturnString(context, NameOfCodec(info.codec));
        break;
      case 15:
        ReturnInt(context, info.clevel);
        break;
      case 16:
        ReturnFilters(context);
        break;
      case 17:
        ReturnString(context, info.layout == Layout::kSparse ? "sparse" : "contiguous");
        break;
      case 18:
        ReturnInt(context, static_cast<int64_t>(info.generation));
        break;
      case 19:
        ReturnInt(context, info.sealed ? 1 : 0);
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

 private:
  void ReturnArray(sqlite3_context* context, int column) const {
    const std::optional<ArrayInfo>& array = snapshot_.array();
    if (!array) return;
    if (column == 2) ReturnString(context, dtypes::ToUtf8(array->dtype));
    if (column == 3) ReturnString(context, ListOf(array->shape));
    if (column == 4) ReturnString(context, ListOf(array->chunkshape));
    if (column == 5) ReturnString(context, ListOf(array->blockshape));
  }

  void ReturnFilters(sqlite3_context* context) const {
    std::vector<std::string> names;
    for (const FilterStage& stage : snapshot_.info().filters) names.push_back(NameOf(stage.filter));
    ReturnString(context, absl::StrJoin(names, " "));
  }

  Snapshot snapshot_;
};

class ChunkReport final : public FrameReport {
 public:
  explicit ChunkReport(Snapshot snapshot) : snapshot_(std::move(snapshot)) {}

  static absl::StatusOr<std::unique_ptr<FrameReport>> Make(const std::string& path) {
    ASSIGN_OR_RETURN(Snapshot snapshot, OpenSnapshot(path));
    return std::make_unique<ChunkReport>(std::move(snapshot));
  }

  int64_t nrows() const override { return snapshot_.info().nchunks; }

  absl::Status Return(sqlite3_context* context, int64_t row, int column) const override {
    if (column == 4) {
      ASSIGN_OR_RETURN(const int32_t nbytes, snapshot_.ChunkNbytes(row));
      ReturnInt(context, nbytes);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const ChunkEntry entry, snapshot_.GetEntry(row));
    switch (column) {
      case 0:
        ReturnInt(context, entry.index);
        break;
      case 1:
        ReturnInt(context, entry.offset);
        break;
      case 2:
        ReturnInt(context, entry.file);
        break;
      case 3:
        return ReturnSpecial(context, entry);
      case 5:
        return ReturnCbytes(context, entry);
      case 6:
        if (entry.fingerprint) {
          ReturnString(context, absl::StrFormat("%016x", *entry.fingerprint));
        }
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReturnSpecial(sqlite3_context* context, const ChunkEntry& entry) const {
    SpecialValue special = entry.special;
    if (entry.stored()) {
      ASSIGN_OR_RETURN(const Chunk chunk, snapshot_.GetChunk(entry.index));
      ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
      special = info.special;
    }
    if (special != SpecialValue::kNone) ReturnString(context, NameOf(special));
    return absl::OkStatus();
  }

  absl::Status ReturnCbytes(sqlite3_context* context, const ChunkEntry& entry) const {
    if (entry.cbytes || !entry.stored()) {
      ReturnInt(context, entry.cbytes.value_or(0));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Chunk chunk, snapshot_.GetChunk(entry.index));
    ReturnInt(context, static_cast<int64_t>(chunk.bytes().size()));
    return absl::OkStatus();
  }

  Snapshot snapshot_;
};

class HistoryReport final : public FrameReport {
 public:
  explicit HistoryReport(std::vector<GenerationInfo> generations)
      : generations_(std::move(generations)) {}

  static absl::StatusOr<std::unique_ptr<FrameReport>> Make(const std::string& path) {
    if (members::FindInCollection(path)) {
      return absl::UnimplementedError(
          absl::StrFormat("%s: a member of a collection is read as of its newest commit", path));
    }
    ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path));
    ASSIGN_OR_RETURN(std::vector<GenerationInfo> generations, frame.History());
    return std::make_unique<HistoryReport>(std::move(generations));
  }

  int64_t nrows() const override { return static_cast<int64_t>(generations_.size()); }

  absl::Status Return(sqlite3_context* context, int64_t row, int column) const override {
    const GenerationInfo& one = generations_[static_cast<size_t>(row)];
    const int64_t values[] = {static_cast<int64_t>(one.generation), one.checkpoint ? 1 : 0,
                              one.nchunks, one.nbytes, one.end};
    ReturnInt(context, values[column]);
    return absl::OkStatus();
  }

 private:
  std::vector<GenerationInfo> generations_;
};

// The members of a collection, or of a group.
class MemberReport final : public FrameReport {
 public:
  MemberReport(CollectionSnapshot collection, std::vector<std::string> names)
      : collection_(std::move(collection)), names_(std::move(names)) {}

  static absl::StatusOr<std::unique_ptr<FrameReport>> Make(const std::string& path) {
    const std::optional<members::CollectionPlace> place = members::FindInCollection(path);
    if (!place || place->is_member) {
      return absl::InvalidArgumentError(absl::StrFormat("%s: no collection", path));
    }
    ASSIGN_OR_RETURN(const Collection collection, Collection::Open(place->collection));
    std::vector<std::string> names = collection.snapshot().Members(place->name + "/");
    return std::make_unique<MemberReport>(collection.snapshot(), std::move(names));
  }

  int64_t nrows() const override { return std::ssize(names_); }

  absl::Status Return(sqlite3_context* context, int64_t row, int column) const override {
    const std::string& name = names_[static_cast<size_t>(row)];
    if (column == 0) {
      ReturnString(context, dtypes::ToUtf8(name));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Snapshot member, collection_.OpenMember(name));
    if (column == 1) {
      ReturnInt(context, member.info().nitems);
    } else if (member.array()) {
      ReturnString(context, column == 2 ? dtypes::ToUtf8(member.array()->dtype)
                                        : ListOf(member.array()->shape));
    }
    return absl::OkStatus();
  }

 private:
  CollectionSnapshot collection_;
  std::vector<std::string> names_;
};

}  // namespace

const ReportKind kReports[kReportKinds] = {
    {.name = "cairn_info",
     .columns = "nitems, typesize, dtype, shape, chunkshape, blockshape, nchunks, chunksize, "
                "blocksize, nbytes, cbytes, frame_size, journal_size, dead_bytes, codec, clevel, "
                "filters, layout, generation, sealed",
     .ncolumns = 20,
     .make = InfoReport::Make},
    {.name = "cairn_chunks",
     .columns = "chunk, offset, file, special, nbytes, cbytes, fingerprint",
     .ncolumns = 7,
     .make = ChunkReport::Make},
    {.name = "cairn_history",
     .columns = "generation, checkpoint, nchunks, nbytes, \"end\"",
     .ncolumns = 5,
     .make = HistoryReport::Make},
    {.name = "cairn_members",
     .columns = "name, nitems, dtype, shape",
     .ncolumns = 4,
     .make = MemberReport::Make},
};

}  // namespace cairn::sqlite
