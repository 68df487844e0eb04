//! The string literals of a Rust file, with what is said around them.

use proc_macro2::{Delimiter, TokenTree};

use super::platform_scope;
use crate::sql_formatting::{self, FORMATTING};
use crate::tokens;

/// Whose rows a statement may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The tenant's that is bound as `$1`.
    Tenant,
    /// Everybody's: it stands inside `across_tenants(…)`.
    Platform,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    pub text: String,
    pub line: usize,
    pub whose: Whose,
}

/// Every literal outside of tests, attributes and formatting. A file that is not Rust has none; another rule
/// tells of it.
pub fn read(text: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    if let Ok(tokens) = tokens::read(text) {
        add(&tokens, Whose::Tenant, &mut found);
    }
    found
}

fn add(tokens: &[TokenTree], whose: Whose, found: &mut Vec<Literal>) {
    let mut at = 0;
    while at < tokens.len() {
        at = match attribute(tokens, at) {
            Some(attribute) if attribute.is_test => find_item_end(tokens, attribute.end),
            Some(attribute) => attribute.end,
            None => match platform_scope::find_bound_text(tokens, at) {
                Some(text) => {
                    add(&tokens[text.clone()], Whose::Platform, found);
                    text.end
                }
                None => add_one(tokens, at, whose, found),
            },
        };
    }
}

/// Adds what begins here and says where the next thing begins.
fn add_one(tokens: &[TokenTree], at: usize, whose: Whose, found: &mut Vec<Literal>) -> usize {
    if let Some((name, group)) = tokens::macro_call(tokens, at) {
        let given = tokens::group_tokens(group);
        if name == "concat" {
            let line = tokens::line_of(&tokens[at]);
            found.extend(sql_formatting::join_literals(&given).map(|text| Literal { text, line, whose }));
            return at + 3;
        }
        if FORMATTING.contains(&name.as_str()) {
            add(&without_first_literal(given), whose, found);
            return at + 3;
        }
    }
    if let Some(group) = platform_scope::find_call(tokens, at) {
        add(&tokens::group_tokens(group), Whose::Platform, found);
        return at + 2;
    }
    match &tokens[at] {
        TokenTree::Group(group) => add(&tokens::group_tokens(group), whose, found),
        TokenTree::Literal(literal) => {
            let line = tokens::line_of(&tokens[at]);
            found.extend(tokens::text_of(literal).map(|text| Literal { text, line, whose }));
        }
        _ => {}
    }
    at + 1
}

/// The template of a formatting macro: SQL there is another rule's finding.
fn without_first_literal(mut given: Vec<TokenTree>) -> Vec<TokenTree> {
    if let Some(at) = given.iter().position(|token| matches!(token, TokenTree::Literal(_))) {
        given.remove(at);
    }
    given
}

struct Attribute {
    end: usize,
    is_test: bool,
}

/// `#[…]` or `#![…]`; a doc comment is one too.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<Attribute> {
    if !tokens::is_sign(tokens.get(at), '#') {
        return None;
    }
    let bracket = if tokens::is_sign(tokens.get(at + 1), '!') { at + 2 } else { at + 1 };
    let given = tokens::group_tokens(tokens::as_group(tokens.get(bracket), Delimiter::Bracket)?);
    Some(Attribute { end: bracket + 1, is_test: is_test(&given) })
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`, `#[tokio::test]`.
fn is_test(given: &[TokenTree]) -> bool {
    let (mut test, mut not) = (false, false);
    tokens::visit_all(given, &mut |siblings, at| {
        test |= tokens::is_word(siblings.get(at), "test");
        not |= tokens::is_word(siblings.get(at), "not");
    });
    test && !not
}

/// Past the item that begins here: its other attributes, then up to its body or semicolon.
fn find_item_end(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(attribute) = attribute(tokens, at) {
        at = attribute.end;
    }
    let ends = |token: &TokenTree| {
        tokens::is_sign(Some(token), ';') || tokens::as_group(Some(token), Delimiter::Brace).is_some()
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |offset| at + offset + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &str) -> Vec<(String, Whose)> {
        read(code).into_iter().map(|literal| (literal.text, literal.whose)).collect()
    }

    #[test]
    fn literals_are_found_wherever_they_stand() {
        for code in [
            "const A: &str = \"SELECT 1\";",
            "fn a() { tx.query(\"SELECT 1\", params![x]) }",
            "fn a() { my_macro! { deep => [(\"SELECT 1\", x)] } }",
            "fn a() { let b = r#\"SELECT 1\"#; }",
            "fn a() { b(\"SELECT \\\n    1\") }",
            "const A: &str = concat!(\"SELECT \", \"1\");",
            "fn a() { format!(\"{}\", b(\"SELECT 1\")) }",
            "#[cfg(not(test))] fn a() { b(\"SELECT 1\") }",
            "#[inline] fn a() { b(\"SELECT 1\") }",
        ] {
            assert_eq!(texts(code), [("SELECT 1".to_owned(), Whose::Tenant)], "{code}");
        }
    }

    #[test]
    fn the_door_is_recognised_and_ends_with_its_bracket() {
        let code = "fn a() { tx.get(across_tenants((\"one\", \"two\")), \"three\"); store::across_tenants(\"four\") }";
        let platform = |text: &str| (text.to_owned(), Whose::Platform);
        let tenant = ("three".to_owned(), Whose::Tenant);
        assert_eq!(texts(code), [platform("one"), platform("two"), tenant, platform("four")]);
        assert_eq!(texts("m!(across_tenants(\"x\"))"), [platform("x")]);
        let named =
            "fn a() { let text = (\"one\", \"two\"); tx.get(across_tenants(text)) } fn b() { c(\"three\") }";
        let tenant = ("three".to_owned(), Whose::Tenant);
        assert_eq!(texts(named), [platform("one"), platform("two"), tenant]);
    }

    #[test]
    fn tests_attributes_and_templates_are_left_out() {
        for code in [
            "/// SELECT the best\nfn a() {}",
            "#[error(\"DELETE it\")] struct A;",
            "#[cfg(test)]\nmod tests { const A: &str = \"SELECT 1\"; }",
            "#[cfg(all(test, unix))] #[allow(x)] mod tests { const A: &str = \"SELECT 1\"; }",
            "#[test] fn a() { b(\"SELECT 1\") }",
            "#[cfg(test)] const A: &str = \"SELECT 1\";",
            "fn a() { format!(\"SELECT {x}\") }",
            "const A: &[u8] = b\"SELECT 1\"; const B: char = 'S';",
        ] {
            assert_eq!(texts(code), [], "{code}");
        }
        let code = "#[cfg(test)]\nuse x;\nfn a() {\n  b(\"one\") }";
        assert_eq!(read(code), [Literal { text: "one".to_owned(), line: 4, whose: Whose::Tenant }]);
    }
}
