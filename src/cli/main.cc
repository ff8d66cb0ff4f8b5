#include <csignal>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  // A parent may have left SIGPIPE ignored; `wf runs | head` is to end without a word all the same.
  std::signal(SIGPIPE, SIG_DFL);
  return wf::cli::Main(argc, argv);
}
