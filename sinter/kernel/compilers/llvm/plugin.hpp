// SPDX-License-Identifier: MIT OR Apache-2.0
// What the plug-in that compiles kernels for CPUs takes and gives. A C interface: it is opened at
// run time, and only when a kernel isn't found in the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::llvm {

/// Rises with every change of what stands here.
inline constexpr std::uint32_t interface_version = 1;

/// The file's name without what the system puts around it.
inline constexpr const char* plugin_name = "sinter_llvm";

/// Functions of the host that compiled code calls through a table, in its order: (instruction,
/// signature, function of <cmath>). All work on f64 but fma_f32; narrower floats are widened, and
/// the result is rounded once. floor to fma_f32 are called only where the processor lacks them.
#define SINTER_LLVM_HELPERS(X) \
  X(exp, f64, exp)             \
  X(exp2, f64, exp2)           \
  X(expm1, f64, expm1)         \
  X(log, f64, log)             \
  X(log2, f64, log2)           \
  X(log10, f64, log10)         \
  X(log1p, f64, log1p)         \
  X(sin, f64, sin)             \
  X(cos, f64, cos)             \
  X(tan, f64, tan)             \
  X(asin, f64, asin)           \
  X(acos, f64, acos)           \
  X(atan, f64, atan)           \
  X(sinh, f64, sinh)           \
  X(cosh, f64, cosh)           \
  X(tanh, f64, tanh)           \
  X(asinh, f64, asinh)         \
  X(acosh, f64, acosh)         \
  X(atanh, f64, atanh)         \
  X(erf, f64, erf)             \
  X(pow, f64_f64, pow)         \
  X(atan2, f64_f64, atan2)     \
  X(hypot, f64_f64, hypot)     \
  X(rem, f64_f64, fmod)        \
  X(floor, f64, floor)         \
  X(ceil, f64, ceil)           \
  X(trunc, f64, trunc)         \
  X(round, f64, nearbyint)     \
  X(fma, f64_f64_f64, fma)     \
  X(fma_f32, f32_f32_f32, fma)

enum class Helper : std::uint8_t {
#define SINTER_LLVM_HELPER(op, signature, function) op,
  SINTER_LLVM_HELPERS(SINTER_LLVM_HELPER)
#undef SINTER_LLVM_HELPER
      count
};

/// What a compiled kernel is called with, besides the range of cubes.
struct Call {
  void* const* buffers;          ///< first elements, offsets included
  const std::uint64_t* lengths;  ///< elements, in the order of the buffers
  const std::uint64_t* scalars;  ///< as ir::constant_bits gives them
  const void* const* helpers;    ///< in the order of Helper
  std::uint32_t cubes[3];
};

/// A compiled kernel: runs the cubes first <= n < last, counted x fastest, then y, then z.
/// `scratch` has Result::scratch_bytes bytes of the caller's, aligned to 64, one for each thread.
using Function = void(const Call* call, std::uint64_t first, std::uint64_t last, void* scratch);

struct Request {
  std::uint32_t version = interface_version;
  /// A legal kernel (ir::print) of one unit a cube, without barriers and shared memory.
  const char* text = "";
  std::size_t text_bytes = 0;
  const char* cpu = "native";  ///< or a processor's name as LLVM knows it
  const char* features = "";   ///< "+avx2,-fma": changes to what the processor has
  const char* triple = "";     ///< of the target; empty for the machine at hand
  std::int32_t level = 2;      ///< of optimisation, 0 to 3
  std::int32_t listing = 0;    ///< not 0: also give the optimised IR and the assembly
};

/// The caller gives it back with sinter_llvm_release(), whatever came of the request.
struct Result {
  /// Code and constants in one piece, which depends on nothing outside it and not on where it lies,
  /// as long as that is a multiple of 4096: a file of it can be mapped for execution as it is.
  unsigned char* image = nullptr;
  std::size_t image_bytes = 0;
  std::uint64_t entry = 0;  ///< offset of the Function
  std::uint64_t scratch_bytes = 0;
  char* message = nullptr;  ///< why it failed
  char* listing = nullptr;
};

using Compile = int(const Request*, Result*);
using Release = void(Result*);

}  // namespace sinter::llvm

extern "C" {
/// Compiles a kernel. 0, or another number and a message. May be called from several threads.
int sinter_llvm_compile(const sinter::llvm::Request* request, sinter::llvm::Result* result);
/// Frees what `result` holds.
void sinter_llvm_release(sinter::llvm::Result* result);
}
