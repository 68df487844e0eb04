//! Replaces what points at somebody by tokens, in every text that goes to a cloud model.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use munshi_lang::names::cues;
use munshi_lang::text_words::{PlainWord, TextWords};
use munshi_types::Script;
use serde_json::Value;

use super::kind::PiiKind;
use super::known_entities::KnownEntities;
use super::known_values;
use super::patterns;
use super::pseudonym::{self, PseudonymParse};
use super::pseudonym_table::{ConversationMismatch, PseudonymTable};
use super::suffix_joining;

/// What the model is told of tokens, once in its prompt.
pub const NOTE: &str = "Codes such as XNM101 (a name), XPH102 (a phone) or XAC103 (an account) stand for real values. \
     Write them exactly as they are, as you would write the value itself; add case endings right after them. \
     Never translate, change, explain or invent them.";

/// One turn's way to hide: the entities it knows, and the tokens of its conversation.
pub struct PiiMasker<'t> {
    /// The surest first.
    known: Vec<&'t KnownEntities>,
    session: &'t mut PseudonymTable,
    /// The tokens of names met in this turn, by name and the script it was written in.
    made: HashMap<(Name, Option<Script>), String>,
}

/// A known name: which list knows it, and its place among the spotter's there.
type Name = (usize, usize);

/// Something to hide.
#[derive(Clone)]
pub(super) struct MaskSpan {
    range: Range<usize>,
    what: What,
    inherent: bool,
}

#[derive(Clone)]
enum What {
    Name(Name),
    /// A name as it was said.
    Said,
    /// A known value with its kind and how it is stored.
    Value(PiiKind, String),
    Pattern(PiiKind),
}

impl What {
    /// Of two readings of the same letters the better known is taken.
    fn rank(&self) -> (u8, usize) {
        match self {
            Self::Value(..) => (0, 0),
            Self::Pattern(kind) => (if *kind == PiiKind::Lookalike { 4 } else { 1 }, 0),
            Self::Name((list, _)) => (2, *list),
            Self::Said => (3, 0),
        }
    }
}

impl<'t> PiiMasker<'t> {
    /// Refused when the names are another tenant's.
    pub fn new(
        known: &'t KnownEntities,
        session: &'t mut PseudonymTable,
    ) -> Result<Self, ConversationMismatch> {
        if known.tenant() == session.tenant {
            Ok(Self::with_lists(vec![known], session))
        } else {
            Err(ConversationMismatch)
        }
    }

    /// For whom has seen already that all are one tenant's.
    pub(super) fn with_lists(known: Vec<&'t KnownEntities>, session: &'t mut PseudonymTable) -> Self {
        Self { known, session, made: HashMap::new() }
    }

    /// A text as a cloud model may see it.
    pub fn mask_text(&mut self, text: &str) -> String {
        let mut all = self.find(text);
        all.extend(find_lookalikes(text).into_iter().map(|range| MaskSpan {
            range,
            what: What::Pattern(PiiKind::Lookalike),
            inherent: false,
        }));
        self.render(text, merge_overlaps(all))
    }

    /// What a cloud model thought: its own tokens are meant as tokens.
    pub(super) fn mask_thought(&mut self, text: &str) -> String {
        let all = self.find(text);
        self.render(text, merge_overlaps(all))
    }

    fn render(&mut self, text: &str, hides: Vec<MaskSpan>) -> String {
        if hides.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + hides.len() * 4);
        let mut at = 0;
        for hide in hides {
            out.push_str(text.get(at..hide.range.start).unwrap_or_default());
            let said = text.get(hide.range.clone()).unwrap_or_default();
            at = hide.range.end;
            let next = text.get(at..).and_then(|rest| rest.chars().next());
            let whole = !hide.inherent && next.and_then(suffix_joining::letter_of).is_none();
            out.push_str(&self.assign_token(&hide, said, whole));
            if hide.inherent {
                out.extend(said.chars().last().and_then(suffix_joining::inherent_of));
            } else if matches!(hide.what, What::Name(_) | What::Said)
                && let Some((sign, letter)) =
                    next.and_then(|sign| Some((sign, suffix_joining::letter_of(sign)?)))
            {
                out.push(letter);
                at += sign.len_utf8();
            }
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }

    /// A tool's result as a cloud model may see it, keys too. A number that points at somebody becomes its token.
    pub fn mask_json(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.mask_text(text)),
            Value::Number(number) => {
                let said = number.to_string();
                let masked = self.mask_text(&said);
                if masked == said { value.clone() } else { Value::String(masked) }
            }
            Value::Array(items) => items.iter().map(|item| self.mask_json(item)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(key, value)| (self.mask_text(key), self.mask_json(value))).collect(),
            ),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    /// Everything to hide in a text, in no order.
    fn find(&self, text: &str) -> Vec<MaskSpan> {
        let words = OnceCell::new();
        let words = || words.get_or_init(|| TextWords::new(text));
        let Some((first, others)) = self.known.split_first() else { return find_unlisted(text, words()) };
        let of_all = first.scan_cache().get_or_scan(text, || {
            let mut all = find_listed(first, 0, text, words());
            all.extend(find_unlisted(text, words()));
            all
        });
        let mut all = of_all.to_vec();
        for (known, list) in others.iter().zip(1..) {
            all.extend(find_listed(known, list, text, words()));
        }
        all
    }

    fn assign_token(&mut self, hide: &MaskSpan, said: &str, whole: bool) -> String {
        match &hide.what {
            What::Name(name) => self.assign_name_token(*name, said, whole),
            What::Said => self
                .session
                .get_or_assign(PiiKind::Name, PlainWord::new(said).text, || vec![(None, said.to_owned())]),
            What::Value(kind, stored) => {
                self.session.get_or_assign(*kind, known_values::to_lookup_key(*kind, stored), || {
                    vec![(None, stored.clone())]
                })
            }
            What::Pattern(PiiKind::Lookalike) => {
                self.session
                    .get_or_assign(PiiKind::Lookalike, said.to_owned(), || vec![(None, said.to_owned())])
            }
            What::Pattern(kind) => {
                self.session.get_or_assign(*kind, known_values::to_lookup_key(*kind, said), || {
                    vec![(None, said.to_owned())]
                })
            }
        }
    }
}

impl PiiMasker<'_> {
    /// The token of a known name, the same in all its scripts.
    fn assign_name_token(&mut self, (list, name): Name, said: &str, whole: bool) -> String {
        let Some(spotter) = self.known.get(list).map(|known| known.name_finder()) else {
            return PiiKind::Name.placeholder().to_owned();
        };
        let root = spotter.root(name);
        // A stem without its last vowel is no spelling of the name.
        let script = if whole { said.chars().find_map(Script::from_char) } else { None };
        if let Some(token) = self.made.get(&((list, root), script)) {
            return token.clone();
        }
        let key = PlainWord::new(spotter.name(root).unwrap_or_default()).text;
        let spelled = || spotter.spellings(root).map(|(script, text)| (script, text.to_owned())).collect();
        let token = self.session.get_or_assign(PiiKind::Name, key.clone(), spelled);
        if let Some(script) = script {
            self.session.add_spelling(&key, script, &PlainWord::new(said).text);
        }
        self.made.insert(((list, root), script), token.clone());
        token
    }
}

/// What a list knows of a text.
fn find_listed(known: &KnownEntities, list: usize, text: &str, words: &TextWords<'_>) -> Vec<MaskSpan> {
    let values = known.find_values(text).into_iter().map(|(found, (kind, stored))| MaskSpan {
        range: found.range,
        what: What::Value(*kind, stored.clone()),
        inherent: false,
    });
    let names = known.name_finder().find_in(words).into_iter().map(|spot| MaskSpan {
        range: spot.range,
        what: spot.name.map_or(What::Said, |name| What::Name((list, name))),
        inherent: spot.inherent,
    });
    values.chain(names).collect()
}

/// What points at somebody whom no list has.
fn find_unlisted(text: &str, words: &TextWords<'_>) -> Vec<MaskSpan> {
    let hide = |range, what| MaskSpan { range, what, inherent: false };
    let patterns = patterns::find(text).into_iter().filter(|found| !is_fence(text, &found.range));
    let patterns = patterns.map(|found| hide(found.range, What::Pattern(found.kind)));
    patterns
        .chain(cues::find_unlisted_names(words).into_iter().map(|range| hide(range, What::Said)))
        .collect()
}

/// What looks like a token before anything was masked: somebody wrote it, and it must come back as it is.
fn find_lookalikes(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, letter) in text.char_indices() {
        if pseudonym::can_begin(letter)
            && found.last().is_none_or(|last| last.end <= at)
            && let PseudonymParse::Token { length, .. } = pseudonym::parse(text.get(at..).unwrap_or_default())
        {
            found.push(at..at + length);
        }
    }
    found
}

/// Whether digits are the code of a fence round what others wrote: it points at nobody, and is another for every text.
fn is_fence(text: &str, range: &Range<usize>) -> bool {
    const CODE: usize = 15;
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    range.len() == CODE
        && ((before.ends_with("⟦data ") && after.starts_with(':'))
            || (before.ends_with("⟦end ") && after.starts_with('⟧')))
}

/// Where finds lie over each other the widest speaks; where they only touch each other's ends, both are hidden as one.
fn merge_overlaps(mut all: Vec<MaskSpan>) -> Vec<MaskSpan> {
    all.retain(|hide| !hide.range.is_empty());
    all.sort_by_key(|hide| (hide.range.start, std::cmp::Reverse(hide.range.end), hide.what.rank()));
    let mut settled: Vec<MaskSpan> = Vec::with_capacity(all.len());
    for hide in all {
        match settled.last_mut() {
            Some(last) if hide.range.start < last.range.end => {
                if hide.range.end > last.range.end {
                    last.range.end = hide.range.end;
                    last.inherent = false;
                    last.what = match &last.what {
                        What::Value(kind, _) | What::Pattern(kind) => What::Pattern(*kind),
                        What::Name(_) | What::Said => What::Said,
                    };
                }
            }
            _ => settled.push(hide),
        }
    }
    settled
}
