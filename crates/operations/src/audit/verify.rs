//! Whether an entry was changed, removed or added.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::audit::anchors::AnchorService;
use munshi_safety::audit::verify::{AuditVerification, ChainVerification, verify_chains};
use munshi_store::tenants::{self, TENANTS};
use munshi_types::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{HouseCall, HouseServices};

/// Nothing besides the tenant.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyAuditInput {}

/// What came of every chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditVerification)]
pub struct AuditVerificationView {
    pub ok: bool,
    pub chains: Vec<ChainVerificationView>,
    /// How many lines the installation's file of anchors has; 0 for a tenant.
    pub anchors: usize,
    /// What is wrong with that file: the line, and what; null for a tenant.
    pub flaw: Option<Value>,
    /// How many anchors were written just now.
    pub anchored: usize,
}

/// What came of one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChainVerification)]
pub struct ChainVerificationView {
    #[schema(value_type = uuid::Uuid)]
    pub tenant: TenantId,
    /// Null for the installation's own chain, and where the tenant is not known.
    pub tenant_name: Option<String>,
    /// How many entries were found sound, one after the other.
    pub entries: i64,
    /// The hash of the last of them.
    pub hash: String,
    /// How many anchors were met.
    pub anchors: usize,
    /// What is wrong first, if anything is.
    pub finding: Option<Value>,
    /// The same in words.
    pub words: Option<String>,
}

pub struct VerifyAudit;

impl Operation<HouseServices> for VerifyAudit {
    type Input = VerifyAuditInput;
    type View = AuditVerificationView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "audit",
        noun: "audit",
        command: "audit",
        verb: "verify",
        about: "Verify that no entry of the audit log was changed, removed or added; without a tenant, of every chain.",
        needs: CallerClass::MemberOrKeeper(Area::Audit, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/audit/verification",
    };

    async fn run(call: &HouseCall, _: VerifyAuditInput) -> Result<AuditVerificationView, OperationError> {
        let anchors = call.services.parts.open_anchors()?;
        let survey = verify(call, &anchors).await?;
        render(call, survey, 0).await
    }
}

/// One tenant's chain, or for the installation every chain there is.
pub(super) async fn verify(
    call: &HouseCall,
    anchors: &AnchorService,
) -> Result<AuditVerification, OperationError> {
    let only = (!call.tenant.is_installation()).then_some(call.tenant.id);
    Ok(verify_chains(&call.db, only, &anchors.anchors().await?).await?)
}

pub(super) async fn render(
    call: &HouseCall,
    survey: AuditVerification,
    anchored: usize,
) -> Result<AuditVerificationView, OperationError> {
    // The file of anchors is the installation's.
    let is_whole = call.caller.is_keeper();
    let ok = if is_whole { survey.is_sound() } else { survey.broken_chains().next().is_none() };
    let survey = match is_whole {
        true => survey,
        false => AuditVerification { anchors: 0, flaw: None, ..survey },
    };
    let flaw = survey.flaw.map(serde_json::to_value).transpose().map_err(OperationError::internal)?;
    let all = survey.chains;
    let chains = call.read_platform(TENANTS, move |tx| {
        let shown = all.into_iter().map(|chain| {
            let name = tenants::find(tx, chain.tenant)?.map(|tenant| tenant.name.to_string());
            render_chain(&chain, name)
        });
        shown.collect::<Result<Vec<_>, OperationError>>()
    });
    Ok(AuditVerificationView { ok, chains: chains.await?, anchors: survey.anchors, flaw, anchored })
}

fn render_chain(
    chain: &ChainVerification,
    tenant_name: Option<String>,
) -> Result<ChainVerificationView, OperationError> {
    let words = chain.finding.as_ref().map(ToString::to_string);
    let finding =
        chain.finding.as_ref().map(serde_json::to_value).transpose().map_err(OperationError::internal)?;
    Ok(ChainVerificationView {
        tenant: chain.tenant,
        tenant_name,
        entries: chain.entries,
        hash: chain.hash.to_string(),
        anchors: chain.anchors,
        finding,
        words,
    })
}
