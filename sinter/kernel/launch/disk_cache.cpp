// SPDX-License-Identifier: MIT OR Apache-2.0
// An entry is a header, the key and the content, under one checksum.
#include "sinter/kernel/launch/disk_cache.hpp"

#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "sinter/base/config.hpp"
#include "sinter/base/error.hpp"
#include "sinter/base/hash.hpp"
#include "sinter/base/log.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"

namespace sinter::kernel {

namespace {

constexpr std::uint64_t magic = 0x31656863'61437253;  // "SrCache1"
constexpr std::size_t most_bytes = std::size_t{256} << 20;

struct Header {
  std::uint64_t magic;
  std::uint64_t key_bytes;
  std::uint64_t content_bytes;
  std::uint64_t checksum;
};

std::uint64_t checksum_of(std::string_view key, std::string_view content) {
  return Hasher(1).text(key).text(content).digest();
}

void warn_once(const std::string& problem) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    log::lazy(log::Level::warning, [&] {
      return "compiled kernels are not kept on disk: " + problem +
             "; set SINTER_CACHE to a folder that can be written, or to off";
    });
  }
}

}  // namespace

DiskCache::DiskCache(std::string folder) : folder_(std::move(folder)) {}

std::string DiskCache::default_folder() {
  const std::string set = config::text(config::Setting::cache);
  if (set == "off") {
    return {};
  }
  if (!set.empty()) {
    return set;
  }
  std::string base = os::environment("XDG_CACHE_HOME").value_or("");
  if (base.empty()) {
    const std::string home =
        os::environment("HOME").value_or(os::environment("LOCALAPPDATA").value_or(""));
    if (home.empty()) {
      return {};
    }
    base = os::join_path(home, ".cache");
  }
  return os::join_path(os::join_path(base, "sinter"), "kernels");
}

std::string DiskCache::path_of(std::string_view key) const {
  const std::uint64_t low = hash_bytes(key.data(), key.size());
  const std::uint64_t high = hash_bytes(key.data(), key.size(), low);
  return os::join_path(folder_, fmt::format("{:016x}{:016x}", high, low));
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (folder_.empty()) {
    return std::nullopt;
  }
  try {
    const std::string path = path_of(key);
    if (!os::path_exists(path)) {
      return std::nullopt;
    }
    const std::string file = os::read_file(path, most_bytes);
    Header header{};
    if (file.size() < sizeof header) {
      return std::nullopt;
    }
    std::memcpy(&header, file.data(), sizeof header);
    const std::size_t left = file.size() - sizeof header;
    if (header.magic != magic || header.key_bytes != key.size() || header.key_bytes > left ||
        header.content_bytes != left - header.key_bytes) {
      return std::nullopt;
    }
    const std::string_view stored(file.data() + sizeof header, key.size());
    const std::string_view content(stored.data() + stored.size(), header.content_bytes);
    if (stored != key || header.checksum != checksum_of(stored, content)) {
      return std::nullopt;
    }
    return std::string(content);
  } catch (const IoError& error) {
    warn_once(error.what());
    return std::nullopt;
  }
}

void DiskCache::keep(std::string_view key, std::string_view content) const {
  if (folder_.empty()) {
    return;
  }
  try {
    os::create_directories(folder_);
    const Header header{magic, key.size(), content.size(), checksum_of(key, content)};
    os::AtomicFile file(path_of(key));
    file.write(&header, sizeof header);
    file.write(key.data(), key.size());
    file.write(content.data(), content.size());
    file.commit();
  } catch (const IoError& error) {
    warn_once(error.what());
  }
}

}  // namespace sinter::kernel
