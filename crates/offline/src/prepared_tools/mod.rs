//! Offered tools made ready to be recognised: done once for a set of tools, kept, and found again.

mod cache;
mod fields;
mod forms;
mod pattern;
mod vocabulary;

pub(crate) use cache::PreparedToolCache;
pub(crate) use fields::{
    ArgumentChoice, ArgumentField, ArgumentJsonType, ToolArgumentKind, names_money, parse_fields,
};
pub(crate) use forms::strip_suffixes;
pub(crate) use pattern::{PhrasePattern, list_placeholders, render_phrase};
pub(crate) use vocabulary::{PhraseVocabulary, VocabularyMatch};

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use munshi_lang::lexicon::Languages;
use munshi_types::Language;
use munshi_types::tool::ToolSpec;

#[derive(Debug)]
pub(crate) struct PreparedToolSet {
    pub tools: Vec<PreparedTool>,
    pub vocabulary: PhraseVocabulary,
    /// The keys of all words that stand for a choice.
    pub chosen: HashSet<String>,
}

#[derive(Debug)]
pub(crate) struct PreparedTool {
    pub spec: Arc<ToolSpec>,
    pub fields: Vec<ArgumentField>,
    pub patterns: Vec<PhrasePattern>,
    /// The words of its phrases, as places in the vocabulary, with the languages they are said in.
    cues: HashMap<usize, Languages>,
    /// Words that name an argument in its examples.
    pub named: HashSet<usize>,
    /// The keys of the words that stand for a choice of one of its fields.
    choices: HashSet<String>,
}

impl PreparedTool {
    pub(crate) fn name(&self) -> &str {
        self.spec.name.as_str()
    }

    /// Whether it takes the whole message and answers for what it makes of it.
    pub(crate) fn takes_sentence(&self) -> bool {
        self.find_field(&ToolArgumentKind::Sentence).is_some()
    }

    /// Whether a word says in one of these languages that the tool is wanted. English is mixed into all of them.
    pub(crate) fn has_cue(&self, entry: usize, languages: &[Language]) -> bool {
        let said = self.cues.get(&entry).copied().unwrap_or(Languages::NONE);
        said.has(Language::English) || languages.iter().any(|language| said.has(*language))
    }

    /// Whether a word is one of its choices, such as how it was paid.
    pub(crate) fn has_choice(&self, key: &str) -> bool {
        self.choices.contains(key)
    }

    /// How far its phrases account for a word: a tool with a place for a thing may take it for one, though hardly what
    /// says what another tool does.
    pub(crate) fn explanation_weight(&self, entry: usize, is_cue: bool) -> f32 {
        match self.cues.contains_key(&entry) || self.named.contains(&entry) {
            true => 1.0,
            false if self.find_field(&ToolArgumentKind::Item).is_none() => 0.0,
            false if is_cue => 0.2,
            false => 0.4,
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&ArgumentField> {
        self.fields.iter().find(|field| field.name == name)
    }

    pub(crate) fn find_field(&self, kind: &ToolArgumentKind) -> Option<&ArgumentField> {
        self.fields.iter().find(|field| field.kind == *kind)
    }

    /// Whether it cannot be called without one.
    pub(crate) fn needs(&self, kind: &ToolArgumentKind) -> bool {
        self.find_field(kind).is_some_and(|field| field.is_required)
    }
}

fn cues(patterns: &[PhrasePattern]) -> HashMap<usize, Languages> {
    let mut found: HashMap<usize, Languages> = HashMap::new();
    for pattern in patterns {
        for word in &pattern.words {
            let languages = found.entry(*word).or_insert(Languages::NONE);
            *languages = languages.with(pattern.language);
        }
    }
    found
}

impl PreparedToolSet {
    pub(crate) fn new(specs: &[Arc<ToolSpec>]) -> Self {
        let mut vocabulary = PhraseVocabulary::default();
        let mut counts: HashMap<(usize, usize), f32> = HashMap::new();
        let mut tools = Vec::with_capacity(specs.len());
        for (at, spec) in specs.iter().enumerate() {
            let fields = fields::parse_fields(&spec.parameters);
            let patterns = pattern::build_patterns(spec, &fields, &mut vocabulary);
            for pattern in &patterns {
                let said = pattern.words.iter().map(|word| (*word, 1.0));
                let named = pattern.named.iter().map(|word| (*word, 0.5));
                // A phrase that names the speaker is the rarer one, and speaks for its verbs less.
                let part = if pattern.has_speaker { 0.3 } else { 1.0 };
                for (word, count) in said.chain(named) {
                    *counts.entry((word, at)).or_default() += count * part;
                }
            }
            let named = patterns.iter().flat_map(|pattern| pattern.named.iter().copied()).collect();
            let cues = cues(&patterns);
            let choices = fields.iter().flat_map(|field| field.kind.choice_keys()).collect();
            tools.push(PreparedTool { spec: Arc::clone(spec), fields, patterns, cues, named, choices });
        }
        vocabulary.set_shares(&counts, tools.len());
        let chosen =
            tools.iter().flat_map(|tool| &tool.fields).flat_map(|field| field.kind.choice_keys()).collect();
        Self { tools, vocabulary, chosen }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&PreparedTool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}
