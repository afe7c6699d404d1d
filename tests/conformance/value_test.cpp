// SPDX-License-Identifier: MIT OR Apache-2.0
// Values of every op against the reference: dtypes, layouts, special values, sizes, in-place
// safety.
#include <set>

#include "suite.hpp"

namespace sinter::conformance {
namespace {

constexpr DType computing_dtypes[] = {
    DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,    DType::i16,
    DType::i8,  DType::u64, DType::u32, DType::u16,  DType::u8,  DType::boolean};

// The seed of everything random in one case, so that a failure repeats alone.
std::mt19937_64 random_of(const Case& c, DType dtype, int salt) {
  std::seed_seq seed{c.def->code, c.number, static_cast<int>(dtype), salt};
  return std::mt19937_64(seed);
}

std::string label(const Case& c, DType dtype, const std::string& what) {
  std::string text(c.def->name);
  text += " case " + std::to_string(c.number) + " " + std::string(name_of(dtype)) + " " + what;
  if (c.def->attributes.print) {
    c.def->attributes.print(c.attributes.get(), text);
  }
  return text;
}

std::vector<HostData> make_inputs(const Case& c, DType dtype, std::mt19937_64& random,
                                  bool special) {
  std::vector<HostData> inputs;
  for (const SampleInput& sample : c.inputs) {
    inputs.push_back(make_data(sample, dtype, random));
    if (special && sample.role == SampleInput::Role::value && !sample.finite) {
      const bool simple =
          c.def->elementwise && (c.inputs.size() == 1 || c.def->elementwise->bool_result);
      put_special_values(inputs.back(), random, simple);
    }
  }
  return inputs;
}

std::vector<Value> place_all(Backend& backend, const std::vector<HostData>& inputs,
                             LayoutKind kind) {
  std::vector<Value> values;
  for (const HostData& data : inputs) {
    values.push_back(place(backend, data, kind));
  }
  return values;
}

Result reference_result(const Case& c, const std::vector<HostData>& inputs) {
  Backend& reference = Device::reference().backend();
  return run(c, reference, place_all(reference, inputs, LayoutKind::contiguous));
}

// `got` must be what the reference gave, or both must refuse.
void compare(const Result& got, const Result& expected, double tolerance, const std::string& what) {
  EXPECT_EQ(got.error.empty(), expected.error.empty()) << what << "\n"
                                                       << got.error << expected.error;
  if (!got.error.empty() || !expected.error.empty()) {
    return;
  }
  ASSERT_EQ(got.outputs.size(), expected.outputs.size()) << what;
  for (std::size_t i = 0; i < got.outputs.size(); ++i) {
    const HostData& want = expected.outputs[i];
    EXPECT_LE(relative_error(got.outputs[i], want), tolerance_of(want.dtype(), tolerance))
        << what << ", output " << i << " of shape " << want.shape().str();
  }
}

void check_layouts(const Case& c, DType dtype) {
  Backend& device = device_under_test().backend();
  std::mt19937_64 random = random_of(c, dtype, 1);
  const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
  const Result expected = reference_result(c, inputs);
  const int count = static_cast<int>(LayoutKind::count);
  for (int k = 0; k < count; ++k) {
    // The cover: every op sees every layout in f32, and two layouts in each other dtype.
    const bool chosen = full_sweep() || dtype == DType::f32 || k == 0 ||
                        k == 1 + (c.number + static_cast<int>(dtype)) % (count - 1);
    if (chosen) {
      const auto kind = static_cast<LayoutKind>(k);
      compare(run(c, device, place_all(device, inputs, kind)), expected, c.def->notes.tolerance,
              label(c, dtype, name_of(kind)));
    }
  }
}

void check_special(const Case& c, DType dtype) {
  Backend& device = device_under_test().backend();
  for (int round = 0; round < (full_sweep() ? 8 : 2); ++round) {
    std::mt19937_64 random = random_of(c, dtype, 100 + round);
    const std::vector<HostData> inputs = make_inputs(c, dtype, random, true);
    compare(run(c, device, place_all(device, inputs, LayoutKind::contiguous)),
            reference_result(c, inputs), c.def->notes.tolerance, label(c, dtype, "special values"));
  }
}

// A given-up input may be overwritten and the result stays right; a live one is never changed.
void check_in_place(const Case& c, DType dtype) {
  Backend& device = device_under_test().backend();
  std::mt19937_64 random = random_of(c, dtype, 2);
  const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
  const Result expected = reference_result(c, inputs);
  compare(run_donated(c, device, inputs), expected, c.def->notes.tolerance,
          label(c, dtype, "given up"));
  const std::vector<Value> live = place_all(device, inputs, LayoutKind::contiguous);
  const std::vector<Value> handles = live;
  compare(run(c, device, live, ~std::uint64_t(0)), expected, c.def->notes.tolerance,
          label(c, dtype, "held elsewhere"));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(device.read(handles[i]) == inputs[i]) << label(c, dtype, "changed a live input");
  }
}

// Lengths around the edges of vectors, blocks and tiles.
void check_sizes(const OpDef& def) {
  const std::int64_t sizes[] = {0,   1,   2,   3,   4,   5,    7,    8,     9,    15,  16,
                                17,  31,  32,  33,  63,  64,   65,   127,   128,  129, 255,
                                256, 257, 511, 512, 513, 1023, 1025, 65535, 65537};
  Backend& device = device_under_test().backend();
  for (const std::int64_t size : sizes) {
    if (size > 2000 && !full_sweep() && def.code % 5 != 0) {
      continue;
    }
    for (Case& c : cases_of(def)) {
      for (SampleInput& sample : c.inputs) {
        sample.shape = Shape{size};
      }
      std::mt19937_64 random = random_of(c, DType::f32, static_cast<int>(size));
      const DType dtype = def.elementwise && !def.elementwise->f64 ? DType::i64 : DType::f32;
      const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
      compare(run(c, device, place_all(device, inputs, LayoutKind::contiguous)),
              reference_result(c, inputs), def.notes.tolerance,
              label(c, dtype, "size " + std::to_string(size)));
      break;
    }
  }
}

// Each size of each input set to 0 in turn: the reference's result, or an error from both.
void check_empty(const OpDef& def) {
  Backend& device = device_under_test().backend();
  std::vector<Case> cases = cases_of(def);
  for (Case& c : cases) {
    const std::vector<SampleInput> original = c.inputs;
    std::set<std::int64_t> sizes;
    for (const SampleInput& sample : original) {
      sizes.insert(sample.shape.begin(), sample.shape.end());
    }
    for (const std::int64_t size : sizes) {
      c.inputs = original;
      for (SampleInput& sample : c.inputs) {
        for (std::int64_t& s : sample.shape) {
          s = s == size ? 0 : s;
        }
      }
      std::mt19937_64 random = random_of(c, DType::f32, 3);
      const DType dtype = def.elementwise && !def.elementwise->f64 ? DType::i64 : DType::f32;
      const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
      compare(run(c, device, place_all(device, inputs, LayoutKind::contiguous)),
              reference_result(c, inputs), def.notes.tolerance,
              label(c, dtype, "size " + std::to_string(size) + " set to 0"));
    }
  }
}

void for_each_dtype(const OpDef& def, void (*check)(const Case&, DType)) {
  for (const Case& c : cases_of(def)) {
    for (const DType dtype : computing_dtypes) {
      check(c, dtype);
      if (c.inputs.empty()) {
        break;
      }
    }
  }
}

}  // namespace

void add_value_tests() {
  for (const OpDef* def : all_ops()) {
    const std::string name(def->name);
    add_test("ConformanceSamples", name, [def] {
      // Gradient ops are called by the gradients of others, with inputs that belong together.
      EXPECT_TRUE(!cases_of(*def).empty() || def->name.ends_with("_grad"))
          << def->name << " gives no example calls";
    });
    add_test("ConformanceLayouts", name, [def] { for_each_dtype(*def, check_layouts); });
    add_test("ConformanceSpecialValues", name, [def] { for_each_dtype(*def, check_special); });
    add_test("ConformanceInPlace", name, [def] { for_each_dtype(*def, check_in_place); });
    add_test("ConformanceEmpty", name, [def] { check_empty(*def); });
    if (def->elementwise) {
      add_test("ConformanceSizes", name, [def] { check_sizes(*def); });
    }
  }
}

}  // namespace sinter::conformance
