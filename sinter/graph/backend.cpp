// SPDX-License-Identifier: MIT OR Apache-2.0
// Defaults of Backend, and generator scopes.
#include "sinter/graph/backend.hpp"

namespace sinter {
namespace {

thread_local Generator* scoped_generator = nullptr;

}  // namespace

GeneratorScope::GeneratorScope(Generator& generator) : previous_(scoped_generator) {
  scoped_generator = &generator;
}
GeneratorScope::~GeneratorScope() { scoped_generator = previous_; }
Generator* GeneratorScope::current() { return scoped_generator; }

Value Backend::scalar(Scalar value, DType dtype) {
  HostData data(Shape{}, dtype);
  if (value.kind == Kind::floating) {
    convert_elements(&value.floating, DType::f64, data.bytes().data(), dtype, 1);
  } else {
    convert_elements(&value.integer, DType::i64, data.bytes().data(), dtype, 1);
  }
  return from_data(data);
}

Value to_backend(const Value& value, Backend& target) {
  if (&value.backend() == &target) {
    return value;
  }
  return target.from_data(value.backend().read(value));
}

Generator& current_generator(Backend& backend) {
  return scoped_generator ? *scoped_generator : backend.generator();
}

}  // namespace sinter
