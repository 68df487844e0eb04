//! Who asks for an operation, whatever the surface.

use std::sync::Arc;

use munshi_identity::keys::{ApiCaller, Area, AreaGrant, KeyMaker, KeySpeaker, render_keeper_maker};
use munshi_identity::{MissingPermission, Role};
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_types::{BindingId, KeyId, OperatorId, PersonId, Timestamp};

use super::error::{OperationError, OperationErrorCode};
use super::spec::CallerClass;

/// Who asks, and as whom the audit knows them.
#[derive(Clone, Debug)]
pub struct OperationCaller {
    identity: CallerIdentity,
    actor: AuditActor,
}

#[derive(Clone, Debug)]
pub enum CallerIdentity {
    /// Whoever runs commands on the machine: they hold the database.
    Machine,
    /// An API key, or an operator's browser.
    Api(Arc<ApiCaller>),
}

impl OperationCaller {
    /// Whoever sits at the machine, by the name they go by.
    pub fn machine(actor: AuditActor) -> Self {
        Self { identity: CallerIdentity::Machine, actor }
    }

    pub fn api(caller: Arc<ApiCaller>) -> Self {
        let actor = match (caller.operator, caller.principal.person) {
            (Some(operator), _) => operator_actor(operator),
            (None, Some(person)) => AuditActor::new(AuditActorKind::Person, person.to_string()),
            (None, None) if caller.keeper => {
                AuditActor::new(AuditActorKind::Operator, render_keeper_maker(caller.key))
            }
            (None, None) => AuditActor::new(AuditActorKind::Operator, format!("api key {}", caller.key)),
        };
        Self { identity: CallerIdentity::Api(caller), actor }
    }

    pub fn actor(&self) -> &AuditActor {
        &self.actor
    }

    fn key(&self) -> Option<&ApiCaller> {
        match &self.identity {
            CallerIdentity::Machine => None,
            CallerIdentity::Api(caller) => Some(caller),
        }
    }

    /// Whether somebody sits at the machine, and so may speak for others.
    pub fn is_machine(&self) -> bool {
        matches!(self.identity, CallerIdentity::Machine)
    }

    /// Who asks with a key or in a browser.
    pub fn api_caller(&self) -> Option<&ApiCaller> {
        self.key()
    }

    /// Whom a key acts as; none for one of a role, and at the machine.
    pub fn person(&self) -> Option<PersonId> {
        self.key().and_then(|caller| caller.principal.person)
    }

    /// Whether the caller is of a class in their tenant.
    pub fn authorize(&self, class: CallerClass) -> Result<(), OperationError> {
        self.authorize_for(class, false)
    }

    /// The same, for a tenant or for the installation itself.
    pub fn authorize_for(&self, class: CallerClass, is_installation: bool) -> Result<(), OperationError> {
        let CallerIdentity::Api(caller) = &self.identity else { return Ok(()) };
        match class {
            CallerClass::Machine => {
                Err(OperationError::new(OperationErrorCode::Forbidden, "This is done on the machine itself.")
                    .hint("Run the command there, without --server."))
            }
            CallerClass::Keeper | CallerClass::KeeperOfTenant if caller.keeper => Ok(()),
            CallerClass::MemberOrKeeper(..) if is_installation && caller.keeper => Ok(()),
            CallerClass::MemberOrKeeper(area, access) | CallerClass::Member(area, access)
                if !is_installation =>
            {
                Ok(caller.authorize(area, access)?)
            }
            // The tenant is asked for next.
            CallerClass::Scope { .. } if is_installation && caller.keeper => Ok(()),
            CallerClass::Scope { access, least, .. } if !is_installation => {
                caller.authorize(Area::Packs, access)?;
                match caller.principal.role() {
                    Some(role) if role <= least => Ok(()),
                    role => {
                        let who = role.map_or("non-members", Role::as_str);
                        let what = format!("this is not allowed for {who}");
                        Err(MissingPermission { what, ask: Some(least) }.into())
                    }
                }
            }
            _ => Err(OperationError::new(
                OperationErrorCode::Forbidden,
                "Only whoever keeps this installation may do this.",
            )
            .hint("Run the command on the machine itself, or use a key made by `munshi keeper-key add`.")),
        }
    }

    /// Whether the caller keeps the installation: somebody at the machine does.
    pub fn is_keeper(&self) -> bool {
        self.key().is_none_or(|caller| caller.keeper)
    }

    /// None at the machine, which stands above all roles, and for whoever does not work here.
    pub fn role(&self) -> Option<Role> {
        self.key().and_then(|caller| caller.principal.role())
    }

    /// Whether somebody of this role stands no higher: what is done to them they could do themselves.
    pub fn covers_role(&self, role: Option<Role>) -> bool {
        match (self.key(), role) {
            (None, _) | (_, None) => true,
            (Some(caller), Some(role)) => caller.principal.role().is_some_and(|own| own <= role),
        }
    }

    pub fn reaches(&self, binding: impl Into<Option<BindingId>>) -> bool {
        self.key().is_none_or(|caller| caller.reaches(binding))
    }

    /// Whether the caller's own key opens an area, whatever their role reaches: no key is made that opens more.
    pub fn opens(&self, grant: AreaGrant) -> bool {
        let Some(caller) = self.key() else { return true };
        match &caller.areas {
            Some(own) => own.iter().any(|have| have.opens(grant.area, grant.access)),
            None => !grant.area.must_be_named() || caller.operator.is_some() || caller.keeper,
        }
    }

    /// Whether they ask with a keeper's key: nobody of the tenant.
    pub fn is_keeper_key(&self) -> bool {
        self.key().is_some_and(|caller| caller.keeper && caller.operator.is_none())
    }

    /// None where all are open that the role reaches.
    pub fn areas(&self) -> Option<&Vec<AreaGrant>> {
        self.key()?.areas.as_ref()
    }

    /// None where all are open.
    pub fn bindings(&self) -> Option<&Vec<BindingId>> {
        self.key()?.bindings.as_ref()
    }

    /// When the caller's own key ends.
    pub fn until(&self) -> Option<Timestamp> {
        self.key()?.until
    }

    /// The tenant's API key that asks; none for somebody at the machine, in a browser or with a keeper's key.
    pub fn api_key(&self) -> Option<KeyId> {
        self.key().filter(|caller| caller.operator.is_none() && !caller.keeper).map(|caller| caller.key)
    }

    /// Somebody types at a terminal and in a browser.
    pub fn speaks_as(&self) -> KeySpeaker {
        self.key().map_or(KeySpeaker::Person, |caller| caller.speaks_as)
    }

    /// Who answers for a key that is made now. A key that somebody made for another person makes none itself: such a key
    /// would outlive its true maker's rights.
    pub fn key_maker(&self) -> Result<KeyMaker, OperationError> {
        let Some(caller) = self.key() else { return Ok(KeyMaker::from_name(self.actor.id.clone())) };
        let KeyMaker { name, person, .. } = caller.maker.clone();
        match (caller.principal.person, person) {
            (Some(own), Some(maker)) if own != maker => Err(OperationError::new(
                OperationErrorCode::Forbidden,
                "This key was created with another person's key and can't create keys.",
            )
            .hint("Use the person's own key, the account pages or `munshi key add`.")),
            (own, maker) => Ok(KeyMaker {
                name,
                person: own.or(maker),
                // What an operator makes in their browser ends with their role, not with the sign-in.
                key: (caller.operator.is_none() && !caller.keeper).then_some(caller.key),
            }),
        }
    }
}

fn operator_actor(operator: OperatorId) -> AuditActor {
    AuditActor::new(AuditActorKind::Operator, format!("operator {operator}"))
}
