//! Regular expressions for what is recognised by its shape.

use regex::Regex;

/// One expression for all shapes. Letters, digits, spaces and the edges of words are those of ASCII: what is looked for
/// is written so, and the others would make the search slow on text of other scripts.
pub(crate) fn compile_any(shapes: &[&str]) -> Option<Regex> {
    let ascii = |shape: &&str| {
        let shape = shape
            .replace(r"\b", r"(?-u:\b)")
            .replace(r"\w", "[0-9A-Za-z_]")
            .replace(r"\d", "[0-9]")
            .replace(r"\s", r"[ \t\r\n]")
            .replace(r"\S", "[!-~]");
        format!("(?:{shape})")
    };
    Regex::new(&shapes.iter().map(ascii).collect::<Vec<_>>().join("|")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_found_beside_other_scripts() {
        let found = compile_any(&[r"(?i)\bab\d+\b", r"\bX\s\w"]).unwrap();
        assert!(
            found.is_match("யAB12।")
                && found.is_match("X y")
                && !found.is_match("cab12")
                && !found.is_match("x y")
        );
    }
}
