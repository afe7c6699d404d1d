// SPDX-License-Identifier: MIT OR Apache-2.0
// What was compiled or tuned, kept on disk from one process to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinter::kernel {

/// A folder of entries named by their content's key. Any number of processes may share it: an entry
/// appears whole or not at all, and one that is damaged, or belongs to another key of the same
/// hash, counts as missing. Trouble with the folder costs the cache, never the work: it is logged
/// once as a warning.
class DiskCache {
 public:
  /// An empty name switches the cache off.
  explicit DiskCache(std::string folder);

  /// What `keep` stored under `key`.
  std::optional<std::string> find(std::string_view key) const;
  void keep(std::string_view key, std::string_view content) const;

  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// The folder of the setting `cache`: that folder, none for "off", else the user's cache folder
  /// (XDG_CACHE_HOME, or ~/.cache) with /sinter/kernels.
  static std::string default_folder();

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;

  std::string folder_;
};

}  // namespace sinter::kernel
