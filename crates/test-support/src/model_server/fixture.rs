//! Exchanges in the form the providers document, kept as files: what is asked and what is answered, whole and streamed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::answer::{FakeModelAnswer, FakeModelStep};

/// Whether an answer comes at once or as it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixtureDelivery {
    Whole,
    Streamed,
}

/// A folder `fixtures/WIRE/NAME` with `request.json` (as a streamed call sends it), `answer.json` and, but for
/// embeddings, `answer.sse`.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub wire: String,
    pub name: String,
    pub request: Value,
    pub answer: Value,
    /// As it goes over the line, line endings too.
    pub stream: Vec<u8>,
}

impl Fixture {
    pub fn load(wire: &str, name: &str) -> Self {
        let folder = Self::root().join(wire).join(name);
        let json = |file: &str| serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap();
        Self {
            wire: wire.to_owned(),
            name: name.to_owned(),
            request: json("request.json"),
            answer: json("answer.json"),
            stream: std::fs::read(folder.join("answer.sse")).unwrap_or_default(),
        }
    }

    /// Every fixture of a wire.
    pub fn load_all(wire: &str) -> Vec<Self> {
        let folder = Self::root().join(wire);
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.iter().map(|name| Self::load(wire, name)).collect()
    }

    pub fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
    }

    /// How many bytes make the first event complete, the first two, and so on; zero comes first.
    pub fn boundaries(&self) -> Vec<usize> {
        let ends_line = |at: usize| match self.stream.get(at..) {
            // An event is complete at the CR of its empty line.
            Some([b'\n', b'\r', ..] | [b'\n', b'\n', ..]) => Some(at + 2),
            _ => None,
        };
        std::iter::once(0).chain((0..self.stream.len()).filter_map(ends_line)).collect()
    }

    pub(super) fn detect_delivery(&self, path: &str, body: &Value) -> FixtureDelivery {
        let is_streamed = path.contains(":stream") || body.get("stream") == Some(&Value::Bool(true));
        if is_streamed { FixtureDelivery::Streamed } else { FixtureDelivery::Whole }
    }

    pub(super) fn matches(&self, path: &str, body: &Value) -> bool {
        self.describe_difference(path, body).is_empty()
    }

    /// Empty when the request is this fixture's.
    pub(super) fn describe_difference(&self, path: &str, body: &Value) -> String {
        let speech = self.detect_delivery(path, body);
        let expected_path = self.path(speech);
        if path.split("api-version").next().map(|path| path.trim_end_matches(['?', '&']))
            != Some(&*expected_path)
        {
            return format!("asked at {path} instead of {expected_path}");
        }
        let (expected, found) = (to_canonical_json(&self.expected(speech)), to_canonical_json(body));
        if expected == found {
            String::new()
        } else {
            format!("{}\n  expected {expected}\n  found    {found}", self.name)
        }
    }

    /// How much of a request is this fixture's, to find the one that was meant.
    pub(super) fn score_similarity(&self, path: &str, body: &Value) -> usize {
        let speech = self.detect_delivery(path, body);
        let (expected, found) = (to_canonical_json(&self.expected(speech)), to_canonical_json(body));
        let is_there = path.starts_with(&self.path(speech));
        let alike = expected.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count();
        if is_there { alike } else { 0 }
    }

    fn path(&self, speech: FixtureDelivery) -> String {
        let is_embedding = self.name == "embeddings";
        let model = "gemini-2.5-flash";
        match (self.wire.as_str(), speech) {
            ("anthropic", _) => "/v1/messages".to_owned(),
            ("openai", _) if is_embedding => "/v1/embeddings".to_owned(),
            ("openai", _) => "/v1/chat/completions".to_owned(),
            (_, _) if is_embedding => "/v1beta/models/gemini-embedding-001:batchEmbedContents".to_owned(),
            (_, FixtureDelivery::Whole) => format!("/v1beta/models/{model}:generateContent"),
            (_, FixtureDelivery::Streamed) => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// The request as a whole call sends it differs in its `stream` alone.
    fn expected(&self, speech: FixtureDelivery) -> Value {
        let mut request = self.request.clone();
        if let (FixtureDelivery::Whole, Value::Object(fields)) = (speech, &mut request)
            && fields.contains_key("stream")
        {
            fields.insert("stream".to_owned(), Value::Bool(false));
            fields.remove("stream_options");
        }
        request
    }

    pub fn answer(&self, speech: FixtureDelivery) -> FakeModelAnswer {
        let answer = match speech {
            FixtureDelivery::Whole => FakeModelAnswer::json(200, &self.answer),
            FixtureDelivery::Streamed => {
                FakeModelAnswer::stream(vec![FakeModelStep::Send(self.stream.clone()), FakeModelStep::End])
            }
        };
        self.with_headers(answer)
    }

    /// The headers that the provider sends with every answer.
    pub fn with_headers(&self, answer: FakeModelAnswer) -> FakeModelAnswer {
        match self.wire.as_str() {
            "anthropic" => answer
                .with_header("request-id", "req_018EeWyXxfu5pfWkrYcMdjWG")
                .with_header("anthropic-ratelimit-requests-limit", "50")
                .with_header("anthropic-ratelimit-requests-remaining", "49")
                .with_header("anthropic-ratelimit-requests-reset", "2026-01-10T10:00:12Z"),
            "openai" => answer
                .with_header("x-request-id", "req_7d3c2f")
                .with_header("x-ratelimit-limit-requests", "60")
                .with_header("x-ratelimit-remaining-requests", "59")
                .with_header("x-ratelimit-reset-requests", "1s"),
            _ => answer,
        }
    }
}

/// One text for one value: names in order, no spaces.
pub fn to_canonical_json(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().collect();
            pairs.sort_by_key(|(name, _)| *name);
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), to_canonical_json(value)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(to_canonical_json).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
