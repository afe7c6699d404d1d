// SPDX-License-Identifier: MIT OR Apache-2.0
// Images with their predicted and true classes, as text.
#include "sinter/apps/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::apps {

namespace {

constexpr std::string_view shades = " .:-=+*#%@";
// 24 columns an image: three stand beside each other in 80, with the margins cut off.
constexpr std::int64_t columns = 24;
constexpr std::size_t per_row = 3;

/// Two rows of pixels become one line: a character is about twice as high as it is wide.
std::string line_of(std::span<const std::uint8_t> image, std::int64_t line, std::int64_t width) {
  const std::int64_t margin = std::max<std::int64_t>((width - columns) / 2, 0);
  std::string out;
  for (std::int64_t x = margin; x < width - margin; ++x) {
    const auto at = [&](std::int64_t row) {
      return static_cast<std::size_t>(image[static_cast<std::size_t>(row * width + x)]);
    };
    const std::size_t mean = (at(2 * line) + at(2 * line + 1)) / 2;
    out += shades[mean * (shades.size() - 1) / 255];
  }
  return out;
}

}  // namespace

std::vector<Prediction> predictions_of(const HostData& logits, const HostData& labels,
                                       std::span<const std::string_view> classes) {
  const std::span<const float> all = logits.as<float>();
  std::vector<Prediction> out;
  for (std::int64_t i = 0; i < labels.num_elements(); ++i) {
    const auto row = all.subspan(static_cast<std::size_t>(i) * classes.size(), classes.size());
    const auto best =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    double sum = 0;
    for (const float logit : row) {
      sum += std::exp(static_cast<double>(logit) - static_cast<double>(row[best]));
    }
    out.push_back({.predicted = classes[best],
                   .truth = classes[static_cast<std::size_t>(labels.int_at(i))],
                   .probability = 1 / sum});
  }
  return out;
}

std::string side_by_side(const HostData& pixels, std::span<const Prediction> predictions) {
  const std::int64_t height = pixels.shape()[2], width = pixels.shape()[3];
  const std::span<const std::uint8_t> all = pixels.as<std::uint8_t>();
  std::string out;
  const auto row_of_cells = [&](std::size_t first, std::size_t last, auto cell) {
    std::string line;
    for (std::size_t i = first; i < last; ++i) {
      line += fmt::format("{:<{}}  ", cell(i), columns);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (std::size_t first = 0; first < predictions.size(); first += per_row) {
    const std::size_t last = std::min(first + per_row, predictions.size());
    for (std::int64_t line = 0; line < height / 2; ++line) {
      row_of_cells(first, last, [&](std::size_t i) {
        const auto size = static_cast<std::size_t>(height * width);
        return line_of(all.subspan(i * size, size), line, width);
      });
    }
    row_of_cells(first, last, [&](std::size_t i) {
      return fmt::format("model: {} {:.0f} %", predictions[i].predicted,
                         100 * predictions[i].probability);
    });
    row_of_cells(first, last, [&](std::size_t i) {
      return fmt::format("truth: {}{}", predictions[i].truth,
                         predictions[i].truth == predictions[i].predicted ? "" : " (wrong)");
    });
    out += '\n';
  }
  return out;
}

}  // namespace sinter::apps
