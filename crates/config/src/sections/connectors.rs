use crate::kinds::{FlagKind, HostListKind};
use crate::section::section;

section! {
    /// Other people's tools, as tenants' `connectors.toml` declare them.
    ConnectorsSection in "connectors" {
        /// Places in a private network that a connector's url may lead to: a name or address with its port. No other url
        /// may. Without a port, every port of that host is open.
        private_hosts: HostListKind = [],
        /// Whether connectors' programs start where this machine can't confine them (Landlock, Linux 6.2) though there
        /// are several tenants: each program could read every tenant's data. Where it can, they are always confined.
        unconfined: FlagKind = false,
    }
}
