// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers of SPIR-V 1.5 that kernels need (specification, section 3).
#pragma once

#include <cstdint>

namespace sinter::spirv {

enum class Code : std::uint16_t {
  name = 5,
  extension = 10,
  import = 11,
  extended = 12,
  memory_model = 14,
  entry_point = 15,
  execution_mode = 16,
  capability = 17,
  type_void = 19,
  type_bool = 20,
  type_int = 21,
  type_float = 22,
  type_vector = 23,
  type_array = 28,
  type_runtime_array = 29,
  type_struct = 30,
  type_pointer = 32,
  type_function = 33,
  constant_true = 41,
  constant_false = 42,
  constant = 43,
  function = 54,
  function_parameter = 55,
  function_end = 56,
  function_call = 57,
  variable = 59,
  load = 61,
  store = 62,
  access_chain = 65,
  decorate = 71,
  member_decorate = 72,
  composite_construct = 80,
  composite_extract = 81,
  convert_f_to_u = 109,
  convert_f_to_s = 110,
  convert_s_to_f = 111,
  convert_u_to_f = 112,
  u_convert = 113,
  s_convert = 114,
  f_convert = 115,
  bitcast = 124,
  s_negate = 126,
  f_negate = 127,
  i_add = 128,
  f_add = 129,
  i_sub = 130,
  f_sub = 131,
  i_mul = 132,
  f_mul = 133,
  u_div = 134,
  s_div = 135,
  f_div = 136,
  u_mod = 137,
  u_mul_extended = 151,
  s_mul_extended = 152,
  is_nan = 156,
  logical_equal = 164,
  logical_not_equal = 165,
  logical_or = 166,
  logical_and = 167,
  logical_not = 168,
  select = 169,
  i_equal = 170,
  i_not_equal = 171,
  u_greater_than = 172,
  s_greater_than = 173,
  u_greater_equal = 174,
  s_greater_equal = 175,
  u_less_than = 176,
  s_less_than = 177,
  u_less_equal = 178,
  s_less_equal = 179,
  f_equal = 180,
  f_ord_not_equal = 182,
  f_not_equal = 183,  ///< unordered: true for NaN
  f_less_than = 184,
  f_greater_than = 186,
  f_less_equal = 188,
  f_greater_equal = 190,
  shift_right_logical = 194,
  shift_right_arithmetic = 195,
  shift_left = 196,
  bit_or = 197,
  bit_xor = 198,
  bit_and = 199,
  bit_not = 200,
  bit_field_s_extract = 202,
  control_barrier = 224,
  atomic_load = 227,
  atomic_exchange = 229,
  atomic_compare_exchange = 230,
  atomic_i_add = 234,
  atomic_s_min = 236,
  atomic_u_min = 237,
  atomic_s_max = 238,
  atomic_u_max = 239,
  atomic_and = 240,
  atomic_or = 241,
  phi = 245,
  loop_merge = 246,
  selection_merge = 247,
  label = 248,
  branch = 249,
  branch_conditional = 250,
  return_nothing = 253,
  return_value = 254,
  plane_all = 334,
  plane_any = 335,
  plane_shuffle = 345,
  plane_i_add = 349,
  plane_f_add = 350,
  plane_s_min = 353,
  plane_u_min = 354,
  plane_f_min = 355,
  plane_s_max = 356,
  plane_u_max = 357,
  plane_f_max = 358,
  plane_bit_and = 359,
  plane_bit_or = 360,
  atomic_f_add = 6035
};

/// Instructions of the set GLSL.std.450.
enum class Glsl : std::uint32_t {
  none = 0,
  round_even = 2,
  trunc = 3,
  f_abs = 4,
  floor = 8,
  ceil = 9,
  sin = 13,
  cos = 14,
  tan = 15,
  asin = 16,
  acos = 17,
  atan = 18,
  sinh = 19,
  cosh = 20,
  tanh = 21,
  asinh = 22,
  acosh = 23,
  atanh = 24,
  atan2 = 25,
  pow = 26,
  exp = 27,
  log = 28,
  exp2 = 29,
  log2 = 30,
  sqrt = 31,
  fma = 50,
  find_u_msb = 75
};

enum class Capability : std::uint32_t {
  shader = 1,
  float64 = 10,
  int64 = 11,
  int64_atomics = 12,
  plane = 61,
  plane_vote = 62,
  plane_arithmetic = 63,
  plane_shuffle = 65,
  storage16 = 4433,
  storage8 = 4448,
  denorm_preserve = 4464,
  preserve_nan = 4466,
  round_to_even = 4467,
  atomic_float32_add = 6033
};

enum class Mode : std::uint32_t {
  local_size = 17,
  denorm_preserve = 4459,
  preserve_nan = 4461,
  round_to_even = 4462
};

enum class Storage : std::uint32_t {
  input = 1,
  workgroup = 4,
  function = 7,
  push_constant = 9,
  buffer = 12
};

enum class Decoration : std::uint32_t {
  block = 2,
  array_stride = 6,
  builtin = 11,
  aliased = 20,
  coherent = 23,
  non_writable = 24,
  binding = 33,
  set = 34,
  offset = 35,
  no_contraction = 42
};

enum class BuiltIn : std::uint32_t {
  workgroup_id = 26,
  local_id = 27,
  plane_size = 36,
  plane_position = 41
};

inline constexpr std::uint32_t scope_device = 1;
inline constexpr std::uint32_t scope_workgroup = 2;
inline constexpr std::uint32_t scope_plane = 3;
/// AcquireRelease of buffers and of shared memory.
inline constexpr std::uint32_t semantics_all = 0x8 | 0x40 | 0x100;

}  // namespace sinter::spirv
