// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel IR: typed, structured, in one arena. docs/ir.md says what it means.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/types/dtype.hpp"

namespace sinter::ir {

/// An instruction of a kernel, by its place in the kernel's arena.
using Id = std::uint32_t;
inline constexpr Id no_id = ~Id{0};

/// A scalar or a short vector of one dtype; no lanes means no value.
struct Type {
  DType dtype = DType::u32;
  std::uint8_t lanes = 0;

  friend bool operator==(Type, Type) = default;
  [[nodiscard]] bool is_nothing() const { return lanes == 0; }
  [[nodiscard]] Type with(DType other) const { return {other, lanes}; }
};
inline constexpr Type index_type{DType::u32, 1};
inline constexpr Type truth_type{DType::boolean, 1};
inline constexpr int most_lanes = 16;

enum class Op : std::uint8_t {
#define SINTER_INSTRUCTION(name, arguments, rule, traits) name,
#include "sinter/kernel/ir/instructions.def"
#undef SINTER_INSTRUCTION
};

/// How the type of a result follows from those of the arguments.
enum class TypeRule : std::uint8_t {
  given,       ///< by the instruction itself
  same,        ///< all arguments have the result's type
  same_first,  ///< the first argument has the result's type
  second,      ///< the second argument has it
  compare,     ///< arguments of one type; a truth value per lane
  choice,      ///< (truth value per lane, a, b): a and b have the result's type
  lane,        ///< one lane of the argument
  nothing      ///< no result
};

enum Trait : std::uint16_t {
  pure = 1,         ///< the result depends on the arguments alone
  commutative = 2,  ///< the two arguments may be exchanged
  numeric = 4,      ///< integers and floats, no truth values
  floating = 8,     ///< floats only
  integer = 16,     ///< integers only
  bitwise = 32,     ///< integers and truth values
  reads = 64,       ///< the result depends on memory or on other units
  writes = 128,     ///< has an effect: stays in place
  memory = 256,     ///< names a memory
  together = 512,   ///< must be reached by all units, or all of a plane
  region = 1024     ///< has blocks of its own
};

struct OpTraits {
  std::string_view name;
  std::uint8_t arguments;
  TypeRule rule;
  std::uint16_t traits;

  [[nodiscard]] bool is(Trait trait) const { return (traits & trait) != 0; }
};
[[nodiscard]] const OpTraits& traits_of(Op op);
[[nodiscard]] int op_count();

/// A place in the source of the program that recorded the kernel.
struct Loc {
  const char* file = "";
  std::uint32_t line = 0;

  static constexpr Loc here(const char* file = __builtin_FILE(),
                            std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Where a memory lives, and who sees it.
enum class Space : std::uint8_t {
  buffer,  ///< an argument of the kernel: all cubes
  shared,  ///< the units of one cube
  local    ///< one unit
};
enum class Access : std::uint8_t { read, write, read_write };

struct Memory {
  std::string name;
  Space space = Space::local;
  DType dtype = DType::f32;
  std::uint32_t size = 1;  ///< elements; 0 for a buffer, whose length comes with the launch
  Access access = Access::read_write;
};

/// A number that comes with each launch.
struct Scalar {
  std::string name;
  DType dtype = DType::u32;
};

struct Inst {
  Op op = Op::constant;
  Type type;
  std::array<Id, 3> args{no_id, no_id, no_id};
  /// constant: its bits; scalar, memory instructions, length: which one; unit_pos, cube_pos,
  /// cube_count: the axis; extract, insert: the lane.
  std::uint64_t payload = 0;
  /// if: then and else; for, loop: the body, and nothing.
  std::array<std::uint32_t, 2> blocks{};
  Loc loc;
};

/// A count along x, y and z.
struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint32_t operator[](std::size_t axis) const {
    return axis == 0 ? x : axis == 1 ? y : z;
  }
};

/// A kernel: what it is called with, its memories, and its instructions in blocks. Block 0 is the
/// whole; `for`'s own value inside its body is the induction variable.
struct Kernel {
  std::string name = "kernel";
  Extent cube;  ///< units
  std::vector<Scalar> scalars;
  std::vector<Memory> memories;
  std::vector<Inst> insts;
  std::vector<std::vector<Id>> blocks{1};

  [[nodiscard]] const Inst& at(Id id) const { return insts[id]; }
  [[nodiscard]] std::uint32_t units() const { return cube.x * cube.y * cube.z; }
  Id add(Inst inst, std::uint32_t block);
  std::uint32_t add_block();
};

/// Bits of `value` as a constant of `dtype` holds them: integers sign- or zero-extended, f64 as
/// such, smaller floats as the f32 nearest to what they round to.
[[nodiscard]] std::uint64_t constant_bits(DType dtype, double value);
[[nodiscard]] std::uint64_t constant_bits(DType dtype, std::int64_t value);
/// What the bits of a constant stand for; integers beyond 2^53 lose low bits.
[[nodiscard]] double constant_value(DType dtype, std::uint64_t bits);

/// The type of a result, or a sentence that says what is wrong with the arguments.
struct Typing {
  Type type;
  std::string problem;
};
[[nodiscard]] Typing type_of(Op op, const Type* args, Type given);

[[nodiscard]] std::string to_text(Type type);

}  // namespace sinter::ir
