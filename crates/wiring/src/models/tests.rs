use std::time::Duration;

use munshi_config::{Config, ConfigSources};
use munshi_llm::chat::TokenUsage;
use munshi_llm::dialect::{JsonMode, KeyHeader, OutputLimit};
use munshi_llm::gateway::{Capability, RoutingStrategy};
use munshi_llm::pricing::Cost;
use munshi_llm::{ModelTarget, WireFormat, presets};
use munshi_types::Timestamp;

use super::GatewayModels;

fn config(text: &str) -> Config {
    Config::load(&ConfigSources::default().with_text("munshi.toml", text)).unwrap()
}

fn models(text: &str) -> GatewayModels {
    GatewayModels::from_config(&config(text)).unwrap()
}

fn refusal(text: &str) -> String {
    GatewayModels::from_config(&config(text)).unwrap_err().to_string()
}

fn warnings(models: &GatewayModels) -> Vec<String> {
    models.warnings.iter().map(ToString::to_string).collect()
}

/// In millionths of a dollar.
fn cost(models: &GatewayModels, target: &ModelTarget, usage: &TokenUsage) -> Option<i64> {
    models.prices.cost(target, usage, Timestamp::from_micros(1_760_000_000_000_000)).map(Cost::as_micros)
}

#[test]
fn nothing_configured_is_the_offline_model() {
    let models = models("");
    assert_eq!(models.targets, [ModelTarget::offline()]);
    assert_eq!(models.route.targets[&Capability::Default], ["offline"]);
    assert_eq!((models.route.residency, models.warnings.len()), (None, 0));
}

#[test]
fn a_preset_is_enough_and_what_is_given_wins() {
    let text = r#"
[models.deep]
provider = "deepseek"
model = "deepseek-chat"
key = "k"

[models.odd]
provider = "openai"
model = "m"
base_url = "https://proxy.example/v1/"
key = "k"
headers = ["X-Team: shop"]
key_header = "api-key"
query = "api-version=1&b=2"
output_limit = "max_tokens"
stream_usage = false
temperature = false
json = "tool"
user_field = ""
thinking_field = "reasoning"
extra = { service_tier = "flex" }
tools = false
images = false
thinking_supported = true
context_tokens = 5000
cache_minimum_tokens = 7
connect_timeout_seconds = 1
whole_timeout_seconds = 9
residency = "in"
"#;
    let models = models(text);
    let [deep, odd, offline] = models.targets.as_slice() else { panic!("two and the offline one") };
    let expected = presets::find_preset("deepseek").unwrap().target("deep", "deepseek-chat");
    assert_eq!(*deep, ModelTarget { key: deep.key.clone(), ..expected });
    assert_eq!(deep.key.reveal(), "k");
    assert!(offline.is_local());

    assert_eq!((odd.base_url.as_str(), odd.wire), ("https://proxy.example/v1", WireFormat::OpenAi));
    assert_eq!(odd.headers, [("X-Team".to_owned(), "shop".to_owned())]);
    let dialect = &odd.dialect;
    assert_eq!(dialect.key, KeyHeader::Header("api-key".to_owned()));
    assert_eq!(dialect.query.len(), 2);
    assert_eq!((dialect.output_limit, dialect.json), (OutputLimit::MaxTokens, JsonMode::Tool));
    assert!(!dialect.stream_usage && !dialect.temperature);
    assert_eq!((dialect.user_field.as_deref(), dialect.thinking_field.as_deref()), (None, Some("reasoning")));
    assert_eq!(dialect.extra["service_tier"], "flex");
    let can = &odd.capabilities;
    assert!(!can.tools && !can.images && can.documents && can.thinking);
    assert_eq!((can.context_tokens, can.cache_minimum_tokens), (5000, 7));
    assert_eq!(odd.timeouts.connect, Duration::from_secs(1));
    assert_eq!(
        (odd.timeouts.first_byte, odd.timeouts.total),
        (Duration::from_secs(8), Duration::from_secs(9))
    );
    assert_eq!(odd.residency, "in");
    assert_eq!(models.route.targets[&Capability::Default], ["deep", "odd"]);
    assert_eq!(warnings(&models), Vec::<String>::new());
}

#[test]
fn every_provider_of_the_settings_is_a_preset_and_every_use_a_route() {
    for name in presets::names() {
        let text = format!("[models.a]\nmodel = 'm'\nprovider = '{name}'\nbase_url = 'https://x.example'\n");
        assert_eq!(models(&text).targets[0].wire, presets::find_preset(name).unwrap().wire);
    }
    let listed = <munshi_config::ProviderChoice as munshi_config::kinds::SettingKind>::expects();
    assert_eq!(listed.matches('"').count() / 2, presets::names().count() + 1, "and `custom`: {listed}");

    let routes = config("").routes;
    let keys: Vec<&str> = routes.by_use().iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, Capability::ALL.iter().map(|known| known.as_str()).collect::<Vec<_>>());
}

#[test]
fn routes_are_as_written() {
    let text = r#"
[models.a]
provider = "ollama"
model = "m"
residency = "in"
[models.b]
provider = "vllm"
model = "m"
[routes]
default = ["b", "offline"]
json_strict = ["a"]
strategy = "hybrid"
permitted_residency = ["in", "eu"]
"#;
    let models = models(text);
    assert_eq!(models.route.targets[&Capability::Default], ["b", "offline"]);
    assert_eq!(models.route.targets[&Capability::JsonStrict], ["a"]);
    assert_eq!((models.route.targets.len(), models.route.strategy), (2, RoutingStrategy::Hybrid));
    assert_eq!(models.route.residency.as_ref().unwrap().len(), 2);
    let warnings = warnings(&models);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("munshi.toml:6:9: models.b: `b` is never used"), "{warnings:?}");
}

#[test]
fn only_a_server_of_ones_own_may_see_names() {
    let text = |address: &str, sees: &str| {
        format!("[models.a]\nprovider = 'vllm'\nmodel = 'm'\nbase_url = '{address}'\n{sees}\n")
    };
    let sees = |address: &str| models(&text(address, "sees_names = true")).targets[0].may_see_names();
    assert!(sees("http://127.0.0.1:8080/v1") && sees("https://10.1.2.3/v1"));
    for unsaid in ["", "sees_names = false"] {
        assert!(!models(&text("http://127.0.0.1:8080/v1", unsaid)).targets[0].may_see_names());
    }
    let refused = refusal(&text("https://gpu.example/v1", "sees_names = true"));
    assert!(refused.contains("munshi.toml:5:14: models.a.sees_names: real names would be sent"), "{refused}");
}

#[test]
fn prices_are_exact_and_a_targets_own() {
    let text = r#"
[models.one]
provider = "openai"
model = "gpt-4o"
key = "k"
price_input = "0.000001"
price_output = 0.1
[models.two]
provider = "openai"
model = "gpt-4o"
key = "k"
[models.here]
provider = "llamacpp"
model = "gpt-4o"
[models.there]
provider = "vllm"
base_url = "https://gpu.example/v1"
model = "some-model"
"#;
    let models = models(text);
    let [one, two, here, there, _] = models.targets.as_slice() else { panic!("four and the offline one") };
    let usage = TokenUsage { input: 1_000_000, ..TokenUsage::default() };
    assert_eq!(cost(&models, one, &usage), Some(1));
    assert_eq!(cost(&models, one, &TokenUsage { output: 1_000_000, ..TokenUsage::default() }), Some(100_000));
    assert_eq!(cost(&models, one, &TokenUsage { cache_read: 1_000_000, ..TokenUsage::default() }), Some(1));
    assert!(cost(&models, two, &usage).unwrap() > 1_000_000, "the bundled price");
    assert_eq!(cost(&models, here, &usage), Some(0));
    assert_eq!(cost(&models, there, &usage), None, "unknown is not nothing");
}

#[test]
fn a_missing_key_is_only_a_warning() {
    let models = models(
        "[models.gpt-mini]\nprovider = 'openai'\nmodel = 'm'\n[models.l]\nprovider = 'ollama'\nmodel = 'm'\n",
    );
    let warnings = warnings(&models);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("munshi.toml:1:9: models.gpt-mini: there is no key"), "{warnings:?}");
    assert!(warnings[0].ends_with("hint: set MUNSHI__MODELS__GPT_MINI__KEY"), "{warnings:?}");
}

#[test]
fn what_can_not_work_is_refused_with_its_place() {
    let text = r#"
[models.nowhere]
model = "m"

[models.custom]
provider = "custom"
wire = "openai"
model = "m"

[models.azure]
provider = "azure"
model = "m"

[models.llama]
provider = "llamacpp"
wire = "anthropic"
model = "m"

[models.plain]
provider = "vllm"
model = "m"
base_url = "http://gpu.lan:8000/v1"
key = "hunter2"

[models.header]
provider = "vllm"
model = "m"
base_url = "http://10.0.0.7:8000/v1"
headers = ["Authorization: Bearer hunter2"]

[models.half]
provider = "anthropic"
model = "m"
price_input = 3
"#;
    let refusal = refusal(text);
    assert!(!refusal.contains("hunter"), "{refusal}");
    insta::assert_snapshot!(refusal);
}

#[test]
fn a_model_of_variables_is_named_in_its_problems() {
    let sources = ConfigSources::default().with_variables([("MUNSHI__MODELS__LAB__MODEL", "m")]);
    let refusal = GatewayModels::from_config(&Config::load(&sources).unwrap()).unwrap_err().to_string();
    assert!(refusal.contains("MUNSHI__MODELS__LAB__MODEL: [models.lab]: `base_url` is missing"), "{refusal}");
}

#[test]
fn plain_http_is_for_those_who_have_no_secret_or_ask_for_it() {
    for allowed in [
        "base_url = 'http://gpu.lan/v1'",
        "base_url = 'http://gpu.lan/v1'\nkey = 'k'\nallow_plain_http = true",
        "base_url = 'http://localhost:9/v1'\nkey = 'k'",
    ] {
        models(&format!("[models.a]\nprovider = 'vllm'\nmodel = 'm'\n{allowed}\n"));
    }
}

#[test]
fn the_pages_example_and_the_settings_example_work() {
    let page = include_str!("../../../../docs/models.md");
    let (_, after) = page.split_once("```toml\n").unwrap();
    let (example, _) = after.split_once("```").unwrap();
    let shown = models(example);
    assert_eq!(shown.targets.len(), 5);
    assert_eq!(warnings(&shown).len(), 2, "the keys come as variables");

    let example = munshi_config::render_example();
    let uncommented = example.lines().map(|line| match line.strip_prefix('#') {
        Some(key) if !key.starts_with(' ') => key,
        _ => line,
    });
    let uncommented: Vec<&str> = uncommented.filter(|line| !line.starts_with("dir = ")).collect();
    assert_eq!(models(&uncommented.join("\n")).targets.len(), 2);
}
