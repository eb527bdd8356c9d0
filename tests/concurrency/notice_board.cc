#include "tests/concurrency/notice_board.h"

#include <cstdlib>
#include <new>
#include <string>
#include <sys/mman.h>

namespace cairn::test {

NoticeBoard::NoticeBoard() {
  void* shared =
      ::mmap(nullptr, sizeof(Notices), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  notices_ = new (shared) Notices;
}

NoticeBoard::~NoticeBoard() { ::munmap(notices_, sizeof(Notices)); }

void NoticeBoard::ReportFailure(const absl::Status& status) const {
  if (notices_->failed.exchange(true)) return;
  const std::string text = status.ToString();
  text.copy(notices_->why.data(), notices_->why.size() - 1);
}

}  // namespace cairn::test
