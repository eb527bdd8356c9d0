// A store in memory whose requests are recorded, and whose answers a test can spoil or delay.
#ifndef CAIRN_TESTS_OBJECT_RIGGED_STORE_H_
#define CAIRN_TESTS_OBJECT_RIGGED_STORE_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/object/memory_object_store.h"
#include "tests/support/files.h"
#include "tests/support/status.h"

namespace cairn::test {

struct GetRequest {
  std::string name;
  ObjectRange range;
};

// Thread-safe except for the public members, which are set while there are no requests.
class RiggedStore final : public ObjectStore {
 public:
  ~RiggedStore() override {
    for (std::thread& thread : threads_) thread.join();
  }

  // Changes an answer.
  std::function<void(const GetRequest&, absl::StatusOr<ObjectPart>&)> spoil;
  // Answers to gets come this much later, in threads of their own. New objects do as well.
  std::optional<std::chrono::milliseconds> delay;
  // If set, answers come only when this many requests have run at the same time, or after a minute.
  int hold_until = 0;

  void StartGet(std::string name, ObjectRange range, std::optional<std::string> if_match,
                GetDone done) override {
    absl::StatusOr<ObjectPart> part = base_.Get(name, range, std::move(if_match));
    const GetRequest request = {.name = std::move(name), .range = range};
    if (spoil != nullptr) spoil(request, part);
    {
      const std::lock_guard lock(mutex_);
      gets_.push_back(request);
      most_running_ = std::max(most_running_, ++running_);
      released_cv_.notify_all();
    }
    const auto answer = [this, done = std::move(done), part = std::move(part)] {
      {
        const std::lock_guard lock(mutex_);
        --running_;
      }
      done(part);
    };
    if (!delay.has_value()) return answer();
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, answer, pause = *delay] {
      std::this_thread::sleep_for(pause);
      {
        std::unique_lock held(mutex_);
        released_cv_.wait_for(held, std::chrono::minutes(1),
                              [this] { return most_running_ >= hold_until; });
      }
      answer();
    });
  }
  void StartPutIfAbsent(std::string name, Bytes bytes, PutDone done) override {
    const auto put = [this, name = std::move(name), bytes, done = std::move(done)] {
      base_.StartPutIfAbsent(name, bytes, done);
    };
    if (!delay.has_value()) return put();
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([put, pause = *delay] {
      std::this_thread::sleep_for(pause);
      put();
    });
  }
  void StartPutIfMatch(std::string name, std::string etag, Bytes bytes, PutDone done) override {
    base_.StartPutIfMatch(std::move(name), std::move(etag), bytes, std::move(done));
  }
  absl::StatusOr<ObjectInfo> Head(const std::string& name) override { return base_.Head(name); }
  absl::StatusOr<ObjectListing> List(const std::string& prefix, const std::string& after,
                                     int64_t most) override {
    return base_.List(prefix, after, most);
  }
  absl::Status Delete(std::span<const std::string> names) override { return base_.Delete(names); }
  absl::Status CheckConditions(const std::string& name) override {
    return base_.CheckConditions(name);
  }
  void Cancel() override { base_.Cancel(); }
  ObjectStoreStats stats() const override { return base_.stats(); }
  std::string Describe() const override { return "rigged"; }

  // Puts an object, whatever is there.
  void Put(const std::string& name, Bytes bytes) {
    ASSERT_TRUE(IsOk(base_.Delete({&name, 1})));
    ASSERT_TRUE(IsOk(base_.PutIfAbsent(name, bytes)));
  }
  // Puts the files of a directory, or a file.
  void Upload(const std::string& path, const std::string& name) {
    if (!std::filesystem::is_directory(path)) return Put(name, FileBytes(path));
    for (const std::string& file : NamesIn(path))
      Put(name + "/" + file, FileBytes(path + "/" + file));
  }
  // Returns the requests since the last call.
  std::vector<GetRequest> TakeGets() {
    const std::lock_guard lock(mutex_);
    return std::exchange(gets_, {});
  }
  int most_running() const { return most_running_; }

 private:
  object::MemoryObjectStore base_;
  std::mutex mutex_;
  std::vector<GetRequest> gets_;
  std::vector<std::thread> threads_;
  std::condition_variable released_cv_;
  int running_ = 0;
  int most_running_ = 0;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_RIGGED_STORE_H_
