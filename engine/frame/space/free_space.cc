#include "engine/frame/space/free_space.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace cairn::frame {

bool FreeSpace::Add(const Extent& bytes) {
  return pool_.Add({bytes.begin, std::clamp(end_, bytes.begin, bytes.end)});
}

void FreeSpace::BeginAfter(int64_t index_begin, int64_t died) {
  end_ = index_begin;
  died_ = died;
}

void FreeSpace::SetAside(int64_t begin) { aside_ = pool_.Remove({begin, INT64_MAX}); }

void FreeSpace::ReturnAside() {
  for (const Extent& extent : std::exchange(aside_, {})) pool_.Add(extent);
}

int64_t FreeSpace::SetLine(const Slack& slack, const DeadSpace& dead) {
  const int64_t used = end_ - begin_ - pool_.size() - dead.JustDied(end_);
  const int64_t end_of_held = dead.EndOfOlder();
  is_held_ = end_of_held > 0;
  const int64_t room = used / slack.part + slack.least + (slack.for_commits ? died_ : 0);
  line_ = std::max(begin_ + used + room, end_of_held);
  return line_ < end_ ? line_ : INT64_MAX;
}

bool FreeSpace::TakesTimes(int64_t times, int64_t least) const {
  const int64_t all = end_ - begin_;
  return pool_.size() > std::max(least, all - all / times);
}

void FreeSpace::Check() const {
  CAIRN_DCHECK(begin_ <= end_);
  CAIRN_DCHECK(pool_.end() <= end_);
}

}  // namespace cairn::frame
