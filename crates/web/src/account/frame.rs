//! What every page of the account shows around its own.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use munshi_types::Timestamp;

use super::phrases::PagePhrases;
use super::signed_in_operator::{OpenWorkspace, SignedInOperator};
use crate::error::ApiError;
use crate::pages::HtmlPage;

/// Who is here, and where else they can go.
pub(crate) struct AccountFrame {
    pub(crate) words: PagePhrases,
    pub(crate) name: String,
    pub(crate) email: String,
    /// What forms carry.
    pub(crate) form: String,
    /// None for who looks after none.
    pub(crate) workspace: Option<OpenWorkspace>,
    /// More than one to choose from.
    pub(crate) others: Vec<String>,
    /// The page that is open, as its path ends.
    pub(crate) here: &'static str,
    /// What came of a form.
    pub(crate) told: Option<PageNotice>,
}

/// What a page says at its top.
pub(crate) struct PageNotice {
    pub(crate) good: bool,
    pub(crate) words: String,
    /// More of it, in English, where `words` are in another language and say less; else empty.
    pub(crate) detail: String,
}

impl PageNotice {
    pub(crate) fn success(words: impl Into<String>) -> Option<Self> {
        Some(Self { good: true, words: words.into(), detail: String::new() })
    }

    pub(crate) fn failure(words: impl Into<String>) -> Option<Self> {
        Some(Self { good: false, words: words.into(), detail: String::new() })
    }
}

impl AccountFrame {
    pub(crate) async fn load(
        who: &SignedInOperator,
        here: &'static str,
        told: Option<PageNotice>,
    ) -> Result<Self, ApiError> {
        let workspace = who.find_open_workspace().await?;
        let all = who.list_workspaces().await?;
        let others = if all.len() > 1 {
            all.iter().map(|one| one.tenant.name.to_string()).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            words: who.words,
            name: who.operator.name.clone(),
            email: who.operator.email.clone(),
            form: who.form_token(),
            workspace,
            others,
            here,
            told,
        })
    }

    pub(crate) fn workspace_name(&self) -> &str {
        self.workspace.as_ref().map_or("", |workspace| workspace.tenant.name.as_str())
    }

    /// Whether they look after who comes in.
    pub(crate) fn can_manage(&self) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| workspace.role <= munshi_identity::Role::Admin)
    }

    /// A moment by the clock of the open workspace.
    pub(crate) fn format_time(&self, at: Timestamp) -> String {
        self.words.format_time(at, self.workspace.as_ref().map(|workspace| &workspace.tenant))
    }

    pub(crate) fn is_page(&self, page: &str) -> bool {
        self.here == page
    }

    pub(crate) fn is_workspace(&self, name: &str) -> bool {
        self.workspace_name() == name
    }
}

/// A page that nobody keeps a copy of, not even the browser's way back. The referrer stays with us: with none at all,
/// browsers would not say that a form is ours.
pub(crate) fn render_uncached<T: Template>(page: &T, status: StatusCode) -> Response {
    let mut response = HtmlPage(page).into_response();
    if response.status().is_success() {
        *response.status_mut() = status;
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
