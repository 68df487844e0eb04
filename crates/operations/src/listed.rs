//! Operations of the house and of packs side by side, as every surface lists and runs them.

use std::ops::Deref;

use munshi_pack::operation::{
    Operation, OperationEntry, OperationError, OperationShape, OperationSpec, PackServices,
};
use serde_json::Value;

use crate::{HOUSE, HouseCall, HouseServices};

/// An operation, whoever brings it.
#[derive(Clone, Copy)]
pub enum ListedOperation {
    House(OperationEntry<HouseServices>),
    Pack(OperationEntry<PackServices>),
}

impl Deref for ListedOperation {
    type Target = OperationShape;

    fn deref(&self) -> &OperationShape {
        match self {
            Self::House(entry) => entry,
            Self::Pack(entry) => entry,
        }
    }
}

impl ListedOperation {
    /// Runs it with an input that is read from JSON; gives its view as JSON.
    pub async fn execute(&self, call: &HouseCall, input: Value) -> Result<Value, OperationError> {
        match self {
            Self::House(entry) => entry.execute(call, input).await,
            Self::Pack(entry) => {
                let runs = call.services.run_starter()?;
                let services = call.services.parts.pack_services(runs)?.for_call(&call.tenant);
                let services = services.for_caller(&call.caller);
                entry.execute(&call.with_services(services), input).await
            }
        }
    }

    pub const fn is_packs(&self) -> bool {
        matches!(self, Self::Pack(_))
    }
}

/// What packs brought.
pub type PackOperations = [OperationEntry<PackServices>];

/// The house's operations, and those of packs.
pub fn list_operations(packs: &PackOperations) -> impl Iterator<Item = ListedOperation> + use<'_> {
    let own = HOUSE.iter().copied().map(ListedOperation::House);
    own.chain(packs.iter().copied().map(ListedOperation::Pack))
}

/// Runs one of the house's for somebody who has its types, such as a page: by its entry, so that it is compiled once.
pub async fn execute<O: Operation<HouseServices>>(
    call: &HouseCall,
    input: O::Input,
) -> Result<O::View, OperationError> {
    let listed = find_operation(&O::SPEC);
    let listed = listed.ok_or_else(|| OperationError::internal("the operation is not listed"))?;
    let input = serde_json::to_value(input).map_err(OperationError::internal)?;
    serde_json::from_value(listed.execute(call, input).await?).map_err(OperationError::internal)
}

/// The operation of a typed call.
pub fn find_operation(spec: &OperationSpec) -> Option<ListedOperation> {
    HOUSE.iter().find(|entry| entry.spec == *spec).copied().map(ListedOperation::House)
}
