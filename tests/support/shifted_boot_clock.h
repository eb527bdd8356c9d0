// A machine that sleeps: programs with this file have a CLOCK_BOOTTIME that a test can advance.
#ifndef CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_
#define CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_

#include <chrono>

namespace cairn::test {

// Advances the clock by this much from now on. Thread-safe.
void SleepMachine(std::chrono::seconds time);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SHIFTED_BOOT_CLOCK_H_
