//! Servers that are known: what their targets start from. The same as the table in `docs/models.md`, which a test
//! compares. A preset says what holds for every model there; what differs by model is the target's to say.
//!
//! To add one: a line in [`PRESETS`], one in that table, and its name among the providers of the settings.

use crate::dialect::{Dialect, JsonMode, KeyHeader, OutputLimit};
use crate::target::{ModelFeatures, ModelTarget, WireFormat};

/// Where a target's settings start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPreset {
    pub name: &'static str,
    pub wire: WireFormat,
    /// Empty where everybody has another.
    pub base_url: &'static str,
    pub dialect: Dialect,
    pub capabilities: ModelFeatures,
    /// Whose prices apply; empty when the book has none.
    pub price_provider: &'static str,
    /// A hosted server answers nobody without one; one's own may.
    pub needs_key: bool,
}

impl ProviderPreset {
    /// A target with everything the preset says, no key, and nobody's residency.
    pub fn target(&self, name: impl Into<String>, model: impl Into<String>) -> ModelTarget {
        ModelTarget {
            dialect: self.dialect.clone(),
            capabilities: self.capabilities,
            price_provider: self.price_provider.to_owned(),
            ..ModelTarget::new(name, self.wire, self.base_url, model)
        }
    }
}

/// The preset of that name, such as `anthropic`.
pub fn find_preset(name: &str) -> Option<ProviderPreset> {
    PRESETS.iter().find(|line| line.name == name).map(Line::preset)
}

/// Every name there is.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|line| line.name)
}

/// What differs from the defaults.
struct Line {
    name: &'static str,
    wire: WireFormat,
    base_url: &'static str,
    output_limit: OutputLimit,
    key_header: Option<&'static str>,
    stream_usage: bool,
    json: JsonMode,
    thinking_field: Option<&'static str>,
    user_field: Option<&'static str>,
    can: &'static [Can],
    context_tokens: u32,
    cache_minimum_tokens: u32,
    price_provider: &'static str,
    needs_key: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Can {
    Images,
    Documents,
    JsonSchema,
}

/// A hosted server on OpenAI's wire as documented.
const HOSTED: Line = Line {
    name: "",
    wire: WireFormat::OpenAi,
    base_url: "",
    output_limit: OutputLimit::MaxCompletionTokens,
    key_header: None,
    stream_usage: true,
    json: JsonMode::Schema,
    thinking_field: None,
    user_field: None,
    can: &[],
    context_tokens: 128_000,
    cache_minimum_tokens: 0,
    price_provider: "",
    needs_key: true,
};

/// One's own server on OpenAI's wire.
const OWN: Line = Line {
    output_limit: OutputLimit::MaxTokens,
    can: &[Can::JsonSchema],
    context_tokens: 32_000,
    needs_key: false,
    ..HOSTED
};

const PRESETS: &[Line] = &[
    Line {
        name: "anthropic",
        wire: WireFormat::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        can: &[Can::Images, Can::Documents, Can::JsonSchema],
        context_tokens: 200_000,
        cache_minimum_tokens: 4096,
        price_provider: "anthropic",
        ..HOSTED
    },
    Line {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        user_field: Some("safety_identifier"),
        can: &[Can::Images, Can::Documents, Can::JsonSchema],
        price_provider: "openai",
        ..HOSTED
    },
    Line {
        name: "gemini",
        wire: WireFormat::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        can: &[Can::Images, Can::Documents, Can::JsonSchema],
        context_tokens: 1_000_000,
        price_provider: "google",
        ..HOSTED
    },
    Line {
        name: "azure",
        key_header: Some("api-key"),
        can: &[Can::Images, Can::JsonSchema],
        price_provider: "azure",
        ..HOSTED
    },
    Line { name: "groq", base_url: "https://api.groq.com/openai/v1", price_provider: "groq", ..HOSTED },
    Line {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        output_limit: OutputLimit::MaxTokens,
        json: JsonMode::Object,
        thinking_field: Some("reasoning_content"),
        price_provider: "deepseek",
        ..HOSTED
    },
    Line {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        output_limit: OutputLimit::MaxTokens,
        stream_usage: false,
        can: &[Can::JsonSchema],
        price_provider: "mistral",
        ..HOSTED
    },
    Line {
        name: "sarvam",
        base_url: "https://api.sarvam.ai/v1",
        output_limit: OutputLimit::MaxTokens,
        key_header: Some("api-subscription-key"),
        json: JsonMode::Words,
        context_tokens: 32_000,
        ..HOSTED
    },
    Line {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        output_limit: OutputLimit::MaxTokens,
        price_provider: "openrouter",
        ..HOSTED
    },
    Line { name: "ollama", base_url: "http://127.0.0.1:11434/v1", context_tokens: 4096, ..OWN },
    Line { name: "vllm", base_url: "http://127.0.0.1:8000/v1", ..OWN },
    Line { name: "llamacpp", base_url: "http://127.0.0.1:8080/v1", ..OWN },
    Line {
        name: "llamacpp-anthropic",
        wire: WireFormat::Anthropic,
        base_url: "http://127.0.0.1:8080/v1",
        output_limit: OutputLimit::MaxCompletionTokens,
        json: JsonMode::Words,
        can: &[],
        ..OWN
    },
];

impl Line {
    fn preset(&self) -> ProviderPreset {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ProviderPreset {
            name: self.name,
            wire: self.wire,
            base_url: self.base_url,
            dialect: Dialect {
                key: self
                    .key_header
                    .map_or(KeyHeader::AsDocumented, |name| KeyHeader::Header(name.to_owned())),
                output_limit: self.output_limit,
                stream_usage: self.stream_usage,
                json: self.json,
                thinking_field: text(self.thinking_field),
                user_field: text(self.user_field),
                ..Dialect::default()
            },
            capabilities: ModelFeatures {
                images: self.can.contains(&Can::Images),
                documents: self.can.contains(&Can::Documents),
                json_schema: self.can.contains(&Can::JsonSchema),
                context_tokens: self.context_tokens,
                cache_minimum_tokens: self.cache_minimum_tokens,
                ..ModelFeatures::default()
            },
            price_provider: self.price_provider,
            needs_key: self.needs_key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page's row for a preset, as it has to read.
    fn row(preset: &ProviderPreset) -> String {
        let can = &preset.capabilities;
        let able = [(can.images, "images"), (can.documents, "documents"), (can.json_schema, "json_schema")];
        let able =
            able.iter().filter(|(able, _)| *able).map(|(_, word)| format!("`{word}`")).collect::<Vec<_>>();
        let wire = match preset.wire {
            WireFormat::Anthropic => "Anthropic",
            WireFormat::OpenAi => "OpenAI",
            WireFormat::Gemini => "Gemini",
            WireFormat::Offline => "none",
        };
        let base_url = match preset.base_url {
            "" => "yours: `https://RESOURCE.openai.azure.com/openai/v1`".to_owned(),
            address => format!("`{address}`"),
        };
        let cells = [
            format!("`{}`", preset.name),
            wire.to_owned(),
            base_url,
            listed(&dialect(&preset.dialect)),
            listed(&able),
            match can.cache_minimum_tokens {
                0 => can.context_tokens.to_string(),
                cached => format!("{}; cached from {cached}", can.context_tokens),
            },
            if preset.needs_key { "needed" } else { "" }.to_owned(),
            if preset.price_provider.is_empty() {
                String::new()
            } else {
                format!("`{}`", preset.price_provider)
            },
        ];
        let row: Vec<String> = cells
            .iter()
            .map(|cell| if cell.is_empty() { " ".to_owned() } else { format!(" {cell} ") })
            .collect();
        format!("|{}|", row.join("|"))
    }

    fn listed(words: &[String]) -> String {
        words.join(", ")
    }

    /// What differs from the default, in the words of the settings.
    fn dialect(dialect: &Dialect) -> Vec<String> {
        let mut words = Vec::new();
        if dialect.output_limit == OutputLimit::MaxTokens {
            words.push("`output_limit = \"max_tokens\"`".to_owned());
        }
        if let KeyHeader::Header(name) = &dialect.key {
            words.push(format!("`key_header = \"{name}\"`"));
        }
        if !dialect.stream_usage {
            words.push("`stream_usage = false`".to_owned());
        }
        match dialect.json {
            JsonMode::Schema => {}
            JsonMode::Object => words.push("`json = \"object\"`".to_owned()),
            JsonMode::Words => words.push("`json = \"words\"`".to_owned()),
            JsonMode::Tool => words.push("`json = \"tool\"`".to_owned()),
        }
        for (name, field) in
            [("thinking_field", &dialect.thinking_field), ("user_field", &dialect.user_field)]
        {
            words.extend(field.iter().map(|field| format!("`{name} = \"{field}\"`")));
        }
        words
    }

    #[test]
    fn the_page_says_the_same() {
        let page = include_str!("../../../docs/models.md");
        let ours: Vec<String> = names().filter_map(find_preset).map(|preset| row(&preset)).collect();
        let (_, after) = page.split_once("| `provider` | wire |").unwrap();
        let theirs: Vec<&str> = after.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        assert_eq!(theirs, ours);
    }

    #[test]
    fn a_target_starts_from_its_preset_and_goes_nowhere_in_particular() {
        let target = find_preset("deepseek").unwrap().target("deep", "deepseek-chat");
        assert_eq!((target.name.as_str(), target.model.as_str()), ("deep", "deepseek-chat"));
        assert_eq!(target.dialect.thinking_field.as_deref(), Some("reasoning_content"));
        assert!(target.residency.is_empty() && target.key.is_empty());
        assert_eq!(find_preset("elephant"), None);
    }

    #[test]
    fn every_name_stands_once_and_the_book_knows_whose_prices_are_named() {
        let mut sorted: Vec<&str> = names().collect();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), PRESETS.len());
        let book: Vec<&str> =
            genai_prices::Calculator::bundled().providers().map(genai_prices::ProviderInfo::id).collect();
        for line in PRESETS.iter().filter(|line| !line.price_provider.is_empty()) {
            assert!(book.contains(&line.price_provider), "{}", line.price_provider);
        }
    }

    #[test]
    fn only_this_machine_is_reached_without_encryption() {
        for preset in names().filter_map(find_preset) {
            let here = preset.base_url.starts_with("http://127.0.0.1:");
            assert!(
                here != preset.needs_key,
                "{}: a server of one's own is here, others need a key",
                preset.name
            );
            assert!(here || preset.base_url.is_empty() || preset.base_url.starts_with("https://"));
        }
    }
}
