// SPDX-License-Identifier: MIT OR Apache-2.0
// Random kernels against checked mode.
#include <algorithm>
#include <random>

#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compilers/llvm/harness_test.hpp"
#include "sinter/kernel/ir/verify.hpp"

namespace sinter::llvm {
namespace {

using ir::Id;
using ir::Op;

constexpr std::uint32_t cubes = 3;
constexpr std::uint32_t input_length = 64;
constexpr std::uint32_t output_length = 256;  // of one cube
constexpr std::uint32_t local_sizes[] = {1, 16, 3000};

/// Makes a legal kernel whose results don't depend on the bits of a NaN.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  ir::Kernel write() {
    declare();
    block_ = 0;
    const Id zero = constant(DType::u32, 0);
    for (std::size_t i = 0; i < locals_.size(); ++i) {
      fill(locals_[i], zero);
    }
    pool_.push_back(make(Op::cube_pos, ir::index_type, {ir::no_id, ir::no_id, ir::no_id}));
    statements(0, 14);
    for (int i = 0; i < 6; ++i) {
      write_result();
    }
    return std::move(kernel_);
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  DType any_dtype() { return value_dtypes[below(std::size(value_dtypes))]; }
  ir::Type any_type() {
    constexpr std::uint8_t lanes[] = {1, 1, 1, 2, 3, 4, 8, 16};
    return {any_dtype(), lanes[below(8)]};
  }

  static ir::Type one_lane(ir::Type type) { return {type.dtype, 1}; }

  // ---- building ----

  Id make(Op op, ir::Type type, std::array<Id, 3> args, std::uint64_t payload = 0) {
    return kernel_.add(
        {.op = op, .type = type, .args = args, .payload = payload, .blocks = {}, .loc = {}},
        block_);
  }
  Id constant(DType dtype, std::int64_t value) {
    return make(Op::constant, {dtype, 1}, {ir::no_id, ir::no_id, ir::no_id},
                ir::constant_bits(dtype, value));
  }
  [[nodiscard]] ir::Type type_of(Id id) const { return kernel_.at(id).type; }

  void declare() {
    kernel_.name = "random";
    for (const DType dtype : value_dtypes) {
      const std::string name(name_of(dtype));
      kernel_.memories.push_back({"in_" + name, ir::Space::buffer, dtype, 0, ir::Access::read});
      kernel_.memories.push_back({"out_" + name, ir::Space::buffer, dtype, 0});
      used_.push_back(0);
    }
    for (const std::uint32_t size : local_sizes) {
      const DType dtype = any_dtype();
      locals_.push_back(kernel_.memories.size());
      kernel_.memories.push_back({"local" + std::to_string(size), ir::Space::local, dtype, size});
    }
    for (const DType dtype : {DType::f32, DType::i64, DType::u8}) {
      kernel_.scalars.push_back({"scalar_" + std::string(name_of(dtype)), dtype});
    }
  }

  void fill(std::size_t memory, Id zero) {
    const ir::Memory& local = kernel_.memories[memory];
    const Id end = constant(DType::u32, local.size);
    const Id one = constant(DType::u32, 1);
    const Id loop = make(Op::for_, ir::index_type, {zero, end, one});
    within(loop, [&] {
      const Id value = make(Op::cast, {local.dtype, 1}, {loop, ir::no_id, ir::no_id});
      make(Op::store, {}, {loop, value, ir::no_id}, memory);
    });
  }

  /// Writes the blocks of a region; what they define is forgotten after.
  template <class Body>
  void within(Id region, Body&& body, int which = 0) {
    if (kernel_.at(region).blocks[0] == 0) {
      const std::uint32_t first = kernel_.add_block();
      const std::uint32_t second = kernel_.add_block();
      kernel_.insts[region].blocks = {first, second};
    }
    const std::uint32_t outer = block_;
    const std::size_t known = pool_.size();
    block_ = kernel_.at(region).blocks[static_cast<std::size_t>(which)];
    body();
    block_ = outer;
    pool_.resize(known);
  }

  // ---- values ----

  /// A known value of the type, or one made for it.
  Id value(ir::Type type) {
    std::vector<Id> fitting;
    for (const Id id : pool_) {
      if (type_of(id) == type) {
        fitting.push_back(id);
      }
    }
    if (!fitting.empty() && below(8) != 0) {
      return fitting[below(static_cast<std::uint32_t>(fitting.size()))];
    }
    if (type.lanes > 1 && below(2) == 0) {
      return remember(make(Op::splat, type, {value(one_lane(type)), ir::no_id, ir::no_id}));
    }
    return remember(below(3) == 0 && type.lanes == 1 ? number(type.dtype) : read(type));
  }
  Id remember(Id id) {
    pool_.push_back(id);
    return id;
  }
  Id number(DType dtype) {
    constexpr std::int64_t some[] = {0, 1, -1, 2, 3, 7, 31, 64, 100, -128, 1 << 20};
    return constant(dtype, some[below(std::size(some))]);
  }
  /// An index from which `lanes` elements lie below `length`.
  Id index(std::uint32_t length, std::uint32_t lanes) {
    const std::uint32_t range = length - lanes + 1;
    if (below(3) == 0) {
      return constant(DType::u32, below(range));
    }
    const Id any = value(ir::index_type);
    return make(Op::rem, ir::index_type, {any, constant(DType::u32, range), ir::no_id});
  }
  static std::size_t place_of(DType dtype) {
    return static_cast<std::size_t>(
        std::find(std::begin(value_dtypes), std::end(value_dtypes), dtype) -
        std::begin(value_dtypes));
  }
  Id read(ir::Type type) {
    for (const std::size_t local : locals_) {
      const ir::Memory& memory = kernel_.memories[local];
      if (memory.dtype == type.dtype && memory.size >= type.lanes && below(2) == 0) {
        return make(Op::load, type, {index(memory.size, type.lanes), ir::no_id, ir::no_id}, local);
      }
    }
    return make(Op::load, type, {index(input_length, type.lanes), ir::no_id, ir::no_id},
                2 * place_of(type.dtype));
  }

  /// A random instruction that is a function of its arguments.
  void compute() {
    const Op op = static_cast<Op>(below(static_cast<std::uint32_t>(ir::op_count())));
    const ir::OpTraits& traits = ir::traits_of(op);
    const ir::Type type = any_type();
    // The first two show the sign of a NaN; the root's reciprocal is rounded twice.
    if (!traits.is(ir::pure) || traits.arguments == 0 || op == Op::copysign || op == Op::bitcast ||
        op == Op::rsqrt) {
      return;
    }
    if (op == Op::extract || op == Op::insert) {
      const Id lane = op == Op::insert ? value(one_lane(type)) : ir::no_id;
      const ir::Type result = op == Op::insert ? type : one_lane(type);
      remember(make(op, result, {value(type), lane, ir::no_id}, below(type.lanes)));
      return;
    }
    if (op == Op::splat || op == Op::cast) {
      const ir::Type from = op == Op::splat ? one_lane(type) : type.with(any_dtype());
      remember(make(op, type, {value(from), ir::no_id, ir::no_id}));
      return;
    }
    const ir::Type arguments[] = {op == Op::select ? type.with(DType::boolean) : type, type, type};
    const ir::Typing typing = ir::type_of(op, arguments, type);
    if (!typing.problem.empty()) {
      return;
    }
    std::array<Id, 3> args{ir::no_id, ir::no_id, ir::no_id};
    for (std::size_t i = 0; i < traits.arguments; ++i) {
      args[i] = value(arguments[i]);
    }
    remember(make(op, typing.type, args));
  }

  // ---- statements ----

  void statements(int depth, int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint32_t what = below(20);
      if (what < 13 || depth >= 3) {
        compute();
      } else if (what == 13) {
        branch(depth);
      } else if (what == 14) {
        counted(depth);
      } else if (what == 15) {
        endless(depth);
      } else if (what == 16) {
        write_result();
      } else {
        write_local();
      }
    }
  }
  void branch(int depth) {
    const Id condition = value(ir::truth_type);
    const Id region = make(Op::if_, {}, {condition, ir::no_id, ir::no_id});
    within(region, [&] { statements(depth + 1, 6); });
    within(region, [&] { statements(depth + 1, 4); }, 1);
  }
  void counted(int depth) {
    constexpr DType counters[] = {DType::u32, DType::i32, DType::i64, DType::u64, DType::i8};
    const DType dtype = counters[below(5)];
    const std::int64_t first = is_unsigned(dtype) ? below(4) : below(8) - std::int64_t{4};
    const Id start = constant(dtype, first);
    const Id end = below(2) == 0 ? constant(dtype, first + below(6))
                                 : make(Op::min, {dtype, 1},
                                        {value({dtype, 1}), constant(dtype, first + 4), ir::no_id});
    const Id step = constant(dtype, 1 + below(3));
    const Id loop = make(Op::for_, {dtype, 1}, {start, end, step});
    within(loop, [&] {
      remember(loop);
      statements(depth + 1, 6);
      if (below(3) == 0) {
        make(Op::break_if, {}, {value(ir::truth_type), ir::no_id, ir::no_id});
        statements(depth + 1, 2);
      }
    });
  }
  void endless(int depth) {
    const std::size_t memory = kernel_.memories.size();
    kernel_.memories.push_back({"turns" + std::to_string(memory), ir::Space::local, DType::u32, 1});
    const Id zero = constant(DType::u32, 0);
    make(Op::store, {}, {zero, zero, ir::no_id}, memory);
    const Id loop = make(Op::loop, {}, {ir::no_id, ir::no_id, ir::no_id});
    within(loop, [&] {
      const Id turn = make(Op::load, ir::index_type, {zero, ir::no_id, ir::no_id}, memory);
      const Id next = make(Op::add, ir::index_type, {turn, constant(DType::u32, 1), ir::no_id});
      make(Op::store, {}, {zero, next, ir::no_id}, memory);
      const Id enough =
          make(Op::gt, ir::truth_type, {next, constant(DType::u32, 1 + below(4)), ir::no_id});
      make(Op::break_if, {}, {enough, ir::no_id, ir::no_id});
      statements(depth + 1, 5);
    });
  }
  void write_local() {
    const std::size_t local = locals_[below(static_cast<std::uint32_t>(locals_.size()))];
    const ir::Memory memory = kernel_.memories[local];
    ir::Type type = any_type().with(memory.dtype);
    type.lanes = memory.size < type.lanes ? 1 : type.lanes;
    const Id what = value(type);
    make(Op::store, {}, {index(memory.size, type.lanes), what, ir::no_id}, local);
  }
  /// Stores a known value where no other cube does.
  void write_result() {
    if (pool_.empty()) {
      return;
    }
    const Id what = pool_[below(static_cast<std::uint32_t>(pool_.size()))];
    const ir::Type type = type_of(what);
    const std::size_t place = place_of(type.dtype);
    if (used_[place] + type.lanes > output_length) {
      return;
    }
    const Id cube = make(Op::cube_pos, ir::index_type, {ir::no_id, ir::no_id, ir::no_id});
    const Id row =
        make(Op::mul, ir::index_type, {cube, constant(DType::u32, output_length), ir::no_id});
    const Id at =
        make(Op::add, ir::index_type, {row, constant(DType::u32, used_[place]), ir::no_id});
    used_[place] += type.lanes;
    make(Op::store, {}, {at, what, ir::no_id}, 2 * place + 1);
  }

  std::mt19937_64 random_;
  ir::Kernel kernel_;
  std::uint32_t block_ = 0;
  std::vector<Id> pool_;
  std::vector<std::size_t> locals_;
  std::vector<std::uint32_t> used_;  // elements of the outputs
};

Buffers data(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 10);
  Buffers buffers;
  for (const DType dtype : value_dtypes) {
    std::vector<std::byte> input;
    for (std::uint32_t i = 0; i < input_length; ++i) {
      const std::uint64_t small = random() % 9;
      put_element(input, dtype,
                  is_floating(dtype) ? memory_bits(dtype, i % 7 == 0 ? small : normal(random))
                  : i % 2 == 0 ? small
                                     : random());
    }
    buffers.push_back(std::move(input));
    buffers.push_back(std::vector<std::byte>(cubes * output_length * size_of(dtype)));
  }
  return buffers;
}

void check(std::uint64_t seed) {
  const ir::Kernel kernel = Author(seed).write();
  const std::vector<std::string> problems = ir::verify(kernel);
  ASSERT_TRUE(problems.empty()) << "seed " << seed << ": " << problems[0] << "\n"
                                << ir::print(kernel);
  const std::vector<std::uint64_t> scalars{ir::constant_bits(DType::f32, 1.25),
                                           ir::constant_bits(DType::i64, std::int64_t{-3}),
                                           ir::constant_bits(DType::u8, std::int64_t{200})};
  const auto results = run_both(kernel, data(seed), scalars, {cubes, 1, 1});
  for (std::size_t i = 0; i < std::size(value_dtypes); ++i) {
    const std::string problem =
        difference(value_dtypes[i], results.expected[2 * i + 1], results.got[2 * i + 1]);
    ASSERT_EQ(problem, "") << "seed " << seed << ", " << name_of(value_dtypes[i]) << "\n"
                           << ir::print(kernel);
  }
}

// SINTER_TEST_SEED=n begins with that kernel; SINTER_TEST_FULL=1 tries many.
TEST(LlvmFuzz, random_kernels_equal_checked_mode) {
  SINTER_NEEDS_LLVM();
  const auto wanted = os::environment("SINTER_TEST_SEED");
  const std::uint64_t first = wanted ? std::stoull(*wanted) : 1;
  const std::uint64_t count = os::environment("SINTER_TEST_FULL") ? 5000 : 200;
  for (std::uint64_t seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
    check(seed);
  }
}

}  // namespace
}  // namespace sinter::llvm
