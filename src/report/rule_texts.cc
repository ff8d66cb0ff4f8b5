#include "report/rule_texts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "report/format.h"
#include "report/phrases.h"

namespace wf::report {
namespace {

namespace rule = analysis::rule;

// Advice of one rule is separated by newlines.
struct Words {
  std::string_view why;
  std::string_view advice;
};

struct Entry {
  std::string_view rule;
  Words english;
  Words french;
};

constexpr std::array kEntries = {
    Entry{rule::kCpuOneCore,
          {"it keeps about one core busy ({cores_used} cores used) while {idle_cores:cores} of {usable_cores:cores} "
           "idle. It is "
           "bound by the CPU and runs on one core.",
           "vectorised batches: work on whole arrays (NumPy, torch) instead of a loop over items in Python\n"
           "parallel workers: split the work and run the parts at once, with task.map and --executor processes, or "
           "with a ThreadPoolExecutor where the work is done by libraries that release the GIL"},
          {"elle occupe environ un cœur ({cores_used} cœurs utilisés) tandis que {idle_cores:cores} sur "
           "{usable_cores:cores} sont "
           "inactifs. Elle est limitée par le CPU et n'utilise qu'un cœur.",
           "traitement vectorisé par lots : travailler sur des tableaux entiers (NumPy, torch) plutôt que dans une "
           "boucle Python\n"
           "exécution parallèle : découper le travail avec task.map et --executor processes, ou avec un "
           "ThreadPoolExecutor si les bibliothèques libèrent le GIL"}},
    Entry{rule::kCpuOneCoreShared,
          {"{concurrency} of its attempts run at once, but together they keep only about one core busy ({cores_used} "
           "cores used) while {idle_cores:cores} of {usable_cores:cores} idle. Threads of one Python process that wait "
           "for the GIL "
           "look like this.",
           "--executor processes, so that attempts do not share one GIL\n"
           "vectorised batches: libraries such as NumPy and torch release the GIL while they work"},
          {"{concurrency} essais s'exécutent en même temps, mais n'occupent ensemble qu'environ un cœur ({cores_used} "
           "cœurs utilisés) tandis que {idle_cores:cores} sur {usable_cores:cores} sont inactifs. C'est l'allure de "
           "threads d'un "
           "même processus Python qui attendent le GIL.",
           "--executor processes, pour que les essais ne partagent pas un même GIL\n"
           "traitement vectorisé par lots : NumPy et torch libèrent le GIL pendant leurs calculs"}},
    Entry{rule::kCpuSomeCores,
          {"it is bound by the CPU: {cores_used} cores used while {idle_cores:cores} of {usable_cores:cores} idle.",
           "more workers: --workers, or smaller and more parts in task.map\n"
           "less work per item: vectorised batches"},
          {"elle est limitée par le CPU : {cores_used} cœurs utilisés tandis que {idle_cores:cores} sur "
           "{usable_cores:cores} sont "
           "inactifs.",
           "davantage de workers : --workers, ou des parties plus petites et plus nombreuses dans task.map\n"
           "moins de travail par élément : traitement vectorisé par lots"}},
    Entry{
        rule::kCpuAllCores,
        {"it is bound by the CPU and no core is left: {machine_cores_used} of {usable_cores:cores} cores were busy "
         "meanwhile, "
         "{cores_used} of them for this task.",
         "less work: vectorised batches, a better algorithm, results that are computed once\n"
         "more cores; more workers on these would not help"},
        {"elle est limitée par le CPU et aucun cœur n'est libre : {machine_cores_used} cœurs sur {usable_cores:cores} "
         "étaient occupés, dont {cores_used} par cette tâche.",
         "moins de travail : traitement vectorisé par lots, meilleur algorithme, résultats calculés une seule fois\n"
         "plus de cœurs ; davantage de workers sur ceux-ci n'aiderait pas"}},
    Entry{rule::kCpuBusy,
          {"it is bound by the CPU: {cores_used} cores used. Whether others were idle cannot be told, because the run "
           "does not say how many it could use.",
           "vectorised batches\nparallel workers, if the machine has more cores"},
          {"elle est limitée par le CPU : {cores_used} cœurs utilisés. On ne peut pas dire si d'autres étaient "
           "inactifs, car le run n'indique pas combien il pouvait en utiliser.",
           "traitement vectorisé par lots\nexécution parallèle, si la machine a plus de cœurs"}},
    Entry{rule::kGpuBusy,
          {"the GPU had work for {gpu_share:percent} of its time.",
           "larger batches or lower precision, if the kernels leave the chip half empty\n"
           "a faster GPU, or several"},
          {"le GPU avait du travail pendant {gpu_share:percent} de sa durée.",
           "des lots plus grands ou une précision plus faible, si les noyaux n'occupent pas toute la puce\n"
           "un GPU plus rapide, ou plusieurs"}},
    Entry{
        rule::kIoDisk,
        {"its attempts are off the CPU {waiting_share:percent} of the time while {disk_bytes_per_s:rate} move from and "
         "to storage. It waits for the disk.",
         "read less: columns and rows that are needed, a compressed or columnar format\n"
         "read ahead in parallel, or keep the data in memory between tasks"},
        {"ses essais sont hors CPU {waiting_share:percent} du temps pendant que {disk_bytes_per_s:rate} passent par le "
         "stockage. Elle attend le disque.",
         "lire moins : les colonnes et lignes utiles, un format compressé ou en colonnes\n"
         "lire à l'avance en parallèle, ou garder les données en mémoire entre les tâches"}},
    Entry{
        rule::kIoNetwork,
        {"its attempts are off the CPU {waiting_share:percent} of the time while {network_bytes_per_s:rate} move over "
         "the network. It waits for the network.",
         "more transfers at once: task.map over the objects, with more workers\n"
         "move less: compression, only what is needed, a cache near the pipeline"},
        {"ses essais sont hors CPU {waiting_share:percent} du temps pendant que {network_bytes_per_s:rate} passent par "
         "le réseau. Elle attend le réseau.",
         "davantage de transferts simultanés : task.map sur les objets, avec plus de workers\n"
         "transférer moins : compression, seulement l'utile, un cache proche du pipeline"}},
    Entry{
        rule::kWaitQuiet,
        {"its attempts are off the CPU {waiting_share:percent} of the time, and little moves meanwhile "
         "({disk_bytes_per_s:rate} storage, {network_bytes_per_s:rate} network). It sleeps, or waits for a lock or for "
         "a slow answer.",
         "look for sleeps, polling, locks and requests that are made one after the other\n"
         "let several wait at once: task.map with more workers"},
        {"ses essais sont hors CPU {waiting_share:percent} du temps et peu de données circulent "
         "({disk_bytes_per_s:rate} stockage, {network_bytes_per_s:rate} réseau). Elle dort, ou attend un verrou ou une "
         "réponse lente.",
         "chercher les pauses, interrogations répétées, verrous et requêtes faites l'une après l'autre\n"
         "faire attendre plusieurs essais à la fois : task.map avec plus de workers"}},
    Entry{
        rule::kWaitUnknown,
        {"its attempts are off the CPU {waiting_share:percent} of the time ({cores_used} cores used[, "
         "{io_bytes_per_s:rate} read and written by calls][, {disk_bytes_per_s:rate} from and to storage]). They wait "
         "for the network, a disk, a lock or a sleep; which of them cannot be told, because this is not measured "
         "here: {absent}.",
         "several waits at once: task.map with more workers\n"
         "look at what it calls: requests made one after the other, sleeps, locks"},
        {"ses essais sont hors CPU {waiting_share:percent} du temps ({cores_used} cœurs utilisés[, "
         "{io_bytes_per_s:rate} lus et écrits par des appels][, {disk_bytes_per_s:rate} par le stockage]). Ils "
         "attendent le réseau, un disque, un verrou ou une pause ; impossible de dire lequel, car ceci n'est pas "
         "mesuré ici : {absent}.",
         "plusieurs attentes à la fois : task.map avec plus de workers\n"
         "regarder ce qu'elle appelle : requêtes l'une après l'autre, pauses, verrous"}},
    Entry{
        rule::kSchedulingGaps,
        {"nothing ran for {idle_ns:time}, {idle_share:percent} of the run: {before_first_ns:time} before the first "
         "task, {after_last_ns:time} after the last; for {idle_ready_ns:time} a task was ready and did not start.",
         "before the first task: slow imports, or work in the body of the workflow; move it into tasks\n"
         "in between: work in the workflow's body between .result() calls; make it a task"},
        {"rien ne s'exécutait pendant {idle_ns:time}, {idle_share:percent} du run : {before_first_ns:time} avant la "
         "première tâche, {after_last_ns:time} après la dernière ; pendant {idle_ready_ns:time} une tâche était prête "
         "et n'a pas démarré.",
         "avant la première tâche : imports lents, ou travail dans le corps du workflow ; en faire des tâches\n"
         "entre les tâches : travail dans le corps du workflow entre des appels à .result() ; en faire une tâche"}},
    Entry{rule::kTinyTasks,
          {"{attempts:count} attempts of {median_ns:time} each (median): {work_ns:time} of work in a run of "
           "{run_wall_ns:time}. Starting them costs more than what they do.",
           "let each task work on a batch of items"},
          {"{attempts:count} essais de {median_ns:time} chacun (médiane) : {work_ns:time} de travail dans un run de "
           "{run_wall_ns:time}. Les démarrer coûte plus que ce qu'ils font.",
           "traiter un lot d'éléments par tâche"}},
    Entry{
        rule::kMemoryNearLimit,
        {"its memory reached {memory_peak_bytes:bytes}, {memory_share:percent} of the {memory_limit_bytes:bytes} there "
         "are. A little more, and the system slows down or kills it.",
         "work on parts of the data, drop what is no longer needed, or use smaller types\n"
         "fewer workers at once"},
        {"sa mémoire a atteint {memory_peak_bytes:bytes}, {memory_share:percent} des {memory_limit_bytes:bytes} "
         "disponibles. Un peu plus, et le système ralentit ou la tue.",
         "travailler par parties, libérer ce qui ne sert plus, ou utiliser des types plus petits\n"
         "moins de workers à la fois"}},
    Entry{
        rule::kUnknownNoCpu,
        {"cannot tell what holds it up, because its CPU time was not measured.", "run it again with --mode always"},
        {"impossible de dire ce qui la freine, car son temps CPU n'a pas été mesuré.", "relancer avec --mode always"}},
    Entry{
        rule::kUnknownCpuLowerBound,
        {"cannot tell what holds it up, because its CPU time is only known to be at least {cores_used} cores: attempts "
         "overlapped in one process, and whose the helper threads and children were cannot be told.",
         "run it again with --executor processes or --workers 1; both measure CPU exactly"},
        {"impossible de dire ce qui la freine, car son temps CPU n'est connu que par défaut (au moins {cores_used} "
         "cœurs) : des essais se chevauchaient dans un même processus, et l'on ne sait pas à qui étaient les threads "
         "et processus auxiliaires.",
         "relancer avec --executor processes ou --workers 1 ; les deux mesurent le CPU exactement"}},
    Entry{rule::kUnknownTooShort,
          {"cannot tell what holds it up, because it ran for {wall_ns:time} only.", ""},
          {"impossible de dire ce qui la freine, car elle n'a duré que {wall_ns:time}.", ""}},
    Entry{rule::kUnknownNothingRan,
          {"cannot tell, because it never started.", ""},
          {"impossible à dire, car elle n'a jamais démarré.", ""}},
};

std::string InUnit(double value, std::string_view unit, Language language) {
  if (unit == "time") return Duration(value, language);
  if (unit == "bytes") return Bytes(value, language);
  if (unit == "rate") return Bytes(value, language) + "/s";
  if (unit == "percent") return Percent(value, language);
  if (unit == "count") return fmt::format("{:.0f}", value);
  // A whole number of cores is read as such: "7 of 8".
  if (unit == "cores" && std::abs(value - std::round(value)) < 0.005) return fmt::format("{:.0f}", value);
  return Number(value, language);
}

std::string AbsentList(const analysis::Finding& finding, Language language) {
  std::string list;
  for (const std::string& id : finding.absent) {
    if (!list.empty()) list += ", ";
    list += FigureName(id, language);
  }
  return list;
}

// The text of one placeholder without its braces; nullopt when its figure is absent.
std::optional<std::string> Resolve(std::string_view name, const analysis::Finding& finding, Language language) {
  if (name == "absent") return AbsentList(finding, language);
  const size_t colon = name.find(':');
  const auto figure = finding.figures.find(std::string(name.substr(0, colon)));
  if (figure == finding.figures.end()) return std::nullopt;
  const std::string_view unit = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  return InUnit(figure->second, unit, language);
}

// Fills a part without brackets; *complete tells whether all its figures were there.
std::string FillPart(std::string_view text, const analysis::Finding& finding, Language language, bool* complete) {
  std::string result;
  while (true) {
    const size_t open = text.find('{');
    const size_t close = text.find('}', open);
    result += text.substr(0, open);
    if (open == std::string_view::npos || close == std::string_view::npos) return result;
    const std::optional<std::string> value = Resolve(text.substr(open + 1, close - open - 1), finding, language);
    if (!value) *complete = false;
    result += value.value_or(std::string(kAbsentMark));
    text.remove_prefix(close + 1);
  }
}

std::vector<std::string> FillAdvice(std::string_view advice, const analysis::Finding& finding, Language language) {
  std::vector<std::string> lines;
  while (!advice.empty()) {
    const size_t end = advice.find('\n');
    lines.push_back(Fill(advice.substr(0, end), finding, language));
    if (end == std::string_view::npos) break;
    advice.remove_prefix(end + 1);
  }
  return lines;
}

// Said of every rule whose finding has the figure.
constexpr std::string_view kCpuWait =
    "[ It was ready to run but had no CPU for {cpu_wait_share:percent} of the CPU time it wanted: the machine was busy "
    "with other work.]";
constexpr std::string_view kCpuWaitFrench =
    "[ Elle était prête mais sans CPU pendant {cpu_wait_share:percent} du temps CPU voulu : la machine était occupée à "
    "autre chose.]";

RuleText UnknownRule(const analysis::Finding& finding) {
  RuleText text;
  text.why = finding.rule;
  for (const auto& [name, value] : finding.figures) text.why += fmt::format(" {}={:g}", name, value);
  return text;
}

}  // namespace

std::string Fill(std::string_view text, const analysis::Finding& finding, Language language) {
  std::string result;
  bool complete = true;
  while (true) {
    const size_t open = text.find('[');
    const size_t close = text.find(']', open);
    result += FillPart(text.substr(0, open), finding, language, &complete);
    if (open == std::string_view::npos || close == std::string_view::npos) return result;
    bool part_complete = true;
    const std::string part = FillPart(text.substr(open + 1, close - open - 1), finding, language, &part_complete);
    if (part_complete) result += part;
    text.remove_prefix(close + 1);
  }
}

RuleText TextOf(const analysis::Finding& finding, Language language) {
  for (const Entry& entry : kEntries) {
    if (entry.rule != finding.rule) continue;
    const bool french = language == Language::kFrench;
    const Words& words = french ? entry.french : entry.english;
    const std::string why =
        Fill(words.why, finding, language) + Fill(french ? kCpuWaitFrench : kCpuWait, finding, language);
    return {why, FillAdvice(words.advice, finding, language)};
  }
  return UnknownRule(finding);
}

}  // namespace wf::report
