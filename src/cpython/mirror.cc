#include "cpython/mirror.h"

#include <algorithm>

namespace wf::cpython {

void Mirror::Plan(std::vector<Segment>* batch) { Lay(TakeUsed(), batch); }

void Mirror::PlanLike(const Mirror& other, std::vector<Segment>* batch) {
  used_ = other.used_;
  Lay(TakeUsed(), batch);
}

std::vector<uint64_t> Mirror::TakeUsed() {
  std::vector<uint64_t> pieces = std::move(used_);
  used_.clear();
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  return pieces;
}

void Mirror::Lay(const std::vector<uint64_t>& pieces, std::vector<Segment>* batch) {
  runs_.clear();
  extra_.clear();
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i + 1;
    while (end < pieces.size() && pieces[end] == pieces[end - 1] + kPiece) ++end;
    Run& run = runs_.emplace_back();
    run.begin = pieces[i];
    run.bytes.resize((end - i) * kPiece);
    i = end;
  }
  for (Run& run : runs_) batch->push_back({run.begin, run.bytes.data(), run.bytes.size()});
}

void Mirror::Accept(std::span<const Segment> planned) {
  for (size_t i = 0; i < runs_.size() && i < planned.size(); ++i) runs_[i].ok = planned[i].ok;
}

const Mirror::Run* Mirror::RunOf(uint64_t address, size_t bytes) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), address,
                                      [](uint64_t value, const Run& run) { return value < run.begin; });
  if (after != runs_.begin()) {
    const Run& run = *(after - 1);
    if (run.ok && address + bytes <= run.end()) return &run;
  }
  for (const Run& run : extra_) {
    if (run.ok && address >= run.begin && address + bytes <= run.end()) return &run;
  }
  return nullptr;
}

void Mirror::Use(uint64_t address, size_t bytes) {
  for (uint64_t piece = address & ~(kPiece - 1); piece < address + bytes && used_.size() < kMostPieces;
       piece += kPiece) {
    if (used_.empty() || used_.back() != piece) used_.push_back(piece);
  }
}

std::span<const std::byte> Mirror::Find(MemoryReader& memory, uint64_t address, size_t bytes, bool lead) {
  if (address < kPage || address >= uint64_t{1} << 47 || bytes > kPage) return {};
  const Run* run = RunOf(address, bytes);
  if (run == nullptr) {
    Run fresh;
    fresh.begin = address & ~((lead ? kPage : kPiece) - 1);
    const uint64_t end = (address + bytes + kPiece - 1) & ~(kPiece - 1);
    fresh.bytes.resize(end - fresh.begin);
    fresh.ok = memory.ReadOne(fresh.begin, fresh.bytes.data(), fresh.bytes.size());
    if (!fresh.ok) return {};
    extra_.push_back(std::move(fresh));
    run = &extra_.back();
  }
  Use(address, bytes);
  return std::span(run->bytes).subspan(address - run->begin, bytes);
}

}  // namespace wf::cpython
