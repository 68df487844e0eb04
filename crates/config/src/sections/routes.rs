use crate::kinds::{Count, Places, Quoted, Sayings, Words, choice};
use crate::names::OFFLINE;
use crate::nearest;
use crate::problem::{Place, Problem};
use crate::reader::Reader;
use crate::section::{Key, Section, section};
use crate::show::{Entry, Shown};

choice! {
    /// How the model for a turn is chosen among the routes.
    Strategy {
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
    Routes in "routes" checked by unknown_targets {
        /// Everything else. Empty means every model in the order of the file, or `offline` where there is none.
        default: Words = [],
        /// Small work that must not cost much; else as `default`.
        cheap: Words = [],
        /// Languages other than English; else as `default`.
        multilingual: Words = [],
        /// Answers that are spoken; else as `cheap`.
        voice: Words = [],
        /// Sorting messages; else as `cheap`.
        classifier: Words = [],
        /// Planning work of many steps; else as `default`.
        planner: Words = [],
        /// Shortening what was said; else as `cheap`.
        summariser: Words = [],
        /// Judging an answer; else as `cheap`.
        verdict: Words = [],
        /// Conversations with tools; else as `default`.
        chat_tools: Words = [],
        /// Conversations without; else as `cheap`.
        chat_light: Words = [],
        /// Answers that must keep to a schema; else as `default`.
        json_strict: Words = [],
        /// Speech while somebody is on the line; else as `voice`.
        realtime_voice: Words = [],
        /// Vectors for search. The first alone is used, since vectors of two models can't be compared; without one,
        /// this machine makes its own.
        embeddings: Words = [],
        /// With a model configured: how sure, in hundredths, the offline model must be to answer without it. 0 asks it
        /// never.
        offline_when_sure: Count<0, 100> = 0,
        /// How the model for a turn is chosen.
        strategy: Strategy = "rule",
        /// Words that ask for more than a quick answer: with `hybrid` they have a small model asked first.
        escalation_words: Sayings = [],
        /// Where data may go: the `residency` of every model that may be used. Empty permits all; `offline` always
        /// may.
        permitted_residency: Places = [],
    }
}

impl Routes {
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
fn unknown_targets(reader: &mut Reader) {
    let mut known: Vec<String> = reader.names("models").into_iter().map(|name| name.name).collect();
    known.push(OFFLINE.to_owned());
    for key in
        Routes::KEYS.iter().filter(|key| !matches!(key.name, "permitted_residency" | "escalation_words"))
    {
        let Some(Entry { value: Shown::List(names), from, .. }) = reader.taken("routes", key.name) else {
            continue;
        };
        let strangers = names.iter().filter(|name| !known.contains(name));
        let problems: Vec<Problem> =
            strangers.map(|name| stranger(name, &known, key, from.clone())).collect();
        problems.into_iter().for_each(|problem| reader.note(problem));
    }
}

fn stranger(name: &str, known: &[String], key: &Key, place: Place) -> Problem {
    let hint = match nearest::of(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("the models are {}; another needs a section [models.{name}]", known.join(", ")),
    };
    let what = format!("there is no model {}", Quoted(name));
    Problem { place, key: Some(key.path()), what, hint: Some(hint) }
}
