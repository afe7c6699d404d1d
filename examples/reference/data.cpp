// SPDX-License-Identifier: MIT OR Apache-2.0
// sinter/data and sinter/store: datasets, loaders, files of numbers, records.
#include "expect.hpp"

#include <filesystem>
#include <fstream>
#include <sinter/data/collate.hpp>
#include <sinter/data/rows.hpp>
#include <sinter/data/sampler.hpp>
#include <sinter/store/file_kind.hpp>
#include <sinter/store/inspect.hpp>
#include <sinter/train.hpp>

using namespace sinter;

static HostData counting(const Shape& shape) {
  return Tensor<1>::arange(0, num_elements(shape)).reshape<dynamic_rank>(shape).to_data();
}
static data::InMemoryDataset<int> numbers() { return data::InMemoryDataset<int>({0, 1, 2, 3, 4}); }
static bool is(const HostData& data, const std::vector<double>& values) {
  return data.to_doubles() == values;
}

static void datasets() {
  EXPECT(numbers().size() == 5 && numbers().get(2) == 2);
  const data::ColumnDataset columns({counting({3, 2}), counting({3})});
  EXPECT(columns.size() == 3 && columns.columns().size() == 2 && is(columns.get(1)[0], {2, 3}));
  const std::int64_t two[] = {2, 0};
  EXPECT(is(columns.batch(two)[1], {2, 0}));
  EXPECT(data::MapDataset(numbers(), [](int x) { return 10 * x; }).get(3) == 30);
  EXPECT(data::SubsetDataset(numbers(), {4, 4}).get(1) == 4);
  EXPECT(data::partial(numbers(), 1, 3).size() == 2 && data::shuffled(numbers(), 1).size() == 5);
  EXPECT(data::sampled(numbers(), 9, 1).size() == 9);
  const auto [train, test] = data::split(numbers(), 4, 1);
  EXPECT(train.size() == 4 && test.size() == 1);
  EXPECT(data::ConcatDataset(numbers(), numbers()).get(5) == 0);
  EXPECT(data::WindowsDataset(numbers(), 3).get(1) == std::vector<int>{1, 2, 3});
  EXPECT(data::AnyDataset<int>(numbers()).get(1) == 1);
}

static void rows_and_orders() {
  const HostData x = counting({3, 2});
  const std::int64_t two[] = {2, 0};
  EXPECT(is(data::row(x, 1), {2, 3}) && is(data::gather_rows(x, two), {4, 5, 0, 1}));
  const HostData parts[] = {data::row(x, 0), data::row(x, 2)};
  EXPECT(is(data::stack_rows(parts), {0, 1, 4, 5}));
  data::check_index(1, 2, "example");
  EXPECT(data::draw_below(10, 1, 2, 3) < 10 && data::permutation(4, 1, 0).size() == 4);
  const data::EpochOrder order(data::Order::sequential, 3, 3, 0, 0);
  std::vector<std::int64_t> indices(2);
  order.fill(1, indices);
  EXPECT(order.size() == 3 && indices[1] == 2);
  const int items[] = {7, 8};
  EXPECT(is(data::Collate<int>()(items), {7, 8}));
}

static void loaders() {
  data::DataLoader loader(numbers(), {.batch_size = 2, .num_workers = 1});
  EXPECT(loader.num_batches() == 3 && loader.num_items() == 5 && loader.dataset().size() == 5);
  EXPECT(is(*loader.next(), {0, 1}));
  const data::LoaderState here = data::LoaderState::from_str(loader.state().str());
  data::DataLoader other(numbers(), {.batch_size = 2});
  other.restore(here);
  EXPECT(is(*other.next(), {2, 3}));
  other.start_epoch(3);
  double sum = 0;
  for (const HostData& batch : other) {
    sum += batch.at(0);
  }
  EXPECT(sum == 6);
}

static void images_and_text() {
  const HostData pixels(Shape{2, 1, 1, 1}, std::initializer_list<std::uint8_t>{0, 255});
  const data::ImageDataset images(pixels, HostData(Shape{2}, DType::i64),
                                  {.mean = {0.5f}, .std = {0.5f}});
  const std::int64_t both[] = {0, 1};
  EXPECT(images.size() == 2 && is(images.get(1).image, {1}) &&
         is(images.batch(both).images, {-1, 1}));
  EXPECT(images.pixels().num_elements() == 2 && images.labels().num_elements() == 2);
  const data::ImageItem items[] = {images.get(0)};
  EXPECT(data::collate(items).size() == 1);
  EXPECT(data::fashion_mnist_classes().size() == 10);
  const data::CsvTable table = data::parse_csv("a,b\n1,2\n3,4\n", "example", {});
  EXPECT(table.columns()[1] == "b" && table.size() == 2 && table.at(1, 0) == "3");
  EXPECT(table.column("b") == 1 && is(table.numbers(), {1, 2, 3, 4}));
  const unsigned char idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
  EXPECT(is(data::parse_idx(std::as_bytes(std::span(idx)), "example"), {5, 6}));
}

static void files(const std::string& folder) {
  std::ofstream(folder + "/numbers.csv") << "x;y\n1;2\n";
  const data::CsvTable table = data::read_csv(folder + "/numbers.csv", {.separator = ';'});
  EXPECT(is(table.numbers(), {1, 2}));
  const char idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
  std::ofstream(folder + "/bytes.idx", std::ios::binary).write(idx, sizeof idx);
  EXPECT(is(data::read_idx(folder + "/bytes.idx"), {5, 6}));
  try {
    (void)data::fashion_mnist(data::Split::test, folder);
    EXPECT(false);
  } catch (const IoError&) {  // none of its files are there
  }
}

static void records(const std::string& folder) {
  store::Record record;
  record.add("a", counting({2, 2}));
  record.add_alias("b", "a");
  record.metadata()["made by"] = "an example";
  const std::string path = folder + "/record.safetensors";
  record.save(path);
  const store::Record loaded = store::Record::load(path);
  EXPECT(loaded.size() == 2 && loaded.contains("a") && loaded.tied("a", "b"));
  EXPECT(is(loaded.at("b"), {0, 1, 2, 3}) && loaded.share("a") && loaded.entries()[0].name == "a");
  EXPECT(store::Record::from_bytes(record.to_bytes()).size() == 2);
  store::Record outer;
  outer.add_all("model.", record);
  EXPECT(outer.contains("model.a") && outer.part("model.").size() == 2);
  const store::RecordFile file(path);
  EXPECT(file.path() == path && file.file_bytes() > 16 && file.tensors().size() == 1);
  EXPECT(file.aliases().size() == 1 && file.metadata().contains("made by") && file.contains("b"));
  EXPECT(is(file.read("a"), {0, 1, 2, 3}) && file.bytes("a").size() == 16 &&
         file.load().size() == 2);
  EXPECT(store::summary(path).elements == 4);
  EXPECT(store::inspect(path).find("a") != std::string::npos);
  EXPECT(!store::inspect_text(path, store::summary(path)).empty());
  EXPECT(store::file_kind(std::as_bytes(std::span("PK\3\4"))).find("zip") !=
         std::string_view::npos);

  const float elements[] = {1, 2};
  const store::TensorView views[] = {{"x", DType::f32, {2}, std::as_bytes(std::span(elements))}};
  store::write_safetensors(path, views);
  store::write_layout(path, store::layout_safetensors(views, {}));
  EXPECT(is(store::Record::load(path).at("x"), {1, 2}) &&
         store::safetensors_name(DType::f32) == "F32");
  const std::vector<std::byte> bytes = store::Record::load(path).to_bytes();
  EXPECT(store::parse_safetensors(bytes, "example").tensors.size() == 1);

  nn::Linear layer{{.in = 2, .out = 1}}, same{{.in = 2, .out = 1}};
  EXPECT(nn::load_state(same, nn::state(layer)).complete());
  EXPECT(nn::check_state(same, nn::state(layer)).str().starts_with("2 loaded"));
  nn::save(layer, path);
  EXPECT(nn::load(same, path).loaded.size() == 2);
  EXPECT(same.weight.tensor().all_close(layer.weight.tensor()));
}

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / "sinter_example_data";
  std::filesystem::create_directories(folder);
  datasets();
  rows_and_orders();
  loaders();
  images_and_text();
  files(folder);
  records(folder);
  std::filesystem::remove_all(folder);
  return wrong == 0 ? 0 : 1;
}
