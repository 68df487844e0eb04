//! Prompts from the outside: the ready bindings, their exact prompts, and what must hold of every prompt.

mod budgets;
mod properties;
mod scene;
mod snapshots;
mod tenants;
