//! Pages of a pack, for the console. The web floor asks, frames and sends them.

use askama::Template;
use munshi_identity::Principal;
use munshi_store::{AdminTx, Result, Tx};
use munshi_types::tier::LanguageCode;
use munshi_types::{Reach, Timestamp, Zone};
use serde_json::Value;

use crate::form::{PackForm, PackFormKeys, PackFormOutcome};
use crate::html::Html;

pub trait PackPageHandler: Send + Sync {
    /// Where it stands below the pack: `overdue`, `contacts/phones`. The pack's first page is at the empty path.
    fn path(&self) -> &'static str;

    /// What a policy opens and closes, beginning with the pack: `ledger.overdue.read`. Whoever shows the page asks first
    /// whether the person may see this.
    fn scope(&self) -> &'static str;

    /// From how far out it may be seen.
    fn reach(&self) -> Reach {
        Reach::Business
    }

    /// Whether it opens by a key of its own, such as the unguessable end of a link, to somebody who may not see its scope.
    /// What it opens is what that key is for, and not for ever.
    fn allows_link_access(&self, _tx: &mut Tx<'_>, _visit: &PackPageRequest) -> Result<bool> {
        Ok(false)
    }

    /// The page, or none where what is named by the path's rest is not there. It only reads.
    fn show(&self, tx: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>>;

    /// What a policy must leave open to whoever sends the page's form; none where it has no form. Links of the page's own never
    /// open it.
    fn write_scope(&self) -> Option<&'static str> {
        None
    }

    /// Carries out a form, once however often it is sent, and notes it for the audit with an event that begins with the pack's name.
    /// What it wrote is undone unless it redirects.
    fn submit(
        &self,
        _tx: &mut AdminTx<'_, '_>,
        _visit: &PackPageRequest,
        _form: &PackForm,
    ) -> Result<PackFormOutcome> {
        Ok(PackFormOutcome::Gone)
    }
}

/// Who looks at a page, and at what of it.
#[derive(Clone, Debug)]
pub struct PackPageRequest {
    pub principal: Principal,
    /// What follows the page's own path: `17` of `overdue/17`.
    pub rest: String,
    /// What was asked behind the `?`, decoded.
    pub query: Vec<(String, String)>,
    pub language: Option<LanguageCode>,
    pub now: Timestamp,
    /// The tenant's: its days begin by it.
    pub zone: Zone,
    /// What a form on the page carries; none for whoever is not signed in, who can send none.
    pub form: Option<PackFormKeys>,
}

impl PackPageRequest {
    /// The hidden fields of a form, for a template: `{{ fields|safe }}`. Empty for whoever can send none.
    pub fn render_form_fields(&self) -> Result<String> {
        let Some(form) = &self.form else { return Ok(String::new()) };
        let html = form.render().map_err(|error| munshi_store::Error::Decode(error.to_string()))?;
        Ok(html.as_str().to_owned())
    }
}

/// What is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PackPageContent {
    pub title: String,
    pub body: PackPageBody,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PackPageBody {
    /// A fragment; the frame around it is the console's.
    Html(Html),
    /// For a live part of a page, or a program.
    Json(Value),
}

impl PackPageContent {
    /// A page from a template of the pack.
    pub fn html(title: impl Into<String>, template: &impl Template) -> Result<Self> {
        let html = Html::render(template).map_err(|error| munshi_store::Error::Decode(error.to_string()))?;
        Ok(Self { title: title.into(), body: PackPageBody::Html(html) })
    }

    pub fn json(title: impl Into<String>, value: Value) -> Self {
        Self { title: title.into(), body: PackPageBody::Json(value) }
    }
}
