//! The chain of what happened.
