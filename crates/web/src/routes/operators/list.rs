//! `GET /account/operators`: who looks after the open workspace, and who was invited to.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use munshi_identity::Role;
use munshi_lang::PlaceholderValue;
use munshi_operations::NameListInput;
use munshi_operations::execute;
use munshi_operations::invitations::ListInvitations;
use munshi_operations::operators::{LinkDelivery, ListOperators, OneTimeLinkView, OperatorView};
use munshi_pack::operation::ListInput;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::ApiError;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::page_error::HtmlPageError;
use munshi_types::Timestamp;

use crate::app::App;
use crate::app::api::Api;
use crate::operations::build_operator_call;

/// So many are shown; `munshi operator list` shows all.
const MOST: u32 = 500;

#[derive(Template)]
#[template(path = "account/operators.html")]
struct OperatorsPage {
    frame: AccountFrame,
    items: Vec<Item>,
    invitations: Vec<Invitation>,
    /// A link, the one time.
    made: Option<OperatorLinkNotice>,
    made_words: String,
    roles: Vec<Role>,
}

pub(super) struct OperatorLinkNotice {
    /// Who it is for.
    pub(super) email: String,
    /// None where it went to them by mail.
    pub(super) link: Option<String>,
    pub(super) delivery: LinkDelivery,
    /// Why it did not go by mail, though it could have: as the log has it.
    pub(super) not_mailed: Option<String>,
    pub(super) ends: Timestamp,
}

impl OperatorLinkNotice {
    /// The link as it is reached from this browser, where the settings say no address.
    pub(super) fn new(who: &SignedInOperator, headers: &HeaderMap, made: OneTimeLinkView) -> Self {
        let link = made.link.map(|link| {
            let path = link.rfind("/account/link/").and_then(|at| link.get(at..));
            path.map_or_else(|| link.clone(), |path| who.access.build_url(headers, path))
        });
        let email = made.sent_to.or(made.email).unwrap_or_default();
        Self { email, link, delivery: made.delivery, not_mailed: made.not_mailed, ends: made.ends_at }
    }

    fn render_text(&self, frame: &AccountFrame) -> String {
        let ends = frame.format_time(self.ends);
        let (email, ends) = (PlaceholderValue::Text(&self.email), PlaceholderValue::Text(&ends));
        match self.delivery {
            LinkDelivery::Shown => {
                frame.words.render_filled("link-made", &[("email", email), ("ends", ends)])
            }
            LinkDelivery::Mailed => {
                frame.words.render_filled("link-sent", &[("email", email), ("ends", ends)])
            }
            LinkDelivery::Unknown => frame.words.render_filled("link-unknown", &[("email", email)]),
        }
    }
}

struct Item {
    id: String,
    name: String,
    email: String,
    role: Role,
    own: bool,
    /// Stands no higher than whoever looks.
    reached: bool,
}

struct Invitation {
    id: String,
    email: String,
    role: Role,
    ends: String,
    /// To no more than whoever looks has.
    reached: bool,
}

pub(crate) async fn list_operators(
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
    made: Option<OperatorLinkNotice>,
    told: Option<PageNotice>,
    status: StatusCode,
) -> Result<Response, HtmlPageError> {
    let call = build_operator_call(api, who, workspace).await?;
    let input = NameListInput { limit: Some(MOST), ..NameListInput::default() };
    let operators = execute::<ListOperators>(&call, input).await.map_err(ApiError::from)?;
    let input = ListInput { limit: Some(MOST), ..ListInput::default() };
    let open = execute::<ListInvitations>(&call, input).await.map_err(ApiError::from)?;
    let frame = AccountFrame::load(who, "operators", told).await?;
    let invitations = open.items.into_iter().filter_map(|one| {
        let role = one.role?;
        Some(Invitation {
            id: one.id.to_string(),
            email: one.email,
            role,
            ends: frame.words.render_with("until", "ends", &frame.format_time(one.ends_at)),
            reached: workspace.role <= role,
        })
    });
    let page = OperatorsPage {
        made_words: made.as_ref().map(|made| made.render_text(&frame)).unwrap_or_default(),
        items: list_members(who, workspace, operators.items),
        invitations: invitations.collect(),
        made,
        frame,
        roles: Role::ALL.into_iter().rev().filter(|role| workspace.role <= *role).collect(),
    };
    Ok(render_uncached(&page, status))
}

/// Those with a role in the workspace, the highest first.
fn list_members(who: &SignedInOperator, workspace: &OpenWorkspace, all: Vec<OperatorView>) -> Vec<Item> {
    let items = all.into_iter().filter_map(|one| {
        let role = one.roles.iter().find(|given| given.tenant == workspace.tenant.name)?.role;
        Some(Item {
            id: one.id.to_string(),
            own: one.id == who.operator.id,
            reached: workspace.role <= role,
            name: one.name,
            email: one.email,
            role,
        })
    });
    let mut items: Vec<Item> = items.collect();
    items.sort_by_key(|item| item.role);
    items
}
