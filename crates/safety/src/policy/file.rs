//! `policy.toml` as people write it.

use super::Policy;
use crate::error::{Error, Result};

/// Reads a policy. A slip is named with its place and what may stand there.
pub fn parse(text: &str) -> Result<Policy> {
    let policy: Policy = toml::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        Error::Invalid(format!("policy.toml:{line}: {}", error.message()))
    })?;
    if !(1..=24 * 30).contains(&policy.approvals.hours) {
        return Err(Error::Invalid(
            "policy.toml: approvals.hours is 1 to 720: how long an approval is waited for".to_owned(),
        ));
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_identity::Role;
    use munshi_types::Autonomy;

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
        let tool = "send_reminder".parse().unwrap();
        assert_eq!(policy.authorises(&tool, "payment-due").collect::<Vec<_>>(), ["customers"]);
        assert_eq!(policy.approvals.hours, 24);
    }

    #[test]
    fn a_slip_is_named_with_its_line() {
        for (text, line) in [
            ("\n\nautonomy = \"act\"\n", "policy.toml:3"),
            ("[connectors.x]\nautonomy = \"always\"\n", "policy.toml:2"),
            ("[connectors.x]\nread = [\"a b\"]\n", "policy.toml:2"),
            ("[approvals]\nhours = 0\n", "approvals.hours"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
