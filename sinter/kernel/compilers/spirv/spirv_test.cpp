// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules are valid SPIR-V for Vulkan, use no more than a device has, and errors name their place.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/spirv/spirv.hpp"
#include "sinter/kernel/compilers/spirv/sweep_test.hpp"

namespace sinter::spirv {
namespace {

using namespace dsl;

Features everything() {
  Features f;
  f.f64 = f.i64 = f.storage8 = f.storage16 = f.buffer_i64_atomics = f.shared_i64_atomics = true;
  f.buffer_f32_add = f.shared_f32_add = f.plane_vote = f.plane_arithmetic = true;
  f.plane_shuffle = f.plane_i64 = f.preserve_nan_f32 = f.preserve_nan_f64 = true;
  f.denorm_preserve_f32 = f.denorm_preserve_f64 = f.round_to_even_f32 = f.round_to_even_f64 = true;
  return f;
}

bool has_tool(const std::string& tool) {
  return std::system((tool + " --version > /dev/null 2>&1").c_str()) == 0;
}

/// A folder of modules, validated by one call of spirv-val each.
class Modules {
 public:
  Modules()
      : folder_(os::join_path(os::temporary_directory(),
                              fmt::format("sinter-spirv-{}", os::process_id()))) {
    os::create_directories(folder_);
  }
  ~Modules() { os::remove_tree(folder_); }

  std::string keep(const std::string& name, const std::vector<std::uint32_t>& words) {
    const std::string path = os::join_path(folder_, name + ".spv");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(4 * words.size()));
    ++count_;
    return path;
  }
  /// What spirv-val finds wrong; empty if all are valid.
  [[nodiscard]] std::string problems() const {
    const std::string out = os::join_path(folder_, "out.txt");
    const int status =
        std::system(fmt::format("for f in {}/*.spv; do spirv-val --target-env vulkan1.2 "
                                "\"$f\" || echo \"in $f\"; done > {} 2>&1",
                                folder_, out)
                        .c_str());
    return status == 0 ? os::read_file(out) : "spirv-val did not run";
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::string folder_;
  int count_ = 0;
};

#define SKIP_WITHOUT(tool)                                      \
  if (!has_tool(tool)) {                                        \
    GTEST_SKIP() << tool << " is missing; install spirv-tools"; \
  }

TEST(Spirv, every_instruction_is_valid) {
  SKIP_WITHOUT("spirv-val");
  Modules modules;
  const Features features = everything();
  int refused = 0;
  for (const ir::Case& c : ir::all_cases({2})) {
    try {
      modules.keep(c.name(), compile(c.kernel(64), features));
    } catch (const CompileError&) {
      ++refused;
    }
  }
  EXPECT_EQ(modules.problems(), "");
  EXPECT_GT(modules.count(), 400);
  EXPECT_LT(refused, 100);
}

void structure() {
  const Buffer<float> x("x"), y("y");
  const Buffer<std::uint32_t> counts("counts");
  const Shared<float> s("s", 64);
  const Local<float> own(8);
  Var<float> sum = 0.0f;
  for (const Index i : range(Index(8u))) {
    own[i] = x[absolute_pos() + i];
  }
  for (const Index i : range(unit_pos(), x.length(), cube_count())) {
    for ([[maybe_unused]] auto round : forever()) {
      KERNEL_IF (sum.value() > 3.0f) {
        break_if(i > 5u);
      } else {
        sum += own[i % Index(8u)];
      }
      break_if(sum.value() < 0.0f);
    }
    break_if(i == 9u);
  }
  s[unit_pos()] = sum;
  sync_cube();
  counts.atomic_add(cube_pos(), plane_pos() + plane_dim());
  y[absolute_pos()] = s[Index(63u) - unit_pos()].value() + plane_sum(sum.value());
}

TEST(Spirv, structure_is_valid) {
  SKIP_WITHOUT("spirv-val");
  Modules modules;
  modules.keep("structure", compile(record("structure", {.cube = {64}}, structure), everything()));
  EXPECT_EQ(modules.problems(), "");
}

template <class T>
void atomics() {
  const Buffer<T> x("x"), all("all");
  const Shared<T> s("s", 4);
  const Index i = unit_pos();
  const Expr<T> v = x[i];
  const Expr<T> a = all.atomic_add(i, v), b = all.atomic_min(i, v), c = all.atomic_max(i, v);
  const Expr<T> d = all.atomic_exchange(i, v), e = all.atomic_compare_exchange(i, v, v + v);
  s[i] = v;
  sync_cube();
  const Expr<T> f = s.atomic_add(Index(0u), v), g = s.atomic_min(Index(1u), v);
  x[i] = a + b + c + d + e + f + g + s.atomic_exchange(Index(2u), v) +
         s.atomic_compare_exchange(Index(3u), v, v);
}

template <class T>
void planes() {
  const Buffer<T> x("x");
  const Expr<T> v = x[unit_pos()];
  x[unit_pos()] = plane_sum(v) + plane_min(v) + plane_max(v) + plane_shuffle(v, plane_pos());
}

template <class T>
void one_type(Modules& modules) {
  const std::string name(name_of(dtype_of<T>));
  Features least = everything();
  least.storage8 = least.storage16 = least.buffer_f32_add = least.shared_f32_add = false;
  for (const bool all : {true, false}) {
    const Features& features = all ? everything() : least;
    modules.keep("atomics" + name + (all ? "" : "_less"),
                 compile(record("atomics", {.cube = {4}}, atomics<T>), features));
    modules.keep("planes" + name + (all ? "" : "_less"),
                 compile(record("planes", {.cube = {32}}, planes<T>), features));
  }
}

TEST(Spirv, atomics_and_planes_are_valid) {
  SKIP_WITHOUT("spirv-val");
  Modules modules;
  one_type<float>(modules);
  one_type<double>(modules);
  one_type<f16>(modules);
  one_type<bf16>(modules);
  one_type<std::int64_t>(modules);
  one_type<std::uint64_t>(modules);
  one_type<std::int32_t>(modules);
  one_type<std::uint32_t>(modules);
  one_type<std::int16_t>(modules);
  one_type<std::uint8_t>(modules);
  EXPECT_EQ(modules.problems(), "");
}

TEST(Spirv, many_arguments_go_to_a_buffer) {
  SKIP_WITHOUT("spirv-val");
  const ir::Kernel kernel = record("many", {}, [] {
    const Buffer<double> x("x");
    Expr<double> sum = scalar<double>("s");
    for (int i = 0; i < 20; ++i) {
      sum = sum + scalar<double>("s" + std::to_string(i));
    }
    x[Index(0u)] = sum;
  });
  const Parameters parameters = parameters_of(kernel, everything());
  EXPECT_TRUE(parameters.in_buffer);
  EXPECT_EQ(parameters.words, 1 + 2 * 21u);
  Modules modules;
  modules.keep("many", compile(kernel, everything()));
  EXPECT_EQ(modules.problems(), "");
}

std::string refusal(const ir::Kernel& kernel, const Features& features) {
  try {
    (void)compile(kernel, features);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SpirvErrors, name_the_place_and_the_way_out) {
  const ir::Kernel kernel = record("special", {}, [] {
    const Buffer<float> x("x");
    x[Index(0u)] = erf(x[Index(1u)].value());
  });
  const std::string text = refusal(kernel, everything());
  EXPECT_NE(text.find("kernel special: erf of f32: Vulkan has no such function; lower it"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("spirv_test.cpp:"), std::string::npos) << text;
  const ir::Kernel wide = record("wide", {}, [] {
    const Buffer<float> x("x");
    x[Index(0u)] = cast<float>(cast<double>(x[Index(1u)].value()) * 2.0);
  });
  EXPECT_NE(refusal(wide, {}).find("the device has no f64; use f32"), std::string::npos);
}

TEST(Spirv, text_of_a_small_module) {
  SKIP_WITHOUT("spirv-dis");
  const ir::Kernel kernel = record("scale", {.cube = {32}}, [] {
    const Buffer<float> x("x");
    const Expr<float> factor = scalar<float>("factor");
    const Index i = absolute_pos();
    KERNEL_IF (i < x.length()) {
      x[i] = x[i].value() * factor;
    }
  });
  Modules modules;
  const std::string path = modules.keep("scale", compile(kernel, {}));
  ASSERT_EQ(
      std::system(
          ("spirv-dis --raw-id --no-header --no-indent " + path + " -o " + path + ".txt").c_str()),
      0);
  EXPECT_EQ(os::read_file(path + ".txt"), R"(OpCapability Shader
%1 = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %9 "main" %6 %14 %19 %25
OpExecutionMode %9 LocalSize 32 1 1
OpName %6 "x"
OpName %25 "arguments"
OpName %9 "scale"
OpDecorate %3 ArrayStride 4
OpDecorate %4 Block
OpMemberDecorate %4 0 Offset 0
OpDecorate %6 DescriptorSet 0
OpDecorate %6 Binding 0
OpDecorate %6 Aliased
OpDecorate %14 BuiltIn WorkgroupId
OpDecorate %19 BuiltIn LocalInvocationId
OpDecorate %23 Block
OpMemberDecorate %23 0 Offset 0
OpMemberDecorate %23 1 Offset 4
OpMemberDecorate %23 2 Offset 8
OpDecorate %45 NoContraction
%2 = OpTypeFloat 32
%3 = OpTypeRuntimeArray %2
%4 = OpTypeStruct %3
%5 = OpTypePointer StorageBuffer %4
%6 = OpVariable %5 StorageBuffer
%7 = OpTypeVoid
%8 = OpTypeFunction %7
%11 = OpTypeInt 32 0
%12 = OpTypeVector %11 3
%13 = OpTypePointer Input %12
%14 = OpVariable %13 Input
%17 = OpConstant %11 32
%19 = OpVariable %13 Input
%23 = OpTypeStruct %11 %11 %11
%24 = OpTypePointer PushConstant %23
%25 = OpVariable %24 PushConstant
%26 = OpConstant %11 1
%27 = OpTypePointer PushConstant %11
%30 = OpTypeBool
%34 = OpConstant %11 2
%38 = OpConstant %11 0
%42 = OpTypePointer StorageBuffer %2
%9 = OpFunction %7 None %8
%10 = OpLabel
%15 = OpLoad %12 %14
%16 = OpCompositeExtract %11 %15 0
%20 = OpLoad %12 %19
%21 = OpCompositeExtract %11 %20 0
%28 = OpAccessChain %27 %25 %26
%29 = OpLoad %11 %28
%35 = OpAccessChain %27 %25 %34
%36 = OpLoad %11 %35
%39 = OpAccessChain %27 %25 %38
%40 = OpLoad %11 %39
%18 = OpIMul %11 %16 %17
%22 = OpIAdd %11 %18 %21
%31 = OpULessThan %30 %22 %29
OpSelectionMerge %33 None
OpBranchConditional %31 %32 %33
%32 = OpLabel
%37 = OpBitcast %2 %36
%41 = OpIAdd %11 %40 %22
%43 = OpAccessChain %42 %6 %38 %41
%44 = OpLoad %2 %43
%45 = OpFMul %2 %37 %44
%46 = OpIAdd %11 %40 %22
%47 = OpAccessChain %42 %6 %38 %46
OpStore %47 %45
OpBranch %33
%33 = OpLabel
OpReturn
OpFunctionEnd
)");
}

}  // namespace
}  // namespace sinter::spirv
