// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the CSV reader.
#include "sinter/data/csv.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sinter/base/error.hpp"

namespace sinter::data {
namespace {

std::string fault(std::string_view text) {
  try {
    (void)parse_csv(text, "x.csv").numbers();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no FormatError";
}

TEST(Cases, DAT_09_csv) {
  const CsvTable table = parse_csv(
      "\xef\xbb\xbfname,size,count\r\n\"a, \"\"b\"\"\", 1.5 ,9007199254740993\nplain,-2e3,7", "x");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"name", "size", "count"}));
  EXPECT_EQ(table.size(), 2);
  EXPECT_EQ(table.at(0, 0), "a, \"b\"");
  EXPECT_EQ(table.at(1, table.column("name")), "plain");
  const std::string_view sizes[] = {"size"};
  EXPECT_TRUE(table.numbers(sizes) == HostData({2, 1}, {1.5f, -2000.0f}));
  const std::string_view counts[] = {"count"};
  EXPECT_EQ(table.numbers(counts, DType::i64).int_at(0), 9007199254740993);
  EXPECT_THROW((void)table.column("other"), ArgumentError);
  EXPECT_THROW((void)table.at(2, 0), IndexError);
}

TEST(Csv, separators_headers_and_newlines) {
  const CsvTable table = parse_csv("1;2\n3;4\n", "x", {.separator = ';', .header = false});
  EXPECT_EQ(table.columns()[1], "1");
  EXPECT_TRUE(table.numbers() == HostData({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}));
  EXPECT_EQ(parse_csv("", "x").size(), 0);
  EXPECT_EQ(parse_csv("a,b\n", "x").size(), 0);
  EXPECT_EQ(parse_csv("a,b\n,\n", "x").at(0, 1), "");
  EXPECT_EQ(parse_csv("a,b\n1,\"two\nlines\"\n", "x").at(0, 1), "two\nlines");
}

TEST(Csv, faults_name_the_line) {
  EXPECT_EQ(fault("a,b\n1,2\n3\n"), "x.csv: the row at line 3 has 1 fields, expected 2");
  EXPECT_EQ(fault("a\n\"x\n\n"), "x.csv: line 2 has a quote that is never closed");
  EXPECT_EQ(fault("a\n\"x\"y\n"),
            "x.csv: line 2 has text after a quoted field; write a quote inside a field twice");
  EXPECT_EQ(fault("a\n1\nx2\n"), "x.csv: row 1, column `a`: expected a number, got `x2`");
}

TEST(Csv, mutated_files_only_throw_format_errors) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "a,\"b\"\n1,2\r\n\"3\",4\n";
    for (unsigned edit = 0; edit < 1 + random() % 4; ++edit) {
      text.insert(random() % (text.size() + 1), 1, ",\"\n\r1x\0"[random() % 7]);
      text.erase(random() % text.size(), random() % 3);
    }
    try {
      const CsvTable table = parse_csv(text, "x");
      ASSERT_EQ(table.numbers().num_elements(),
                table.size() * static_cast<std::int64_t>(table.columns().size()));
    } catch (const FormatError&) {
    }
  }
}

}  // namespace
}  // namespace sinter::data
