//! Which packs a tenant has.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The tools that every tenant has come under this name.
pub const HOUSE: &str = "house";

/// The packs a tenant lists; without a list, all of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<BTreeSet<String>>", into = "Option<BTreeSet<String>>")]
pub struct TenantPacks(Option<Arc<BTreeSet<String>>>);

impl TenantPacks {
    /// Every pack of the installation.
    pub fn all() -> Self {
        Self::default()
    }

    /// These and no others.
    pub fn only(names: impl IntoIterator<Item = String>) -> Self {
        Self(Some(Arc::new(names.into_iter().collect())))
    }

    /// What comes with every installation belongs to every tenant.
    pub fn has(&self, pack: &str) -> bool {
        pack == HOUSE || self.0.as_ref().is_none_or(|listed| listed.contains(pack))
    }

    /// The names as they were listed, if they were.
    pub fn listed(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|listed| listed.iter()).map(String::as_str)
    }
}

impl From<Option<BTreeSet<String>>> for TenantPacks {
    fn from(listed: Option<BTreeSet<String>>) -> Self {
        Self(listed.map(Arc::new))
    }
}

impl From<TenantPacks> for Option<BTreeSet<String>> {
    fn from(packs: TenantPacks) -> Self {
        packs.0.map(Arc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_leaves_out_all_others() {
        let all = TenantPacks::default();
        assert!(all.has("ledger") && all.has(HOUSE) && all.listed().next().is_none());
        let one: TenantPacks = serde_json::from_str(r#"["board"]"#).unwrap();
        assert!(one.has("board") && one.has(HOUSE) && !one.has("ledger"));
        assert_eq!(one, TenantPacks::only(["board".to_owned()]));
        assert!(!TenantPacks::only([]).has("ledger"), "an empty list is a list");
    }
}
