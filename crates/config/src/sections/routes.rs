use crate::kinds::{CountKind, ModelNameListKind, PhraseListKind, QuotedSetting, ResidencyListKind, choice};
use crate::names::OFFLINE;
use crate::nearest;
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::reader::ConfigReader;
use crate::section::{ConfigSection, SettingDefinition, section};
use crate::show::{EffectiveSetting, RedactedSetting};

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
    /// Which models are asked, by what they are wanted for: names from [models.NAME], or `offline`, the first choice
    /// first. A key without names looks where its line says.
    RoutesSection in "routes" checked by unknown_targets {
        /// Everything else. Empty means every model in the order of the file, or `offline` where there is none.
        default: ModelNameListKind = [],
        /// Small work that must not cost much; else as `default`.
        cheap: ModelNameListKind = [],
        /// Languages other than English; else as `default`.
        multilingual: ModelNameListKind = [],
        /// Answers that are spoken; else as `cheap`.
        voice: ModelNameListKind = [],
        /// Sorting messages; else as `cheap`.
        classifier: ModelNameListKind = [],
        /// Planning work of many steps; else as `default`.
        planner: ModelNameListKind = [],
        /// Shortening what was said; else as `cheap`.
        summariser: ModelNameListKind = [],
        /// Judging an answer; else as `cheap`.
        verdict: ModelNameListKind = [],
        /// Conversations with tools; else as `default`.
        chat_tools: ModelNameListKind = [],
        /// Conversations without; else as `cheap`.
        chat_light: ModelNameListKind = [],
        /// Answers that must keep to a schema; else as `default`.
        json_strict: ModelNameListKind = [],
        /// Speech while somebody is on the line; else as `voice`.
        realtime_voice: ModelNameListKind = [],
        /// Vectors for search. The first alone is used, since vectors of two models can't be compared; without one,
        /// this machine makes its own.
        embeddings: ModelNameListKind = [],
        /// With a model configured: how sure, in hundredths, the offline model must be to answer without it. 0 asks it
        /// never.
        offline_when_sure: CountKind<0, 100> = 0,
        /// How the model for a turn is chosen.
        strategy: RoutingStrategyChoice = "rule",
        /// Words that ask for more than a quick answer: with `hybrid` they have a small model asked first.
        escalation_words: PhraseListKind = [],
        /// Where data may go: the `residency` of every model that may be used. Empty permits all; `offline` always
        /// may.
        permitted_residency: ResidencyListKind = [],
    }
}

impl RoutesSection {
    /// Every use by its name, with the targets it was given.
    pub fn by_use(&self) -> [(&'static str, &[String]); 13] {
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
            ("realtime_voice", &self.realtime_voice),
            ("embeddings", &self.embeddings),
        ]
    }
}

/// A name that is nobody's would be passed over in silence.
fn unknown_targets(reader: &mut ConfigReader) {
    let mut known: Vec<String> = reader.names("models").into_iter().map(|name| name.name).collect();
    known.push(OFFLINE.to_owned());
    for key in RoutesSection::KEYS
        .iter()
        .filter(|key| !matches!(key.name, "permitted_residency" | "escalation_words"))
    {
        let Some(EffectiveSetting { value: RedactedSetting::List(names), from, .. }) =
            reader.taken("routes", key.name)
        else {
            continue;
        };
        let strangers = names.iter().filter(|name| !known.contains(name));
        let problems: Vec<ConfigProblem> =
            strangers.map(|name| stranger(name, &known, key, from.clone())).collect();
        problems.into_iter().for_each(|problem| reader.note(problem));
    }
}

fn stranger(name: &str, known: &[String], key: &SettingDefinition, place: SettingOrigin) -> ConfigProblem {
    let hint = match nearest::of(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("the models are {}; another needs a section [models.{name}]", known.join(", ")),
    };
    let what = format!("there is no model {}", QuotedSetting(name));
    ConfigProblem { place, key: Some(key.path()), what, hint: Some(hint) }
}
