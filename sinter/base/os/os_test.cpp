// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the operating-system layer against facts the test arranges itself.
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/base/os/clock.hpp"
#include "sinter/base/os/cpu.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/library.hpp"
#include "sinter/base/os/memory.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/base/os/signal.hpp"
#include "sinter/base/os/terminal.hpp"

#ifdef __linux__
#include <sched.h>
#endif

namespace sinter::os {
namespace {

class OsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = join_path(temporary_directory(), "sinter-os-test-" + std::to_string(process_id()));
    create_directories(folder_);
  }
  void TearDown() override { remove_tree(folder_); }
  std::string path(const std::string& name) const { return join_path(folder_, name); }
  std::string folder_;
};

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const IoError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(OsFile, writes_and_reads_back) {
  std::string content(100000, 'x');
  content[5] = '\0';
  write_file_atomic(path("a.bin"), content);
  EXPECT_EQ(read_file(path("a.bin")), content);
  write_file_atomic(path("a.bin"), "short");
  EXPECT_EQ(read_file(path("a.bin")), "short");
  append_file(path("a.bin"), " tail");
  EXPECT_EQ(read_file(path("a.bin"), 10), "short tail");
  EXPECT_EQ(file_size(path("a.bin")), 10u);
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a.bin"});
}

TEST_F(OsFile, refuses_more_than_the_limit) {
  write_file_atomic(path("a"), "123456");
  const std::string message = message_of([&] { read_file(path("a"), 5); });
  EXPECT_NE(message.find(path("a")), std::string::npos) << message;
  EXPECT_NE(message.find("limit of 5 bytes"), std::string::npos) << message;
}

TEST_F(OsFile, errors_name_path_and_reason) {
  const std::string missing = path("none/there");
  for (const std::string& message :
       {message_of([&] { read_file(missing); }), message_of([&] { MappedFile file(missing); }),
        message_of([&] { write_file_atomic(missing, "x"); }),
        message_of([&] { list_directory(missing); }), message_of([&] { file_size(missing); })}) {
    EXPECT_NE(message.find(missing), std::string::npos) << message;
    EXPECT_NE(message.find("No such file"), std::string::npos) << message;
  }
  EXPECT_NE(message_of([&] { read_file(folder_); }), "no error");
  EXPECT_NE(message_of([&] { MappedFile file(folder_); }), "no error");
}

TEST_F(OsFile, an_abandoned_write_leaves_the_old_file) {
  write_file_atomic(path("a"), "old");
  {
    AtomicFile file(path("a"));
    file.write("new", 3);
    EXPECT_EQ(list_directory(folder_).size(), 2u);
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a"});
}

TEST_F(OsFile, a_failed_commit_leaves_no_temporary_file) {
  create_directories(path("target/full"));
  EXPECT_NE(message_of([&] { write_file_atomic(path("target"), "x"); }), "no error");
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"target"});
}

TEST_F(OsFile, maps_and_moves) {
  write_file_atomic(path("a"), "mapped");
  write_file_atomic(path("empty"), "");
  MappedFile first(path("a"));
  MappedFile second(path("empty"));
  EXPECT_EQ(second.size(), 0u);
  second = std::move(first);
  ASSERT_EQ(second.size(), 6u);
  EXPECT_EQ(std::memcmp(second.data(), "mapped", 6), 0);
}

TEST_F(OsFile, folders) {
  create_directories(path("b/c/d"));
  create_directories(path("b/c/d"));
  EXPECT_TRUE(is_directory(path("b/c/d")));
  EXPECT_FALSE(is_directory(path("nothing")));
  write_file_atomic(path("b/f"), "1");
  rename_path(path("b/f"), path("b/g"));
  EXPECT_EQ(list_directory(path("b")), (std::vector<std::string>{"c", "g"}));
  EXPECT_TRUE(remove_path(path("b/g")));
  EXPECT_FALSE(remove_path(path("b/g")));
  EXPECT_EQ(remove_tree(path("b")), 3u);
  EXPECT_FALSE(path_exists(path("b")));
}

TEST_F(OsFile, cgroup_limits_of_both_versions) {
  create_directories(path("v2/a/b"));
  write_file_atomic(path("v2/a/cpu.max"), "150000 100000\n");
  write_file_atomic(path("v2/a/b/cpu.max"), "max 100000\n");
  EXPECT_EQ(cgroup_cpu_limit("0::/a/b\n", path("v2")), 1.5);
  EXPECT_EQ(cgroup_cpu_limit("0::/\n", path("v2")), 0.0);
  create_directories(path("v1/cpu,cpuacct/box"));
  write_file_atomic(path("v1/cpu,cpuacct/box/cpu.cfs_quota_us"), "400000\n");
  write_file_atomic(path("v1/cpu,cpuacct/box/cpu.cfs_period_us"), "100000\n");
  EXPECT_EQ(cgroup_cpu_limit("3:memory:/box\n4:cpu,cpuacct:/box\n", path("v1")), 4.0);
  write_file_atomic(path("v1/cpu,cpuacct/box/cpu.cfs_quota_us"), "-1\n");
  EXPECT_EQ(cgroup_cpu_limit("4:cpu,cpuacct:/box", path("v1")), 0.0);
  EXPECT_EQ(cgroup_cpu_limit("4:cpuset:/box", path("v1")), 0.0);
  EXPECT_EQ(cgroup_cpu_limit("garbage", path("v1")), 0.0);
}

TEST(OsCpu, counts_processors) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_FALSE(cpu_name().empty());
}

#if defined(__x86_64__) && defined(__GNUC__)
TEST(OsCpu, features_agree_with_the_compiler_runtime) {
  const CpuFeatures& features = cpu_features();
  EXPECT_EQ(features.avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(features.fma, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(features.avx512f, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(features.avx512bw, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(features.avx512vnni, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(features.avx512bf16, __builtin_cpu_supports("avx512bf16") != 0);
}
#endif

#ifdef __linux__
TEST(Cases, THR_06_affinity_mask_is_honoured) {
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) {
      ++first;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(usable_cpus(), 1);
  }).join();
}
#endif

TEST(OsMemory, pages_are_zeroed_aligned_and_writable) {
  for (const std::size_t alignment : {std::size_t{4096}, std::size_t{2} << 20}) {
    const std::size_t bytes = (std::size_t{2} << 20) + 1;
    unsigned char* pages = static_cast<unsigned char*>(map_pages(bytes, alignment));
    ASSERT_NE(pages, nullptr);
#ifndef _WIN32
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages) % alignment, 0u);
#endif
    advise_huge(pages, bytes);
    EXPECT_EQ(pages[bytes - 1], 0);
    std::memset(pages, 7, bytes);
    EXPECT_EQ(pages[bytes - 1], 7);
    unmap_pages(pages, bytes);
  }
  EXPECT_EQ(map_pages(SIZE_MAX - 100), nullptr);
  EXPECT_EQ(map_pages(SIZE_MAX / 2), nullptr);
  EXPECT_GT(physical_memory(), std::size_t{64} << 20);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(OsMemory, code_is_run_where_it_was_copied) {
#ifdef __x86_64__
  // nop…; mov eax, 42; ret
  const unsigned char code[] = {0x90, 0x90, 0x90, 0x90, 0xb8, 42, 0, 0, 0, 0xc3};
#else
  // nop; mov w0, #42; ret
  const unsigned char code[] = {0x1f, 0x20, 0x03, 0xd5, 0x40, 0x05,
                                0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#endif
  ExecutableMemory first(std::as_bytes(std::span(code)));
  EXPECT_EQ(first.at<int()>(4)(), 42);
  const std::byte* const place = first.data();
  ExecutableMemory second(std::move(first));
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(second.size(), sizeof(code));
  second = ExecutableMemory(std::as_bytes(std::span(code)));
  EXPECT_EQ(second.at<int()>(4)(), 42);
}
#endif

TEST(OsProcess, environment_is_set_and_removed) {
  EXPECT_FALSE(environment("SINTER_TEST_NOT_SET"));
  set_environment("SINTER_TEST_NOT_SET", "value");
  EXPECT_EQ(environment("SINTER_TEST_NOT_SET"), "value");
  set_environment("SINTER_TEST_NOT_SET", std::nullopt);
  EXPECT_FALSE(environment("SINTER_TEST_NOT_SET"));
}

TEST(OsProcess, resident_memory_follows_use) {
  const std::size_t bytes = std::size_t{32} << 20;
  const std::size_t before = resident_bytes();
  void* pages = map_pages(bytes);
  std::memset(pages, 1, bytes);
  EXPECT_GT(resident_bytes(), before + bytes / 2);
  EXPECT_GE(peak_resident_bytes(), before + bytes / 2);
  unmap_pages(pages, bytes);
  EXPECT_LT(resident_bytes(), before + bytes / 2);
}

TEST(OsClock, time_passes) {
  const double start = monotonic_seconds();
  sleep_seconds(0.02);
  const double passed = monotonic_seconds() - start;
  EXPECT_GE(passed, 0.019);
  EXPECT_LT(passed, 5.0);
  EXPECT_GT(wall_seconds(), 1.7e9);
}

TEST(OsTerminal, width_falls_back) {
  if (!is_terminal(Stream::standard_output)) {
    EXPECT_EQ(terminal_width(Stream::standard_output, 123), 123);
  }
}

TEST(OsLibrary, missing_library_is_an_empty_handle) {
  const DynamicLibrary none = DynamicLibrary::open("libsinter-none.so.9 libsinter-nothing.so");
  EXPECT_FALSE(none);
  EXPECT_NE(none.error().find("libsinter-nothing.so"), std::string::npos);
  EXPECT_EQ(none.symbol("x"), nullptr);
#ifdef __linux__
  const DynamicLibrary math = DynamicLibrary::open("libsinter-none.so libm.so.6");
  ASSERT_TRUE(math);
  EXPECT_NE(math.symbol("cos"), nullptr);
#endif
}

#ifndef _WIN32
volatile std::sig_atomic_t outer_calls = 0;

TEST(OsSignal, first_interrupt_sets_the_flag_and_the_old_handler_returns) {
  outer_calls = 0;
  const auto before = std::signal(SIGINT, [](int) { outer_calls = outer_calls + 1; });
  {
    InterruptGuard guard;
    EXPECT_FALSE(guard.requested());
    {
      InterruptGuard inner;
      std::raise(SIGINT);
      EXPECT_TRUE(inner.requested());
    }
    EXPECT_TRUE(guard.requested());
    EXPECT_EQ(outer_calls, 0);
  }
  std::raise(SIGINT);
  EXPECT_EQ(outer_calls, 1);
  EXPECT_FALSE(InterruptGuard().requested());
  std::signal(SIGINT, before);
}

TEST(OsSignal, second_interrupt_ends_the_program) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        InterruptGuard guard;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}
#endif

}  // namespace
}  // namespace sinter::os
