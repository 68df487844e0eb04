//! What every change of somebody is held to.

use munshi_identity::keys::{self, ApiKeyCache, ApiKeyRecord, KeySpeaker};
use munshi_identity::{ContactAddress, ContactAddressError, Person, Role, persons};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_store::{AdminTx, Tx};
use munshi_types::{Language, LanguageError, Timestamp, is_invisible};
use serde_json::json;

const MOST_TAGS: usize = 50;
const MOST_ADDRESSES: usize = 20;

/// The person that is meant, held until the transaction ends, where they stand no higher than the caller.
pub(super) fn lock_covered(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    given: &str,
) -> Result<Person, OperationError> {
    let found = super::find(tx, given)?.id;
    let person = persons::lock_living(tx, found)?;
    let person = person.ok_or_else(|| OperationError::not_found("person", given))?;
    check_covered(caller, &person)?;
    Ok(person)
}

pub(super) fn check_covered(caller: &OperationCaller, person: &Person) -> Result<(), OperationError> {
    if caller.covers_role(person.role) {
        return Ok(());
    }
    let what = "This person has a higher role than the key.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Ask an owner of the workspace."))
}

/// Roles are given and taken by owners and admins, and none above their own; not by programs, who could make themselves the
/// person that confirms what they write.
pub(super) fn check_role_change(
    caller: &OperationCaller,
    before: Option<Role>,
    after: Option<Role>,
) -> Result<(), OperationError> {
    check_not_program(caller, "A key that speaks as a program can't change roles.")?;
    let may = caller.covers_role(Some(Role::Admin));
    if may && caller.covers_role(before) && caller.covers_role(after) {
        return Ok(());
    }
    Err(OperationError::new(OperationErrorCode::Forbidden, "This key may not assign or remove that role.")
        .hint("Owners and admins assign roles up to their own: ask an owner of the workspace."))
}

/// Whoever holds an address of a member speaks as them.
pub(super) fn check_member_address(
    caller: &OperationCaller,
    role: Option<Role>,
) -> Result<(), OperationError> {
    if role.is_none() {
        return Ok(());
    }
    check_not_program(caller, "A key that speaks as a program can't give a member another address.")?;
    if caller.covers_role(Some(Role::Admin)) {
        return Ok(());
    }
    let what = "Only owners and admins give a member another address.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Ask an owner of the workspace."))
}

/// A scope may be more than any role below an owner's has.
pub(super) fn check_scope_change(caller: &OperationCaller) -> Result<(), OperationError> {
    check_not_program(caller, "A key that speaks as a program can't grant or deny scopes.")?;
    if caller.covers_role(Some(Role::Owner)) {
        return Ok(());
    }
    let what = "Only owners grant and deny scopes.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Ask an owner of the workspace."))
}

pub(super) fn check_not_program(caller: &OperationCaller, what: &str) -> Result<(), OperationError> {
    if caller.speaks_as() != KeySpeaker::Program {
        return Ok(());
    }
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Use the account page, `munshi person set`, or a key that speaks as a person."))
}

pub(super) fn check_last_owner(tx: &mut Tx<'_>, person: &Person) -> Result<(), OperationError> {
    if person.role == Some(Role::Owner) && persons::is_last_owner(tx, person.id)? {
        let what = format!("{} is the last owner; a workspace needs at least one.", call_by_name(person));
        return Err(OperationError::new(OperationErrorCode::Conflict, what)
            .hint("Make another person an owner first."));
    }
    Ok(())
}

/// Ends the keys that somebody has made, where they are less than they were.
pub(super) fn revoke_keys(
    tx: &mut AdminTx<'_, '_>,
    known: &ApiKeyCache,
    before: &Person,
    after: &Person,
    now: Timestamp,
) -> Result<(), OperationError> {
    let revoked = keys::revoke_after_role_loss(tx, before, after, now)?;
    note_revoked(tx, known, &revoked, "its maker lost the role that made it");
    Ok(())
}

/// Tells the audit, and this node once it is committed.
pub(super) fn note_revoked(
    tx: &mut AdminTx<'_, '_>,
    known: &ApiKeyCache,
    revoked: &[ApiKeyRecord],
    why: &str,
) {
    for key in revoked {
        let payload = json!({ "name": key.name, "why": why });
        tx.note("api_key.revoked", key.id.to_string(), payload);
    }
    let (known, ids) = (known.clone(), revoked.iter().map(|key| key.id).collect::<Vec<_>>());
    tx.after_commit(move || known.invalidate(&ids));
}

/// No address that is another's.
pub(super) fn check_addresses_free(
    tx: &mut Tx<'_>,
    person: &Person,
    addresses: &[ContactAddress],
) -> Result<(), OperationError> {
    for address in addresses {
        if let Some(other) = persons::find_by_address(tx, address)?
            && other.id != person.id
        {
            let name = call_by_name(&other);
            let (left, hint) = match other.left_at {
                Some(_) => {
                    (", who left", format!("If they are back: `munshi person set {} --back`.", other.id))
                }
                None => ("", "An address belongs to one person only; see `munshi person list`.".to_owned()),
            };
            let what = format!("{address} belongs to {name}{left} ({}).", other.id);
            return Err(OperationError::new(OperationErrorCode::Conflict, what).hint(hint));
        }
    }
    Ok(())
}

pub(super) fn call_by_name(person: &Person) -> &str {
    if person.name.is_empty() { "This person" } else { &person.name }
}

pub(super) fn parse_name(text: &str) -> Result<String, OperationError> {
    let name = text.trim();
    if (1..=200).contains(&name.chars().count()) && !name.chars().any(is_invisible) {
        return Ok(name.to_owned());
    }
    let what = "must be 1 to 200 characters on one line, without invisible characters";
    Err(OperationError::field("name", what))
}

pub(super) fn parse_tags(texts: Vec<String>) -> Result<Vec<String>, OperationError> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if texts.len() > MOST_TAGS {
        return Err(OperationError::field("tags", "at most 50 are allowed"));
    }
    match texts.iter().find(|tag| !(1..=64).contains(&tag.chars().count()) || !tag.chars().all(plain)) {
        Some(bad) => {
            let shown: String = bad.chars().take(80).collect();
            let what = format!("invalid tag `{shown}`: use letters, digits and dashes");
            Err(OperationError::field("tags", &what))
        }
        None => Ok(texts),
    }
}

pub(super) fn parse_language(text: &str) -> Result<Language, OperationError> {
    text.parse().map_err(|error: LanguageError| OperationError::field("language", &error.to_string()))
}

/// Addresses as they are given, each under the name of its kind or with all others.
#[derive(Default)]
pub(super) struct GivenAddresses<'a> {
    pub(super) phone: Option<&'a str>,
    pub(super) email: Option<&'a str>,
    pub(super) handle: Option<&'a str>,
    pub(super) others: &'a [String],
}

impl GivenAddresses<'_> {
    pub(super) fn parse(&self) -> Result<Vec<ContactAddress>, OperationError> {
        type Read = fn(&str) -> Result<ContactAddress, ContactAddressError>;
        if self.others.len() > MOST_ADDRESSES {
            return Err(OperationError::field("addresses", "at most 20 are allowed"));
        }
        let named: [(&str, Option<&str>, Read); 3] = [
            ("phone", self.phone, ContactAddress::phone),
            ("email", self.email, ContactAddress::email),
            ("handle", self.handle, ContactAddress::handle),
        ];
        let named = named.into_iter().filter_map(|(field, text, read)| Some((field, text?, read)));
        let others = self.others.iter().map(|text| ("addresses", text.as_str(), choose_kind(text)));
        let mut all = Vec::new();
        for (field, text, read) in named.chain(others) {
            let address = read(text).map_err(|error| OperationError::field(field, &error.to_string()))?;
            if !all.contains(&address) {
                all.push(address);
            }
        }
        Ok(all)
    }
}

fn choose_kind(text: &str) -> fn(&str) -> Result<ContactAddress, ContactAddressError> {
    match text {
        handle if handle.starts_with('@') => ContactAddress::handle,
        email if email.contains('@') => ContactAddress::email,
        _ => ContactAddress::phone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_looked_at() {
        assert_eq!(parse_name(" Raju शर्मा ").unwrap(), "Raju शर्मा");
        for bad in ["", " ", "a\nb", "A\u{202e}", "A\0", &"a".repeat(201)] {
            assert!(parse_name(bad).is_err(), "{bad:?}");
        }
        let tags = |tags: &[&str]| parse_tags(tags.iter().map(|&tag| tag.to_owned()).collect());
        assert!(tags(&["shop-1"]).is_ok() && tags(&["a b"]).is_err() && tags(&[""]).is_err());
        assert!(tags(&["x"; 51]).is_err());
    }

    #[test]
    fn an_address_says_its_kind() {
        let others = ["98123 45678", "A@Shop.Example", "@Raju", "+919812345678"].map(str::to_owned);
        let given = GivenAddresses { phone: Some("+919812345678"), others: &others, ..Default::default() };
        let kinds: Vec<&str> = given.parse().unwrap().iter().map(|one| one.kind().as_str()).collect();
        assert_eq!(kinds, ["phone", "email", "handle"]);
        let bad = ["call me".to_owned()];
        assert!(GivenAddresses { others: &bad, ..Default::default() }.parse().is_err());
    }
}
