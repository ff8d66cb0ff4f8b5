#define NCURSES_NOMACROS 1  // functions, not macros for common words
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cli/terminal.h"
#include "cli/top_screen.h"

namespace wf::cli {
namespace {

using report::Tone;
using report::TopKey;
using Kind = report::TopKey::Kind;

constexpr int kEscapeDelayMs = 25;  // after which an escape is the key of that name
constexpr short kGreenPair = 1;
constexpr short kRedPair = 2;
constexpr wchar_t kReplacement = 0xFFFD;
constexpr wint_t kEscapeKey = 27;
constexpr wint_t kRedrawKey = 12;  // Ctrl-L

// Terminals send either form, whatever mode they were asked for.
struct Sequence {
  const char* bytes;
  int key;
};
constexpr std::array kSequences = {
    Sequence{"\033[A", KEY_UP},     Sequence{"\033[B", KEY_DOWN}, Sequence{"\033[C", KEY_RIGHT},
    Sequence{"\033[D", KEY_LEFT},   Sequence{"\033OA", KEY_UP},   Sequence{"\033OB", KEY_DOWN},
    Sequence{"\033OC", KEY_RIGHT},  Sequence{"\033OD", KEY_LEFT}, Sequence{"\033[5~", KEY_PPAGE},
    Sequence{"\033[6~", KEY_NPAGE}, Sequence{"\033[H", KEY_HOME}, Sequence{"\033[F", KEY_END},
    Sequence{"\033OH", KEY_HOME},   Sequence{"\033OF", KEY_END},  Sequence{"\033[1~", KEY_HOME},
    Sequence{"\033[4~", KEY_END}};

// Names are UTF-8. Where no locale is set the terminal is taken to be, as Python does it (PEP 538).
bool UseUtf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(::nl_langinfo(CODESET)) == "ANSI_X3.4-1968") std::setlocale(LC_CTYPE, "C.UTF-8");
  return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
}

// After an escape: takes in the rest of a sequence that curses does not know, such as a key with Ctrl. False when
// nothing follows, so that it was the key.
bool TakeSequence() {
  wint_t next = 0;
  if (::get_wch(&next) == ERR) return false;
  if (next != '[' && next != 'O') return true;  // a key with Alt
  while (::get_wch(&next) == OK && (next < '@' || next > '~')) {
  }
  return true;
}

// At most `width` cells of it.
std::wstring Cells(std::string_view text, int width, bool is_utf8) {
  std::wstring cells;
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t letter = static_cast<unsigned char>(text[0]);
    size_t used = 1;
    if (is_utf8) {
      used = std::mbrtowc(&letter, text.data(), text.size(), &state);
      if (used == 0 || used > text.size()) {
        state = {};
        used = 1;
        letter = kReplacement;
      }
    } else if (letter >= 0x80) {
      letter = L'?';
    }
    text.remove_prefix(used);
    int taken = ::wcwidth(letter);
    if (taken < 0) {
      letter = is_utf8 ? kReplacement : L'?';
      taken = 1;
    }
    width -= taken;
    if (width < 0) break;
    cells += letter;
  }
  return cells;
}

Kind KindOfCode(wint_t code) {
  switch (code) {
    case KEY_UP: return Kind::kUp;
    case KEY_DOWN: return Kind::kDown;
    case KEY_LEFT: return Kind::kLeft;
    case KEY_RIGHT: return Kind::kRight;
    case KEY_PPAGE: return Kind::kPageUp;
    case KEY_NPAGE: return Kind::kPageDown;
    case KEY_HOME: return Kind::kHome;
    case KEY_END: return Kind::kEnd;
    case KEY_ENTER: return Kind::kEnter;
    case KEY_BACKSPACE: return Kind::kBackspace;
    default: return Kind::kOther;
  }
}

TopKey KeyOfCharacter(wint_t character) {
  if (character == '\n' || character == '\r') return {.kind = Kind::kEnter};
  if (character == '\b' || character == 0x7F) return {.kind = Kind::kBackspace};
  if (character == kEscapeKey) return {.kind = Kind::kEscape};
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const size_t length = std::wcrtomb(bytes.data(), static_cast<wchar_t>(character), &state);
  if (character < ' ' || length > bytes.size()) return {.kind = Kind::kOther};
  return {.kind = Kind::kText, .text = std::string(bytes.data(), length)};
}

class CursesScreen final : public app::TopScreen {
 public:
  explicit CursesScreen(base::Fd keys) : keys_(std::move(keys)) {}
  ~CursesScreen() override { CloseNow(); }

  bool Open() override;
  void Close() override { CloseNow(); }
  report::TopSize Size() override { return {.width = getmaxx(stdscr), .height = getmaxy(stdscr)}; }
  void Draw(const report::TopPicture& picture) override;
  std::optional<TopKey> ReadKey(int timeout_ms, int other) override;
  bool IsGone() const override { return is_gone_; }

 private:
  void CloseNow();
  attr_t AttributesOf(Tone tone) const;

  base::Fd keys_;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
  SCREEN* screen_ = nullptr;
  bool is_utf8_ = false;
  bool has_colors_ = false;
  bool is_gone_ = false;
};

bool CursesScreen::Open() {
  is_utf8_ = UseUtf8();
  in_ = ::fdopen(::dup(keys_.get()), "r");
  out_ = ::fdopen(::dup(STDOUT_FILENO), "w");
  if (in_ != nullptr && out_ != nullptr) screen_ = ::newterm(nullptr, out_, in_);
  if (screen_ == nullptr) {
    CloseNow();
    return false;
  }
  ::set_term(screen_);
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::set_escdelay(kEscapeDelayMs);
  for (const auto& [bytes, key] : kSequences) ::define_key(bytes, key);
  const char* no_color = std::getenv("NO_COLOR");
  has_colors_ = (no_color == nullptr || *no_color == '\0') && ::has_colors() && ::start_color() == OK &&
                ::use_default_colors() == OK;
  if (has_colors_) {
    ::init_pair(kGreenPair, COLOR_GREEN, -1);
    ::init_pair(kRedPair, COLOR_RED, -1);
  }
  ::curs_set(0);
  return true;
}

void CursesScreen::CloseNow() {
  if (screen_ != nullptr) {
    ::curs_set(1);
    ::endwin();
    ::delscreen(screen_);
    screen_ = nullptr;
  }
  for (FILE** file : {&in_, &out_}) {
    if (*file != nullptr) std::fclose(*file);
    *file = nullptr;
  }
}

attr_t CursesScreen::AttributesOf(Tone tone) const {
  switch (tone) {
    case Tone::kStrong: return A_BOLD;
    case Tone::kFaint: return A_DIM;
    case Tone::kGood: return has_colors_ ? static_cast<attr_t>(COLOR_PAIR(kGreenPair)) : A_NORMAL;
    case Tone::kBad: return has_colors_ ? static_cast<attr_t>(COLOR_PAIR(kRedPair)) | A_BOLD : A_BOLD;
    case Tone::kPlain: break;
  }
  return A_NORMAL;
}

void CursesScreen::Draw(const report::TopPicture& picture) {
  const int width = getmaxx(stdscr);
  ::erase();
  for (size_t i = 0; i < picture.lines.size(); ++i) {
    const report::TopLine& line = picture.lines[i];
    const auto y = static_cast<int>(i);
    const attr_t whole = line.reversed ? A_REVERSE : A_NORMAL;
    if (line.reversed) ::mvhline(y, 0, static_cast<chtype>(' ') | A_REVERSE, width);
    for (const report::TopSpan& span : line.spans) {
      const std::wstring cells = Cells(span.text, width - span.column, is_utf8_);
      ::attrset(static_cast<int>(whole | AttributesOf(span.tone)));
      ::mvaddnwstr(y, span.column, cells.data(), static_cast<int>(cells.size()));
    }
  }
  ::attrset(A_NORMAL);
  ::curs_set(picture.caret_at ? 1 : 0);
  if (picture.caret_at) ::move(static_cast<int>(picture.lines.size()) - 1, *picture.caret_at);
  // All of it, so that curses does not scroll parts of the screen: not every terminal that says so can.
  ::redrawwin(stdscr);
  ::refresh();
}

std::optional<TopKey> CursesScreen::ReadKey(int timeout_ms, int other) {
  ::timeout(0);
  wint_t read = 0;
  int kind = ::get_wch(&read);  // curses may have it already
  if (kind == ERR) {
    std::array<pollfd, 2> ready = {{{keys_.get(), POLLIN, 0}, {other, POLLIN, 0}}};
    const bool is_interrupted = ::poll(ready.data(), ready.size(), timeout_ms) < 0;
    if (is_interrupted || ready[0].revents != 0) kind = ::get_wch(&read);  // a signal may be a change of size
    is_gone_ = kind == ERR && !is_interrupted && (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  }
  if (kind == ERR) return {};
  if (kind == KEY_CODE_YES) return TopKey{.kind = KindOfCode(read)};
  if (read == kEscapeKey && TakeSequence()) return TopKey{.kind = Kind::kOther};
  if (read == kRedrawKey) ::clearok(stdscr, TRUE);
  return KeyOfCharacter(read);
}

}  // namespace

std::unique_ptr<app::TopScreen> MakeTopScreen() {
  if (::isatty(STDOUT_FILENO) == 0 || !CanMoveCursor()) return nullptr;
  const bool has_keys = ::isatty(STDIN_FILENO) == 1;
  base::Fd keys(has_keys ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open("/dev/tty", O_RDONLY | O_CLOEXEC));
  if (!keys.valid()) return nullptr;
  return std::make_unique<CursesScreen>(std::move(keys));
}

}  // namespace wf::cli
