//! How a connector is.

use std::collections::BTreeMap;
use std::fmt;

use munshi_types::{ConsentPurposeName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::manifest::SkippedTool;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorState {
    /// It is being started for the first time.
    #[default]
    Starting,
    Ready,
    /// It ended or fell silent, and is started again after a pause.
    Restarting,
    /// It lets nobody in without a login, and nobody has logged in, or no longer is.
    WantsLogin,
    /// It failed too often. Its tools say so; it is tried again now and then.
    Degraded,
    Stopped,
}

impl ConnectorState {
    pub const ALL: [Self; 6] =
        [Self::Starting, Self::Ready, Self::Restarting, Self::WantsLogin, Self::Degraded, Self::Stopped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Restarting => "restarting",
            Self::WantsLogin => "wants_login",
            Self::Degraded => "degraded",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for ConnectorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How one connector is, for whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectorStatus {
    pub state: ConnectorState,
    /// Why, where it is not ready.
    pub why: String,
    pub since: Option<Timestamp>,
    /// Since this process began.
    pub restarts: u32,
    pub tools: usize,
    /// Nobody vouches for what these do: they only look, or are refused.
    pub undeclared: usize,
    pub left_out: Vec<SkippedTool>,
    /// What people have to agree to before certain of its tools are called for them, by the tool: the operator's word, or the server's own.
    pub purposes: BTreeMap<String, ConsentPurposeName>,
    /// The server's name and version, and the hash of its list.
    pub server: String,
    pub version: String,
    pub manifest: String,
    /// Its list changed and nobody has looked: its tools only look until somebody has.
    pub held: bool,
    /// Whether its program is confined. None where it is no program of this machine.
    pub confined: Option<bool>,
    /// Whether it can't connect to sockets of other programs of this machine either. None as above.
    pub closes_sockets: Option<bool>,
}

impl ConnectorStatus {
    /// Whether nobody vouches for some of its tools.
    pub const fn is_unsafe(&self) -> bool {
        self.undeclared > 0
    }
}
