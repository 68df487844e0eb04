use crate::kinds::{FlagKind, HostListKind};
use crate::section::section;

section! {
    /// Third-party tools, as declared in tenants' `connectors.toml`.
    ConnectorsSection in "connectors" {
        /// Hosts in a private network that a connector's URL or a channel's mail server may point to, as name or address
        /// with port. Other private hosts are refused. Without a port, every port of that host is allowed.
        private_hosts: HostListKind = [],
        /// Start connector programs even if this machine can't confine them (Landlock, Linux 6.2) and there are several
        /// tenants. Each program can then read every tenant's data. A machine that can confine them always does.
        unconfined: FlagKind = false,
    }
}
