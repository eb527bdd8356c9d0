// Who is trusted over TLS.
#include <chrono>
#include <cstdlib>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "tests/object/sockets.h"
#include "tests/object/stores.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

// The server of the openssl program, for localhost and with a certificate of its own.
class TlsServer {
 public:
  TlsServer() {
    made_ = std::system(absl::StrFormat("openssl req -x509 -newkey rsa:2048 -nodes -keyout %s -out "
                                        "%s -days 2 -subj /CN=localhost 2>/dev/null",
                                        directory_.Path("key"), certificate())
                            .c_str()) == 0;
    if (!made_) return;
    process_ = ::fork();
    if (process_ == 0) {
      const std::string port = std::to_string(port_);
      const std::string key = directory_.Path("key");
      ::execlp("openssl", "openssl", "s_server", "-quiet", "-www", "-accept", port.c_str(), "-cert",
               certificate().c_str(), "-key", key.c_str(), static_cast<char*>(nullptr));
      ::_exit(1);
    }
    WaitUntilItAccepts();
  }
  ~TlsServer() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  bool made() const { return made_; }
  std::string certificate() const { return directory_.Path("certificate"); }
  std::string Url(const char* host) const { return absl::StrFormat("https://%s:%d", host, port_); }

 private:
  static int FreePort() {
    return Listener([](int) {}).port();
  }

  // It serves one connection after the other.
  void WaitUntilItAccepts() const {
    for (int i = 0; i < 3000; ++i) {
      if (const int socket = Connect(port_); socket >= 0) {
        ::close(socket);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  const TempDir directory_;
  const int port_ = FreePort();
  bool made_ = false;
  pid_t process_ = 0;
};

TEST(TlsTest, OnlyTrustedCertificatesOfTheHostAreTaken) {
  const TlsServer server;
  if (!server.made()) GTEST_SKIP() << "there is no openssl program";
  const auto get = [&](const char* host, bool trusted) {
    TransportOptions options;
    options.retries = 3;
    options.connect_timeout = std::chrono::minutes(1);
    if (trusted) options.ca_file = server.certificate();
    return OpenHttp(server.Url(host), options).value()->Get("a").status();
  };
  const char* const reason = "certificate";
  EXPECT_TRUE(Fails(get("localhost", false), absl::StatusCode::kUnavailable, reason));
  EXPECT_TRUE(Fails(get("127.0.0.1", true), absl::StatusCode::kUnavailable, reason));
  // It is reached, and answers what its users want to see of a connection.
  EXPECT_TRUE(Fails(get("localhost", true), absl::StatusCode::kUnimplemented, "how long"));
}

}  // namespace
}  // namespace cairn::test
