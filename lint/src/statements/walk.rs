//! Every part of a statement, at every depth.
//!
//! The parser's own visitor leads to each SELECT, INSERT, UPDATE and DELETE wherever it stands, so no place is
//! forgotten. As a second lock every table that the visitor meets is counted against those that were judged.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, FromTable, ObjectName, Query, Select, SetExpr, SqliteOnConflict,
    Statement, TableFactor, TableWithJoins, Update, UpdateTableFromKind, Visit, Visitor,
};

use super::filter::{lower, name_parts};
use super::level::Level;
use super::literals::Whose;
use super::schema::{Kind, View};
use super::{Complaint, TENANT, insert};

/// What of append-only tables is overwritten when somebody is forgotten; none where rows are removed then. The database's own
/// triggers hold these to people who were forgotten.
const FORGOTTEN: [(&str, &[&str]); 2] =
    [("ledger_entries", &["words", "words_key", "reason"]), ("ledger_names", &[])];

/// Everything that is wrong with a statement.
pub fn check(statement: &Statement, whose: Whose, schema: &View<'_>) -> Vec<Complaint> {
    let mut names = Names::default();
    let _ = statement.visit(&mut names);
    let mut walk =
        Walk { whose, schema: *schema, names: names.common, met: 0, judged: 0, complaints: Vec::new() };
    walk.check_shadowed_names();
    let _ = statement.visit(&mut walk);
    if walk.met != walk.judged {
        walk.complain("a table is used where it can't be checked", "write the statement more plainly");
    }
    walk.complaints
}

/// The names that WITH gives, in the whole statement: they are no tables.
#[derive(Default)]
struct Names {
    common: BTreeSet<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        self.common.extend(tables.map(|table| lower(&table.alias.name)));
        ControlFlow::Continue(())
    }
}

pub(super) struct Walk<'a> {
    whose: Whose,
    schema: View<'a>,
    names: BTreeSet<String>,
    /// How many times the visitor met a table, and how many of them a level or an INSERT has judged.
    met: usize,
    judged: usize,
    complaints: Vec<Complaint>,
}

impl Walk<'_> {
    pub(super) fn complain(&mut self, what: impl Into<String>, advice: &'static str) {
        self.add(Complaint::new(what, advice));
    }

    pub(super) fn add(&mut self, complaint: Complaint) {
        if !self.complaints.contains(&complaint) {
            self.complaints.push(complaint);
        }
    }

    /// Judges a table's name. Gives it back when the statement must be held to the tenant on it.
    pub(super) fn check_table(&mut self, name: &ObjectName) -> Option<String> {
        self.judged += 1;
        let parts = name_parts(name);
        if matches!(parts.as_slice(), [name] if self.names.contains(name)) {
            return None;
        }
        let shown = parts.join(".");
        match (self.schema.kind(&parts), self.whose) {
            (None, _) => {
                self.complain(
                    format!("no migration makes a table `{shown}`"),
                    "name a table that exists, without a schema",
                );
                None
            }
            (Some(Kind::Platform), Whose::Tenant) => {
                self.complain(
                    format!("`{shown}` is not a tenant's table"),
                    "call its crate; in that crate write the text itself inside across_tenants(…)",
                );
                None
            }
            (Some(kind), Whose::Tenant) if kind.has_tenants() => Some(shown),
            (Some(_), _) => None,
        }
    }

    /// `json_each(…)` and the like look like a table but are none.
    pub(super) fn check_function(&mut self, parts: &[String]) {
        self.judged += 1;
        if parts.last().is_some_and(|name| self.schema.is_taken(name)) {
            self.complain("a table is called like a function", "remove the brackets");
        }
    }

    /// No row changes hands.
    pub(super) fn check_assignments(&mut self, assignments: &[Assignment]) {
        let is_tenant = |name: &ObjectName| name_parts(name).last().is_some_and(|part| part == TENANT);
        let moves = assignments.iter().any(|assignment| match &assignment.target {
            AssignmentTarget::ColumnName(name) => is_tenant(name),
            AssignmentTarget::Tuple(names) => names.iter().any(is_tenant),
        });
        if moves && self.whose == Whose::Tenant {
            self.complain("a row's tenant is changed", "leave tenant_id as it is");
        }
    }

    fn check_shadowed_names(&mut self) {
        for name in self.names.clone() {
            if self.schema.is_taken(&name) {
                self.complain(
                    format!("the table's name `{name}` is given to something else"),
                    "choose another name",
                );
            }
        }
    }

    /// What is only ever added to is neither changed nor removed from, through whatever door.
    fn check_target(&mut self, target: &TableWithJoins) {
        let TableFactor::Table { name, .. } = &target.relation else { return };
        if let Some(table) = name_parts(name).last() {
            self.check_append_only(table);
        }
    }

    pub(super) fn check_append_only(&mut self, table: &str) {
        if self.schema.is_append_only(table) {
            self.complain(
                format!("`{table}` is append-only"),
                "add a row that says what changed; leave the others as they are",
            );
        }
    }

    fn update(&mut self, update: &Update) {
        if !is_forgetting(&update.table, &update.assignments) {
            self.check_target(&update.table);
        }
        if update.or == Some(SqliteOnConflict::Replace) {
            self.complain("OR REPLACE could remove another tenant's row", "say what a conflict should do");
        }
        self.check_assignments(&update.assignments);
        let from = match &update.from {
            Some(UpdateTableFromKind::BeforeSet(trees) | UpdateTableFromKind::AfterSet(trees)) => {
                trees.as_slice()
            }
            None => &[],
        };
        let level = Level::from_tables(std::iter::once(&update.table).chain(from), self);
        level.check_tenant_filters(update.selection.as_ref(), self);
    }

    fn delete(&mut self, delete: &Delete) {
        if !delete.tables.is_empty() {
            self.complain("a DELETE from several tables", "write one DELETE for each");
        }
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let is_kept =
            |target: &&TableWithJoins| find_forgotten(target).is_none_or(|columns| !columns.is_empty());
        from.iter().filter(is_kept).for_each(|target| self.check_target(target));
        let using = delete.using.iter().flatten();
        let level = Level::from_tables(from.iter().chain(using), self);
        level.check_tenant_filters(delete.selection.as_ref(), self);
    }
}

impl Visitor for Walk<'_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        match statement {
            Statement::Query(_) => {}
            Statement::Insert(insert) => insert::check(insert, self),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ => self.complain(
                "a statement of a kind that can't be checked",
                "use SELECT, INSERT, UPDATE or DELETE",
            ),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if has_table_command(&query.body) || !query.pipe_operators.is_empty() {
            self.complain("a query of a kind that can't be checked", "write SELECT … FROM");
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if select.into.is_some() {
            self.complain("SELECT INTO makes a table", "make tables in a migration");
        }
        let level = Level::from_tables(&select.from, self);
        level.check_tenant_filters(select.selection.as_ref(), self);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        self.met += 1;
        ControlFlow::Continue(())
    }
}

/// `TABLE notes` is a SELECT without a place for a WHERE.
/// Whether an update of an append-only table does no more than forgetting does.
fn is_forgetting(target: &TableWithJoins, assignments: &[Assignment]) -> bool {
    find_forgotten(target).is_some_and(|columns| {
        !columns.is_empty()
            && assignments.iter().all(|assignment| match &assignment.target {
                AssignmentTarget::ColumnName(name) => {
                    name_parts(name).last().is_some_and(|column| columns.contains(&column.as_str()))
                }
                AssignmentTarget::Tuple(_) => false,
            })
    })
}

/// What forgetting changes of a table.
fn find_forgotten(target: &TableWithJoins) -> Option<&'static [&'static str]> {
    let TableFactor::Table { name, .. } = &target.relation else { return None };
    let table = name_parts(name).pop()?;
    FORGOTTEN.iter().find(|(name, _)| *name == table).map(|(_, columns)| *columns)
}

fn has_table_command(body: &SetExpr) -> bool {
    match body {
        SetExpr::Table(_) => true,
        SetExpr::SetOperation { left, right, .. } => has_table_command(left) || has_table_command(right),
        _ => false,
    }
}
