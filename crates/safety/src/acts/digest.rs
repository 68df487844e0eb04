//! What an approval is for: exactly this act, to the byte.

use std::fmt;

use munshi_store::Tx;
use serde_json::{Value, json};
use sha2::Digest as _;

use crate::audit::to_canonical_json;
use crate::error::Result;
use crate::pipeline::{Proposal, ProposalMode};

/// The hash of tool, arguments, for whom and from where. Another argument is another act, and so is a rehearsal of it. Stored and told
/// under the tenant's key alone: nobody can confirm a guess of what an act says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActDigest([u8; 32]);

impl ActDigest {
    pub fn compute(proposal: &Proposal) -> Self {
        Self::compute_with_connector(
            proposal,
            proposal.tool.as_ref().map(|tool| tool.connector.name.as_str()),
        )
    }

    /// The same, of a tool that is this connector's: where the tool itself is away, such as while its connector starts.
    pub(super) fn compute_with_connector(proposal: &Proposal, connector: Option<&str>) -> Self {
        let mut what = json!({
            "tool": proposal.name,
            "connector": connector,
            "arguments": *proposal.arguments,
            "tenant": proposal.caller.principal.tenant,
            "person": proposal.caller.principal.person,
            "binding": proposal.caller.binding,
            "door": proposal.caller.door,
            "session": proposal.caller.session,
        });
        if proposal.wanted == ProposalMode::Rehearsal {
            what["wanted"] = json!(proposal.wanted);
        }
        Self::hash_json(&what)
    }

    /// As it is stored.
    pub(super) fn key(self, tx: &Tx<'_>) -> Result<Self> {
        Ok(Self(tx.hash("acts.digest", &self.0)?))
    }

    fn hash_json(value: &Value) -> Self {
        Self(sha2::Sha256::digest(to_canonical_json(value).as_bytes()).into())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Twelve letters: enough to see that what is approved is what was shown.
impl fmt::Display for ActDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(6).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
