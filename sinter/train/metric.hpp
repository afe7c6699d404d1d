// SPDX-License-Identifier: MIT OR Apache-2.0
// Metrics: numbers that tell how well a model does, of one batch and of all samples of an epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinter/decorators/autodiff/autodiff.hpp"
#include "sinter/tensor/tensor.hpp"
#include "sinter/types/host_data.hpp"

namespace sinter::train {

/// What a step function gives for one batch.
struct StepOutput {
  DynTensor loss = {};  ///< one element: the mean over the items
  DynTensor output =
      {};  ///< what metrics compare with the targets: logits [items, classes]; may be empty
  DynTensor targets = {};  ///< integers [items]; may be empty
  std::int64_t items = 0;
};

/// One batch as metrics see it. Its numbers are read from the device when first asked for.
class Observation {
 public:
  explicit Observation(StepOutput step) : step_(std::move(step)) {}

  std::int64_t items() const { return step_.items; }
  double loss() const;
  /// Throw ArgumentError when the step function gave none.
  const HostData& output() const;
  const HostData& targets() const;

 private:
  // What was read from the device, once it was.
  struct Cache {
    bool loss = false;
    bool output = false;
    bool targets = false;
  };
  StepOutput step_;
  mutable Cache read_;
  mutable double loss_ = 0;
  mutable HostData output_;
  mutable HostData targets_;
};

/// How a metric is named, written and compared.
struct MetricInfo {
  std::string name = {};  ///< lower case, unique in a learner: "loss", "accuracy"
  std::string unit = {};  ///< "%", or empty
  int decimals = 4;
  bool higher_is_better = false;

  /// A value as text: "91.20 %".
  std::string str(double value) const;
};

/// Numbers that add up over an epoch. The value of an epoch is over all its samples, never a mean
/// of batch values. A metric is used by one thread at a time.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual MetricInfo info() const = 0;
  /// An empty one of the same settings.
  virtual std::unique_ptr<Metric> fresh() const = 0;
  /// Takes in a batch and returns its own value; NaN for one without samples.
  virtual double update(const Observation& batch) = 0;
  /// Over everything since the start; NaN before the first sample.
  virtual double value() const = 0;
  /// All it has added up; `restore` of a fresh metric continues there.
  virtual std::vector<double> state() const = 0;
  virtual void restore(std::span<const double> state) = 0;
};

/// A metric that is a sum over samples divided by their number.
class MeanMetric : public Metric {
 public:
  double update(const Observation& batch) final;
  double value() const final;
  std::vector<double> state() const final;
  void restore(std::span<const double> state) final;

 protected:
  struct Part {
    double sum = 0;
    double count = 0;
  };
  /// The sum and number of one batch's samples.
  virtual Part measure(const Observation& batch) const = 0;

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// The loss, weighted by the items of each batch.
class LossMetric final : public MeanMetric {
 public:
  MetricInfo info() const override { return {.name = "loss"}; }
  std::unique_ptr<Metric> fresh() const override;

 private:
  Part measure(const Observation& batch) const override;
};

/// Percentage of targets among the `k` largest outputs; the classes are the last dim of the output.
/// Of equal outputs the first counts as larger; NaN counts as larger than all, and a target whose
/// own output is NaN as missed. Targets equal to `ignore` don't count.
class TopKAccuracy final : public MeanMetric {
 public:
  struct Config {
    std::int64_t k = 1;
    std::int64_t ignore = -100;
  };
  TopKAccuracy() : TopKAccuracy(Config{}) {}
  /// Throws ArgumentError unless k >= 1.
  explicit TopKAccuracy(Config config);
  MetricInfo info() const override;
  std::unique_ptr<Metric> fresh() const override;

 private:
  Part measure(const Observation& batch) const override;
  Config config_;
};

/// Percentage of targets with the largest output.
using Accuracy = TopKAccuracy;

/// The metrics of one split, in the order they were added.
class MetricSet {
 public:
  MetricSet();
  MetricSet(MetricSet&&) noexcept;
  MetricSet& operator=(MetricSet&&) noexcept;
  ~MetricSet();
  /// Throws ArgumentError when there is one of this name.
  void add(std::unique_ptr<Metric> metric);
  /// Fresh metrics of the same kinds.
  MetricSet fresh() const;

  std::span<const MetricInfo> infos() const { return {infos_.data(), infos_.size()}; }
  /// Position of a name, or -1.
  int find(std::string_view name) const;
  /// Takes in a batch; returns its values.
  std::vector<double> update(const Observation& batch);
  std::vector<double> values() const;
  std::vector<double> state() const;
  void restore(std::span<const double> state);

 private:
  std::vector<std::unique_ptr<Metric>> metrics_;
  std::vector<MetricInfo> infos_;
};

}  // namespace sinter::train
