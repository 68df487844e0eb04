use munshi_toml::QuotedValue;

use crate::kinds::{CountKind, FlagKind, ModelNameListKind, PhraseListKind, ResidencyListKind, choice};
use crate::names::OFFLINE;
use crate::outline::SettingDefinition;
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::reader::ConfigReader;
use crate::redacted::RedactedSetting;
use crate::section::{ConfigSection, section};
use crate::show::EffectiveSetting;

choice! {
    /// How the model for a turn is chosen among the routes.
    RoutingStrategyChoice {
        /// By fixed rules; no model is asked.
        Rule = "rule",
        /// By asking a small model first.
        Classifier = "classifier",
        /// By rules, and a small model where they don't decide.
        Hybrid = "hybrid",
    }
}

section! {
    /// Which models serve which use: names from [models.NAME], or `offline`, in order of preference. An empty list
    /// falls back as described at its key.
    RoutesSection in "routes" checked by check_targets {
        /// All other uses. Empty means every model in file order, or `offline` if there is none.
        default: ModelNameListKind = [],
        /// Small, cheap tasks; falls back to `default`.
        cheap: ModelNameListKind = [],
        /// Languages other than English; falls back to `default`.
        multilingual: ModelNameListKind = [],
        /// Spoken answers; falls back to `cheap`.
        voice: ModelNameListKind = [],
        /// Classifying messages; falls back to `cheap`.
        classifier: ModelNameListKind = [],
        /// Planning multi-step work; falls back to `default`.
        planner: ModelNameListKind = [],
        /// Summarising conversations; falls back to `cheap`.
        summariser: ModelNameListKind = [],
        /// Judging an answer; falls back to `cheap`.
        verdict: ModelNameListKind = [],
        /// Conversations with tools; falls back to `default`.
        chat_tools: ModelNameListKind = [],
        /// Conversations without tools; falls back to `cheap`.
        chat_light: ModelNameListKind = [],
        /// Answers that must match a schema; falls back to `default`.
        json_strict: ModelNameListKind = [],
        /// Embeddings for search. Only the first model is used, since embeddings of two models can't be compared. If
        /// empty, Munshi computes them locally.
        embeddings: ModelNameListKind = [],
        /// Confidence, in percent, above which the offline model answers instead of a configured model. 0 never uses it
        /// that way.
        offline_when_sure: CountKind<0, 100> = 0,
        /// Answers what plainly asks for a tool that needs no model, such as a balance or a sale, by templates and without a
        /// call of a configured model.
        templates_when_sure: FlagKind = true,
        /// How the model for a turn is chosen.
        strategy: RoutingStrategyChoice = "rule",
        /// Words that call for more than a quick answer. With `hybrid`, they make a small model classify the message
        /// first.
        escalation_words: PhraseListKind = [],
        /// Permitted values of a model's `residency`. Empty permits all; `offline` is always permitted.
        permitted_residency: ResidencyListKind = [],
    }
}

impl RoutesSection {
    /// Every use by its name, with the targets it was given.
    pub fn by_use(&self) -> [(&'static str, &[String]); 12] {
        [
            ("default", &self.default),
            ("cheap", &self.cheap),
            ("multilingual", &self.multilingual),
            ("voice", &self.voice),
            ("classifier", &self.classifier),
            ("planner", &self.planner),
            ("summariser", &self.summariser),
            ("verdict", &self.verdict),
            ("chat_tools", &self.chat_tools),
            ("chat_light", &self.chat_light),
            ("json_strict", &self.json_strict),
            ("embeddings", &self.embeddings),
        ]
    }
}

/// A name that is nobody's would be passed over in silence.
fn check_targets(reader: &mut ConfigReader) {
    let mut known: Vec<String> = reader.names("models").into_iter().map(|name| name.name).collect();
    known.push(OFFLINE.to_owned());
    for key in RoutesSection::KEYS
        .iter()
        .filter(|key| !matches!(key.name, "permitted_residency" | "escalation_words"))
    {
        let Some(EffectiveSetting { value: RedactedSetting::List(names), from, .. }) =
            reader.find_entry("routes", key.name)
        else {
            continue;
        };
        let strangers = names.iter().filter(|name| !known.contains(name));
        let problems: Vec<ConfigProblem> =
            strangers.map(|name| unknown_model_problem(name, &known, key, from.clone())).collect();
        problems.into_iter().for_each(|problem| reader.add_problem(problem));
    }
}

fn unknown_model_problem(
    name: &str,
    known: &[String],
    key: &SettingDefinition,
    place: SettingOrigin,
) -> ConfigProblem {
    let hint = match munshi_toml::find_nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("known models: {}; declare another in [models.{name}]", known.join(", ")),
    };
    let what = format!("unknown model {}", QuotedValue(name));
    ConfigProblem { place, key: Some(key.path()), what, hint: Some(hint) }
}
