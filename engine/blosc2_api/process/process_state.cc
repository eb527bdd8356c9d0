#include "engine/blosc2_api/process/process_state.h"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <utility>

#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/plugin_library.h"

namespace cairn::blosc2_api {

namespace {

// A codec or filter whose functions are Cairn's own, or in a library of this name.
struct Named {
  uint8_t id;
  const char* name;
};

constexpr Named kCodecs[] = {
    {BLOSC_CODEC_NDLZ, "ndlz"},
    {BLOSC_CODEC_ZFP_FIXED_ACCURACY, "zfp_acc"},
    {BLOSC_CODEC_ZFP_FIXED_PRECISION, "zfp_prec"},
    {BLOSC_CODEC_ZFP_FIXED_RATE, "zfp_rate"},
    {36, "openhtj2k"},
    {37, "grok"},
    {38, "openzl"},
    {39, "j2k"},
    {40, "htj2k"},
};

constexpr Named kFilters[] = {
    {BLOSC_FILTER_NDCELL, "ndcell"},
    {BLOSC_FILTER_NDMEAN, "ndmean"},
    {BLOSC_FILTER_BYTEDELTA_BUGGY, "bytedelta_buggy"},
    {BLOSC_FILTER_BYTEDELTA, "bytedelta"},
    {BLOSC_FILTER_INT_TRUNC, "int_trunc"},
};

// The structs of C-Blosc2 have names that are not constant.
char* NameOf(const Named& named) { return const_cast<char*>(named.name); }

blosc2_io_cb MmapFunctions() {
  constexpr Named kMmap = {BLOSC2_IO_FILESYSTEM_MMAP, "filesystem_mmap"};
  return {.id = kMmap.id,
          .name = NameOf(kMmap),
          .is_allocation_necessary = false,
          .open = blosc2_stdio_mmap_open,
          .close = blosc2_stdio_mmap_close,
          .size = blosc2_stdio_mmap_size,
          .write = blosc2_stdio_mmap_write,
          .read = blosc2_stdio_mmap_read,
          .truncate = blosc2_stdio_mmap_truncate,
          .destroy = blosc2_stdio_mmap_destroy};
}

blosc2_io_cb FilesystemFunctions() {
  constexpr Named kFilesystem = {BLOSC2_IO_FILESYSTEM, "filesystem"};
  return {.id = kFilesystem.id,
          .name = NameOf(kFilesystem),
          .is_allocation_necessary = true,
          .open = blosc2_stdio_open,
          .close = blosc2_stdio_close,
          .size = blosc2_stdio_size,
          .write = blosc2_stdio_write,
          .read = blosc2_stdio_read,
          .truncate = blosc2_stdio_truncate,
          .destroy = blosc2_stdio_destroy};
}

// Adds a thing unless its id is taken by one of another name. Its name is kept in `names`.
template <typename Thing, typename Id, typename Name>
int AddTo(std::deque<Thing>& things, std::set<std::string>& names, Thing thing, Id id, Name name,
          int taken) {
  if (thing.*name == nullptr) return Failed(taken, "plug-in: it has no name");
  for (const Thing& other : things) {
    if (other.*id != thing.*id) continue;
    return std::string_view(other.*name) == thing.*name
               ? BLOSC2_ERROR_SUCCESS
               : Failed(taken, "plug-in: the id is registered with another name");
  }
  if (things.size() == UINT8_MAX) {
    return Failed(BLOSC2_ERROR_CODEC_SUPPORT, "plug-in: 255 are registered already");
  }
  // The caller's memory may be gone when another thing is compared with this one.
  thing.*name = const_cast<char*>(names.insert(thing.*name).first->c_str());
  things.push_back(thing);
  return BLOSC2_ERROR_SUCCESS;
}

template <typename Thing, typename Id, typename Value>
auto Find(std::deque<Thing>& things, Id id, Value value) {
  const auto found = std::ranges::find(things, value, id);
  return found == things.end() ? nullptr : &*found;
}

template <typename Thing, typename Id, typename Value>
auto Find(const std::deque<Thing>& things, Id id, Value value) {
  const auto found = std::ranges::find(things, value, id);
  return found == things.end() ? nullptr : &*found;
}

}  // namespace

ProcessState& ProcessState::Get() {
  static ProcessState* const state = new ProcessState();
  return *state;
}

void ProcessState::Initialize() {
  const MutexLock lock(mutex_);
  if (initialized_) return;
  initialized_ = true;
  codecs_.clear();
  filters_.clear();
  for (const Named& codec : kCodecs) {
    codecs_.push_back({.compcode = codec.id,
                       .compname = NameOf(codec),
                       .complib = codec.id,
                       .version = 1,
                       .encoder = nullptr,
                       .decoder = nullptr});
  }
  if (functions_.empty()) functions_ = {FilesystemFunctions(), MmapFunctions()};
  for (const Named& filter : kFilters) {
    filters_.push_back({.id = filter.id,
                        .name = NameOf(filter),
                        .version = 1,
                        .forward = nullptr,
                        .backward = nullptr});
  }
}

bool ProcessState::initialized() const {
  const MutexLock lock(mutex_);
  return initialized_;
}

void ProcessState::Finish() {
  std::shared_ptr<Executor> executor;  // ends its threads without the mutex
  const MutexLock lock(mutex_);
  initialized_ = false;
  if (executor_process_ == getpid()) executor = std::move(executor_);
}

int ProcessState::Add(const blosc2_codec& codec) {
  const MutexLock lock(mutex_);
  return AddTo(codecs_, names_, codec, &blosc2_codec::compcode, &blosc2_codec::compname,
               BLOSC2_ERROR_CODEC_PARAM);
}

int ProcessState::Add(const blosc2_filter& filter) {
  const MutexLock lock(mutex_);
  return AddTo(filters_, names_, filter, &blosc2_filter::id, &blosc2_filter::name,
               BLOSC2_ERROR_FAILURE);
}

int ProcessState::Add(const blosc2_io_cb& functions) {
  // Programs may leave out this name, which is not looked for.
  blosc2_io_cb named = functions;
  std::string none;
  if (named.name == nullptr) named.name = none.data();
  const MutexLock lock(mutex_);
  return AddTo(functions_, names_, named, &blosc2_io_cb::id, &blosc2_io_cb::name,
               BLOSC2_ERROR_PLUGIN_IO);
}

blosc2_io_cb* ProcessState::FindFunctions(uint8_t id) {
  const MutexLock lock(mutex_);
  return Find(functions_, &blosc2_io_cb::id, id);
}

std::optional<blosc2_codec> ProcessState::FindCodec(uint8_t id) {
  blosc2_codec found;
  {
    const MutexLock lock(mutex_);
    const blosc2_codec* const codec = Find(codecs_, &blosc2_codec::compcode, id);
    if (codec == nullptr) return std::nullopt;
    found = *codec;
  }
  if (found.encoder != nullptr && found.decoder != nullptr) return found;
  // Loading may run a program, so nobody waits for it.
  if (!LoadCodec(found)) return std::nullopt;
  const MutexLock lock(mutex_);
  if (blosc2_codec* const codec = Find(codecs_, &blosc2_codec::compcode, id); codec != nullptr) {
    *codec = found;
  }
  return found;
}

std::optional<blosc2_filter> ProcessState::FindFilter(uint8_t id) {
  blosc2_filter found;
  {
    const MutexLock lock(mutex_);
    const blosc2_filter* const filter = Find(filters_, &blosc2_filter::id, id);
    if (filter == nullptr) return std::nullopt;
    found = *filter;
  }
  if (found.forward != nullptr && found.backward != nullptr) return found;
  if (!LoadFilter(found)) return std::nullopt;
  const MutexLock lock(mutex_);
  if (blosc2_filter* const filter = Find(filters_, &blosc2_filter::id, id); filter != nullptr) {
    *filter = found;
  }
  return found;
}

const char* ProcessState::NameOfCodec(int id) const {
  const MutexLock lock(mutex_);
  const blosc2_codec* const codec = Find(codecs_, &blosc2_codec::compcode, id);
  return codec == nullptr ? nullptr : codec->compname;
}

const char* ProcessState::NameOfLibrary(int complib) const {
  const MutexLock lock(mutex_);
  const blosc2_codec* const codec = Find(codecs_, &blosc2_codec::complib, complib);
  return codec == nullptr ? nullptr : codec->compname;
}

int ProcessState::CodecOfName(std::string_view name) const {
  const MutexLock lock(mutex_);
  const blosc2_codec* const codec = Find(codecs_, &blosc2_codec::compname, name);
  return codec == nullptr ? -1 : codec->compcode;
}

int ProcessState::LibraryOfName(std::string_view name) const {
  const MutexLock lock(mutex_);
  const blosc2_codec* const codec = Find(codecs_, &blosc2_codec::compname, name);
  return codec == nullptr ? int{BLOSC2_ERROR_NOT_FOUND} : codec->complib;
}

GlobalParams ProcessState::params() const {
  const MutexLock lock(mutex_);
  return params_;
}

void ProcessState::set_params(const GlobalParams& params) {
  const MutexLock lock(mutex_);
  params_ = params;
}

void ProcessState::set_threads_callback(ThreadsCallback callback) {
  const MutexLock lock(mutex_);
  callback_ = callback;
}

std::shared_ptr<Executor> ProcessState::ExecutorOf(int nthreads) {
  if (nthreads <= 1) return nullptr;
  const MutexLock lock(mutex_);
  if (callback_.run != nullptr) return MakeCallbackExecutor(callback_, nthreads);
  const int64_t process = getpid();
  if (executor_process_ != process) {
    // The threads of the parent are not here, so nothing may end them.
    if (executor_ != nullptr) new std::shared_ptr<Executor>(std::move(executor_));
    executor_ = nullptr;
  }
  if (executor_ == nullptr || executor_threads_ < nthreads) {
    executor_ = MakeThreadExecutor(nthreads);
    executor_threads_ = nthreads;
    executor_process_ = process;
  }
  return executor_;
}

}  // namespace cairn::blosc2_api
