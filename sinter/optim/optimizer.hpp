// SPDX-License-Identifier: MIT OR Apache-2.0
// Optimizers: SGD, Adam and AdamW, with parameter groups, clipping and state that can be saved.
#pragma once

#include <string>
#include <vector>

#include "sinter/nn/module.hpp"
#include "sinter/optim/clip.hpp"

namespace sinter::store {
class Record;
}

namespace sinter::optim {

/// Chooses parameters: any function of a `const nn::NamedParam&` that gives bool.
class ParamPredicate {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, ParamPredicate> &&
             std::is_invocable_r_v<bool, const F&, const nn::NamedParam&>)
  ParamPredicate(F function) : function_(make_ref<Function<F>>(std::move(function))) {}
  bool operator()(const nn::NamedParam& param) const { return function_->call(param); }

 private:
  struct Erased : RefCounted {
    virtual bool call(const nn::NamedParam& param) const = 0;
  };
  template <class F>
  struct Function final : Erased {
    explicit Function(F f) : function(std::move(f)) {}
    bool call(const nn::NamedParam& param) const override { return function(param); }
    F function;
  };
  Ref<Erased> function_;
};
/// Those whose path contains `part`.
[[nodiscard]] ParamPredicate name_contains(std::string part);
/// Those of this rank or less: biases and the weights of norms have rank 1.
[[nodiscard]] ParamPredicate rank_at_most(int rank);
[[nodiscard]] ParamPredicate any_of(ParamPredicate a, ParamPredicate b);
[[nodiscard]] ParamPredicate not_of(ParamPredicate a);

/// What is different for a group of parameters.
struct GroupOptions {
  double lr_scale = 1;  ///< times the step's learning rate; 0 holds the parameters
  std::optional<double> weight_decay = std::nullopt;
};

/// What all optimizers share. State belongs to a parameter's id, so it survives new devices, copies
/// and reloads of a module, and it is kept in f32 at least: f16 and bf16 parameters stay what they
/// are.
class Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  /// Updates the module's parameters from the gradients of its loss. Parameters without a gradient,
  /// frozen ones and buffers stay as they are, with their state. Tensors that nobody else holds are
  /// updated in place: let the loss and its graph go before the step.
  template <class M>
  void step(double lr, M& module, const Gradients& gradients) {
    step(lr, nn::parameters(module), gradients);
  }
  /// The same from gradients by path: accumulated, or summed over threads.
  template <class M>
  void step(double lr, M& module, const nn::ModuleGradients& gradients) {
    step(lr, nn::parameters(module), gradients);
  }
  void step(double lr, const std::vector<nn::NamedParam>& params, const Gradients& gradients);
  void step(double lr, const std::vector<nn::NamedParam>& params,
            const nn::ModuleGradients& gradients);

  /// The parameters that `match` accepts get these options; the last group that matches counts.
  void add_group(ParamPredicate match, const GroupOptions& options);

  /// Steps and moments by parameter path: `fc1.weight.first`. Include "sinter/store/record.hpp".
  template <class M, class Record = store::Record>
  [[nodiscard]] Record state(const M& module) const {
    return state_of<Record>(nn::parameters(module));
  }
  /// Replaces the state of the module's parameters. FormatError, with nothing changed, for an entry
  /// of wrong shape or of another optimizer; a parameter without entries starts anew.
  template <class M>
  void load_state(const M& module, const store::Record& record) {
    load_state_of(nn::parameters(module), record);
  }
  template <class Record = store::Record>
  [[nodiscard]] Record state_of(const std::vector<nn::NamedParam>& params) const;
  void load_state_of(const std::vector<nn::NamedParam>& params, const store::Record& record);

 protected:
  /// A run of parameters with equal settings and one dtype.
  struct Batch;
  struct State;
  Optimizer(std::vector<std::string> slots, double weight_decay, const GradientClipping& clipping);
  virtual void update(Batch& batch) const = 0;

 private:
  void step_all(double lr, const std::vector<nn::NamedParam>& params, std::vector<Value> gradients);
  GroupOptions options_of(const nn::NamedParam& param) const;

  State& state() const;

  Ref<RefCounted> state_;  // a State
};

struct SgdConfig {
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;  ///< ArgumentError unless momentum > 0 and dampening = 0
  double weight_decay = 0;
  GradientClipping clipping = {};
};

/// p -= lr * g, with momentum as PyTorch has it: buf = momentum * buf + (1 - dampening) * g.
class Sgd : public Optimizer {
 public:
  explicit Sgd(const SgdConfig& config = {});
  const SgdConfig& config() const { return config_; }

 private:
  void update(Batch& batch) const override;
  SgdConfig config_;
};

struct AdamConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient
  bool amsgrad = false;
  GradientClipping clipping = {};
};

/// Adam with both bias corrections (Kingma and Ba 2015).
class Adam : public Optimizer {
 public:
  explicit Adam(const AdamConfig& config = {});
  const AdamConfig& config() const { return config_; }

 protected:
  Adam(const AdamConfig& config, bool decoupled);

 private:
  void update(Batch& batch) const override;
  AdamConfig config_;
  bool decoupled_ = false;
};

struct AdamWConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  ///< times lr, taken from the weights
  bool amsgrad = false;
  GradientClipping clipping = {};
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
class AdamW : public Adam {
 public:
  explicit AdamW(const AdamWConfig& config = {});
};

}  // namespace sinter::optim
