// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules to and from records: named tensors, in memory or as safetensors files.
#pragma once

#include <string>
#include <vector>

#include "sinter/nn/module.hpp"

namespace sinter::store {
class Record;
}

namespace sinter::nn {

/// What became of a record's entries and a module's tensors, by name.
struct LoadReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;      ///< of the module, not in the record
  std::vector<std::string> unused;       ///< of the record, not in the module
  std::vector<std::string> wrong_shape;  ///< "name: the module has [2, 3], the record [3, 2]"

  /// Everything of the module was loaded.
  bool complete() const { return missing.empty() && wrong_shape.empty(); }
  std::string str() const;
};

struct LoadOptions {
  /// Throws FormatError, with nothing loaded, unless the report is complete.
  bool strict = true;
  /// Keep the module's dtypes; otherwise the record's are taken over.
  bool keep_dtype = true;
};

namespace detail {
// Templates of the record's type, so that only those who use one need its header.
template <class Record>
Record record_of(const std::vector<NamedParam>& entries);
}  // namespace detail

/// What loading would do; changes nothing. Throws what loading throws for a record that doesn't
/// fit.
LoadReport check_entries(const std::vector<NamedParam>& entries, const store::Record& record,
                         const LoadOptions& options = {});
/// All that fits, or nothing when something throws.
LoadReport load_entries(const std::vector<NamedParam>& entries, const store::Record& record,
                        const LoadOptions& options = {});
LoadReport load_entries(const std::vector<NamedParam>& entries, const std::string& path,
                        const LoadOptions& options);
void save_entries(const std::vector<NamedParam>& entries, const std::string& path);

/// Parameters and buffers as a record (include "sinter/store/record.hpp"), tied ones once. Views
/// are saved as their own elements, dense; parameters that were not used yet are drawn.
template <class M, class Record = store::Record>
[[nodiscard]] Record state(const M& module) {
  return detail::record_of<Record>(state_entries(module));
}
/// What `load_state` would do, without doing it; throws what it would throw for a record that
/// doesn't fit.
template <class M>
LoadReport check_state(const M& module, const store::Record& record,
                       const LoadOptions& options = {}) {
  return check_entries(state_entries(module), record, options);
}
/// Sets parameters and buffers from a record; all copies of the module see them, and optimizers'
/// state stays theirs. Tied parameters stay tied.
template <class M>
LoadReport load_state(M& module, const store::Record& record, const LoadOptions& options = {}) {
  return load_entries(state_entries(module), record, options);
}

/// Writes a safetensors file, whole or not at all.
template <class M>
void save(const M& module, const std::string& path) {
  save_entries(state_entries(module), path);
}
template <class M>
LoadReport load(M& module, const std::string& path, const LoadOptions& options = {}) {
  return load_entries(state_entries(module), path, options);
}

}  // namespace sinter::nn
