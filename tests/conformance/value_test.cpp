// SPDX-License-Identifier: MIT OR Apache-2.0
// Values of every op against the reference: dtypes, layouts, special values, sizes, in-place
// safety.
#include <algorithm>
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

constexpr int layout_count = static_cast<int>(LayoutKind::count);

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
  count_case();
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

// The same layout for all inputs.
void check_equal_layouts(const Case& c, DType dtype, const std::vector<HostData>& inputs,
                         const Result& expected) {
  Backend& device = device_under_test().backend();
  for (int k = 0; k < layout_count; ++k) {
    // The cover: every op sees every layout in f32, and two layouts in each other dtype.
    const bool chosen = full_sweep() || dtype == DType::f32 || k == 0 ||
                        k == 1 + (c.number + static_cast<int>(dtype)) % (layout_count - 1);
    if (chosen) {
      const auto kind = static_cast<LayoutKind>(k);
      compare(run(c, device, place_all(device, inputs, kind)), expected, c.def->notes.tolerance,
              label(c, dtype, name_of(kind)));
    }
  }
}

// A layout for each input: all combinations of up to three inputs; of more, one against the rest.
void check_mixed_layouts(const Case& c, DType dtype, const std::vector<HostData>& inputs,
                         const Result& expected) {
  Backend& device = device_under_test().backend();
  std::vector<std::vector<Value>> placed;  // by layout, by input
  for (int k = 0; k < layout_count; ++k) {
    placed.push_back(place_all(device, inputs, static_cast<LayoutKind>(k)));
  }
  const auto check = [&](const std::vector<int>& kinds) {
    std::vector<Value> values;
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      values.push_back(placed[static_cast<std::size_t>(kinds[i])][i]);
      names += (i ? ", " : "") + name_of(static_cast<LayoutKind>(kinds[i]));
    }
    compare(run(c, device, values), expected, c.def->notes.tolerance, label(c, dtype, names));
  };
  std::vector<int> kinds(inputs.size(), 0);
  if (inputs.size() > 3) {
    for (std::size_t one = 0; one < inputs.size(); ++one) {
      for (int pair = 0; pair < layout_count * layout_count; ++pair) {
        std::fill(kinds.begin(), kinds.end(), pair / layout_count);
        kinds[one] = pair % layout_count;
        check(kinds);
      }
    }
    return;
  }
  for (std::size_t done = 0; done < kinds.size();) {
    check(kinds);
    for (done = 0; done < kinds.size() && ++kinds[done] == layout_count; ++done) {
      kinds[done] = 0;
    }
  }
}

void check_layouts(const Case& c, DType dtype) {
  std::mt19937_64 random = random_of(c, dtype, 1);
  const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
  const Result expected = reference_result(c, inputs);
  check_equal_layouts(c, dtype, inputs, expected);
  if (full_sweep() && inputs.size() > 1) {
    check_mixed_layouts(c, dtype, inputs, expected);
  }
}

void check_special(const Case& c, DType dtype) {
  Backend& device = device_under_test().backend();
  for (int round = 0; round < (full_sweep() ? 8 : 2); ++round) {
    std::mt19937_64 random = random_of(c, dtype, 100 + round);
    const std::vector<HostData> inputs = make_inputs(c, dtype, random, true);
    const Result expected = reference_result(c, inputs);
    for (int k = 0; k < (full_sweep() ? layout_count : 1); ++k) {
      const auto kind = static_cast<LayoutKind>(k);
      compare(run(c, device, place_all(device, inputs, kind)), expected, c.def->notes.tolerance,
              label(c, dtype, "special values, " + name_of(kind)));
    }
  }
}

// Gives up the inputs of every layout, all of them and each set of a few, and holds the others.
void check_given_up(const Case& c, DType dtype, const std::vector<HostData>& inputs,
                    const Result& expected) {
  Backend& device = device_under_test().backend();
  const std::uint64_t all = (std::uint64_t(1) << inputs.size()) - 1;
  for (int k = 0; k < layout_count; ++k) {
    const auto kind = static_cast<LayoutKind>(k);
    for (std::uint64_t donated = inputs.size() > 4 ? all : 1; donated <= all; ++donated) {
      std::vector<Value> values = place_all(device, inputs, kind);
      std::vector<Value> held;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        held.push_back((donated >> i & 1) != 0 ? Value() : values[i]);
      }
      compare(run(c, device, values, donated), expected, c.def->notes.tolerance,
              label(c, dtype, "given up " + std::to_string(donated) + ", " + name_of(kind)));
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_TRUE(!held[i] || device.read(held[i]) == inputs[i])
            << label(c, dtype, "changed a live input, " + name_of(kind));
      }
    }
  }
}

// One value as the first two inputs, given up twice: neither place may be written while the other
// is still read.
void check_same_twice(const Case& c, DType dtype, std::vector<HostData> inputs) {
  if (inputs.size() < 2 || !(inputs[0].shape() == inputs[1].shape()) ||
      inputs[0].dtype() != inputs[1].dtype() || c.inputs[0].role != c.inputs[1].role) {
    return;
  }
  inputs[1] = inputs[0];
  const Result expected = reference_result(c, inputs);
  Backend& device = device_under_test().backend();
  std::vector<Value> values = place_all(device, inputs, LayoutKind::contiguous);
  values[1] = values[0];
  compare(run(c, device, values, ~std::uint64_t(0)), expected, c.def->notes.tolerance,
          label(c, dtype, "one value twice"));
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
  check_same_twice(c, dtype, inputs);
  if (full_sweep()) {
    check_given_up(c, dtype, inputs, expected);
  }
}

void check_size(const Case& c, DType dtype, std::int64_t size) {
  Backend& device = device_under_test().backend();
  std::mt19937_64 random = random_of(c, dtype, static_cast<int>(size));
  const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
  const Result expected = reference_result(c, inputs);
  for (int k = 0; k < (full_sweep() ? layout_count : 1); ++k) {
    const auto kind = static_cast<LayoutKind>(k);
    compare(run(c, device, place_all(device, inputs, kind)), expected, c.def->notes.tolerance,
            label(c, dtype, "size " + std::to_string(size) + ", " + name_of(kind)));
  }
}

// Lengths around the edges of vectors, blocks and tiles.
void check_sizes(const OpDef& def) {
  const std::int64_t sizes[] = {0,   1,   2,   3,   4,   5,    7,    8,     9,    15,  16,
                                17,  31,  32,  33,  63,  64,   65,   127,   128,  129, 255,
                                256, 257, 511, 512, 513, 1023, 1025, 65535, 65537};
  for (const std::int64_t size : sizes) {
    if (size > 2000 && !full_sweep() && def.code % 5 != 0) {
      continue;
    }
    std::vector<Case> cases = cases_of(def);
    cases.resize(std::min<std::size_t>(cases.size(), 1));
    for (Case& c : cases) {
      for (SampleInput& sample : c.inputs) {
        sample.shape = Shape{size};
      }
      const DType usual = def.elementwise && !def.elementwise->f64 ? DType::i64 : DType::f32;
      for (const DType dtype : computing_dtypes) {
        if (dtype == usual || full_sweep()) {
          check_size(c, dtype, size);
        }
      }
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
      const DType usual = def.elementwise && !def.elementwise->f64 ? DType::i64 : DType::f32;
      for (const DType dtype : computing_dtypes) {
        if (dtype != usual && !full_sweep()) {
          continue;
        }
        std::mt19937_64 random = random_of(c, dtype, 3);
        const std::vector<HostData> inputs = make_inputs(c, dtype, random, false);
        compare(run(c, device, place_all(device, inputs, LayoutKind::contiguous)),
                reference_result(c, inputs), def.notes.tolerance,
                label(c, dtype, "size " + std::to_string(size) + " set to 0"));
      }
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
