//! What helps where a tool could not: words to search for, or the things that may have been meant.

use munshi_privacy::Scrubber;
use munshi_types::{FallbackSearch, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::result::{sanitize_text_within, sanitize_value};

/// Nobody chooses among more.
const MOST_CHOICES: usize = 20;
/// In letters.
const LONGEST_WORDS: usize = 200;
const LONGEST_LABEL: usize = 120;
/// In bytes, as JSON.
const LONGEST_VALUE: usize = 1024;

/// What to do next about a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureHint {
    /// Nothing goes by these words; a search may know them. `by` is the tool's own and filled in when it is called.
    Search { words: String, by: Option<FallbackSearch> },
    /// Several things go by what `argument` said; a person chooses.
    Choose { argument: String, choices: Vec<ChoiceOption> },
}

/// One of the things that may have been meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceOption {
    /// What the argument has to be for this one.
    pub value: Value,
    /// What a person knows it by.
    pub label: String,
    /// What tells it from others of the same name: a town, the last digits of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl ChoiceOption {
    pub fn new(value: impl Into<Value>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), detail: None }
    }

    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}

impl FailureHint {
    /// Made fit to be stored and shown, as a result is. What is no choice any more is nothing.
    pub(crate) fn sanitize(self, scrubber: &Scrubber) -> Option<Self> {
        match self {
            Self::Search { words, by } => {
                let words = sanitize_text_within(&words, scrubber, LONGEST_WORDS);
                (!words.trim().is_empty()).then_some(Self::Search { words, by })
            }
            Self::Choose { argument, choices } => {
                let choices: Vec<ChoiceOption> =
                    choices.into_iter().filter_map(|one| one.sanitize(scrubber)).take(MOST_CHOICES).collect();
                (choices.len() > 1).then_some(Self::Choose { argument, choices })
            }
        }
    }

    /// With the tool that searches, where there is one. A tool can't name another than its specification does.
    pub(crate) fn with_search(self, spec: Option<&ToolSpec>) -> Self {
        match self {
            Self::Search { words, .. } => {
                Self::Search { words, by: spec.and_then(|spec| spec.search.clone()) }
            }
            choose @ Self::Choose { .. } => choose,
        }
    }

    /// The call that searches.
    pub fn search_call(&self) -> Option<(&FallbackSearch, Value)> {
        match self {
            Self::Search { words, by: Some(by) } => Some((by, json!({ &by.argument: words }))),
            _ => None,
        }
    }

    /// Adds to what a model is told of the failure.
    pub(crate) fn render_into(&self, told: &mut Value) {
        match self {
            Self::Search { words, .. } => {
                told["missing"] = json!(words);
                self.render_search_into(told);
            }
            Self::Choose { argument, choices } => {
                let numbered = choices.iter().zip(1..).map(|(choice, number)| {
                    json!({ "number": number, "label": choice.label, "detail": choice.detail, "value": choice.value })
                });
                told["choices"] = json!({ "argument": argument, "of": numbered.collect::<Vec<_>>() });
                told["suggestion"] = json!(
                    "Several fit. Ask which one is meant, with their numbers. Don't choose by yourself."
                );
            }
        }
    }

    fn render_search_into(&self, told: &mut Value) {
        match self.search_call() {
            Some((by, arguments)) => {
                told["search"] = json!({ "tool": by.tool, "arguments": arguments });
                told["suggestion"] = json!("Nothing was found. Search for it, or ask what exactly is meant.");
            }
            None => {
                told["suggestion"] = json!("Nothing was found. Say so, and ask what exactly is meant.");
            }
        }
    }
}

impl ChoiceOption {
    /// One whose value would be cut or holds a secret is none.
    fn sanitize(self, scrubber: &Scrubber) -> Option<Self> {
        let mut value = self.value.clone();
        sanitize_value(&mut value, scrubber);
        let label = sanitize_text_within(&self.label, scrubber, LONGEST_LABEL);
        let detail = self.detail.map(|detail| sanitize_text_within(&detail, scrubber, LONGEST_LABEL));
        let fits =
            value == self.value && value.to_string().len() <= LONGEST_VALUE && !label.trim().is_empty();
        fits.then_some(Self { value, label, detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_bounded_and_hold_no_secret() {
        const KEY: &str = "sk-abcdefghijklmnopqrstuvwxyz123456";
        let scrubber = Scrubber::default();
        let many = (0..50).map(|number| ChoiceOption::new(number, "क".repeat(500))).collect();
        let Some(FailureHint::Choose { choices, .. }) =
            (FailureHint::Choose { argument: "to".to_owned(), choices: many }).sanitize(&scrubber)
        else {
            unreachable!()
        };
        assert_eq!(choices.len(), MOST_CHOICES);
        assert!(choices.iter().all(|choice| choice.label.chars().count() <= LONGEST_LABEL + 1));
        let bad = vec![
            ChoiceOption::new(KEY, "a"),
            ChoiceOption::new("x".repeat(2000), "b"),
            ChoiceOption::new(1, " "),
            ChoiceOption::new(1, KEY),
        ];
        assert_eq!(
            (FailureHint::Choose { argument: "to".to_owned(), choices: bad }).sanitize(&scrubber),
            None
        );
        assert_eq!((FailureHint::Search { words: " ".to_owned(), by: None }).sanitize(&scrubber), None);
    }

    #[test]
    fn the_search_is_the_specifications_own() {
        let own = FallbackSearch { tool: "find".parse().unwrap(), argument: "words".to_owned() };
        let other = FallbackSearch { tool: "wipe".parse().unwrap(), argument: "words".to_owned() };
        let spec = ToolSpec {
            search: Some(own.clone()),
            ..ToolSpec::read_only("balance".parse().unwrap(), "What somebody owes.", "ledger.balance.read")
        };
        let next = FailureHint::Search { words: "raju".to_owned(), by: Some(other) };
        let next = next.with_search(Some(&spec));
        assert_eq!(next.search_call(), Some((&own, json!({ "words": "raju" }))));
        assert_eq!(next.with_search(None).search_call(), None);
    }
}
