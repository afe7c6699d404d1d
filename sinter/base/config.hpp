// SPDX-License-Identifier: MIT OR Apache-2.0
// The settings of the library: one list, read from the environment and from a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::config {

/// Every setting; the table in config.cpp holds their names, bounds and meaning.
/// `memory_limit` is read from SINTER_MEMORY_LIMIT, or from a line `memory_limit = 4G` of the file
/// that SINTER_CONFIG names (./sinter.conf if that isn't set). The environment wins.
enum class Setting { cache, debug, fusion, isa, llvm, memory_limit, threads, view };

/// Where a value came from; the later in this list wins.
enum class Source { built_in, file, environment, set, scoped };

/// What `list` tells about a setting, as seen by the calling thread.
struct Entry {
  std::string name;
  std::string environment;
  std::string value;
  std::string help;
  Source source;
};

/// The value of a whole-number setting; a few nanoseconds. The first reading of any setting reads
/// the environment and the file, and throws ArgumentError naming what it can't understand.
std::int64_t integer(Setting setting);
std::string text(Setting setting);

/// Gives a setting a value for the whole process. ArgumentError for an unknown name or bad value.
/// Numbers take the suffixes K, M and G (of 1024).
void set(std::string_view name, std::string_view value);

/// Gives a setting a value in this thread until the end of the scope. Scopes end in reverse order.
class Scoped {
 public:
  Scoped(std::string_view name, std::string_view value);
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  ~Scoped();
};

/// Every setting, sorted by name.
std::vector<Entry> list();

/// Reads environment and file again and drops values given by `set`.
void reload();

}  // namespace sinter::config
