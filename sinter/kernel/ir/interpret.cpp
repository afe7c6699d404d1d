// SPDX-License-Identifier: MIT OR Apache-2.0
// The interpreter: a value is held for all units at once, and a mask says which of them take part.
#include "sinter/kernel/ir/interpret.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sinter/base/error.hpp"
#include "sinter/base/half.hpp"
#include "sinter/kernel/ir/evaluate.hpp"

namespace sinter::ir {

namespace {

using Bits = std::uint64_t;
using Mask = std::vector<char>;

bool any(const Mask& mask) { return std::find(mask.begin(), mask.end(), 1) != mask.end(); }

/// An element in memory, as the bits of a constant.
Bits read_element(DType dtype, const std::byte* at) {
  Bits raw = 0;
  std::memcpy(&raw, at, size_of(dtype));
  switch (dtype) {
    case DType::f16:
      return constant_bits(dtype, double{std::bit_cast<f16>(std::uint16_t(raw))});
    case DType::bf16:
      return constant_bits(dtype, double{std::bit_cast<bf16>(std::uint16_t(raw))});
    case DType::f64:
    case DType::f32:
      return raw;
    default:
      return constant_bits(dtype, static_cast<std::int64_t>(raw));
  }
}
void write_element(DType dtype, std::byte* at, Bits bits) {
  if (dtype == DType::f16) {
    bits = std::bit_cast<std::uint16_t>(f16(constant_value(dtype, bits)));
  } else if (dtype == DType::bf16) {
    bits = std::bit_cast<std::uint16_t>(bf16(constant_value(dtype, bits)));
  }
  std::memcpy(at, &bits, size_of(dtype));
}

/// Who touched an element of shared memory since the last barrier.
struct Touch {
  static constexpr std::int64_t nobody = -1;
  static constexpr std::int64_t several = -2;
  std::int64_t writer = nobody;
  std::int64_t reader = nobody;
  std::uint64_t epoch = 0;
};

struct Store {
  std::byte* data = nullptr;
  std::uint64_t length = 0;
  std::vector<std::byte> own;  ///< of shared and local memories
  std::vector<char> written;   ///< of those: which elements hold something
  std::vector<Touch> touches;  ///< of shared memories
};

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, const Launch& launch)
      : kernel_(kernel),
        launch_(launch),
        units_(kernel.units()),
        values_(kernel.insts.size()),
        stores_(kernel.memories.size()) {
    bind();
  }

  void run() {
    for (cube_[2] = 0; cube_[2] < launch_.cubes[2]; ++cube_[2]) {
      for (cube_[1] = 0; cube_[1] < launch_.cubes[1]; ++cube_[1]) {
        for (cube_[0] = 0; cube_[0] < launch_.cubes[0]; ++cube_[0]) {
          reset();
          Mask all(units_, 1);
          block(0, all);
        }
      }
    }
  }

 private:
  // ---- arguments and memories ----

  void bind() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      if (kernel_.memories[i].space != Space::buffer) {
        continue;
      }
      if (next == launch_.buffers.size()) {
        throw ArgumentError(fmt::format("kernel {}: expected a buffer for {}, got only {} buffers",
                                        kernel_.name, kernel_.memories[i].name, next));
      }
      stores_[i].data = launch_.buffers[next].data;
      stores_[i].length = launch_.buffers[next++].length;
    }
    if (next != launch_.buffers.size() || launch_.scalars.size() != kernel_.scalars.size()) {
      throw ArgumentError(fmt::format(
          "kernel {}: expected {} buffers and {} scalars, got {} and {}", kernel_.name, next,
          kernel_.scalars.size(), launch_.buffers.size(), launch_.scalars.size()));
    }
  }

  void reset() {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      const Memory& memory = kernel_.memories[i];
      if (memory.space == Space::buffer) {
        continue;
      }
      Store& store = stores_[i];
      store.length = memory.size;
      const std::size_t count = memory.size * (memory.space == Space::local ? units_ : 1);
      store.own.assign(count * size_of(memory.dtype), std::byte{});
      store.written.assign(count, 0);
      store.touches.assign(memory.space == Space::shared ? count : 0, Touch{});
    }
    epoch_ = 0;
  }

  [[nodiscard]] std::string who(const Inst& inst, std::uint32_t unit) const {
    const auto [x, y, z] = kernel_.cube;
    std::string text = fmt::format("kernel {}: {} by unit ({}, {}, {}) of cube ({}, {}, {})",
                                   kernel_.name, traits_of(inst.op).name, unit % x, unit / x % y,
                                   unit / (x * y), cube_[0], cube_[1], cube_[2]);
    if (inst.loc.line != 0) {
      text += fmt::format(", recorded at {}:{}", inst.loc.file, inst.loc.line);
    }
    return text;
  }

  std::byte* element(const Inst& inst, std::uint32_t unit, Bits index, bool is_read,
                     bool is_write) {
    const Memory& memory = kernel_.memories[inst.payload];
    Store& store = stores_[inst.payload];
    if (index >= store.length) {
      throw IndexError(fmt::format("{}: expected an index into {} below {}, got {}",
                                   who(inst, unit), memory.name, store.length, index));
    }
    if (memory.space == Space::buffer) {
      return store.data + index * size_of(memory.dtype);
    }
    const std::size_t place = index + (memory.space == Space::local ? unit * memory.size : 0);
    if (is_read && !store.written[place]) {
      throw ArgumentError(fmt::format("{}: {}[{}] is read before anything is written to it",
                                      who(inst, unit), memory.name, index));
    }
    store.written[place] |= is_write ? 1 : 0;
    // Atomics may meet.
    if (memory.space == Space::shared && is_read != is_write) {
      touch(inst, unit, index, store.touches[place], is_write);
    }
    return store.own.data() + place * size_of(memory.dtype);
  }

  void touch(const Inst& inst, std::uint32_t unit, Bits index, Touch& last, bool is_write) {
    const std::int64_t me = unit;
    if (last.epoch != epoch_) {
      last = Touch{.epoch = epoch_};
    }
    const bool other_wrote = last.writer != Touch::nobody && last.writer != me;
    const bool other_read = last.reader != Touch::nobody && last.reader != me;
    if (other_wrote || (is_write && other_read)) {
      throw ArgumentError(fmt::format(
          "{}: another unit {} {}[{}] since the last barrier; put one between", who(inst, unit),
          other_wrote ? "wrote" : "read", kernel_.memories[inst.payload].name, index));
    }
    if (is_write) {
      last.writer = me;
    } else {
      last.reader = last.reader == Touch::nobody || last.reader == me ? me : Touch::several;
    }
  }

  // ---- statements ----

  void block(std::uint32_t index, Mask& mask) {
    for (const Id id : kernel_.blocks[index]) {
      if (!any(mask)) {
        return;
      }
      statement(id, mask);
    }
  }

  void statement(Id id, Mask& mask) {
    const Inst& inst = kernel_.at(id);
    switch (inst.op) {
      case Op::if_:
        return branch(inst, mask);
      case Op::for_:
        return count(id, mask);
      case Op::loop: {
        Mask inside = mask;
        while (any(inside)) {
          block(inst.blocks[0], inside);
        }
        return;
      }
      case Op::break_if:
        for (std::uint32_t u = 0; u < units_; ++u) {
          mask[u] = mask[u] && value(inst.args[0], u) == 0;
        }
        return;
      case Op::barrier:
        ++epoch_;
        return;
      default:
        break;
    }
    values_[id].resize(std::size_t{units_} * std::max<std::size_t>(inst.type.lanes, 1));
    if (traits_of(inst.op).is(together)) {
      return plane(id, mask);
    }
    for (std::uint32_t u = 0; u < units_; ++u) {
      if (mask[u]) {
        unit(id, u);
      }
    }
  }

  void branch(const Inst& inst, Mask& mask) {
    Mask then = mask;
    Mask other = mask;
    for (std::uint32_t u = 0; u < units_; ++u) {
      (mask[u] && value(inst.args[0], u) != 0 ? other : then)[u] = 0;
    }
    block(inst.blocks[0], then);
    block(inst.blocks[1], other);
    for (std::uint32_t u = 0; u < units_; ++u) {
      mask[u] = then[u] | other[u];
    }
  }

  void count(Id id, const Mask& mask) {
    const Inst& inst = kernel_.at(id);
    const DType dtype = inst.type.dtype;
    Mask inside = mask;
    values_[id].resize(units_);
    for (std::uint32_t u = 0; u < units_; ++u) {
      if (mask[u]) {
        values_[id][u] = value(inst.args[0], u);
      }
    }
    while (true) {
      for (std::uint32_t u = 0; u < units_; ++u) {
        inside[u] = inside[u] && *evaluate(Op::lt, dtype, DType::boolean,
                                           {values_[id][u], value(inst.args[1], u)});
      }
      if (!any(inside)) {
        return;
      }
      block(inst.blocks[0], inside);
      for (std::uint32_t u = 0; u < units_; ++u) {
        if (inside[u]) {
          values_[id][u] =
              *evaluate(Op::add, dtype, dtype, {values_[id][u], value(inst.args[2], u)});
        }
      }
    }
  }

  // ---- values ----

  [[nodiscard]] Bits value(Id id, std::uint32_t unit, std::uint32_t lane = 0) const {
    return values_[id][unit * kernel_.at(id).type.lanes + lane];
  }

  void unit(Id id, std::uint32_t u) {
    const Inst& inst = kernel_.at(id);
    for (std::uint32_t lane = 0; lane < std::max<std::uint32_t>(inst.type.lanes, 1); ++lane) {
      const Bits result =
          traits_of(inst.op).is(memory) ? access(inst, u, lane) : pure_lane(inst, u, lane);
      values_[id][u * std::max<std::size_t>(inst.type.lanes, 1) + lane] = result;
    }
  }

  Bits access(const Inst& inst, std::uint32_t u, std::uint32_t lane) {
    const DType dtype = kernel_.memories[inst.payload].dtype;
    const Bits index = value(inst.args[0], u);
    if (inst.op == Op::load) {
      return read_element(dtype, element(inst, u, index + lane, true, false));
    }
    if (inst.op == Op::store) {
      for (std::uint32_t i = 0; i < kernel_.at(inst.args[1]).type.lanes; ++i) {
        write_element(dtype, element(inst, u, index + i, false, true), value(inst.args[1], u, i));
      }
      return 0;
    }
    std::byte* const at = element(inst, u, index, true, true);
    const Bits old = read_element(dtype, at);
    write_element(dtype, at, atomic(inst, dtype, old, u));
    return old;
  }

  Bits atomic(const Inst& inst, DType dtype, Bits old, std::uint32_t u) {
    const Bits operand = value(inst.args[1], u);
    switch (inst.op) {
      case Op::atomic_add:
        return *evaluate(Op::add, dtype, dtype, {old, operand});
      case Op::atomic_min:
        return *evaluate(Op::min, dtype, dtype, {old, operand});
      case Op::atomic_max:
        return *evaluate(Op::max, dtype, dtype, {old, operand});
      case Op::atomic_exchange:
        return operand;
      default:
        return old == operand ? value(inst.args[2], u) : old;
    }
  }

  Bits pure_lane(const Inst& inst, std::uint32_t u, std::uint32_t lane) const {
    const auto [x, y, z] = kernel_.cube;
    switch (inst.op) {
      case Op::constant:
        return inst.payload;
      case Op::scalar:
        return launch_.scalars[inst.payload];
      case Op::length:
        return stores_[inst.payload].length;
      case Op::unit_pos:
        return inst.payload == 0 ? u % x : inst.payload == 1 ? u / x % y : u / (x * y);
      case Op::cube_pos:
        return cube_[inst.payload];
      case Op::cube_count:
        return launch_.cubes[inst.payload];
      case Op::plane_dim:
        return launch_.plane;
      case Op::plane_pos:
        return u % launch_.plane;
      case Op::extract:
        return value(inst.args[0], u, static_cast<std::uint32_t>(inst.payload));
      case Op::insert:
        return lane == inst.payload ? value(inst.args[1], u) : value(inst.args[0], u, lane);
      case Op::bitcast:
        return bitcast(inst, value(inst.args[0], u, lane));
      default:
        break;
    }
    std::array<Bits, 3> args{};
    for (std::size_t i = 0; i < traits_of(inst.op).arguments; ++i) {
      const Id arg = inst.args[i];
      args[i] = value(arg, u, kernel_.at(arg).type.lanes == 1 ? 0 : lane);
    }
    const DType from = kernel_.at(inst.args[inst.op == Op::select ? 1 : 0]).type.dtype;
    const auto result = evaluate(inst.op, from, inst.type.dtype, args);
    SINTER_ASSERT(result.has_value());
    return *result;
  }

  [[nodiscard]] Bits bitcast(const Inst& inst, Bits bits) const {
    std::array<std::byte, 8> raw{};
    write_element(kernel_.at(inst.args[0]).type.dtype, raw.data(), bits);
    return read_element(inst.type.dtype, raw.data());
  }

  // ---- planes ----

  void plane(Id id, const Mask& mask) {
    for (std::uint32_t first = 0; first < units_; first += launch_.plane) {
      const std::uint32_t last = std::min(first + launch_.plane, units_);
      for (std::uint32_t u = first; u < last; ++u) {
        for (std::uint32_t lane = 0; mask[u] && lane < kernel_.at(id).type.lanes; ++lane) {
          values_[id][u * kernel_.at(id).type.lanes + lane] =
              gather(id, mask, first, last, u, lane);
        }
      }
    }
  }

  Bits gather(Id id, const Mask& mask, std::uint32_t first, std::uint32_t last, std::uint32_t u,
              std::uint32_t lane) const {
    const Inst& inst = kernel_.at(id);
    if (inst.op == Op::plane_shuffle || inst.op == Op::plane_broadcast) {
      const Bits from = first + value(inst.args[1], u);
      if (from >= last || !mask[from]) {
        throw ArgumentError(
            fmt::format("{}: expected the place of an active unit of the plane, got {}",
                        who(inst, u), from - first));
      }
      return value(inst.args[0], static_cast<std::uint32_t>(from), lane);
    }
    const Op step = inst.op == Op::plane_sum   ? Op::add
                    : inst.op == Op::plane_min ? Op::min
                    : inst.op == Op::plane_max ? Op::max
                    : inst.op == Op::plane_any ? Op::bit_or
                                               : Op::bit_and;
    Bits sum = value(inst.args[0], u, lane);
    bool started = false;
    for (std::uint32_t v = first; v < last; ++v) {
      if (mask[v]) {
        const Bits next = value(inst.args[0], v, lane);
        sum = started ? *evaluate(step, inst.type.dtype, inst.type.dtype, {sum, next}) : next;
        started = true;
      }
    }
    return sum;
  }

  const Kernel& kernel_;
  const Launch& launch_;
  std::uint32_t units_;
  std::vector<std::vector<Bits>> values_;
  std::vector<Store> stores_;
  std::array<std::uint32_t, 3> cube_{};
  std::uint64_t epoch_ = 0;
};

}  // namespace

void interpret(const Kernel& kernel, const Launch& launch) { Interpreter(kernel, launch).run(); }

}  // namespace sinter::ir
