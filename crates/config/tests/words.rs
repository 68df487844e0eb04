//! The example, the listing and the reference page: all made from the same definitions.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_config::{Config, ConfigSources, render_docs, render_example};

fn at_home(sources: ConfigSources) -> ConfigSources {
    sources.with_variables([("HOME", "/home/asha")])
}

/// Every key of the example taken out of its comment.
fn uncommented() -> String {
    let is_key = |line: &str| line.starts_with('#') && !line.starts_with("# ");
    let lines = render_example()
        .lines()
        .map(|line| if is_key(line) { line[1..].to_owned() } else { line.to_owned() })
        .collect::<Vec<_>>();
    lines.join("\n")
}

#[test]
fn the_example_reads_well() {
    insta::assert_snapshot!(render_example());
}

#[test]
fn the_example_says_the_defaults_commented_or_not() {
    let defaults = Config::load(&at_home(ConfigSources::default())).unwrap();
    let commented =
        Config::load(&at_home(ConfigSources::default().with_text("munshi.toml", render_example()))).unwrap();
    assert_eq!(commented, defaults);
    let plain =
        Config::load(&at_home(ConfigSources::default().with_text("munshi.toml", uncommented()))).unwrap();
    let values = |config: &Config| {
        let entries = config.show().entries.into_iter().map(|entry| (entry.key(), entry.value));
        entries.filter(|(key, _)| !key.starts_with("models.")).collect::<Vec<_>>()
    };
    assert_eq!(values(&plain), values(&defaults));
    assert!(
        plain.show().entries.iter().all(|entry| entry.from != munshi_config::SettingOrigin::Default),
        "each key is there"
    );
}

#[test]
fn the_example_of_a_model_can_be_used() {
    let plain =
        Config::load(&at_home(ConfigSources::default().with_text("munshi.toml", uncommented()))).unwrap();
    assert_eq!(plain.default_route(), ["sonnet"]);
    let keys = plain.show().entries.iter().filter(|entry| entry.key().starts_with("models.sonnet.")).count();
    assert_eq!(keys, render_docs().matches("| `models.NAME.").count(), "each key is there");
    assert_eq!(plain.models.list[0].price_cache_write_5m, Some(3_750_000));
}

#[test]
fn every_value_is_shown_with_where_it_came_from() {
    let file = "[server]\nlisten = \"0.0.0.0:80\"\n[store]\nurl = \"postgres://app:hunter2@db/munshi\"\n[telemetry]\nservice_name = \"राम \\\"the\\\" \\\\ shop\\t\"\n";
    let sources = at_home(ConfigSources::default().with_text("munshi.toml", file)).with_variables([
        ("MUNSHI__STORE__OWNER_URL", "postgres://owner:hunter3@db/munshi"),
        ("MUNSHI__SERVER__BODY_LIMIT_KIB", "2048"),
    ]);
    let config = Config::load(&sources).unwrap();
    insta::assert_snapshot!(config.show());
    insta::assert_json_snapshot!(config.show());
    let defaults = Config::load(&at_home(ConfigSources::default())).unwrap();
    insta::assert_snapshot!(defaults.show());
}

#[test]
fn what_is_shown_can_be_read_back() {
    let config = Config::load(&at_home(ConfigSources::default())).unwrap();
    let again = ConfigSources::default().with_text("shown.toml", config.show().to_string());
    let again = Config::load(&again).unwrap();
    assert_eq!((&again.server, &again.jobs), (&config.server, &config.jobs));
    assert_eq!(again.data, config.data);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a developer asks for the page to be written with UPDATE_DOCS=1"
)]
fn the_reference_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, render_docs()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == render_docs(),
        "docs/configuration.md is out of date: run UPDATE_DOCS=1 cargo test -p munshi-config"
    );
}
