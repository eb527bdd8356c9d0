// A machine that sleeps: programs with this file have a CLOCK_BOOTTIME that a test can advance.
#ifndef CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_
#define CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_

#include <chrono>

namespace cairn::test {

// From now on the clock shows this much more. Thread-safe.
void SleepMachine(std::chrono::seconds time);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_
