// SPDX-License-Identifier: MIT OR Apache-2.0
// The plug-in's functions: from a kernel's text to an image.
#include "sinter/kernel/compilers/llvm/plugin.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include "sinter/base/error.hpp"
#include "sinter/kernel/compile_error.hpp"
#include "sinter/kernel/compilers/llvm/detail/emit.hpp"
#include "sinter/kernel/compilers/llvm/detail/image.hpp"
#include "sinter/kernel/ir/text.hpp"

namespace sinter::llvm {

namespace {

struct Delete {
  void operator()(LLVMContextRef p) const { LLVMContextDispose(p); }
  void operator()(LLVMModuleRef p) const { LLVMDisposeModule(p); }
  void operator()(LLVMTargetMachineRef p) const { LLVMDisposeTargetMachine(p); }
  void operator()(LLVMMemoryBufferRef p) const { LLVMDisposeMemoryBuffer(p); }
  void operator()(LLVMTargetDataRef p) const { LLVMDisposeTargetData(p); }
  void operator()(LLVMPassBuilderOptionsRef p) const { LLVMDisposePassBuilderOptions(p); }
};
template <class Ref>
using Owned = std::unique_ptr<std::remove_pointer_t<Ref>, Delete>;

/// Takes a text that LLVM gave.
std::string taken(char* message) {
  std::string text = message == nullptr ? "" : message;
  LLVMDisposeMessage(message);
  return text;
}

/// What LLVM reports instead of a result. Its own handlers print, and end the process.
void report(LLVMDiagnosticInfoRef info, void* problems) {
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
    *static_cast<std::string*>(problems) += taken(LLVMGetDiagInfoDescription(info)) + "\n";
  }
}
void fail(const char* reason) { throw CompileError(fmt::format("LLVM gave up: {}", reason)); }

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInstallFatalErrorHandler(fail);
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

/// The processor to compile for.
struct Target {
  std::string triple, cpu, features;
};

Target target_of(const Request& request) {
  Target target{request.triple, request.cpu, request.features};
  if (target.triple.empty()) {
    target.triple = taken(LLVMGetDefaultTargetTriple());
  }
  if (target.cpu == "native") {
    static const std::string cpu = taken(LLVMGetHostCPUName());
    static const std::string features = taken(LLVMGetHostCPUFeatures());
    target.cpu = cpu;
    target.features = target.features.empty() ? features : features + "," + target.features;
  }
  return target;
}

LLVMTargetMachineRef create_machine(const Target& target, int level) {
  LLVMTargetRef found = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(target.triple.c_str(), &found, &message) != 0) {
    throw CompileError(taken(message));
  }
  const LLVMCodeGenOptLevel effort = level <= 0   ? LLVMCodeGenLevelNone
                                     : level == 1 ? LLVMCodeGenLevelLess
                                     : level == 2 ? LLVMCodeGenLevelDefault
                                                  : LLVMCodeGenLevelAggressive;
  return LLVMCreateTargetMachine(found, target.triple.c_str(), target.cpu.c_str(),
                                 target.features.c_str(), effort, LLVMRelocPIC, LLVMCodeModelSmall);
}

/// A target machine of one thread's for a while. They are kept: what LLVM works out of a
/// processor's features costs as much as optimising a small kernel.
class Machine {
 public:
  Machine(const Target& target, int level)
      : key_(fmt::format("{} {} {} {}", target.triple, target.cpu, target.features, level)) {
    {
      const std::lock_guard lock(mutex());
      std::vector<Kept>& kept = all();
      const auto found = std::find_if(kept.begin(), kept.end(),
                                      [&](const Kept& each) { return each.key == key_; });
      if (found != kept.end()) {
        machine_ = std::move(found->machine);
        kept.erase(found);
      }
    }
    if (machine_ == nullptr) {
      machine_.reset(create_machine(target, level));
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    const std::lock_guard lock(mutex());
    if (std::uncaught_exceptions() == 0 && all().size() < most) {
      all().push_back({key_, std::move(machine_)});
    }
  }
  [[nodiscard]] LLVMTargetMachineRef get() const { return machine_.get(); }

 private:
  struct Kept {
    std::string key;
    Owned<LLVMTargetMachineRef> machine;
  };
  static constexpr std::size_t most = 16;
  // Never destroyed: at the program's end LLVM's own state may be gone already.
  static std::vector<Kept>& all() {
    static auto* const kept = new std::vector<Kept>;
    return *kept;
  }
  static std::mutex& mutex() {
    static auto* const guard = new std::mutex;
    return *guard;
  }

  std::string key_;
  Owned<LLVMTargetMachineRef> machine_;
};

/// What LLVM does to a kernel. It was optimised before it came here, and the vectors that it should
/// use it names itself: the whole of -O2 would take three times as long for nothing. Loops of a
/// known length are those over the units of a cube, which name no vectors.
std::string passes_for(const EmitResult& emitted) {
  const std::string combine = "instcombine<no-verify-fixpoint>";
  std::string passes = "sroa,early-cse<memssa>,simplifycfg," + combine;
  if (emitted.has_counted_loops) {
    passes += ",loop(indvars,loop-deletion,loop-unroll-full),sroa,early-cse<memssa>," + combine;
  }
  passes += ",loop-mssa(loop-rotate,licm),loop(indvars),gvn";
  if (emitted.has_counted_loops) {
    passes += ",loop-vectorize," + combine;
  } else if (emitted.has_loops) {
    passes += "," + combine;
  }
  return "function(" + passes + ",simplifycfg)";
}

/// One compilation.
class Compilation {
 public:
  Compilation(const ir::Kernel& kernel, const Target& target, int level)
      : kernel_(kernel),
        machine_(target, level),
        context_(LLVMContextCreate()),
        module_(LLVMModuleCreateWithNameInContext("sinter", context_.get())) {
    LLVMContextSetDiscardValueNames(context_.get(), 1);
    LLVMContextSetDiagnosticHandler(context_.get(), report, &problems_);
    LLVMSetTarget(module_.get(), target.triple.c_str());
    const Owned<LLVMTargetDataRef> layout(LLVMCreateTargetDataLayout(machine_.get()));
    LLVMSetModuleDataLayout(module_.get(), layout.get());
    wide_ = target.features.find("+avx512f") != std::string::npos;
  }

  EmitResult emit(bool complete) {
    const EmitResult result = llvm::emit(context_.get(), module_.get(), kernel_,
                                         {.complete = complete, .wide_vectors = wide_});
#ifndef NDEBUG
    verify();
#endif
    return result;
  }

  void optimise(const std::string& passes) {
    const Owned<LLVMPassBuilderOptionsRef> options(LLVMCreatePassBuilderOptions());
    if (LLVMErrorRef error =
            LLVMRunPasses(module_.get(), passes.c_str(), machine_.get(), options.get())) {
      char* const message = LLVMGetErrorMessage(error);
      const std::string text = message;
      LLVMDisposeErrorMessage(message);
      throw CompileError(text);
    }
  }

  Owned<LLVMMemoryBufferRef> generate(LLVMCodeGenFileType type) {
    LLVMMemoryBufferRef buffer = nullptr;
    char* message = nullptr;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine_.get(), module_.get(), type, &message,
                                            &buffer) != 0) {
      throw CompileError(taken(message));
    }
    Owned<LLVMMemoryBufferRef> result(buffer);
    if (!problems_.empty()) {
      throw CompileError(problems_);
    }
    return result;
  }

  /// Generating code changes the module: this is done on a copy of it.
  std::string listing() {
    std::string text = taken(LLVMPrintModuleToString(module_.get()));
    Owned<LLVMModuleRef> copy(LLVMCloneModule(module_.get()));
    std::swap(copy, module_);
    const Owned<LLVMMemoryBufferRef> assembly = generate(LLVMAssemblyFile);
    std::swap(copy, module_);
    text.append(LLVMGetBufferStart(assembly.get()), LLVMGetBufferSize(assembly.get()));
    return text;
  }

 private:
  [[maybe_unused]] void verify() {
    char* message = nullptr;
    const bool bad = LLVMVerifyModule(module_.get(), LLVMReturnStatusAction, &message) != 0;
    const std::string text = taken(message);
    if (bad) {
      throw CompileError("the emitted IR is wrong: " + text);
    }
  }

  const ir::Kernel& kernel_;
  bool wide_ = false;
  std::string problems_;
  Machine machine_;
  Owned<LLVMContextRef> context_;
  Owned<LLVMModuleRef> module_;
};

char* copy_of(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) {
    std::memcpy(copy, text.c_str(), text.size() + 1);
  }
  return copy;
}

void compile(const Request& request, Result& result) {
  start_llvm();
  const ir::Kernel kernel = ir::parse({request.text, request.text_bytes});
  const Target target = target_of(request);
  // A processor that lacks instructions shows by calls of functions that nobody has.
  for (const bool complete : {true, false}) {
    Compilation compilation(kernel, target, request.level);
    const EmitResult emitted = compilation.emit(complete);
    result.scratch_bytes = emitted.scratch_bytes;
    if (request.level > 0) {
      compilation.optimise(passes_for(emitted));
    }
    const std::string listing = request.listing != 0 ? compilation.listing() : "";
    const Owned<LLVMMemoryBufferRef> object = compilation.generate(LLVMObjectFile);
    const std::span bytes(reinterpret_cast<const unsigned char*>(LLVMGetBufferStart(object.get())),
                          LLVMGetBufferSize(object.get()));
    if (complete && !missing_symbol(bytes).empty()) {
      continue;
    }
    const Image image = make_image(bytes, function_name);
    result.listing = request.listing != 0 ? copy_of(listing) : nullptr;
    result.image = static_cast<unsigned char*>(std::malloc(image.bytes.size()));
    if (result.image == nullptr) {
      throw CompileError("no memory for the code");
    }
    std::memcpy(result.image, image.bytes.data(), image.bytes.size());
    result.image_bytes = image.bytes.size();
    result.entry = image.entry;
    return;
  }
}

}  // namespace

}  // namespace sinter::llvm

#define SINTER_EXPORT __attribute__((visibility("default")))

SINTER_EXPORT int sinter_llvm_compile(const sinter::llvm::Request* request,
                                      sinter::llvm::Result* result) {
  using namespace sinter::llvm;
  *result = Result{};
  try {
    if (request->version != interface_version) {
      throw sinter::CompileError(fmt::format("the plug-in speaks version {}, the caller {}",
                                             interface_version, request->version));
    }
    compile(*request, *result);
    return 0;
  } catch (const std::exception& error) {
    result->message = copy_of(error.what());
    return 1;
  }
}

SINTER_EXPORT void sinter_llvm_release(sinter::llvm::Result* result) {
  std::free(result->image);
  std::free(result->message);
  std::free(result->listing);
  *result = sinter::llvm::Result{};
}
