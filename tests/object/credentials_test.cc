// Tests which keys requests are signed with, and when newer ones are got.
#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "engine/object/s3/signing/digest.h"
#include "tests/object/failing_s3.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using StatusCode = absl::StatusCode;
using SystemClock = std::chrono::system_clock;

TEST(CredentialsTest, AnonymousRequestsAreNotSigned) {
  FakeS3 bucket;
  bucket.Set("a", "text");
  std::atomic<bool> is_signed = false;
  HttpServer server([&](const ServedRequest& request) {
    if (request.headers.contains("authorization")) is_signed = true;
    return bucket.Serve(request);
  });
  S3Options options = TestS3Options(server.url());
  options.anonymous = true;
  EXPECT_TRUE(IsOk(OpenS3(options).value()->Get("a")));
  EXPECT_FALSE(is_signed);
}

// Answers STS, and remembers which keys requests were signed with.
class Sts {
 public:
  ServedAnswer Serve(const ServedRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.path == "/" && request.method == "POST") return Lend(request);
    const auto found = request.headers.find("authorization");
    if (found != request.headers.end()) {
      keys_.push_back(found->second.substr(found->second.find('=') + 1, 4) + " " +
                      request.headers.at("x-amz-security-token"));
    }
    return bucket.Serve(request);
  }

  // Returns the form of each request to STS.
  std::vector<std::string> forms() const {
    const std::lock_guard lock(mutex_);
    return forms_;
  }
  // Returns the key and the token of each other request.
  std::vector<std::string> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

  FakeS3 bucket;
  std::atomic<int> life_millis = 3'600'000;

 private:
  ServedAnswer Lend(const ServedRequest& request) {
    forms_.push_back(request.body);
    const std::string expiry =
        absl::FormatTime(absl::RFC3339_full, absl::Now() + absl::Milliseconds(life_millis.load()),
                         absl::UTCTimeZone());
    return {.body = absl::StrCat(
                "<AssumeRoleWithWebIdentityResponse xmlns=\"sts\">"
                "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>key",
                forms_.size(), "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t",
                forms_.size(), "</SessionToken><Expiration>", expiry,
                "</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
                "</AssumeRoleWithWebIdentityResponse>")};
  }

  mutable std::mutex mutex_;
  std::vector<std::string> forms_;
  std::vector<std::string> keys_;
};

S3Options WithWebIdentity(const HttpServer& server, const std::string& token_file) {
  S3Options options = TestS3Options(server.url());
  options.credentials = {};
  options.web_identity =
      S3WebIdentity{.token_file = token_file, .role_arn = "arn:r", .endpoint = server.url() + "/"};
  return options;
}

TEST(CredentialsTest, WebIdentitiesAreLentKeys) {
  Sts sts;
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const TempDir directory;
  std::ofstream(directory.path() + "/token") << "secret token\n";
  sts.bucket.Set("a", "text");
  const auto store = OpenS3(WithWebIdentity(server, directory.path() + "/token")).value();
  EXPECT_TRUE(IsOk(store->Get("a")));
  EXPECT_TRUE(IsOk(store->Get("a")));
  ASSERT_EQ(sts.forms().size(), 1);
  EXPECT_EQ(
      sts.forms()[0],
      "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Ar&RoleSessionName=cairn&Version=2011-06-"
      "15&WebIdentityToken=secret%20token");
  EXPECT_EQ(sts.keys(), std::vector<std::string>(2, "key1 t1"));
}

TEST(CredentialsTest, LentKeysAreRenewedBeforeTheyExpire) {
  Sts sts;
  sts.life_millis = 400;
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const TempDir directory;
  std::ofstream(directory.path() + "/token") << "token";
  sts.bucket.Set("a", "text");
  const auto store = OpenS3(WithWebIdentity(server, directory.path() + "/token")).value();
  EXPECT_TRUE(IsOk(store->Get("a")));
  sts.life_millis = 3'600'000;
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  EXPECT_TRUE(IsOk(store->Get("a")));
  EXPECT_EQ(sts.forms().size(), 2);
  EXPECT_EQ(sts.keys(), (std::vector<std::string>{"key1 t1", "key2 t2"}));
}

TEST(CredentialsTest, WithoutATokenNothingIsAsked) {
  Sts sts;
  HttpServer server([&](const ServedRequest& request) { return sts.Serve(request); });
  const auto store = OpenS3(WithWebIdentity(server, "/no/such/token")).value();
  EXPECT_TRUE(Fails(store->Get("a").status(), StatusCode::kPermissionDenied, "/no/such/token"));
}

std::string KeyOf(const ServedRequest& request) {
  const auto found = request.headers.find("authorization");
  if (found == request.headers.end()) return {};
  const size_t begin = found->second.find('=') + 1;
  return found->second.substr(begin, found->second.find('/') - begin);
}

// Lends the keys "key1", "key2", … , and remembers how often.
struct Lender {
  std::atomic<int> lent = 0;
  std::atomic<int> life_millis = 3'600'000;
  std::atomic<bool> fails = false;

  S3KeySource Source() {
    return [this](const TransportOptions&) -> absl::StatusOr<S3LentKeys> {
      const int number = ++lent;
      if (fails) return absl::UnavailableError("the lender is away");
      return S3LentKeys{.keys = {.access_key = absl::StrCat("key", number), .secret_key = "s"},
                        .expiry = SystemClock::now() + std::chrono::milliseconds(life_millis)};
    };
  }
};

// A bucket that takes only some keys.
class Guarded {
 public:
  explicit Guarded(Lender& lender, S3Credentials first = {})
      : server_([this](const ServedRequest& request) {
          ++requests;
          if (KeyOf(request) == good_key()) return bucket.Serve(request);
          return S3Failure(400, "ExpiredToken");
        }) {
    bucket.Set("a", "text");
    S3Options options = TestS3Options(server_.url());
    options.credentials = std::move(first);
    options.key_source = lender.Source();
    store = OpenS3(std::move(options)).value();
  }
  void SetGoodKey(const std::string& key) {
    const std::lock_guard lock(mutex_);
    good_key_ = key;
  }

  FakeS3 bucket;
  std::atomic<int> requests = 0;

 private:
  std::string good_key() const {
    const std::lock_guard lock(mutex_);
    return good_key_;
  }

  mutable std::mutex mutex_;
  std::string good_key_ = "key1";
  HttpServer server_;

 public:
  std::shared_ptr<ObjectStore> store;
};

TEST(CredentialsTest, ManyRequestsShareOneRenewal) {
  Lender lender;
  Guarded guarded(lender);
  EXPECT_TRUE(IsOk(guarded.store->Get("a")));
  guarded.SetGoodKey("key2");
  constexpr int kMany = 48;
  std::latch answers(kMany);
  for (int i = 0; i < kMany; ++i) {
    guarded.store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
      EXPECT_TRUE(IsOk(part));
      answers.count_down();
    });
  }
  answers.wait();
  EXPECT_EQ(lender.lent, 2);
}

// A long run lives through any number of expiries, of which no request is told.
TEST(CredentialsTest, KeysThatTheStoreRefusesAreRenewedEachTime) {
  Lender lender;
  Guarded guarded(lender);
  for (int i = 1; i <= 4; ++i) {
    guarded.SetGoodKey(absl::StrCat("key", i));
    EXPECT_TRUE(IsOk(guarded.store->Get("a")));
    EXPECT_TRUE(IsOk(guarded.store->PutIfAbsent(absl::StrCat("new", i), BytesOf("b"))));
    EXPECT_EQ(lender.lent, i);
  }
}

// An answer to HEAD has no code.
TEST(CredentialsTest, KeysThatAHeadRefusesAreRenewed) {
  Lender lender;
  Guarded guarded(lender);
  guarded.SetGoodKey("key2");
  EXPECT_TRUE(IsOk(guarded.store->Head("a")));
  EXPECT_EQ(lender.lent, 2);
}

TEST(CredentialsTest, FirstKeysServeUntilTheyAreRefused) {
  Lender lender;
  Guarded guarded(lender, {.access_key = "key0", .secret_key = "s"});
  guarded.SetGoodKey("key0");
  EXPECT_TRUE(IsOk(guarded.store->Get("a")));
  EXPECT_EQ(lender.lent, 0);
  guarded.SetGoodKey("key1");
  EXPECT_TRUE(IsOk(guarded.store->Get("a")));
  EXPECT_EQ(lender.lent, 1);
}

TEST(CredentialsTest, RefusalStandsWhenNewerKeysAreRefusedToo) {
  Lender lender;
  Guarded guarded(lender);
  guarded.SetGoodKey("none");
  EXPECT_TRUE(
      Fails(guarded.store->Get("a").status(), StatusCode::kPermissionDenied, "ExpiredToken"));
  EXPECT_EQ(guarded.requests, 2);
  EXPECT_EQ(lender.lent, 2);
}

TEST(CredentialsTest, RefusalStandsWhenThereAreNoOtherKeys) {
  std::atomic<int> lent = 0;
  Failing failing(Until(1000, S3Failure(403, "InvalidAccessKeyId")), [&](S3Options& options) {
    options.key_source = [&, keys = options.credentials](const TransportOptions&) {
      ++lent;
      return absl::StatusOr<S3LentKeys>(S3LentKeys{.keys = keys});
    };
  });
  EXPECT_TRUE(
      Fails(failing.store->Get("a").status(), StatusCode::kPermissionDenied, "InvalidAccessKeyId"));
  EXPECT_EQ(failing.requests, 1);
  EXPECT_EQ(lent, 1);
}

// The keys from before serve as long as they can.
TEST(CredentialsTest, RenewalThatFailsDoesNotDisturbWhileKeysServe) {
  Lender lender;
  lender.life_millis = 3000;
  Guarded guarded(lender);
  EXPECT_TRUE(IsOk(guarded.store->Get("a")));
  lender.fails = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsOk(guarded.store->Get("a")));
  EXPECT_LE(lender.lent, 2);  // it is asked again only after a pause
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_TRUE(
      Fails(guarded.store->Get("a").status(), StatusCode::kUnavailable, "the lender is away"));
  lender.fails = false;
  guarded.SetGoodKey(absl::StrCat("key", lender.lent + 1));
  EXPECT_TRUE(IsOk(guarded.store->Get("a")));
}

TEST(CredentialsTest, KeysThatExpireAtOnceAreRefused) {
  Lender lender;
  lender.life_millis = -1000;
  Guarded guarded(lender);
  EXPECT_TRUE(Fails(guarded.store->Get("a").status(), StatusCode::kPermissionDenied, "expired"));
  EXPECT_EQ(guarded.requests, 0);
}

// Else a lender could add headers to requests.
TEST(CredentialsTest, KeysWithLineBreaksAreRefused) {
  for (const S3Credentials& keys :
       {S3Credentials{.access_key = "k\r\nx: y", .secret_key = "s"},
        S3Credentials{.access_key = "k", .secret_key = "s", .session_token = "t\nx: y"},
        S3Credentials{.access_key = "k", .secret_key = ""}}) {
    S3Options options = TestS3Options("http://127.0.0.1:1");
    options.credentials = {};
    options.key_source = [keys](const TransportOptions&) {
      return absl::StatusOr<S3LentKeys>(S3LentKeys{.keys = keys});
    };
    EXPECT_TRUE(Fails(OpenS3(options).value()->Get("a").status(), StatusCode::kDataLoss, "keys"));
  }
}

// Waits until its caller is no longer wanted, or for a minute.
absl::StatusOr<S3LentKeys> Hang(const TransportOptions& transport) {
  for (int i = 0; i < 6000; ++i) {
    if (!transport.keep_waiting({})) return absl::CancelledError("interrupted");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return absl::UnavailableError("hung");
}

TEST(CredentialsTest, CancelEndsAWaitForKeys) {
  S3Options options = TestS3Options("http://127.0.0.1:1");
  options.credentials = {};
  Gate asked;
  options.key_source = [&](const TransportOptions& transport) {
    asked.Open();
    return Hang(transport);
  };
  const auto store = OpenS3(std::move(options)).value();
  std::latch answered(1);
  store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
    EXPECT_TRUE(absl::IsCancelled(part.status())) << part.status();
    answered.count_down();
  });
  asked.Wait();
  store->Cancel();
  answered.wait();
  EXPECT_TRUE(absl::IsCancelled(store->Get("a").status()));
}

TEST(CredentialsTest, UserEndsAWaitForKeys) {
  S3Options options = TestS3Options("http://127.0.0.1:1");
  options.credentials = {};
  options.key_source = &Hang;
  std::atomic<int> asked = 0;
  options.transport.keep_waiting = [&](const TransportWait&) { return ++asked < 3; };
  EXPECT_TRUE(absl::IsCancelled(OpenS3(std::move(options)).value()->Get("a").status()));
}

// No callback runs after the store is gone.
TEST(CredentialsTest, StoreThatIsDroppedEndsAWaitForKeys) {
  S3Options options = TestS3Options("http://127.0.0.1:1");
  options.credentials = {};
  options.key_source = &Hang;
  auto store = OpenS3(std::move(options)).value();
  std::atomic<bool> answered = false;
  store->StartGet("a", {}, std::nullopt, [&](absl::StatusOr<ObjectPart> part) {
    EXPECT_TRUE(absl::IsCancelled(part.status())) << part.status();
    answered = true;
  });
  store = nullptr;
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace cairn::test
