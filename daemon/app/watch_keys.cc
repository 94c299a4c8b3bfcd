// Keys of what is watched and accounted: jobs, recordings, health, power, the log.
#include "app/config_values.h"

namespace heddle::app {

std::vector<Key> watch_keys() {
  return {
      {"jobs.source",
       "Who says which jobs run, for `heddle jobs` (docs/jobs.md): \"squeue\", or a file of job,host,... "
       "lines. "
       "Empty:\nnobody, and `heddle jobs` asks squeue itself.",
       "\"\"", string_key([](Config& c) -> std::string& { return c.jobs.source; })},
      {"jobs.interval",
       "How often that is asked, on a thread of its own, and as nobody where the daemon is root.", "\"30s\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.jobs.interval; })},
      {"record.most",
       "How many bytes a recording (`heddled --record`, docs/recording.md) has at most; then it ends.",
       "1000000000",
       count_key([](Config& c) -> std::uint64_t& { return c.record.most; }, 1'000'000, 1'000'000'000'000)},
      {"health.window",
       "What `heddle health` finds, and from how much on (docs/health.md). Errors are counted over two "
       "windows:\n"
       "this one (UFM's PDR: 12 min) ...",
       "\"12min\"", duration_key([](Config& c) -> Config::Seconds& { return c.health.window; })},
      {"health.long_window", "... and this one (likewise: 125 min).", "\"125min\"",
       duration_key([](Config& c) -> Config::Seconds& { return c.health.long_window; })},
      {"health.effective_ber",
       "Symbol errors as a bit error rate, from FDR on, where errors are corrected: in the window (UFM's "
       "PDR) ...",
       "1e-14", error_rate_key([](Config& c) -> double& { return c.health.effective_ber; })},
      {"health.effective_ber_long", "... and in the long one (likewise).", "1e-15",
       error_rate_key([](Config& c) -> double& { return c.health.effective_ber_long; })},
      {"health.raw_ber",
       "Symbol errors of slower links as a bit error rate, in either window (IBA volume 2, 5.7).", "1e-12",
       error_rate_key([](Config& c) -> double& { return c.health.raw_ber; })},
      {"health.receive_errors",
       "Packets that came in broken at a port in the window (ibqueryerrors); 0 for never, as below.", "10",
       small_key([](Config& c) -> unsigned& { return c.health.receive_errors; })},
      {"health.recoveries", "How often a link lost its lock and found it again in the long window.", "2",
       small_key([](Config& c) -> unsigned& { return c.health.recoveries; })},
      {"health.integrity_errors",
       "Local link integrity errors and buffer overruns of a port in the long window.", "2",
       small_key([](Config& c) -> unsigned& { return c.health.integrity_errors; })},
      {"health.downs", "How often a link between switches went down by itself in the long window.", "1",
       small_key([](Config& c) -> unsigned& { return c.health.downs; })},
      {"health.flaps", "How often any link went down by itself in the window (UFM: 5 changes in 10 sweeps).",
       "3", small_key([](Config& c) -> unsigned& { return c.health.flaps; })},
      {"health.discards", "Packets that a port threw away in the window (ibqueryerrors).", "100",
       small_key([](Config& c) -> unsigned& { return c.health.discards; })},
      {"health.unbalance",
       "How many times as busy the busiest link from one switch to another was as the least busy one ...",
       "4.0",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto number = real(value);
         if (!number || !(*number >= 1) || !(*number <= 1e6)) return "a number from 1 to 1000000";
         config.health.unbalance = *number;
         return std::nullopt;
       }},
      {"health.unbalance_from", "... if it was at least so busy, over the window.", "0.10",
       ratio_key([](Config& c) -> Ratio& { return c.health.unbalance_from; })},
      {"health.slow_receiver",
       "The share of the window in which a port had data for a host and no credits, its link not being full;"
       "\n0 for never.",
       "0.10", ratio_key([](Config& c) -> Ratio& { return c.health.slow_receiver; })},
      {"health.isolate",
       "Links between switches that are surely bad: \"advise\": say which would be taken out. \"enforce\": "
       "take\n"
       "them out, as an operator would with 'heddle link off': tables first, and never where hosts are cut "
       "off.\n"
       "\"off\": neither. Of links with a wish of an operator ('heddle link pin') nothing is said or done.",
       "\"advise\"",
       choice_key<health::Isolate>([](Config& c) -> health::Isolate& { return c.isolation.mode; },
                                   std::array{Choice<health::Isolate>{"advise", health::Isolate::Advise},
                                              Choice<health::Isolate>{"enforce", health::Isolate::Enforce},
                                              Choice<health::Isolate>{"off", health::Isolate::Off}})},
      {"health.trial_after",
       "A link that was taken out comes back on trial after this (UFM's PDR: some two hours); twice as long "
       "with\n"
       "each trial that it fails.",
       "\"125min\"", duration_key([](Config& c) -> Config::Seconds& { return c.isolation.trial_after; })},
      {"health.isolate_most",
       "Links that may be out at a time (UFM's PDR: 10), or 0.5 % of those between switches where that is "
       "more;\n"
       "never more than a tenth of these.",
       "10", small_key([](Config& c) -> unsigned& { return c.isolation.most; })},
      {"health.off", "Rules that nobody wants to hear of, as [\"duplicate-description\"].", "[]",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto names = list_of(value);
         if (!names) return "a list of strings";
         std::set<health::Rule> off;
         for (const std::string& name : *names) {
           const auto rule = std::ranges::find(health::rule_names, name, &health::RuleName::name);
           if (rule == health::rule_names.end()) return "a list of rules' names, as in docs/health.md";
           off.insert(rule->rule);
         }
         config.health.off = std::move(off);
         return std::nullopt;
       }},
      {"power.switches",
       "Whose watts switches have that no [[power.model]] matches. \"shipped\": what Heddle knows of real "
       "ones,\nwith sources (docs/regulation.md). \"sfs7000d\": all count as the paper's switch. Empty: "
       "\"shipped\" where\nfabric.backend is \"umad\", \"sfs7000d\" where it is \"sim\".",
       "\"\"",
       choice_key<PowerModels>([](Config& c) -> PowerModels& { return c.power.switches; },
                               std::array{Choice<PowerModels>{"shipped", PowerModels::Shipped},
                                          Choice<PowerModels>{"sfs7000d", PowerModels::Sfs7000d},
                                          Choice<PowerModels>{"", PowerModels::ByBackend}})},
      {"power.unknown",
       "What switches count as that no model matches: \"none\" (a problem says which they are), or "
       "\"sfs7000d\", the\npaper's switch.",
       "\"none\"",
       choice_key<power::Unmatched>(
           [](Config& c) -> power::Unmatched& { return c.power.unmatched; },
           std::array{Choice<power::Unmatched>{"none", power::Unmatched::Unknown},
                      Choice<power::Unmatched>{"sfs7000d", power::Unmatched::Sfs7000d}})},
      {"power.cables",
       "What is plugged into cages, as far as anybody knows: \"copper\" (passive), \"aoc\" (active optical "
       "cables) or\n\"optical\" (modules).",
       "\"copper\"",
       choice_key<power::Cable>([](Config& c) -> power::Cable& { return c.power.cables; },
                                std::array{Choice<power::Cable>{"copper", power::Cable::Copper},
                                           Choice<power::Cable>{"aoc", power::Cable::Aoc},
                                           Choice<power::Cable>{"optical", power::Cable::Optical}})},
      {"power.price",
       "What a kilowatt hour costs, such as 0.21: then `heddle energy` and the page say what a year saves.\n"
       "0: not said.",
       "0.0",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto price = real(value);
         if (!price || !(*price >= 0) || !(*price <= 1e6)) return "a number from 0 to 1000000";
         config.tariff.price = *price > 0 ? price : std::nullopt;
         return std::nullopt;
       }},
      {"power.currency", "Of power.price, as it is to be shown.", "\"EUR\"",
       string_key([](Config& c) -> std::string& { return c.tariff.currency; })},
      {"log.level", "\"debug\", \"info\", \"warning\" or \"error\".", "\"info\"",
       [](Config& config, const Value& value) -> std::optional<std::string> {
         const auto* text = std::get_if<std::string>(&value);
         if (text == nullptr ||
             (*text != "debug" && *text != "info" && *text != "warning" && *text != "error")) {
           return "\"debug\", \"info\", \"warning\" or \"error\"";
         }
         config.log.level = *text;
         return std::nullopt;
       }},
  };
}

}  // namespace heddle::app
