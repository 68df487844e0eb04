//! What the settings say of models, as operations need it.

use std::sync::Arc;

use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_llm::{Gateway, ModelTarget};
use munshi_pack::operation::OperationError;
use munshi_safety::budget::ModelClasses;
use munshi_tiers::TenantModels;

/// The gateway, with the route that the settings give.
#[derive(Clone)]
pub struct HouseModels {
    pub gateway: Gateway,
    pub route: Arc<ModelRoute>,
    /// Which plans may use which model.
    pub classes: Arc<ModelClasses>,
    /// What to look at in the settings.
    pub warnings: Vec<String>,
}

impl HouseModels {
    pub(super) fn find(&self, name: &str) -> Result<&Arc<ModelTarget>, OperationError> {
        let found = self.gateway.targets().iter().find(|target| target.name == name);
        found.ok_or_else(|| {
            OperationError::not_found("model", name).hint(format!("There are {}.", self.names().join(", ")))
        })
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.gateway.targets().iter().map(|target| target.name.as_str()).collect()
    }

    /// Who answers a tenant for one use, and who has said so: the nearest that names a model that is there.
    pub(super) fn resolve<'a>(
        &'a self,
        tenant: &'a TenantModels,
        wanted: Capability,
    ) -> (&'a [String], ModelChoiceOrigin) {
        let is_there = |names: &&Vec<String>| {
            names.iter().any(|name| self.gateway.targets().iter().any(|target| target.name == *name))
        };
        let mut next = Some(wanted);
        while let Some(capability) = next {
            let is_own = capability == wanted;
            if let Some(names) = tenant.get(&capability).filter(is_there) {
                let origin = if is_own { ModelChoiceOrigin::Tenant } else { ModelChoiceOrigin::Fallback };
                return (names, origin);
            }
            if let Some(names) = self.route.targets.get(&capability).filter(is_there) {
                let origin =
                    if is_own { ModelChoiceOrigin::Installation } else { ModelChoiceOrigin::Fallback };
                return (names, origin);
            }
            next = capability.fallback();
        }
        (&[], ModelChoiceOrigin::Fallback)
    }
}

/// Who has chosen the models for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelChoiceOrigin {
    Tenant,
    Installation,
    /// Nobody for this use; those of the one it falls back to.
    Fallback,
}

impl ModelChoiceOrigin {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Installation => "installation",
            Self::Fallback => "fallback",
        }
    }
}
