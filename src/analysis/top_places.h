// TopPlaces: the functions and lines that recorded stacks go through, told apart by what they are called, so that
// their figures outlive the numbers of one recorder.
//
// Fed with the tables of pieces (profile::StackDelta), whose numbers go on from piece to piece. A place is named by a
// number that is never given twice.
//
// Threading: one thread at a time. A copy is whole.
#ifndef WF_ANALYSIS_TOP_PLACES_H_
#define WF_ANALYSIS_TOP_PLACES_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/stack_recorder.h"

namespace wf::analysis {

// A function as a whole, or one line of it.
enum class TopUnit : uint8_t { kFunction, kLine };

struct TopPlace {
  TopUnit unit = TopUnit::kFunction;
  profile::FrameKind kind = profile::FrameKind::kPython;
  std::string name;  // qualified where that is known; may be empty
  std::string file;  // whole
  int32_t line = 0;  // of a function its first one; 0: not known

  auto operator<=>(const TopPlace&) const = default;
};

class TopPlaces {
 public:
  using Id = uint64_t;
  struct Visit {
    Id place = 0;
    int64_t own_ns = 0;    // it was the innermost
    int64_t total_ns = 0;  // it was anywhere in the stack, counted once
  };

  // Strings, frames and nodes of the piece; numbers that point nowhere are taken for "not kept".
  void Add(const profile::StackDelta& piece);
  // What the weights of stacks (node, weight) come to, for every place of both units that they go through. Places are
  // made as needed.
  std::vector<Visit> Charge(const std::vector<std::pair<uint32_t, int64_t>>& weights);

  const TopPlace& at(Id place) const { return places_.at(place); }
  size_t size() const { return places_.size(); }
  // Whole names, each once or more. Valid until places are added or forgotten.
  std::vector<std::string_view> Files() const;
  // Other than before when places came or went.
  uint64_t version() const { return version_; }
  // They are forgotten, and get a new number when they are met again.
  void Forget(const std::set<Id>& gone);

 private:
  struct Frame {
    profile::Frame texts;
    uint32_t function = 0;              // number among functions_: the same for all its lines
    uint32_t line = 0;                  // the same for equal lines
    std::array<Id, 2> places = {0, 0};  // by TopUnit; 0: none yet
  };
  struct Node {
    uint32_t parent = 0;
    uint32_t frame = 0;
    // Whether the same function or line stands further out already: recursion.
    std::array<bool, 2> repeats = {false, false};  // by TopUnit
  };

  void AddFrame(const profile::Frame& frame);
  void AddNode(const profile::StackNode& node);
  Id PlaceOf(Frame& frame, TopUnit unit);
  const std::string& TextOf(uint32_t string) const;

  std::vector<std::string> strings_;
  std::vector<Frame> frames_;
  std::vector<Node> nodes_;
  std::map<std::vector<uint32_t>, uint32_t> numbers_;  // of functions and lines, by their texts' numbers
  std::unordered_map<Id, TopPlace> places_;
  std::map<TopPlace, Id> ids_;
  Id last_id_ = 0;
  uint64_t version_ = 0;
  // By node, while Charge adds up; 0 and false between.
  std::vector<int64_t> through_ns_;
  std::vector<bool> is_touched_;
};

}  // namespace wf::analysis

#endif  // WF_ANALYSIS_TOP_PLACES_H_
