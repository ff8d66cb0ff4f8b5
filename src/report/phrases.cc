#include "report/phrases.h"

#include <array>

namespace wf::report {
namespace {

struct Pair {
  std::string_view english;
  std::string_view french;
};

constexpr std::array<Pair, static_cast<size_t>(Phrase::kCount)> kPhrases = {{
    {"task", "tâche"},
    {"attempts", "essais"},
    {"wall", "durée"},
    {"CPU s", "CPU s"},
    {"cores used", "cœurs utilisés"},
    {"peak memory", "pic mémoire"},
    {"read / written", "lu / écrit"},
    {"GPU memory", "mémoire GPU"},
    {"share of run", "part du run"},
    {"(whole run)", "(run entier)"},
    {"of", "sur"},
    {"failed", "en échec"},
    {"Bottleneck", "Goulot d'étranglement"},
    {"Why", "Pourquoi"},
    {"Try", "À essayer"},
    {"Also", "Aussi"},
    {"If it took no time at all, the run would still take", "S'il ne prenait aucun temps, le run durerait encore"},
    {"Not measured in this run", "Non mesuré dans ce run"},
    {"~ estimated, or without some attempts", "~ estimé, ou sans certains essais"},
    {"≈ shared: several attempts overlapped and only their sum is known",
     "≈ partagé : plusieurs essais se chevauchaient, seule leur somme est connue"},
    {"Nothing ran, so there is nothing to compare.", "Rien n'a été exécuté, il n'y a donc rien à comparer."},
    {"of the time that decided when the run ended", "du temps qui a décidé de la fin du run"},
    {"Hottest lines", "Lignes les plus coûteuses"},
    {"share of task", "part de la tâche"},
    {"function", "fonction"},
    {"line", "ligne"},
    {"waiting", "attente"},
    {"samples", "échantillons"},
    {"missed", "manqués"},
    {"rejected", "rejetés"},
    {"the sampler took", "l'échantillonneur a pris"},
    {"(outside of tasks)", "(hors des tâches)"},
}};

struct FigureText {
  std::string_view id;
  Pair name;
};

constexpr std::array kFigures = {
    FigureText{"cpu", {"CPU time", "temps CPU"}},
    FigureText{"memory", {"peak memory", "pic mémoire"}},
    FigureText{"io_bytes", {"bytes read and written", "octets lus et écrits"}},
    FigureText{"device_bytes", {"bytes from and to storage", "octets lus et écrits sur le stockage"}},
    FigureText{"network_bytes", {"network traffic", "trafic réseau"}},
    FigureText{"gpu_memory", {"GPU memory", "mémoire GPU"}},
    FigureText{"gpu_busy", {"GPU time", "temps GPU"}},
    FigureText{"energy", {"energy", "énergie"}},
    FigureText{"stacks", {"stacks", "piles d'appels"}},
};

}  // namespace

std::string_view Say(Phrase phrase, Language language) {
  const Pair& pair = kPhrases[static_cast<size_t>(phrase)];
  return language == Language::kFrench ? pair.french : pair.english;
}

std::string_view FigureName(std::string_view id, Language language) {
  for (const FigureText& figure : kFigures) {
    if (figure.id == id) return language == Language::kFrench ? figure.name.french : figure.name.english;
  }
  return id;
}

}  // namespace wf::report
