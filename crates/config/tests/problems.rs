//! What is refused, and in which words. Each text says what happened and what to do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;

use munshi_config::{Config, ConfigSources};
use proptest::prelude::*;

fn refusal(text: &str, variables: &[(&str, &str)]) -> String {
    let sources =
        ConfigSources::default().with_text("munshi.toml", text).with_variables(variables.iter().copied());
    Config::load(&sources).unwrap_err().to_string()
}

#[test]
fn every_problem_is_reported_in_the_order_of_the_file() {
    let text = "\
[server]
listn = \"127.0.0.1:8400\"
listen = \"localhost:8400\"
request_timeout_seconds = 0
body_limit_kib = \"1024\"
shutdown_grace_seconds = 2.5
level = \"info\"
colour = 1

[sotre]
url = \"x\"

[elephant]
trunk = true

[store]
url = \"mysql://root:hunter2@db/x\"
connections = 99999
readers = [4]
backup_before_migrate = \"true\"
statement_timeout_seconds = 99999999999999999999999999999999999999999

[log]
format = \"jsn\"
level = \"inof\"
";
    insta::assert_snapshot!(refusal(text, &[("MUNSHI__JOBS__WORKERS", "many")]));
}

#[test]
fn syntax_slips_are_found_together_and_once_each() {
    let text = "listen = 1\n[server]\nlisten = \nbody_limit_kib = 1 2\nrequest_timeout_seconds = 08\nrequest_timeout_seconds = 9\nrequest_timeout_seconds = 10\n[[jobs]]\nworkers = 1\n[server]\nshutdown_grace_seconds = 'x\n";
    insta::assert_snapshot!(refusal(text, &[]));
}

#[test]
fn a_section_must_be_a_section() {
    insta::assert_snapshot!(refusal("server = 3\n[[jobs]]\nworkers = 1\n[log.level]\nx = 1\n", &[]));
}

#[test]
fn variables_are_judged_by_name_and_value() {
    let text = refusal(
        "",
        &[
            ("MUNSHI__SERVER__LISTN", "127.0.0.1:1"),
            ("MUNSHI__server__listen", "127.0.0.1:1"),
            ("MUNSHI_SERVER_LISTEN", "127.0.0.1:1"),
            ("MUNSHI__SERVER", "x"),
            ("MUNSHI__", "x"),
            ("MUNSHI__WEATHER__RAIN", "x"),
            ("MUNSHI__SERVER__LISTEN", ":8400"),
            ("MUNSHI__SERVER__BODY_LIMIT_KIB", ""),
            ("MUNSHI__STORE__BACKUP_BEFORE_MIGRATE", "yes"),
            ("MUNSHI__STORE__OWNER_URL", "hunter2"),
            ("MUNSHI__STORE__URL", "postgres://"),
            ("MUNSHI__TELEMETRY__OTLP_ENDPOINT", "127.0.0.1:4317"),
            ("MUNSHI__TELEMETRY__SERVICE_NAME", " "),
            ("MUNSHI__DATA__DIR", "~/m"),
            ("MUNSHI__LOG__LEVEL", "info,=debug"),
        ],
    );
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn an_owner_needs_a_postgres_to_own() {
    insta::assert_snapshot!(refusal("[store]\nowner_url = \"postgres://o:p@h/d\"\n", &[]));
}

#[test]
fn a_home_of_somebody_else_is_refused() {
    insta::assert_snapshot!(refusal("data.dir = \"~ravi/m\"", &[("HOME", "/home/asha")]));
}

#[test]
fn a_file_that_is_named_must_be_there_and_readable() {
    let missing = Config::load(&ConfigSources::default().with_file("no/such/munshi.toml")).unwrap_err();
    let folder = Config::load(&ConfigSources::default().with_file(".")).unwrap_err();
    let latin = ConfigSources::default().with_text("munshi.toml", *b"[server]\n# caf\xe9\n");
    let latin = Config::load(&latin).unwrap_err();
    insta::assert_snapshot!(format!("{missing}\n\n{folder}\n\n{latin}"));
}

#[test]
fn problems_are_data_too() {
    let sources = ConfigSources::default().with_text("munshi.toml", "[server]\nlistn = 1\n");
    let sources = sources.with_variables([("MUNSHI__LOG__FORMAT", "xml")]);
    insta::assert_json_snapshot!(Config::load(&sources).unwrap_err());
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStringExt;
    let odd = OsString::from_vec(vec![b'x', 0xff]);
    let ours = ConfigSources::default().with_variables([(OsString::from("MUNSHI__DATA__DIR"), odd.clone())]);
    assert!(Config::load(&ours).unwrap_err().to_string().contains("not valid UTF-8"));
    let theirs = ConfigSources::default().with_variables([(odd.clone(), odd)]);
    assert!(Config::load(&theirs).is_ok());
}

/// Lines that come near to real ones, so that chance reaches past the parser.
fn nearly_a_file() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("server".to_owned()),
        Just("listen".to_owned()),
        Just("store".to_owned()),
        Just("url".to_owned()),
        Just("workers".to_owned()),
        Just("log".to_owned()),
        Just("level".to_owned()),
        Just("models".to_owned()),
        Just("routes".to_owned()),
        Just("model".to_owned()),
        Just("extra".to_owned()),
        Just("default".to_owned()),
        "\\PC{0,6}",
    ];
    let value = prop_oneof!["-?[0-9]{1,40}", "\"\\PC{0,12}\"", "\\PC{0,8}", Just("true".to_owned())];
    let line = (word.clone(), word, value).prop_flat_map(|(one, two, value)| {
        prop_oneof![
            Just(format!("[{one}]")),
            Just(format!("[[{one}]]")),
            Just(format!("[{one}.{two}]")),
            Just(format!("models.{one}.{two} = {value}")),
            Just(format!("{two} = [{value}]")),
            Just(format!("{two} = {value}")),
            Just(format!("{one}.{two} = {value}")),
            Just(format!("{one} = {{ {two} = {value} }}")),
        ]
    });
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Config::load(&ConfigSources::default().with_text("munshi.toml", bytes));
    }

    #[test]
    fn no_file_or_variable_makes_it_panic(text in nearly_a_file(), name in "[A-Z_]{0,12}", value in "\\PC{0,20}") {
        let variables = [
            (format!("MUNSHI__{name}"), value.clone()),
            (format!("MUNSHI__MODELS__{name}"), value.clone()),
            (format!("MUNSHI__MODELS__{name}__MODEL"), value.clone()),
            (format!("MUNSHI__MODELS__A__{name}"), value.clone()),
            ("MUNSHI__MODELS__A__HEADERS".to_owned(), value.clone()),
            ("MUNSHI__SERVER__LISTEN".to_owned(), value),
        ];
        let sources = ConfigSources::default().with_text("munshi.toml", text).with_variables(variables);
        match Config::load(&sources) {
            Ok(config) => prop_assert!(!config.show().to_string().is_empty()),
            Err(problems) => prop_assert!(problems.iter().count() > 0),
        }
    }
}

/// A host in a private network, with its port or, as older files have it, without one.
#[test]
fn a_private_host_has_a_port_or_none() {
    let text = |host: &str| format!("[connectors]\nprivate_hosts = [\"{host}\"]\n");
    for good in
        ["books.local", "books.local:8443", "10.0.0.1", "10.0.0.1:80", "fd00::1", "[fd00::1]:8443", "::1"]
    {
        let sources = ConfigSources::default().with_text("munshi.toml", text(good));
        assert_eq!(Config::load(&sources).unwrap().connectors.private_hosts, [good]);
    }
    for bad in
        ["books.local:", "books.local:0", "books.local:70000", "http://books.local", "a/b", "[::1]", ":80"]
    {
        assert!(refusal(&text(bad), &[]).contains("[fd00::1]:8443"), "{bad}");
    }
}
