// A TcpProxy for scripts: object_proxy PORT TO_PORT LATENCY_MS [CUT_IN_REQUEST CUT_BEFORE_ANSWER
// CUT_IN_ANSWER], the last three of 100 requests. It runs until it is killed.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "tests/object/tcp_proxy.h"

int main(int argc, char** argv) {
  const auto number = [&](int i) { return i < argc ? std::atoi(argv[i]) : 0; };
  const auto odds = [&](int i) { return static_cast<size_t>(number(i)); };
  if (argc < 4) {
    std::fputs("usage: object_proxy PORT TO_PORT LATENCY_MS [CUTS CUTS CUTS]\n", stderr);
    return 2;
  }
  const cairn::test::TcpProxy proxy(number(2),
                                    {.latency = std::chrono::milliseconds(number(3)),
                                     .cut_in_request = odds(4),
                                     .cut_before_answer = odds(5),
                                     .cut_in_answer = odds(6)},
                                    /*seed=*/1, number(1));
  std::printf("%s\n", proxy.url().c_str());
  std::fflush(stdout);
  for (;;) ::pause();
}
