//! `policy.toml` as people write it.

use munshi_toml::TomlError;

use super::{ConsentPurpose, Policy};
use crate::error::{Error, Result};

/// Reads a policy, or says what is wrong with it and where.
pub fn parse_file(text: &str) -> std::result::Result<Policy, TomlError> {
    let policy: Policy = munshi_toml::read(text)?;
    // No database keeps it, and nobody means it.
    let has_nul = |text: &String| text.contains('\0');
    let listed: Vec<String> = policy.redaction.fields.clone().into();
    let named = policy.messages.iter().flat_map(|message| [&message.template, &message.audience]);
    let has_nul_pack = policy.packs.listed().any(|pack| pack.contains('\0'));
    if named.chain(policy.connectors.keys()).chain(&listed).any(has_nul)
        || has_nul_pack
        || policy.residency.holds_nul()
        || policy.consent.purposes.values().any(ConsentPurpose::holds_nul)
    {
        let at = text.find("\\u0000").or_else(|| text.find("\\U00000000")).unwrap_or(0);
        return Err(TomlError::new(text, at, "the text contains a NUL character: remove it"));
    }
    Ok(policy)
}

/// The same for a text that is no file: the place stands in the words.
pub fn parse(text: &str) -> Result<Policy> {
    parse_file(text)
        .map_err(|slip| Error::Invalid(format!("policy.toml:{}: {}", slip.position.line, slip.what)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_identity::Role;
    use munshi_types::{Autonomy, ToolSpec};

    #[test]
    fn a_policy_is_read_as_written() {
        let policy = parse(
            r#"
            most_autonomy = "propose"
            [connectors.ledger]
            autonomy = "act"
            read = ["ledger.*"]
            write = ["ledger.sale.*"]
            deny = ["ledger.sale.cancel"]
            [roles.staff]
            deny = ["ledger.report.*"]
            [[messages]]
            tool = "send_reminder"
            template = "payment-due"
            audience = "customers"
            "#,
        )
        .unwrap();
        assert_eq!(policy.most_autonomy, Some(Autonomy::Propose));
        assert!(policy.conduct("ledger", None).unwrap().allows("ledger.sale.add", true));
        assert!(policy.conduct("mail", None).is_none(), "nothing is open by itself");
        assert_eq!(policy.roles.0[&Role::Staff].deny.len(), 1);
        let tool = ToolSpec::read_only("send_reminder".parse().unwrap(), "", "ledger.reminder.send");
        let authorised: Vec<_> = policy.list_authorised(&tool, "payment-due").collect();
        assert_eq!(
            (authorised.len(), authorised[0].audience.as_str(), authorised[0].per_day()),
            (1, "customers", 20)
        );
        assert_eq!(policy.approvals.hours, 24);
    }

    #[test]
    fn a_slip_is_named_with_its_line() {
        for (text, line) in [
            ("\n\nautonomy = \"act\"\n", "policy.toml:3"),
            ("[connectors.x]\nautonomy = \"always\"\n", "policy.toml:2"),
            ("[connectors.x]\nread = [\"a b\"]\n", "policy.toml:2"),
            ("[approvals]\nhours = 0\n", "policy.toml:2: approvals.hours must be from 1 to 720"),
            ("[approvals]\nhours = 70000\n", "policy.toml:2: approvals.hours must be from 1 to 720"),
            (
                "[[messages]]\ntool = \"send\"\ntemplate = \"due\"\naudience = \"all\"\nper_day = 0\n",
                "messages.per_day must be from 1 to 10000",
            ),
            ("[connectors.\"a\\u0000b\"]\n", "policy.toml:1: the text contains a NUL character"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
