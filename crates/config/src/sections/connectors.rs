use crate::kinds::Hosts;
use crate::section::section;

section! {
    /// Other people's tools, as tenants' `connectors.toml` declare them.
    Connectors in "connectors" {
        /// Hosts in a private network that a connector's url may lead to, by name or address. No other url may.
        private_hosts: Hosts = [],
    }
}
