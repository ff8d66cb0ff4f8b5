#include "cpython/thread_heads.h"

#include <algorithm>

namespace wf::cpython {

bool ThreadHeads::Read(MemoryReader& memory, bool lean) {
  interpreters_.swap(last_interpreters_);
  gils_.swap(last_gils_);
  bool alive = lean && ReadLean(memory);
  if (!alive) {
    interpreters_.clear();
    gils_.clear();
    alive = ReadInterpreters(memory);
  }
  gils_now_ = gils_;
  Compare();
  return alive;
}

// False when something could not be read.
bool ThreadHeads::ReadLean(MemoryReader& memory) {
  const Layout& at = runtime_.layout;
  interpreters_ = last_interpreters_;
  gils_ = last_gils_;
  for (Gil& gil : gils_) {
    gil.state = ReadGil(memory, lean_, gil.address);
    if (!gil.state.is_known) return false;
  }
  for (InterpreterHead& interpreter : interpreters_) {
    const auto first = lean_.Get<uint64_t>(memory, interpreter.address + at.interpreter.threads_head);
    if (!first) return false;
    interpreter.first_thread = *first;
    interpreter.collecting_frame = CollectingFrame(memory, lean_, interpreter.address);
  }
  return complete_;
}

bool ThreadHeads::ReadInterpreters(MemoryReader& memory) {
  const Layout& at = runtime_.layout;
  complete_ = false;
  auto interpreter = mirror_.Get<uint64_t>(memory, runtime_.address + at.runtime.interpreters_head);
  if (!interpreter || *interpreter == 0) return false;
  while (interpreters_.size() < kMostInterpreters && *interpreter != 0) {
    if (!IsPlausiblePointer(*interpreter) || !ReadInterpreter(memory, *interpreter)) return !interpreters_.empty();
    interpreter = mirror_.Get<uint64_t>(memory, *interpreter + at.interpreter.next);
    if (!interpreter) return true;
  }
  complete_ = *interpreter == 0;
  return true;
}

bool ThreadHeads::ReadInterpreter(MemoryReader& memory, uint64_t address) {
  const Layout& at = runtime_.layout;
  uint64_t gil = runtime_.address + at.runtime.gil;
  if (at.interpreter.gil != kAbsent) gil = mirror_.Get<uint64_t>(memory, address + at.interpreter.gil).value_or(0);
  const size_t gil_index = IndexOfGil(memory, gil);
  const auto id = mirror_.Get<int64_t>(memory, address + at.interpreter.id);
  if (!id) return false;
  const auto first = mirror_.Get<uint64_t>(memory, address + at.interpreter.threads_head);
  interpreters_.push_back({address, *id, gil_index, first.value_or(0), CollectingFrame(memory, mirror_, address)});
  if (!first) complete_ = false;
  return first.has_value();
}

size_t ThreadHeads::IndexOfGil(MemoryReader& memory, uint64_t address) {
  const auto known = std::find_if(gils_.begin(), gils_.end(), [&](const Gil& gil) { return gil.address == address; });
  if (known != gils_.end()) return static_cast<size_t>(known - gils_.begin());
  gils_.push_back({address, ReadGil(memory, mirror_, address)});
  return gils_.size() - 1;
}

GilState ThreadHeads::ReadGil(MemoryReader& memory, Mirror& mirror, uint64_t address) const {
  const auto& at = runtime_.layout.gil;
  GilState state;
  const auto holder = mirror.Get<uint64_t>(memory, address + at.last_holder);
  const auto switches = mirror.Get<uint64_t>(memory, address + at.switch_number);
  const auto locked = mirror.Get<int32_t>(memory, address + at.locked);
  if (!holder || !switches || !locked) return state;
  state = {true, *holder, *switches, *locked == 1};
  return state;
}

uint64_t ThreadHeads::CollectingFrame(MemoryReader& memory, Mirror& mirror, uint64_t interpreter) const {
  const uint32_t at = runtime_.layout.interpreter.collecting_frame;
  return at == kAbsent ? 0 : mirror.Get<uint64_t>(memory, interpreter + at).value_or(0);
}

uint64_t ThreadHeads::CollectingFrameAgain(MemoryReader& memory, size_t interpreter) {
  return CollectingFrame(memory, again_, interpreters_[interpreter].address);
}

uint64_t ThreadHeads::CollectingFrameAfter(MemoryReader& memory, size_t interpreter) {
  return CollectingFrame(memory, counters_mirror_, interpreters_[interpreter].address);
}

void ThreadHeads::Compare() {
  const auto same_list = [](const InterpreterHead& a, const InterpreterHead& b) { return a.IsSameList(b); };
  const auto same_hold = [](const Gil& a, const Gil& b) {
    return a.address == b.address && a.state.IsSameHold(b.state);
  };
  is_same_ = complete_ &&
             std::equal(interpreters_.begin(), interpreters_.end(), last_interpreters_.begin(),
                        last_interpreters_.end(), same_list) &&
             std::equal(gils_.begin(), gils_.end(), last_gils_.begin(), last_gils_.end(), same_hold);
}

bool ThreadHeads::IsCodeSame(MemoryReader& memory) {
  const uint32_t at = runtime_.layout.interpreter.code_counter;
  if (at == kAbsent) return false;
  counters_.swap(last_counters_);
  counters_.clear();
  for (const InterpreterHead& interpreter : interpreters_) {
    counters_.push_back(counters_mirror_.Get<uint32_t>(memory, interpreter.address + at).value_or(0));
  }
  // One that overflowed is zero and stays so; it then says nothing.
  return counters_ == last_counters_ && std::find(counters_.begin(), counters_.end(), 0) == counters_.end();
}

void ThreadHeads::PlanAgain(std::vector<Segment>* batch) {
  const auto& at = runtime_.layout.gil;
  if (!IsPlannedAgain()) {
    again_ = Mirror();
    planned_again_.clear();
    for (const Gil& gil : gils_) {
      again_.Want(gil.address + at.last_holder, at.switch_number + 8 - at.last_holder);
      planned_again_.push_back(gil.address);
    }
    const uint32_t frame = runtime_.layout.interpreter.collecting_frame;
    planned_again_interpreters_.clear();
    for (const InterpreterHead& interpreter : interpreters_) {
      if (frame != kAbsent) again_.Want(interpreter.address + frame, sizeof(uint64_t));
      planned_again_interpreters_.push_back(interpreter.address);
    }
  }
  again_.Plan(batch);
}

bool ThreadHeads::IsPlannedAgain() const {
  const auto is_at = [](const auto& each, uint64_t address) { return each.address == address; };
  return std::equal(gils_.begin(), gils_.end(), planned_again_.begin(), planned_again_.end(), is_at) &&
         std::equal(interpreters_.begin(), interpreters_.end(), planned_again_interpreters_.begin(),
                    planned_again_interpreters_.end(), is_at);
}

void ThreadHeads::ReadAgain(MemoryReader& memory) {
  gils_now_ = gils_;
  for (Gil& gil : gils_now_) gil.state = ReadGil(memory, again_, gil.address);
}

}  // namespace wf::cpython
