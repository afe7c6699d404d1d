// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of settings, hash and log.
#include "sinter/base/config.hpp"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/error.hpp"
#include "sinter/base/hash.hpp"
#include "sinter/base/log.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter {
namespace {

using config::Setting;

class Config : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ =
        os::join_path(os::temporary_directory(), "sinter-conf-" + std::to_string(os::process_id()));
    clear();
    os::set_environment("SINTER_CONFIG", path_);
    os::write_file_atomic(path_, "");
    config::reload();
  }
  void TearDown() override {
    clear();
    os::remove_path(path_);
    config::reload();
  }
  void clear() {
    for (const char* name :
         {"SINTER_CONFIG", "SINTER_THREADS", "SINTER_DEBUG", "SINTER_ISA", "SINTER_MEMORY_LIMIT"}) {
      os::set_environment(name, std::nullopt);
    }
  }
  template <class Body>
  std::string error_of(Body body) {
    try {
      body();
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string path_;
};

TEST_F(Config, file_then_environment_then_set_then_scope) {
  EXPECT_EQ(config::integer(Setting::threads), 0);
  os::write_file_atomic(path_, "# machine\nthreads = 3\n\n isa=avx2 # slower\r\n");
  config::reload();
  EXPECT_EQ(config::integer(Setting::threads), 3);
  EXPECT_EQ(config::text(Setting::isa), "avx2");
  os::set_environment("SINTER_THREADS", "5");
  config::reload();
  EXPECT_EQ(config::integer(Setting::threads), 5);
  config::set("threads", "6");
  EXPECT_EQ(config::integer(Setting::threads), 6);
  {
    const config::Scoped outer("threads", "7");
    const config::Scoped inner("isa", "sse2");
    EXPECT_EQ(config::integer(Setting::threads), 7);
    EXPECT_EQ(config::text(Setting::isa), "sse2");
    std::thread([] { EXPECT_EQ(config::integer(Setting::threads), 6); }).join();
    EXPECT_EQ(config::list()[static_cast<std::size_t>(Setting::threads)].source,
              config::Source::scoped);
  }
  EXPECT_EQ(config::integer(Setting::threads), 6);
  config::reload();
  EXPECT_EQ(config::integer(Setting::threads), 5);
}

TEST_F(Config, sizes_take_suffixes) {
  config::set("memory_limit", "3G");
  EXPECT_EQ(config::integer(Setting::memory_limit), std::int64_t{3} << 30);
  config::set("memory_limit", "12k");
  EXPECT_EQ(config::integer(Setting::memory_limit), 12 * 1024);
  EXPECT_NE(error_of([] { config::set("memory_limit", "99999999999G"); }), "no error");
}

TEST_F(Config, mistakes_are_named_and_change_nothing) {
  for (const char* bad : {"", "x", "4x", "-1", "1025", "4.5", "99999999999999999999"}) {
    const std::string message = error_of([&] { config::set("threads", bad); });
    EXPECT_NE(message.find("'threads' a whole number from 0 to 1024"), std::string::npos)
        << message;
  }
  EXPECT_NE(error_of([] { config::set("treads", "1"); }).find("memory_limit, threads"),
            std::string::npos);
  os::write_file_atomic(path_, "threads = 3\nnonsense\n");
  EXPECT_NE(error_of([] { config::reload(); }).find(path_ + ":2"), std::string::npos);
  EXPECT_EQ(config::integer(Setting::threads), 0);
  os::write_file_atomic(path_, "");
  os::set_environment("SINTER_DEBUG", "loud");
  EXPECT_NE(error_of([] { config::reload(); }).find("SINTER_DEBUG"), std::string::npos);
}

TEST_F(Config, list_is_sorted_and_complete) {
  const std::vector<config::Entry> entries = config::list();
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(Setting::view) + 1);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    EXPECT_LT(entries[i - 1].name, entries[i].name);
  }
  EXPECT_EQ(entries[static_cast<std::size_t>(Setting::memory_limit)].environment,
            "SINTER_MEMORY_LIMIT");
  EXPECT_EQ(entries[static_cast<std::size_t>(Setting::threads)].name, "threads");
  EXPECT_EQ(entries[static_cast<std::size_t>(Setting::isa)].name, "isa");
}

TEST(Hash, split_does_not_matter_but_content_does) {
  std::string data(1000, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<char>(i * 37);
  }
  const std::uint64_t whole = hash_bytes(data.data(), data.size());
  for (std::size_t cut = 0; cut < 40; ++cut) {
    Hasher parts;
    parts.bytes(data.data(), cut).bytes(data.data() + cut, 13);
    parts.bytes(data.data() + cut + 13, data.size() - cut - 13);
    ASSERT_EQ(parts.digest(), whole) << cut;
  }
  std::set<std::uint64_t> seen;
  for (std::size_t length = 0; length <= data.size(); ++length) {
    seen.insert(hash_bytes(data.data(), length));
  }
  const std::string zeros(64, '\0');
  for (std::size_t length = 1; length <= zeros.size(); ++length) {
    seen.insert(hash_bytes(zeros.data(), length, 1));
  }
  EXPECT_EQ(seen.size(), data.size() + 1 + zeros.size());
  EXPECT_NE(Hasher().text("ab").text("c").digest(), Hasher().text("a").text("bc").digest());
}

TEST(Hash, one_bit_changes_half_of_the_digest) {
  double flipped = 0;
  for (int bit = 0; bit < 256; ++bit) {
    unsigned char block[32] = {};
    const std::uint64_t before = hash_bytes(block, 32);
    block[bit / 8] = static_cast<unsigned char>(1 << (bit % 8));
    flipped += std::popcount(before ^ hash_bytes(block, 32)) / 256.0;
  }
  EXPECT_NEAR(flipped, 32.0, 1.5);
}

TEST(Log, reaches_the_sink_by_level_and_drops_without_one) {
  std::vector<std::string> lines;
  log::write(log::Level::error, "lost");
  EXPECT_FALSE(log::enabled(log::Level::error));
  log::set_sink(
      [](log::Level level, std::string_view message, void* user) {
        static_cast<std::vector<std::string>*>(user)->push_back(
            std::string(log::level_name(level)) + ": " + std::string(message));
      },
      log::Level::info, &lines);
  log::write(log::Level::warning, "one");
  log::write(log::Level::debug, "two");
  log::lazy(log::Level::info, [] { return std::string("three"); });
  log::lazy(log::Level::debug, []() -> std::string { throw Error("built for nobody"); });
  log::set_sink(nullptr);
  log::write(log::Level::error, "lost");
  EXPECT_EQ(lines, (std::vector<std::string>{"warning: one", "info: three"}));
}

}  // namespace
}  // namespace sinter
