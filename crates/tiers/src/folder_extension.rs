//! A file of a tenant's folder that is no tier: another crate's, planned, shown and applied with the tiers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use munshi_store::{AdminTx, Db, Tx};
use munshi_types::{TenantId, TenantPacks};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::draft::TierBody;
use crate::error::{Error, Result};
use crate::plan::{FieldChange, diff_fields};
use crate::problem::FolderProblem;
use crate::rows::Authorship;

/// Who reads such a file and keeps what it says. The tiers know its place in the folder and nothing of its content.
pub trait FolderExtension: fmt::Debug + Send + Sync {
    /// The file's name in the folder: `policy.toml`.
    fn file_name(&self) -> &'static str;

    /// What it is called in a plan: `policy`.
    fn noun(&self) -> &'static str;

    /// What the text says, without what is so anyway; or everything that is wrong with it. `file` is how problems
    /// name it.
    fn read(&self, file: &str, text: &str) -> Result<TierBody, Vec<FolderProblem>>;

    /// What whoever applies it should know. `beside` has what the other files of the folder say or, where one is not in
    /// the folder, what is in force.
    fn warnings(&self, body: &TierBody, beside: &ExtensionBodies) -> Vec<String>;

    /// The connectors it declares; none for a file that declares none.
    fn connectors(&self, _body: &TierBody) -> Option<BTreeSet<String>> {
        None
    }

    /// The packs it says the tenant has; none for a file that says nothing of packs.
    fn packs(&self, _body: &TierBody) -> Option<TenantPacks> {
        None
    }

    /// What is in force, and its version; nothing and 0 where there is none.
    fn load_stored(&self, tx: &mut Tx<'_>) -> Result<(i64, TierBody)>;

    /// Puts a change in force, in the transaction of the tiers.
    fn write(&self, tx: &mut Tx<'_>, change: &ExtensionChange, by: &Authorship) -> Result<()>;

    /// What the audit hears of a change: `policy.changed`.
    fn event(&self) -> &'static str;
}

/// What companions say, by the name of their file.
pub type ExtensionBodies = BTreeMap<&'static str, TierBody>;

/// A companion and what the folder has of it; none where the file is not there.
#[derive(Clone, Debug)]
pub struct ExtensionFile {
    pub companion: Arc<dyn FolderExtension>,
    pub found: Option<TierBody>,
}

/// What happens to a companion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExtensionChange {
    /// Its noun.
    pub what: String,
    /// The version in force before; 0 where there was none.
    pub from: i64,
    pub to: i64,
    pub fields: Vec<FieldChange>,
    #[serde(skip)]
    pub body: TierBody,
    /// None in a plan that was read from JSON: it is shown, and never applied.
    #[serde(skip)]
    pub(crate) companion: Option<Arc<dyn FolderExtension>>,
}

/// What a folder's companions would change, what stays though the folder lacks it, and what to know about them.
#[derive(Default)]
pub(crate) struct ExtensionPlan {
    pub(crate) changes: Vec<ExtensionChange>,
    pub(crate) left: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Those there will be, where one of the files declares them.
    pub(crate) connectors: Option<BTreeSet<String>>,
    /// Those the tenant will have, where one of the files says so.
    pub(crate) packs: Option<TenantPacks>,
}

pub(crate) async fn plan(
    db: &Db,
    tenant: Option<TenantId>,
    beside: &[ExtensionFile],
) -> Result<ExtensionPlan> {
    let (mut planned, mut all, mut bodies) = (ExtensionPlan::default(), Vec::new(), ExtensionBodies::new());
    for one in beside {
        let (version, stored) = match tenant {
            Some(tenant) => {
                let asked = one.companion.clone();
                db.read(tenant, move |tx| asked.load_stored(tx)).await?
            }
            None => (0, TierBody::new()),
        };
        let body = one.found.as_ref().unwrap_or(&stored);
        planned.connectors = planned.connectors.or_else(|| one.companion.connectors(body));
        planned.packs = planned.packs.or_else(|| one.companion.packs(body));
        bodies.insert(one.companion.file_name(), one.found.clone().unwrap_or_else(|| stored.clone()));
        all.push((one, version, stored));
    }
    for (ExtensionFile { companion, found }, version, stored) in all {
        let Some(body) = found else {
            if version > 0 {
                planned.left.push(companion.file_name().to_owned());
            }
            continue;
        };
        planned.warnings.extend(companion.warnings(body, &bodies));
        if stored != *body {
            planned.changes.push(ExtensionChange {
                what: companion.noun().to_owned(),
                from: version,
                to: version + 1,
                fields: diff_fields(&stored, body),
                body: body.clone(),
                companion: Some(companion.clone()),
            });
        }
    }
    Ok(planned)
}

impl ExtensionChange {
    /// Writes it, if what it was planned upon is still so.
    pub(crate) fn write(&self, tx: &mut Tx<'_>, by: &Authorship) -> Result<()> {
        let Some(companion) = &self.companion else { return Err(Error::OnlyShown) };
        if companion.load_stored(tx)?.0 != self.from {
            return Err(Error::Overtaken { what: self.what.clone() });
        }
        companion.write(tx, self, by)
    }

    /// Tells the audit which values changed, and not what they are.
    pub(crate) fn note(&self, tx: &mut AdminTx<'_, '_>) {
        let Some(companion) = &self.companion else { return };
        let keys: Vec<&str> = self.fields.iter().map(|field| field.key.as_str()).collect();
        tx.note(companion.event(), self.what.as_str(), json!({ "version": self.to, "keys": keys }));
    }
}

impl fmt::Display for ExtensionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            0 => writeln!(f, "+ {}", self.what)?,
            from => writeln!(f, "~ {}, version {from} to {}", self.what, self.to)?,
        }
        self.fields.iter().try_for_each(|field| f.write_str(&field.render_full()))
    }
}
