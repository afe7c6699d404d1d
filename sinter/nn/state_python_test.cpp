// SPDX-License-Identifier: MIT OR Apache-2.0
// State dicts from and for PyTorch: the same names and shapes, and nothing converted on its side.
// The fixture comes from tools/golden/state_exchange.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sinter/nn/activation.hpp"
#include "sinter/nn/conv.hpp"
#include "sinter/nn/linear.hpp"
#include "sinter/nn/norm.hpp"
#include "sinter/nn/record.hpp"
#include "sinter/nn/rnn.hpp"
#include "sinter/nn/sequential.hpp"
#include "sinter/store/record.hpp"
#include "sinter/tensor/tensor.hpp"

namespace sinter::nn {
namespace {

constexpr std::string_view fixture =
    "90040000000000007b22626e2e6e756d5f626174636865735f747261636b6564223a7b226474797065223a2249"
    "3634222c227368617065223a5b5d2c22646174615f6f666673657473223a5b302c385d7d2c22626c6f636b732e"
    "302e62696173223a7b226474797065223a22463332222c227368617065223a5b365d2c22646174615f6f666673"
    "657473223a5b382c33325d7d2c22626c6f636b732e302e776569676874223a7b226474797065223a2246333222"
    "2c227368617065223a5b362c345d2c22646174615f6f666673657473223a5b33322c3132385d7d2c22626c6f63"
    "6b732e312e776569676874223a7b226474797065223a22463332222c227368617065223a5b342c365d2c226461"
    "74615f6f666673657473223a5b3132382c3232345d7d2c22626e2e62696173223a7b226474797065223a224633"
    "32222c227368617065223a5b345d2c22646174615f6f666673657473223a5b3232342c3234305d7d2c22626e2e"
    "72756e6e696e675f6d65616e223a7b226474797065223a22463332222c227368617065223a5b345d2c22646174"
    "615f6f666673657473223a5b3234302c3235365d7d2c22626e2e72756e6e696e675f766172223a7b2264747970"
    "65223a22463332222c227368617065223a5b345d2c22646174615f6f666673657473223a5b3235362c3237325d"
    "7d2c22626e2e776569676874223a7b226474797065223a22463332222c227368617065223a5b345d2c22646174"
    "615f6f666673657473223a5b3237322c3238385d7d2c22636f6e762e62696173223a7b226474797065223a2246"
    "3332222c227368617065223a5b345d2c22646174615f6f666673657473223a5b3238382c3330345d7d2c22636f"
    "6e762e776569676874223a7b226474797065223a22463332222c227368617065223a5b342c332c325d2c226461"
    "74615f6f666673657473223a5b3330342c3430305d7d2c22686561642e302e62696173223a7b22647479706522"
    "3a22463332222c227368617065223a5b335d2c22646174615f6f666673657473223a5b3430302c3431325d7d2c"
    "22686561642e302e776569676874223a7b226474797065223a22463332222c227368617065223a5b332c345d2c"
    "22646174615f6f666673657473223a5b3431322c3436305d7d2c22686561642e322e62696173223a7b22647479"
    "7065223a22463332222c227368617065223a5b325d2c22646174615f6f666673657473223a5b3436302c343638"
    "5d7d2c22686561642e322e776569676874223a7b226474797065223a22463332222c227368617065223a5b322c"
    "335d2c22646174615f6f666673657473223a5b3436382c3439325d7d2c226c6e2e62696173223a7b2264747970"
    "65223a22463332222c227368617065223a5b345d2c22646174615f6f666673657473223a5b3439322c3530385d"
    "7d2c226c6e2e776569676874223a7b226474797065223a22463332222c227368617065223a5b345d2c22646174"
    "615f6f666673657473223a5b3530382c3532345d7d2c227461626c652e776569676874223a7b22647479706522"
    "3a22463332222c227368617065223a5b352c335d2c22646174615f6f666673657473223a5b3532342c3538345d"
    "7d7d202020200300000000000000de5a963e3c4294be5294e3be0e4fba3e30d797bd32fd8f3ec47ba5be8e48a6"
    "3e066b9b3e8c0be33ed6808fbe788ea8bdc0b11ebc1890953d7848c2bed0a9b5bee2438b3ea81ef0bd30197a3e"
    "4083e93cd01c283e802ae13db4293a3ecccd7d3eae15edbea4db803ee2ffb3be8027c1be8018f93c387faebd3a"
    "65063ec5bd9cbe35f8a73d9ad3c83d08f48bbef35946be298b0e3e57c3953d4fd331be3719fdbdd070bf3ee6b1"
    "9abde4b06b3eef03353e321d87be6bc2b1be92a3c83ed8a1ae3ccf468f3ebf43ad3d0474063eb2219c3ee432c6"
    "3e2bb48abe00000000000000000000000000000000a4b46d3d6fdec4bd5bd59b3d5283083d729f603fd448493f"
    "2679453f259d3c3f0000803f0000803f0000803f0000803f74989cbcf8848bbe0a937e3e5ebe013ec0f7893ee8"
    "72bebeafbdc6be1ba349beb18bb73e60448bbd27e8323e584542bee618cd3eeedf30be6bc09c3e58699e3bec3b"
    "5cbecae1563e4ae85dbe14e6f53d806df1bd3a5437bdcdf3c8be1b5147be9bd8623e2f3ccbbd8832d03eef8ca7"
    "3efab1f0be00a4d9bdf07f933e9807803db80abf3e9474b93e7c099f3ea445b9bec058b8be50d29abeb8a4803d"
    "6e25ff3e7eb5a1bee26a883e66b18dbebb10d23e55f9ba3e2237093fc594b7be694c003e7910ff3ef2e1c33e11"
    "3ab83e000000000000000000000000000000000000803f0000803f0000803f0000803f604e293f47aa883e4ba1"
    "7c3da70e1f3f3860e7be0b1e2abe14eac2bf136cc33eae8883bf3a2410bf276d64bfbd976ebdaa3348beeb3377"
    "bfd246d83e";
// What PyTorch's network gives for the same indices, in evaluation.
const std::vector<double> results = {0.541719854, 0.742647529, 0.538198948, 0.732535958};

struct Net {
  Embedding table;
  Conv1d conv;
  BatchNorm bn;
  std::vector<Linear> blocks;
  LayerNorm ln;
  Sequential<Linear, Relu, Linear> head;

  static Net make(const Device& device, LinearLayout layout = LinearLayout::row) {
    const auto linear = [&](std::int64_t in, std::int64_t out, bool bias = true) {
      return Linear({.in = in, .out = out, .bias = bias, .layout = layout}, device);
    };
    return {Embedding({.n_embedding = 5, .d_model = 3}, device),
            Conv1d({.in = 3, .out = 4, .kernel = {2}}, device),
            BatchNorm({.features = 4}, device),
            {linear(4, 6), linear(6, 4, false)},
            LayerNorm({.features = 4}, device),
            Sequential<Linear, Relu, Linear>(linear(4, 3), Relu{}, linear(3, 2))};
  }
  Tensor<2> forward(const Tensor<2, Int>& ids) const {
    const Tensor<3> embedded = table.forward(ids).transpose(1, 2);
    Tensor<2> x = bn.forward(conv.forward(embedded)).mean(2);
    for (const Linear& block : blocks) {
      x = block.forward(x).tanh();
    }
    return head.forward(ln.forward(x));
  }
};

Tensor<2, Int> ids(const Device& device) {
  return Tensor<2, Int>::from({{0, 4, 2, 1}, {3, 3, 0, 2}}, device);
}

store::Record from_python() {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < fixture.size(); i += 2) {
    const std::string pair(fixture.substr(i, 2));
    bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
  }
  return store::Record::from_bytes(bytes, "fixture");
}

TEST(Cases, SER_09_a_state_dict_of_pytorch_loads_as_it_is) {
  const Device device = Device::portable();
  for (const LinearLayout layout : {LinearLayout::row, LinearLayout::column}) {
    Net net = Net::make(device, layout);
    const LoadReport report = load_state(net, from_python());
    EXPECT_TRUE(report.complete()) << report.str();
    EXPECT_TRUE(report.unused.empty()) << report.str();
    EXPECT_EQ(net.bn.num_batches_tracked.tensor().item<std::int64_t>(), 3);
    const std::vector<double> got = net.forward(ids(device)).to_data().to_doubles();
    ASSERT_EQ(got.size(), results.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], results[i], 1e-5);
    }
  }
}

// The record that we write has the same names, shapes, dtypes and bits as the one that we read.
TEST(Cases, SER_09_what_was_loaded_is_saved_as_it_was) {
  Net net = Net::make(Device::portable());
  const store::Record wanted = from_python();
  load_state(net, wanted);
  const store::Record written = state(net);
  ASSERT_EQ(written.size(), wanted.size());
  for (const store::Record::Entry& entry : wanted.entries()) {
    ASSERT_TRUE(written.contains(entry.name)) << entry.name;
    EXPECT_TRUE(written.at(entry.name) == *entry.data) << entry.name;
  }
}

TEST(Cases, SER_09_batches_are_counted_in_training_alone) {
  const Device device = Device::portable().autodiff();
  BatchNorm layer({.features = 2}, device);
  const auto x = Tensor<2>::random({4, 2}, Distribution::normal(0, 1), device);
  (void)layer.forward(x);
  (void)layer.forward(x);
  (void)valid(layer).forward(x.inner());
  const Tensor<0, Int> batches = layer.num_batches_tracked.tensor();
  EXPECT_EQ(batches.item<std::int64_t>(), 2);
  EXPECT_EQ(batches.dtype(), DType::i64);
}

TEST(Cases, SER_09_recurrent_weights_lie_as_in_pytorch) {
  const Lstm lstm({.in = 3, .hidden = 5}, Device::portable());
  const store::Record record = state(lstm);
  EXPECT_EQ(record.at("weight_input").shape(), (Shape{20, 3}));
  EXPECT_EQ(record.at("weight_hidden").shape(), (Shape{20, 5}));
  EXPECT_EQ(record.at("bias_input").shape(), (Shape{20}));
}

TEST(Python, writes_a_state_dict_for_pytorch_to_check) {
  const char* path = std::getenv("SINTER_GOLDEN_OUT");
  if (!path) {
    GTEST_SKIP() << "[SKIP] set SINTER_GOLDEN_OUT to a path, then run "
                    "tools/golden/state_exchange.py check on it";
  }
  const Device device = Device::portable().autodiff();
  const Net net = Net::make(device);
  (void)net.forward(ids(device));
  (void)net.forward(ids(device));
  save(net, path);
  store::Record result;
  result.add("result", valid(net).forward(ids(device.inner())).to_data());
  result.save(std::string(path) + ".result");
}

}  // namespace
}  // namespace sinter::nn
