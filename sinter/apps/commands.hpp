// SPDX-License-Identifier: MIT OR Apache-2.0
// What the `sinter` command can do; each function returns the process's exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sinter::apps {

/// `sinter train fashion-mnist`.
struct TrainOptions {
  std::string device;  ///< empty: the fastest present
  int epochs = 3;
  std::int64_t batch_size = 128;
  double learning_rate = 2e-3;  ///< at its highest
  std::uint64_t seed = 0;
  int threads = 0;          ///< 0: all processors
  int workers = 1;          ///< threads that prepare batches
  std::string data;         ///< folder of the four files; empty: where the package puts them
  std::string checkpoints;  ///< empty: a new folder below checkpoints/
  std::optional<std::string> resume;  ///< a folder or file; empty text: the latest run's folder
  int keep = 2;
  std::int64_t checkpoint_every = 0;
  std::int64_t limit = 0;  ///< training images that are used; 0: all
  int patience = 0;        ///< epochs without improvement before an early stop; 0: never
  std::string log;         ///< file of JSON lines; empty: none
};
int train_fashion_mnist(const TrainOptions& options);

/// `sinter devices`.
int list_devices();

/// `sinter ops`.
int list_ops(bool markdown);

/// `sinter inspect FILE`.
int inspect_record(const std::string& path);

}  // namespace sinter::apps
