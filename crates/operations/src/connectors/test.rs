//! Runs the contract checks on a declared connector.

use munshi_connectors::conformance::{
    self, ConnectorTest, ConnectorTestReport, ConnectorVerdict, WriteTestMode,
};
use munshi_connectors::{rows, run_to_end};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::continue_call;
use super::show::not_found;
use crate::connector_errors::convert_connector_error;
use crate::{HouseCall, HouseServices};

const TEST_REQUESTED: &str = "connector.test_requested";
const TESTED: &str = "connector.tested";

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConnectorTest)]
pub struct TestConnectorInput {
    /// The connector's name.
    #[schema(value_type = String)]
    pub name: ConnectorName,
    /// Also call write tools, with the `try` arguments of connectors.toml.
    pub write: Option<bool>,
}

/// What a test of a connector found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ConnectorTestReport)]
pub struct ConnectorTestView {
    #[schema(value_type = String)]
    pub connector: ConnectorName,
    pub server: String,
    pub version: String,
    /// The hash of its list of tools.
    pub manifest: String,
    pub tools: usize,
    /// Tools that nobody has declared: they only read, or are refused.
    pub undeclared: usize,
    pub findings: Vec<ConnectorFindingView>,
}

/// One check and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ConnectorFinding)]
pub struct ConnectorFindingView {
    pub check: String,
    /// `pass`, `doubtful`, `fail` or `skipped`.
    #[schema(value_type = String)]
    pub verdict: ConnectorVerdict,
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl ConnectorTestView {
    /// How many checks failed.
    pub fn count_failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == ConnectorVerdict::Fail).count()
    }
}

impl From<ConnectorTestReport> for ConnectorTestView {
    fn from(report: ConnectorTestReport) -> Self {
        let findings = report.findings.into_iter().map(|finding| ConnectorFindingView {
            check: finding.check.to_owned(),
            verdict: finding.verdict,
            detail: finding.detail,
            advice: finding.advice,
        });
        Self {
            connector: report.connector,
            server: report.server,
            version: report.version,
            manifest: report.manifest,
            tools: report.tools,
            undeclared: report.undeclared,
            findings: findings.collect(),
        }
    }
}

pub struct TestConnector;

impl Operation<HouseServices> for TestConnector {
    type Input = TestConnectorInput;
    type View = ConnectorTestView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "connectors",
        noun: "connector",
        command: "connector",
        verb: "test",
        about: "Run all contract checks on a connector: it is started for them, and stopped again.",
        needs: CallerClass::KeeperOfTenant,
        effect: OperationEffect::Write(&[TEST_REQUESTED, TESTED]),
        method: RouteMethod::Post,
        path: "/v1/connectors/{name}/test",
    };

    async fn run(call: &HouseCall, input: TestConnectorInput) -> Result<ConnectorTestView, OperationError> {
        let TestConnectorInput { name, write } = input;
        let tries_writes = write == Some(true);
        let (_, mut declared) =
            call.read(|tx| rows::load_entries(tx).map_err(convert_connector_error)).await?;
        let entry = declared.0.remove(&name).ok_or_else(|| not_found(&name))?;
        let prepared = call.services.parts.prepare_connector_test(call.tenant.id, &name).await?;
        let writes = if tries_writes { WriteTestMode::Tried } else { WriteTestMode::Never };
        let trial = ConnectorTest { entry, writes, ..prepared };
        let subject = name.to_string();
        let asked = call.write(move |tx| {
            tx.note(TEST_REQUESTED, subject, json!({ "write": tries_writes }));
            Ok(())
        });
        asked.await?;
        let rest = continue_call(call);
        // What was started is stopped and told of, also where whoever asked has gone meanwhile.
        let work = async move {
            let view = ConnectorTestView::from(conformance::test(&trial).await);
            let (subject, failed, manifest) =
                (name.to_string(), view.count_failures(), view.manifest.clone());
            let told = rest.write(move |tx| {
                tx.note(TESTED, subject, json!({ "failed": failed, "manifest": manifest }));
                Ok(())
            });
            told.await.map(|()| view)
        };
        run_to_end(work).await.map_err(convert_connector_error)?
    }
}
