//! `GET /account/operators`: who looks after the open workspace, and who was invited to.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::Role;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::{OPERATORS, roles};
use munshi_lang::PlaceholderValue;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::Timestamp;

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
    pub(super) link: String,
    pub(super) ends: Timestamp,
}

impl OperatorLinkNotice {
    fn render_text(&self, frame: &AccountFrame) -> String {
        let ends = frame.format_time(self.ends);
        let fills = [("email", PlaceholderValue::Text(&self.email)), ("ends", PlaceholderValue::Text(&ends))];
        frame.words.render_filled("link-made", &fills)
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

pub(crate) async fn list_operators(who: SignedInOperator) -> Result<Response, HtmlPageError> {
    let workspace = who.load_managed_workspace().await?;
    render_page(&who, &workspace, None, None, StatusCode::OK).await
}

pub(super) async fn render_page(
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    made: Option<OperatorLinkNotice>,
    told: Option<PageNotice>,
    status: StatusCode,
) -> Result<Response, HtmlPageError> {
    let (tenant, now) = (workspace.tenant.id, who.access.clock.now());
    let read = move |tx: &mut PlatformTx<'_>| -> Result<_, munshi_identity::Error> {
        Ok((roles::list_members(tx, tenant)?, links::list_invitations(tx, tenant, now)?))
    };
    let (members, open) = who.access.db.platform(OPERATORS).read(read).await?;
    let items = members.into_iter().map(|member| Item {
        id: member.operator.id.to_string(),
        own: member.operator.id == who.operator.id,
        reached: workspace.role <= member.role,
        name: member.operator.name,
        email: member.operator.email,
        role: member.role,
    });
    let frame = AccountFrame::load(who, "operators", told).await?;
    let invitations = open.into_iter().filter_map(|link| match link.purpose {
        LinkPurpose::Invitation { email, place: InvitationScope::Workspace { role, .. } } => {
            Some(Invitation {
                id: link.id.to_string(),
                email,
                role,
                ends: frame.words.render_with("until", "ends", &frame.format_time(link.ends_at)),
                reached: workspace.role <= role,
            })
        }
        _ => None,
    });
    let page = OperatorsPage {
        made_words: made.as_ref().map(|made| made.render_text(&frame)).unwrap_or_default(),
        items: items.collect(),
        invitations: invitations.collect(),
        made,
        frame,
        roles: Role::ALL.into_iter().rev().filter(|role| workspace.role <= *role).collect(),
    };
    Ok(render_uncached(&page, status))
}
