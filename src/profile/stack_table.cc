#include "profile/stack_table.h"

#include <functional>

#include "profile/escape.h"

namespace wf::profile {
namespace {

uint64_t HashOf(std::string_view text) { return MixBits(std::hash<std::string_view>{}(text)); }

uint64_t HashOf(const Frame& frame) {
  uint64_t hash = MixBits(uint64_t{frame.name} << 32 | frame.file);
  hash = MixBits(hash ^ (uint64_t{frame.qualified_name} << 32 | static_cast<uint32_t>(frame.line)));
  return MixBits(hash ^ (static_cast<uint64_t>(frame.kind) << 32 | static_cast<uint32_t>(frame.first_line)));
}

}  // namespace

StackTable::StackTable() {
  Intern("");
  Intern("<not kept>");
  Frame not_kept;
  not_kept.kind = FrameKind::kMarker;
  not_kept.name = kNotKeptText;
  AddFrame(not_kept);
  nodes_.push_back({});  // the empty stack, which no Push gives
  Push(kEmptyStack, kNotKeptFrame);
}

uint32_t StackTable::Intern(std::string_view text) {
  std::string cleaned;
  if (!IsCleanText(text, kMaxTextBytes)) {
    cleaned = CleanText(text, kMaxTextBytes);
    text = cleaned;
  }
  const uint64_t hash = HashOf(text);
  const uint32_t found = string_index_.Find(hash, [&](uint32_t i) { return strings_[i] == text; });
  if (found != IndexTable::kNone) return found;
  if (strings_.size() >= kMaxStrings) {
    ++not_kept_;
    return kNotKeptText;
  }
  const auto index = static_cast<uint32_t>(strings_.size());
  strings_.emplace_back(text);
  string_index_.Add(hash, index);
  return index;
}

uint32_t StackTable::AddFrame(const Frame& frame) {
  const uint64_t hash = HashOf(frame);
  const uint32_t found = frame_index_.Find(hash, [&](uint32_t i) { return frames_[i] == frame; });
  if (found != IndexTable::kNone) return found;
  if (frames_.size() >= kMaxFrames) {
    ++not_kept_;
    return kNotKeptFrame;
  }
  const auto index = static_cast<uint32_t>(frames_.size());
  frames_.push_back(frame);
  frame_index_.Add(hash, index);
  return index;
}

uint32_t StackTable::Push(uint32_t parent, uint32_t frame) {
  const uint64_t hash = MixBits(uint64_t{parent} << 32 | frame);
  const uint32_t found =
      node_index_.Find(hash, [&](uint32_t i) { return nodes_[i].parent == parent && nodes_[i].frame == frame; });
  if (found != IndexTable::kNone) return found;
  if (nodes_.size() >= kMaxNodes) {
    ++not_kept_;
    return kNotKeptStack;
  }
  const auto index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, frame});
  node_index_.Add(hash, index);
  return index;
}

const std::string& StackTable::NameOf(const Frame& frame) const {
  return strings_[frame.qualified_name != kEmptyText ? frame.qualified_name : frame.name];
}

}  // namespace wf::profile
