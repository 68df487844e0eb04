//! What is not shown of connectors: secrets that stand in the file itself.

use munshi_pack::operation::OperationCaller;
use munshi_tiers::ApplyPlan;
use munshi_tiers::plan::FieldChange;
use serde_json::Value;

use super::rules::CONNECTORS;

/// What may be a secret, behind the connector's name.
const SECRET_FIELDS: [&str; 5] = ["token", "headers", "environment", "logins", "client"];
const MASK: &str = "(not shown)";

/// The plans as their answer shows them. Whoever sits at the machine holds the database.
pub(super) fn mask_secrets(caller: &OperationCaller, mut plans: Vec<ApplyPlan>) -> Vec<ApplyPlan> {
    if caller.is_machine() {
        return plans;
    }
    let files = plans.iter_mut().flat_map(|plan| &mut plan.files);
    for change in files.filter(|file| file.what == CONNECTORS) {
        change.fields.iter_mut().for_each(mask_field);
    }
    plans
}

fn mask_field(field: &mut FieldChange) {
    let is_secret = field.key.split('.').skip(1).any(|part| SECRET_FIELDS.contains(&part));
    if !is_secret {
        return;
    }
    for value in [&mut field.before, &mut field.after].into_iter().flatten() {
        // The name of a secret is none.
        if !value.as_str().is_some_and(|text| text.starts_with("vault:")) {
            *value = Value::from(MASK);
        }
    }
    field.lines.clear();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_masked_and_its_name_is_not() {
        let field = |key: &str, before: Value, after: Value| {
            let mut field = FieldChange {
                key: key.to_owned(),
                before: Some(before),
                after: Some(after),
                lines: Vec::new(),
            };
            mask_field(&mut field);
            (field.before.unwrap(), field.after.unwrap())
        };
        let (mask, name) = (json!(MASK), json!("vault:pay.key"));
        assert_eq!(field("pay.token", json!("t0p"), name.clone()), (mask.clone(), name));
        assert_eq!(field("pay.headers.x-key", json!("t0p"), json!("s3c")), (mask.clone(), mask.clone()));
        assert_eq!(field("pay.client.secret", json!("t0p"), json!(["s3c"])), (mask.clone(), mask));
        let open = (json!("https://a.example"), json!("https://b.example"));
        assert_eq!(field("token.url", open.0.clone(), open.1.clone()), open, "a connector may be called so");
    }
}
