// SPDX-License-Identifier: MIT OR Apache-2.0
// Records: building, saving, loading, and the aliases kept in a file's metadata.
#include "sinter/store/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/store/detail/json.hpp"
#include "sinter/store/text.hpp"

namespace sinter::store {
namespace {

// Where a file lists second names: a JSON object {"name": "stored name"}.
constexpr const char* alias_key = "sinter.aliases";

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t up = row[j + 1];
      row[j + 1] = std::min({up + 1, row[j] + 1, diagonal + (a[i] != b[j])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

// "; the closest are `a`, `b`" for a message about an unknown name.
template <class Names>
std::string closest(std::string_view asked, const Names& names) {
  constexpr std::size_t longest = 200;
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const auto& entry : names) {
    if (asked.size() <= longest && entry.name.size() <= longest && found.size() < 10'000) {
      found.emplace_back(edit_distance(asked, entry.name), entry.name);
    }
  }
  if (found.empty()) {
    return names.size() == 0 ? "; the record is empty" : "";
  }
  const std::size_t count = std::min<std::size_t>(found.size(), 3);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  std::string text = "; the closest are";
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{} `{}`", i ? "," : "", found[i].second);
  }
  return text;
}

template <class Names>
[[noreturn]] void unknown_name(std::string_view where, std::string_view name, const Names& names) {
  throw ArgumentError(
      fmt::format("{}: there is no entry `{}`{}", where, clip(name), closest(name, names)));
}

// Reads a flat object of strings, in order; anything else stops it before it is built.
class AliasReader : public detail::JsonReader {
 public:
  explicit AliasReader(std::vector<Alias>& out) : out_(out) {}

  bool wrong(std::string_view) override { return false; }
  void damaged(std::size_t) override {}
  bool start_object() override { return !std::exchange(inside_, true); }
  bool key(std::string&& name) override {
    name_ = std::move(name);
    return true;
  }
  bool string(std::string&& of) override {
    if (inside_) {
      out_.push_back({name_, std::move(of)});
    }
    return inside_;
  }

 private:
  std::vector<Alias>& out_;
  bool inside_ = false;
  std::string name_;
};

// Takes the aliases out of a file's metadata and checks them against its tensors.
std::vector<Alias> take_aliases(SafetensorsHeader& header,
                                const std::unordered_map<std::string, std::size_t>& index,
                                std::string_view origin) {
  std::vector<Alias> aliases;
  const auto found = header.metadata.find(alias_key);
  if (found == header.metadata.end()) {
    return aliases;
  }
  AliasReader reader(aliases);
  if (!detail::read_json(found->second, reader)) {
    throw FormatError(
        fmt::format("{}: the metadata `{}` must be a JSON object of names", origin, alias_key));
  }
  std::unordered_map<std::string, bool> seen;
  for (const Alias& alias : aliases) {
    if (!index.contains(alias.of)) {
      throw FormatError(fmt::format("{}: `{}` stands for tensor `{}`, which the file lacks", origin,
                                    clip(alias.name), clip(alias.of)));
    }
    if (index.contains(alias.name) || alias.name == "__metadata__" ||
        !seen.emplace(alias.name, true).second) {
      throw FormatError(fmt::format("{}: the name `{}` appears twice", origin, clip(alias.name)));
    }
  }
  header.metadata.erase(found);
  return aliases;
}

HostData read_tensor(std::span<const std::byte> file, std::uint64_t data_start,
                     const TensorInfo& tensor, std::string_view origin) {
  const auto bytes = file.subspan(data_start + tensor.offset, tensor.bytes);
  if (tensor.dtype == DType::boolean) {
    // A bool with another bit pattern is undefined behaviour wherever it is read.
    for (const std::byte byte : bytes) {
      if (byte > std::byte{1}) {
        throw FormatError(fmt::format("{}: tensor `{}` holds a bool of value {}, expected 0 or 1",
                                      origin, clip(tensor.name), std::to_integer<int>(byte)));
      }
    }
  }
  return HostData(tensor.shape, tensor.dtype, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// A checked header with its names looked up.
struct Contents {
  SafetensorsHeader header;
  std::vector<Alias> aliases;
  std::unordered_map<std::string, std::size_t> index;

  Contents(std::span<const std::byte> file, std::string_view origin)
      : header(parse_safetensors(file, origin)) {
    for (std::size_t i = 0; i < header.tensors.size(); ++i) {
      index.emplace(header.tensors[i].name, i);
    }
    aliases = take_aliases(header, index, origin);
    for (const Alias& alias : aliases) {
      index.emplace(alias.name, index.at(alias.of));
    }
  }

  Record load(std::span<const std::byte> file, std::string_view origin) const {
    Record record;
    for (const TensorInfo& tensor : header.tensors) {
      record.add(tensor.name, read_tensor(file, header.data_start, tensor, origin));
    }
    for (const Alias& alias : aliases) {
      record.add_alias(alias.name, alias.of);
    }
    record.metadata() = header.metadata;
    return record;
  }
};

}  // namespace

const Record::Entry* Record::find(std::string_view name) const {
  const std::size_t place = index_.empty() ? 0 : index_[slot_of(name)];
  return place == 0 ? nullptr : &entries_[place - 1];
}

std::size_t Record::slot_of(std::string_view name) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(name) & mask;
  while (index_[slot] != 0 && entries_[index_[slot] - 1].name != name) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Record::grow_index() {
  index_.assign(index_.empty() ? 16 : 2 * index_.size(), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    index_[slot_of(entries_[i].name)] = i + 1;
  }
}

void Record::add(std::string name, HostData data) {
  add(std::move(name), std::make_shared<const HostData>(std::move(data)));
}

void Record::add(std::string name, Storage data) {
  if (!data) {
    throw ArgumentError(fmt::format("Record::add: `{}` has no data", clip(name)));
  }
  if (2 * entries_.size() >= index_.size()) {
    grow_index();
  }
  const std::size_t slot = slot_of(name);
  if (name == "__metadata__" || index_[slot] != 0) {
    throw ArgumentError(fmt::format("Record::add: the name `{}` is {}; choose another", clip(name),
                                    name == "__metadata__" ? "reserved" : "taken"));
  }
  entries_.push_back({std::move(name), std::move(data)});
  index_[slot] = entries_.size();
}

void Record::add_alias(std::string name, std::string_view of) { add(std::move(name), share(of)); }

void Record::add_all(std::string_view prefix, const Record& other) {
  for (const Entry& entry : other.entries_) {
    add(std::string(prefix) + entry.name, entry.data);
  }
}

const Record::Storage& Record::share(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) {
    unknown_name("Record", name, entries_);
  }
  return entry->data;
}

Record Record::part(std::string_view prefix) const {
  Record out;
  for (const Entry& entry : entries_) {
    if (entry.name.starts_with(prefix)) {
      out.add(entry.name.substr(prefix.size()), entry.data);
    }
  }
  return out;
}

SafetensorsLayout Record::layout() const {
  if (metadata_.contains(alias_key)) {
    throw ArgumentError(
        fmt::format("Record::save: the metadata key `{}` is reserved for tied tensors", alias_key));
  }
  std::vector<TensorView> tensors;
  std::unordered_map<const HostData*, std::string_view> stored;
  std::string aliases;
  for (const Entry& entry : entries_) {
    const auto [first, is_new] = stored.emplace(entry.data.get(), entry.name);
    if (is_new) {
      const HostData& data = *entry.data;
      tensors.push_back({entry.name, data.dtype(), data.shape(), data.bytes()});
    } else {
      aliases += aliases.empty() ? '{' : ',';
      const bool named = detail::append_json(aliases, entry.name);
      aliases += ':';
      if (!named || !detail::append_json(aliases, first->second)) {
        throw ArgumentError(
            "Record::save: the name of a tied tensor is not valid UTF-8; rename it");
      }
    }
  }
  if (aliases.empty()) {
    return layout_safetensors(tensors, metadata_);
  }
  Metadata metadata = metadata_;
  metadata[alias_key] = aliases + '}';
  return layout_safetensors(tensors, metadata);
}

void Record::save(const std::string& path) const { write_layout(path, layout()); }

std::vector<std::byte> Record::to_bytes() const {
  const SafetensorsLayout file = layout();
  const auto head = std::as_bytes(std::span(file.head));
  std::vector<std::byte> out(head.begin(), head.end());
  for (const auto piece : file.pieces) {
    out.insert(out.end(), piece.begin(), piece.end());
  }
  return out;
}

Record Record::load(const std::string& path) { return RecordFile(path).load(); }

Record Record::from_bytes(std::span<const std::byte> file, std::string_view origin) {
  return Contents(file, origin).load(file, origin);
}

struct RecordFile::State {
  std::string path;
  os::MappedFile file;
  Contents contents;

  explicit State(const std::string& name) : path(name), file(name), contents(file.bytes(), path) {}

  const TensorInfo& info(std::string_view name) const {
    const auto found = contents.index.find(std::string(name));
    if (found == contents.index.end()) {
      unknown_name(path, name, contents.header.tensors);
    }
    return contents.header.tensors[found->second];
  }
};

RecordFile::RecordFile(const std::string& path) : state_(std::make_unique<State>(path)) {}
RecordFile::~RecordFile() = default;
RecordFile::RecordFile(RecordFile&&) noexcept = default;
RecordFile& RecordFile::operator=(RecordFile&&) noexcept = default;

const std::string& RecordFile::path() const { return state_->path; }
std::uint64_t RecordFile::file_bytes() const { return state_->file.bytes().size(); }
std::span<const TensorInfo> RecordFile::tensors() const { return state_->contents.header.tensors; }
std::span<const Alias> RecordFile::aliases() const { return state_->contents.aliases; }
const Metadata& RecordFile::metadata() const { return state_->contents.header.metadata; }

bool RecordFile::contains(std::string_view name) const {
  return state_->contents.index.contains(std::string(name));
}

HostData RecordFile::read(std::string_view name) const {
  return read_tensor(state_->file.bytes(), state_->contents.header.data_start, state_->info(name),
                     state_->path);
}

std::span<const std::byte> RecordFile::bytes(std::string_view name) const {
  const TensorInfo& tensor = state_->info(name);
  return state_->file.bytes().subspan(state_->contents.header.data_start + tensor.offset,
                                      tensor.bytes);
}

Record RecordFile::load() const {
  return state_->contents.load(state_->file.bytes(), state_->path);
}

RecordSummary summary(const std::string& path) {
  const RecordFile file(path);
  RecordSummary out;
  out.file_bytes = file.file_bytes();
  out.tensors.assign(file.tensors().begin(), file.tensors().end());
  out.aliases.assign(file.aliases().begin(), file.aliases().end());
  out.metadata = file.metadata();
  for (const TensorInfo& tensor : out.tensors) {
    out.elements += static_cast<std::uint64_t>(num_elements(tensor.shape));
  }
  return out;
}

}  // namespace sinter::store
