// Who is trusted over TLS.
#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

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
    std::array<int, 2> output{};
    if (::pipe2(output.data(), O_CLOEXEC) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(output[1], STDOUT_FILENO);
      const std::string key = directory_.Path("key");
      ::execlp("openssl", "openssl", "s_server", "-www", "-accept", "0", "-cert",
               certificate().c_str(), "-key", key.c_str(), static_cast<char*>(nullptr));
      ::_exit(1);
    }
    ::close(output[1]);
    output_ = output[0];
    port_ = PortThatItNames();
  }
  ~TlsServer() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(output_);
  }

  bool made() const { return made_; }
  int port() const { return port_; }
  std::string certificate() const { return directory_.Path("certificate"); }
  std::string Url(const char* host) const { return absl::StrFormat("https://%s:%d", host, port_); }

 private:
  // The system chooses it, so that no other program has it. When it listens, it says
  // "ACCEPT address:port".
  int PortThatItNames() const {
    std::string line;
    for (char next = 0; ::read(output_, &next, 1) == 1;) {
      line += next;
      if (next != '\n') continue;
      if (line.starts_with("ACCEPT")) return std::atoi(line.substr(line.rfind(':') + 1).c_str());
      line.clear();
    }
    return 0;
  }

  const TempDir directory_;
  bool made_ = false;
  pid_t process_ = 0;
  int output_ = -1;
  int port_ = 0;
};

TEST(TlsTest, OnlyTrustedCertificatesOfTheHostAreTaken) {
  const TlsServer server;
  if (!server.made()) GTEST_SKIP() << "there is no openssl program";
  ASSERT_GT(server.port(), 0) << "it does not listen";
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
  // The server is reached, and answers what users of a connection want to see.
  EXPECT_TRUE(Fails(get("localhost", true), absl::StatusCode::kUnimplemented, "how long"));
}

}  // namespace
}  // namespace cairn::test
