//! `GET /account/keys`: the API keys of the open workspace.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_identity::keys::{Area, AreaGrant, KeySpeaker};
use munshi_lang::PlaceholderValue;
use munshi_operations::execute;
use munshi_operations::keys::{KeyState, KeyView, ListKeys};
use munshi_pack::operation::ListInput;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::ApiError;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;

use crate::app::App;
use crate::app::api::Api;
use crate::operations::build_operator_call;

/// So many are shown; `munshi key list` shows all.
const MOST: u32 = 100;

#[derive(Template)]
#[template(path = "account/keys.html")]
struct KeysPage {
    frame: AccountFrame,
    items: Vec<Item>,
    /// A key's text, the one time.
    made: Option<CreatedKeyNotice>,
    roles: Vec<Role>,
    /// How the areas of a key are written.
    opens_hint: String,
}

pub(super) struct CreatedKeyNotice {
    pub(super) name: String,
    pub(super) text: String,
}

struct Item {
    id: String,
    name: String,
    begins: String,
    stands_for: String,
    talks_for: String,
    /// What it opens, and its times.
    line: String,
    state: KeyState,
}

impl Item {
    fn new(key: KeyView, frame: &AccountFrame) -> Self {
        let words = frame.words;
        Self {
            id: key.id.to_string(),
            begins: key.secrets.first().map(|secret| secret.handle.clone()).unwrap_or_default(),
            stands_for: match &key.role {
                Some(role) => words.role_name(role),
                None => words.render("a-person"),
            },
            talks_for: words.render(match key.speaks_as {
                KeySpeaker::Person => "a-person",
                KeySpeaker::Program => "a-program",
            }),
            line: render_summary(&key, frame),
            state: key.state,
            name: key.name,
        }
    }

    fn is_open(&self) -> bool {
        self.state == KeyState::Open
    }

    fn state(&self, words: &PagePhrases) -> String {
        words.render(match self.state {
            KeyState::Open => "state-open",
            KeyState::Ended => "state-ended",
            KeyState::Revoked => "state-revoked",
        })
    }
}

fn render_summary(key: &KeyView, frame: &AccountFrame) -> String {
    let words = frame.words;
    let areas = key.areas.as_ref();
    let areas = areas.map(|areas| areas.iter().map(AreaGrant::to_string).collect::<Vec<_>>().join(", "));
    let opens = areas.unwrap_or_else(|| words.render("all-reached"));
    let made = frame.format_time(key.made_at);
    let used = key.last_used_at.map_or_else(|| words.render("never"), |at| frame.format_time(at));
    let ends = key.expires_at.map_or_else(|| words.render("when-revoked"), |at| frame.format_time(at));
    let fills = [("opens", opens.as_str()), ("made", &made), ("used", &used), ("ends", &ends)];
    words.render_filled("key-line", &fills.map(|(slot, text)| (slot, PlaceholderValue::Text(text))))
}

pub(crate) async fn list_account_keys(
    State(app): State<App>,
    who: SignedInOperator,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let workspace = who.load_managed_workspace().await?;
    render_page(api, &who, &workspace, None, None, StatusCode::OK).await
}

pub(super) async fn render_page(
    api: &Api,
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    made: Option<CreatedKeyNotice>,
    told: Option<PageNotice>,
    status: StatusCode,
) -> Result<Response, HtmlPageError> {
    let call = build_operator_call(api, who, workspace).await?;
    let input = ListInput { limit: Some(MOST), ..ListInput::default() };
    let found = execute::<ListKeys>(&call, input).await.map_err(ApiError::from)?;
    let frame = AccountFrame::load(who, "keys", told).await?;
    let areas = Area::ALL.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let fills = [("areas", PlaceholderValue::Text(&areas)), ("read", PlaceholderValue::Text(":read"))];
    let page = KeysPage {
        items: found.items.into_iter().map(|key| Item::new(key, &frame)).collect(),
        opens_hint: frame.words.render_filled("opens-hint", &fills),
        frame,
        made,
        roles: Role::ALL.into_iter().rev().filter(|role| workspace.role <= *role).collect(),
    };
    Ok(render_uncached(&page, status))
}
