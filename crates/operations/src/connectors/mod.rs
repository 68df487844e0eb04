//! Other services that a tenant's agents work with.

mod accept;
mod list;
mod show;
mod view;

pub use accept::{AcceptConnector, AcceptConnectorInput, AcceptedConnectorView};
pub use list::ListConnectors;
pub use show::{ConnectorInput, ShowConnector};
pub use view::{ConnectorNodeView, ConnectorView, SkippedToolView};
