// SPDX-License-Identifier: MIT OR Apache-2.0
// Einstein's summation: operands are contracted from left to right, two at a time, each by one
// batched matmul.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sinter/base/error.hpp"
#include "sinter/ops/derived/linalg.hpp"
#include "sinter/ops/functions.hpp"
#include "sinter/ops/join/join.hpp"

namespace sinter::ops {
namespace {

bool has(std::string_view labels, char label) { return labels.find(label) != labels.npos; }

[[noreturn]] void refuse(std::string_view equation, const std::string& why) {
  throw ArgumentError(fmt::format("einsum: \"{}\": {}", equation, why));
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

void check_labels(std::string_view equation, std::string_view labels) {
  for (const char label : labels) {
    if (!((label >= 'a' && label <= 'z') || (label >= 'A' && label <= 'Z'))) {
      refuse(equation, fmt::format("'{}' is no label; use letters", label));
    }
  }
}

Equation parse(std::string_view equation) {
  std::string text(equation);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation result;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (std::size_t start = 0;;) {
    const std::size_t comma = left.find(',', start);
    result.inputs.push_back(left.substr(start, comma - start));
    check_labels(equation, result.inputs.back());
    if (comma == left.npos) {
      break;
    }
    start = comma + 1;
  }
  if (arrow != text.npos) {
    result.output = text.substr(arrow + 2);
  } else {
    for (const char label : left) {
      if (label != ',' && std::count(left.begin(), left.end(), label) == 1) {
        result.output += label;
      }
    }
    std::sort(result.output.begin(), result.output.end());
  }
  check_labels(equation, result.output);
  for (std::size_t i = 0; i < result.output.size(); ++i) {
    const char label = result.output[i];
    if (!has(left, label)) {
      refuse(equation, fmt::format("label {} of the result is in no operand", label));
    }
    if (has(std::string_view(result.output).substr(0, i), label)) {
      refuse(equation, fmt::format("label {} occurs twice in the result", label));
    }
  }
  return result;
}

// A value whose dims are named.
struct Named {
  Value value;
  std::string labels;
};

// A label that names several dims of an operand names their diagonal.
Named diagonal(Named x) {
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    for (std::size_t j; (j = x.labels.find(x.labels[i], i + 1)) != x.labels.npos;) {
      Dims order;
      for (std::size_t dim = 0; dim < x.labels.size(); ++dim) {
        if (dim != i && dim != j) {
          order.push_back(static_cast<std::int64_t>(dim));
        }
      }
      order.push_back(static_cast<std::int64_t>(i));
      order.push_back(static_cast<std::int64_t>(j));
      const char label = x.labels[i];
      x.value = diag(permute(x.value, order), 0);
      x.labels.erase(j, 1);
      x.labels.erase(i, 1);
      x.labels += label;
      i = 0;
    }
  }
  return x;
}

// Sums over the dims whose labels are not in `wanted`.
Named summed(Named x, std::string_view wanted) {
  Dims dims;
  std::string labels;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (has(wanted, x.labels[i])) {
      labels += x.labels[i];
    } else {
      dims.push_back(static_cast<std::int64_t>(i));
    }
  }
  return dims.empty() ? std::move(x) : Named{sum(x.value, dims), std::move(labels)};
}

Value arranged(const Named& x, const std::string& order) {
  Dims dims;
  for (const char label : order) {
    dims.push_back(static_cast<std::int64_t>(x.labels.find(label)));
  }
  return order == x.labels ? x.value : permute(x.value, dims);
}

std::int64_t product(const Named& x, const std::string& labels) {
  std::int64_t n = 1;
  for (const char label : labels) {
    n *= x.value.size(static_cast<int>(x.labels.find(label)));
  }
  return n;
}

// One batched matmul: labels in both are a batch where they are still wanted, else contracted.
Named contract(Named a, Named b, std::string_view wanted, SourceLoc where) {
  a = summed(std::move(a), std::string(wanted) + b.labels);
  b = summed(std::move(b), std::string(wanted) + a.labels);
  std::string batch, inner, rows, columns;
  for (const char label : a.labels) {
    (!has(b.labels, label) ? rows : has(wanted, label) ? batch : inner) += label;
  }
  for (const char label : b.labels) {
    if (!has(a.labels, label)) {
      columns += label;
    }
  }
  const std::int64_t n = product(a, batch), m = product(a, rows), k = product(a, inner),
                     p = product(b, columns);
  const Value left = reshape(arranged(a, batch + rows + inner), {n, m, k});
  const Value right = reshape(arranged(b, batch + inner + columns), {n, k, p});
  Shape shape;
  const std::string labels = batch + rows + columns;
  for (const char label : labels) {
    const Named& source = has(a.labels, label) ? a : b;
    shape.push_back(source.value.size(static_cast<int>(source.labels.find(label))));
  }
  return {reshape(call(OpCode::matmul, {left, right}, where), shape), labels};
}

void check_sizes(std::string_view equation, const std::vector<Named>& operands) {
  std::array<std::int64_t, 128> sizes;
  sizes.fill(-1);
  for (const Named& x : operands) {
    if (x.value.rank() != static_cast<int>(x.labels.size())) {
      throw ShapeError(
          fmt::format("einsum: \"{}\": \"{}\" names {} dims and the operand has shape {}", equation,
                      x.labels, x.labels.size(), x.value.shape().str()));
    }
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      std::int64_t& size = sizes[static_cast<std::size_t>(x.labels[i])];
      const std::int64_t here = x.value.size(static_cast<int>(i));
      if (size >= 0 && size != here) {
        throw ShapeError(
            fmt::format("einsum: \"{}\": label {} has size {} and {}; they must be equal", equation,
                        x.labels[i], size, here));
      }
      size = here;
    }
  }
}

}  // namespace

Value einsum(std::string_view equation, std::span<const Value> operands, SourceLoc where) {
  const Equation parsed = parse(equation);
  if (parsed.inputs.size() != operands.size()) {
    refuse(equation,
           fmt::format("names {} operands, got {}", parsed.inputs.size(), operands.size()));
  }
  std::vector<Named> named;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    named.push_back({operands[i], parsed.inputs[i]});
  }
  check_sizes(equation, named);
  for (Named& x : named) {
    x = diagonal(std::move(x));
  }
  Named result = named[0];
  for (std::size_t i = 1; i < named.size(); ++i) {
    std::string wanted = parsed.output;
    for (std::size_t j = i + 1; j < named.size(); ++j) {
      wanted += named[j].labels;
    }
    result = contract(std::move(result), named[i], wanted, where);
  }
  result = summed(std::move(result), parsed.output);
  return arranged(result, parsed.output);
}

}  // namespace sinter::ops
