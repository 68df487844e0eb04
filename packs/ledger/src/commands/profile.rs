//! `munshi ledger profile`: who keeps the books, shown and set.

use async_trait::async_trait;
use munshi_pack::{
    PackArgument, PackArgumentKind, PackArgumentValues, PackCommand, PackCommandCall, PackCommandError,
};
use munshi_store::Tx;
use serde_json::json;

use crate::books::details;
use crate::books::profile::{self, ShopProfile};
use crate::error::Result;
use crate::tax::find_state_number;

pub(super) struct SetProfileCommand;

const fn value(name: &'static str, about: &'static str) -> PackArgument {
    PackArgument { name, about, kind: PackArgumentKind::Value }
}

const ARGUMENTS: &[PackArgument] = &[
    value("business", "The shop's name"),
    value("owner", "The owner's name"),
    value("trade", "Its trade: kirana, clothes, medicine"),
    value("place", "Its address, as bills show it"),
    value("state", "Its two-digit state code, such as 27; a GSTIN implies it"),
    value("phone", "Its phone number"),
    value("upi", "Its UPI address: name@bank"),
    value("gstin", "Its GSTIN"),
    value("scheme", "Its GST scheme: unregistered, regular or composition"),
    value("confirm-above", "Ask the owner first above this amount in rupees"),
];

#[async_trait]
impl PackCommand for SetProfileCommand {
    fn name(&self) -> &'static str {
        "profile"
    }

    fn about(&self) -> &'static str {
        "Show the shop's profile; with options, update it"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        ARGUMENTS
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let (given, now) = (call.given.clone(), call.now);
        let is_change = self.arguments().iter().any(|argument| given.has(argument.name));
        let profile = match is_change {
            false => call.db.read(call.tenant, profile::get).await?,
            true => {
                let unit = move |tx: &mut Tx<'_>| -> Result<ShopProfile> {
                    let known = apply_changes(&given, profile::get(tx)?)?;
                    profile::save(tx, &known, now)?;
                    profile::get(tx)
                };
                call.db.write(call.tenant, unit).await?
            }
        };
        call.out.print_result(&json!(profile), &render_profile(&profile))
    }
}

fn apply_changes(given: &PackArgumentValues, mut profile: ShopProfile) -> Result<ShopProfile> {
    let said = |name: &str| given.one(name).map(str::to_owned);
    for (name, part) in [
        ("business", &mut profile.business),
        ("owner", &mut profile.owner),
        ("trade", &mut profile.trade),
        ("place", &mut profile.place),
        ("state", &mut profile.state),
    ] {
        if let Some(value) = said(name) {
            *part = value;
        }
    }
    // An empty word takes it away.
    for (name, part) in [("phone", &mut profile.phone), ("upi", &mut profile.upi)] {
        if let Some(value) = said(name) {
            *part = (!value.is_empty()).then_some(value);
        }
    }
    if let Some(value) = said("gstin") {
        profile.gstin = if value.is_empty() { None } else { Some(details::parse_gstin(&value)?) };
        if let Some(state) = profile.gstin.as_deref().and_then(find_state_number) {
            state.clone_into(&mut profile.state);
        }
    }
    if let Some(value) = said("scheme") {
        profile.scheme = value.parse()?;
    }
    if let Some(value) = said("confirm-above") {
        profile.confirm_above = value.parse()?;
    }
    Ok(profile)
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
    let lines =
        rows.iter().map(|(name, value)| format!("{name:<14} {}", if value.is_empty() { "-" } else { value }));
    lines.collect::<Vec<_>>().join("\n")
}
