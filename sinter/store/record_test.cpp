// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of records: round trips, ties, lazy reading, damage, and saving under fire.
#include "sinter/store/record.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <random>

#include "sinter/base/error.hpp"
#include "sinter/base/os/file.hpp"
#include "sinter/store/inspect.hpp"

namespace sinter::store {
namespace {

// A folder of this test alone, removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = os::join_path(os::temporary_directory(), "sinter-store-XXXXXX");
    path_ = mkdtemp(name.data());
  }
  ~Folder() { os::remove_tree(path_); }
  std::string file(const std::string& name) const { return os::join_path(path_, name); }
  std::size_t count() const { return os::list_directory(path_).size(); }

 private:
  std::string path_;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

HostData random_data(const Shape& shape, DType dtype, std::mt19937& random) {
  HostData data(shape, dtype);
  for (std::byte& byte : data.bytes()) {
    byte = static_cast<std::byte>(dtype == DType::boolean ? random() & 1 : random() & 255);
  }
  return data;
}

Record every_dtype() {
  std::mt19937 random(7);
  Record record;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name(name_of(dtype));
    record.add(name + ".scalar", random_data({}, dtype, random));
    record.add(name + ".empty", random_data({0, 3}, dtype, random));
    record.add(name + ".odd", random_data({3, 5}, dtype, random));
    record.add(name + ".deep", random_data({1, 2, 1, 2, 1, 2, 1, 3}, dtype, random));
  }
  record.metadata() = {{"epoch", "3"}, {"text", "žluťoučký \"kůň\"\n\x01"}, {"", ""}};
  return record;
}

void expect_equal(const Record& a, const Record& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a.entries()[i].name, b.entries()[i].name);
    EXPECT_TRUE(*a.entries()[i].data == *b.entries()[i].data) << a.entries()[i].name;
  }
  EXPECT_EQ(a.metadata(), b.metadata());
}

TEST(Record, round_trip_of_every_dtype) {
  const Folder folder;
  const Record record = every_dtype();
  record.save(folder.file("r.safetensors"));
  expect_equal(record, Record::load(folder.file("r.safetensors")));
  expect_equal(record, Record::from_bytes(record.to_bytes()));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Record, nan_payloads_and_halves_survive) {
  const float values[] = {std::nanf("17"), -0.0f, INFINITY, 1e-42f};
  Record record;
  record.add("f", HostData({4}, std::span<const float>(values)));
  record.add("h", HostData({2}, {f16(65504.0f), f16(-0.0f)}));
  record.add("b", HostData({1}, {bf16(3e38f)}));
  const Record back = Record::from_bytes(record.to_bytes());
  EXPECT_EQ(std::memcmp(back.at("f").bytes().data(), values, sizeof values), 0);
  EXPECT_EQ(static_cast<float>(back.at("h").as<f16>()[0]), 65504.0f);
  EXPECT_TRUE(back.at("b") == record.at("b"));
}

TEST(Record, names_are_checked) {
  Record record;
  record.add("layer.weight", HostData({1}, {1.0f}));
  EXPECT_THROW(record.add("layer.weight", HostData()), ArgumentError);
  EXPECT_THROW(record.add("__metadata__", HostData()), ArgumentError);
  EXPECT_THROW(record.add("null", Record::Storage()), ArgumentError);
  EXPECT_THROW(record.add_alias("a", "missing"), ArgumentError);
  try {
    (void)record.at("layer.wieght");
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(),
                 "Record: there is no entry `layer.wieght`; the closest are `layer.weight`");
  }
  record.metadata()["sinter.aliases"] = "{}";
  EXPECT_THROW((void)record.to_bytes(), ArgumentError);
}

TEST(Record, parts_and_prefixes) {
  Record inner;
  inner.add("w", HostData({1}, {1.0f}));
  inner.add_alias("v", "w");
  Record outer;
  outer.add_all("model.", inner);
  outer.add("step", HostData({}, {std::int64_t{5}}));
  EXPECT_TRUE(outer.tied("model.w", "model.v"));
  EXPECT_EQ(outer.part("model.").size(), 2u);
  EXPECT_TRUE(outer.part("model.").tied("w", "v"));
}

TEST(Cases, SER_12_ties_are_saved_once_and_stay) {
  const Folder folder;
  Record record;
  record.add("encoder.weight", HostData({1000}, DType::f32));
  record.add("other", HostData({1000}, DType::f32));
  record.add_alias("decoder.weight", "encoder.weight");
  record.add("head", record.share("encoder.weight"));
  record.metadata()["k"] = "v";
  record.save(folder.file("tied"));
  EXPECT_LT(os::file_size(folder.file("tied")), 8600u);
  const Record back = Record::load(folder.file("tied"));
  EXPECT_EQ(back.size(), 4u);
  EXPECT_TRUE(back.tied("decoder.weight", "encoder.weight"));
  EXPECT_TRUE(back.tied("head", "encoder.weight"));
  EXPECT_FALSE(back.tied("other", "encoder.weight"));
  EXPECT_EQ(back.metadata(), record.metadata());
  back.save(folder.file("again"));
  EXPECT_EQ(os::read_file(folder.file("tied")), os::read_file(folder.file("again")));
}

std::string file_with_aliases(const std::string& aliases) {
  std::string quoted;
  for (const char c : aliases) {
    quoted += c == '"' ? "\\\"" : std::string(1, c);
  }
  std::string header = R"({"__metadata__":{"sinter.aliases":")" + quoted +
                       R"("},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + '\7';
}

TEST(Record, hostile_aliases) {
  EXPECT_TRUE(Record::from_bytes(bytes_of(file_with_aliases(R"({"v":"w"})"))).tied("v", "w"));
  for (const std::string bad :
       {R"({"v":"x"})", R"({"w":"w"})", R"({"v":"w","v":"w"})", R"({"v":1})", R"({"v":{"w":"w"}})",
        R"({"v":["w"]})", R"(["w"])", "7", "", "{", R"({"__metadata__":"w"})", R"({"v":"w"}})",
        R"({"a":"b","b":"w"})"}) {
    EXPECT_THROW((void)Record::from_bytes(bytes_of(file_with_aliases(bad))), FormatError) << bad;
  }
  EXPECT_THROW((void)Record::from_bytes(
                   bytes_of(file_with_aliases("{\"a\":" + std::string(1'000'000, '[')))),
               FormatError);
}

TEST(Record, bools_must_be_0_or_1) {
  Record record;
  record.add("b", HostData({2}, {true, false}));
  std::vector<std::byte> file = record.to_bytes();
  file.back() = std::byte{2};
  EXPECT_THROW((void)Record::from_bytes(file), FormatError);
}

TEST(RecordFile, reads_single_tensors) {
  const Folder folder;
  Record record = every_dtype();
  record.add_alias("tied", "f32.odd");
  record.save(folder.file("r"));
  const RecordFile file(folder.file("r"));
  EXPECT_EQ(file.tensors().size() + 1, record.size());
  EXPECT_TRUE(file.read("f16.odd") == record.at("f16.odd"));
  EXPECT_TRUE(file.read("tied") == record.at("f32.odd"));
  EXPECT_EQ(file.bytes("tied").data(), file.bytes("f32.odd").data());
  EXPECT_FALSE(file.contains("nothing"));
  EXPECT_THROW((void)file.read("nothing"), ArgumentError);
  // Saving over an open file leaves it whole.
  Record().save(folder.file("r"));
  EXPECT_TRUE(file.read("f16.odd") == record.at("f16.odd"));
  EXPECT_EQ(Record::load(folder.file("r")).size(), 0u);
}

TEST(RecordFile, missing_and_empty_files) {
  const Folder folder;
  EXPECT_THROW(RecordFile(folder.file("none")), IoError);
  os::write_file_atomic(folder.file("empty"), "");
  EXPECT_THROW(RecordFile(folder.file("empty")), FormatError);
  EXPECT_THROW(Record().save(folder.file("no/such/folder/r")), IoError);
}

TEST(Inspect, shows_a_table) {
  const Folder folder;
  Record record;
  record.add("weight", HostData({10, 32}, DType::f32));
  record.add("b\n\x1b[2J", HostData({10}, DType::bf16));
  record.add_alias("tied", "weight");
  record.metadata()["epoch"] = "3";
  record.save(folder.file("m"));
  const RecordSummary found = summary(folder.file("m"));
  EXPECT_EQ(found.elements, 330u);
  EXPECT_EQ(inspect_text("m", found),
            "m: 2 tensors, 330 elements, 1.5 KiB\n"
            "name          dtype  shape       bytes\n"
            "weight        f32    [10, 32]  1.2 KiB\n"
            "b\\x0a\\x1b[2J  bf16   [10]         20 B\n"
            "tied\n"
            "  tied = weight\n"
            "metadata\n"
            "  epoch: 3\n");
}

// Only FormatError may come out of a damaged file, whatever the damage.
TEST(Record, mutated_files_only_throw_format_errors) {
  Record small;
  std::mt19937 random(11);
  small.add("w", random_data({2, 3}, DType::f32, random));
  small.add("b", random_data({3}, DType::boolean, random));
  small.add("e", random_data({0}, DType::i64, random));
  small.add_alias("t", "w");
  small.metadata()["k"] = "v";
  const std::vector<std::byte> good = small.to_bytes();
  constexpr std::string_view tokens[] = {
      "[",    "]",   "{", "}", ",",   ":",    "\"",
      "0",    "9",   "-", "e", "\\u", "\xff", "18446744073709551615",
      "null", "BOOL"};
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> file = good;
    const auto edits = 1 + random() % 4;
    for (unsigned edit = 0; edit < edits && !file.empty(); ++edit) {
      const std::size_t at = random() % file.size();
      const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random() % 6) {
        case 0:
          *place ^= static_cast<std::byte>(1u << (random() % 8));
          break;
        case 1:
          *place = static_cast<std::byte>(random());
          break;
        case 2:
          file.resize(at);
          break;
        case 3:
          file.erase(place, place + static_cast<std::ptrdiff_t>(
                                        std::min<std::size_t>(random() % 9, file.size() - at)));
          break;
        case 4:
          file.insert(place, random() % 9, static_cast<std::byte>(random()));
          break;
        default: {
          const std::string_view token = tokens[random() % std::size(tokens)];
          const auto bytes = bytes_of(token);
          std::copy_n(bytes.begin(), std::min(bytes.size(), file.size() - at), place);
        }
      }
    }
    try {
      const Record record = Record::from_bytes(file);
      ++accepted;
      for (const Record::Entry& entry : record.entries()) {
        (void)entry.data->to_doubles();
      }
    } catch (const FormatError&) {
    }
  }
  // Changes of the tensors' bytes or of free text leave a good file; most others do not.
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 10'000);
}

TEST(Record, killed_writers_leave_whole_files) {
  const Folder folder;
  const std::string path = folder.file("r.safetensors");
  Record first;
  first.add("w", HostData({20'000}, DType::f32));
  first.save(path);
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int step = 1;; ++step) {
        Record record;
        HostData data({20'000}, DType::f32);
        std::fill_n(data.as<float>().data(), 20'000, static_cast<float>(step));
        record.add("w", std::move(data));
        record.save(path);
      }
    }
    usleep(1000 + random() % 30'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Record record = Record::load(path);
    const auto values = record.at("w").as<float>();
    ASSERT_EQ(values.size(), 20'000u);
    for (const float value : values) {
      ASSERT_EQ(value, values[0]);
    }
  }
}

}  // namespace
}  // namespace sinter::store
