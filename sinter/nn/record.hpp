// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules to and from records: named tensors, in memory or as safetensors files.
#pragma once

#include <string>
#include <vector>

#include "sinter/nn/module.hpp"
#include "sinter/store/record.hpp"

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

/// The tensors under their names, tied ones once. Draws parameters that were not used yet.
[[nodiscard]] store::Record state(const std::vector<NamedParam>& entries);
LoadReport load_entries(const std::vector<NamedParam>& entries, const store::Record& record,
                        const LoadOptions& options = {});

/// Parameters and buffers as a record. Views are saved as their own elements, dense.
template <class M>
[[nodiscard]] store::Record state(const M& module) {
  return state(state_entries(module));
}
/// Sets parameters and buffers from a record; all copies of the module see them, and optimizers' state
/// stays theirs. Tied parameters stay tied.
template <class M>
LoadReport load_state(M& module, const store::Record& record, const LoadOptions& options = {}) {
  return load_entries(state_entries(module), record, options);
}

/// Writes a safetensors file, whole or not at all.
template <class M>
void save(const M& module, const std::string& path) {
  state(module).save(path);
}
template <class M>
LoadReport load(M& module, const std::string& path, const LoadOptions& options = {}) {
  return load_state(module, store::Record::load(path), options);
}

}  // namespace sinter::nn
