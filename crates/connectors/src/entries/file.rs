//! `connectors.toml` as people write it.

use munshi_toml::TomlError;
use munshi_toml::writer::{render_key, write_entries, write_heading};
use munshi_types::Effect;
use serde_json::{Map, Value};

use super::{ConnectorEntries, ConnectorEntry, ToolDeclaration};
use crate::error::{Error, Result};

/// Nobody needs more, and each may be a process.
pub const MOST: usize = 32;

/// Reads the file, or says what is wrong with it and where.
pub fn parse_with_position(text: &str) -> std::result::Result<ConnectorEntries, TomlError> {
    let declared: ConnectorEntries = munshi_toml::read(text)?;
    if declared.0.len() > MOST {
        return Err(TomlError::new(text, 0, &format!("at most {MOST} connectors are allowed")));
    }
    for (name, entry) in &declared.0 {
        if let Some(what) = find_problem(entry) {
            let at = text.find(&format!("[{name}]")).unwrap_or(0);
            return Err(TomlError::new(text, at, &format!("connector {name}: {what}")));
        }
    }
    Ok(declared)
}

/// The same for a text that is no file: the place stands in the words.
pub fn parse(text: &str) -> Result<ConnectorEntries> {
    parse_with_position(text)
        .map_err(|slip| Error::Invalid(format!("connectors.toml:{}: {}", slip.position.line, slip.what)))
}

fn find_problem(entry: &ConnectorEntry) -> Option<String> {
    if let Err(what) = entry.resolve_transport() {
        return Some(what);
    }
    let told = |(tool, declared): (&String, &ToolDeclaration)| {
        Some(format!("tool {tool}: {}", find_contradiction(declared)?))
    };
    entry.tools.iter().find_map(told)
}

fn find_contradiction(declared: &ToolDeclaration) -> Option<&'static str> {
    match declared.effect {
        Some(Effect::Inside) => {
            Some("effect must be read, keyed, checked or once; only a built-in pack may use inside")
        }
        Some(Effect::Checked) if declared.look_up.is_none() => {
            Some("a checked write needs look_up, which tells whether it happened; otherwise declare it once")
        }
        Some(effect) if effect.writes() && declared.cacheable == Some(true) => {
            Some("cacheable is only for read-only tools")
        }
        Some(effect) if effect.writes() && declared.transient == Some(true) => {
            Some("transient is only for read-only tools")
        }
        _ if declared.transient == Some(true) && declared.cacheable == Some(true) => {
            Some("a transient result is not kept, so it can't be cacheable")
        }
        _ if declared.consent.is_some() && declared.cacheable == Some(true) => {
            Some("a result that needs a person's consent can't be cacheable")
        }
        _ if declared.timeout_seconds.is_some_and(|seconds| !(1..=600).contains(&seconds)) => {
            Some("timeout_seconds must be 1 to 600")
        }
        _ if declared
            .soft_seconds
            .is_some_and(|soft| soft == 0 || soft >= declared.timeout_seconds.unwrap_or(600)) =>
        {
            Some("soft_seconds must be at least 1 and less than timeout_seconds")
        }
        _ => None,
    }
}

/// Without what is so anyway.
pub fn to_map(declared: &ConnectorEntries) -> Result<Map<String, Value>> {
    match serde_json::to_value(declared) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Error::Invalid("connectors must be a table".to_owned())),
        Err(error) => Err(Error::Invalid(error.to_string())),
    }
}

/// As a file, in the order of the keys' importance.
pub fn to_toml(declared: &ConnectorEntries) -> Result<String> {
    let mut out = String::new();
    for (name, entry) in to_map(declared)? {
        write_table(&name, &entry, &mut out);
    }
    Ok(out)
}

/// Plain values first, then tables within, since in TOML everything behind a heading belongs to it.
fn write_table(path: &str, value: &Value, out: &mut String) {
    let Some(fields) = value.as_object() else { return };
    let is_table = |key: &str, value: &Value| {
        value.is_object() && matches!(key, "tools" | "look_up") || path.ends_with(".tools")
    };
    let (inner, plain): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, value)| is_table(key, value));
    if !plain.is_empty() || inner.is_empty() {
        write_heading(&format!("[{path}]"), out);
    }
    write_entries(plain, out);
    for (key, value) in inner {
        write_table(&format!("{path}.{}", render_key(key)), value, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::{ConnectorTransport, MaybeSecret};

    const FILE: &str = r#"
[files]
command = ["files-server", "/srv/share"]
environment = { API_KEY = "vault:files.key", MODE = "quiet" }

[files.tools.write_file]
effect = "keyed"
scope = "file.write"
always = true
words = { hi = ["file likho"] }

[files.tools."move file"]
effect = "checked"

[files.tools."move file".look_up]
tool = "stat"
arguments = { path = "{to}" }
found = "/size"

[books]
url = "https://books.example.com/mcp"
token = "vault:books"
timeout_seconds = 5
"#;

    #[test]
    fn a_file_is_read_and_written_as_it_was() {
        let declared = parse_with_position(FILE).unwrap();
        let files = &declared.0[&"files".parse().unwrap()];
        assert_eq!(files.resolve_transport(), Ok(ConnectorTransport::Child));
        assert!(matches!(files.environment["API_KEY"], MaybeSecret::Secret(_)));
        assert_eq!(files.environment["MODE"], MaybeSecret::Plain("quiet".to_owned()));
        assert_eq!(files.tools["write_file"].effect, Some(Effect::Keyed));
        let text = to_toml(&declared).unwrap();
        assert_eq!(parse_with_position(&text).unwrap(), declared, "{text}");
        assert_eq!(to_toml(&parse_with_position(&text).unwrap()).unwrap(), text);
    }

    #[test]
    fn what_can_not_be_is_named_with_its_place() {
        for (text, line, words) in [
            ("\n[files]\n", 2, "set how to reach it"),
            ("[files]\ncommand = [\"x\"]\nurl = \"https://x\"\n", 1, "exactly one of"),
            ("[files]\nurl = \"ftp://x\"\n", 1, "https://"),
            ("[files]\nurl = \"https://u:p@x\"\n", 1, "no password"),
            ("[files]\ncommand = [\"x\"]\ntimeout_seconds = 0\n", 1, "1 to 600"),
            ("[Files]\ncommand = [\"x\"]\n", 1, "connector name"),
            ("[files]\ncomand = [\"x\"]\n", 2, "comand"),
            ("[files]\ncommand = [\"x\"]\nenvironment = { \"A=B\" = \"x\" }\n", 1, "variable"),
            ("[files]\ncommand = [\"x\"]\n[files.tools.a]\neffect = \"inside\"\n", 1, "built-in pack"),
            ("[files]\ncommand = [\"x\"]\n[files.tools.a]\neffect = \"checked\"\n", 1, "look_up"),
            (
                "[files]\ncommand = [\"x\"]\n[files.tools.a]\neffect = \"once\"\ntransient = true\n",
                1,
                "read-only",
            ),
            ("[files]\ncommand = [\"x\"]\nenvironment = { A = \"vault:Not A Name\" }\n", 3, "secret"),
        ] {
            let slip = parse_with_position(text).unwrap_err();
            assert!(slip.what.contains(words) && slip.position.line == line, "{text}: {slip:?}");
        }
    }
}
