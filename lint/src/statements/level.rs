//! One level of a statement: the tables of a FROM, how they are joined, and the WHERE over them.

use sqlparser::ast::{Expr, Join, JoinConstraint, JoinOperator, TableAlias, TableFactor, TableWithJoins};

use super::Complaint;
use super::filter::{Filters, lower, name_parts};
use super::walk::Walk;

/// A table that must be held to the tenant.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) table: String,
    /// What its columns are called by here: the alias, or the table's name.
    pub(super) qualifier: String,
    /// Whether an ON holds it already.
    held: bool,
}

/// The tables of one level, gathered before its WHERE is looked at.
#[derive(Debug, Default)]
pub(super) struct Level {
    references: Vec<Reference>,
    /// Everything in the FROM, also what needs no filter: with more than one, a bare column could be anyone's.
    sources: usize,
}

impl Level {
    pub(super) fn from_tables<'a>(
        trees: impl IntoIterator<Item = &'a TableWithJoins>,
        walk: &mut Walk<'_>,
    ) -> Self {
        let mut level = Self::default();
        for tree in trees {
            let references = level.tree(tree, walk);
            level.references.extend(references);
        }
        level
    }

    /// Complains of every table that neither its ON nor the WHERE holds to the tenant.
    pub(super) fn check_tenant_filters(&self, condition: Option<&Expr>, walk: &mut Walk<'_>) {
        let filters = Filters::from_expression(condition);
        for reference in &self.references {
            let bare = filters.is_bare() && self.sources == 1;
            if !reference.held && !bare && !filters.has_qualifier(&reference.qualifier) {
                walk.complain(
                    format!("`{}` is not held to the tenant", reference.table),
                    "add tenant_id = $1 for it, joined by AND, in the WHERE of its own query or the ON of its join",
                );
            }
        }
    }

    fn tree(&mut self, tree: &TableWithJoins, walk: &mut Walk<'_>) -> Vec<Reference> {
        let mut left = self.factor(&tree.relation, walk);
        for join in &tree.joins {
            let mut right = self.factor(&join.relation, walk);
            match sides(join) {
                Ok(sides) => sides.mark_held(&mut left, &mut right),
                Err(complaint) => walk.add(complaint),
            }
            left.append(&mut right);
        }
        left
    }

    fn factor(&mut self, factor: &TableFactor, walk: &mut Walk<'_>) -> Vec<Reference> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.tree(table_with_joins, walk);
            }
            TableFactor::Table { name, alias, args: None, .. } => {
                self.sources += 1;
                return walk
                    .check_table(name)
                    .map(|table| reference(table, alias.as_ref(), walk))
                    .into_iter()
                    .collect();
            }
            TableFactor::Table { name, args: Some(_), .. } => walk.check_function(&name_parts(name)),
            // What is inside is looked at as a level of its own.
            TableFactor::Derived { .. } | TableFactor::Function { .. } | TableFactor::UNNEST { .. } => {}
            _ => walk.complain(
                "a FROM of a kind that can't be checked",
                "write plain tables, joins and subqueries",
            ),
        }
        self.sources += 1;
        Vec::new()
    }
}

fn reference(table: String, alias: Option<&TableAlias>, walk: &mut Walk<'_>) -> Reference {
    if alias.is_some_and(|alias| !alias.columns.is_empty()) {
        walk.complain(
            format!("the columns of `{table}` get other names"),
            "leave the list after its alias out",
        );
    }
    let qualifier = alias.map_or_else(|| table.clone(), |alias| lower(&alias.name));
    Reference { table, qualifier, held: false }
}

/// Which sides of a join its ON takes rows away from. The side that an outer join keeps whole is not held by
/// the ON: its rows are there whether they match or not.
struct Sides {
    filters: Filters,
    left: bool,
    right: bool,
}

impl Sides {
    fn mark_held(&self, left: &mut [Reference], right: &mut [Reference]) {
        let left = left.iter_mut().filter(|_| self.left);
        let right = right.iter_mut().filter(|_| self.right);
        for reference in left.chain(right) {
            reference.held |= self.filters.has_qualifier(&reference.qualifier);
        }
    }
}

fn sides(join: &Join) -> Result<Sides, Complaint> {
    let (constraint, left, right) = match &join.join_operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::CrossJoin(constraint) => (constraint, true, true),
        JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (constraint, false, true),
        JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => (constraint, true, false),
        JoinOperator::FullOuter(constraint) => (constraint, false, false),
        _ => return Err(Complaint::new("a join of a kind that can't be checked", "use JOIN or LEFT JOIN")),
    };
    let condition = match constraint {
        JoinConstraint::On(condition) => Some(condition),
        JoinConstraint::Using(_) | JoinConstraint::Natural | JoinConstraint::None => None,
    };
    Ok(Sides { filters: Filters::from_expression(condition), left, right })
}
