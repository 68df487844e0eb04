//! `across_tenants(…)`: the word that lets a statement see every tenant.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenTree};

use crate::tokens;

/// What the call that begins here is given.
pub(super) fn find_call(tokens: &[TokenTree], at: usize) -> Option<&Group> {
    let arguments = tokens::as_group(tokens.get(at + 1), Delimiter::Parenthesis);
    arguments.filter(|_| tokens::is_word(tokens.get(at), "across_tenants"))
}

/// Where the text stands in `let name = "…";` or `let name = ("…", "…");`, when all that is done with the name
/// in the rest of its block is `across_tenants(name)`.
pub(super) fn find_bound_text(tokens: &[TokenTree], at: usize) -> Option<Range<usize>> {
    let Some(TokenTree::Ident(name)) = tokens.get(at + 1).filter(|_| tokens::is_word(tokens.get(at), "let"))
    else {
        return None;
    };
    let text = at + 3;
    let bound = tokens::is_sign(tokens.get(at + 2), '=') && tokens::is_sign(tokens.get(text + 1), ';');
    if !bound || !tokens.get(text).is_some_and(is_text) {
        return None;
    }
    let (mut mentions, mut calls) = (0, 0);
    tokens::visit_all(&tokens[text + 1..], &mut |siblings, at| {
        let is_method = at > 0 && tokens::is_sign(siblings.get(at - 1), '.');
        mentions += usize::from(!is_method && tokens::is_word(siblings.get(at), &name.to_string()));
        calls +=
            usize::from(find_call(siblings, at).is_some_and(|given| contains_only(given, &name.to_string())));
    });
    (calls > 0 && calls == mentions).then_some(text..text + 1)
}

/// A literal, or literals in brackets.
fn is_text(token: &TokenTree) -> bool {
    match token {
        TokenTree::Literal(_) => true,
        TokenTree::Group(group) => {
            let inside = tokens::group_tokens(group);
            let plain = |token: &TokenTree| {
                matches!(token, TokenTree::Literal(_)) || tokens::is_sign(Some(token), ',')
            };
            group.delimiter() == Delimiter::Parenthesis && inside.iter().all(plain)
        }
        _ => false,
    }
}

fn contains_only(given: &Group, name: &str) -> bool {
    let inside = tokens::group_tokens(given);
    inside.len() == 1 && tokens::is_word(inside.first(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_for_the_door(code: &str) -> bool {
        find_bound_text(&tokens::read(code).unwrap(), 0).is_some()
    }

    #[test]
    fn a_text_that_only_goes_through_the_door_is_known() {
        assert!(is_for_the_door("let text = \"x\"; tx.run(across_tenants(text))"));
        assert!(is_for_the_door(
            "let text = (\"x\", \"y\"); a(move |tx| { tx.run(across_tenants(text), p) });"
        ));
    }

    #[test]
    fn any_other_use_keeps_it_a_tenants_statement() {
        for code in [
            "let text = \"x\";",
            "let text = \"x\"; tx.run(text)",
            "let text = \"x\"; tx.run(across_tenants(text)); tx.run(text)",
            "let text = \"x\"; let other = text; tx.run(across_tenants(other))",
            "let text = \"x\"; let text = \"y\"; tx.run(across_tenants(text))",
            "let text = \"x\"; tx.run(across_tenants((text, text)))",
            "let text = pick(\"x\"); tx.run(across_tenants(text))",
            "let text = (\"x\", other); tx.run(across_tenants(text))",
        ] {
            assert!(!is_for_the_door(code), "{code}");
        }
    }
}
