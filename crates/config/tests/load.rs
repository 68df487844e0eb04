//! Loading: who wins, what the values become, and where the defaults lie.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use munshi_config::{Config, ConfigSources, LogFormat};

const HOME: (&str, &str) = ("HOME", "/home/asha");

fn load(text: &str, variables: &[(&str, &str)]) -> Config {
    let sources =
        ConfigSources::default().with_text("munshi.toml", text).with_variables(variables.iter().copied());
    Config::load(&sources).unwrap()
}

#[test]
fn the_defaults_are_what_the_docs_say() {
    let config = Config::load(&ConfigSources::default().with_variables([HOME])).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8400");
    assert_eq!(config.server.request_timeout, Duration::from_secs(30));
    assert_eq!(config.server.body_limit, 1024 * 1024);
    assert_eq!(config.server.shutdown_grace, Duration::from_secs(20));
    assert_eq!(config.data.dir, Path::new("/home/asha/.local/share/munshi"));
    assert_eq!(config.store_url().reveal(), "sqlite:/home/asha/.local/share/munshi/munshi.db");
    assert_eq!(config.store_owner_url(), config.store_url());
    assert!(config.store.backup_before_migrate);
    assert_eq!(config.job_workers(), 8);
    assert_eq!(config.jobs.poll, Duration::from_secs(1));
    assert_eq!(config.jobs.keep_done, Duration::from_secs(24 * 3600));
    assert_eq!(config.log.format, LogFormat::Auto);
    assert_eq!(config.telemetry.otlp_endpoint, None);
    assert!((config.telemetry.sample_ratio() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_variable_wins_over_the_file_and_the_file_over_the_default() {
    let file = "[server]\nlisten = \"0.0.0.0:80\"\nrequest_timeout_seconds = 5\n";
    let config = load(file, &[("MUNSHI__SERVER__LISTEN", "[::1]:9000")]);
    assert_eq!(config.server.listen.to_string(), "[::1]:9000");
    assert_eq!(config.server.request_timeout, Duration::from_secs(5));
    assert_eq!(config.server.shutdown_grace, Duration::from_secs(20));
    let beaten = load("[server]\nlisten = \"nonsense\"\n", &[("MUNSHI__SERVER__LISTEN", "127.0.0.1:1")]);
    assert_eq!(beaten.server.listen.port(), 1, "what a variable replaces is not judged");
}

#[test]
fn values_are_read_in_every_form_they_may_take() {
    let config = load(
        "server.listen = '127.0.0.1:1'\n[jobs]\nworkers = 3\n[log]\nformat = \"JSON\"\nlevel = \"warn, munshi_web::api = trace\"",
        &[
            ("MUNSHI__STORE__BACKUP_BEFORE_MIGRATE", "False"),
            ("MUNSHI__STORE__CONNECTIONS", " 7 "),
            ("MUNSHI__TELEMETRY__SAMPLE_PERCENT", "5"),
            ("MUNSHI_CONFIG", "is not ours to judge"),
        ],
    );
    assert_eq!((config.server.listen.port(), config.job_workers()), (1, 3));
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!((config.store.connections, config.store.backup_before_migrate), (7, false));
    assert!((config.telemetry.sample_ratio() - 0.05).abs() < f64::EPSILON);
}

#[test]
fn the_data_folder_follows_the_machine() {
    let folder =
        |text: &str, variables: &[(&str, &str)]| load(text, variables).data.dir.display().to_string();
    assert_eq!(folder("", &[HOME, ("XDG_DATA_HOME", "/xdg")]), "/xdg/munshi");
    assert_eq!(folder("", &[HOME, ("XDG_DATA_HOME", "relative")]), "/home/asha/.local/share/munshi");
    assert_eq!(folder("", &[]), "./munshi-data");
    assert_eq!(folder("data.dir = \"~\"", &[HOME]), "/home/asha/");
    assert_eq!(folder("data.dir = \"~//m\"", &[HOME, ("XDG_DATA_HOME", "/xdg")]), "/home/asha/m");
    assert_eq!(folder("", &[("MUNSHI__DATA__DIR", "/srv/m")]), "/srv/m");
    assert_eq!(folder("data.dir = \"m~\"", &[]), "m~");
}

#[test]
fn postgres_brings_its_own_defaults_and_an_owner() {
    let url = "postgres://app:one@db/munshi";
    let config = load("", &[("MUNSHI__STORE__URL", url), ("MUNSHI__JOBS__WORKERS", "")]);
    assert_eq!((config.store_url().reveal(), config.job_workers()), (url, 16));
    assert_eq!(config.store_owner_url().reveal(), url);
    let owner = "postgres://owner:two@db/munshi";
    let config = load("", &[("MUNSHI__STORE__URL", url), ("MUNSHI__STORE__OWNER_URL", owner)]);
    assert_eq!(config.store_owner_url().reveal(), owner);
    let printed = format!("{config:?}{}{}", config.show(), serde_json::to_string(&config.show()).unwrap());
    assert!(!printed.contains("one@") && !printed.contains("two"), "{printed}");
}

#[test]
fn a_setting_of_an_older_version_is_told_and_stops_nothing() {
    let config = load("[routes]\nrealtime_voice = [\"x\"]", &[("MUNSHI__ROUTES__REALTIME_VOICE", "x")]);
    let told: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("no longer a setting") && told[0].contains("remove the line"), "{told:?}");
    assert!(told[1].contains("unset MUNSHI__ROUTES__REALTIME_VOICE"), "{told:?}");
    assert!(load("", &[]).warnings.is_empty());
}

#[test]
fn a_file_is_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.toml");
    std::fs::write(&path, "\u{feff}[server]\r\nlisten = \"127.0.0.1:5\"\r\n").unwrap();
    let config = Config::load(&ConfigSources::default().with_file(&path)).unwrap();
    assert_eq!(config.server.listen.port(), 5);
    assert_eq!(ConfigSources::system(Some(path.clone())).file(), Some(path.as_path()));
}
