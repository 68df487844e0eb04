//! The e-mails of accounts: whoever came by invitation is known to the tenant by nothing else.

use std::collections::BTreeMap;

use munshi_identity::operators::OPERATORS;
use munshi_identity::operators::roles::{self, TenantOperator};
use munshi_identity::{ContactAddress, persons};
use munshi_store::{Db, PlatformTx};
use munshi_types::tier::Channel;
use munshi_types::{OperatorId, ReplyAddress, TenantId};

use crate::error::Result;

/// E-mails of those who may open a tenant's pages, as far as they count as theirs there.
#[derive(Clone, Debug, Default)]
pub struct AccountEmails(BTreeMap<OperatorId, ReplyAddress>);

impl AccountEmails {
    pub async fn load(db: &Db, tenant: TenantId) -> Result<Self> {
        Ok(Self::of(tenant, &list_operators(db, tenant).await?))
    }

    pub(super) fn of(tenant: TenantId, operators: &[TenantOperator]) -> Self {
        let known = operators.iter().filter(|one| one.has_known_email(tenant)).filter_map(|one| {
            let email = ContactAddress::email(&one.operator.email).ok()?;
            let place = ReplyAddress::new(Channel::Email, email.as_str().to_owned());
            Some((one.operator.id, place))
        });
        Self(known.collect())
    }

    /// The e-mail of the account that an address of a person stands for.
    pub(super) fn find(&self, address: &ContactAddress) -> Option<&ReplyAddress> {
        self.0.get(&persons::parse_operator_address(address)?)
    }
}

pub(super) async fn list_operators(db: &Db, tenant: TenantId) -> Result<Vec<TenantOperator>> {
    let read = move |tx: &mut PlatformTx<'_>| roles::list_of_tenant(tx, tenant);
    Ok(db.platform(OPERATORS).read(read).await?)
}
