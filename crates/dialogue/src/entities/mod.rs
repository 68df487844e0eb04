//! What a conversation has spoken of, kept by the server: things that tools named, under every name a person used for
//! them, and the list that was shown last. So that "the second one", a name in another script and "I think I only have 1"
//! are understood whatever the model remembers.
//!
//! Names come from tools and people, so for a prompt they are [`Data`]. Everything is bounded: at most [`MOST`] things.
//!
//! # Layout
//! - [`SessionEntities`]: what is known; `findings`: reading a tool's result
//! - [`choices`](crate::choices): the question that waits for a pick is kept here too

mod findings;

use munshi_lang::list_position::{self, ListPosition};
use munshi_lang::{ContactDirectory, NumberKind, UnderstandingContext, fold, understand};
use munshi_tiers::prompt::UntrustedText;
use munshi_types::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::{ChoiceAnswer, ChoiceQuestion};
pub use findings::{EntityRef, MOST};
use findings::{LONGEST_ID, LONGEST_KIND, LONGEST_NAME, ResultList};

const MOST_ALIASES: usize = 4;
/// What a prompt is told of them, in letters.
const LONGEST_TOLD: usize = 1_500;
/// A longer message is read no further.
const LONGEST_READ: usize = 2_000;

/// A session's entities, as its row keeps them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEntities {
    /// The newest first.
    known: Vec<Entity>,
    shown: Option<Shown>,
    /// A numbered question that waits for its answer.
    asked: Option<ChoiceQuestion>,
    /// Whose words, beside our own, names may be; none where that was never asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<EntityTaint>,
}

/// The part of its conversation that a turn is told of.
#[derive(Clone, Copy, Debug)]
pub struct EntityWindow {
    /// What is known of the whole session, as bits.
    pub tainted: i64,
    /// The last message that stands in the summary.
    pub summarised: i64,
    /// The turn's own message.
    pub number: i64,
}

/// Whose words some of the names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct EntityTaint {
    /// As the session's messages keep them.
    bits: i64,
    /// The message of the turn that last read such names.
    number: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entity {
    kind: String,
    id: String,
    name: String,
    /// What the person called it, where that is written otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
}

/// The list that was shown last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    kind: String,
    /// How many there are, which may be more than are listed.
    count: u64,
    of: Vec<EntityRef>,
}

impl Entity {
    fn is(&self, one: &EntityRef) -> bool {
        self.kind == one.kind && self.id == one.id
    }

    fn reference(&self) -> EntityRef {
        EntityRef { kind: self.kind.clone(), id: self.id.clone(), name: self.name.clone() }
    }
}

impl SessionEntities {
    /// As a row has them. What can't be read, such as a later version's, is forgotten rather than in the way.
    pub fn from_stored(value: &Value) -> Self {
        let mut stored: Self = Self::deserialize(value).unwrap_or_default();
        stored.enforce_limits();
        stored
    }

    /// Notes that names came from somebody else's tool, in the turn of a message: whose they are, as bits.
    pub fn add_taint(&mut self, bits: i64, number: i64) {
        let known = self.read.map_or(0, |read| read.bits);
        self.read = Some(EntityTaint { bits: known | bits, number });
    }

    /// Whose words the names are, as bits, for the turn of a message. Once what brought them has left the conversation they
    /// are forgotten with it. What was kept before this was asked has what was known of its session, from now on.
    pub fn refresh_taint(&mut self, window: &EntityWindow) -> i64 {
        if self.read.is_none() && window.tainted != 0 && !self.is_empty() {
            self.read = Some(EntityTaint { bits: window.tainted, number: window.number });
        }
        match self.read {
            None => 0,
            Some(read) if read.number > window.summarised => read.bits,
            Some(_) => {
                *self = Self { read: Some(EntityTaint { bits: 0, number: i64::MAX }), ..Self::default() };
                0
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.shown.is_none() && self.asked.is_none()
    }

    /// What is known, the newest first.
    pub fn known(&self) -> impl Iterator<Item = EntityRef> {
        self.known.iter().map(Entity::reference)
    }

    /// Takes in what a tool answered.
    pub fn observe(&mut self, spec: &ToolSpec, result: &Value) {
        let mut parts = spec.scope.split(['.', '/']).filter(|part| !part.starts_with('{'));
        let module = parts.next().unwrap_or_default();
        let found = findings::scan(result, parts.next().unwrap_or(module));
        for thing in found.things.into_iter().take(MOST).collect::<Vec<_>>().into_iter().rev() {
            self.move_to_front(thing);
        }
        // A list with things in it says more than a bare count beside it.
        let last = found.lists.iter().rev();
        let best = last.clone().find(|list| !list.of.is_empty()).or_else(|| last.clone().next());
        if let Some(ResultList { kind, count, of }) = best.cloned() {
            self.shown = Some(Shown { kind, count, of });
        }
        self.enforce_limits();
    }

    /// Makes it the newest.
    fn move_to_front(&mut self, thing: EntityRef) {
        let aliases = match self.known.iter().position(|known| known.is(&thing)) {
            Some(at) => self.known.remove(at).aliases,
            None => Vec::new(),
        };
        self.known.insert(0, Entity { kind: thing.kind, id: thing.id, name: thing.name, aliases });
    }

    fn enforce_limits(&mut self) {
        self.known.retain(|one| {
            one.id.len() <= LONGEST_ID
                && one.kind.len() <= LONGEST_KIND * 2
                && one.name.chars().count() <= LONGEST_NAME + 1
        });
        self.known.truncate(MOST);
        for one in &mut self.known {
            one.aliases.retain(|alias| alias.chars().count() <= LONGEST_NAME + 1);
            one.aliases.truncate(MOST_ALIASES);
        }
        if let Some(shown) = &mut self.shown {
            shown.of.truncate(MOST);
        }
        self.asked = self.asked.take().and_then(ChoiceQuestion::enforce_limits);
    }

    /// What a message means among the things that are known: none, one, or all it may be.
    pub fn resolve(&self, text: &str) -> Vec<EntityRef> {
        let text = beginning(text);
        let listed = self.shown.as_ref().map(|shown| shown.of.as_slice()).unwrap_or_default();
        let at = |place: ListPosition| place.index(listed.len()).and_then(|at| listed.get(at)).cloned();
        if let Some(one) = list_position::parse_choice(text).and_then(at) {
            // Somebody may bear the name of a number: whoever does is meant as much.
            let said = fold::normalize_spelling(text);
            let bears_it = |known: &&Entity| fold::normalize_spelling(&known.name) == said && !known.is(&one);
            let namesakes: Vec<EntityRef> =
                self.known.iter().filter(bears_it).map(Entity::reference).collect();
            return std::iter::once(one).chain(namesakes).collect();
        }
        let mut meant: Vec<EntityRef> =
            list_position::find_mentioned(text).into_iter().filter_map(at).collect();
        let named = self.match_names(text).into_iter().flat_map(|(_, candidates)| candidates);
        for index in named.chain(self.match_ids(text)) {
            let one = self.known.get(index).map(Entity::reference);
            meant.extend(one.filter(|one| !meant.contains(one)));
        }
        if meant.is_empty() { self.match_count(text) } else { meant }
    }

    /// The same, and the person's own word for something is kept as a name of it.
    pub fn resolve_and_learn(&mut self, text: &str) -> Vec<EntityRef> {
        for (word, candidates) in self.match_names(beginning(text)) {
            let ([one], Some(alias)) = (candidates.as_slice(), findings::line(&word, LONGEST_NAME)) else {
                continue;
            };
            let Some(entity) = self.known.get_mut(*one) else { continue };
            let is_known = std::iter::once(&entity.name)
                .chain(&entity.aliases)
                .any(|name| fold::normalize_spelling(name) == fold::normalize_spelling(&alias));
            if !is_known {
                entity.aliases.insert(0, alias);
                entity.aliases.truncate(MOST_ALIASES);
            }
        }
        self.resolve(text)
    }

    /// The words of a text that name something, and what they may name.
    fn match_names(&self, text: &str) -> Vec<(String, Vec<usize>)> {
        let names: Vec<(usize, &str)> = self
            .known
            .iter()
            .enumerate()
            .flat_map(|(at, one)| one.aliases.iter().chain([&one.name]).map(move |name| (at, name.as_str())))
            .collect();
        let directory = ContactDirectory::new(names.iter().map(|(_, name)| name));
        let mut out = Vec::new();
        for found in directory.find(text) {
            let mut of: Vec<usize> = Vec::new();
            for candidate in &found.candidates {
                of.extend(
                    names
                        .get(candidate.contact)
                        .filter(|(_, name)| is_enough(&found.text, name))
                        .map(|(at, _)| *at),
                );
            }
            // A longer name that has these words too is meant as much.
            let alike =
                names.iter().filter(|(_, name)| munshi_lang::names::similarity(&found.text, name) > 0.0);
            of.extend(alike.filter(|(_, name)| is_enough(&found.text, name)).map(|(at, _)| *at));
            of.sort_unstable();
            of.dedup();
            if !of.is_empty() {
                out.push((found.text, of));
            }
        }
        out
    }

    /// Things whose id stands in the text. Short ids are numbers of anything.
    fn match_ids(&self, text: &str) -> Vec<usize> {
        const SHORTEST: usize = 3;
        let words = || text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let is_said =
            |one: &Entity| one.id.len() >= SHORTEST && words().any(|word| word.eq_ignore_ascii_case(&one.id));
        (0..self.known.len()).filter(|at| self.known.get(*at).is_some_and(is_said)).collect()
    }

    /// All of the list that was shown, where a text says as many as there are: "I think I only have 1".
    fn match_count(&self, text: &str) -> Vec<EntityRef> {
        let Some(shown) =
            self.shown.as_ref().filter(|shown| shown.count > 0 && shown.of.len() as u64 == shown.count)
        else {
            return Vec::new();
        };
        if shown.count == 1 && list_position::says_only_one(text) {
            return shown.of.clone();
        }
        let numbers = understand(text, &UnderstandingContext::default()).numbers;
        let says = |number: &munshi_lang::NumberMention| {
            matches!(number.kind, NumberKind::Plain | NumberKind::Quantity)
                && number.value.as_whole() == Some(shown.count)
        };
        if numbers.len() == 1 && numbers.iter().all(says) { shown.of.clone() } else { Vec::new() }
    }

    /// What a prompt is told, with what the message may mean.
    pub fn render_for_prompt(&self, message: &str) -> Option<UntrustedText> {
        let mut text = String::new();
        if let Some(shown) = &self.shown {
            text += &format!("Shown last: {} {}", shown.count, shown.kind);
            let places =
                (1..).zip(&shown.of).map(|(number, one)| format!("{number}. {} (id {})", one.name, one.id));
            add(&mut text, ": ", places);
        }
        let others = self.known.iter().filter(|one| {
            self.shown.as_ref().is_none_or(|shown| !shown.of.iter().any(|listed| one.is(listed)))
        });
        let others = others.map(|one| format!("{} {} (id {})", one.kind, one.name, one.id));
        let lead = if text.is_empty() { "Spoken of: " } else { ". Also spoken of: " };
        add(&mut text, lead, others);
        let meant =
            self.resolve(message).into_iter().map(|one| format!("{} {} (id {})", one.kind, one.name, one.id));
        add(&mut text, ". The message may mean: ", meant);
        (!text.is_empty()).then(|| UntrustedText::new(&text))
    }

    /// Keeps a question until the next message.
    pub fn set_pending_question(&mut self, asked: ChoiceQuestion) {
        self.asked = Some(asked);
    }

    pub fn pending_question(&self) -> Option<&ChoiceQuestion> {
        self.asked.as_ref()
    }

    /// What a message picks of the question that waits. Picked or not, the question is over: whoever says something else
    /// has moved on.
    pub fn pick(&mut self, text: &str) -> Option<ChoiceAnswer> {
        self.asked.take()?.pick(beginning(text))
    }
}

/// Adds items as long as there is room.
fn add(text: &mut String, lead: &str, items: impl Iterator<Item = String>) {
    for (at, item) in items.enumerate() {
        if text.chars().count() + item.chars().count() > LONGEST_TOLD {
            text.push('…');
            return;
        }
        text.push_str(if at == 0 { lead } else { "; " });
        text.push_str(&item);
    }
}

/// Whether what was said is enough of a name: its first word, or half of its words. "On" does not name "Water on Monday".
fn is_enough(said: &str, name: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(fold::key).collect::<Vec<_>>();
    let (said, name) = (words(said), words(name));
    let first = name.first().map(String::as_str).unwrap_or_default();
    said.len() * 2 >= name.len() || said.iter().any(|word| munshi_lang::names::similarity(word, first) > 0.9)
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(LONGEST_READ).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
