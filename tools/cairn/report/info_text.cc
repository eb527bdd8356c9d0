#include "tools/cairn/report/info_text.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/flags/filters.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/holders.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"

namespace cairn::tool {

namespace {

void AddLine(std::string* text, std::string_view label, std::string_view value) {
  absl::StrAppendFormat(text, "  %-13s %s\n", label, value);
}

std::string ExactSize(int64_t bytes) {
  const std::string human = FormatByteSize(bytes);
  return bytes < 1024 ? human : absl::StrFormat("%s (%d B)", human, bytes);
}

// Describes the data: for an array its items, and the bytes of its chunks if these have padding.
std::string DescribeData(const FrameInfo& info, bool array) {
  const int64_t items = info.nitems * info.typesize;
  if (!array || items == info.nbytes) return ExactSize(info.nbytes);
  return absl::StrCat(ExactSize(items), ", with padding ", ExactSize(info.nbytes));
}

std::string DescribeFormat(const FrameInfo& info) {
  switch (info.era) {
    case Era::kPacked2015:
      return "packed super-chunk of 2015, read-only";
    case Era::kFrame2019:
      return "frame of 2019, read-only";
    case Era::kBeta:
      return "frame of the betas of 2.0.0, read-only";
    case Era::kCurrent:
      break;
  }
  return absl::StrFormat("%s frame, format version %d",
                         info.layout == Layout::kContiguous ? "contiguous" : "sparse",
                         info.format_version);
}

std::string DescribeChunks(const FrameInfo& info) {
  std::string text = absl::StrCat(info.nchunks);
  if (info.chunksize) absl::StrAppend(&text, " of ", FormatByteSize(*info.chunksize));
  if (info.variable_chunks) absl::StrAppend(&text, " of different sizes");
  if (info.vlblocks) {
    absl::StrAppend(&text, ", in blocks of different sizes");
  } else if (info.blocksize) {
    absl::StrAppend(&text, ", in blocks of ", FormatByteSize(*info.blocksize));
  }
  return text;
}

// Returns a text such as "100 x 33 of <i4, in chunks of 40 x 20, in blocks of 10 x 7".
std::string DescribeArray(const ArrayInfo& array, bool records) {
  if (array.shape.empty()) return absl::StrCat("one item, ", OneLine(array.dtype));
  return absl::StrFormat(
      "%s of %s, in chunks of %s, in blocks of %s", absl::StrJoin(array.shape, " x "),
      records               ? "records"
      : array.dtype.empty() ? "unknown type"
                            : OneLine(array.dtype),
      absl::StrJoin(array.chunkshape, " x "), absl::StrJoin(array.blockshape, " x "));
}

std::string DescribeSeal(const FrameInfo& info) {
  std::string text = info.sealed ? "yes" : "no";
  if (info.fingerprint != FingerprintType::kNone) {
    absl::StrAppend(&text, ", ", NameOf(kFingerprintWords, info.fingerprint));
  }
  return info.generation == 0 ? text : absl::StrCat(text, ", generation ", info.generation);
}

std::string DescribeChanged(const FrameInfo& info) {
  return absl::StrCat(OneLine(absl::StrJoin(info.changed_metalayers, ", ")),
                      ": metalayers that are not the sealed ones; another Blosc2 changed them, or "
                      "damage did");
}

std::string DescribeJournal(const FrameInfo& info) {
  return absl::StrCat(FormatByteSize(info.journal_size), " of commits that only Cairn reads; ",
                      info.journal_damaged
                          ? absl::StrCat(FormatCount(info.stranded_commits, "commit"),
                                         " after them cannot be read because it or the header is "
                                         "damaged; see `cairn verify`")
                          : "`cairn recover` checkpoints them");
}

// Returns true if the frame would be clearly smaller without its dead bytes.
bool IsWorthCompacting(const FrameInfo& info) {
  return info.dead_bytes.value_or(0) > SizeWithJournal(info) / 8;
}

std::string DescribeStored(const FrameInfo& info) {
  // Chunks, and dead bytes, lie in the journal of a contiguous frame, too.
  std::string text = absl::StrCat(ExactSize(StoredSize(info)), ", ratio ",
                                  FormatRatio(info.nbytes, SizeWithJournal(info)));
  if (IsWorthCompacting(info)) {
    absl::StrAppend(&text, ", without dead bytes ",
                    FormatRatio(info.nbytes, SizeWithJournal(info) - *info.dead_bytes));
  }
  return text;
}

std::string DescribeDeadBytes(const FrameInfo& info) {
  if (!info.dead_bytes) return "unknown";
  const std::string size = FormatByteSize(*info.dead_bytes);
  if (!IsWorthCompacting(info)) return size;
  return absl::StrCat(size, "; `cairn compact` removes them");
}

// Shows short text unchanged, and anything else by its size.
std::string DescribeContent(const std::vector<std::byte>& content) {
  constexpr size_t kShort = 60;
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  bool printable = content.size() <= kShort;
  for (const char c : text) printable = printable && c >= ' ' && c <= '~';
  const std::string size = FormatByteSize(static_cast<int64_t>(content.size()));
  return printable ? absl::StrFormat("%s, \"%s\"", size, text) : size;
}

void AddLayers(std::string* text, std::string_view label, const std::vector<Metalayer>& layers) {
  for (const Metalayer& layer : layers) {
    AddLine(text, label, absl::StrCat(OneLine(layer.name), ": ", DescribeContent(layer.content)));
    label = "";
  }
}

std::string DescribePlace(const ChunkSummary& chunk) {
  if (chunk.file) return absl::StrFormat("%08X.chunk", *chunk.file);
  return chunk.offset ? absl::StrCat(*chunk.offset) : "-";
}

// Describes the requests that this command made.
std::string DescribeRequests(const ObjectStoreStats& stats) {
  std::string text =
      absl::StrCat(stats.requests(), ", ", FormatByteSize(stats.bytes_read), " read");
  if (stats.retries > 0) absl::StrAppend(&text, ", ", stats.retries, " of them repeated");
  return text;
}

}  // namespace

std::string TextOfFrame(const FrameSummary& summary) {
  const FrameInfo& info = summary.info;
  std::string text =
      absl::StrFormat("%s: %s\n", OneLine(HideQueries(summary.path)), DescribeFormat(info));
  AddLine(&text, "data", DescribeData(info, summary.array.has_value()));
  AddLine(&text, "frame", DescribeStored(info));
  AddLine(&text, "items", absl::StrCat(info.nitems, " of ", FormatCount(info.typesize, "byte")));
  if (summary.array) {
    AddLine(&text, "array", DescribeArray(*summary.array, !summary.fields.empty()));
  }
  if (!info.recipe.empty()) {
    AddLine(&text, "recipe",
            absl::StrCat(OneLine(info.recipe), ", of which python-blosc2 computes the data"));
  }
  std::string_view label = "fields";
  for (const Field& field : summary.fields) {
    AddLine(&text, std::exchange(label, ""),
            absl::StrCat(OneLine(field.name), ": ", TypeOf(field), " at byte ", field.offset));
  }
  AddLine(&text, "chunks", DescribeChunks(info));
  AddLine(&text, "codec",
          absl::StrCat(NameOf(kCodecWords, info.codec), ", level ", info.clevel,
                       info.use_dict ? ", with dictionaries" : ""));
  label = "columns";
  for (const CodedColumn& column : summary.columns) {
    AddLine(&text, std::exchange(label, ""),
            absl::StrCat(OneLine(NameOfColumn(summary, column)), ": ",
                         NameOf(kCodecWords, column.codec), column.shuffled ? ", shuffled" : ""));
  }
  AddLine(&text, "filters", FormatFilters(info.filters));
  AddLine(&text, "split mode", NameOf(kSplitModeWords, info.split_mode));
  AddLine(&text, "header", FormatByteSize(info.header_len));
  if (info.journal_size > 0 || info.journal_damaged) {
    AddLine(&text, "journal", DescribeJournal(info));
  }
  if (info.trailer_damaged) {
    AddLine(&text, "trailer", "damaged: chunks are read unchecked, vlmetalayers cannot be read");
  }
  AddLine(&text, "dead bytes", DescribeDeadBytes(info));
  AddLine(&text, "sealed", DescribeSeal(info));
  if (!info.changed_metalayers.empty()) {
    AddLine(&text, "changed", DescribeChanged(info));
  }
  label = "still read";
  for (const GenerationHolder& holder : summary.holders) {
    AddLine(&text, std::exchange(label, ""), DescribeHolder(holder));
  }
  if (summary.requests.has_value()) {
    AddLine(&text, "requests", DescribeRequests(*summary.requests));
  }
  AddLayers(&text, "metalayers", summary.metalayers);
  AddLayers(&text, "vlmetalayers", summary.vlmetalayers);
  label = "not read";
  for (const UnreadLayer& layer : summary.unread) {
    AddLine(&text, std::exchange(label, ""), OneLine(std::string(layer.why.message())));
  }
  return text;
}

std::string ChunkTableHead(Layout layout) {
  return absl::StrFormat("\n%8s %14s %11s %11s %11s  %-7s  %s\n", "chunk",
                         layout == Layout::kSparse ? "file" : "offset", "data", "stored", "block",
                         "special", "fingerprint");
}

std::string TextOfChunk(const ChunkSummary& chunk) {
  if (!chunk.error.empty()) return absl::StrFormat("%8d  %s\n", chunk.index, OneLine(chunk.error));
  const bool special = chunk.special != SpecialValue::kNone;
  return absl::StrFormat("%8d %14s %11s %11s %11s  %-7s  %s\n", chunk.index, DescribePlace(chunk),
                         FormatByteSize(chunk.nbytes), FormatByteSize(chunk.cbytes),
                         FormatByteSize(chunk.blocksize),
                         special ? NameOf(kSpecialWords, chunk.special) : "-",
                         chunk.fingerprint ? absl::StrFormat("%016x", *chunk.fingerprint) : "-");
}

}  // namespace cairn::tool
