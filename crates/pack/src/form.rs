//! Forms on a pack's pages: what they carry, and what comes of them.

use crate as munshi_pack;
use crate::html::Html;
use crate::page::PackPageContent;

/// What makes a form one of ours: the token of the browser it is shown in, and a key under which it is carried out once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackFormKeys {
    token: String,
    once: String,
}

impl PackFormKeys {
    pub fn new(token: String, once: String) -> Self {
        Self { token, once }
    }

    /// The hidden fields, for a template to put into its form.
    pub fn render(&self) -> askama::Result<Html> {
        #[derive(askama::Template)]
        #[template(
            ext = "html",
            source = r#"<input type="hidden" name="form" value="{{ token }}"><input type="hidden" name="once" value="{{ once }}">"#
        )]
        struct Fields<'a> {
            token: &'a str,
            once: &'a str,
        }
        Html::render(&Fields { token: &self.token, once: &self.once })
    }
}

/// What somebody typed into a form, decoded, in its order. The fields of [`PackFormKeys`] are not among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackForm(Vec<(String, String)>);

impl PackForm {
    pub fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// What stands under a name, trimmed; empty where nothing does.
    pub fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default().trim()
    }

    pub fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What comes of a form.
#[derive(Clone, Debug, PartialEq)]
pub enum PackFormOutcome {
    /// It is done; the browser goes on to this path below the pack, with what is asked behind a `?` where there is one.
    Redirect(String),
    /// It can't be done as it is: the page again, with what is wrong. Nothing is changed.
    Invalid(PackPageContent),
    /// What is named by the path's rest is not there.
    Gone,
}
