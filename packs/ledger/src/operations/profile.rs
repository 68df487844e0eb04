//! Who keeps the books, shown and changed.

use munshi_identity::Role;
use munshi_identity::keys::{ApiAccess, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, PackCall,
    PackServices, RenderView, RouteMethod, render_as,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use utoipa::ToSchema;

use crate::books::details;
use crate::books::profile::{self, ShopProfile};
use crate::error::Result;
use crate::tax::find_state_number;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadProfileInput {}

pub(super) struct ReadProfile;

impl Operation<PackServices> for ReadProfile {
    type Input = ReadProfileInput;
    type View = ShopProfile;

    const SPEC: OperationSpec = OperationSpec {
        resource: "ledger-profiles",
        noun: "ledger profile",
        command: "ledger profile",
        verb: "show",
        about: "Show the shop's profile.",
        needs: CallerClass::Scope {
            scope: "ledger.profile.read",
            access: ApiAccess::Read,
            least: Role::Viewer,
        },
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/packs/ledger/profile",
    };

    const RENDER: Option<RenderView> = Some(|view| render_as(view, render_profile));

    async fn run(call: &PackCall, _: ReadProfileInput) -> Result<ShopProfile, OperationError> {
        call.read(|tx| Ok(profile::get(tx)?)).await
    }
}

/// What is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeProfileInput {
    /// The shop's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    business: Option<String>,
    /// The owner's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// Its trade: kirana, clothes, medicine.
    #[serde(skip_serializing_if = "Option::is_none")]
    trade: Option<String>,
    /// Its address, as bills show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Its two-digit state code, such as 27; a GSTIN implies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Its phone number; an empty text takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    /// Its UPI address, name@bank; an empty text takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    upi: Option<String>,
    /// Its GSTIN; an empty text takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    gstin: Option<String>,
    /// Its GST scheme: unregistered, regular or composition.
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<String>,
    /// Ask the owner first above this amount in rupees.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_above: Option<String>,
}

pub(super) struct ChangeProfile;

/// What the audit hears.
const CHANGED: &str = "ledger.profile_changed";

impl Operation<PackServices> for ChangeProfile {
    type Input = ChangeProfileInput;
    type View = ShopProfile;

    const SPEC: OperationSpec = OperationSpec {
        resource: "ledger-profiles",
        noun: "ledger profile",
        command: "ledger profile",
        verb: "set",
        about: "Show the shop's profile; with options, update it.",
        needs: CallerClass::Scope {
            scope: "ledger.profile.change",
            access: ApiAccess::Write,
            least: Role::Admin,
        },
        effect: OperationEffect::Write(&[CHANGED]),
        method: RouteMethod::Patch,
        path: "/v1/packs/ledger/profile",
    };

    const RENDER: Option<RenderView> = Some(|view| render_as(view, render_profile));

    async fn run(call: &PackCall, input: ChangeProfileInput) -> Result<ShopProfile, OperationError> {
        let now = call.now;
        let is_for_people = input.upi.is_some() || input.confirm_above.is_some();
        if is_for_people && call.caller.speaks_as() == KeySpeaker::Program {
            let what = "Where people pay to, and above what the owner is asked, is changed by a person.";
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint("Use a key that speaks as a person, or `munshi ledger profile`."));
        }
        call.write(move |tx| {
            let before = profile::get(tx)?;
            profile::save(tx, &input.apply_to(before.clone())?, now)?;
            let after = profile::get(tx)?;
            tx.note(CHANGED, "profile".to_owned(), list_changes(&before, &after));
            Ok(after)
        })
        .await
    }
}

impl ChangeProfileInput {
    fn apply_to(&self, mut profile: ShopProfile) -> Result<ShopProfile> {
        for (said, part) in [
            (&self.business, &mut profile.business),
            (&self.owner, &mut profile.owner),
            (&self.trade, &mut profile.trade),
            (&self.place, &mut profile.place),
            (&self.state, &mut profile.state),
        ] {
            if let Some(value) = said {
                part.clone_from(value);
            }
        }
        for (said, part) in [(&self.phone, &mut profile.phone), (&self.upi, &mut profile.upi)] {
            if let Some(value) = said {
                *part = (!value.is_empty()).then(|| value.clone());
            }
        }
        if let Some(value) = &self.gstin {
            profile.gstin = if value.is_empty() { None } else { Some(details::parse_gstin(value)?) };
            if let Some(state) = profile.gstin.as_deref().and_then(find_state_number) {
                state.clone_into(&mut profile.state);
            }
        }
        if let Some(value) = &self.scheme {
            profile.scheme = value.parse()?;
        }
        if let Some(value) = &self.confirm_above {
            profile.confirm_above = value.parse()?;
        }
        Ok(profile)
    }
}

/// Which parts are others now; of people's numbers not which they are.
fn list_changes(before: &ShopProfile, after: &ShopProfile) -> serde_json::Value {
    let (before, after) = (json!(before), json!(after));
    let fields = after.as_object().into_iter().flatten();
    let changed = fields.filter(|(name, value)| before[name.as_str()] != **value);
    let told = changed.map(|(name, value)| match name.as_str() {
        "business" | "trade" | "state" | "scheme" | "confirm_above" => (name.clone(), value.clone()),
        _ => (name.clone(), json!("changed")),
    });
    told.collect::<Map<_, _>>().into()
}

fn render_profile(profile: &ShopProfile) -> String {
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let rows = [
        ("business", profile.business.clone()),
        ("owner", profile.owner.clone()),
        ("trade", profile.trade.clone()),
        ("place", profile.place.clone()),
        ("state", profile.state.clone()),
        ("phone", some(&profile.phone)),
        ("upi", some(&profile.upi)),
        ("gstin", some(&profile.gstin)),
        ("scheme", profile.scheme.to_string()),
        ("confirm above", munshi_lang::format::rupees(profile.confirm_above)),
    ];
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:<14} {}\n", if value.is_empty() { "-" } else { value }));
    lines.collect()
}
