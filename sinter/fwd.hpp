// SPDX-License-Identifier: MIT OR Apache-2.0
// Names of Sinter's main types, for headers that only mention them.
#pragma once

#include <cstdint>

namespace sinter {

struct Float;
struct Int;
struct Bool;
struct AnyKind;
enum class DType : std::uint8_t;
struct Scalar;
struct Distribution;
class Dims;
using Shape = Dims;
class HostData;

class Value;
class Backend;
class Generator;
class Device;
class DefaultDeviceScope;
class Gradients;
class PendingData;
class Transaction;

// The rank and the kind; a kind left out is Float where "sinter/tensor/tensor.hpp" is included too.
template <int D, class K>
class Tensor;
using DynTensor = Tensor<-1, AnyKind>;

class Error;
class UserError;
class RuntimeError;
class ShapeError;
class DTypeError;
class IndexError;
class ArgumentError;
class DeviceError;

}  // namespace sinter
