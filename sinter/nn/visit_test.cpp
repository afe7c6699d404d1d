// SPDX-License-Identifier: MIT OR Apache-2.0
// Nested traversal: paths, order, constness, empty holders, plain data.
#include "sinter/nn/visit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace sinter::nn {

struct Weight {
  int id = 0;
};
template <>
inline constexpr bool is_leaf<Weight> = true;

struct Cache {
  explicit Cache(int n) : n_(n) {}
  int n_;
};
template <>
inline constexpr bool is_opaque<Cache> = true;

namespace {

enum class Mode { zeros, reflect };

struct Dense {
  Weight weight;
  std::optional<Weight> bias;
  int units = 3;
};
struct Relu {};
struct Scale {
  Weight gain;
};
struct Block {
  std::vector<Dense> layers;
  std::array<Scale, 2> scales;
  std::variant<Relu, Scale> activation;
  std::unique_ptr<Dense> gate;
  std::shared_ptr<Scale> shared;
  std::map<std::string, Scale> heads;
};
struct Net {
  Block block;
  Weight last;
  std::string name = "net";
  Mode mode = Mode::reflect;
  std::vector<int> sizes = {1, 2};
  std::vector<bool> flags = {true};
  std::optional<double> rate;
  bool trained = false;
  const Net* parent = nullptr;
  Cache cache{1};
};
struct Tree {
  Weight weight;
  std::vector<Tree> children;
};

Net make_net() {
  Net net;
  net.block.layers.push_back({{1}, Weight{2}});
  net.block.layers.push_back({{3}, {}});
  net.block.scales = {Scale{{4}}, Scale{{5}}};
  net.block.activation = Scale{{6}};
  net.block.gate = std::make_unique<Dense>(Dense{{7}, {}});
  net.block.shared = std::make_shared<Scale>(Scale{{8}});
  net.block.heads["left"] = Scale{{9}};
  net.last = {10};
  return net;
}

TEST(Visit, gives_dotted_paths_in_order) {
  Net net = make_net();
  std::vector<std::pair<std::string, int>> seen;
  visit(net, "",
        [&](const std::string& path, Weight& weight) { seen.push_back({path, weight.id}); });
  const std::vector<std::pair<std::string, int>> expected = {
      {"block.layers.0.weight", 1}, {"block.layers.0.bias", 2},
      {"block.layers.1.weight", 3}, {"block.scales.0.gain", 4},
      {"block.scales.1.gain", 5},   {"block.activation.gain", 6},
      {"block.gate.weight", 7},     {"block.shared.gain", 8},
      {"block.heads.left.gain", 9}, {"last", 10}};
  EXPECT_EQ(seen, expected);
}

TEST(Visit, skips_empty_holders_and_keeps_the_prefix) {
  Net net;
  std::vector<std::string> seen;
  visit(net, "model", [&](const std::string& path, Weight&) { seen.push_back(path); });
  EXPECT_EQ(seen, (std::vector<std::string>{"model.block.scales.0.gain",
                                            "model.block.scales.1.gain", "model.last"}));
}

TEST(Visit, writes_reach_the_object) {
  Net net = make_net();
  visit(net, "", [](const std::string&, Weight& weight) { weight.id = -1; });
  EXPECT_EQ(net.block.gate->weight.id, -1);
  EXPECT_EQ(std::get<Scale>(net.block.activation).gain.id, -1);
  EXPECT_EQ(net.block.layers[0].bias->id, -1);
}

TEST(Visit, a_const_object_has_const_leaves_behind_pointers_too) {
  const Net net = make_net();
  int count = 0;
  visit(net, "", [&](const std::string&, auto& weight) {
    static_assert(std::is_same_v<decltype(weight), const Weight&>);
    ++count;
  });
  EXPECT_EQ(count, 10);
}

TEST(Visit, shows_plain_data_to_the_second_visitor) {
  Net net;
  net.block.layers.resize(1);
  std::vector<std::string> seen;
  visit(
      net, "", [](const std::string&, Weight&) {},
      [&](const std::string& path, auto&) { seen.push_back(path); });
  EXPECT_EQ(seen, (std::vector<std::string>{"block.layers.0.units", "name", "mode", "sizes",
                                            "flags", "rate", "trained"}));
}

TEST(Visit, handles_recursive_types) {
  Tree tree{{1}, {Tree{{2}, {}}, Tree{{3}, {Tree{{4}, {}}}}}};
  std::vector<std::string> seen;
  visit(tree, "", [&](const std::string& path, Weight&) { seen.push_back(path); });
  EXPECT_EQ(seen, (std::vector<std::string>{"weight", "children.0.weight", "children.1.weight",
                                            "children.1.children.0.weight"}));
}

TEST(Visit, starts_at_a_leaf_or_a_container) {
  Weight leaf;
  std::string path_seen = "unset";
  visit(leaf, "w", [&](const std::string& path, Weight&) { path_seen = path; });
  EXPECT_EQ(path_seen, "w");
  std::vector<Weight> list(2);
  std::string joined;
  visit(list, "", [&](const std::string& path, Weight&) { joined += path; });
  EXPECT_EQ(joined, "01");
}

}  // namespace
}  // namespace sinter::nn
