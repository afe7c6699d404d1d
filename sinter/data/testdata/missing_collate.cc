// SPDX-License-Identifier: MIT OR Apache-2.0
// Must not compile: the item type has no collate. Read by collate_test.cpp.
#include "sinter/data/loader.hpp"

struct Person {
  int age = 0;
};

int main() { sinter::data::DataLoader loader(sinter::data::InMemoryDataset<Person>({})); }
