//! Joins modules to one script and files to one style sheet, without what only authors read.
//!
//! A module of ours keeps to what this understands: every `import` is one line, `export` stands at the beginning of a
//! line, no text goes over a line's end, and no name stands at the top of two modules of a bundle. A test sees to it.

/// A script of its own scope, so that nothing of it is seen by others on the page.
pub(super) fn script(modules: &[&str], style: Option<&str>) -> String {
    let mut out = String::from("(()=>{\"use strict\";\n");
    if let Some(style) = style {
        // A text in JSON is one in JavaScript.
        let text = serde_json::Value::from(style);
        out.push_str(&format!("const STYLE={text};\n"));
    }
    for line in modules.iter().flat_map(|module| module.lines()).map(str::trim) {
        if line.is_empty() || line.starts_with("//") || line.starts_with("import ") {
            continue;
        }
        out.push_str(line.strip_prefix("export ").unwrap_or(line));
        // Where a line can't end a statement by itself, nothing is lost with its end.
        if !line.ends_with([';', '{', ',', '(']) {
            out.push('\n');
        }
    }
    out.push_str("})();\n");
    out
}

pub(super) fn style(files: &[&str]) -> String {
    let mut out = String::new();
    for file in files {
        let mut rest = *file;
        let mut bare = String::with_capacity(file.len());
        while let Some((before, after)) = rest.split_once("/*") {
            bare.push_str(before);
            rest = after.split_once("*/").map_or("", |(_, after)| after);
        }
        bare.push_str(rest);
        for line in bare.lines().map(str::trim).filter(|line| !line.is_empty()) {
            // Spaces that mean nothing; those around + and - in a sum do.
            let spaces = [(" {", "{"), ("{ ", "{"), ("; }", "}"), (": ", ":"), ("; ", ";"), (", ", ",")];
            out.push_str(&spaces.iter().fold(line.to_owned(), |text, (from, to)| text.replace(from, to)));
            if !line.ends_with(['}', ';', '{']) {
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::SCRIPTS;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn modules_become_one_script() {
        let one = "// Why.\nimport { b } from \"./b.js\";\n\nexport function a() {\n  return b();\n}\n";
        let joined = script(&["export const b = () => 1;\n", one], None);
        let wanted = "(()=>{\"use strict\";\nconst b = () => 1;function a() {return b();}\n})();\n";
        assert_eq!(joined, wanted);
    }

    #[test]
    fn a_sheet_loses_its_comments_alone() {
        assert_eq!(
            style(&["/* why\n */\na .b { c: d; e: calc(1px + 2px); }\n\n  /* x */ f, g {}\n"]),
            "a .b{c:d;e:calc(1px + 2px)}f,g{}"
        );
    }

    #[test]
    fn our_modules_keep_to_what_is_understood() {
        let modules: BTreeMap<&str, ()> =
            SCRIPTS.iter().flat_map(|(_, modules)| modules.iter()).map(|text| (*text, ())).collect();
        for module in modules.keys() {
            for line in module.lines() {
                assert!(
                    line.replace("```", "").matches('`').count() % 2 == 0,
                    "a text goes over the line: {line}"
                );
                assert!(!line.starts_with("import ") || line.ends_with(';'), "{line}");
                let is_joined = [";", "{", ",", "("].iter().any(|end| line.contains(&format!("{end} //")));
                assert!(!is_joined, "a comment has a line of its own: {line}");
                assert!(!line.contains("/*") && !line.contains("*/"), "only // is taken out: {line}");
                assert!(!line.starts_with("export default") && !line.starts_with("export {"), "{line}");
                assert!(!line.contains("innerHTML") && !line.contains("insertAdjacentHTML"), "{line}");
            }
        }
    }

    #[test]
    fn no_name_stands_at_the_top_of_two_modules() {
        for (name, modules) in SCRIPTS {
            let mut seen = BTreeMap::new();
            for (at, module) in modules.iter().enumerate() {
                for word in module.lines().filter_map(top) {
                    let before = seen.insert(word.to_owned(), at);
                    assert!(before.is_none(), "{word} stands in two modules of {name}");
                }
            }
        }
    }

    /// The name that a line at the top of a module gives.
    fn top(line: &str) -> Option<&str> {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let kinds = ["function ", "const ", "let ", "class "];
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|word| !word.is_empty())
    }
}
