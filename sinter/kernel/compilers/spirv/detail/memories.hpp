// SPDX-License-Identifier: MIT OR Apache-2.0
// The memories of a kernel as variables of a module: how elements are kept, read, written, and
// changed atomically.
#pragma once

#include "sinter/kernel/compilers/spirv/detail/numeric.hpp"

namespace sinter::spirv {

class Memories {
 public:
  Memories(Module& module, Numeric& numeric, const ir::Kernel& kernel, const Features& features);

  /// `offset` elements after `index`; `base` is the buffer's first element (0: not a buffer).
  Id load(std::uint64_t memory, Id base, Id index, std::uint32_t offset);
  void store(std::uint64_t memory, Id base, Id index, std::uint32_t offset, Id value);
  /// Gives the value before.
  Id atomic(ir::Op op, std::uint64_t memory, Id base, Id index, Id a, Id b);

  /// Local variables are those of the function that is at hand at the first use.
  [[nodiscard]] bool is_buffer(std::uint64_t memory) const {
    return kernel_.memories[memory].space == ir::Space::buffer;
  }

 private:
  struct Cell {
    Id variable = 0;
    Id element = 0;       ///< type of an element
    bool packed = false;  ///< narrow elements in words of 32 bits
    bool bits = false;    ///< kept as an unsigned integer, converted at each access
    bool single = false;  ///< one element, no array
    std::set<ir::Op> atomics;
  };

  void collect_atomics();
  void plan(std::size_t memory);
  void declare(std::size_t memory, std::uint32_t binding);
  void declare_buffer(std::size_t memory, std::uint32_t binding);
  Cell& cell(std::uint64_t memory);
  Id element_index(Id base, Id index, std::uint32_t offset);
  Id pointer(const Cell& cell, ir::Space space, Id index);
  struct Place {
    Id word;   ///< pointer to it
    Id shift;  ///< of the element in it
  };
  Place place(const Cell& cell, DType dtype, Id index);
  Id narrow_mask(DType dtype);
  Id changed(ir::Op op, DType dtype, Id value, Id a, Id b);
  Id swap(ir::Op op, std::uint64_t memory, Id index, Id a, Id b);
  [[nodiscard]] bool is_native(const Cell& cell, const ir::Memory& memory, ir::Op op) const;

  Module& m_;
  Numeric& numeric_;
  const ir::Kernel& kernel_;
  const Features& features_;
  std::vector<Cell> cells_;
  bool has_barrier_ = false;
};

}  // namespace sinter::spirv
