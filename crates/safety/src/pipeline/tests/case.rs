//! One decision, with everything open until a test closes something.

use std::sync::Arc;

use munshi_identity::{Principal, PrincipalStanding, Role};
use munshi_types::{
    ActId, Autonomy, Conduct, ConsentPurposeName, Effect, PersonId, Reach, ScopeGlob, SendArguments,
    TenantId, TenantStatus, ToolSpec, Zone,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{
    ActCaller, ActVerdict, CallerAudience, CheckedArguments, CompiledTool, ConnectorOrigin, ConsentGrant,
    ConsentReason, DecisionStore, ExhaustedLimit, PolicyRequest, Proposal, ProposalMode, PurposeStanding,
    Taint, ToolConnector, decide,
};
use crate::error::Result;
use crate::policy::{AuthorisedTemplate, Policy};

/// As they are; [`Case::decide`] checks them against the tool that the case has by then.
pub(super) fn given(arguments: Value) -> CheckedArguments {
    CheckedArguments::new(arguments, None)
}

pub(super) fn globs(texts: &[&str]) -> Vec<ScopeGlob> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub(super) fn open() -> Conduct {
    Conduct { autonomy: Autonomy::Act, read: globs(&["*"]), write: globs(&["*"]), ..Conduct::default() }
}

pub(super) fn spec(effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": {
                "id": { "type": ["string", "integer"] }, "to": { "type": "string" }, "template": { "type": "string" },
                "phone": { "type": "string" }, "amount": { "type": "number" },
            },
            "required": ["id", "to"],
        }),
        effect,
        reach: Reach::Business,
        ..ToolSpec::read_only("tool".parse().unwrap(), "Does something.", "users/{id}/tool")
    }
}

/// One that sends by template, and so takes nothing but bound values beside it.
pub(super) fn sender() -> ToolSpec {
    let properties = json!({
        "id": { "enum": ["42"] }, "to": { "type": "string" }, "template": { "type": "string" },
        "amount": { "type": "number" }, "until": { "type": "string", "format": "date" },
    });
    ToolSpec {
        parameters: json!({ "type": "object", "properties": properties, "required": ["id", "to"] }),
        sends: Some(SendArguments {
            to: "to".to_owned(),
            template: Some("template".to_owned()),
            audience: None,
        }),
        ..spec(Effect::Keyed)
    }
}

pub(super) fn connector(origin: ConnectorOrigin) -> ToolConnector {
    ToolConnector { name: "shop".to_owned(), origin, declares: true, conduct: None }
}

/// The owner at their own door asks for something that is open, fits, and needs nobody.
pub(super) struct Case {
    pub proposal: Proposal,
    pub policy: Policy,
    pub tenant: TenantStatus,
    pub ground: Answers,
}

#[derive(Default)]
pub(super) struct Answers {
    pub full: Option<&'static str>,
    pub given: Option<ConsentGrant>,
    pub taken: usize,
    pub purpose: Option<PurposeStanding>,
    /// So many messages went unasked today.
    pub unasked: u32,
}

impl DecisionStore for Answers {
    fn reserve(&mut self, _ask: &PolicyRequest<'_>) -> Result<Option<ExhaustedLimit>> {
        self.taken += 1;
        Ok(self.full.map(|which| ExhaustedLimit { which: which.to_owned(), frees_at: None }))
    }

    fn find_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _reasons: &[ConsentReason],
    ) -> Result<Option<ConsentGrant>> {
        Ok(self.given)
    }

    fn find_purpose_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _purpose: &ConsentPurposeName,
    ) -> Result<PurposeStanding> {
        Ok(self.purpose.unwrap_or(PurposeStanding::Unasked))
    }

    fn is_in_audience(&mut self, recipient: &str, audience: &str) -> Result<bool> {
        Ok(recipient == "raju" && audience == "customers")
    }

    fn take_unasked(&mut self, _ask: &PolicyRequest<'_>, authorised: &AuthorisedTemplate) -> Result<bool> {
        Ok(self.unasked < authorised.per_day())
    }
}

impl Case {
    pub(super) fn of(spec: ToolSpec) -> Self {
        let origin =
            if spec.effect == Effect::Inside { ConnectorOrigin::BuiltIn } else { ConnectorOrigin::Foreign };
        Self::with(spec, connector(origin))
    }

    pub(super) fn with(spec: ToolSpec, connector: ToolConnector) -> Self {
        let tool = Arc::new(CompiledTool::new(spec, connector).unwrap());
        let caller = ActCaller {
            principal: principal(PrincipalStanding::Member(Role::Owner)),
            door: CallerAudience::Private,
            binding: None,
            run: None,
            session: None,
            zone: Zone::default(),
            language: None,
            background: false,
            key: None,
            ceiling: None,
        };
        let proposal = Proposal {
            act: ActId::from_uuid(Uuid::from_u128(1)),
            name: "tool".to_owned(),
            arguments: given(json!({ "id": "42", "to": "raju" })),
            tool: Some(tool),
            offered: true,
            wanted: ProposalMode::Act,
            caller,
            agent: Arc::new(open()),
            taint: Taint::from_own_words("42 raju"),
            concerns: Vec::new(),
        };
        let connectors = [("shop".to_owned(), open())].into();
        Self {
            proposal,
            policy: Policy { connectors, ..Policy::default() },
            tenant: TenantStatus::Active,
            ground: Answers::default(),
        }
    }

    pub(super) fn decide(&mut self) -> ActVerdict {
        let tool = self.proposal.tool.as_deref();
        self.proposal.arguments = CheckedArguments::new((*self.proposal.arguments).clone(), tool);
        let ask = PolicyRequest { proposal: &self.proposal, policy: &self.policy, tenant: self.tenant };
        decide(&ask, &mut self.ground).unwrap()
    }

    /// In a word: `apply`, `rehearse`, `ask`, or the code of the no.
    pub(super) fn word(&mut self) -> &'static str {
        match self.decide() {
            ActVerdict::Apply(_) => "apply",
            ActVerdict::Rehearse(_) => "rehearse",
            ActVerdict::Ask(_) => "ask",
            ActVerdict::Refuse(refusal) => {
                assert!(refusal.suggestion.ends_with('.'), "{}", refusal.suggestion);
                refusal.code.as_str()
            }
        }
    }
}

pub(super) fn principal(standing: PrincipalStanding) -> Principal {
    let person = (standing != PrincipalStanding::Anonymous).then(|| PersonId::from_uuid(Uuid::from_u128(9)));
    Principal { tenant: TenantId::PLATFORM, person, standing, opened: Vec::new(), closed: Vec::new() }
}
