//! What a role may see and do. Patterns over scopes: a module is `ledger.*`, one tool its own scope.

use std::collections::BTreeMap;

use munshi_types::{Reach, ScopeGlob};
use serde::{Deserialize, Serialize};

use crate::principal::{Principal, PrincipalStanding};
use crate::role::Role;

/// Modules about the business itself: for owners and admins, unless a tenant opens them.
const HOUSE: [&str; 5] = ["members", "policy", "billing", "vault", "audit"];

/// What a tenant says about its roles; where it says nothing, the role's own nature counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PermissionRules(pub BTreeMap<Role, RoleRules>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoleRules {
    /// Instead of what the role may do by nature.
    pub allow: Option<Vec<ScopeGlob>>,
    pub deny: Vec<ScopeGlob>,
    /// What it may approve of others' acts, beside owners and admins.
    pub approve: Vec<ScopeGlob>,
}

/// Why somebody may not, and who could let them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingPermission {
    pub what: String,
    /// The lowest role that could do it; none where only another door would help.
    pub ask: Option<Role>,
}

/// Whether the principal may use what has this scope. A deny wins over everything that opens.
pub fn authorize(
    who: &Principal,
    rules: &PermissionRules,
    scope: &str,
    writes: bool,
    reach: Reach,
) -> Result<(), MissingPermission> {
    let closed = who.closed.iter().find(|glob| glob.matches_loosely(scope));
    if let Some(glob) = closed {
        return Err(MissingPermission {
            what: format!("{glob} is denied to this person"),
            ask: Some(Role::Owner),
        });
    }
    if who.standing == PrincipalStanding::Service {
        let is_open = who.opened.iter().any(|glob| glob.matches(scope));
        let what = || format!("{scope} is not opened to this work");
        return if is_open {
            Ok(())
        } else {
            Err(MissingPermission { what: what(), ask: Some(Role::Owner) })
        };
    }
    let PrincipalStanding::Member(role) = who.standing else {
        let open = match who.standing {
            PrincipalStanding::Known => reach >= Reach::Person,
            _ => reach >= Reach::Anyone,
        };
        let what = || "this is for members only".to_owned();
        return if open { Ok(()) } else { Err(MissingPermission { what: what(), ask: Some(Role::Owner) }) };
    };
    if let Some(glob) = find_denial(rules, role, scope) {
        return Err(MissingPermission {
            what: format!("{glob} is denied to {role}"),
            ask: find_nearest_role(rules, role, scope, writes),
        });
    }
    if who.opened.iter().any(|glob| glob.matches(scope)) || role_allows(rules, role, scope, writes) {
        return Ok(());
    }
    let verb = if writes { "change" } else { "see" };
    Err(MissingPermission {
        what: format!("{role} may not {verb} {scope}"),
        ask: find_nearest_role(rules, role, scope, writes),
    })
}

/// Whether the principal may have done what only the owner's word allows: whoever owns or runs the business, and those to
/// whom its very scope was opened. A pattern over many opens none of these.
pub fn has_owner_authority(who: &Principal, rules: &PermissionRules, scope: &str) -> bool {
    let Some(role) = who.role() else { return false };
    let listed = rules.0.get(&role).and_then(|own| own.allow.as_ref());
    let mut named = who.opened.iter().chain(listed.into_iter().flatten());
    matches!(role, Role::Owner | Role::Admin) || named.any(|glob| glob.as_str() == scope)
}

/// Whether the principal may say yes to somebody else's act.
pub fn may_approve(who: &Principal, rules: &PermissionRules, scope: &str) -> bool {
    let Some(role) = who.role() else { return false };
    if who.closed.iter().any(|glob| glob.matches_loosely(scope)) {
        return false;
    }
    match role {
        Role::Owner => true,
        Role::Admin => find_denial(rules, role, scope).is_none(),
        Role::Staff | Role::Viewer => {
            let listed = rules.0.get(&role).is_some_and(|own| own.approve.iter().any(|g| g.matches(scope)));
            listed && find_denial(rules, role, scope).is_none()
        }
    }
}

fn find_denial<'a>(rules: &'a PermissionRules, role: Role, scope: &str) -> Option<&'a ScopeGlob> {
    if role == Role::Owner {
        return None;
    }
    rules.0.get(&role)?.deny.iter().find(|glob| glob.matches_loosely(scope))
}

fn role_allows(rules: &PermissionRules, role: Role, scope: &str, writes: bool) -> bool {
    let listed = rules.0.get(&role).and_then(|own| own.allow.as_ref());
    let module = scope.split(['.', '/']).next().unwrap_or_default();
    let by_nature = match role {
        Role::Owner | Role::Admin => true,
        Role::Staff | Role::Viewer => !HOUSE.contains(&module),
    };
    let open = match (role, listed) {
        (Role::Owner, _) | (_, None) => by_nature,
        (_, Some(globs)) => globs.iter().any(|glob| glob.matches(scope)),
    };
    open && (role != Role::Viewer || !writes)
}

/// The nearest role that could do it.
fn find_nearest_role(rules: &PermissionRules, role: Role, scope: &str, writes: bool) -> Option<Role> {
    Role::ALL.into_iter().rev().filter(|other| *other < role).find(|other| {
        find_denial(rules, *other, scope).is_none() && role_allows(rules, *other, scope, writes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{PersonId, TenantId};
    use uuid::Uuid;

    fn member(role: Role) -> Principal {
        Principal::member(TenantId::PLATFORM, PersonId::from_uuid(Uuid::nil()), role)
    }

    fn globs(texts: &[&str]) -> Vec<ScopeGlob> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn may(who: &Principal, rules: &PermissionRules, scope: &str, writes: bool) -> bool {
        authorize(who, rules, scope, writes, Reach::Business).is_ok()
    }

    #[test]
    fn roles_have_a_nature() {
        let none = PermissionRules::default();
        for (role, see, write, house) in [
            (Role::Owner, true, true, true),
            (Role::Admin, true, true, true),
            (Role::Staff, true, true, false),
            (Role::Viewer, true, false, false),
        ] {
            let who = member(role);
            assert_eq!(may(&who, &none, "ledger.sale.add", false), see, "{role} sees");
            assert_eq!(may(&who, &none, "ledger.sale.add", true), write, "{role} writes");
            assert_eq!(may(&who, &none, "members.role", false), house, "{role} and the house");
        }
    }

    #[test]
    fn a_refusal_says_whom_to_ask() {
        let lacking = authorize(
            &member(Role::Viewer),
            &PermissionRules::default(),
            "ledger.sale.add",
            true,
            Reach::Business,
        );
        assert_eq!(lacking.unwrap_err().ask, Some(Role::Staff));
        let lacking = authorize(
            &member(Role::Staff),
            &PermissionRules::default(),
            "members.role",
            true,
            Reach::Business,
        );
        assert_eq!(lacking.unwrap_err().ask, Some(Role::Admin));
    }

    #[test]
    fn a_tenant_opens_and_closes_and_a_deny_wins() {
        let staff = RoleRules {
            allow: Some(globs(&["ledger.*", "members.list"])),
            deny: globs(&["ledger.sale.cancel"]),
            approve: globs(&["ledger.sale.*"]),
        };
        let rules = PermissionRules(BTreeMap::from([(Role::Staff, staff)]));
        let mut who = member(Role::Staff);
        assert!(may(&who, &rules, "ledger.sale.add", true) && may(&who, &rules, "members.list", false));
        assert!(!may(&who, &rules, "crm.lead.add", true), "only what is listed");
        assert!(!may(&who, &rules, "LEDGER.sale.cancel".to_lowercase().as_str(), true));
        who.opened = globs(&["crm.*", "ledger.sale.cancel"]);
        assert!(may(&who, &rules, "crm.lead.add", true));
        assert!(!may(&who, &rules, "ledger.sale.cancel", true), "opening does not pass a deny");
        assert!(may_approve(&who, &rules, "ledger.sale.add") && !may_approve(&who, &rules, "crm.lead.add"));
        assert!(!may_approve(&who, &rules, "ledger.sale.cancel"));
        who.closed = globs(&["ledger.*"]);
        assert!(!may(&who, &rules, "ledger.sale.add", true));
    }

    #[test]
    fn the_owners_word_is_given_by_name_and_not_by_a_pattern() {
        let listing = |allow: &[&str]| {
            let staff = RoleRules { allow: Some(globs(allow)), ..RoleRules::default() };
            PermissionRules(BTreeMap::from([(Role::Staff, staff)]))
        };
        let scope = "ledger.credit.add";
        let (none, mut staff) = (PermissionRules::default(), member(Role::Staff));
        assert!(has_owner_authority(&member(Role::Owner), &none, scope));
        assert!(has_owner_authority(&member(Role::Admin), &none, scope));
        assert!(!has_owner_authority(&staff, &none, scope));
        assert!(!has_owner_authority(&staff, &listing(&["ledger.*", "*"]), scope));
        assert!(has_owner_authority(&staff, &listing(&["ledger.*", scope]), scope));
        staff.opened = globs(&["ledger.credit.*"]);
        assert!(!has_owner_authority(&staff, &none, scope));
        staff.opened = globs(&[scope]);
        assert!(has_owner_authority(&staff, &none, scope));
        let guest = Principal::known(TenantId::PLATFORM, PersonId::from_uuid(Uuid::nil()));
        assert!(!has_owner_authority(&guest, &none, scope));
    }

    #[test]
    fn an_owner_can_not_be_locked_out_by_a_role_rule() {
        let rules = PermissionRules(BTreeMap::from([(
            Role::Owner,
            RoleRules { allow: Some(Vec::new()), deny: globs(&["*"]), approve: Vec::new() },
        )]));
        assert!(may(&member(Role::Owner), &rules, "ledger.sale.add", true));
    }

    #[test]
    fn guests_reach_only_what_is_meant_for_them() {
        let person = Principal::known(TenantId::PLATFORM, PersonId::from_uuid(Uuid::nil()));
        let nobody = Principal::anonymous(TenantId::PLATFORM);
        for (reach, known, anonymous) in [
            (Reach::Owner, false, false),
            (Reach::Business, false, false),
            (Reach::Person, true, false),
            (Reach::Anyone, true, true),
        ] {
            assert_eq!(authorize(&person, &PermissionRules::default(), "shop.x", true, reach).is_ok(), known);
            assert_eq!(
                authorize(&nobody, &PermissionRules::default(), "shop.x", true, reach).is_ok(),
                anonymous
            );
        }
        assert!(!may_approve(&person, &PermissionRules::default(), "shop.x"));
    }
}
