// SPDX-License-Identifier: MIT OR Apache-2.0
// Inputs and runners on Sinter's side.
#include "benches/sinter_side.hpp"

#include <stdexcept>

#include "sinter/types/host_data.hpp"

namespace sinter::bench {

Device bench_device(const Options& options) {
  return options.device == "cpu" ? Device::portable() : Device::by_name(options.device);
}

namespace {

const Input& input_of(const Context& context, const std::string& name) {
  for (const Input& input : context.inputs) {
    if (input.name == name) {
      return input;
    }
  }
  throw std::logic_error("the row has no input " + name);
}

}  // namespace

Value load(const Context& context, const std::string& name, const Device& device) {
  const Input& input = input_of(context, name);
  Shape shape;
  for (std::int64_t dim : input.dims) {
    shape.push_back(dim);
  }
  const HostData data(shape, std::span<const float>(context[name]));
  const DType dtypes[] = {DType::f32, DType::i64, DType::i8};
  return device.backend().from_data(data.cast(dtypes[static_cast<int>(input.kind)]));
}

Value load_weight(const Context& context, const std::string& name, const Device& device,
                  std::int64_t part, std::int64_t parts) {
  const Input& input = input_of(context, name);
  const std::int64_t rows = input.dims.at(0) / parts;
  const std::int64_t columns = input.dims.at(1);
  const float* from = context[name].data() + part * rows * columns;
  std::vector<float> transposed(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      transposed[static_cast<std::size_t>(j * rows + i)] = from[i * columns + j];
    }
  }
  return device.backend().from_data(HostData({columns, rows}, std::span<const float>(transposed)));
}

Value load_bias(const Context& context, const std::string& name, const Device& device,
                std::int64_t part, std::int64_t parts) {
  const std::vector<float>& all = context[name];
  const std::size_t count = all.size() / static_cast<std::size_t>(parts);
  const std::span<const float> range(all.data() + static_cast<std::size_t>(part) * count, count);
  return device.backend().from_data(HostData({static_cast<std::int64_t>(count)}, range));
}

std::vector<float> floats(const Value& value) {
  const HostData data = value.backend().read(value).cast(DType::f32);
  const std::span<const float> elements = data.as<float>();
  return {elements.begin(), elements.end()};
}

Runner forward_runner(const Device& device, Step step) {
  return {.run =
              [device, step](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  const auto kept = step();  // a device that waits computes only what is held
                  device.flush();
                }
                device.sync();
              },
          .outputs = [step] { return std::vector<std::vector<float>>{floats(step())}; }};
}

Runner gradient_runner(const Device& device, Steps step) {
  return {.run =
              [device, step](long iterations) {
                for (long i = 0; i < iterations; ++i) {
                  const auto kept = step();  // a device that waits computes only what is held
                  device.flush();
                }
                device.sync();
              },
          .outputs =
              [step] {
                std::vector<std::vector<float>> out;
                for (const Value& value : step()) {
                  out.push_back(floats(value));
                }
                return out;
              }};
}

Runner loss_runner(const Context& context, const std::vector<std::string>& leaves,
                   const std::function<Value(const std::vector<Value>&)>& loss) {
  const Device device = bench_device(context.options).autodiff();
  std::vector<Value> values;
  for (const std::string& name : leaves) {
    values.push_back(autodiff::require_grad(load(context, name, device)));
  }
  return gradient_runner(device, [values, loss] {
    const Gradients gradients = autodiff::backward(loss(values));
    std::vector<Value> out;
    for (const Value& value : values) {
      out.push_back(gradients.get(value));
    }
    return out;
  });
}

}  // namespace sinter::bench
