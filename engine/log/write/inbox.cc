#include "engine/log/write/inbox.h"

#include "engine/log/write/delete_request.h"
#include "engine/log/write/request_file.h"

namespace cairn::log {

bool Inbox::ShouldLook() {
  constexpr std::chrono::milliseconds kBetweenLooks(10);
  const auto now = std::chrono::steady_clock::now();
  const bool is_early = looked_at_ && now - *looked_at_ < kBetweenLooks;
  if (is_early || !TakesRequests(*log_)) return false;
  looked_at_ = now;
  return true;
}

std::optional<LimitsRequest> Inbox::FindLimits() const {
  const absl::StatusOr<std::optional<LimitsRequest>> found = FindRequest(*log_);
  return found.ok() && *found != limits_ ? *found : std::nullopt;
}

std::optional<LogSelection> Inbox::FindDeletion() const {
  if (!TakesRequests(*log_)) return std::nullopt;
  const auto found = log::FindDeletion(*log_);
  if (!found.ok() || !found->has_value() || *found == deletion_) return std::nullopt;
  absl::StatusOr<LogSelection> which = ParseDeletion(**found);
  return which.ok() ? std::optional(*std::move(which)) : std::nullopt;
}

void Inbox::End(const LimitsRequest& request) {
  if (!RemoveRequest(*log_, request).ok()) limits_ = request;
}

void Inbox::End(const LogSelection& deletion) {
  std::vector<std::byte> request = EncodeDeletion(deletion);
  deletion_.reset();
  if (!RemoveDeletion(*log_, request).ok()) deletion_ = std::move(request);
}

}  // namespace cairn::log
