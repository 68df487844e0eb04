//! `connectors.toml` as people write it.

use munshi_types::Effect;
use serde_json::{Map, Value};

use super::{ConnectorEntries, ConnectorEntry, ToolDeclaration};
use crate::error::{Error, Result};

/// Nobody needs more, and each may be a process.
const MOST: usize = 32;

/// What is wrong with the text, and where. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorFileError {
    pub line: usize,
    pub column: usize,
    pub what: String,
}

/// Reads the file, or says what is wrong with it and where.
pub fn parse_with_position(text: &str) -> std::result::Result<ConnectorEntries, ConnectorFileError> {
    let declared: ConnectorEntries = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        locate_error(text, at, error.message())
    })?;
    if declared.0.len() > MOST {
        return Err(locate_error(text, 0, &format!("at most {MOST} connectors are allowed")));
    }
    for (name, entry) in &declared.0 {
        if let Some(what) = find_problem(entry) {
            let at = text.find(&format!("[{name}]")).unwrap_or(0);
            return Err(locate_error(text, at, &format!("connector {name}: {what}")));
        }
    }
    Ok(declared)
}

/// The same for a text that is no file: the place stands in the words.
pub fn parse(text: &str) -> Result<ConnectorEntries> {
    parse_with_position(text)
        .map_err(|slip| Error::Invalid(format!("connectors.toml:{}: {}", slip.line, slip.what)))
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

fn locate_error(text: &str, at: usize, what: &str) -> ConnectorFileError {
    let before = text.get(..at).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
    ConnectorFileError { line, column, what: what.trim_end().replace('\n', "; ") }
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
        if !out.is_empty() {
            out.push('\n');
        }
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
        out.push_str(&format!("[{path}]\n"));
    }
    for (key, value) in plain {
        out.push_str(&format!("{} = {}\n", render_key(key), render_inline(value)));
    }
    for (key, value) in inner {
        if !out.ends_with("\n\n") && !out.is_empty() {
            out.push('\n');
        }
        write_table(&format!("{path}.{}", render_key(key)), value, out);
    }
}

fn render_key(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(plain) { key.to_owned() } else { quote(key) }
}

fn render_inline(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(render_inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let fields: Vec<String> = fields
                .map(|(key, value)| format!("{} = {}", render_key(key), render_inline(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        // TOML has no null; whatever is null is left out above.
        other => other.to_string(),
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
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
            ("[files]\ncommand = [\"x\"]\nenvironment = { A = \"vault:Not A Name\" }\n", 3, "secret"),
        ] {
            let slip = parse_with_position(text).unwrap_err();
            assert!(slip.what.contains(words) && slip.line == line, "{text}: {slip:?}");
        }
    }
}
