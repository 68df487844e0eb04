//! One section of the settings made a target: what is given, else the preset's, else the default.

use munshi_config::kinds::NameValuePair;
use munshi_config::{ConfigProblem, ConfiguredModel, ModelWire, SettingOrigin};
use munshi_llm::dialect::{Dialect, JsonMode, KeyHeader, OutputLimit, ThinkingMode};
use munshi_llm::presets::{ProviderPreset, find_preset};
use munshi_llm::target::ProviderKey;
use munshi_llm::{ModelFeatures, ModelTarget, ModelTimeouts, WireFormat};

use super::address::{is_private_network, is_unencrypted};
use super::{Findings, build_problem};

/// `None` once its problem is noted.
pub(super) fn build(model: &ConfiguredModel, findings: &mut Findings<'_>) -> Option<ModelTarget> {
    // `custom` is the provider that has none.
    let preset = model.provider.and_then(|provider| find_preset(provider.as_str()));
    let wire = wire(model, preset.as_ref(), findings);
    let base_url = base_url(model, preset.as_ref(), findings);
    let (wire, base_url) = (wire?, base_url?);
    let start = match &preset {
        Some(preset) => preset.target(&model.name, &model.model),
        None => ModelTarget::new(&model.name, wire, "", &model.model),
    };
    let target = ModelTarget {
        wire,
        base_url,
        key: ProviderKey::new(model.key.as_ref().map_or("", |key| key.reveal())),
        headers: pairs(model.headers.as_deref().unwrap_or_default()),
        timeouts: timeouts(model, start.timeouts),
        capabilities: capabilities(model, start.capabilities),
        dialect: dialect(model, start.dialect.clone()),
        residency: model.residency.clone().unwrap_or_default(),
        sees_names: model.sees_names.unwrap_or(false),
        ..start
    };
    warn_missing_key(model, &target, preset.as_ref(), findings);
    check_encryption(model, &target, findings)?;
    check_sees_names(model, &target, findings)?;
    Some(target)
}

fn wire(
    model: &ConfiguredModel,
    preset: Option<&ProviderPreset>,
    findings: &mut Findings<'_>,
) -> Option<WireFormat> {
    let given = model.wire.map(|wire| match wire {
        ModelWire::Anthropic => WireFormat::Anthropic,
        ModelWire::OpenAi => WireFormat::OpenAi,
        ModelWire::Gemini => WireFormat::Gemini,
    });
    match (given, preset) {
        (Some(given), Some(preset)) if given != preset.wire => {
            let hint = match (preset.name, given) {
                ("llamacpp", WireFormat::Anthropic) => {
                    "write provider = \"llamacpp-anthropic\", without `wire`"
                }
                _ => "remove `wire`, or set provider = \"custom\" and the other keys yourself",
            };
            findings.refuse(
                model,
                "wire",
                format!("provider `{}` uses another API format", preset.name),
                hint,
            );
            None
        }
        (Some(given), _) => Some(given),
        (None, Some(preset)) => Some(preset.wire),
        (None, None) => {
            let hint = "set a known `provider`, or wire = \"openai\", which most servers support";
            findings.refuse(model, "wire", "`wire` is missing".to_owned(), hint);
            None
        }
    }
}

fn base_url(
    model: &ConfiguredModel,
    preset: Option<&ProviderPreset>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let known = preset.map(|preset| preset.base_url).filter(|address| !address.is_empty());
    let found = model.base_url.clone().or_else(|| known.map(str::to_owned));
    if found.is_none() {
        let hint = match preset {
            Some(_) => {
                "write base_url = \"https://RESOURCE.openai.azure.com/openai/v1\" with your resource's name"
            }
            None => "write base_url = \"…\", or set a known `provider`",
        };
        findings.refuse(model, "base_url", "`base_url` is missing".to_owned(), hint);
    }
    found
}

/// A key may come later, so this is no reason not to start.
fn warn_missing_key(
    model: &ConfiguredModel,
    target: &ModelTarget,
    preset: Option<&ProviderPreset>,
    findings: &mut Findings<'_>,
) {
    let needed = preset.is_some_and(|preset| preset.needs_key);
    if needed && target.key.is_empty() && target.headers.is_empty() {
        let variable = format!("MUNSHI__MODELS__{}__KEY", model.name.replace('-', "_").to_uppercase());
        let what = "there is no key, and the server requires one".to_owned();
        findings.warnings.push(build_problem(model, what, format!("set {variable}")));
    }
}

/// A key that goes unencrypted over a network is everybody's on the way.
fn check_encryption(
    model: &ConfiguredModel,
    target: &ModelTarget,
    findings: &mut Findings<'_>,
) -> Option<()> {
    let secret = !target.key.is_empty() || !target.headers.is_empty();
    if !secret || model.allow_plain_http == Some(true) || !is_unencrypted(&target.base_url) {
        return Some(());
    }
    let what = "the key or headers would be sent unencrypted to another machine".to_owned();
    let hint = "use https://, or set allow_plain_http = true if you control the network";
    findings.refuse(model, "base_url", what, hint);
    None
}

/// Names in the clear are for servers of one's own.
fn check_sees_names(
    model: &ConfiguredModel,
    target: &ModelTarget,
    findings: &mut Findings<'_>,
) -> Option<()> {
    if !target.sees_names || is_private_network(&target.base_url) {
        return Some(());
    }
    let what = "real names would be sent to a server outside this machine and private networks".to_owned();
    let hint = "remove it to send pseudonyms, or use the server's private address as `base_url`";
    findings.refuse(model, "sees_names", what, hint);
    None
}

fn pairs(pairs: &[NameValuePair]) -> Vec<(String, String)> {
    pairs.iter().map(|pair| (pair.name.clone(), pair.value.reveal().to_owned())).collect()
}

fn timeouts(model: &ConfiguredModel, start: ModelTimeouts) -> ModelTimeouts {
    ModelTimeouts {
        connect: model.connect_timeout.unwrap_or(start.connect),
        first_byte: model.first_byte_timeout.unwrap_or(start.first_byte),
        between_bytes: model.between_bytes_timeout.unwrap_or(start.between_bytes),
        total: model.whole_timeout.unwrap_or(start.total),
    }
}

fn capabilities(model: &ConfiguredModel, start: ModelFeatures) -> ModelFeatures {
    // The settings hold both to less than 32 bits.
    let tokens =
        |given: Option<usize>, start: u32| given.and_then(|n| u32::try_from(n).ok()).unwrap_or(start);
    ModelFeatures {
        tools: model.tools.unwrap_or(start.tools),
        images: model.images.unwrap_or(start.images),
        documents: model.documents.unwrap_or(start.documents),
        json_schema: model.json_schema.unwrap_or(start.json_schema),
        thinking: model.thinking_supported.unwrap_or(start.thinking),
        embeddings: model.embeddings.unwrap_or(start.embeddings),
        context_tokens: tokens(model.context_tokens, start.context_tokens),
        cache_minimum_tokens: tokens(model.cache_minimum_tokens, start.cache_minimum_tokens),
    }
}

fn dialect(model: &ConfiguredModel, start: Dialect) -> Dialect {
    // Empty text takes away what the preset has.
    let field = |given: &Option<String>, start: Option<String>| match given {
        Some(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        None => start,
    };
    Dialect {
        key: model.key_header.as_deref().map_or(start.key, parse_key_header),
        query: model.query.as_deref().map_or(start.query, pairs),
        output_limit: model.output_limit.map_or(start.output_limit, output_limit),
        stream: model.stream.unwrap_or(start.stream),
        stream_usage: model.stream_usage.unwrap_or(start.stream_usage),
        temperature: model.temperature.unwrap_or(start.temperature),
        json: model.json.map_or(start.json, json_mode),
        thinking: model.thinking.map_or(start.thinking, thinking_mode),
        thinking_field: field(&model.thinking_field, start.thinking_field),
        user_field: field(&model.user_field, start.user_field),
        unsigned_call: field(&model.unsigned_call, start.unsigned_call),
        extra: model.extra.clone().unwrap_or(start.extra),
    }
}

fn parse_key_header(text: &str) -> KeyHeader {
    match text {
        "documented" => KeyHeader::AsDocumented,
        "bearer" => KeyHeader::Bearer,
        name => KeyHeader::Header(name.to_owned()),
    }
}

fn output_limit(given: munshi_config::OutputLimitChoice) -> OutputLimit {
    match given {
        munshi_config::OutputLimitChoice::MaxCompletionTokens => OutputLimit::MaxCompletionTokens,
        munshi_config::OutputLimitChoice::MaxTokens => OutputLimit::MaxTokens,
    }
}

fn json_mode(given: munshi_config::JsonModeChoice) -> JsonMode {
    match given {
        munshi_config::JsonModeChoice::Schema => JsonMode::Schema,
        munshi_config::JsonModeChoice::Tool => JsonMode::Tool,
        munshi_config::JsonModeChoice::Object => JsonMode::Object,
        munshi_config::JsonModeChoice::Words => JsonMode::Words,
    }
}

fn thinking_mode(given: munshi_config::ThinkingModeChoice) -> ThinkingMode {
    match given {
        munshi_config::ThinkingModeChoice::Budget => ThinkingMode::Budget,
        munshi_config::ThinkingModeChoice::Effort => ThinkingMode::Effort,
    }
}

impl Findings<'_> {
    /// Where the key is written, or where the model is when it is not.
    fn refuse(&mut self, model: &ConfiguredModel, key: &str, what: String, hint: &str) {
        let problem = match self.config.origin(&model.section(), key) {
            SettingOrigin::Default => build_problem(model, what, hint),
            place => ConfigProblem {
                place,
                key: Some(format!("{}.{key}", model.section())),
                what,
                hint: Some(hint.to_owned()),
            },
        };
        self.problems.push(problem);
    }
}
