// SPDX-License-Identifier: MIT OR Apache-2.0
// Configs survive the way through JSON; wrong text is an error that says where.
#include "sinter/nn/config_json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "sinter/base/error.hpp"

namespace sinter::nn {
namespace {

enum class Padding { none, same = 5 };

struct Layer {
  std::int64_t units = 16;
  float dropout = 0.1f;
  bool bias = true;
  bool operator==(const Layer&) const = default;
};
struct Config {
  std::string name = "net";
  std::vector<Layer> layers;
  std::array<int, 2> kernel = {3, 3};
  std::optional<double> clip;
  Padding padding = Padding::none;
  Layer head;
  std::uint8_t small = 1;
  std::uint64_t seed = 0;
  std::vector<bool> mask;
  std::vector<std::string> tags;
  double rate = 1e-3;
  bool operator==(const Config&) const = default;
};
struct Nothing {};

std::string failure(std::string_view text) {
  try {
    config_from_json<Config>(text);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConfigJson, survives_the_round_trip) {
  Config config;
  config.name = "quote \" and \\ and \n and é";
  config.layers = {{1, 0.3f, false}, {-7, 1e-30f, true}};
  config.kernel = {1, 7};
  config.clip = 0.1;
  config.padding = Padding::same;
  config.head.units = std::numeric_limits<std::int64_t>::min();
  config.small = 255;
  config.seed = std::numeric_limits<std::uint64_t>::max();
  config.mask = {true, false, true};
  config.tags = {"a", ""};
  config.rate = 0.1 + 0.2;
  EXPECT_EQ(config_from_json<Config>(config_to_json(config)), config);
  EXPECT_EQ(config_from_json<Config>(config_to_json(Config{})), Config{});
}

TEST(ConfigJson, text_is_readable) {
  EXPECT_EQ(config_to_json(Layer{}),
            "{\n  \"units\": 16,\n  \"dropout\": 0.1,\n  \"bias\": true\n}");
  EXPECT_EQ(config_to_json(Nothing{}), "{}");
  EXPECT_NE(config_to_json(Config{}).find("\"kernel\": [3, 3]"), std::string::npos);
  EXPECT_NE(config_to_json(Config{}).find("\"clip\": null"), std::string::npos);
}

TEST(ConfigJson, numbers_that_json_lacks) {
  Config config;
  config.rate = -std::numeric_limits<double>::infinity();
  config.clip = std::numeric_limits<double>::quiet_NaN();
  const auto back = config_from_json<Config>(config_to_json(config));
  EXPECT_EQ(back.rate, config.rate);
  ASSERT_TRUE(back.clip.has_value());
  EXPECT_TRUE(std::isnan(*back.clip));
}

TEST(ConfigJson, missing_members_keep_their_defaults) {
  const auto config = config_from_json<Config>(R"({"head": {"bias": false}, "rate": 2})");
  EXPECT_EQ(config.head.units, 16);
  EXPECT_FALSE(config.head.bias);
  EXPECT_EQ(config.rate, 2.0);
  EXPECT_EQ(config.name, "net");
}

TEST(ConfigJson, unknown_key_is_named_with_the_known_ones) {
  EXPECT_EQ(failure(R"({"head": {"unit": 3}})"),
            "config: unknown key 'head.unit'; expected one of: units, dropout, bias");
}

TEST(ConfigJson, mistyped_value_is_named_with_the_expected_type) {
  EXPECT_EQ(failure(R"({"layers": [{"units": 1}, {"units": "many"}]})"),
            "config: 'layers.1.units' must be an integer from -9223372036854775808 to "
            "9223372036854775807, got \"many\"; correct the value");
  const auto has = [](const std::string& text, const char* key, const char* type) {
    const std::string message = failure(text);
    EXPECT_NE(message.find(key), std::string::npos) << message;
    EXPECT_NE(message.find(type), std::string::npos) << message;
  };
  has(R"({"small": 256})", "'small'", "an integer from 0 to 255");
  has(R"({"small": -1})", "'small'", "an integer from 0 to 255");
  has(R"({"seed": 1.5})", "'seed'", "an integer");
  has(R"({"seed": 18446744073709551616})", "'seed'", "an integer");
  has(R"({"rate": null})", "'rate'", "a number");
  has(R"({"rate": "fast"})", "'rate'", "a number");
  has(R"({"head": {"dropout": 1e300}})", "'head.dropout'", "a number");
  has(R"({"head": []})", "'head'", "an object");
  has(R"({"head": {"bias": 1}})", "'head.bias'", "true or false");
  has(R"({"kernel": [1]})", "'kernel'", "an array of 2 elements");
  has(R"({"tags": {}})", "'tags'", "an array");
  has(R"({"tags": [3]})", "'tags.0'", "a string");
  has(R"({"padding": "same"})", "'padding'", "an integer");
  has(R"([])", "the document", "an object");
}

TEST(ConfigJson, text_that_is_no_json) {
  for (const char* text : {"", "{", "{\"rate\": }", "nonsense", "{\"a\":1}}", "\xff\xfe"}) {
    EXPECT_NE(failure(text).find("expected JSON text"), std::string::npos) << text;
  }
  EXPECT_NE(failure(std::string(100000, '[')).find("expected JSON text"), std::string::npos);
}

}  // namespace
}  // namespace sinter::nn
