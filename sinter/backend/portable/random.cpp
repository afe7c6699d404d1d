// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers, block by block: the words first, then what is made of them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "sinter/backend/host/random.hpp"
#include "sinter/backend/portable/blocks.hpp"
#include "sinter/backend/portable/kernel_tables.hpp"
#include "sinter/base/thread_pool.hpp"
#include "sinter/ops/random/philox.hpp"
#include "sinter/ops/random/random.hpp"

namespace sinter::backend::portable {
namespace {

using ops::RandomKind;

// Words of positions [begin, begin + n) of a stream of 32-bit or 64-bit numbers (n of at most
// `block_elements`), aligned to their blocks.
struct Words {
  alignas(64) std::uint32_t buffer[2 * block_elements + 8];

  const std::uint32_t* narrow(std::uint64_t seed, std::uint64_t begin, std::int64_t n) {
    const std::uint64_t first = begin / 4;
    const std::uint64_t last = (begin + static_cast<std::uint64_t>(n) + 3) / 4;
    kernels().random().words(seed, first, 0, buffer, static_cast<std::int64_t>(last - first));
    return buffer + begin % 4;
  }
  const std::uint32_t* wide(std::uint64_t seed, std::uint64_t begin, std::int64_t n) {
    const std::uint64_t first = begin / 2;
    const std::uint64_t last = (begin + static_cast<std::uint64_t>(n) + 1) / 2;
    kernels().random().words(seed, first, 1, buffer, static_cast<std::int64_t>(last - first));
    return buffer + 2 * (begin % 2);
  }
};

std::uint64_t wide_at(const std::uint32_t* words, std::int64_t i) {
  return std::uint64_t{words[2 * i + 1]} << 32 | words[2 * i];
}

// Calls `make(position in the tensor, count, buffer)` for blocks; it returns `count` carried
// elements.
template <class F>
void in_blocks(const Value& out, Carried carried, F&& make) {
  const auto size = static_cast<std::int64_t>(sinter::size_of(out.dtype()));
  std::byte* to = host(out).data();
  parallel_for(out.num_elements(), parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    Words words;
    BlockBuffer buffer;
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t count = std::min(block_elements, end - at);
      const void* block = make(at, count, words, buffer);
      store_block(carried, block, out.dtype(), to + at * size, count);
    }
  });
}

void uniform(const ops::Random& op, const Value& out) {
  const UniformRange range(op.distribution, op.dtype);
  if (op.dtype == DType::f64) {
    return in_blocks(
        out, Carried::f64, [&](std::int64_t at, std::int64_t n, Words& words, BlockBuffer& to) {
          const std::uint32_t* bits =
              words.wide(op.key.seed, op.key.offset + static_cast<std::uint64_t>(at), n);
          auto* block = reinterpret_cast<double*>(to.data());
          for (std::int64_t i = 0; i < n; ++i) {
            block[i] = range.at(wide_at(bits, i));
          }
          return static_cast<const void*>(block);
        });
  }
  in_blocks(out, Carried::f32, [&](std::int64_t at, std::int64_t n, Words& words, BlockBuffer& to) {
    const std::uint32_t* bits =
        words.narrow(op.key.seed, op.key.offset + static_cast<std::uint64_t>(at), n);
    auto* block = reinterpret_cast<float*>(to.data());
    kernels().random().uniform_f32(bits, static_cast<float>(range.low),
                                   static_cast<float>(range.width), static_cast<float>(range.last),
                                   block, n);
    return static_cast<const void*>(block);
  });
}

// Numbers come in pairs from an even position on: a block may take one more in front and behind.
void normal(const ops::Random& op, const Value& out) {
  const double mean = op.distribution.a;
  const double deviation = op.distribution.b;
  if (op.dtype == DType::f64) {
    return in_blocks(
        out, Carried::f64, [&](std::int64_t at, std::int64_t n, Words&, BlockBuffer& to) {
          auto* block = reinterpret_cast<double*>(to.data());
          for (std::int64_t i = 0; i < n; ++i) {
            const std::uint64_t position = op.key.offset + static_cast<std::uint64_t>(at + i);
            const philox::Block b =
                philox::stream_block(op.key.seed, position / 2, philox::Width::bits64);
            const double u = philox::unit_above_zero(wide_at(b.words, 0));
            const double angle = 2 * std::numbers::pi * philox::unit(wide_at(b.words, 1));
            const double point = position % 2 ? std::sin(angle) : std::cos(angle);
            block[i] = mean + deviation * (std::sqrt(-2 * std::log(u)) * point);
          }
          return static_cast<const void*>(block);
        });
  }
  in_blocks(out, Carried::f32, [&](std::int64_t at, std::int64_t n, Words& words, BlockBuffer& to) {
    const std::uint64_t begin = op.key.offset + static_cast<std::uint64_t>(at);
    const auto skip = static_cast<std::int64_t>(begin % 2);
    const std::int64_t even = (n + skip + 1) / 2 * 2;
    const std::uint32_t* bits = words.narrow(op.key.seed, begin - begin % 2, even);
    auto* block = reinterpret_cast<float*>(to.data());
    kernels().random().normal_f32(bits, static_cast<float>(mean), static_cast<float>(deviation),
                                  block, even);
    return static_cast<const void*>(block + skip);
  });
}

void integers(const ops::Random& op, const Value& out) {
  const ops::Distribution& d = op.distribution;
  const std::uint64_t threshold = philox::threshold(d.a);
  const auto first = static_cast<std::uint64_t>(d.first);
  const std::uint64_t range = static_cast<std::uint64_t>(d.last) - first;
  in_blocks(out, Carried::i64, [&](std::int64_t at, std::int64_t n, Words& words, BlockBuffer& to) {
    const std::uint64_t begin = op.key.offset + static_cast<std::uint64_t>(at);
    auto* block = reinterpret_cast<std::uint64_t*>(to.data());
    if (d.kind == RandomKind::bernoulli) {
      const std::uint32_t* bits = words.narrow(op.key.seed, begin, n);
      for (std::int64_t i = 0; i < n; ++i) {
        block[i] = bits[i] < threshold;
      }
    } else if (range <= 0x10000) {
      const std::uint32_t* bits = words.narrow(op.key.seed, begin, n);
      for (std::int64_t i = 0; i < n; ++i) {
        block[i] = first + (bits[i] * range >> 32);
      }
    } else {
      const std::uint32_t* bits = words.wide(op.key.seed, begin, n);
      for (std::int64_t i = 0; i < n; ++i) {
        block[i] = first + philox::multiply_high(wide_at(bits, i), range);
      }
    }
    return static_cast<const void*>(block);
  });
}

// Bernoulli numbers as bytes, without the way through 64 bits.
void coins(const ops::Random& op, const Value& out) {
  const std::uint64_t threshold = philox::threshold(op.distribution.a);
  auto* to = host(out).data_as<std::uint8_t>();
  parallel_for(out.num_elements(), parallel_grain, [&](std::int64_t begin, std::int64_t end) {
    Words words;
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t count = std::min(block_elements, end - at);
      const std::uint32_t* bits =
          words.narrow(op.key.seed, op.key.offset + static_cast<std::uint64_t>(at), count);
      if (threshold == 0) {
        std::memset(to + at, 0, static_cast<std::size_t>(count));
        continue;
      }
      const auto largest = static_cast<std::uint32_t>(threshold - 1);
      for (std::int64_t i = 0; i < count; ++i) {
        to[at + i] = bits[i] <= largest;
      }
    }
  });
}

void run_random(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Random>();
  Value out = allocate(backend, call.outputs[0]);
  switch (op.distribution.kind) {
    case RandomKind::uniform:
      uniform(op, out);
      break;
    case RandomKind::normal:
      normal(op, out);
      break;
    case RandomKind::bernoulli:
      op.dtype == DType::boolean ? coins(op, out) : integers(op, out);
      break;
    case RandomKind::randint:
      integers(op, out);
      break;
  }
  outputs.push_back(std::move(out));
}

void run_dropout(Backend& backend, const OpCall& call, Outputs& outputs) {
  const auto& op = call.as<ops::Dropout>();
  const Value& x = call.inputs[0];
  Value out = may_overwrite(call, 0, call.outputs[0]) ? x : allocate(backend, call.outputs[0]);
  const Carried carried = carried_of(x.dtype());
  const std::uint64_t threshold = philox::threshold(op.p);
  const double scale = 1 / (1 - op.p);
  const Operand input(x, x.shape(), carried);
  in_blocks(out, carried, [&](std::int64_t at, std::int64_t n, Words& words, BlockBuffer& to) {
    if (threshold >> 32 != 0) {
      std::memset(to.data(), 0, static_cast<std::size_t>(n) * 8);
      return static_cast<const void*>(to.data());
    }
    const std::uint32_t* bits =
        words.narrow(op.key.seed, op.key.offset + static_cast<std::uint64_t>(at), n);
    BlockBuffer source;
    input.prepare(source, n);
    const void* from = input.fetch(at, n, source);
    if (carried == Carried::f32) {
      kernels().random().dropout_f32(bits, static_cast<std::uint32_t>(threshold),
                                     static_cast<float>(scale), static_cast<const float*>(from),
                                     reinterpret_cast<float*>(to.data()), n);
    } else {
      auto* block = reinterpret_cast<double*>(to.data());
      for (std::int64_t i = 0; i < n; ++i) {
        block[i] = bits[i] < threshold ? 0 : static_cast<const double*>(from)[i] * scale;
      }
    }
    return static_cast<const void*>(to.data());
  });
  outputs.push_back(std::move(out));
}

}  // namespace

void set_random(KernelTable& table) {
  table.set<ops::Random>(run_random);
  table.set<ops::Dropout>(run_dropout);
}

}  // namespace sinter::backend::portable
