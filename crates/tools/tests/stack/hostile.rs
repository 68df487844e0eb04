//! A hostile model against the whole stack.
