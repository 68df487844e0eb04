//! `GET /account`: who is signed in, and what they look after.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_lang::PlaceholderValue;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_types::TenantName;

use crate::routes::home::binding_links::{self, BindingLink};

/// More workspaces are listed without whom one can talk to there.
const LOOKED_INTO: usize = 12;

#[derive(Template)]
#[template(path = "account/show.html")]
struct AccountPage {
    frame: AccountFrame,
    workspaces: Vec<Item>,
    /// What a keeper does who has none yet.
    none_yet: String,
    keeper: bool,
}

struct Item {
    name: TenantName,
    role: Role,
    /// Whom one can talk to there.
    doors: Vec<BindingLink>,
}

pub(crate) async fn show_account(who: SignedInOperator) -> Result<Response, HtmlPageError> {
    let mut workspaces = Vec::new();
    for (at, one) in who.list_workspaces().await?.into_iter().enumerate() {
        let doors = if at < LOOKED_INTO {
            binding_links::list_for_tenant(&who.access, &one.tenant).await?
        } else {
            Vec::new()
        };
        workspaces.push(Item { name: one.tenant.name, role: one.role, doors });
    }
    let commands = [("apply", "“munshi apply tenants/NAME”"), ("add", "“munshi tenant add NAME”")];
    let commands = commands.map(|(slot, text)| (slot, PlaceholderValue::Text(text)));
    let page = AccountPage {
        frame: AccountFrame::load(&who, "", None).await?,
        workspaces,
        none_yet: who.words.render_filled("no-workspace-yet", &commands),
        keeper: who.operator.keeper,
    };
    Ok(render_uncached(&page, StatusCode::OK))
}
