//! What is said to the person, in their voice, from the phrasebook.

use munshi_lang::{Locale, Phrasebook, PlaceholderValue, ScriptForm, format};
use munshi_types::{Money, Script};
use serde_json::{Map, Value};

use crate::prepared_tools::{
    ArgumentField, ArgumentJsonType, PreparedTool, PreparedToolSet, ToolArgumentKind, list_placeholders,
    render_phrase,
};

/// How many things are named when it says what it can do.
const NAMED: usize = 5;

/// The phrasebook with a voice. A phrase that is not there is silence, never a fault: the book is checked when the
/// model is made.
pub(crate) struct LocalizedPhrasebook<'b> {
    pub book: &'b Phrasebook,
    pub voice: Locale,
}

impl LocalizedPhrasebook<'_> {
    pub(crate) fn render(&self, name: &str, fills: &[(&str, PlaceholderValue<'_>)]) -> String {
        self.book.render(name, self.voice, fills).unwrap_or_default()
    }

    pub(crate) fn render_plain(&self, name: &str) -> String {
        self.render(name, &[])
    }

    /// Asks for a field.
    pub(crate) fn ask_for(&self, field: &ArgumentField) -> String {
        self.render_plain(match field.kind {
            ToolArgumentKind::Money => "ask-amount",
            ToolArgumentKind::Person => "ask-name",
            ToolArgumentKind::Date | ToolArgumentKind::Period => "ask-date",
            ToolArgumentKind::Quantity => "offline-ask-quantity",
            ToolArgumentKind::Item => "offline-ask-item",
            _ => "offline-ask-more",
        })
    }

    /// Asks which of two readings a field has.
    pub(crate) fn ask_which(&self, field: &ArgumentField, choices: &[Value]) -> String {
        let [first, second, ..] = choices else { return self.ask_for(field) };
        let (first, second) = (self.render_value(Some(field), first), self.render_value(Some(field), second));
        let phrase = match field.kind {
            ToolArgumentKind::Person => "ask-which-name",
            ToolArgumentKind::Date => "ask-which-date",
            _ => "ask-which-amount",
        };
        self.render(
            phrase,
            &[("first", PlaceholderValue::Text(&first)), ("second", PlaceholderValue::Text(&second))],
        )
    }

    pub(crate) fn ask_which_tool(
        &self,
        first: &PreparedTool,
        second: &PreparedTool,
        arguments: &Map<String, Value>,
    ) -> String {
        let (first, second) = (self.read_back(first, arguments), self.read_back(second, arguments));
        self.render(
            "ask-which-name",
            &[("first", PlaceholderValue::Text(&first)), ("second", PlaceholderValue::Text(&second))],
        )
    }

    /// Says what would be done, and asks whether to.
    pub(crate) fn ask_go_ahead(&self, tool: &PreparedTool, arguments: &Map<String, Value>) -> String {
        format!("{}. {}", self.read_back(tool, arguments), self.render_plain("ask-go-ahead"))
    }

    /// Says what stays unwritten because its question was not answered.
    pub(crate) fn render_unwritten(&self, tool: &PreparedTool, arguments: &Map<String, Value>) -> String {
        let what = self.read_back(tool, arguments);
        self.render("offline-left", &[("what", PlaceholderValue::Text(&what))])
    }

    /// For somebody who asks what can be done here; where nothing is offered, what they want.
    pub(crate) fn render_help(&self, palette: &PreparedToolSet) -> String {
        self.render_abilities(palette).unwrap_or_else(|| self.render_plain("hello"))
    }

    /// For what was not understood.
    pub(crate) fn render_not_understood(&self, palette: &PreparedToolSet) -> String {
        let sorry = self.render_plain("not-understood");
        match self.render_abilities(palette) {
            Some(can_do) => format!("{sorry} {can_do}"),
            None => sorry,
        }
    }

    /// What it can do here, a few of it, in the tools' own words.
    fn render_abilities(&self, palette: &PreparedToolSet) -> Option<String> {
        let phrases = palette.tools.iter().filter_map(|tool| self.phrase(tool, &Map::new()));
        let list: Vec<String> =
            phrases.map(|phrase| format!("“{}”", render_phrase(phrase, |_| None))).take(NAMED).collect();
        let list = list.join(", ");
        (!list.is_empty()).then(|| self.render("offline-can-do", &[("list", PlaceholderValue::Text(&list))]))
    }

    /// The tool's phrase in this voice that shows most of the arguments.
    fn phrase<'t>(&self, tool: &'t PreparedTool, arguments: &Map<String, Value>) -> Option<&'t str> {
        let fits = |phrase: &&String| fits_locale(phrase, self.voice);
        let shows = |phrase: &str| {
            let (known, open): (Vec<&str>, Vec<&str>) =
                list_placeholders(phrase).partition(|name| arguments.contains_key(*name));
            (known.len(), std::cmp::Reverse(open.len()))
        };
        let phrases = tool.spec.phrases.get(&self.voice.language)?;
        // The first of equals: authors put the best first.
        phrases.iter().filter(fits).rev().max_by_key(|phrase| shows(phrase)).map(String::as_str)
    }

    fn read_back(&self, tool: &PreparedTool, arguments: &Map<String, Value>) -> String {
        let is =
            |name: &str, kind: &ToolArgumentKind| tool.field(name).is_some_and(|field| field.kind == *kind);
        let unit = || {
            arguments
                .iter()
                .find(|(name, _)| is(name, &ToolArgumentKind::Unit))
                .map(|(_, unit)| self.render_value(None, unit))
        };
        let fill = |name: &str| {
            let value = arguments.get(name).map(|value| self.render_value(tool.field(name), value))?;
            Some(match unit().filter(|_| is(name, &ToolArgumentKind::Quantity)) {
                Some(unit) => format!("{value} {unit}"),
                None => value,
            })
        };
        match self.phrase(tool, arguments) {
            Some(phrase) => {
                let unsaid = self.list_unsaid(tool, phrase, arguments);
                std::iter::once(render_phrase(phrase, fill)).chain(unsaid).collect::<Vec<_>>().join(", ")
            }
            None => {
                let values: Vec<String> = arguments
                    .iter()
                    .map(|(name, value)| self.render_value(tool.field(name), value))
                    .collect();
                values.join(", ")
            }
        }
    }

    /// What a phrase has no place for of how much, who, when and how: nobody says yes to what they were not told.
    fn list_unsaid(&self, tool: &PreparedTool, phrase: &str, arguments: &Map<String, Value>) -> Vec<String> {
        let is_unsaid = |name: &str| {
            let matters = tool.field(name).is_some_and(|field| {
                matches!(
                    field.kind,
                    ToolArgumentKind::Money
                        | ToolArgumentKind::Date
                        | ToolArgumentKind::Person
                        | ToolArgumentKind::Item
                        | ToolArgumentKind::Choice(_)
                )
            });
            matters && !list_placeholders(phrase).any(|said| said == name)
        };
        let unsaid = arguments.iter().filter(|(name, _)| is_unsaid(name));
        unsaid.map(|(name, value)| self.render_value(tool.field(name), value)).collect()
    }

    /// An argument as a person reads it.
    pub(crate) fn render_value(&self, field: Option<&ArgumentField>, value: &Value) -> String {
        let is_money = field.is_some_and(|field| {
            field.kind == ToolArgumentKind::Money && field.form == ArgumentJsonType::Integer
        });
        if let (true, Some(paise)) = (is_money, value.as_i64()) {
            return format::rupees(Money::from_paise(paise));
        }
        match value {
            Value::String(text) => {
                text.parse().map_or_else(|_| text.clone(), |day| format::date(day, self.voice))
            }
            Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), format::group_digits),
            other => other.to_string(),
        }
    }
}

/// Whether a phrase is written as the voice writes.
fn fits_locale(phrase: &str, voice: Locale) -> bool {
    let mut braced = false;
    let script = phrase.chars().find_map(|letter| {
        match letter {
            '{' => braced = true,
            '}' => braced = false,
            _ => {}
        }
        (!braced).then(|| Script::from_char(letter)).flatten()
    });
    script.is_none_or(|script| ScriptForm::from_script(script) == voice.form)
}
