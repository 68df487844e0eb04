//! What somebody may do to accounts: whom they may invite, and whose account they may open again.

use munshi_store::PlatformTx;
use munshi_types::{TenantId, Timestamp};

use super::{Operator, roles, rows};
use crate::error::Result;
use crate::keys;
use crate::links::{InvitationScope, LinkMaker, LinkPurpose, OneTimeLink};
use crate::role::Role;

/// Who acts on accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorAuthority {
    /// Whoever keeps the installation, at the machine or with a keeper's key.
    Keeper,
    Operator(Operator),
    /// A tenant's API key, with the role it has now.
    Key {
        tenant: TenantId,
        role: Role,
    },
}

impl OperatorAuthority {
    /// The maker of a link as they are now; none where they are nobody any more.
    pub fn find_of_link(tx: &mut PlatformTx<'_>, link: &OneTimeLink, now: Timestamp) -> Result<Option<Self>> {
        match LinkMaker::parse(&link.made_by) {
            LinkMaker::Keeper => Ok(Some(Self::Keeper)),
            LinkMaker::Operator(id) => Ok(rows::find(tx, id)?.map(Self::Operator)),
            LinkMaker::Key(key) => {
                let tenant = match &link.purpose {
                    LinkPurpose::First
                    | LinkPurpose::Invitation { place: InvitationScope::Everywhere, .. } => None,
                    LinkPurpose::Invitation { place: InvitationScope::Workspace { tenant, .. }, .. } => {
                        Some(*tenant)
                    }
                    // A key has a say over those alone who are nowhere but in its tenant.
                    LinkPurpose::Recovery { operator } => {
                        roles::list(tx, *operator)?.first().map(|(tenant, _)| *tenant)
                    }
                };
                let Some(tenant) = tenant else { return Ok(None) };
                let role = keys::find_current_role(tx, tenant, key, now)?;
                Ok(role.map(|role| Self::Key { tenant, role }))
            }
        }
    }

    pub fn is_keeper(&self) -> bool {
        match self {
            Self::Keeper => true,
            Self::Operator(operator) => operator.keeper,
            Self::Key { .. } => false,
        }
    }

    /// Whether they could make a link of this purpose now, for the account and the role as they are now.
    pub fn can_make_link(&self, tx: &mut PlatformTx<'_>, purpose: &LinkPurpose) -> Result<bool> {
        match purpose {
            LinkPurpose::First => Ok(*self == Self::Keeper),
            LinkPurpose::Invitation { place: InvitationScope::Everywhere, .. } => Ok(self.is_keeper()),
            LinkPurpose::Invitation { place: InvitationScope::Workspace { tenant, role }, .. } => {
                let own = match self {
                    Self::Keeper => return Ok(true),
                    Self::Operator(own) => roles::find_effective(tx, own, *tenant)?.map(|(_, own)| own),
                    Self::Key { tenant: within, role } => (within == tenant).then_some(*role),
                };
                Ok(own.is_some_and(|own| reaches(own, *role)))
            }
            LinkPurpose::Recovery { operator } => match rows::find(tx, *operator)? {
                Some(other) => self.governs(tx, &other),
                None => Ok(false),
            },
        }
    }

    /// Whether they may open somebody's whole account: every role it has must be one that they could give.
    pub fn governs(&self, tx: &mut PlatformTx<'_>, other: &Operator) -> Result<bool> {
        if self.is_keeper() || other.keeper {
            return Ok(self.is_keeper());
        }
        let others = roles::list(tx, other.id)?;
        for (tenant, role) in &others {
            let own = match self {
                Self::Keeper => return Ok(true),
                Self::Operator(own) => roles::find_granted(tx, own.id, *tenant)?,
                Self::Key { tenant: within, role } => (within == tenant).then_some(*role),
            };
            if !own.is_some_and(|own| reaches(own, *role)) {
                return Ok(false);
            }
        }
        // Who is nowhere any more is nobody's to let in.
        Ok(!others.is_empty())
    }
}

/// Whether somebody of a role gives and takes another.
fn reaches(own: Role, other: Role) -> bool {
    own <= other && own <= Role::Admin
}
