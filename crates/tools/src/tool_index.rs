//! Which tools fit what was said: words of the message against the words of each tool, weighed as search engines do
//! (BM25). It is made when a list of tools changes, and asked once a turn.

use std::collections::HashMap;

use munshi_types::ToolSpec;

/// Past so many a message's words add nothing but time.
const MOST_WORDS: usize = 64;
/// How soon saying a word more often stops helping, and how much long texts are held back.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;
/// What a word counts by where it stands: in a name or a phrase it says more than in a description.
const NAMED: f32 = 3.0;
const SAID: f32 = 4.0;
const DESCRIBED: f32 = 1.0;

/// An inverted index over tools, by their place in the order they were given.
#[derive(Clone, Debug, Default)]
pub struct ToolIndex {
    /// Word to the tools that have it, with its weight there, ready to be added up.
    postings: HashMap<String, Vec<(u32, f32)>>,
    tools: usize,
}

impl ToolIndex {
    pub fn from_specs<'a>(specs: impl Iterator<Item = &'a ToolSpec>) -> Self {
        let counted: Vec<HashMap<String, f32>> = specs.map(count_words).collect();
        let lengths: Vec<f32> = counted.iter().map(|words| words.values().sum()).collect();
        let tools = counted.len();
        let mean = (lengths.iter().sum::<f32>() / to_f32(tools).max(1.0)).max(1.0);
        let mut postings: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
        for ((words, length), at) in counted.into_iter().zip(lengths).zip(0_u32..) {
            let held_back = SATURATION * (1.0 - LENGTH + LENGTH * length / mean);
            for (word, count) in words {
                let weight = count * (SATURATION + 1.0) / (count + held_back);
                postings.entry(word).or_default().push((at, weight));
            }
        }
        for found in postings.values_mut() {
            let having = to_f32(found.len());
            let rare = (1.0 + (to_f32(tools) - having + 0.5) / (having + 0.5)).ln();
            found.iter_mut().for_each(|(_, weight)| *weight *= rare);
        }
        Self { postings, tools }
    }

    /// How well each tool fits, in the order of the tools; 0 where no word is shared. Each text counts by its weight.
    pub fn scores(&self, said: &[(&str, f32)]) -> Vec<f32> {
        let mut scores = vec![0.0; self.tools];
        let mut asked: HashMap<String, f32> = HashMap::new();
        for (text, weight) in said {
            for word in tokenize(text).take(MOST_WORDS) {
                let known = asked.entry(word).or_default();
                *known = known.max(*weight);
            }
        }
        for (word, weight) in &asked {
            for (at, fits) in self.postings.get(word).into_iter().flatten() {
                if let Some(score) = scores.get_mut(*at as usize) {
                    *score += fits * weight;
                }
            }
        }
        scores
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of tools and words are small")]
fn to_f32(count: usize) -> f32 {
    count as f32
}

fn count_words(spec: &ToolSpec) -> HashMap<String, f32> {
    let mut counts = HashMap::new();
    let mut add = |text: &str, weight: f32| {
        tokenize(text).for_each(|word| *counts.entry(word).or_default() += weight);
    };
    add(spec.name.as_str(), NAMED);
    add(&spec.description, DESCRIBED);
    spec.phrases.values().flatten().for_each(|phrase| add(phrase, SAID));
    spec.examples.iter().for_each(|example| add(&example.text, SAID));
    let arguments = spec.parameters.get("properties").and_then(serde_json::Value::as_object);
    arguments.into_iter().flatten().for_each(|(name, _)| add(name, DESCRIBED));
    counts
}

/// The words of a text in any script, small, with English endings off. Marks of Indian vowels belong to their word.
fn tokenize(text: &str) -> impl Iterator<Item = String> {
    let part = |letter: char| !(letter.is_alphanumeric() || is_vowel_sign(letter));
    text.split(part).filter(|word| !word.is_empty()).map(|word| stem(&word.to_lowercase()))
}

/// Signs that Unicode calls marks and not letters, in the scripts of India, with their joiners.
fn is_vowel_sign(letter: char) -> bool {
    matches!(letter, '\u{900}'..='\u{dff}' | '\u{200c}' | '\u{200d}')
        && !matches!(letter, '\u{964}' | '\u{965}')
}

/// `files`, `filed` and `filing` ask for the same tools as `file`; short words stay as they are.
fn stem(word: &str) -> String {
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    let base = cut("ies", 3)
        .map(|rest| format!("{rest}y"))
        .or_else(|| cut("ing", 4).map(str::to_owned))
        .or_else(|| cut("ed", 4).map(str::to_owned))
        .or_else(|| cut("es", 4).map(str::to_owned))
        .or_else(|| cut("s", 3).filter(|rest| !rest.ends_with('s')).map(str::to_owned));
    let base = base.unwrap_or_else(|| word.to_owned());
    match base.strip_suffix('e').filter(|rest| rest.len() >= 4) {
        Some(rest) => rest.to_owned(),
        None => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::Language;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec::read_only(name.parse().unwrap(), description, "x.y")
    }

    fn best(index: &ToolIndex, said: &str) -> Option<usize> {
        let scores = index.scores(&[(said, 1.0)]);
        let best = (0..scores.len()).max_by(|one, other| scores[*one].total_cmp(&scores[*other]))?;
        (scores[best] > 0.0).then_some(best)
    }

    #[test]
    fn the_tool_that_speaks_of_it_comes_first() {
        let mut weather = tool("weather_now", "What the weather is in a town.");
        weather.phrases.insert(Language::Hindi, vec!["मौसम कैसा है".to_owned(), "mausam kaisa hai".to_owned()]);
        let tools = [
            tool("files_read_file", "Reads a file whole."),
            tool("files_write_file", "Writes a file, or replaces it."),
            tool("calendar_list_events", "Lists what is in the calendar."),
            weather,
        ];
        let index = ToolIndex::from_specs(tools.iter());
        for (said, at) in [
            ("please read the files", 0),
            ("writing a letter to a file", 1),
            ("what events are in my calendar?", 2),
            ("दिल्ली में मौसम कैसा रहेगा", 3),
            ("kal mausam kaisa rahega", 3),
        ] {
            assert_eq!(best(&index, said), Some(at), "{said}");
        }
        assert_eq!(best(&index, "zzz"), None);
        assert_eq!(ToolIndex::default().scores(&[("x", 1.0)]), Vec::<f32>::new());
    }

    #[test]
    fn a_rare_word_weighs_more_than_a_common_one() {
        let mut tools: Vec<ToolSpec> =
            (0..50).map(|at| tool(&format!("shop_list_{at}"), "Lists something of the shop.")).collect();
        tools.push(tool("shop_invoice", "Makes an invoice."));
        let index = ToolIndex::from_specs(tools.iter());
        assert_eq!(best(&index, "list the shop's invoice of the shop"), Some(50));
    }
}
