//! Models and routes: named sections in the file and in variables, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use munshi_config::{
    Config, ConfigSources, ConfiguredModel, JsonModeChoice, ProviderChoice, RoutingStrategyChoice,
    SettingOrigin,
};

fn sources(text: &str, variables: &[(&str, &str)]) -> ConfigSources {
    ConfigSources::default().with_text("munshi.toml", text).with_variables(variables.iter().copied())
}

fn load(text: &str, variables: &[(&str, &str)]) -> Config {
    Config::load(&sources(text, variables)).unwrap()
}

fn refusal(text: &str, variables: &[(&str, &str)]) -> String {
    Config::load(&sources(text, variables)).unwrap_err().to_string()
}

fn names(config: &Config) -> Vec<&str> {
    config.models.iter().map(|model| model.name.as_str()).collect()
}

const FULL: &str = r#"
[models.sonnet]
provider = "anthropic"
model = "claude-sonnet-4-5"
key = "hunter2"
headers = ["X-Team: hunter3", "x-more:hunter4, and hunter5"]
query = "api-version=hunter6&b=2"
price_input = 3
price_output = 15.0
price_cache_read = "0.300001"
first_byte_timeout_seconds = 20
json = "tool"
user_field = ""
extra = { service_tier = "auto", deep = { list = [1, 2.5, true] } }

[models.a-local-one]
provider = "ollama"
model = "gemma3"
tools = false

[routes]
default = ["sonnet", "a-local-one", "offline"]
cheap = ["offline"]
strategy = "hybrid"
permitted_residency = ["in"]
"#;

#[test]
fn a_model_is_what_was_written_and_the_rest_is_open() {
    let config = load(FULL, &[]);
    let [sonnet, local]: &[ConfiguredModel; 2] = config.models.list.as_slice().try_into().unwrap();
    assert_eq!((sonnet.name.as_str(), sonnet.provider), ("sonnet", Some(ProviderChoice::Anthropic)));
    assert_eq!(sonnet.key.as_ref().unwrap().reveal(), "hunter2");
    let headers: Vec<(&str, &str)> =
        sonnet.headers.iter().flatten().map(|header| (header.name.as_str(), header.value.reveal())).collect();
    assert_eq!(headers, [("X-Team", "hunter3"), ("x-more", "hunter4, and hunter5")]);
    assert_eq!((sonnet.price_input, sonnet.price_output), (Some(3_000_000), Some(15_000_000)));
    assert_eq!((sonnet.price_cache_read, sonnet.price_cache_write_1h), (Some(300_001), None));
    assert_eq!(sonnet.first_byte_timeout, Some(Duration::from_secs(20)));
    assert_eq!((sonnet.json, sonnet.user_field.as_deref()), (Some(JsonModeChoice::Tool), Some("")));
    let extra = serde_json::to_string(sonnet.extra.as_ref().unwrap()).unwrap();
    assert_eq!(extra, r#"{"deep":{"list":[1,2.5,true]},"service_tier":"auto"}"#);
    assert_eq!((local.name.as_str(), local.tools, local.images), ("a-local-one", Some(false), None));
    assert_eq!((local.key.as_ref(), local.whole_timeout), (None, None));
    assert_eq!(config.default_route(), ["sonnet", "a-local-one", "offline"]);
    assert_eq!(
        (config.routes.cheap.as_slice(), config.routes.strategy),
        (&["offline".to_owned()][..], RoutingStrategyChoice::Hybrid)
    );
    assert_eq!(config.origin("models.sonnet", "price_input"), sonnet_line(8, 15));
}

fn sonnet_line(line: usize, column: usize) -> SettingOrigin {
    SettingOrigin::Line { file: "munshi.toml".to_owned(), line, column }
}

#[test]
fn no_secret_of_a_model_is_shown() {
    let config = load(FULL, &[("MUNSHI__MODELS__SONNET__KEY", "hunter7")]);
    let shown = config.show();
    let printed = format!("{config:?}{shown}{}", serde_json::to_string(&shown).unwrap());
    assert!(!printed.contains("hunter"), "{printed}");
    let models: Vec<String> =
        shown.to_string().lines().skip_while(|line| *line != "[models.sonnet]").map(str::to_owned).collect();
    insta::assert_snapshot!(models.join("\n"));
}

#[test]
fn variables_make_models_and_add_to_those_of_the_file() {
    let variables = [
        ("MUNSHI__MODELS__SONNET__KEY", "from-a-variable"),
        ("MUNSHI__MODELS__A_LOCAL_ONE__MODEL", "gemma4"),
        ("MUNSHI__MODELS__GPT_MINI__MODEL", "gpt-5-mini"),
        ("MUNSHI__MODELS__GPT_MINI__HEADERS", "X-One: a, b\nX-Two: c"),
        ("MUNSHI__MODELS__GPT_MINI__EXTRA", r#"{"service_tier": "flex"}"#),
        ("MUNSHI__MODELS__GPT_MINI__PRICE_INPUT", "0.25"),
        ("MUNSHI__ROUTES__DEFAULT", "gpt_mini, sonnet"),
        ("MUNSHI__ROUTES__VOICE", r#"["offline"]"#),
        ("MUNSHI__ROUTES__CHEAP", ""),
    ];
    let config = load(FULL, &variables);
    assert_eq!(names(&config), ["sonnet", "a-local-one", "gpt_mini"]);
    let [sonnet, local, mini]: &[ConfiguredModel; 3] = config.models.list.as_slice().try_into().unwrap();
    assert_eq!(sonnet.key.as_ref().unwrap().reveal(), "from-a-variable");
    assert_eq!((local.model.as_str(), local.provider), ("gemma4", Some(ProviderChoice::Ollama)));
    assert_eq!((mini.model.as_str(), mini.price_input), ("gpt-5-mini", Some(250_000)));
    assert_eq!(mini.headers.as_ref().unwrap().len(), 2);
    assert_eq!(mini.extra.as_ref().unwrap()["service_tier"], "flex");
    assert_eq!(config.default_route(), ["gpt_mini", "sonnet"]);
    assert_eq!((config.routes.voice.len(), config.routes.cheap.len()), (1, 0));
}

#[test]
fn without_a_route_the_models_come_in_the_order_of_the_file() {
    let text = "[models.zebra]\nmodel = \"z\"\n[models.ant]\nmodel = \"a\"\n[models.mule]\nmodel = \"m\"\n";
    let config = load(text, &[("MUNSHI__MODELS__BEE__MODEL", "b")]);
    assert_eq!(config.default_route(), ["zebra", "ant", "mule", "bee"]);
    let means =
        config.show().entries.into_iter().find(|entry| entry.key() == "routes.default").unwrap().means;
    assert_eq!(means.as_deref(), Some("zebra, ant, mule, bee"));
    assert_eq!(load("", &[]).default_route(), ["offline"]);
    let dotted = "models.zebra.model = 'z'\nmodels.ant = { model = 'a' }\n";
    assert_eq!(names(&load(dotted, &[])), ["zebra", "ant"]);
}

#[test]
fn every_problem_with_a_model_is_reported() {
    let text = r#"
[models]
provider = "openai"
three = 3

[models."GPT 4.1"]
model = "x"

[models.offline]
model = "x"

[models.a-b]
model = "x"

[models.a_b]
model = "x"

[models.bare]

[models.wrong]
modle = "x"
model = ""
provider = "antropic"
wire = "grpc"
base_url = "https://user:hunter2@example.com"
key = "hunter2 hunter3"
headers = ["hunter2"]
residency = "New York"
tools = "yes"
json = "shema"
context_tokens = 3
whole_timeout_seconds = 1.5
key_header = "Bearer hunter2"
query = "hunter2"
extra = { until = 2030-01-01 }
price_input = -3
price_output = nan
price_cache_read = 0.0000001
price_cache_write_5m = true
price_cache_write_1h = "$3"
url = "x"

[routes]
default = ["rong", "bare", "elephant"]
cheap = "bare"
voice = ["bare", "bare"]
planer = ["bare"]
strategy = "rules"
permitted_residency = [1]
"#;
    let text = refusal(text, &[]);
    assert!(!text.contains("hunter"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_problem_with_a_models_variable_is_reported() {
    let text = refusal(
        "",
        &[
            ("MUNSHI__MODELS__KEY", "hunter2"),
            ("MUNSHI__MODELS__SONNET__MODLE", "x"),
            ("MUNSHI__MODELS__sonnet__MODEL", "x"),
            ("MUNSHI__MODELS__GPT-5__MODEL", "x"),
            ("MUNSHI__MODELS___X__MODEL", "x"),
            ("MUNSHI__MODELS__OFFLINE__MODEL", "x"),
            ("MUNSHI_MODELS_SONNET_BASE_URL", "x"),
            ("MUNSHI__MODELS__BARE__KEY", "hunter2"),
            ("MUNSHI__MODELS__BARE__HEADERS", "[hunter2"),
            ("MUNSHI__MODELS__BARE__EXTRA", "[\"hunter2\"]"),
            ("MUNSHI__MODELS__BARE__BASE_URL", "https://example.com/v1?key=hunter2"),
            ("MUNSHI__ROUTES__DEFAULT", "bear, Bare"),
        ],
    );
    assert!(!text.contains("hunter"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn an_address_is_only_an_address() {
    let with =
        |url: &str| load("", &[("MUNSHI__MODELS__A__MODEL", "m"), ("MUNSHI__MODELS__A__BASE_URL", url)]);
    assert_eq!(
        with("http://[::1]:8080/v1/").models.list[0].base_url.as_deref(),
        Some("http://[::1]:8080/v1")
    );
    for bad in [
        "",
        "ftp://x",
        "https://",
        "https:///v1",
        "https://:80/",
        "https://a b",
        "https://a\\@b",
        "https://a#b",
    ] {
        let variables = [("MUNSHI__MODELS__A__MODEL", "m"), ("MUNSHI__MODELS__A__BASE_URL", bad)];
        assert!(refusal("", &variables).contains("MUNSHI__MODELS__A__BASE_URL: the URL"), "{bad}");
    }
}
