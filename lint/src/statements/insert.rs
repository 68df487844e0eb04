//! What an INSERT writes: the tenant's own rows, and no other's on a conflict.

use sqlparser::ast::{
    ConflictTarget, DoUpdate, Expr, Insert, OnConflict, OnConflictAction, OnInsert, Query, SelectItem,
    SetExpr, SqliteOnConflict, TableObject,
};

use super::TENANT;
use super::filter::{Filters, is_tenant, lower, name_parts};
use super::walk::Walk;

const GIVE_TENANT: &str = "list tenant_id among the columns and give $1 for it in every row";

pub(super) fn check(insert: &Insert, walk: &mut Walk<'_>) {
    let TableObject::TableName(name) = &insert.table else {
        return walk.complain("an INSERT into something that is no table", "name the table");
    };
    if !insert.multi_table_into_clauses.is_empty() || !insert.assignments.is_empty() || insert.replace_into {
        return walk
            .complain("an INSERT of a kind that can't be checked", "write INSERT INTO … VALUES or SELECT");
    }
    let Some(table) = walk.check_table(name) else { return };
    if insert.or == Some(SqliteOnConflict::Replace) {
        walk.complain(
            "OR REPLACE could remove another tenant's row",
            "write ON CONFLICT (tenant_id, …) DO UPDATE",
        );
    }
    if !gives_tenant(insert) {
        walk.complain(format!("a row of `{table}` could be written for another tenant"), GIVE_TENANT);
    }
    let alias = insert.table_alias.as_ref().map_or_else(|| table.clone(), |alias| lower(&alias.alias));
    match &insert.on {
        Some(OnInsert::OnConflict(conflict)) => check_conflict(conflict, &table, &alias, walk),
        None => {}
        Some(_) => walk.complain("a conflict rule that can't be checked", "write ON CONFLICT"),
    }
}

fn gives_tenant(insert: &Insert) -> bool {
    let column =
        insert.columns.iter().position(|column| name_parts(column).last().is_some_and(|name| name == TENANT));
    match (column, &insert.source) {
        (Some(at), Some(source)) => query_gives(source, at),
        _ => false,
    }
}

fn query_gives(query: &Query, at: usize) -> bool {
    gives(&query.body, at)
}

/// Whether every row has `$1` at this place.
fn gives(body: &SetExpr, at: usize) -> bool {
    match body {
        SetExpr::Values(values) => values.rows.iter().all(|row| row.get(at).is_some_and(is_tenant)),
        SetExpr::Query(query) => query_gives(query, at),
        SetExpr::SetOperation { left, right, .. } => gives(left, at) && gives(right, at),
        SetExpr::Select(select) => {
            let plain = |item: &SelectItem| expression(item).is_some();
            let before = select.projection.iter().take(at).all(plain);
            before && select.projection.get(at).and_then(expression).is_some_and(is_tenant)
        }
        _ => false,
    }
}

/// A single column of a SELECT; a `*` is any number of them.
fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expression) => Some(expression),
        SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

fn check_conflict(conflict: &OnConflict, table: &str, alias: &str, walk: &mut Walk<'_>) {
    let OnConflictAction::DoUpdate(update) = &conflict.action else { return };
    walk.check_append_only(table);
    walk.check_assignments(&update.assignments);
    if !names_tenant(conflict.conflict_target.as_ref()) && !is_held(update, alias) {
        walk.complain(
            format!("the conflict could be with another tenant's row of `{table}`"),
            "put tenant_id in the ON CONFLICT columns, or add WHERE table.tenant_id = $1 to the DO UPDATE",
        );
    }
}

fn names_tenant(target: Option<&ConflictTarget>) -> bool {
    matches!(target, Some(ConflictTarget::Columns(columns)) if columns.iter().any(|column| lower(column) == TENANT))
}

/// A bare column would be the row's or the new values': the table must be said.
fn is_held(update: &DoUpdate, alias: &str) -> bool {
    let filters = Filters::from_expression(update.selection.as_ref());
    filters.has_qualifier(alias)
}
