//! Who looks after a tenant, or the whole installation.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::operators::{self, OPERATORS, Operator, roles};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::{PlatformTx, tenants};

use super::{OperatorRoleView, OperatorView};
use crate::{HouseCall, HouseServices, NameListInput};

pub struct ListOperators;

impl Operation<HouseServices> for ListOperators {
    type Input = NameListInput;
    type View = ListView<OperatorView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "operators",
        noun: "operator",
        command: "operator",
        verb: "list",
        about: "List a tenant's operators by e-mail, or all of the installation with their roles.",
        needs: CallerClass::MemberOrKeeper(Area::Operators, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/operators",
    };

    async fn run(call: &HouseCall, input: NameListInput) -> Result<ListView<OperatorView>, OperationError> {
        let (tenant, is_keeper) = (call.tenant.clone(), call.caller.is_keeper());
        let all = call.read_platform(OPERATORS, move |tx| {
            if tenant.is_installation() {
                return operators::list(tx)?.into_iter().map(|one| show_whole(tx, one)).collect();
            }
            let members = roles::list_members(tx, tenant.id)?;
            if is_keeper {
                // Keepers look after it as well.
                let is_member = |one: &Operator| members.iter().any(|member| member.operator.id == one.id);
                let all = operators::list(tx)?.into_iter().filter(|one| one.keeper || is_member(one));
                return all.map(|one| show_whole(tx, one)).collect();
            }
            let shown = members.into_iter().map(|member| {
                let role = OperatorRoleView { tenant: tenant.name.clone(), role: member.role };
                OperatorView::new(member.operator, vec![role])
            });
            Ok(shown.collect())
        });
        let all: Vec<OperatorView> = all.await?;
        input.paginate(all, |one| one.email.clone())
    }
}

fn show_whole(tx: &mut PlatformTx<'_>, operator: Operator) -> Result<OperatorView, OperationError> {
    let mut given = Vec::new();
    for (tenant, role) in roles::list(tx, operator.id)? {
        given.extend(tenants::find(tx, tenant)?.map(|found| OperatorRoleView { tenant: found.name, role }));
    }
    Ok(OperatorView::new(operator, given))
}
