//! A Rust file as tokens. Tokens reach into macros, which a syntax tree does not.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

/// The file's tokens, or the line where it stops being Rust.
pub fn read(text: &str) -> Result<Vec<TokenTree>, usize> {
    match TokenStream::from_str(text) {
        Ok(stream) => Ok(stream.into_iter().collect()),
        Err(error) => Err(error.span().start().line),
    }
}

/// Shows every token of the tree, each with its neighbours.
pub fn visit_all(tokens: &[TokenTree], visit: &mut dyn FnMut(&[TokenTree], usize)) {
    for (at, token) in tokens.iter().enumerate() {
        visit(tokens, at);
        if let TokenTree::Group(group) = token {
            visit_all(&group_tokens(group), visit);
        }
    }
}

pub fn group_tokens(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

pub fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

pub fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

pub fn as_group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// The macro called at this place and what it is given: `format` and the tokens of `format!(…)`.
pub fn macro_call(tokens: &[TokenTree], at: usize) -> Option<(String, &Group)> {
    match (tokens.get(at), tokens.get(at + 1), tokens.get(at + 2)) {
        (Some(TokenTree::Ident(name)), sign, Some(TokenTree::Group(group))) if is_sign(sign, '!') => {
            Some((name.to_string(), group))
        }
        _ => None,
    }
}

/// What a string literal says; `None` for any other literal.
pub fn text_of(literal: &Literal) -> Option<String> {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

pub fn line_of(token: &TokenTree) -> usize {
    token.span().start().line
}
