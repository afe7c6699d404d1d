// SPDX-License-Identifier: MIT OR Apache-2.0
// Records: named tensors with metadata, in memory and as safetensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/store/safetensors.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::store {

/// Named tensors in the order they were added, with free text metadata. Entries may share one
/// storage (tied weights): it is saved once, and still shared after loading.
///
///     Record record;
///     record.add("encoder.weight", data);
///     record.add_alias("decoder.weight", "encoder.weight");
///     record.save("model.safetensors");
class Record {
 public:
  using Storage = std::shared_ptr<const HostData>;
  struct Entry {
    std::string name;
    Storage data;
  };

  /// Adds an entry; throws ArgumentError when the name is taken or `__metadata__`.
  void add(std::string name, HostData data);
  /// As above, sharing `data`: entries given the same pointer are tied.
  void add(std::string name, Storage data);
  /// Adds `name` as another name of entry `of`; throws ArgumentError when there is no such entry.
  void add_alias(std::string name, std::string_view of);
  /// Adds the entries of `other` with `prefix` before their names; ties stay.
  void add_all(std::string_view prefix, const Record& other);

  std::span<const Entry> entries() const { return {entries_.data(), entries_.size()}; }
  std::size_t size() const { return entries_.size(); }
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Throws ArgumentError naming the closest entries when there is no such entry.
  const HostData& at(std::string_view name) const { return *share(name); }
  const Storage& share(std::string_view name) const;
  /// Whether two entries share their storage.
  bool tied(std::string_view a, std::string_view b) const { return share(a) == share(b); }
  /// The entries whose names start with `prefix`, without it; ties stay.
  Record part(std::string_view prefix) const;

  Metadata& metadata() { return metadata_; }
  const Metadata& metadata() const { return metadata_; }

  /// Writes a safetensors file under a temporary name and renames it, so that a reader or a crash
  /// sees the old file or the whole new one. Throws IoError, or ArgumentError for names that are no
  /// UTF-8.
  void save(const std::string& path) const;
  /// Reads a whole file; throws IoError, or FormatError for whatever is wrong in it.
  static Record load(const std::string& path);
  /// The file's bytes, for files kept elsewhere.
  std::vector<std::byte> to_bytes() const;
  /// `origin` stands for the file's name in messages.
  static Record from_bytes(std::span<const std::byte> file, std::string_view origin = "record");

 private:
  const Entry* find(std::string_view name) const;
  // The slot of `index_` where `name` stands, or an empty one where it belongs.
  std::size_t slot_of(std::string_view name) const;
  void grow_index();
  SafetensorsLayout layout() const;

  std::vector<Entry> entries_;
  // A hash table of places in `entries_`, counted from 1; its size is a power of two. By hand, as
  // every reader of this header would pay for the standard one.
  std::vector<std::size_t> index_;
  Metadata metadata_;
};

/// A second name of a stored tensor.
struct Alias {
  std::string name;
  std::string of;
};

/// A record on disk whose tensors are read when asked for. The file is mapped: opening reads only
/// its header. It must not be cut short while open; `Record::save` over it is fine.
class RecordFile {
 public:
  /// Throws IoError or FormatError; the whole header is checked here.
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(RecordFile&&) noexcept;
  RecordFile& operator=(RecordFile&&) noexcept;

  const std::string& path() const;
  std::uint64_t file_bytes() const;
  /// The stored tensors, in the record's order; aliases are apart.
  std::span<const TensorInfo> tensors() const;
  std::span<const Alias> aliases() const;
  const Metadata& metadata() const;
  bool contains(std::string_view name) const;
  /// Reads one tensor, by its name or an alias. Throws ArgumentError for an unknown name and
  /// FormatError for a bool that is neither 0 nor 1.
  HostData read(std::string_view name) const;
  /// Its bytes in the mapping, valid while this object lives.
  std::span<const std::byte> bytes(std::string_view name) const;
  /// Reads everything.
  Record load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a record file holds, without its tensors.
struct RecordSummary {
  std::uint64_t file_bytes = 0;
  std::uint64_t elements = 0;
  std::vector<TensorInfo> tensors;
  std::vector<Alias> aliases;
  Metadata metadata;
};

/// Reads the head of a record file; throws as `RecordFile` does.
[[nodiscard]] RecordSummary summary(const std::string& path);

}  // namespace sinter::store
