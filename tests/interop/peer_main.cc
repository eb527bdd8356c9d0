#include <blosc2.h>

#include <gtest/gtest.h>

// C-Blosc2 copies overlapping bytes when it gathers samples for a dictionary. AddressSanitizer asks
// here, where it is built in, what to overlook.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_suppressions() {
  return "interceptor_via_lib:libblosc2";
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  blosc2_init();
  const int result = RUN_ALL_TESTS();
  blosc2_destroy();
  return result;
}
