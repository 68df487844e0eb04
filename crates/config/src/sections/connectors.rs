use crate::kinds::Hosts;
use crate::section::section;

section! {
    /// Other people's tools, as tenants' `connectors.toml` declare them.
    Connectors in "connectors" {
        /// Places in a private network that a connector's url may lead to: a name or address with its port. No other url
        /// may. Without a port, every port of that host is open.
        private_hosts: Hosts = [],
    }
}
