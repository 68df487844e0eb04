//! Recognising `tenant_id = $1`.

use sqlparser::ast::{BinaryOperator, Expr, Ident, ObjectName, ObjectNamePart, Value};

use super::TENANT;

/// The parameter that the tenant's handle binds.
const PARAMETER: &str = "$1";

/// What an expression that must be true holds to the tenant.
#[derive(Debug, Default)]
pub(super) struct Filters {
    /// The tables or aliases before `.tenant_id`.
    qualified: Vec<String>,
    /// `tenant_id = $1` alone.
    bare: bool,
}

impl Filters {
    /// Reads the parts that are joined by AND; one under OR or NOT does not hold.
    pub(super) fn from_expression(expression: Option<&Expr>) -> Self {
        let mut filters = Self::default();
        if let Some(expression) = expression {
            filters.add(expression);
        }
        filters
    }

    pub(super) fn has_qualifier(&self, qualifier: &str) -> bool {
        self.qualified.iter().any(|name| name == qualifier)
    }

    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    fn add(&mut self, expression: &Expr) {
        match expression {
            Expr::Nested(inner) => self.add(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.add(left);
                self.add(right);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                if is_tenant(right) {
                    self.add_column(left);
                } else if is_tenant(left) {
                    self.add_column(right);
                }
            }
            _ => {}
        }
    }

    fn add_column(&mut self, column: &Expr) {
        match column {
            Expr::Identifier(name) if lower(name) == TENANT => self.bare = true,
            Expr::CompoundIdentifier(parts) => {
                if let [table, name] = parts.as_slice()
                    && lower(name) == TENANT
                {
                    self.qualified.push(lower(table));
                }
            }
            _ => {}
        }
    }
}

/// Whether an expression is the tenant's parameter and nothing else.
pub(super) fn is_tenant(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(inner) => is_tenant(inner),
        Expr::Value(value) => matches!(&value.value, Value::Placeholder(name) if name == PARAMETER),
        _ => false,
    }
}

pub(super) fn lower(name: &Ident) -> String {
    name.value.to_lowercase()
}

/// A name's parts in small letters: `notes`, or `public` and `notes`.
pub(super) fn name_parts(name: &ObjectName) -> Vec<String> {
    name.0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(name) => lower(name),
            ObjectNamePart::Function(function) => function.to_string(),
        })
        .collect()
}
