//! `GET /account/keys`: the API keys of the open workspace.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_identity::keys::{self, Area, Carries, Grant, Key};
use munshi_store::PageRequest;
use munshi_types::Timestamp;

use crate::account::fault::Fault;
use crate::account::frame::{Frame, Told, moment, sent};
use crate::account::signed_in::{SignedIn, Workspace};

/// So many are shown; `munshi key list` shows all.
const MOST: u32 = 100;

#[derive(Template)]
#[template(path = "account/keys.html")]
struct KeysPage {
    frame: Frame,
    items: Vec<Item>,
    /// A key's text, the one time.
    made: Option<Made>,
    roles: Vec<Role>,
    areas: &'static [Area],
}

pub(super) struct Made {
    pub(super) name: String,
    pub(super) text: String,
}

struct Item {
    id: String,
    name: String,
    begins: String,
    stands_for: String,
    opens: String,
    made: String,
    used: String,
    ends: String,
    state: &'static str,
}

impl Item {
    fn of(key: Key, now: Timestamp) -> Self {
        let state = match (key.revoked_at, key.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(end)) if end <= now => "ended",
            (None, _) => "open",
        };
        let areas = key.areas.map(|areas| areas.iter().map(Grant::to_string).collect::<Vec<_>>().join(", "));
        Self {
            id: key.id.to_string(),
            begins: key.secrets.first().map(|secret| secret.handle.clone()).unwrap_or_default(),
            stands_for: match key.carries {
                Carries::Role(role) => role.to_string(),
                Carries::Person(_) => "a person".to_owned(),
            },
            opens: areas.unwrap_or_else(|| "all its role reaches".to_owned()),
            made: moment(key.made_at),
            used: key.last_used_at.map_or_else(|| "never".to_owned(), moment),
            ends: key.expires_at.map_or_else(|| "when it is revoked".to_owned(), moment),
            name: key.name,
            state,
        }
    }

    fn is_open(&self) -> bool {
        self.state == "open"
    }
}

pub(crate) async fn list_account_keys(who: SignedIn) -> Result<Response, Fault> {
    let workspace = who.managed().await?;
    page(&who, &workspace, None, None, StatusCode::OK).await
}

pub(super) async fn page(
    who: &SignedIn,
    workspace: &Workspace,
    made: Option<Made>,
    told: Option<Told>,
    status: StatusCode,
) -> Result<Response, Fault> {
    let request = PageRequest::new(None, MOST);
    let found = who.api.db.read(workspace.tenant.id, move |tx| keys::list(tx, &request)).await?;
    let now = who.api.clock.now();
    let page = KeysPage {
        frame: Frame::of(who, "keys", told).await?,
        items: found.items.into_iter().map(|key| Item::of(key, now)).collect(),
        made,
        roles: Role::ALL.into_iter().rev().filter(|role| workspace.role <= *role).collect(),
        areas: Area::ALL,
    };
    Ok(sent(&page, status))
}
