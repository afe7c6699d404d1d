// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the IDX reader against crafted files, and of Fashion-MNIST.
#include "sinter/data/idx.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <random>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/base/os/process.hpp"
#include "sinter/data/fashion_mnist.hpp"

namespace sinter::data {
namespace {

using namespace std::string_literals;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

HostData parse(const std::string& file) {
  return parse_idx(std::as_bytes(std::span(file.data(), file.size())), "x.idx");
}

void expect_fault(const std::string& file, std::string_view part) {
  try {
    (void)parse(file);
    ADD_FAILURE() << "no FormatError, expected: " << part;
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("x.idx: ")) << message;
  }
}

const std::string bytes_2x3 = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"s + "\1\2\3\4\5\xff"s;

TEST(Idx, reads_every_type) {
  EXPECT_TRUE(parse(bytes_2x3) ==
              HostData({2, 3}, std::span<const std::uint8_t>({1, 2, 3, 4, 5, 255})));
  const std::string one = "\0\0\0\1"s;
  EXPECT_EQ(parse("\0\0\x09\1"s + one + "\xfe"s).int_at(0), -2);
  EXPECT_EQ(parse("\0\0\x0b\1"s + one + "\xff\xfe"s).int_at(0), -2);
  EXPECT_EQ(parse("\0\0\x0c\1"s + one + "\0\1\0\2"s).int_at(0), 65538);
  EXPECT_EQ(parse("\0\0\x0d\1"s + one + "\x3f\xc0\0\0"s).at(0), 1.5);
  EXPECT_EQ(parse("\0\0\x0e\1"s + one + "\xc0\x04\0\0\0\0\0\0"s).at(0), -2.5);
  EXPECT_EQ(parse("\0\0\x08\2\0\0\0\0\0\0\0\5"s).shape(), Shape({0, 5}));
}

TEST(Idx, reads_gzip) {
  EXPECT_TRUE(parse(gzip(bytes_2x3)) == parse(bytes_2x3));
  // Two members, one after the other, are one file.
  EXPECT_TRUE(parse(gzip(bytes_2x3.substr(0, 9)) + gzip(bytes_2x3.substr(9))) == parse(bytes_2x3));
}

TEST(Idx, hostile_heads) {
  expect_fault("", "got 0 bytes in all");
  expect_fault("\0\0\x08"s, "got 3 bytes in all");
  expect_fault("\0\1\x08\1\0\0\0\1x"s, "got 00 01 08 01");
  expect_fault("\0\0\x0a\1\0\0\0\1x"s, "got 0x0a");
  expect_fault("\0\0\x08\0"s, "expected 1 to 8 dimensions, got 0");
  expect_fault("\0\0\x08\x09"s, "got 9");
  expect_fault("\0\0\x08\2\0\0\0\1\0\0"s, "ends in its header, before size 1 of 2");
  expect_fault("\0\0\x08\2"s + "\xff\xff\xff\xff\xff\xff\xff\xff"s, "doesn't fit 63 bits");
  expect_fault("\0\0\x0e\2"s + "\x7f\xff\xff\xff\xff\xff\xff\xff"s, "doesn't fit 63 bits");
  expect_fault("\0\0\x08\3"s + "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"s, "doesn't fit 63 bits");
}

TEST(Idx, hostile_sizes) {
  expect_fault(bytes_2x3.substr(0, 17), "promise 6 bytes, the file holds at most 5");
  expect_fault(bytes_2x3 + "x", "goes on after the 6 bytes");
  // 2^31 bytes promised by a dozen: refused before memory is asked for.
  expect_fault("\0\0\x08\1\x7f\xff\xff\xff"s, "it is truncated");
}

TEST(Idx, hostile_gzip) {
  const std::string good = gzip(bytes_2x3);
  expect_fault(good.substr(0, good.size() - 9), "is truncated");
  expect_fault(good.substr(0, 2), "is truncated");
  expect_fault(good + "rest", "damaged");
  expect_fault(gzip(bytes_2x3.substr(0, 17)), "promise 6 bytes, the file holds 5");
  expect_fault(gzip(bytes_2x3 + "x"), "goes on after the 6 bytes");
  std::string broken = good;
  broken[good.size() - 6] = static_cast<char>(broken[good.size() - 6] ^ 1);
  expect_fault(broken, "incorrect data check");
}

TEST(Idx, gzip_bombs_use_little_memory) {
  // 32 MiB of zeros behind a header that promises six bytes, and six behind one that promises 2
  // GiB.
  const std::string bomb = gzip("\0\0\x08\1\0\0\0\6"s + std::string(32u << 20, '\0'));
  EXPECT_LT(bomb.size(), 100'000u);
  [[maybe_unused]] const std::size_t before = os::peak_resident_bytes();
  expect_fault(bomb, "goes on after the 6 bytes");
  expect_fault(gzip("\0\0\x08\1\x7f\xff\xff\xff"s + std::string(6, '\0')), "at most");
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory for a while
  EXPECT_LT(os::peak_resident_bytes() - before, 16u << 20);
#endif
}

TEST(Idx, mutated_files_only_throw_format_errors) {
  std::mt19937 random(5);
  for (const std::string& good : {bytes_2x3, gzip(bytes_2x3)}) {
    for (int round = 0; round < 10'000; ++round) {
      std::string file = good;
      for (unsigned edit = 0; edit < 1 + random() % 3 && !file.empty(); ++edit) {
        const std::size_t at = random() % file.size();
        switch (random() % 4) {
          case 0:
            file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
            break;
          case 1:
            file[at] = static_cast<char>(random());
            break;
          case 2:
            file.resize(at);
            break;
          default:
            file.insert(at, random() % 5, static_cast<char>(random()));
            break;
        }
      }
      try {
        (void)parse(file).to_doubles();
      } catch (const FormatError&) {
      }
    }
  }
}

TEST(Cases, DAT_09_fashion_mnist) {
  if (!os::path_exists("/usr/share/datasets/fashion-mnist") && !os::environment("SINTER_DATA")) {
    GTEST_SKIP() << "[SKIP] dataset-fashion-mnist is not installed";
  }
  const LabelledImages test = load_fashion_mnist(Split::test);
  EXPECT_EQ(test.images.shape(), Shape({10'000, 28, 28}));
  std::vector<int> counts(10);
  for (const std::uint8_t label : test.labels.as<std::uint8_t>()) {
    ++counts[label];
  }
  EXPECT_EQ(counts, std::vector<int>(10, 1000));
  EXPECT_EQ(fashion_mnist_classes()[static_cast<std::size_t>(test.labels.int_at(0))], "Ankle boot");
  const ImageDataset train = fashion_mnist(Split::train);
  EXPECT_EQ(train.size(), 60'000);
  // The constants are the mean and deviation of these pixels.
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t pixel : train.pixels().as<std::uint8_t>()) {
    sum += pixel;
    squares += double(pixel) * pixel;
  }
  const double count = static_cast<double>(train.pixels().num_elements());
  const double mean = sum / count / 255;
  EXPECT_NEAR(mean, fashion_mnist_mean, 1e-4);
  EXPECT_NEAR(std::sqrt(squares / count / 255 / 255 - mean * mean), fashion_mnist_std, 1e-4);
  const ImageItem item = train.get(7);
  EXPECT_EQ(item.image.shape(), Shape({1, 28, 28}));
  for (std::int64_t i = 0; i < 784; ++i) {
    EXPECT_NEAR(item.image.at(i),
                (train.pixels().at(7 * 784 + i) / 255 - fashion_mnist_mean) / fashion_mnist_std,
                1e-5);
  }
}

TEST(FashionMnist, missing_files_name_the_package) {
  try {
    (void)load_fashion_mnist(Split::train, "/nonexistent");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("apt-get install dataset-fashion-mnist"),
              std::string::npos);
  }
}

TEST(FashionMnist, other_folders_and_wrong_content) {
  std::string folder = os::join_path(os::temporary_directory(), "sinter-data-XXXXXX");
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto put = [&](const char* name, const std::string& content) {
    os::write_file_atomic(os::join_path(folder, name), content);
  };
  put("t10k-images-idx3-ubyte", "\0\0\x08\3\0\0\0\1\0\0\0\x1c\0\0\0\x1c"s + std::string(784, '\7'));
  EXPECT_THROW((void)load_fashion_mnist(Split::test, folder), IoError);
  put("t10k-labels-idx1-ubyte.gz", gzip("\0\0\x08\1\0\0\0\1\x09"s));
  os::set_environment("SINTER_DATA", folder);
  EXPECT_EQ(load_fashion_mnist(Split::test).labels.int_at(0), 9);
  os::set_environment("SINTER_DATA", std::nullopt);
  put("t10k-labels-idx1-ubyte.gz", gzip("\0\0\x08\1\0\0\0\1\x0a"s));
  EXPECT_THROW((void)load_fashion_mnist(Split::test, folder), FormatError);
  put("t10k-labels-idx1-ubyte.gz", gzip("\0\0\x08\1\0\0\0\2\1\1"s));
  EXPECT_THROW((void)load_fashion_mnist(Split::test, folder), FormatError);
  os::remove_tree(folder);
}

}  // namespace
}  // namespace sinter::data
