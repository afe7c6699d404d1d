// SPDX-License-Identifier: MIT OR Apache-2.0
// Records of modules.
#include "sinter/nn/record.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "sinter/base/error.hpp"
#include "sinter/store/record.hpp"

namespace sinter::nn {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// Sorts names into the report; changes nothing.
LoadReport compare(const std::vector<NamedParam>& entries, const store::Record& record) {
  LoadReport report;
  std::unordered_map<std::uint64_t, bool> found;  // by id: a tied tensor needs one of its names
  for (const NamedParam& named : entries) {
    found[named.param.id()] |= record.contains(named.name);
  }
  std::unordered_set<std::string> wanted;
  for (const NamedParam& named : entries) {
    wanted.insert(named.name);
    if (!record.contains(named.name)) {
      if (!found[named.param.id()]) {
        report.missing.push_back(named.name);
      }
      continue;
    }
    const Shape expected = named.param.record_shape();
    const Shape& got = record.at(named.name).shape();
    if (got == expected) {
      report.loaded.push_back(named.name);
    } else {
      report.wrong_shape.push_back(fmt::format("{}: the module has {}, the record {}", named.name,
                                               expected.str(), got.str()));
    }
  }
  for (const store::Record::Entry& entry : record.entries()) {
    if (!wanted.contains(entry.name)) {
      report.unused.push_back(entry.name);
    }
  }
  return report;
}

}  // namespace

std::string LoadReport::str() const {
  std::string text = fmt::format("{} loaded", loaded.size());
  const auto part = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) {
      text += fmt::format("; {}: {}", what, joined(names));
    }
  };
  part("missing", missing);
  part("wrong shape", wrong_shape);
  part("unused", unused);
  return text;
}

template <class Record>
Record detail::record_of(const std::vector<NamedParam>& entries) {
  Record record;
  std::unordered_map<std::uint64_t, store::Record::Storage> saved;
  for (const NamedParam& named : entries) {
    store::Record::Storage& storage = saved[named.param.id()];
    if (!storage) {
      const Value value = named.param.turned_for_records(autodiff::detach(named.param.value()));
      storage = std::make_shared<const HostData>(value.backend().read(value));
    }
    record.add(named.name, storage);
  }
  return record;
}

template store::Record detail::record_of(const std::vector<NamedParam>& entries);

LoadReport check_entries(const std::vector<NamedParam>& entries, const store::Record& record,
                         const LoadOptions& options) {
  LoadReport report = compare(entries, record);
  if (options.strict && !report.complete()) {
    throw FormatError(fmt::format(
        "the record doesn't fit the module ({}); load with .strict = false to take what fits",
        report.str()));
  }
  return report;
}

LoadReport load_entries(const std::vector<NamedParam>& entries, const store::Record& record,
                        const LoadOptions& options) {
  LoadReport report = check_entries(entries, record, options);
  const std::unordered_set<std::string> fitting(report.loaded.begin(), report.loaded.end());
  std::vector<std::pair<ParamBase, Value>> values;
  for (const NamedParam& named : entries) {
    if (!fitting.contains(named.name)) {
      continue;
    }
    const ParamBase& param = named.param;
    const HostData& data = record.at(named.name);
    const Value value =
        param.device().backend().from_data(options.keep_dtype ? data.cast(param.dtype()) : data);
    values.emplace_back(param, param.turned_for_records(value));
  }
  for (auto& [param, value] : values) {
    param.set(std::move(value));
  }
  return report;
}

LoadReport load_entries(const std::vector<NamedParam>& entries, const std::string& path,
                        const LoadOptions& options) {
  return load_entries(entries, store::Record::load(path), options);
}

void save_entries(const std::vector<NamedParam>& entries, const std::string& path) {
  detail::record_of<store::Record>(entries).save(path);
}

}  // namespace sinter::nn
