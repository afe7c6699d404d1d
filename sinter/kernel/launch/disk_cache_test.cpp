// SPDX-License-Identifier: MIT OR Apache-2.0
// The cache on disk: whole entries or none, whatever happens to its folder.
#include "sinter/kernel/launch/disk_cache.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::kernel {
namespace {

class Cache : public testing::Test {
 protected:
  void TearDown() override { os::remove_tree(folder_); }
  std::string only_file() const {
    const std::vector<std::string> names = os::list_directory(folder_);
    EXPECT_EQ(names.size(), 1u);
    return os::join_path(folder_, names.at(0));
  }
  std::string folder_ = os::join_path(
      os::temporary_directory(), "sinter_cache_" + std::to_string(os::process_id()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Cache, gives_back_what_it_keeps) {
  const DiskCache cache(folder_);
  EXPECT_FALSE(cache.find("kernel a"));
  const std::string content("\0code\n", 6);
  cache.keep("kernel a", content);
  cache.keep("kernel b", "");
  EXPECT_EQ(cache.find("kernel a"), content);
  EXPECT_EQ(cache.find("kernel b"), "");
  EXPECT_FALSE(cache.find("kernel c"));
  cache.keep("kernel a", "new");
  EXPECT_EQ(DiskCache(folder_).find("kernel a"), "new");
}

TEST_F(Cache, any_damage_counts_as_missing_and_is_repaired) {
  const DiskCache cache(folder_);
  cache.keep("key", "the content of an entry");
  const std::string good = os::read_file(only_file());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    os::write_file_atomic(only_file(), bad);
    EXPECT_FALSE(cache.find("key")) << "byte " << i;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, good.size() / 2, good.size() - 1}) {
    os::write_file_atomic(only_file(), good.substr(0, size));
    EXPECT_FALSE(cache.find("key")) << size << " bytes";
  }
  os::write_file_atomic(only_file(), good + "x");
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", "again");
  EXPECT_EQ(cache.find("key"), "again");
}

TEST_F(Cache, an_entry_of_another_key_is_not_taken) {
  const DiskCache cache(folder_);
  cache.keep("one", "content");
  const std::string entry = os::read_file(only_file());
  os::remove_path(only_file());
  cache.keep("two", "other");
  os::write_file_atomic(only_file(), entry);
  EXPECT_FALSE(cache.find("two"));
}

TEST_F(Cache, trouble_with_the_folder_costs_only_the_cache) {
  os::write_file_atomic(folder_, "a file where the folder should be");
  const DiskCache cache(folder_);
  cache.keep("key", "content");
  EXPECT_FALSE(cache.find("key"));
  os::remove_path(folder_);
  const DiskCache off("");
  off.keep("key", "content");
  EXPECT_FALSE(off.find("key"));
}

TEST_F(Cache, Thread_writers_and_readers_see_whole_entries) {
  const DiskCache cache(folder_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        cache.keep("shared", std::string(1000 + 100 * static_cast<std::size_t>(t), char('a' + t)));
        const auto found = cache.find("shared");
        if (!found || found->find_first_not_of(found->front()) != std::string::npos) {
          ADD_FAILURE() << "half an entry";
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace sinter::kernel
