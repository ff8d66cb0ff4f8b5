#include "cpython/mirror.h"

#include <algorithm>

namespace wf::cpython {

void Mirror::Plan(std::vector<Segment>* batch) {
  bool same = missed_.empty();
  for (uint8_t& age : ages_) same &= ++age <= kKept;
  if (!same) Replan();
  AddTo(batch);
}

void Mirror::PlanLike(const Mirror& other, std::vector<Segment>* batch) {
  missed_.clear();
  if (pieces_ != other.pieces_ || !other.missed_.empty()) {
    pieces_ = other.pieces_;
    ages_.assign(pieces_.size(), 0);
    missed_ = other.missed_;
    Replan();
  }
  AddTo(batch);
}

// Drops what is old and adds what was missed.
void Mirror::Replan() {
  size_t kept = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (ages_[i] > kKept) continue;
    pieces_[kept] = pieces_[i];
    ages_[kept++] = ages_[i];
  }
  pieces_.resize(kept);
  const std::vector<uint64_t> old = pieces_;
  const std::vector<uint8_t> old_ages = std::move(ages_);
  pieces_.insert(pieces_.end(), missed_.begin(), missed_.end());
  missed_.clear();
  std::sort(pieces_.begin(), pieces_.end());
  pieces_.erase(std::unique(pieces_.begin(), pieces_.end()), pieces_.end());
  ages_.assign(pieces_.size(), 0);
  for (size_t i = 0, j = 0; i < pieces_.size() && j < old.size(); ++i) {
    if (pieces_[i] == old[j]) ages_[i] = old_ages[j++];
  }
  Lay();
}

void Mirror::Lay() {
  runs_.clear();
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (runs_.empty() || runs_.back().end != pieces_[i]) runs_.push_back({pieces_[i], pieces_[i], i, false});
    runs_.back().end += kPiece;
  }
  copy_.resize(pieces_.size() * kPiece);
  last_run_ = 0;
}

void Mirror::AddTo(std::vector<Segment>* batch) {
  extra_.clear();
  extra_bytes_ = 0;
  for (Run& run : runs_) {
    run.ok = false;
    batch->push_back({run.begin, copy_.data() + run.first * kPiece, run.end - run.begin});
  }
}

void Mirror::Accept(std::span<const Segment> planned) {
  for (size_t i = 0; i < runs_.size() && i < planned.size(); ++i) {
    Run& run = runs_[i];
    run.ok = planned[i].ok;
    // What cannot be read is not asked for again, unless it is wanted piece by piece.
    const size_t pieces = (run.end - run.begin) / kPiece;
    if (!run.ok) std::fill_n(ages_.begin() + static_cast<std::ptrdiff_t>(run.first), pieces, kKept);
  }
}

const Mirror::Run* Mirror::RunOf(uint64_t address, size_t bytes) {
  if (last_run_ < runs_.size() && runs_[last_run_].Holds(address, bytes)) return &runs_[last_run_];
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), address,
                                      [](uint64_t value, const Run& run) { return value < run.begin; });
  if (after == runs_.begin() || !(after - 1)->Holds(address, bytes)) return nullptr;
  last_run_ = static_cast<size_t>(after - 1 - runs_.begin());
  return &runs_[last_run_];
}

std::span<const std::byte> Mirror::Copied(uint64_t address, size_t bytes) const {
  for (const Run& run : runs_) {
    if (run.Holds(address, bytes)) return std::span(copy_).subspan(run.first * kPiece + address - run.begin, bytes);
  }
  return {};
}

void Mirror::Want(uint64_t address, size_t bytes) {
  for (uint64_t piece = address & ~(kPiece - 1); piece < address + bytes && missed_.size() < kMostPieces;
       piece += kPiece) {
    if (missed_.empty() || missed_.back() != piece) missed_.push_back(piece);
  }
}

void Mirror::Use(uint64_t address, size_t bytes) {
  const Run* run = RunOf(address, bytes);
  if (run == nullptr) return Want(address, bytes);
  const uint64_t offset = address - run->begin;
  const size_t last = run->first + (offset + bytes - 1) / kPiece;
  for (size_t piece = run->first + offset / kPiece; piece <= last; ++piece) ages_[piece] = 0;
}

std::span<const std::byte> Mirror::FindArea(MemoryReader& memory, uint64_t address, size_t bytes, bool lead,
                                            uint64_t* begin) {
  if (address < kPage || address >= uint64_t{1} << 47 || bytes > kPage || bytes == 0) return {};
  if (const Run* run = RunOf(address, bytes)) {
    *begin = run->begin;
    return std::span(copy_).subspan(run->first * kPiece, run->end - run->begin);
  }
  const Extra* extra = FindElsewhere(memory, address, bytes, lead);
  if (extra == nullptr) return {};
  *begin = extra->begin;
  return extra->bytes;
}

std::span<const std::byte> Mirror::Find(MemoryReader& memory, uint64_t address, size_t bytes) {
  uint64_t begin = 0;
  const auto area = FindArea(memory, address, bytes, /*lead=*/false, &begin);
  if (area.empty()) return {};
  Use(address, bytes);
  return area.subspan(address - begin, bytes);
}

const Mirror::Extra* Mirror::FindElsewhere(MemoryReader& memory, uint64_t address, size_t bytes, bool lead) {
  const auto holds = [&](const Extra& extra) {
    return address >= extra.begin && address + bytes <= extra.begin + extra.bytes.size();
  };
  const auto found = std::find_if(extra_.begin(), extra_.end(), holds);
  if (found != extra_.end()) return &*found;
  Extra fresh;
  fresh.begin = address & ~((lead ? kPage : kPiece) - 1);
  const uint64_t end = (address + bytes + kPiece - 1) & ~(kPiece - 1);
  fresh.bytes.resize(end - fresh.begin);
  if (!memory.ReadOne(fresh.begin, fresh.bytes.data(), fresh.bytes.size())) return nullptr;
  extra_bytes_ += fresh.bytes.size();
  return &extra_.emplace_back(std::move(fresh));
}

void PlannedReader::Begin() {
  std::vector<Segment> batch;
  mirror_.Plan(&batch);
  memory_.Read(batch);
  mirror_.Accept(batch);
}

void PlannedReader::Read(std::span<Segment> segments) {
  for (Segment& segment : segments) {
    const auto bytes = mirror_.Find(memory_, segment.address, segment.bytes);
    segment.ok = !bytes.empty();
    if (segment.ok) {
      std::memcpy(segment.into, bytes.data(), bytes.size());
    } else {
      memory_.Read({&segment, 1});  // nothing, or more than a mirror takes
    }
  }
}

}  // namespace wf::cpython
